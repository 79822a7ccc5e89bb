"""Protein alignment models side by side, trained for Q and for Q4, by family.

    python reproduction/alignment.py [--data balibase homstrad] [--quick] [--folds 5]
        [--models simple anova2 tensor sum window profile] [--losses q q4]

After chapter 4 of Yu's thesis (2011; Yu, Joachims, Elber & Pillardy 2008): test scores of
alignment models with more and more features, trained on the Q-loss and on the Q4-loss.
The thesis's data (CE alignments of PDB structures, predicted structure of the target) are
not public. Here are the pairs of BAliBASE 3, RV11 and RV12, with known secondary structure
on both sides, and those of HOMSTRAD's families as structure alignment programs align
them, whose structure is not known. Exposed area is nowhere: what is not known is
"missing" throughout. So the trend can be compared, the numbers cannot.

Profiles are made of the sequences of a family alone, never of its reference alignment:
the others are aligned to each by BLOSUM62, and their residues counted, with those that
BLOSUM62 expects in place of the residue as pseudo-counts.

Families are split into folds, those that share a protein together: three fifths train, one
fifth chooses C (for the score that is reported), one fifth tests. Errors are standard
errors over folds. Fits end at a gap of 5% or after 60 passes, which is where C = 1000 ends
with the larger models. The baseline aligns with BLOSUM62 and the affine gap costs that are
best on the training families. Families in different folds may still be distant relatives.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
import warnings

import numpy as np

from maxmargin import SequenceAligner
from maxmargin.alignments.features.models import AMINO_ACIDS, thesis_model
from maxmargin.alignments.files.pair_table import read_pair_table
from maxmargin.alignments.metrics import q_score, shift_score
from maxmargin.files import data_file

MODELS = ("simple", "anova2", "tensor", "sum", "window", "profile")
DATA = {
    "balibase": ("BAliBASE RV11 and RV12", "balibase3/pairs_ss.tsv.gz"),
    "homstrad": ("HOMSTRAD, by structure", "homstrad_struct/pairs_consensus.tsv.gz"),
}
CS = (1.0, 10.0, 100.0, 1000.0)
PSEUDO_COUNTS = 5.0
BLOSUM_GAPS = tuple(itertools.product((6, 8, 10, 12, 15), (0.5, 1, 2)))
# (test Q, test Q4) of tables 4.1 and 4.2, by model and training loss
THESIS = {
    ("simple", "q"): "42.08 / -",
    ("anova2", "q"): "44.57 / 66.30",
    ("tensor", "q"): "42.41 / -",
    ("sum", "q"): "44.59 / -",
    ("window", "q"): "46.34 / 67.58",
    ("profile", "q"): "49.94 / -",
    ("anova2", "q4"): "46.32 / 68.87",
    ("window", "q4"): "47.31 / 70.52",
    ("profile", "q4"): "50.15 / 72.19",
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    parser.add_argument("--losses", nargs="+", choices=("q", "q4"), default=("q", "q4"))
    parser.add_argument(
        "--quick", action="store_true", help="one fold, one C, two models"
    )
    parser.add_argument("--jobs", type=int, default=1, help="threads")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    Cs, folds = CS, range(options.folds)
    models = options.models
    if options.quick:
        Cs, folds = (100.0,), range(1)
        models = [name for name in models if name in ("simple", "window")] or models
    for name in options.data:
        try:
            data = Pairs(name, "profile" in models)
        except (FileNotFoundError, ImportError) as error:
            print(f"skipped: {error}")
            continue
        print(
            f"{data.title}: {len(data.X)} pairs of {data.n_families} families in "
            f"{len(data.clusters)} clusters, {len(folds)} of {options.folds} folds\n"
        )
        columns = ("features", "C", "train Q", "valid Q", "test Q", "test Q4")
        widths = (10, 14, 9, 15, 15, 15)
        head = "".join(f"{c:>{w}s}" for c, w in zip(columns, widths, strict=True))
        print(f"{'':16s}{head}{'seconds':>9s}   thesis Q / Q4")
        splits = [data.split(k, options.folds) for k in folds]
        _baseline(data, splits)
        for model in models:
            for loss in options.losses:
                _row(model, loss, data, splits, Cs, options.jobs)
        print()
    print("thesis: BLAST 25.88 / 30.66.")
    return 0


class Pairs:
    """Inputs, reference alignments and clusters of families."""

    def __init__(self, name: str, profiles: bool):
        self.title, path = DATA[name]
        self.X, self.y, families, proteins = [], [], [], {}
        for pair in read_pair_table(data_file(path)):
            if name == "balibase" and not (
                "ss" in pair.tracks_a
                and "ss" in pair.tracks_b
                and pair.family.startswith(("RV11/", "RV12/"))
            ):
                continue
            a = {"residue": pair.a, **pair.tracks_a}
            self.X.append((a, {"residue": pair.b, **pair.tracks_b}))
            self.y.append(pair.pairs)
            families.append(pair.family)
            for protein in (pair.name_a, pair.name_b, pair.a, pair.b):
                proteins.setdefault(protein, set()).add(pair.family)
        if profiles:
            self.profiles = make_profiles(self.X, families)
        self.n_families = len(set(families))
        cluster = {family: family for family in families}
        for sharing in proteins.values():
            names = {cluster[family] for family in sharing}
            if len(names) > 1:
                merged = {f: min(names) for f, name in cluster.items() if name in names}
                cluster.update(merged)
        self.cluster = [cluster[family] for family in families]
        self.clusters = sorted(set(self.cluster))
        # they differ much in size: deal them out from large to small
        self.clusters.sort(key=lambda c: (-self.cluster.count(c), c))

    def split(self, fold: int, folds: int):
        """Indices of (train, validation, test)."""
        place = {c: (k + k // folds) % folds for k, c in enumerate(self.clusters)}
        where = np.array([(place[c] - fold) % folds for c in self.cluster])
        parts = where > 1, where == 1, where == 0
        return [np.flatnonzero(part) for part in parts]

    def inputs(self, chosen, profiles=False):
        if not profiles:
            return [self.X[i] for i in chosen]
        return [
            tuple({**s, "profile": self.profiles[s["residue"]]} for s in self.X[i])
            for i in chosen
        ]

    def outputs(self, chosen):
        return [self.y[i] for i in chosen]


def _scores(truth, found) -> tuple[float, float]:
    """Mean (Q, Q4) in per cent."""
    both = [
        (q_score(a, b), shift_score(a, b, 4)) for a, b in zip(truth, found, strict=True)
    ]
    return tuple(100.0 * np.mean(both, axis=0))


def _row(name, loss, data, splits, Cs, jobs) -> None:
    began = time.perf_counter()
    settings = thesis_model(name).settings
    aligner = SequenceAligner(**settings, loss=loss, tol=0.05, max_iter=60, n_jobs=jobs)
    rows, picked = [], set()
    for parts in splits:
        train, valid, test = (data.inputs(part, name == "profile") for part in parts)
        y_train, y_valid, y_test = map(data.outputs, parts)
        models = aligner.path(train, y_train, Cs)
        found = [_scores(y_valid, model.predict(valid)) for model in models]
        row = []
        for measure in (0, 1):  # C is chosen for the score that is reported
            best = int(np.argmax([f[measure] for f in found]))
            model = models[best]
            if measure == 0:
                row.append(100 * model.score(train[::4], y_train[::4]))
                row.append(found[best][0])
                picked.add(model.C)
            row.append(_scores(y_test, model.predict(test))[measure])
        rows.append(row)
    seconds = time.perf_counter() - began
    n_features = thesis_model(name).n_features
    thesis = THESIS.get((name, loss), "-")
    _print(f"{name}, {loss}", n_features, picked, rows, seconds, thesis)


def _print(name, n_features, picked, rows, seconds, thesis) -> None:
    train, valid, q, q4 = np.transpose(rows)
    chosen = "/".join(f"{C:g}" for C in sorted(picked)) or "-"
    print(
        f"{name:16s}{n_features:10d}{chosen:>14s}{train.mean():9.2f}"
        f"{_mean(valid):>15s}{_mean(q):>15s}{_mean(q4):>15s}{seconds:9.0f}   {thesis}",
        flush=True,
    )


def _mean(values) -> str:
    if len(values) < 2:
        return f"{np.mean(values):.2f}"
    return (
        f"{np.mean(values):.2f} ({np.std(values, ddof=1) / np.sqrt(len(values)):.2f})"
    )


def blosum():
    """(substitution scores, their letters)."""
    from Bio.Align import substitution_matrices

    matrix = substitution_matrices.load("BLOSUM62")
    letters = "".join(matrix.alphabet)
    return np.array([[matrix[a, b] for b in letters] for a in letters]), letters


def make_profiles(X, families) -> dict[str, np.ndarray]:
    """{sequence: its profile, (positions, 20 amino acids)} from unaligned families."""
    table, letters = blosum()
    places = [letters.index(x) for x in AMINO_ACIDS]
    # BLOSUM62 is in half bits: 2^(s / 2) is how much likelier b is in place of a
    expected = 2.0 ** (table[:, places] / 2)
    expected /= expected.sum(axis=1, keepdims=True)
    members: dict[str, set[str]] = {}
    for pair, family in zip(X, families, strict=True):
        members.setdefault(family, set()).update(s["residue"] for s in pair)
    profiles = {}
    for sequences in members.values():
        for s in sequences:
            others = sorted(sequences - {s})
            pairs = [({"residue": s}, {"residue": t}) for t in others]
            counts = np.zeros((len(s), 20))
            found = _align(pairs, table, letters, (10, 0.5))
            for t, links in zip(others, found, strict=True):
                for i, j in links:
                    if t[j] in AMINO_ACIDS:
                        counts[i, AMINO_ACIDS.index(t[j])] += 1
            own = expected[[letters.index(x) for x in s]]
            total = counts.sum(axis=1, keepdims=True)
            profiles[s] = (counts + PSEUDO_COUNTS * own) / (total + PSEUDO_COUNTS)
    return profiles


def _baseline(data, splits) -> None:
    """BLOSUM62 with the gap costs that are best on the training pairs (every fourth)."""
    try:
        table, letters = blosum()
    except ImportError:
        print("skipped: BLOSUM62 needs Biopython.")
        return
    began, rows = time.perf_counter(), []
    for train, valid, test in splits:
        inside = train[::4]
        fits = [
            _scores(
                data.outputs(inside), _align(data.inputs(inside), table, letters, g)
            )
            for g in BLOSUM_GAPS
        ]
        row = []
        for measure in (0, 1):
            best = int(np.argmax([f[measure] for f in fits]))
            gap = BLOSUM_GAPS[best]
            if measure == 0:
                row.append(fits[best][0])
                held = _align(data.inputs(valid), table, letters, gap)
                row.append(_scores(data.outputs(valid), held)[0])
            found = _align(data.inputs(test), table, letters, gap)
            row.append(_scores(data.outputs(test), found)[measure])
        rows.append(row)
    _print("BLOSUM62", 0, (), rows, time.perf_counter() - began, "-")


def _align(inputs, table, letters, gap):
    """Global alignments under a substitution matrix; a gap of k costs o + k e."""
    from maxmargin.alignments.dp import best_alignment, constant_gaps

    out = []
    for s, t in inputs:
        a = [letters.index(x) for x in s["residue"]]
        b = [letters.index(x) for x in t["residue"]]
        match = np.ascontiguousarray(table[a][:, b])
        y = np.zeros(len(a), np.int32)
        gaps = constant_gaps(len(a), len(b), -gap[0], -gap[1], 0, 0, match)
        best_alignment(match, gaps, np.zeros(len(a)), y)
        out.append([(int(i), int(y[i])) for i in np.flatnonzero(y >= 0)])
    return out


if __name__ == "__main__":
    sys.exit(main())
