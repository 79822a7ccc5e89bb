"""All solvers and all formulations must find the same optimum, and that of LIBLINEAR.

    python benchmarks/agreement.py

Small real problems, solved to a relative gap of 1e-7 by every solver in every
formulation. Each row compares the primal objectives of the three solvers; ``bound``
is the largest primal against the smallest dual, so it also proves how near the optimum
they are. Ends with 1 if anything differs by more than 1e-6, relative.
"""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
from common import Clock, data_file, load_letters, machine, start, table
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from maxmargin import MulticlassSVM, Problem, SequenceTagger, StructuralSVM

SOLVERS = ("block-coordinate", "one-slack", "n-slack")
FORMS = tuple(product(("margin", "slack"), ("linear", "quadratic")))
TOL = 1e-7
ALLOWED = 1e-6
MAX_ITER = 20_000
WORDS = 40


def main() -> int:
    warnings.simplefilter("ignore", FutureWarning)
    print("Solvers and formulations against each other, and against LIBLINEAR")
    print(machine())
    refused = []
    good = _compare_solvers(refused)
    good &= _compare_liblinear()
    print("\nrefused, in the library's words:")
    for line in refused or ["nothing"]:
        print(f"  {line}")
    print(f"\n{'pass' if good else 'FAIL'}: {'all' if good else 'not all'} agree")
    return 0 if good else 1


# problems --------------------------------------------------------------------


class Classes(Problem):
    """Multiclass as four Python functions: the same problem as MulticlassSVM's."""

    def __init__(self, n_classes: int):
        self.n_classes = n_classes

    def joint_feature(self, x, y):
        psi = np.zeros((self.n_classes, len(x)))
        psi[y] = x
        return psi.ravel()

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def argmax(self, x, w):
        return int((w.reshape(self.n_classes, -1) @ x).argmax())

    def loss_augmented_argmax(self, x, y, w):
        scores = w.reshape(self.n_classes, -1) @ x + 1.0
        scores[y] -= 1.0
        return int(scores.argmax())


def digits(n=400):
    X, y = load_digits(return_X_y=True)
    return X[:n] / 16.0, y[:n]


def iris():
    X, y = load_iris(return_X_y=True)
    return X / X.max(axis=0), y


def problems() -> dict:
    """{name: (make an estimator, X, y, C)}."""

    def multiclass(**options):
        return MulticlassSVM(fit_intercept=False, **options)

    def functions(**options):
        return StructuralSVM(Classes(3), **options)

    found = {
        "iris, classes": (multiclass, *iris(), 1.0),
        "iris, Python functions": (functions, *iris(), 1.0),
        "digits, classes": (multiclass, *digits(), 0.1),
    }
    if data_file("ocr_letters/letters.npz"):
        X, y = load_letters(train=False)
        words = f"{WORDS} OCR words, chain"
        found[words] = (SequenceTagger, X[:WORDS], y[:WORDS], 0.1)
    else:
        print("skipped: OCR words; set MAXMARGIN_DATA to the folder that holds them.")
    return found


# comparisons -----------------------------------------------------------------


def _compare_solvers(refused) -> bool:
    rows, good = [], True
    for name, (make, X, y, C) in problems().items():
        for rescaling, penalty in FORMS:
            form = {"rescaling": rescaling, "penalty": penalty}
            found = _certificates(name, make, X, y, C, form)
            primals = [c.primal for c, _, _ in found.values()]
            duals = [c.dual for c, _, _ in found.values()]
            spread = (max(primals) - min(primals)) / max(primals)
            bound = (max(primals) - min(duals)) / max(primals)
            fine = max(spread, bound) <= ALLOWED
            good &= fine
            rows.append(
                [
                    name,
                    f"{rescaling}, {penalty}",
                    f"{min(primals):.6f}",
                    f"{spread:.1e}",
                    f"{bound:.1e}",
                    *[f"{passes} / {clock:.1f}" for _, passes, clock in found.values()],
                    "pass" if fine else "FAIL",
                ]
            )
    columns = ["problem", "formulation", "primal", "spread", "bound"]
    table([*columns, *[f"{s}: passes / s" for s in SOLVERS], ""], rows)
    _compare_hard(refused)
    return good


def _certificates(name, make, X, y, C, form) -> dict:
    found = {}
    for solver in SOLVERS:
        model = make(C=C, solver=solver, tol=TOL, max_iter=MAX_ITER, **form)
        with warnings.catch_warnings(), Clock() as clock:
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        found[solver] = (model.certificate_, model.n_iter_, clock.wall)
        if not model.converged_:
            gap = model.certificate_.relative_gap
            print(f"  note: {name}, {form}, {solver} stopped at a gap of {gap:.1e}.")
    return found


def _compare_hard(refused) -> None:
    """A hard margin on two separable classes: what is refused says so."""
    X, y = iris()
    X, y = X[y < 2], y[y < 2]
    rows = []
    for solver in SOLVERS:
        model = MulticlassSVM(C=np.inf, fit_intercept=False, solver=solver, tol=TOL)
        try:
            model.fit(X, y)
        except ValueError as error:
            refused.append(f"{solver}, C=inf: {error}")
            continue
        certificate = model.certificate_
        rows.append([solver, f"{certificate.primal:.8f}", f"{certificate.dual:.8f}"])
    table(["hard margin (C=inf), iris 0 against 1", "primal", "dual"], rows)


def _compare_liblinear() -> bool:
    rows = []
    for name, (X, y), C in (("iris", iris(), 1.0), ("digits", digits(), 0.1)):
        ours = MulticlassSVM(C=C, fit_intercept=False, tol=TOL).fit(X, y)
        peer = _liblinear(X, y, C=C, multi_class="crammer_singer")
        theirs = _crammer_singer(peer.coef_, X, y, C)
        rows.append([f"{name}: Crammer-Singer", ours.certificate_, theirs])
    for name, (X, y), C in (("iris", iris(), 1.0), ("digits", digits(), 0.1)):
        binary = (y > y.max() // 2).astype(int)
        ours = MulticlassSVM(C=C, fit_intercept=False, tol=TOL).fit(X, binary)
        # w_0 = -w_1 = u / 2: half the norm of u, hence C doubles and the value halves
        peer = _liblinear(X, binary, C=2 * C, loss="hinge", dual=True)
        theirs = _binary(peer.coef_[0], X, 2 * binary - 1, 2 * C) / 2
        rows.append([f"{name}: two classes", ours.certificate_, theirs])
    shown, good = [], True
    for name, ours, theirs in rows:
        difference = abs(ours.primal - theirs) / theirs
        fine = difference <= ALLOWED
        good &= fine
        word = "pass" if fine else "FAIL"
        values = [f"{value:.8f}" for value in (ours.dual, ours.primal, theirs)]
        shown.append([name, *values, f"{difference:.1e}", word])
    columns = "against LIBLINEAR|our dual|our primal|its primal|difference|"
    table(columns.split("|"), shown)
    return good


def _liblinear(X, y, **options):
    model = LinearSVC(
        fit_intercept=False, tol=1e-10, max_iter=1_000_000, random_state=0, **options
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def _crammer_singer(coef, X, y, C) -> float:
    scores = X @ coef.T
    rows = np.arange(len(y))
    augmented = scores + 1.0
    augmented[rows, y] -= 1.0
    hinges = augmented.max(axis=1) - scores[rows, y]
    return float(0.5 * (coef**2).sum() + C * hinges.sum())


def _binary(w, X, signs, C) -> float:
    hinges = np.maximum(0.0, 1.0 - signs * (X @ w))
    return float(0.5 * w @ w + C * hinges.sum())


if __name__ == "__main__":
    start(main)
