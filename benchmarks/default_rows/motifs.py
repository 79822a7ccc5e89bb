"""MotifFinder as it comes, beside other settings and words of six letters counted.

Planted: where an exon ends (20 letters of real donor sites), anywhere in 100 letters of
other DNA. Origins: yeast's origins of replication against pieces between genes, two of the
same length for each; or against other features, most of which are copies of a few repeats.
Probes: some 4,000 of a microarray, bound by a protein (146) or not. Half of each is for
training.
"""

from __future__ import annotations

import gzip
import re

import numpy as np
from common import Clock, need_data

METRIC = "100 AUC"
DATA = {
    "planted": ["splice/splice.fasta.gz"],
    "origins": [
        "yeast_ars/sgd_other_features.fasta.gz",
        "yeast_ars/sgd_intergenic.fasta.gz",
    ],
    "origins, repeats": ["yeast_ars/sgd_other_features.fasta.gz"],
    "probes": ["pbm_motif/pbm_motif.tsv.gz"],
}
SETTINGS = {
    "default": "default",
    "order=1, both_strands, C=1": "hand",
    "order=3": "hand",
    "C=0.1": "hand",
    "random start, C=1": "hand",
    "6-mers, LinearSVC": "peer",
    "6-mers, LogisticRegression": "peer",
}
QUICK = 300  # training sequences
PROBES = 4000
COMPLEMENT = str.maketrans("ACGT", "TGCA")
CORE, LENGTH = 20, 100  # letters of a donor site, and of a sequence that holds it


def warm() -> None:
    from maxmargin import MotifFinder

    X = ["ACGTTTACGT", "CCGTTTAGGA", "ACACACGCGC", "GGCACAGCGC"]
    for strands in (False, True):
        MotifFinder(width=4, both_strands=strands).fit(X, [1, 1, 0, 0])


def run(data: str, setting: str, quick: bool) -> dict:
    X, y = LOAD[data]()
    order = np.random.default_rng(3).permutation(len(X))
    cut = QUICK if quick else len(X) // 2
    train, test = order[:cut], order[cut:]
    model = _model(setting)
    with Clock() as clock:
        model.fit([X[i] for i in train], y[train])
        scores = model.decision_function([X[i] for i in test])
    auc, error = area(y[test], scores)
    return {"score": 100 * auc, "interval": 196 * error, "cpu": clock.cpu}


def area(y, scores) -> tuple[float, float]:
    """Area under the ROC curve, ties averaged, and its standard error.

    (Hanley & McNeil 1982.)
    """
    from sklearn.metrics import roc_auc_score

    a = roc_auc_score(y, scores)
    m, n = int(y.sum()), int((~y).sum())
    spread = (m - 1) * (a / (2 - a) - a**2) + (n - 1) * (2 * a**2 / (1 + a) - a**2)
    return a, float(np.sqrt((a * (1 - a) + spread) / (m * n)))


def _model(setting: str):
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    from maxmargin import MotifFinder

    before = {"init": "random", "n_restarts": 1, "class_weight": None}
    return {
        "default": lambda: MotifFinder(),
        "order=1, both_strands, C=1": lambda: MotifFinder(
            order=1, both_strands=True, C=1.0
        ),
        "order=3": lambda: MotifFinder(order=3),
        "C=0.1": lambda: MotifFinder(C=0.1),
        "random start, C=1": lambda: MotifFinder(
            order=3, both_strands=False, C=1.0, **before
        ),
        "6-mers, LinearSVC": lambda: _words(LinearSVC()),
        "6-mers, LogisticRegression": lambda: _words(LogisticRegression(max_iter=1000)),
    }[setting]()


def _words(classifier):
    """Counts of words on both strands, as shares of all words of a sequence."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import normalize

    counter = CountVectorizer(
        analyzer="char",
        ngram_range=(6, 6),
        lowercase=False,
        preprocessor=lambda x: x + "\n" + x.translate(COMPLEMENT)[::-1],
    )
    return make_pipeline(counter, _function(normalize), classifier)


def _function(function):
    from sklearn.preprocessing import FunctionTransformer

    return FunctionTransformer(function, accept_sparse=True)


# data ----------------------------------------------------------------------------------


def _fasta(name: str) -> list[tuple[str, str]]:
    """(title, letters); what is not known becomes A."""
    (path,) = need_data(name)
    with gzip.open(path, "rt") as file:
        records = file.read().split(">")[1:]
    parts = (record.partition("\n") for record in records)
    return [
        (title, re.sub("[^ACGT]", "A", letters.replace("\n", "").upper()))
        for title, _, letters in parts
    ]


def _planted():
    rng = np.random.default_rng(7)
    records = _fasta(*DATA["planted"])
    donors = [x for title, x in records if "label=EI" in title.split()]
    others = [x for title, x in records if "label=N" in title.split()]
    X, y = [], np.arange(2 * len(donors)) < len(donors)
    for kind in (donors, [others[i] for i in rng.permutation(len(others))]):
        for x in kind[: len(donors)]:
            a, b = rng.integers(len(others), size=2)
            around = (others[a] + others[b])[:LENGTH]
            at = int(rng.integers(LENGTH - CORE + 1))
            core = x[30 - CORE // 2 : 30 + CORE // 2]
            X.append(around[:at] + core + around[at + CORE :])
    return X, y


def _features():
    records = [(t, x) for t, x in _fasta(DATA["origins"][0]) if len(x) >= 20]
    y = np.array(["type=ARS" in title.split() for title, _ in records])
    return [x for _, x in records], y


def _origins():
    """Origins, and pieces of the same lengths from between genes, twice as many."""
    rng = np.random.default_rng(7)
    X, y = _features()
    origins = [x for x, yes in zip(X, y, strict=True) if yes]
    between = [x for _, x in _fasta(DATA["origins"][1])]
    pieces = []
    for x in origins * 2:
        longer = [z for z in between if len(z) >= len(x)]
        z = longer[rng.integers(len(longer))]
        at = int(rng.integers(len(z) - len(x) + 1))
        pieces.append(z[at : at + len(x)])
    return origins + pieces, np.arange(3 * len(origins)) < len(origins)


def _probes():
    (path,) = need_data(*DATA["probes"])
    with gzip.open(path, "rt") as file:
        rows = [line.split("\t") for line in file if not line.startswith("#")]
    rows = [(row[0], row[5].strip()) for row in rows if row[5].strip() != "."]
    rows = rows[:: len(rows) // PROBES]
    return [x for x, _ in rows], np.array([int(v.split("/")[0]) > 0 for _, v in rows])


LOAD = {
    "planted": _planted,
    "origins": _origins,
    "origins, repeats": _features,
    "probes": _probes,
}
