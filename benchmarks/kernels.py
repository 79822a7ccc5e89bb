"""Kernel machines: accuracy against the number of basis functions, beside exact LIBSVM.

    python benchmarks/kernels.py [--tasks a9a zero halves digits w8a covertype]
                                 [--sizes 10 20 50 100 200 500 1000] [--quick]
    python benchmarks/kernels.py --growth          time and memory against n
    python benchmarks/kernels.py --gpu             the same machines on a GPU

Every method is given the same Gaussian kernel and C. Times are CPU seconds of one core: for
subspace pursuit and CPSP(tr), of a single run that passes all sizes (``path``); for those
whose basis is chosen beforehand, of each size alone. LIBSVM is scikit-learn's SVC (sparse
data sparse). Prediction is of the whole test part, the machine of the largest size.
"""

from __future__ import annotations

import argparse

from common import (
    BUSY,
    Clock,
    Targets,
    fresh,
    header,
    need_data,
    start,
    table,
    worker,
)

SIZES = [10, 20, 50, 100, 200, 500, 1000]
# task: files, gamma, C
TASKS = {
    "a9a": (["a9a/a9a.train.svm.gz", "a9a/a9a.test.svm.gz"], 0.05, 1.0),
    "zero": (["mnist/mnist.npz"], 0.02, 10.0),
    "halves": (["mnist/mnist.npz"], 0.02, 10.0),
    "digits": (["mnist/mnist.npz"], 0.02, 10.0),
    "w8a": (["w8a/w8a.train.svm.gz"], 0.05, 10.0),
    "covertype": (["covertype/covertype_15120.npz"], 0.5, 10.0),
}
NAMES = {
    "zero": "MNIST, 0 against the rest",
    "halves": "MNIST, 0-4 against 5-9",
    "digits": "MNIST, ten classes",
}
METHODS = {
    "subspace-pursuit": "subspace pursuit",
    "training-points": "CPSP(tr)",
    "nystroem": "Nystroem, uniform",
    "nystroem-kmeans": "Nystroem, k-means",
    "incomplete-cholesky": "incomplete Cholesky",
}
# the thesis, tables 6.2-6.4: accuracy at 1,000, functions within 0.5, CPU seconds
THESIS = {
    "a9a": ("ADULT", {"exact": "84.4, 7125, 56", "subspace-pursuit": "84.5, 10, 6"}),
    "zero": ("OCR0", {"exact": "99.8, 2786, 400", "subspace-pursuit": "99.8, 20, 11"}),
    "halves": (
        "OCR*",
        {"exact": "98.6, 19309, 4629", "subspace-pursuit": "98.5, 500, 465"},
    ),
}
THESIS["a9a"][1].update({"training-points": "84.1, 50, 30", "nystroem": "84.3, 50, 10"})
THESIS["zero"][1].update(
    {"training-points": "99.8, 50, 57", "nystroem": "99.7, 100, 37"}
)
THESIS["halves"][1].update(
    {"training-points": "97.9, 2000, 8967", "nystroem": "97.0, 5000, 2270"}
)
SAMPLED = 400  # examples of a sampled cut
CLOSE, WIDE = 0.2, 0.5  # points of accuracy
FEWER = 5  # times fewer functions than Nystroem


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    parser.add_argument("--quick", action="store_true", help="10,000 samples at most")
    parser.add_argument("--no-peer", action="store_true", help="without LIBSVM")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--gpu", action="store_true")
    options = parser.parse_args()
    header("Kernel machines")
    fresh(prepare)
    targets = Targets()
    if options.growth:
        _growth(targets, options.quick)
    elif options.gpu:
        _gpu()
    else:
        for task in options.tasks:
            need_data(*TASKS[task][0])
            _compare(task, options, targets)
    targets.show()
    print(BUSY)
    return 0


def _compare(task: str, options, targets: Targets) -> None:
    _, gamma, C = TASKS[task]
    sizes, most = options.sizes, 10_000 if options.quick else None
    print(f"\n{NAMES.get(task, task)} (gamma={gamma:g}, C={C:g})", flush=True)
    found: dict[str, dict] = {}
    for method in METHODS:
        found[method] = fresh(ours, task=task, method=method, sizes=sizes, most=most)
        _show(task, method, found[method])
    sampled = fresh(ours, task=task, method="sampling", sizes=[SAMPLED], most=most)
    _show(task, "sampling", sampled)
    if options.no_peer:
        return
    exact = fresh(libsvm, task=task, most=most)
    exact |= {"rows": [[exact["functions"], exact["accuracy"], exact["fit"]]]}
    _show(task, "exact", exact)
    pursuit, nystroem = found["subspace-pursuit"], found["nystroem"]
    name = NAMES.get(task, task)
    worst = min(
        ours_[1] - theirs[1]
        for ours_, theirs in zip(pursuit["rows"], nystroem["rows"], strict=True)
    )
    targets.at_least(f"{name}: pursuit - Nystroem, worst size", worst, 0.0)
    top = exact["accuracy"]
    last = pursuit["rows"][-1]
    targets.at_most(f"{name}: LIBSVM - pursuit, {last[0]}", top - last[1], CLOSE)
    fewer = [
        next((row[0] for row in part["rows"] if row[1] >= top - WIDE), None)
        for part in (pursuit, nystroem)
    ]
    print(f"  functions within {WIDE} points: pursuit {fewer[0]}, Nystroem {fewer[1]}")
    if task in ("zero", "halves", "digits") and fewer[0]:
        if fewer[1] is None:
            fewer[1] = _further(task, FEWER * fewer[0], most, top - WIDE)
        ratio = fewer[1] / fewer[0]
        targets.at_least(f"{name}: Nystroem's functions over pursuit's", ratio, FEWER)
    good = next((row for row in pursuit["rows"] if row[1] >= top - CLOSE), last)
    if task in ("a9a", "halves"):
        targets.at_least(
            f"{name}: LIBSVM's time over pursuit's", exact["fit"] / good[2], 10
        )
        speed = exact["predict"] / pursuit["predict"]
        targets.at_least(f"{name}: LIBSVM's prediction over pursuit's", speed, 20)


def _further(task: str, size: int, most, wanted: float) -> int:
    """How many of Nystroem's functions are needed: just above or below ``size``."""
    beyond = fresh(ours, task=task, method="nystroem", sizes=[size], most=most)
    _show(task, "nystroem", beyond)
    functions, accuracy, _ = beyond["rows"][-1]
    return functions + 1 if accuracy < wanted else functions - 1


def _show(task: str, method: str, result: dict) -> None:
    thesis = THESIS.get(task, ("", {}))[1].get(method, "")
    names = METHODS | {"exact": "LIBSVM", "sampling": "cut sampling"}
    row = [
        [
            names[method],
            *(f"{size}: {accuracy:.2f}" for size, accuracy, _ in result["rows"]),
            f"{result['rows'][-1][2]:.1f} s",
            f"predict {result['predict']:.2f} s",
            f"{result['peak_mb']:.0f} MB",
            f"(thesis: {thesis})" if thesis else "",
        ]
    ]
    print("  " + "  ".join(str(cell) for cell in row[0]), flush=True)


# data ------------------------------------------------------------------------


def load(task: str, most: int | None = None, dense: bool = True):
    """(X, y, test X, test y); half of w8a and a third of covertype are the test parts."""
    import numpy as np

    X, y, test_X, test_y = _parts(task)
    if dense and hasattr(X, "toarray"):
        X, test_X = X.toarray().astype(np.float32), test_X.toarray().astype(np.float32)
    if most is not None and most < len(y):
        rows = np.random.default_rng(1).permutation(len(y))[:most]
        X, y = X[rows], y[rows]
    return X, y, test_X, test_y


def _parts(task: str):
    import numpy as np

    if task in ("zero", "halves", "digits"):
        (path,) = need_data("mnist/mnist.npz")
        with np.load(path, allow_pickle=False) as data:
            parts = []
            for part in ("train", "test"):
                pixels = data[f"X_{part}"].reshape(len(data[f"X_{part}"]), -1)
                labels = data[f"y_{part}"].astype(int)
                if task != "digits":
                    labels = (labels == 0 if task == "zero" else labels >= 5).astype(
                        int
                    )
                parts += [(pixels / np.float32(255)).astype(np.float32), labels]
        return parts
    if task == "covertype":
        (path,) = need_data(*TASKS[task][0])
        with np.load(path, allow_pickle=False) as data:
            numbers = data["X_num"].astype(np.float32)
            numbers = (numbers - numbers.mean(0)) / numbers.std(0)
            wild = np.eye(4, dtype=np.float32)[data["wilderness"]]
            soil = np.eye(40, dtype=np.float32)[data["soil"]]
            X, y = np.hstack([numbers, wild, soil]), data["y"].astype(int)
        order = np.random.default_rng(0).permutation(len(y))
        return X[order[5040:]], y[order[5040:]], X[order[:5040]], y[order[:5040]]
    from sklearn.datasets import load_svmlight_file

    paths = [str(path) for path in need_data(*TASKS[task][0])]
    if task == "a9a":
        parts = []
        for path in paths:
            X, y = load_svmlight_file(path, n_features=123)
            parts += [X, (y > 0).astype(int)]
        return parts
    X, y = load_svmlight_file(paths[0], n_features=300)
    order = np.random.default_rng(0).permutation(len(y))
    half, y = len(y) // 2, (y > 0).astype(int)
    return X[order[half:]], y[order[half:]], X[order[:half]], y[order[:half]]


# workers ---------------------------------------------------------------------


@worker
def prepare() -> dict:
    import numpy as np

    from maxmargin import KernelSVM

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).astype(np.float32)
    for y in (rng.integers(0, 2, 60), rng.integers(0, 3, 60)):
        KernelSVM(n_components=5).fit(X, y).predict(X)
    return {}


@worker
def ours(task: str, method: str, sizes: list, most: int | None) -> dict:
    """rows: [functions, accuracy, CPU seconds of training]."""
    from maxmargin import KernelSVM

    prepare()
    _, gamma, C = TASKS[task]
    X, y, test_X, test_y = load(task, most)
    sizes = [size for size in sizes if size <= len(y)]
    make = {"C": C, "gamma": gamma, "max_terms": 1, "random_state": 0, "tol": 0.01}
    rows = []
    together = method in ("subspace-pursuit", "training-points")
    if together:
        model = KernelSVM(method=method, **make)
        with Clock() as clock:
            models = model.path(X, y, n_components=sizes)
        for model, cpu in zip(models, model_seconds(models, clock.cpu), strict=True):
            rows.append([len(model.dual_coef_), 100 * model.score(test_X, test_y), cpu])
    else:
        for size in sizes:
            model = KernelSVM(method=method, n_components=size, **make)
            with Clock() as clock:
                model.fit(X, y)
            accuracy = 100 * model.score(test_X, test_y)
            rows.append([len(model.dual_coef_), accuracy, clock.cpu])
    with Clock() as clock:
        model.predict(test_X)
    return {"rows": rows, "predict": clock.cpu}


def model_seconds(models, total: float) -> list[float]:
    """CPU seconds until each size was done, as its machine noted; the last has all."""
    noted = [model.seconds_ for model in models]
    return [total * value / noted[-1] for value in noted]


@worker
def libsvm(task: str, most: int | None) -> dict:
    from sklearn.svm import SVC

    _, gamma, C = TASKS[task]
    X, y, test_X, test_y = load(task, most, dense=False)
    if hasattr(X, "indices"):  # it takes 32-bit numbers only
        for part in (X, test_X):
            part.indices, part.indptr = (
                part.indices.astype("int32"),
                part.indptr.astype("int32"),
            )
    model = SVC(C=C, gamma=gamma, cache_size=2000)
    with Clock() as fit:
        model.fit(X, y)
    with Clock() as predict:
        right = model.predict(test_X) == test_y
    return {
        "accuracy": 100 * float(right.mean()),
        "functions": int(model.n_support_.sum()),
        "fit": fit.cpu,
        "predict": predict.cpu,
    }


# growth ----------------------------------------------------------------------


def _growth(targets: Targets, quick: bool) -> None:
    """Checkerboard of 4 x 4 fields in the plane, 200 functions."""
    sizes = [10_000, 30_000, 100_000] + ([] if quick else [300_000, 1_000_000])
    results = [fresh(checkers, n=n) for n in sizes]
    rows = [
        [n, r["accuracy"], r["fit"], r["predict"], r["peak_mb"]]
        for n, r in zip(sizes, results, strict=True)
    ]
    table(["n", "accuracy", "train CPU s", "predict CPU s", "peak MB"], rows)
    growth = (results[-1]["fit"] / results[0]["fit"]) / (sizes[-1] / sizes[0])
    targets.at_most("time per sample, largest over smallest n", growth, 1.5)
    targets.at_most("peak memory, MB", results[-1]["peak_mb"], 4000.0)


def checkerboard(n: int, seed: int):
    import numpy as np

    rng = np.random.default_rng(seed)
    X = rng.uniform(0, 4, size=(n, 2)).astype(np.float32)
    y = (np.floor(X).astype(int).sum(axis=1) % 2).astype(int)
    return X, y


@worker
def checkers(n: int) -> dict:
    from maxmargin import KernelSVM

    prepare()
    X, y = checkerboard(n, 0)
    test_X, test_y = checkerboard(20_000, 1)
    model = KernelSVM(gamma=10.0, C=1.0, n_components=200, max_terms=1, random_state=0)
    with Clock() as fit:
        model.fit(X, y)
    with Clock() as predict:
        accuracy = model.score(test_X, test_y)
    return {"accuracy": 100 * accuracy, "fit": fit.cpu, "predict": predict.cpu}


# GPU -------------------------------------------------------------------------


def _gpu() -> None:
    rows = []
    for task in ("covertype", "digits"):
        need_data(*TASKS[task][0])
        for size in (1000, 5000):
            r = fresh(on_gpu, task=task, size=size)
            rows.append([task, r["functions"], r["accuracy"], r["fit"], r["predict"]])
            rows[-1] += [r["agreement"], r["difference"]]
    names = ["task", "functions", "accuracy", "train s", "predict s"]
    table([*names, "same as CPU %", "largest difference"], rows)


@worker
def on_gpu(task: str, size: int) -> dict:
    """Wall seconds on the GPU, and scores of the same model on the CPU."""
    import numpy as np

    from maxmargin import KernelSVM

    _, gamma, C = TASKS[task]
    X, y, test_X, test_y = load(task)
    tiny = KernelSVM(n_components=5, device="cuda")
    tiny.fit(X[:200], y[:200]).predict(X[:200])  # starts the GPU
    model = KernelSVM(
        gamma=gamma,
        C=C,
        n_components=min(size, len(y)),
        device="cuda",
        max_terms=1,
        memory=8e9,
    )
    with Clock() as fit:
        model.fit(X, y)
    with Clock() as predict:
        scores = model._scores(test_X)
    model.device = "cpu"
    others = model._scores(test_X)
    same = float((scores.argmax(1) == others.argmax(1)).mean())
    return {
        "functions": len(model.dual_coef_),
        "accuracy": 100 * float((model.classes_[scores.argmax(1)] == test_y).mean()),
        "fit": fit.wall,
        "predict": predict.wall,
        "agreement": 100 * same,
        "difference": float(np.abs(scores - others).max()),
    }


if __name__ == "__main__":
    start(main)
