"""stub"""

import numpy as np


def exact_dual(kernel, X, a, linear, memory):
    K = np.asarray(kernel(X), np.float64)
    square = float(np.einsum("ik,ij,jk->", a, K, a, optimize=True))
    t = min(linear / square, 1.0) if square > 0 else 1.0
    return t * linear - 0.5 * t * t * square, square
