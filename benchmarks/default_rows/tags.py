"""SequenceTagger as it comes, beside other C, the log objective and python-crfsuite.

Features of text are the ready sets "chunking" and "ner"; the peer's are made in Python, as
its users do, which counts as training. Its settings are its own, those of L-BFGS.
"""

from __future__ import annotations

import os
import random
import tempfile

from common import (
    accuracy,
    chunk_features,
    load_letters,
    need_data,
    read_columns,
    span_f1,
    warm_tagger,
)
from tagging import name_features

from default_rows import measured

METRIC = "F1 of spans; letters: accuracy"
DATA = {
    "chunking": ["conll2000/train.txt.gz", "conll2000/test.txt.gz"],
    "names": ["conll2002_esp/esp.train.txt.gz", "conll2002_esp/esp.testb.txt.gz"],
    "letters": ["ocr_letters/letters.npz"],
}
TEXT = {"chunking": ("chunking", 2, chunk_features), "names": ("ner", 1, name_features)}
SETTINGS = {
    "default": "default",
    "C=0.03": "hand",
    "C=1": "hand",
    "objective=log": "hand",
    "python-crfsuite": "peer",
}
QUICK = 800  # training sequences


def warm() -> None:
    from maxmargin import SequenceTagger

    for dense in (False, True):
        warm_tagger(dense)
    rows = [[("a", "b"), ("c", "d")], [("a", "d"), ("e", "f")]]
    for options in ({}, {"objective": "log"}):
        model = SequenceTagger(features="ner", **options)
        model.fit(rows, [["x", "y"], ["x", "z"]]).predict(rows)


def run(data: str, setting: str, quick: bool) -> dict:
    X, y, test_X, test_y = _load(data)
    if quick:
        chosen = random.Random(0).sample(range(len(X)), QUICK)  # words are sorted
        X, y = ([part[i] for i in chosen] for part in (X, y))
    score = span_f1 if data in TEXT else accuracy
    train = _crfsuite if setting == "python-crfsuite" else _ours
    # of text, spans are what is decided
    return measured(
        lambda: train(data, setting, X, y),
        lambda predict: score(test_y, predict(test_X)) / 100.0,
        sum(map(len, test_y)) if data not in TEXT else _spans(test_y),
    )


def _spans(y) -> int:
    return sum(label[:1] == "B" for row in y for label in row)


def _ours(data, setting, X, y):
    from maxmargin import SequenceTagger

    options = {
        "default": {},
        "C=0.03": {"C": 0.03},
        "C=1": {"C": 1.0},
        "objective=log": {"objective": "log"},
    }[setting]
    features = TEXT[data][0] if data in TEXT else None
    return SequenceTagger(features=features, **options).fit(X, y).predict


def _crfsuite(data, setting, X, y):
    import pycrfsuite

    make = TEXT[data][2] if data in TEXT else _pixels
    trainer = pycrfsuite.Trainer(verbose=False)
    for x, labels in zip(X, y, strict=True):
        trainer.append(make(x), list(map(str, labels)))
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
    return lambda X: [tagger.tag(make(x)) for x in X]


def _pixels(word):
    return [[str(j) for j in row.nonzero()[0].tolist()] for row in word]


def _load(data: str):
    if data not in TEXT:
        return [*load_letters(train=True), *load_letters(train=False)]
    parts = []
    for path in need_data(*DATA[data]):
        sentences = read_columns(path)
        columns = TEXT[data][1]
        parts.append([[row[:columns] for row in rows] for rows in sentences])
        parts.append([[row[-1] for row in rows] for rows in sentences])
    return parts
