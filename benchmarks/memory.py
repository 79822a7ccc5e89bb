"""Peak memory of a fit, beside peers in fresh processes.

    python benchmarks/memory.py [--task classes tags] [--rows 10000]

classes: 1,000 classes, 100,000 sparse features (a fixed seed): MulticlassSVM against
LinearSVC, both Crammer & Singer. tags: CoNLL-2000 with tags so fine that there are
about 90 of them (part of speech and chunk joined, the rare ones left as they are):
SequenceTagger against python-crfsuite. ``data`` is the peak before the fit begins.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import Counter

from common import (
    Clock,
    fresh,
    header,
    load_chunks,
    need_data,
    peak_mb,
    start,
    table,
    warm_multiclass,
    warm_tagger,
    worker,
)

CLASSES, FEATURES, WORDS = 1000, 100_000, 60
TAGS = 90


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    tasks = {"classes": (classes, linear_svc), "tags": (tags, crfsuite)}
    parser.add_argument("--task", nargs="+", choices=tasks, default=list(tasks))
    parser.add_argument("--rows", type=int, default=10_000)
    options = parser.parse_args()
    need_data("conll2000/train.txt.gz")
    header("Peak memory of a fit")
    fresh(prepare)
    rows = []
    for task in options.task:
        for function in tasks[task]:
            arguments = {"rows": options.rows} if task == "classes" else {}
            result = fresh(function, **arguments)
            memory = [f"{result[key]:.0f}" for key in ("data_mb", "peak_mb")]
            rows.append([task, result["tool"], result["fit_cpu"], *memory])
    table(["task", "tool", "fit CPU s", "data MB", "peak MB"], rows)
    return 0


def sparse_classes(rows: int):
    """(X, y): rows of words, most of them drawn from the words of their class."""
    import numpy as np
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    y = np.arange(rows) % CLASSES
    own = (y[:, None] * 100 + rng.integers(0, 300, (rows, WORDS // 2))) % FEATURES
    any_word = rng.integers(0, FEATURES, (rows, WORDS // 2))
    columns = np.hstack([own, any_word]).ravel()
    start = np.arange(0, rows * WORDS + 1, WORDS)
    values = rng.random(len(columns)) / WORDS**0.5
    X = sp.csr_matrix((values, columns, start), shape=(rows, FEATURES))
    X.sum_duplicates()
    return X, y


def fine_tags():
    """CoNLL-2000 with the tags of words joined to the chunks, up to about TAGS labels."""
    X, y = load_chunks("train")
    joined = [
        [f"{row[9][5:]}|{label}" for row, label in zip(rows, labels, strict=True)]
        for rows, labels in zip(X, y, strict=True)
    ]
    counts = Counter(label for labels in joined for label in labels)
    kept = {label for label, _ in counts.most_common(TAGS - 22)}
    fine = [
        [a if a in kept else b for a, b in zip(new, old, strict=True)]
        for new, old in zip(joined, y, strict=True)
    ]
    return X, fine


@worker
def prepare() -> dict:
    warm_multiclass()
    warm_tagger()
    return {}


@worker
def classes(rows: int) -> dict:
    from maxmargin import MulticlassSVM

    warm_multiclass()
    X, y = sparse_classes(rows)
    return _measured("MulticlassSVM", lambda: MulticlassSVM(C=1.0).fit(X, y))


@worker
def linear_svc(rows: int) -> dict:
    from sklearn.svm import LinearSVC

    X, y = sparse_classes(rows)
    model = LinearSVC(C=1.0, multi_class="crammer_singer", tol=0.1, random_state=0)
    return _measured("LinearSVC(tol=0.1)", lambda: model.fit(X, y))


@worker
def tags() -> dict:
    from maxmargin import SequenceTagger

    warm_tagger()
    X, y = fine_tags()
    return _measured("SequenceTagger", lambda: SequenceTagger(C=0.1).fit(X, y))


@worker
def crfsuite() -> dict:
    import pycrfsuite

    X, y = fine_tags()
    trainer = pycrfsuite.Trainer("ap", {"max_iterations": 10}, verbose=False)

    def fit():
        for tokens, labels in zip(X, y, strict=True):
            trainer.append(tokens, labels)
        with tempfile.TemporaryDirectory() as folder:
            trainer.train(os.path.join(folder, "model"))

    return _measured("python-crfsuite ap, 10 passes", fit)


def _measured(tool, fit) -> dict:
    before = peak_mb()
    with Clock() as clock:
        fit()
    return {"tool": tool, "data_mb": before, "fit_cpu": clock.cpu}


if __name__ == "__main__":
    start(main)
