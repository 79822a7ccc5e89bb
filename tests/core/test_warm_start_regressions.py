"""Mistakes that were once made when a fit began where another had ended."""

import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from structural_cases import Classes, Cuts, blobs

from maxmargin import SequenceTagger, StructuralSVM
from maxmargin.core.formulation import make_form
from maxmargin.core.objective import Objective
from maxmargin.solvers.planes import make_planes
from maxmargin.solvers.warm_start import DualState, same

PAGE = Path(__file__).resolve().parents[2] / "docs" / "add-a-structure.md"
TEXTS = ["aabb", "abbb", "aaab", "ab", "bb"]
CUTS = [{"at": at} for at in (2, 1, 3, 1, 0)]
LINEAR = make_form("margin", "linear", 1e-3)


def optimum(model, X, y):
    """The certified primal of a fit from nothing."""
    params = {**model.get_params(deep=False), "warm_start": False}
    return type(model)(**params).fit(X, y).certificate_.primal


@pytest.fixture(scope="module")
def segments():
    """The structure of the page "Add a structure"."""
    page = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"<!-- structure -->\n```python\n(.*?)```", page, re.DOTALL)
    module = types.ModuleType("segments_of_the_page")
    sys.modules[module.__name__] = module
    exec("\n".join(blocks), module.__dict__)
    yield module.Segments
    del sys.modules[module.__name__]


def state_of(batch):
    """The state that a fit would leave, with the true outputs only."""
    mass = np.ones(len(batch.start) - 1)
    return DualState(batch, make_planes(batch, LINEAR, mass))


def test_planes_of_a_users_structure_need_the_same_batch(segments):
    """Codes of segments up to length 4 lie outside of all arrays made for length 1."""
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(6, 2)) for _ in range(10)]
    long = [[("a", 4), ("b", 2)], [("b", 3), ("a", 3)]] * 5
    short = [[("a", 1), ("b", 1)] * 3] * 10
    make = segments()
    state = state_of(make.fit(X, long))
    again = state_of(make.fit([x.copy() for x in X], long))
    assert state.key == again.key
    for inputs, outputs in ((X, short), (X[::-1], long), (X, long[::-1])):
        batch = make.fit(inputs, outputs)
        objective = Objective(batch, make.n_weights, LINEAR, np.ones(10), np.float64)
        assert state.planes_for(objective) is None


def test_planes_that_a_barrier_forbids_are_left_behind():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 3)) for _ in range(8)]
    y = [["a", "b", "a", "b"], ["b", "c", "a", "b"]] * 4
    free = SequenceTagger(warm_start=True, tol=1e-4, C=10.0).fit(X, y)
    forbidden = [("a", "a"), ("c", "c"), ("b", "b")]
    free.set_params(forbidden=forbidden).fit(X, y)
    assert free.certificate_.primal == pytest.approx(optimum(free, X, y), rel=2e-4)


def test_new_labels_of_the_same_inputs_are_a_start():
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(4, 3)) for _ in range(8)]
    a = [["a", "b", "a", "b"], ["b", "c", "a", "b"]] * 4
    b = [["c", "b", "b", "a"], ["a", "a", "c", "c"]] * 4
    model = SequenceTagger(warm_start=True, tol=1e-4, C=10.0).fit(X, a)
    old = model._dual_state.key
    model.fit(X, b)
    assert model._dual_state.key == old
    assert model.certificate_.primal == pytest.approx(optimum(model, X, b), rel=2e-4)


class Strict(Cuts):
    """Refuses outputs that its input does not have."""

    def joint_feature(self, x, y):
        assert 0 <= y["at"] <= len(x), "an output of another input"
        return super().joint_feature(x, y)


def test_outputs_of_other_inputs_are_no_planes():
    model = StructuralSVM(Strict(), C=10.0, tol=1e-4, warm_start=True)
    model.fit(TEXTS, CUTS)
    others = ["ab", "a", "ab", "ab", "bb"]
    cuts = [{"at": at} for at in (1, 1, 1, 1, 0)]
    model.fit(others, cuts)
    wanted = optimum(model, others, cuts)
    assert model.certificate_.primal == pytest.approx(wanted, rel=2e-4)


def test_only_equal_samples_keep_their_planes():
    model = StructuralSVM(Strict(), C=0.01, tol=1e-4, warm_start=True)
    state = model.fit(TEXTS, CUTS)._dual_state
    assert (state.planes.count > 1).all()
    others = ["aabb", "b", "aaab", "ab", "bb"]
    cuts = [{"at": at} for at in (2, 0, 2, 1, 0)]
    encoded = model._encode(others, cuts, None)
    objective = Objective(encoded.batch, 3, LINEAR, np.full(5, 0.01), np.float64)
    planes = state.planes_for(objective)
    kept = planes.count > 1
    np.testing.assert_array_equal(kept, [True, False, False, True, True])
    assert (planes.alpha[~kept, 1:] == 0).all()
    np.testing.assert_allclose(planes.alpha.sum(axis=1), 0.01)


def test_another_problem_is_another_start():
    X, y = blobs()
    model = StructuralSVM(Classes(), tol=1e-4, warm_start=True).fit(X, y)
    first = model.n_iter_
    assert model.set_params(problem=Classes()).fit(X, y).n_iter_ < first
    model.set_params(problem=Classes(1.0 - np.eye(4))).fit(X, y)
    assert model.n_iter_ > 2
    wanted = optimum(model, X, y)
    assert model.certificate_.primal == pytest.approx(wanted, rel=2e-4)


def test_models_of_a_path_can_be_fitted_again():
    X, y = blobs()
    Cs = [0.01, 0.1, 1.0, 10.0]
    models = StructuralSVM(Classes(), tol=1e-4, warm_start=True).path(X, y, Cs)
    for model in models:
        before = model.certificate_.primal
        model.fit(X, y)
        assert model.certificate_.primal == pytest.approx(before, rel=2e-4)


class Plain:
    def __init__(self, part):
        self.part = part


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.arange(3), np.arange(3)),
        (sp.csr_array(np.eye(3)), sp.csr_array(np.eye(3))),
        ({"a": [np.ones(2), (1, "x")]}, {"a": [np.ones(2), (1, "x")]}),
        (Plain(Plain(np.ones(2))), Plain(Plain(np.ones(2)))),
        (Cuts(), Cuts()),
        (frozenset("ab"), frozenset("ba")),
    ],
)
def test_same(a, b):
    assert same(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (np.arange(3), np.arange(4)),
        (np.arange(3), np.arange(3.0)),
        (sp.csr_array(np.eye(3)), sp.csr_array(np.eye(4))),
        ([np.ones(2)], [np.zeros(2)]),
        ([np.ones(2)], [np.ones(2), 1]),
        ({"a": 1}, {"b": 1}),
        (Plain(1), Plain(2)),
        (object(), object()),
        (np.nan, float("nan")),
        (1, True),
    ],
)
def test_not_same(a, b):
    assert not same(a, b)


def test_circles_are_not_followed_for_ever():
    a, b = Plain(None), Plain(None)
    a.part, b.part = a, b
    assert not same(a, b)
