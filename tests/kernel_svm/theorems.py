"""Three theorems of Yu's thesis: what sampled cuts and few points lose.

They are in its scaling: 1/2 |w|^2 + C times a mean of losses, with cuts
g = mean_i psi_i and costs of at most 1. Here C is the sum of all masses C_i, the cuts of
``sampling.py`` are C times those, and psi_i = phi_(y_i) - phi_k has a part in two classes:
the R of the theorems, the length of psi, is sqrt(2 max_i k(x_i, x_i)).
"""

import math


def theorem_6_1(C: float, R: float, r: int, epsilon: float) -> float:
    """The mean number of cuts of samples of r until they stop is no more than this.

    32 C R^2 / (epsilon^2 (1 - exp(-r epsilon^2 / (16 C R^2)))), for epsilon < 8 R^2 C^2:
    the exact cut is violated by at most epsilon, in units of the loss.
    """
    x = r * epsilon**2 / (16 * C * R**2)
    return 32 * C * R**2 / (epsilon**2 * -math.expm1(-x))


def theorem_6_2(
    C: float, R: float, r: int, rounds: int, epsilon: float, delta: float
) -> float:
    """How far the objective of sampled cuts is above the optimum, at most.

    C (epsilon + sqrt(4 C R^2 log(rounds / delta) / r)), with probability 1 - delta, after
    so many rounds with samples of r.
    """
    return C * (epsilon + math.sqrt(4 * C * R**2 * math.log(rounds / delta) / r))


def theorem_6_4(C: float, residual: float, tol: float) -> float:
    """How far the optimum within a span is above that of the whole space, at most.

    C (delta sqrt(2 C) + epsilon). `C` is the sum of all masses. `residual` is delta, the
    largest distance |g - P g| of a cut from the span, where g is a mean over examples: the
    cut of ``sampling.py`` over C. `tol` is epsilon, by which the last cut was violated:
    the gap within the span over C. The exact dual of ``exact_dual`` proves more: it knows
    the one mixture of cuts that matters.
    """
    return C * (residual * math.sqrt(2 * C) + tol)
