"""Aligners and finders of homologs, with data, whose structures StructuralSVM trains."""

import numpy as np

from maxmargin import HomologFinder, SequenceAligner


def pairs():
    X = [("HEAGAWGHEE", "PAWHEAE"), ("GATTACA", "GCATGCA"), ("AWGHEE", "AWHEAE")]
    y = [
        ("HEAGAWGHE-E", "--P-AW-HEAE"),
        ("G-ATTACA", "GCA-TGCA"),
        ("AWGHE-E", "AW-HEAE"),
    ]
    return X, y, X


def partly_known():
    X, y, new = pairs()
    return X, [*y[:2], None], new


def homologs():
    """In two letters, with which no cell of the table of weights is unused."""
    rng = np.random.default_rng(0)
    X, y = [], []
    for n in rng.integers(5, 9, 12):
        native = "".join(rng.choice(["a", "b"], n, p=[0.8, 0.2]))
        decoys = ["".join(rng.choice(["a", "b"], n, p=[0.2, 0.8])) for _ in range(3)]
        X.append((native, [*decoys, native[:2] + native[3:]]))
        pairs = [(k, k - (k > 2)) for k in range(n) if k != 2]
        y.append((3, pairs))
    return X, y, X


CASES = {
    # with a prior, w has differences from it: test_alignments_structure.py
    "alignments": (SequenceAligner(C=10, tol=1e-3, prior=False), pairs),
    "local alignments": (
        SequenceAligner(gaps="position", scope="local", loss="hamming", prior=False),
        pairs,
    ),
    "partly known alignments": (SequenceAligner(prior=False), partly_known),
    "homologs": (HomologFinder(C=0.1, gaps="affine", tol=1e-3), homologs),
}
