"""Each method of inference against enumeration, through the contract."""

import numpy as np
import pytest
from graph_cases import encoded, enumerate_states, plain_inputs, typed_inputs
from partial_cases import check_completion, check_likelihood

from maxmargin.core.partial import partly_known
from maxmargin.graphs.structures.elimination import elimination_graphs
from maxmargin.testing import check_solver, check_structure


def narrow(seed, typed=False, edges="directed", **options):
    rng = np.random.default_rng(seed)
    X = typed_inputs(rng) if typed else plain_inputs(rng, **options)
    labels = [[0, 1], [0, 1, 2]] if typed else ["x", "y", "z"]
    graphs, y, n = encoded(rng, X, labels, edges)
    batch, _ = elimination_graphs(graphs, y)
    return batch, n


@pytest.mark.parametrize("edges", ["directed", "symmetric", "associative"])
def test_elimination(edges):
    batch, n = narrow(3, edges=edges, edge_width=2, density=0.9)
    check_structure(batch, n, enumerate_states)


def test_elimination_with_types():
    check_structure(*narrow(4, typed=True), enumerate_states)


@pytest.mark.parametrize("solver", ["block-coordinate", "one-slack"])
def test_solvers_agree(solver):
    batch, n = narrow(5, sizes=(3, 2, 4, 1), density=0.8)
    reference = check_solver(batch, n, solver="n-slack", tol=1e-6)
    check_solver(batch, n, solver=solver, reference=reference, tol=1e-6)


def test_labels_that_are_not_known():
    batch, n = narrow(6, sizes=(4, 3, 2), density=0.8)
    rng = np.random.default_rng(0)
    partial = partly_known(batch, rng.random(len(batch.y)) < 0.5)
    w = rng.normal(size=n)
    check_completion(partial, w, enumerate_states)
    check_likelihood(partial, w, enumerate_states)
