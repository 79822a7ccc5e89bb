"""Which C should be the default of KernelSVM: cross-validated accuracy over C.

    python benchmarks/kernel_C.py [--C 1 2 3 5 10 30] [--data NAME ...]

The exact machine of the Gaussian kernel with gamma="scale", three folds within at most
3,000 samples of each training part; scikit-learn's SVC with its C=1 beside it. Tables that
are not pixels, marks or words are standardised. A default is good if it is never far behind
the best C of a data set: the last row is by how many points it is, at most.
"""

from __future__ import annotations

import argparse

from common import data_file, fresh, header, start, table, worker

FILES = {
    "a9a": "a9a/a9a.train.svm.gz",
    "w8a": "w8a/w8a.train.svm.gz",
    "spambase": "spambase/spambase.npz",
    "breast cancer": None,
    "MNIST, 0-4 or 5-9": "mnist/mnist.npz",
    "covertype, 2 or not": "covertype/covertype_15120.npz",
    "covertype, 1 or 2": "covertype/covertype_15120.npz",
    "splice, N or not": "splice/splice.fasta.gz",
    "wine": None,
    "iris": None,
    "digits": None,
    "covertype": "covertype/covertype_15120.npz",
    "MNIST": "mnist/mnist.npz",
    "letters": "ocr_letters/letters.npz",
    "X-rays": "imclef07a/imclef07a.npz",
    "splice": "splice/splice.fasta.gz",
    "scene, one label": "scene/scene.npz",
    "newsgroups": "newsgroups20/newsgroups20_bow.npz",
}
MOST = 3000  # samples
FOLDS = 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--C", nargs="+", type=float, default=[1, 2, 3, 5, 10, 30])
    parser.add_argument("--data", nargs="+", choices=FILES, default=list(FILES))
    options = parser.parse_args()
    header("C of kernel machines")
    Cs, rows = sorted(options.C), []
    for data in options.data:
        file = FILES[data]
        if file is not None and data_file(file) is None:
            print(f"skipped: {data}: {file} not found.")
            continue
        r = fresh(validate, data=data, Cs=Cs)
        rows.append([data, r["samples"], *r["accuracy"], r["peer"]])
    found = [row[2:-1] for row in rows]
    behind = [[max(row) - value for value in row] for row in found]
    shown = [[*row[:2], *(f"{value:.2f}" for value in row[2:])] for row in rows]
    for name, summary in (
        ("mean", [sum(c) / len(c) for c in zip(*found, strict=True)]),
        ("most behind", [max(c) for c in zip(*behind, strict=True)]),
    ):
        shown.append([name, "", *(f"{value:.2f}" for value in summary), ""])
    table(["data", "samples", *(f"C={C:g}" for C in Cs), "SVC"], shown)
    return 0


@worker
def validate(data: str, Cs: list) -> dict:
    import numpy as np
    from sklearn.model_selection import StratifiedKFold
    from sklearn.svm import SVC

    from maxmargin import KernelSVM

    X, y = load(data)
    rows = np.random.default_rng(0).permutation(len(y))[:MOST]
    X, y = X[rows], y[rows]
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    ours, peer = [], []
    for train, test in folds.split(np.zeros(len(y)), y):
        models = KernelSVM(method="exact", random_state=0).path(X[train], y[train], Cs)
        ours.append([model.score(X[test], y[test]) for model in models])
        peer.append(SVC().fit(X[train], y[train]).score(X[test], y[test]))
    accuracy = (100 * np.mean(ours, axis=0)).tolist()
    return {"samples": len(y), "accuracy": accuracy, "peer": 100 * float(np.mean(peer))}


def load(data: str):
    """(X, y) of the training part, if there is one."""
    import numpy as np
    from sklearn import datasets

    name, file = data.split(",")[0], FILES[data]
    path = None if file is None else data_file(file)
    if file is None:
        X, y = getattr(datasets, "load_" + name.replace(" ", "_"))(return_X_y=True)
        return (X if name == "digits" else _standard(X)), y
    if name in ("a9a", "w8a"):
        X, y = datasets.load_svmlight_file(str(path))
        X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")
        return X, y
    if name == "splice":
        return _splice(path, data)
    with np.load(path, allow_pickle=False) as found:
        arrays = dict(found)
    return _arrays(data, arrays)


def _standard(X):
    width = X.std(axis=0)
    return (X - X.mean(axis=0)) / (width + (width == 0))


def _splice(path, data: str):
    import gzip

    import numpy as np

    bases, y = [], []
    with gzip.open(path, "rt") as lines:
        for line in lines:
            if line.startswith(">"):
                y.append(line.strip().split("=")[-1])
                bases.append("")
            else:
                bases[-1] += line.strip()
    X = np.array([[base == b for base in row for b in "ACGT"] for row in bases], float)
    y = np.array(y)
    return X, y == "N" if "or not" in data else y


def _arrays(data: str, a: dict):
    import numpy as np
    import scipy.sparse as sp

    if data == "spambase":
        return _standard(a["X"].astype(float)), a["y"]
    if data.startswith("covertype"):
        marks = np.eye(4)[a["wilderness"]], np.eye(40)[a["soil"]]
        X, y = _standard(np.hstack([a["X_num"].astype(float), *marks])), a["y"]
        if data.endswith("1 or 2"):
            return X[y <= 2], y[y <= 2]
        return X, y == 2 if data.endswith("or not") else y
    if data.startswith("MNIST"):
        X, y = a["X_train"].reshape(len(a["y_train"]), -1) / 255.0, a["y_train"]
        return X, y >= 5 if data.endswith("5-9") else y
    if data == "letters":
        train = np.repeat(a["word_fold"], np.diff(a["word_offsets"])) != 0
        pixels = np.unpackbits(a["pixels_packed"][train], axis=1)
        return pixels.astype(float), a["labels"][train]
    if data == "newsgroups":  # tf-idf, rows of length 1
        train = a["is_test"] == 0
        X = sp.csr_array((a["counts"].astype(float), a["indices"], a["indptr"]))[train]
        X.data = 1 + np.log(X.data)
        documents = np.bincount(X.indices, minlength=X.shape[1])
        X.data *= np.log(X.shape[0] / (1 + documents))[X.indices]
        lengths = np.sqrt(X.multiply(X).sum(axis=1))
        X.data /= np.repeat(lengths, np.diff(X.indptr))
        X.indices, X.indptr = X.indices.astype("int32"), X.indptr.astype("int32")
        return X, a["label"][train]
    X, y = a["X_train"].astype(float), a["y_train"]
    if data == "scene, one label":
        one = y.sum(axis=1) == 1
        return X[one], y[one].argmax(axis=1)
    return X, y


if __name__ == "__main__":
    start(main)
