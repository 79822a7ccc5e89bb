"""Pairwise alignment: the decoder against Biopython and parasail, and a large training.

    python benchmarks/alignment.py [--pairs 100] [--repeat 3] [--no-training]

Random proteins of 300 residues, BLOSUM62, a gap of k costs 11 + (k - 1), global, one
thread, called pair by pair from Python, always with the way back; CPU time, the best of
five rounds in which the tools take turns. All tools must find the same scores. Ours takes
any array of match scores and gap scores by position; the row "from letters" includes
looking the scores up with numpy. parasail's fastest kernels work on 8 and 16 bit integers,
which loss-augmented scores are not: they are shown as a limit.

The training is the Window model of Yu's thesis (447 016 features of matched pairs, gaps by
position) on all BAliBASE pairs of RV11 and RV12 with structure on both sides.
"""

from __future__ import annotations

import argparse
import time

from common import (
    BUSY,
    Clock,
    Targets,
    fresh,
    header,
    median,
    need_data,
    need_package,
    no_compiling,
    start,
    table,
    worker,
)

LENGTH = 300
OPEN, EXTEND = 11, 1
PAIRS_FILE = "balibase3/pairs_ss.tsv.gz"
TRAININGS = {"q": 100.0, "q4": 100.0}  # loss: C
PEERS = {
    "parasail nw_trace, scalar": "nw_trace",
    "parasail nw_trace_striped_16": "nw_trace_striped_16",
    "parasail nw_trace_scan_sat": "nw_trace_scan_sat",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--no-training", action="store_true")
    options = parser.parse_args()
    need_package("Biopython", "Bio")
    need_package("parasail", "parasail")
    header(f"Alignment of random proteins, {LENGTH} x {LENGTH}")
    targets = Targets()
    _speed(options, targets)
    if not options.no_training:
        need_data(PAIRS_FILE)
        fresh(prepare)
        _training(targets)
    targets.show()
    return 0


# the decoder -------------------------------------------------------------------


def _speed(options, targets) -> None:
    fresh(decoders, pairs=2)  # compiles
    runs = [fresh(decoders, pairs=options.pairs) for _ in range(options.repeat)]
    names = [name for name in runs[0] if name not in ("busy", "peak_mb")]
    rate = {name: median(runs, name) for name in names}
    table(
        ["tool, with the way back", "million cells / s", "microseconds / pair"],
        [[name, rate[name], LENGTH**2 / rate[name]] for name in names],
    )
    ours = rate["maxmargin, single precision"]
    targets.at_least("million cells per second", ours, 320)
    targets.at_least(
        "decoder / Biopython, global affine",
        ours / rate["Biopython, global affine"],
        6,
    )
    targets.at_least(
        "decoder / parasail scalar", ours / rate["parasail nw_trace, scalar"], 2
    )


@worker
def decoders(pairs: int) -> dict:
    """Million cells per second of every tool, in one process, in turns."""
    import numpy as np
    import parasail
    from Bio import Align
    from Bio.Align import substitution_matrices

    from maxmargin.alignments.dp import best_alignment, constant_gaps

    blosum = substitution_matrices.load("BLOSUM62")
    letters = np.array(list("ARNDCQEGHILKMFPSTWYV"))
    matrix = np.array([[blosum[a, b] for b in letters] for a in letters])
    rng = np.random.default_rng(0)
    codes = rng.integers(20, size=(2, pairs, LENGTH))
    texts = [["".join(letters[row]) for row in side] for side in codes]

    aligner = Align.PairwiseAligner()
    aligner.mode = "global"
    aligner.substitution_matrix = blosum
    aligner.open_gap_score, aligner.extend_gap_score = -OPEN, -EXTEND

    def biopython(k):
        best = aligner.align(texts[0][k], texts[1][k])[0]
        return best.score, best.coordinates

    def of_parasail(name):
        function = getattr(parasail, name)

        def call(k):
            a, b = texts[0][k], texts[1][k]
            found = function(a, b, OPEN, EXTEND, parasail.blosum62)
            return found.score, found.cigar.decode

        return call

    def of_ours(dtype, from_letters=False):
        scores = matrix.astype(dtype)
        given = [scores[a[:, None], b] for a, b in zip(*codes, strict=True)]
        size = LENGTH, LENGTH
        gaps = constant_gaps(*size, EXTEND - OPEN, -EXTEND, 0, 0, scores)
        bonus, y = np.zeros(LENGTH, dtype), np.zeros(LENGTH, np.int32)

        def call(k):
            match = given[k]
            if from_letters:
                match = scores[codes[0, k]].take(codes[1, k], axis=1)
            return best_alignment(match, gaps, bonus, y), y

        return call

    tools = {
        "maxmargin, single precision": of_ours(np.float32),
        "maxmargin, double precision": of_ours(np.float64),
        "maxmargin, single, from letters": of_ours(np.float32, from_letters=True),
        "Biopython, global affine": biopython,
        **{name: of_parasail(function) for name, function in PEERS.items()},
    }
    seconds = dict.fromkeys(tools, float("inf"))
    scores = {}
    for _ in range(5):
        for name, call in tools.items():
            scores[name] = [call(k)[0] for k in range(min(pairs, 3))]
            began = time.process_time()
            for k in range(pairs):
                call(k)
            seconds[name] = min(seconds[name], time.process_time() - began)
    first = next(iter(scores.values()))
    for name, found in scores.items():
        assert np.allclose(found, first), (
            f"{name} finds other scores: {found}, {first}."
        )
    cells = pairs * LENGTH**2
    return {name: cells / value / 1e6 for name, value in seconds.items()}


# training ----------------------------------------------------------------------


def load_pairs():
    """(inputs, alignments) of RV11 and RV12 with secondary structure on both sides."""
    from maxmargin.alignments.files.pair_table import read_pair_table

    (path,) = need_data(PAIRS_FILE)
    X, y = [], []
    for pair in read_pair_table(path):
        known = "ss" in pair.tracks_a and "ss" in pair.tracks_b
        if known and pair.family.startswith(("RV11/", "RV12/")):
            a = {"residue": pair.a, **pair.tracks_a}
            X.append((a, {"residue": pair.b, **pair.tracks_b}))
            y.append(pair.pairs)
    return X, y


@worker
def prepare() -> dict:
    """Load or compile what a fit of the Window model runs."""
    from maxmargin import SequenceAligner
    from maxmargin.alignments.features.models import thesis_model

    X, y = load_pairs()
    model = SequenceAligner(**thesis_model("window").settings, tol=0.5)
    model.fit(X[:2], y[:2]).score(X[:2], y[:2])
    return {}


@worker
def window(loss: str, C: float) -> dict:
    from maxmargin import SequenceAligner
    from maxmargin.alignments.features.models import thesis_model

    prepare()
    X, y = load_pairs()
    settings = thesis_model("window").settings
    result = {"pairs": len(X)}
    with no_compiling(result), Clock() as fit:
        model = SequenceAligner(**settings, loss=loss, C=C, tol=0.01).fit(X, y)
    result.update(
        train=model.history_[-1]["seconds"],
        train_cpu=model.history_[-1]["seconds"] * fit.busy,
        total=fit.wall,
        passes=model.n_iter_,
        primal=model.certificate_.primal,
        gap=model.certificate_.relative_gap,
        features=model.n_features_,
        q=100 * model.score(X, y),
    )
    return result


def _training(targets) -> None:
    rows = []
    for loss, C in TRAININGS.items():
        r = fresh(window, loss=loss, C=C)
        keys = ("pairs", "features", "train", "train_cpu", "total", "passes")
        keys += ("primal", "gap", "q", "peak_mb", "busy")
        rows.append([f"loss {loss}, C={C:g}", *(r[k] for k in keys)])
        what = f"Window model, loss {loss}: "
        targets.at_most(what + "certified relative gap", r["gap"], 0.01)
        targets.at_most(what + "training, CPU seconds", r["train_cpu"], 300)
    columns = "Window model|pairs|features|train s|CPU s|encode+train s|passes|primal"
    table(
        [*columns.split("|"), "relative gap", "training Q %", "peak MB", "busy"], rows
    )
    print(BUSY)


if __name__ == "__main__":
    start(main)
