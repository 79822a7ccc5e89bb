"""Each method of inference against enumeration, through the contract."""

import numpy as np
import pytest
from graph_cases import encoded, enumerate_states, plain_inputs, typed_inputs
from partial_cases import check_completion, check_likelihood

from maxmargin.core.partial import partly_known
from maxmargin.core.problems.asker import Asker
from maxmargin.graphs.fractions import corners
from maxmargin.graphs.inference.fractional import UNIT
from maxmargin.graphs.labellings import (
    SEARCHES,
    GraphCut,
    Reweighting,
    Rounding,
    elimination_graphs,
    with_search,
)
from maxmargin.graphs.methods import relaxed_batch
from maxmargin.testing import check_solver, check_structure, solve


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


# other methods ---------------------------------------------------------------------------


def wide(seed, labels, edges="directed", sizes=(5, 4, 6), loss=None):
    """(graphs, truths, number of weights): dense graphs of few nodes."""
    rng = np.random.default_rng(seed)
    X = plain_inputs(rng, sizes=sizes, width=2, density=0.8)
    return encoded(rng, X, labels, edges, loss=loss)


def best_value(batch, i, w, scale):
    """The best score with loss of example i, by enumeration."""
    ask = Asker(batch, i, w, compiled=False)
    outputs = enumerate_states(batch, i)
    return max(ask.value(y) + scale * ask.loss(y) for y in outputs)


@pytest.mark.parametrize("seed", range(4))
def test_cuts_are_the_best_or_say_what_they_miss(seed):
    graphs, y, n = wide(seed, ["a", "b"], "associative", loss={"b": 2.0})
    batch = with_search(graphs, y, GraphCut())
    rng = np.random.default_rng(seed)
    for negative in (False, True):
        w = rng.normal(size=n)
        w[-1] = -abs(w[-1]) if negative else abs(w[-1])
        for i in range(3):
            for scale in (0.0, 1.0):
                ask = Asker(batch, i, w, compiled=True)
                found = ask.argmax(scale)
                value = ask.value(found) + scale * ask.loss(found)
                best = best_value(batch, i, w, scale)
                short = batch.short[i]
                assert best - 1e-9 <= value + short
                if not negative:
                    assert short == 0
                    np.testing.assert_allclose(value, best)


def corners_of(batch, i):
    """Every labelling of a graph as a point of the local polytope."""
    g = batch.graphs
    for states in enumerate_states(batch, i):
        y = np.zeros(int(g.node_start[-1]), np.int32)
        y[g.node_start[i] : g.node_start[i + 1]] = states
        mu = corners(g, batch.start, batch.slot_at, y)
        yield mu[batch.start[i] : batch.start[i + 1]]


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c"]])
def test_relaxed_outputs(labels):
    graphs, y, n = wide(7, labels, sizes=(4, 0, 3), loss={"a": 2.0})
    batch = relaxed_batch(graphs, y, 0.01)
    exact, _ = elimination_graphs(graphs, y)
    rng = np.random.default_rng(1)
    fractional = 0
    for w in rng.normal(size=(4, n)):
        w[-(len(labels) ** 2) :] *= 5  # strong edges, so that cycles are frustrated
        for i in (0, 2):
            ask, plain = Asker(batch, i, w, True), Asker(exact, i, w, True)
            points = list(corners_of(batch, i))
            for mu, states in zip(points, enumerate_states(exact, i), strict=True):
                np.testing.assert_allclose(ask.value(mu), plain.value(states))
                np.testing.assert_allclose(ask.loss(mu), plain.loss(states))
                np.testing.assert_allclose(ask.features(mu), plain.features(states))
            s, a = points[0], points[-1]
            got = ask.difference(s, 2.0, a, 0.5)
            truth = batch.y[batch.start[i] : batch.start[i + 1]]
            psi = [ask.features(z) for z in (truth, s, a)]
            np.testing.assert_allclose(
                got, 2 * (psi[0] - psi[1]) - 0.5 * (psi[0] - psi[2]), atol=1e-9
            )
            for scale in (0.0, 1.0):
                mu = ask.argmax(scale)
                value = ask.value(mu) + scale * ask.loss(mu)
                np.testing.assert_allclose(w @ ask.features(mu), ask.value(mu))
                top = plain.argmax(scale)
                top = plain.value(top) + scale * plain.loss(top)
                assert value + batch.short[i] >= top - 1e-9
                assert batch.short[i] <= 0.05
                fractional += bool(((mu != 0) & (mu != UNIT)).any())
    assert fractional  # else nothing was relaxed


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c"]])
def test_training_is_that_of_the_relaxed_problem(labels):
    graphs, y, n = wide(8, labels, sizes=(4, 5, 4, 3))
    batch, (exact, _) = relaxed_batch(graphs, y, 1e-3), elimination_graphs(graphs, y)
    found = {}
    for solver in ("block-coordinate", "n-slack", "one-slack"):
        solution, _ = solve(batch, n, solver=solver, C=0.3, tol=1e-3)
        assert solution.converged
        found[solver] = solution.certificate
    reference = solve(exact, n, C=0.3, tol=1e-6)[0].certificate
    for certificate in found.values():
        assert certificate.primal >= reference.dual - 1e-9  # a relaxation asks for more
        for other in found.values():
            assert certificate.dual <= other.primal + 1e-9


@pytest.mark.parametrize("search", ["rounded", *SEARCHES])
def test_labellings_that_are_good(search):
    graphs, y, n = wide(9, ["a", "b", "c"])
    batch = with_search(graphs, y, SEARCHES.get(search, Rounding()))
    rng = np.random.default_rng(2)
    lost = 0
    for w in rng.normal(size=(6, n)):
        for i in range(3):
            ask = Asker(batch, i, w, True)
            found = ask.argmax(1.0)
            value = ask.value(found) + ask.loss(found)
            best = best_value(batch, i, w, 1.0)
            assert value <= best + 1e-9
            if batch.exact:
                assert value + batch.short[i] >= best - 1e-9
            lost += value < best - 1e-6
    assert lost <= (9 if search == "max-product" else 4)  # of 18


def reweighted(graphs, y):
    return with_search(graphs, y, Reweighting())


def test_reweighted_sums():
    forest = plain_inputs(np.random.default_rng(3), sizes=(5, 4), density=0.0)
    forest = [
        (x, [(k, k + 1) for k in range(len(x) - 1)], f, s) for x, _, f, s in forest
    ]
    rng = np.random.default_rng(10)
    graphs, y, n = encoded(rng, forest, ["a", "b", "c"])
    batch, (exact, _) = reweighted(graphs, y), elimination_graphs(graphs, y)
    w = rng.normal(size=n)
    for i in (0, 1):  # the same on forests
        (a, mu), (b, nu) = (Asker(z, i, w, True).sums() for z in (batch, exact))
        np.testing.assert_allclose(a, b)
        np.testing.assert_allclose(mu, nu, atol=1e-6)
    graphs, y, n = wide(10, ["a", "b"])
    batch, (exact, _) = reweighted(graphs, y), elimination_graphs(graphs, y)
    for w in rng.normal(size=(3, n)):
        for i in range(3):
            ask = Asker(batch, i, w, True)
            value, mu = ask.sums()
            assert value >= Asker(exact, i, w, True).sums()[0] - 1e-9
            step = rng.normal(size=n) * 1e-5  # mu is the gradient
            higher, lower = (
                Asker(batch, i, w + s, True).sums()[0] for s in (step, -step)
            )
            np.testing.assert_allclose(
                (higher - lower) / 2, step @ ask.spread(mu), rtol=1e-4, atol=1e-9
            )
