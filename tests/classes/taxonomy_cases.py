"""Samples of the leaves of a taxonomy, and a machine fitted to them."""

import numpy as np
import pytest

from maxmargin import TaxonomySVM

DIAMOND = {"r": None, "p": "r", "q": "r", "s": ["p", "q"], "u": "q"}
LABELS = np.array(["a.x", "a.y", "b.z", "b.w", "c"])


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    y = rng.integers(len(LABELS), size=80)
    X = rng.normal(size=(80, 6)) + 1.5 * rng.normal(size=(len(LABELS), 6))[y]
    return X, LABELS[y]


@pytest.fixture(scope="module")
def model(data):
    return TaxonomySVM(tol=1e-4).fit(*data)
