"""OHSUMED: precision at k beside table 5.3 of Yu's thesis, and other rankers in one run.

    python reproduction/ranking.py [--folds 5] [--no-pairs]

LETOR 3.0, features normalised per query, the five official folds (63 queries to train on, a
fifth each to choose C and to test). Grades of 1 and 2 are relevant. C is chosen on the
validation part: of latent models for P@k by P@k, with one model for every k; of "ndcg" by
NDCG@10; of all others, as LETOR does, by MAP. The latent models begin with the initial
weight vector, a classification SVM in which every query weighs the same.

Not the same as in the thesis: its initial SVM and its grid of C are not told.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from collections import defaultdict

import numpy as np
from sklearn.svm import LinearSVC

from maxmargin import TopKRanker
from maxmargin.files import data_file, read_letor
from maxmargin.rankings.metrics import ranking_scores
from maxmargin.rankings.queries import group
from maxmargin.rankings.start import classification_weights

KS = (1, 3, 5, 10)
CS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
PUBLISHED = {
    "Ranking SVM": (0.597, 0.543, 0.532, 0.486),
    "ListNet": (0.652, 0.602, 0.550, 0.498),
    "initial weight vector": (0.626, 0.557, 0.524, 0.464),
    "latent, P@k": (0.680, 0.573, 0.567, 0.494),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument(
        "--no-pairs", action="store_true", help="not the explicit pairs"
    )
    options = parser.parse_args()
    began = time.perf_counter()
    try:
        parts = [
            read_letor(data_file(f"ohsumed_letor3/S{i}.txt.gz"), 45)
            for i in range(1, 6)
        ]
    except FileNotFoundError as error:
        print(f"skipped: {error}")
        return 0
    reading = time.perf_counter() - began
    for loss in ("precision", "pairwise"):  # compile, before the clock starts
        TopKRanker(k=1, loss=loss).fit([[0.0], [1.0]], [0, 1], [1, 1])
    rows: dict[str, list] = defaultdict(list)
    seconds: dict[str, float] = defaultdict(float)
    for f in range(options.folds):
        fold = Fold(parts, f)
        for name, run in METHODS.items():
            began = time.perf_counter()
            found = run(fold)
            if found is not None:
                rows[name].append(found)
                seconds[name] += (time.perf_counter() - began) / options.folds
    print_table(rows, seconds)
    if importlib.util.find_spec("lightgbm") is None:
        print("LightGBM's lambdarank was left out: lightgbm is not installed.")
    print_phases(Fold(parts, 0), reading)
    if not options.no_pairs:
        print_pairs(Fold(parts, 0))
    return 0


class Fold:
    """Train, validation and test parts as (X, y, qid), and the initial weights."""

    def __init__(self, parts, f: int):
        self.train, self.valid, self.test = (
            _joined([parts[(f + j) % 5] for j in chosen])
            for chosen in ((0, 1, 2), (3,), (4,))
        )
        self.initial = None

    def report(self, w, part="test"):
        X, y, qid = getattr(self, part)
        return ranking_scores(y, X @ w, qid, KS)

    def best(self, candidates, measure):
        """The weights that are best on the validation part, with their C."""
        return max(candidates, key=lambda pair: measure(self.report(pair[1], "valid")))


def _joined(parts):
    X = np.vstack([part.X.toarray() for part in parts])
    return (
        X,
        np.concatenate([p.y for p in parts]),
        np.concatenate([p.qid for p in parts]),
    )


def by_map(report) -> float:
    return report.mean_average_precision


def initial(fold):
    X, y, qid = fold.train
    first = group(qid, len(X)).first
    found = [(C, classification_weights(X, y >= 1, first, C=C)) for C in CS]
    C, fold.initial = fold.best(found, by_map)
    return C, fold.report(fold.initial)


def convex(loss, measure):
    def run(fold):
        X, y, qid = fold.train
        models = TopKRanker(k=10, loss=loss).path(X, y, CS, qid)
        C, w = fold.best([(m.C, m.coef_) for m in models], measure)
        return C, fold.report(w)

    return run


def latent(k):
    def run(fold):
        X, y, qid = fold.train
        models = TopKRanker(k=k, loss="precision", init=fold.initial).path(
            X, y, CS, qid
        )
        C, w = fold.best(
            [(m.C, m.coef_) for m in models], lambda report: report.precision[k]
        )
        return C, fold.report(w)

    return run


def lambdarank(fold):
    if importlib.util.find_spec("lightgbm") is None:
        return None
    import lightgbm

    def sizes(qid):
        return np.diff(group(qid, len(qid)).first)

    X, y, qid = fold.train
    V, v, valid = fold.valid
    model = lightgbm.LGBMRanker(
        objective="lambdarank",
        n_estimators=500,
        learning_rate=0.05,
        num_leaves=15,
        min_child_samples=50,
        n_jobs=1,
        random_state=0,
        deterministic=True,
        verbose=-1,
    )
    stop = [lightgbm.early_stopping(50, verbose=False)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(
            X,
            y.astype(int),
            group=sizes(qid),
            eval_set=[(V, v.astype(int))],
            eval_group=[sizes(valid)],
            eval_at=[10],
            callbacks=stop,
        )
        scores = model.predict(fold.test[0])
    return None, ranking_scores(fold.test[1], scores, fold.test[2], KS)


METHODS = {
    "Ranking SVM": convex("pairwise", by_map),
    "initial weight vector": initial,
    **{f"latent, P@{k}": latent(k) for k in KS},
    "average precision": convex("average-precision", by_map),
    "NDCG": convex("ndcg", lambda report: report.ndcg[10]),
    "LightGBM, lambdarank": lambdarank,
}


def print_table(rows, seconds) -> None:
    head = "".join(f"{'P@' + str(k):>8s}" for k in KS)
    print(
        f"{'mean of the test parts':26s}{head}{'MAP':>8s}{'NDCG@10':>9s}   C, seconds\n"
    )
    for name, found in rows.items():
        reports = [report for _, report in found]
        _row(name, [[r.precision[k] for k in KS] for r in reports], reports)
        chosen = ", ".join(f"{C:g}" for C, _ in found if C is not None)
        print(f"   {chosen + '; ' if chosen else ''}{seconds[name]:.1f} s")
    own = [rows[f"latent, P@{k}"] for k in KS]
    best = [
        [found[f][1].precision[k] for k, found in zip(KS, own, strict=True)]
        for f in range(len(own[0]))
    ]
    _row("latent, each for its k", best)
    print("\n\nTable 5.3 of the thesis\n")
    for name, numbers in PUBLISHED.items():
        _row(name, [numbers])
        print()
    print()


def _row(name, precisions, reports=()) -> None:
    cells = "".join(f"{v:8.3f}" for v in np.mean(precisions, axis=0))
    if reports:
        cells += f"{np.mean([by_map(r) for r in reports]):8.3f}"
        cells += f"{np.mean([r.ndcg[10] for r in reports]):9.3f}"
    print(f"{name:26s}{cells}", end="", flush=True)


def print_phases(fold, reading: float) -> None:
    X, y, qid = fold.train
    print(
        f"One fold, one thread: {len(X):,} documents of {len(np.unique(qid))} queries"
    )
    print(f"  reading all five files{reading:29.2f} s")
    began = time.perf_counter()
    classification_weights(X, y >= 1, group(qid, len(X)).first)
    print(f"  initial classification SVM{time.perf_counter() - began:25.2f} s")
    for loss, C in (("precision", 1.0), ("ndcg", 1.0), ("average-precision", 1.0)):
        began = time.perf_counter()
        model = TopKRanker(k=10, C=C, loss=loss).fit(X, y, qid)
        whole, inside = time.perf_counter() - began, model.history_[-1]["seconds"]
        steps = f", {model.n_outer_} outer steps" if loss == "precision" else ""
        name = f"  fit, loss={loss}, C={C:g}"
        print(f"{name:40s}{whole:12.2f} s, {inside:.2f} of them solving{steps}")
    began = time.perf_counter()
    model.predict(fold.test[0])
    print(f"  predicting{time.perf_counter() - began:41.4f} s\n")


def print_pairs(fold) -> None:
    """Ranking SVM against LinearSVC on the explicit pairs, at matched objectives."""
    X, y, qid = fold.train
    began = time.perf_counter()
    Z, weights = [], []
    for rows in group(qid, len(X)):
        a, b = np.nonzero(y[rows][:, None] > y[rows])
        Z.append(X[rows[a]] - X[rows[b]])
        weights.append(np.full(len(a), 1.0 / max(len(a), 1)))
    Z, weights = np.vstack(Z), np.concatenate(weights)
    building = time.perf_counter() - began
    signs = np.where(np.arange(len(Z)) % 2, 1.0, -1.0)  # it wants two classes
    signed = Z * signs[:, None]
    print(f"Ranking SVM, {len(Z):,} pairs (built for LinearSVC in {building:.2f} s)")
    print(f"{'C':>6s}{'':24s}{'objective':>12s}{'seconds':>10s}")
    for C in (0.1, 1.0, 10.0):

        def objective(w, C=C):
            return 0.5 * w @ w + C * weights @ np.maximum(0.0, 1.0 - Z @ w)

        for tol in (1e-2, 1e-3, 1e-4):
            began = time.perf_counter()
            w = TopKRanker(C=C, loss="pairwise", tol=tol).fit(X, y, qid).coef_
            spent = time.perf_counter() - began
            name = f"ours, tol={tol:g}"
            print(f"{C:6g}  {name:22s}{objective(w):12.5f}{spent:10.2f}", flush=True)
        for tol in (1e-1, 1e-3):
            began = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                svc = LinearSVC(
                    C=C, loss="hinge", fit_intercept=False, tol=tol, max_iter=200
                )
                w = svc.fit(signed, signs, sample_weight=weights).coef_[0]
            spent = time.perf_counter() - began
            name = f"LinearSVC, tol={tol:g}"
            print(f"{C:6g}  {name:22s}{objective(w):12.5f}{spent:10.2f}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
