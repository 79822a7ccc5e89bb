"""Certificates against what is returned: primals of public attributes, and dual <= primal.

    python benchmarks/certificates.py [NAME ...]

Small fits of every family over C from 1e-3 to 1e7, with inputs of single and of double
precision where that makes a difference. Each claimed primal is computed anew, in double
precision, from the weights that a user sees and a list of all outputs
(``certificate_cases.py``), or the kernel of a basis. Ends with 1 if one is off by more than
1e-9, relative (1e-6 where C is 1e4 or more: scores of 1 have 16 digits, and their rounding
counts C times), or a dual is above the primal. A name chooses the cases that it is part of.
"""

from __future__ import annotations

import sys
import warnings

import certificate_cases as vectors
import certificate_structures as structures
import numpy as np
from certificate_cases import Case
from common import machine, start, table
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from maxmargin import KernelSVM

COSTS = 10.0 ** np.arange(-3, 8, 2)
METHODS = (
    "exact",
    "subspace-pursuit",
    "training-points",
    "nystroem",
    "incomplete-cholesky",
    "sampling",
)

ALLOWED, ALLOWED_LARGE, LARGE = 1e-9, 1e-6, 1e4
PASSES, SECONDS = 100, 1.0  # for one fit: a certificate is true whenever training ends


def main(names=()) -> int:
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.simplefilter("ignore", UserWarning)
    print("Certificates against the objective of public attributes")
    print(machine())
    chosen = [c for c in cases() if not names or any(n in c.name for n in names)]
    rows = [_row(case) for case in chosen]
    columns = "problem|fits|converged|off by: C < 1e4|from there on|dual / primal|"
    table(columns.split("|"), rows)
    good = all(row[-1] == "pass" for row in rows)
    print(f"\n{'pass: all' if good else 'FAIL: not all'} certificates hold")
    return 0 if good else 1


def cases() -> list[Case]:
    found = []
    for kind in (np.float32, np.float64):
        for family in ("classes", "taxonomies", "label_sets", "tags", "rankings"):
            found += getattr(vectors, family)(kind)
        found += kernels(kind)
    found += [*vectors.alignments(), vectors.homologs(), vectors.motifs()]
    for family in ("trees", "words", "clusters", "graphs", "folding"):
        found.append(getattr(structures, family)())
    return found + structures.problems()


def _row(case: Case) -> list[str]:
    off, ratios, converged = {False: 0.0, True: 0.0}, [], 0
    for C in COSTS.tolist():
        model = case.make(C=C, max_iter=PASSES, max_time=SECONDS).fit(*case.data)
        proof = model.certificate_
        wrong = abs(proof.primal / case.objective(model, C) - 1)
        off[C >= LARGE] = max(off[C >= LARGE], wrong)
        ratios.append(max(proof.dual, getattr(proof, "within", 0.0)) / proof.primal)
        converged += model.converged_
    good = off[False] <= ALLOWED and off[True] <= ALLOWED_LARGE and max(ratios) <= 1
    numbers = [f"{off[False]:.1e}", f"{off[True]:.1e}", f"{max(ratios):.9f}"]
    counts = [str(len(COSTS)), str(converged)]
    return [case.name, *counts, *numbers, "pass" if good else "FAIL"]


class Machine(Case):
    """A kernel machine: |w| and scores by the kernel of its basis."""

    def objective(self, model, C):
        X, y = self.data
        points, beta = model.basis_.astype(float), model.dual_coef_
        square = (beta * (model.kernel_(points) @ beta)).sum()
        scores = model.kernel_(X.astype(float), points) @ beta
        rows, augmented = np.arange(len(y)), scores + 1.0
        augmented[rows, y] -= 1.0
        hinges = augmented.max(axis=1) - scores[rows, y]
        mass = C / 2 if len(model.classes_) == 2 else C
        return 0.5 * square + mass * hinges.sum()


def kernels(kind) -> list[Case]:
    X, y = make_moons(n_samples=150, noise=0.3, random_state=0)
    X, found = X.astype(kind), []
    for method in METHODS:
        size = {} if method == "exact" else {"n_components": 20}
        options = {"method": method, "gamma": 3.0, "random_state": 0, **size}
        name = f"kernel machine, {method}, {kind.__name__}"
        make = vectors.with_options(KernelSVM, **options)
        found.append(Machine(name, make, (X, y), None))
    return found


if __name__ == "__main__":
    start(lambda: main(sys.argv[1:]))
