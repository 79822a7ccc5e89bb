"""LinkClusterer as it comes, beside settings by hand and links of a classifier of pairs."""

from __future__ import annotations

import gzip

import numpy as np
from common import Clock, need_data

METRIC = "CoNLL average"
FILES = ["litbank_coref/litbank_coref.jsonl.gz", "litbank_coref/tenfold_splits.tsv.gz"]
DATA = {"LitBank, fold 0": FILES, "LitBank, fold 5": FILES}
SETTINGS = {
    "default": "default",
    "C=0.1, r=1": "hand",
    "C=1, r=1": "hand",
    "C=0.1, r=0.3": "hand",
    "LogisticRegression": "peer",
}
TRAIN, TEST = 25, 10  # documents
QUICK = 12


def warm() -> None:
    from maxmargin.warmup import TASKS

    model, X = TASKS["cluster"]()
    model.predict(X)


def run(data: str, setting: str, quick: bool) -> dict:
    from maxmargin.metrics import cluster_scores

    X, y, test_X, test_y = _load(int(data.split()[-1]), quick)
    with Clock() as clock:
        if setting == "LogisticRegression":
            found = _best_first(X, y, test_X)
        else:
            found = _model(setting).fit(X, y).predict(test_X)
    each = [
        cluster_scores([a], [b]).conll for a, b in zip(test_y, found, strict=True)
    ]  # of documents, which are independent
    interval = 196.0 * float(np.std(each)) / len(each) ** 0.5
    score = 100.0 * cluster_scores(test_y, found).conll
    return {"score": score, "interval": interval, "cpu": clock.cpu}


def _model(setting: str):
    from maxmargin import LinkClusterer

    return {
        "default": lambda: LinkClusterer(),
        "C=0.1, r=1": lambda: LinkClusterer(C=0.1, r=1.0),
        "C=1, r=1": lambda: LinkClusterer(C=1.0, r=1.0),
        "C=0.1, r=0.3": lambda: LinkClusterer(C=0.1, r=0.3),
    }[setting]()


def _best_first(X, y, test_X):
    """Pairs by logistic regression; every mention joins its likeliest antecedent.

    The features are ours; each mention is paired with its nearest antecedent and with all
    mentions between (Soon, Ng & Lim 2001), links need a probability of one half (Ng &
    Cardie 2002).
    """
    from scipy.sparse import vstack
    from sklearn.linear_model import LogisticRegression

    from maxmargin.clusterings.features import PairFeatures

    features = PairFeatures(sorted({m.type for x in X for m in x.mentions} - {""}))
    tables, links = [], []
    for x, clusters in zip(X, y, strict=True):
        n, clusters = len(x.mentions), np.asarray(clusters)
        a, b = np.triu_indices(n, 1)
        same = clusters[a] == clusters[b]
        nearest = np.full(n, -1)
        np.maximum.at(nearest, b[same], a[same])
        kept = (nearest[b] >= 0) & (a >= nearest[b])
        tables.append(_pair_rows(features, x)[kept])
        links.append(same[kept])
    model = LogisticRegression(max_iter=300)
    model.fit(vstack(tables), np.concatenate(links))
    found = []
    for x in test_X:
        n = len(x.mentions)
        score = np.full((n, n), -np.inf)
        score[np.triu_indices(n, 1)] = model.decision_function(_pair_rows(features, x))
        ids = list(range(n))
        for v in range(1, n):
            best = int(np.argmax(score[:v, v]))
            if score[best, v] > 0:
                ids[v] = ids[best]
        found.append(ids)
    return found


def _pair_rows(features, document):
    """The features of all pairs of a document, a row each."""
    from scipy.sparse import csr_matrix

    codes, (indptr, indices, values) = features.encode(document)
    shape = len(indptr) - 1, features.n_features
    patterns = csr_matrix((values, indices, indptr), shape)
    return sum(patterns[codes[:, g]] for g in range(codes.shape[1]))


def _load(fold: int, quick: bool):
    from maxmargin.files import read_mentions

    documents, splits = need_data(*FILES)
    read = read_mentions(documents)
    with gzip.open(splits, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    place = {x.name: i for i, x in enumerate(read.X)}
    train, test = (
        [
            place[name]
            for number, kind, name in rows
            if (number, kind) == (str(fold), part)
        ]
        for part in ("train", "test")
    )
    train, test = train[: QUICK if quick else TRAIN], test[:TEST]
    return [
        [some[i] for i in part] for part in (train, test) for some in (read.X, read.y)
    ]
