"""Samples of two and of three classes, and settings of small machines."""

import pytest
from kernel_cases import random_data

SOME = {"method": "nystroem", "n_components": 10}
TINY = 1e-8


@pytest.fixture(scope="module")
def three():
    return random_data()


@pytest.fixture(scope="module")
def two():
    return random_data(1, n_classes=2)
