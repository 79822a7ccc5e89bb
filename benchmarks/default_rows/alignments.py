"""SequenceAligner as it comes, beside settings by hand and BLOSUM62 with usual gaps.

Families of proteins are dealt out: three of four train, the fourth is the test.
"""

from __future__ import annotations

import numpy as np
from common import Clock, need_data

METRIC = "Q"
BALIBASE = "balibase3/pairs_ss.tsv.gz"
HOMSTRAD = "homstrad_struct/pairs_consensus.tsv.gz"
DATA = {
    "BAliBASE RV11": [BALIBASE],
    "BAliBASE RV12": [BALIBASE],
    "HOMSTRAD": [HOMSTRAD],
}
HAND = {
    "C=100": {"C": 100.0},
    "C=1000": {"C": 1000.0},
    "no prior": {"prior": False, "C": 100.0},
    "no prior, C=1000": {"prior": False, "C": 1000.0},
    "loss=q4": {"loss": "q4"},
}
SETTINGS = {
    "default": "default",
    **dict.fromkeys(HAND, "hand"),
    "Biopython, BLOSUM62": "peer",
}
LONGEST, PER_FAMILY = 200, 3  # residues, pairs
TRAIN, TEST, QUICK = 150, 60, 20
OPEN, EXTEND = -11.0, -1.0
LETTERS = frozenset("ACDEFGHIKLMNPQRSTVWY")


def warm() -> None:
    from maxmargin.warmup import TASKS

    model, X = TASKS["align"]()
    model.predict(X)


def run(data: str, setting: str, quick: bool) -> dict:
    from maxmargin.alignments.metrics import q_score

    X, y, test_X, test_y = load(data, quick)
    with Clock() as clock:
        if setting == "Biopython, BLOSUM62":
            found = _biopython(test_X)
        else:
            from maxmargin import SequenceAligner

            model = SequenceAligner(**HAND.get(setting, {}))
            found = model.fit(X, y).predict(test_X)
    each = [q_score(a, b) for a, b in zip(test_y, found, strict=True)]
    interval = 196.0 * float(np.std(each)) / len(each) ** 0.5
    return {
        "score": 100.0 * float(np.mean(each)),
        "interval": interval,
        "cpu": clock.cpu,
    }


def _biopython(X) -> list:
    from Bio import Align
    from Bio.Align import substitution_matrices

    aligner = Align.PairwiseAligner()
    aligner.mode = "global"
    aligner.substitution_matrix = substitution_matrices.load("BLOSUM62")
    aligner.open_gap_score, aligner.extend_gap_score = OPEN, EXTEND
    found = []
    for a, b in X:
        blocks = zip(*aligner.align(a, b)[0].aligned, strict=True)
        found.append(
            [
                (int(i), int(j))
                for (i0, i1), (j0, j1) in blocks
                for i, j in zip(range(i0, i1), range(j0, j1), strict=True)
            ]
        )
    return found


def load(data: str, quick: bool):
    """Pairs of short proteins, few of a family, split by family."""
    from maxmargin.files import read_pair_table

    (path,) = need_data(*DATA[data])
    start = f"{data.split()[-1]}/" if data.startswith("BAli") else ""
    families: dict[str, list] = {}
    for pair in read_pair_table(path):
        short = max(len(pair.a), len(pair.b)) <= LONGEST
        usual = set(pair.a + pair.b) <= LETTERS
        if short and usual and pair.family.startswith(start):
            families.setdefault(pair.family, []).append(((pair.a, pair.b), pair.pairs))
    parts: tuple[list, list] = ([], [])
    names = np.random.default_rng(0).permutation(sorted(families)).tolist()
    for k, name in enumerate(names):
        parts[k % 4 == 3].extend(families[name][:PER_FAMILY])
    train, test = parts[0][: QUICK if quick else TRAIN], parts[1][:TEST]
    return [[row[side] for row in rows] for rows in (train, test) for side in (0, 1)]
