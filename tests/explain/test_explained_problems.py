"""Problems that users write in Python explain their outputs too."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_cases import fitted

from maxmargin import Problem, StructuralSVM
from maxmargin.plots import weights_frame


class Pick(Problem):
    """x has rows of features; y is the row to pick."""

    feature_names = ("size", "price")

    def joint_feature(self, x, y):
        return np.asarray(x, float)[y]

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def outputs(self, x):
        return range(len(x))


TABLES = [[[1.0, 0.0], [0.0, 1.0]], [[0.5, 2.0], [2.0, 0.5]], [[0.0, 0.0], [3.0, 1.0]]]
PICKED = [0, 1, 1]


@given(
    rows=st.lists(
        st.tuples(st.floats(-4, 4, width=32), st.floats(-4, 4, width=32)),
        min_size=2,
        max_size=5,
        unique=True,
    )
)
@settings(max_examples=30, deadline=None)
def test_outputs_add_up(rows):
    model = StructuralSVM(Pick(), C=10).fit(TABLES, PICKED)
    scores = np.sort(np.array(rows) @ model.coef_)
    (part,) = model.explain(rows).parts
    assert part.difference == pytest.approx(scores[-1] - scores[-2], abs=1e-9)
    assert {f.feature for f in part.features} <= {"size", "price"}


def test_against_an_output_of_ones_own():
    model = StructuralSVM(Pick(), C=10).fit(TABLES, PICKED)
    assert set(weights_frame(model).feature) == {"size", "price"}
    x = [[1.0, 0.0], [0.9, 0.0], [0.0, 1.0]]
    (part,) = model.explain(x, against=2).parts
    assert (part.predicted, part.runner_up) == ("0", "2")
    assert part.difference == pytest.approx(model.coef_[0] - model.coef_[1])
    with pytest.raises(ValueError, match="x has one output only"):
        model.explain([[1.0, 0.0]])


def test_searches_say_no_second_best():
    model, X, *_ = fitted("StructuralSVM")
    with pytest.raises(ValueError, match="explain\\(x, against=y\\), or write outputs"):
        model.explain(X[0])
    (part,) = model.explain(X[0], against=[-1, 1]).parts
    assert part.difference == pytest.approx(2 * 3.0 * model.coef_[0])


def test_hidden_parts():
    model, X, *_ = fitted("LatentStructuralSVM")
    (part,) = model.explain(X[1]).parts
    assert part.predicted.startswith("(1, ")
    assert part.runner_up == "(0, 0)"
    ((_, h),) = model.predict_latent([X[1]])
    expected = model.coef_ @ np.append(X[1][h : h + 3], 1.0)
    assert part.difference == pytest.approx(expected)
