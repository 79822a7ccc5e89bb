"""TopKRanker as it comes, beside other losses and C, and pointwise and pairwise peers."""

from __future__ import annotations

import numpy as np
from common import need_data

from default_rows import measured

METRIC = "NDCG@10"
FOLDS = 5
OHSUMED = [f"ohsumed_letor3/S{i}.txt.gz" for i in range(1, FOLDS + 1)]
DATA = {"ohsumed": OHSUMED, "diabetes": [], "digits": []}
SETTINGS = {
    "default": "default",
    "C=0.1": "hand",
    "C=10": "hand",
    "relevant=2": "hand",
    "loss=pairwise": "hand",
    "loss=average-precision": "hand",
    "loss=precision": "hand",
    "Ridge of grades": "peer",
    "LinearSVC of pairs": "peer",
}


def warm() -> None:
    from maxmargin.rankings.warmup import rank

    rank()


def run(data: str, setting: str, quick: bool) -> dict:
    """All folds: the score of every query is that of a fit that has not seen it."""
    folds = list(folds_of(data))[: 2 if quick else FOLDS]
    found: list[float] = []

    def fit():
        return [(_fit(setting, *train), test) for train, test in folds]

    def score(fitted) -> float:
        for model, test in fitted:
            found.extend(_by_query(model, *test))
        return float(np.mean(found))

    result = measured(fit, score, sum(len(np.unique(test[2])) for _, test in folds))
    # NDCG of a query is a number, not a yes or no
    spread = float(np.std(found)) / len(found) ** 0.5
    return {**result, "interval": 196.0 * spread}


def _by_query(model, X, y, qid) -> list[float]:
    from maxmargin.metrics import ndcg_at_k

    scores = model.predict(X)
    lists = [qid == q for q in np.unique(qid)]
    return [ndcg_at_k(y[at], scores[at], qid[at]) for at in lists]


def _fit(setting: str, X, y, qid):
    from sklearn.linear_model import Ridge
    from sklearn.svm import LinearSVC

    from maxmargin import TopKRanker

    if setting == "Ridge of grades":
        return Ridge().fit(X, y)
    if setting == "LinearSVC of pairs":
        return Pairs(LinearSVC(fit_intercept=False)).fit(X, y, qid)
    name, _, value = setting.partition("=")
    if name == "default":
        return TopKRanker().fit(X, y, qid)
    return TopKRanker(**{name: value if name == "loss" else float(value)}).fit(
        X, y, qid
    )


class Pairs:
    """A classifier of differences of documents, what Ranking SVM is with a plain SVM."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y, qid):
        rows, weights = [], []
        for q in np.unique(qid):
            at = np.flatnonzero(qid == q)
            a, b = np.nonzero(y[at][:, None] > y[at])
            rows.append(X[at[a]] - X[at[b]])
            weights.append(np.full(len(a), 1.0 / max(len(a), 1)))
        Z = np.concatenate(rows)
        signs = np.where(np.arange(len(Z)) % 2, 1, -1)  # it wants two classes
        weights = np.concatenate(weights)
        self.model.fit(Z * signs[:, None], signs, sample_weight=weights)
        return self

    def predict(self, X):
        return X @ self.model.coef_[0]


def folds_of(data: str):
    """Pairs of (X, y, qid), to train with and to test with."""
    if data == "ohsumed":
        from maxmargin.files import read_letor

        parts = [read_letor(path) for path in need_data(*OHSUMED)]
        parts = [(part.X.toarray(), part.y, part.qid) for part in parts]
        for f in range(FOLDS):  # the official ones, without their validation parts
            chosen = [parts[(f + j) % FOLDS] for j in range(3)]
            train = [np.concatenate(each) for each in zip(*chosen, strict=True)]
            yield train, parts[(f + 4) % FOLDS]
        return
    X, y, qid = _diabetes() if data == "diabetes" else _digits()
    for f in range(FOLDS):
        test = qid % FOLDS == f
        yield (X[~test], y[~test], qid[~test]), (X[test], y[test], qid[test])


def _diabetes():
    """Lists of 20 patients, those first who got much worse: grades 0 to 3."""
    from sklearn.datasets import load_diabetes

    X, worse = load_diabetes(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(X))[:440]
    X, worse = X[chosen] / X.std(axis=0), worse[chosen]
    grades = np.searchsorted(np.quantile(worse, [0.4, 0.7, 0.9]), worse)
    return X, grades, np.arange(len(X)) // 20


def _digits():
    """Lists of 25 images, those of large digits first: grades 0 to 3."""
    from sklearn.datasets import load_digits

    X, digit = load_digits(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(X))[:1500]
    X, digit = X[chosen] / 16.0, digit[chosen]
    return X, np.searchsorted([5, 7, 9], digit, side="right"), np.arange(1500) // 25
