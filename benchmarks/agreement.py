"""All solvers and all formulations must find the same optimum, and that of LIBLINEAR.

    python benchmarks/agreement.py

Small real problems, solved by every solver in every formulation to a relative gap of
4e-7. Each row compares the primal objectives of the solvers; ``bound`` is the largest
primal against the smallest dual, so it also proves how near the optimum they are. Ends
with 1 if anything differs by more than 1e-6, relative.

Then random problems as a user writes them in Python (``small_problems.py``), against
scipy's non-negative least squares on the program of all their outputs. Last, the primals of
all families over C from 1e-3 to 1e7, computed anew from public attributes
(``certificates.py``, which runs alone too).
"""

from __future__ import annotations

import warnings
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import certificates
import numpy as np
from common import Clock, data_file, load_letters, machine, start, table
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from small_problems import Listed, random_problem, through

from maxmargin import MulticlassSVM, SequenceTagger, StructuralSVM

SOLVERS = ("block-coordinate", "one-slack", "n-slack", "proximal-bundle")
FORMS = tuple(product(("margin", "slack"), ("linear", "quadratic")))
TOL = 4e-7
ALLOWED = 1e-6
PROBLEMS = 100  # small ones, as Python functions
SECONDS = 30.0  # for one fit; a fit that needs more is noted and fails


def main() -> int:
    warnings.simplefilter("ignore", FutureWarning)
    warnings.simplefilter("ignore", ConvergenceWarning)
    print("Solvers and formulations against each other, and against LIBLINEAR")
    print(machine())
    _compile()
    good = _compare_solvers()
    good &= _compare_problems()
    good &= _compare_hard()
    good &= _compare_liblinear()
    print(f"\n{'pass: all' if good else 'FAIL: not all'} agree to {ALLOWED:g}\n")
    return max(certificates.main(), 0 if good else 1)


# problems --------------------------------------------------------------------


class Case(NamedTuple):
    """A training problem and the solvers that are to agree on it."""

    name: str
    make: Any
    X: Any
    y: Any
    C: float
    solvers: tuple = SOLVERS


def digits(n=250):
    X, y = load_digits(return_X_y=True)
    return X[:n] / 16.0, y[:n]


def iris(step=1):
    X, y = load_iris(return_X_y=True)
    return X[::step] / X.max(axis=0), y[::step]


def multiclass(**options):
    return MulticlassSVM(fit_intercept=False, **options)


def cases() -> list[Case]:
    found = [
        Case("iris", multiclass, *iris(), 1.0),
        Case("digits", multiclass, *digits(), 0.1),
    ]
    if data_file("ocr_letters/letters.npz") is None:
        print("skipped: OCR words; set MAXMARGIN_DATA to the folder that holds them.")
        return found
    X, y = load_letters(train=False)
    small = [_coarse(word) for word in X[:12]]
    found.append(Case("12 OCR words, 8 features", SequenceTagger, small, y[:12], 0.02))
    # one-slack would take minutes here: cutting planes of one slack converge slowly
    two = ("block-coordinate", "n-slack")
    found.append(
        Case("40 OCR words, 128 pixels", SequenceTagger, X[:40], y[:40], 0.1, two)
    )
    return found


def _coarse(word):
    """16 x 8 pixels averaged to 4 x 2."""
    blocks = word.reshape(len(word), 4, 4, 2, 4)
    return blocks.mean(axis=(2, 4)).reshape(len(word), 8)


# comparisons -----------------------------------------------------------------


def _compile() -> None:
    """Compile or load all kernels, so that the times below are those of training."""
    word = [np.eye(2)]
    for solver in SOLVERS:
        multiclass(solver=solver, tol=TOL, max_iter=3).fit(*iris(30))
        SequenceTagger(solver=solver, tol=TOL, max_iter=3).fit(word, [[0, 1]])


def _compare_solvers() -> bool:
    rows = []
    for case in cases():
        for form in FORMS:
            fits = {solver: _fit(case, form, solver) for solver in case.solvers}
            found = [model.certificate_ for model, _ in fits.values()]
            low, high = min(c.primal for c in found), max(c.primal for c in found)
            spread, bound = high - low, high - min(c.dual for c in found)
            work = [_work(*fits[s]) if s in fits else "-" for s in SOLVERS]
            name = f"{case.name}: {', '.join(form)}"
            numbers = [f"{low:.6f}", f"{spread / high:.1e}", f"{bound / high:.1e}"]
            rows.append([name, *work, *numbers, _word(bound / high)])
    columns = [f"{solver}: passes, s" for solver in SOLVERS]
    table(["problem", *columns, "primal", "spread", "bound", ""], rows)
    return _all_pass(rows)


def _fit(case, form, solver, **more):
    rescaling, penalty = form
    options = {"tol": TOL, "max_iter": 100_000, "max_time": SECONDS, **more}
    model = case.make(
        C=case.C, solver=solver, rescaling=rescaling, penalty=penalty, **options
    )
    with Clock() as clock:
        model.fit(case.X, case.y)
    return model, clock.wall


def _work(model, seconds) -> str:
    return f"{model.n_iter_}, {seconds:.1f}" + ("" if model.converged_ else " (!)")


def _word(difference) -> str:
    return "pass" if difference <= ALLOWED else "FAIL"


def _all_pass(rows) -> bool:
    return all(row[-1] == "pass" for row in rows)


def _compare_problems() -> bool:
    """Random small problems in Python against the quadratic program of all outputs.

    With ``outputs`` or ``most_violated`` every fit must reach a gap of 1e-6, and its
    weights the optimum. With ``loss_augmented_argmax`` alone that holds for margin
    rescaling with linear slacks; in the others the search only bounds: every fit must
    end by itself, with a certificate that holds at the optimum and at its weights.
    """
    problems = [random_problem(seed) for seed in range(PROBLEMS)]
    cells = [("outputs", solver) for solver in SOLVERS]
    cells += [("most_violated", SOLVERS[0]), ("loss_augmented_argmax", SOLVERS[0])]
    slow = {("outputs", "one-slack")}  # with quadratic slacks: up to a minute each
    rows = []
    for form in FORMS:
        programs = [Listed(*given, *form) for given in problems]
        optima = [program.optimum() for program in programs]
        for door, solver in cells:
            if (door, solver) in slow and form[1] == "quadratic":
                continue
            exact = door != "loss_augmented_argmax" or form == FORMS[0]
            found = [
                _problem_fit(given, form, door, solver, ALLOWED if exact else 0.01)
                for given in problems
            ]
            values = zip(found, programs, optima, strict=True)
            rows.append([*_names(form, door, solver), *_problem_row(values, exact)])
    columns = "problems in Python|search|solver|converged|gap: median|largest"
    columns += "|over the optimum: median|largest|passes|seconds|"
    table(columns.split("|"), rows)
    return _all_pass(rows)


def _names(form, door, solver):
    return ", ".join(form), door, solver


def _problem_fit(given, form, door, solver, tol):
    problem, X, Y, C = given
    case = Case("", partial(StructuralSVM, through(problem, door)), X, Y, C)
    return _fit(case, form, solver, tol=tol, max_iter=2000, max_time=None)


def _problem_row(values, exact):
    gaps, excess, passes, seconds, converged, good = [], [], [], 0.0, 0, True
    for (model, wall), program, optimum in values:
        proof, reached = model.certificate_, program.primal(model.coef_)
        gaps.append(proof.relative_gap)
        excess.append(reached / optimum - 1)
        passes.append(model.n_iter_)
        seconds += wall
        converged += model.converged_
        slop = 1e-9 * optimum
        good &= proof.dual <= optimum + slop and reached <= proof.primal + slop
        good &= (
            excess[-1] <= ALLOWED and model.converged_ if exact else passes[-1] < 2000
        )
    return [
        f"{converged / len(gaps):.0%}",
        *(f"{f(v):.1e}" for v in (gaps, excess) for f in (np.median, max)),
        f"{np.mean(passes):.0f}, {max(passes)}",
        f"{seconds:.0f}",
        "pass" if good else "FAIL",
    ]


def _compare_hard() -> bool:
    """A hard margin on two separable classes; what is refused says so."""
    X, y = iris()
    X, y = X[y < 2], y[y < 2]
    rows, refused, found = [], [], {}
    for solver in SOLVERS:
        model = multiclass(C=np.inf, solver=solver, tol=TOL, max_time=SECONDS)
        try:
            model.fit(X, y)
        except ValueError as error:
            refused.append(f"refused: {solver}, C=inf: {error}")
            continue
        found[solver] = model.certificate_
    high = max(c.primal for c in found.values())
    for solver, c in found.items():
        word = _word((high - c.dual) / high)
        rows.append([solver, f"{c.primal:.6f}", f"{c.dual:.6f}", word])
    table(["hard margin (C=inf), iris 0 against 1", "primal", "dual", ""], rows)
    print("\n".join(refused))
    return _all_pass(rows)


def _compare_liblinear() -> bool:
    rows = []
    for name, (X, y), C in (("iris", iris(), 1.0), ("digits", digits(), 0.1)):
        ours = multiclass(C=C, tol=TOL, max_iter=100_000).fit(X, y)
        peer = _liblinear(X, y, C=C, multi_class="crammer_singer")
        theirs = _crammer_singer(peer.coef_, X, y, C)
        rows.append([f"{name}: Crammer-Singer", ours.certificate_, theirs])
    for name, (X, y), C in (("iris", iris(), 1.0), ("digits", digits(), 0.1)):
        binary = (y > y.max() // 2).astype(int)
        ours = multiclass(C=C, tol=TOL, max_iter=100_000).fit(X, binary)
        # w_0 = -w_1 = u / 2: half the norm of u, hence C doubles and the value halves
        peer = _liblinear(X, binary, C=2 * C, loss="hinge", dual=True)
        theirs = _binary(peer.coef_[0], X, 2 * binary - 1, 2 * C) / 2
        rows.append([f"{name}: two classes", ours.certificate_, theirs])
    shown = []
    for name, ours, theirs in rows:
        difference = abs(ours.primal - theirs) / theirs
        values = [f"{value:.8f}" for value in (ours.dual, ours.primal, theirs)]
        shown.append([name, *values, f"{difference:.1e}", _word(difference)])
    columns = "against LIBLINEAR|our dual|our primal|its primal|difference|"
    table(columns.split("|"), shown)
    return _all_pass(shown)


def _liblinear(X, y, **options):
    model = LinearSVC(
        fit_intercept=False, tol=1e-10, max_iter=1_000_000, random_state=0, **options
    )
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
