"""What a fit is told is one record, and its warnings point at whoever called it."""

import warnings

import numpy as np
import pytest

from maxmargin import MulticlassSVM, SequenceTagger, TopKRanker
from maxmargin.fitting.fit import Settings

X = np.array([[0.0, 1.0], [1.0, 0.1], [0.2, 0.9], [0.9, 0.0]])


def test_settings_have_names():
    found = SequenceTagger(max_time=3, random_state=5, warm_start=True)._settings()
    assert isinstance(found, Settings)
    assert (found.solver, found.limits.tol, found.limits.max_time) == ("auto", 0.1, 3)
    assert found.seed == SequenceTagger(random_state=5)._settings().seed > 0
    assert (found.n_jobs, found.warm_start) == (1, True)
    assert SequenceTagger()._settings().seed == 0
    assert SequenceTagger(objective="perceptron")._settings().limits.max_iter == 10


@pytest.mark.parametrize(
    ("model", "arguments"),
    [
        (MulticlassSVM(C=1e3, tol=1e-9, max_iter=1), ([0, 1, 0, 0],)),
        (TopKRanker(C=1e3, tol=1e-9, max_iter=1), ([0, 1, 0, 1], [0, 0, 1, 1])),
        (MulticlassSVM(C=1.0, fit_intercept=False), ([0, 0, 1, 1],)),
    ],
    ids=["plain", "a fit of its own", "zero weights"],
)
def test_warnings_point_at_the_caller(model, arguments):
    data = np.zeros_like(X) if model.C == 1 else X
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(data, *arguments)
    assert [warning.filename for warning in caught] == [__file__]
