"""MulticlassSVM as it comes, beside other C and scikit-learn's linear classifiers."""

from __future__ import annotations

import numpy as np
from common import load_letters, need_data, warm_multiclass

from default_rows import classified

METRIC = "accuracy"
DATA = {
    "digits": [],
    "wine, not scaled": [],
    "letters": ["ocr_letters/letters.npz"],
    "newsgroups": ["newsgroups20/newsgroups20_bow.npz"],
    "images": ["imclef07a/imclef07a.npz"],
}
SETTINGS = {
    "default": "default",
    "C=0.1": "hand",
    "C=1": "hand",
    "C=10": "hand",
    "objective=log": "hand",
    "LinearSVC": "peer",
    "LogisticRegression": "peer",
}
QUICK, SIZE = 800, 8_000  # training samples


def warm() -> None:
    """Also what few features of several scales, sparse rows and the log-loss run."""
    from scipy.sparse import csr_matrix

    from maxmargin import MulticlassSVM

    warm_multiclass()
    X = np.random.default_rng(0).normal(size=(60, 4)) * [1.0, 10.0, 100.0, 1000.0]
    for objective in ("hinge", "log"):
        for rows in (X, csr_matrix(X)):
            MulticlassSVM(objective=objective).fit(rows, np.arange(60) % 3)


def run(data: str, setting: str, quick: bool) -> dict:
    X, y, test_X, test_y = load(data)
    size = QUICK if quick else SIZE
    chosen = np.random.default_rng(0).permutation(X.shape[0])[:size]
    X, y = X[chosen], y[chosen]
    return classified(_model(setting), X, y, test_X, test_y)


def _model(setting: str):
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    from maxmargin import MulticlassSVM

    return {
        "default": lambda: MulticlassSVM(),
        "C=0.1": lambda: MulticlassSVM(C=0.1),
        "C=1": lambda: MulticlassSVM(C=1.0),
        "C=10": lambda: MulticlassSVM(C=10.0),
        "objective=log": lambda: MulticlassSVM(objective="log"),
        "LinearSVC": lambda: LinearSVC(),
        "LogisticRegression": lambda: LogisticRegression(),
    }[setting]()


def load(data: str):
    if data == "letters":
        parts = [load_letters(train) for train in (True, False)]
        return [np.concatenate(each) for part in parts for each in part]
    if data == "newsgroups":
        return _newsgroups()
    if data == "images":
        (path,) = need_data(*DATA[data])
        with np.load(path, allow_pickle=False) as file:
            return [file[k] for k in ("X_train", "y_train", "X_test", "y_test")]
    from sklearn.datasets import load_digits, load_wine
    from sklearn.model_selection import train_test_split

    read = load_digits if data == "digits" else load_wine
    X, y = read(return_X_y=True)
    X, test_X, y, test_y = train_test_split(X, y, test_size=0.5, random_state=0)
    return X, y, test_X, test_y


def _newsgroups():
    """Words weighted by tf-idf, rows of length one: what people do with texts."""
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfTransformer

    (path,) = need_data(*DATA["newsgroups"])
    with np.load(path, allow_pickle=False) as file:
        counts = csr_matrix(
            (
                file["counts"].astype(float),
                file["indices"].astype(np.int32),
                file["indptr"],
            )
        )
        label, test = file["label"], file["is_test"].astype(bool)
    weight = TfidfTransformer(sublinear_tf=True).fit(counts[~test])
    X, test_X = weight.transform(counts[~test]), weight.transform(counts[test])
    return X, label[~test], test_X, label[test]
