"""A new solver, or a new objective, is one record."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin import MulticlassSVM, SequenceTagger, TopKRanker
from maxmargin.solvers import registry
from maxmargin.solvers.block_coordinate import BlockCoordinate
from maxmargin.solvers.log.log_objective import LogObjective
from maxmargin.solvers.registry import ObjectiveRecord, SolverRecord, register

WORDS = ["the cat runs", "a dog", "the dog runs"]
X = [[[word] for word in sentence.split()] for sentence in WORDS]
Y = [["D", "N", "V"], ["D", "N"], ["D", "N", "V"]]


class Mine(BlockCoordinate):
    """Like its base, under another name."""


class Doubled(LogObjective):
    """The log-loss, twice as heavy."""

    def __init__(self, batch, n_weights, form, mass, *rest, **options):
        super().__init__(batch, n_weights, form, 2 * mass, *rest, **options)


@pytest.fixture(autouse=True)
def tables():
    yield
    registry.SOLVERS.pop("mine", None)
    registry.OBJECTIVES.pop("doubled", None)


def test_a_solver_is_one_line():
    register(SolverRecord("mine", (Mine,)))
    model = SequenceTagger(solver="mine", tol=0.01).fit(X, Y)
    usual = SequenceTagger(solver="block-coordinate", tol=0.01).fit(X, Y)
    assert model.converged_
    np.testing.assert_array_equal(model.coef_, usual.coef_)
    assert MulticlassSVM(solver="mine").fit(np.eye(2), [0, 1]).converged_


def test_a_solver_minimises_what_it_says():
    register(SolverRecord("mine", (Mine,)))
    with pytest.raises(ValueError, match="'mine' cannot minimise objective='log'"):
        SequenceTagger(objective="log", solver="mine").fit(X, Y)
    with pytest.raises(ValueError, match="'nobody' is not known"):
        SequenceTagger(solver="nobody").fit(X, Y)


def test_a_solver_that_keeps_no_signs_is_refused():
    register(SolverRecord("mine", (Mine,)))
    signed = SimpleNamespace(nonnegative=[0])
    with pytest.raises(ValueError, match="'mine' cannot keep weights from being neg"):
        registry.make("mine", signed)


def test_unknown_solvers_are_errors_for_programs_too():
    with pytest.raises(KeyError):
        registry.make("nobody", None)


def test_an_objective_is_one_line():
    register(ObjectiveRecord("doubled", Doubled, "log", counts_loss=False, l1=True))
    model = SequenceTagger(objective="doubled", C=1.0, tol=1e-4).fit(X, Y)
    usual = SequenceTagger(objective="log", C=2.0, tol=1e-4).fit(X, Y)
    assert model.converged_
    np.testing.assert_array_equal(model.coef_, usual.coef_)


def test_an_objective_is_refused_where_it_cannot_work():
    register(ObjectiveRecord("doubled", Doubled, "log"))
    model = TopKRanker()
    model.objective = "doubled"
    with pytest.raises(
        ValueError, match="'doubled' sums over all outputs, and rankings"
    ):
        model.fit(np.eye(3), [0, 1, 0])
    with pytest.raises(ValueError, match="solver='one-slack' cannot minimise"):
        SequenceTagger(objective="doubled", solver="one-slack").fit(X, Y)


def test_an_unknown_objective_is_never_the_hinge():
    with pytest.raises(ValueError, match="objective='nothing' is not known"):
        SequenceTagger(objective="nothing").fit(X, Y)


def test_every_record_names_a_class():
    for record in registry.SOLVERS.values():
        places = *record.classes, *record.closed, record.shards, record.pieces
        assert all(issubclass(registry.load(kind), object) for kind in places if kind)
    for record in registry.OBJECTIVES.values():
        assert issubclass(registry.load(record.kind), object)


def test_the_table_imports_nothing_heavy():
    code = (
        "import sys, maxmargin.solvers.registry\n"
        "print([name for name in ('numba', 'numpy', 'scipy') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stdout == "[]\n", found.stderr
