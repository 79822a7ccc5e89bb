"""Features as they come: MulticlassSVM beside LinearSVC (LIBLINEAR) on unscaled data.

    python benchmarks/scales.py [--data wine digits spambase covertype imclef letters]
                                [--C 0.01 1 1000] [--limit 60]

Nothing is standardised but the letters (there C alone makes it hard). Both minimise the
Crammer-Singer objective with a constant feature for the intercept; MulticlassSVM as it
comes (a certified 1%), LinearSVC with its default tol and 1,000 iterations. ``above`` is
how far an objective lies above the dual that MulticlassSVM proved, so above the optimum
at most. Who takes longer than --limit seconds is ended.
"""

from __future__ import annotations

import argparse

from common import (
    BUSY,
    Clock,
    Targets,
    fresh,
    header,
    load_letters,
    need_data,
    no_compiling,
    start,
    table,
    worker,
)

FILES = {
    "wine": [],
    "digits": [],
    "spambase": ["spambase/spambase.npz"],
    "covertype": ["covertype/covertype_15120.npz"],
    "imclef": ["imclef07a/imclef07a.npz"],
    "letters": ["ocr_letters/letters.npz"],
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=FILES, default=list(FILES))
    parser.add_argument("--C", nargs="+", type=float, default=[0.01, 1.0, 1000.0])
    parser.add_argument("--limit", type=float, default=60.0)
    options = parser.parse_args()
    for data in options.data:
        need_data(*FILES[data])
    header("Crammer-Singer SVM on unscaled features")
    fresh(prepare)
    rows, targets = [], Targets()
    for data in options.data:
        for C in options.C:
            same = {"data": data, "C": C}
            mine = fresh(ours, limit=options.limit, **same)
            peer = fresh(linear_svc, options.limit, dual=mine["dual"], **same)
            above = peer.get("above")
            rows.append(
                [
                    data,
                    mine["shape"],
                    f"{C:g}",
                    mine["fit_cpu"],
                    f"{mine['gap']:.2%}",
                    peer.get("fit_cpu", peer.get("ended_cpu")),
                    "ended" if above is None else f"{above:.2%}",
                    "yes" if peer.get("converged") else "no",
                ]
            )
            targets.at_most(f"{data}, C={C:g}: proved gap", mine["gap"], 0.01)
    columns = ["data", "rows x features, classes", "C", "our CPU s", "proved gap"]
    table([*columns, "LinearSVC CPU s", "above", "it converged"], rows)
    targets.show()
    print(BUSY)
    return 0


def load(name: str):
    import numpy as np

    if name in ("wine", "digits"):
        from sklearn import datasets

        return getattr(datasets, f"load_{name}")(return_X_y=True)
    if name == "letters":
        X, y = load_letters(train=True)
        X = np.vstack(X)
        return (X - X.mean(0)) / np.maximum(X.std(0), 1e-9), np.concatenate(y)
    (path,) = need_data(*FILES[name])
    with np.load(path, allow_pickle=False) as data:
        if name == "spambase":
            return data["X"].astype(float), data["y"]
        if name == "imclef":
            return data["X_train"].astype(float), data["y_train"]
        marks = [np.eye(4)[data["wilderness"]], np.eye(40)[data["soil"]]]
        return np.hstack([data["X_num"].astype(float), *marks]), data["y"]


def objective(model, X, y, C) -> float:
    """The Crammer-Singer primal of a linear model, intercept regularised."""
    import numpy as np

    coef, intercept = model.coef_, np.asarray(model.intercept_)
    if len(coef) == 1:  # LinearSVC keeps one row for two classes
        coef = np.vstack([-coef, coef]) / 2
        intercept = np.array([-intercept[0], intercept[0]]) / 2
    truth = np.unique(y, return_inverse=True)[1]
    rows = np.arange(len(y))
    scores = X @ coef.T + intercept + 1.0
    scores[rows, truth] -= 1.0
    hinges = scores.max(axis=1) - scores[rows, truth]
    return float(0.5 * (np.sum(coef**2) + np.sum(intercept**2)) + C * hinges.sum())


@worker
def prepare() -> dict:
    """Compile (or load) both kinds of steps."""
    import numpy as np

    from maxmargin import MulticlassSVM

    for scale in (1 / 3, 1000 / 3):
        MulticlassSVM().fit(np.eye(3) * scale, [0, 1, 2])
    return {}


@worker
def ours(data: str, C: float, limit: float) -> dict:
    from maxmargin import MulticlassSVM

    prepare()
    X, y = load(data)
    result = {}
    with no_compiling(result), Clock() as fit:
        model = MulticlassSVM(C=C, max_time=limit, max_iter=100_000).fit(X, y)
    certificate = model.certificate_
    result.update(
        shape=f"{X.shape[0]} x {X.shape[1]}, {len(model.classes_)}",
        fit_cpu=fit.cpu,
        gap=certificate.relative_gap,
        dual=certificate.dual,
    )
    return result


@worker
def linear_svc(data: str, C: float, dual: float) -> dict:
    from sklearn.svm import LinearSVC

    X, y = load(data)
    model = LinearSVC(C=C, multi_class="crammer_singer", random_state=0)
    with Clock() as fit:
        model.fit(X, y)
    return {
        "fit_cpu": fit.cpu,
        "above": (objective(model, X, y, C) - dual) / max(dual, 1e-300),
        "converged": bool(model.n_iter_ < model.max_iter),
    }


if __name__ == "__main__":
    start(main)
