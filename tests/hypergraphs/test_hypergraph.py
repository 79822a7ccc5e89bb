"""Hypergraphs against enumeration of their derivations, and graphs that are refused."""

import numpy as np
import pytest
from hypergraph_cases import (
    derivations,
    enumerate_hypergraph,
    random_batch,
    random_graph,
)
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import Hypergraph, HypergraphBuilder
from maxmargin.core import contract
from maxmargin.core.formulation import make_form
from maxmargin.hypergraphs import batch as hypergraph_batch
from maxmargin.hypergraphs.batch import k_best, make_batch, marginals
from maxmargin.testing import FORMULATIONS, Asker, check_solver, check_structure

SEEDS = st.integers(0, 10**6)
COSTS = ("whole", "real", "signed", "mixed")


# the contract ------------------------------------------------------------------------


@given(SEEDS, st.sampled_from(COSTS))
def test_contract_equals_enumeration(seed, costs):
    batch = random_batch(seed, costs=costs)
    check_structure(batch, 6, enumerate_hypergraph, seed=seed, trials=1)


def test_interpreted_contract_is_the_compiled_one():
    for costs in COSTS:
        batch = random_batch(7, costs=costs)
        check_structure(batch, 6, enumerate_hypergraph, compiled=False, trials=1)


@given(SEEDS, st.sampled_from(("whole", "signed")))
def test_rescaled_search_is_exact_where_costs_are_whole_numbers(seed, costs):
    batch = random_batch(seed, costs=costs)
    w = np.random.default_rng(seed).normal(size=6)
    for i in range(len(batch.start) - 1):
        ask = Asker(batch, i, w, True)
        outputs = list(enumerate_hypergraph(batch, i))
        losses = np.array([ask.loss(y) for y in outputs])
        margins = np.array([ask.margin(y) for y in outputs])
        for rescaling, penalty in FORMULATIONS:
            form = make_form(rescaling, penalty, 1e-6)
            c = np.sqrt(losses) if form.quadratic else losses
            wanted = max(np.max(c - (c if form.slack else 1.0) * margins), 0.0)
            bound, loss, lead, calls, y = ask.most_violated(form)
            assert bound == pytest.approx(wanted, abs=1e-9)
            c = np.sqrt(loss) if form.quadratic else loss
            assert c - (c if form.slack else 1.0) * lead == pytest.approx(
                wanted, abs=1e-9
            )
            assert calls == 1
            assert tuple(y) in {tuple(z) for z in outputs}


@given(SEEDS)
def test_planes_are_scored_where_they_differ_from_the_truth(seed):
    batch = random_batch(seed)
    rng = np.random.default_rng(seed)
    w = rng.normal(size=6)
    for i in range(len(batch.start) - 1):
        outputs = list(enumerate_hypergraph(batch, i))
        planes = [outputs[k] for k in rng.integers(len(outputs), size=3)]
        truth = batch.y[batch.start[i] : batch.start[i + 1]]
        ask = Asker(batch, i, w, True)
        margins = [ask.margin(y) for y in planes]
        ask.theta[:] = np.nan  # what is not scored must not be read either
        flat = np.concatenate([truth, *planes])
        contract.score_planes(batch, i, w, flat, 4, ask.theta)
        np.testing.assert_allclose([ask.margin(y) for y in planes], margins, atol=1e-9)


def test_large_tables_are_left_to_the_search_with_bounds(monkeypatch):
    monkeypatch.setattr(hypergraph_batch, "MOST_COUNTING", 0.0)
    batch = random_batch(1)
    assert not batch.counted.any()
    assert batch.least == 1.0
    check_structure(batch, 6, enumerate_hypergraph)


def test_solvers_agree():
    batch = random_batch(3, n=6)
    optimum = check_solver(batch, 6, solver="block-coordinate")
    for solver in ("one-slack", "n-slack"):
        check_solver(batch, 6, solver=solver, reference=optimum)
    # exact through the counts, so that tight tolerances are reached here too
    check_solver(batch, 6, solver="block-coordinate", rescaling="slack")


def test_labellings_of_a_batch_do_not_depend_on_threads():
    batch = random_batch(5, n=20)
    w = np.random.default_rng(0).normal(size=6)
    for function in (
        lambda n: k_best(batch, w, 3, n)[0],
        lambda n: marginals(batch, w, n),
    ):
        np.testing.assert_array_equal(function(1), function(3))


# questions ---------------------------------------------------------------------------


def graph_and_values(seed, forbid=False):
    """(graph, theta, derivations, their values), some parts forbidden."""
    rng = np.random.default_rng(seed)
    while True:
        graph = random_graph(rng)
        theta = rng.normal(size=graph.n_parts) * 10.0 ** rng.integers(-1, 2)
        if forbid:
            theta[rng.random(graph.n_parts) < 0.2] = -np.inf
        outputs = derivations(graph.arrays)
        values = np.array(
            [sum(theta[p] for p in graph.part[d] if p >= 0) for d in outputs]
        )
        if (values > -np.inf).any():
            return graph, theta, outputs, values


@given(SEEDS, st.booleans())
def test_best_and_k_best_equal_enumeration(seed, forbid):
    graph, theta, outputs, values = graph_and_values(seed, forbid)
    edges, value = graph.best(theta)
    assert value == pytest.approx(values.max(), abs=1e-9)
    assert values[outputs.index(edges.tolist())] == pytest.approx(value, abs=1e-9)
    possible = np.sort(values[values > -np.inf])[::-1]
    for k in (1, 5, len(outputs) + 3):
        ranked = graph.k_best(theta, k)
        found = [v for _, v in ranked]
        np.testing.assert_allclose(found, possible[:k], atol=1e-9)
        assert ranked[0][0].tolist() == edges.tolist()
        assert found == sorted(found, reverse=True)
        for d, v in ranked:
            assert values[outputs.index(d.tolist())] == pytest.approx(v, abs=1e-9)
    # all of them: each derivation as often as it is there
    everything = sorted(d.tolist() for d, _ in ranked)
    some = [d for d, v in zip(outputs, values, strict=True) if v > -np.inf]
    assert everything == sorted(some)


@given(SEEDS, st.booleans())
def test_sums_and_marginals_equal_enumeration(seed, forbid):
    graph, theta, outputs, values = graph_and_values(seed, forbid)
    assert graph.count() == len(outputs)
    top = values.max()
    total = top + np.log(np.exp(values - top).sum())
    assert graph.log_partition(theta) == pytest.approx(total, abs=1e-9)
    wanted = np.zeros(graph.n_parts)
    for d, v in zip(outputs, values, strict=True):
        for p in graph.part[d]:
            if p >= 0:
                wanted[p] += np.exp(v - total)
    np.testing.assert_allclose(graph.marginals(theta), wanted, atol=1e-9)


@given(SEEDS)
def test_completion_equals_enumeration(seed):
    graph, theta, outputs, values = graph_and_values(seed, forbid=True)
    uses = [
        np.bincount(graph.part[d] + 1, minlength=graph.n_parts + 1) for d in outputs
    ]
    once = [p for p in range(graph.n_parts) if max(u[p + 1] for u in uses) == 1]
    required = set(once[:2])
    good = [all(u[p + 1] for p in required) for u in uses]
    allowed = values[np.array(good)]
    if not (allowed > -np.inf).any():
        with pytest.raises(ValueError, match="no derivation obeys"):
            graph.complete(theta, required)
        return
    edges, value = graph.complete(theta, required)
    assert value == pytest.approx(allowed.max(), abs=1e-9)
    assert required <= set(graph.parts_of(edges))


def test_samples_have_the_right_frequencies():
    seed = next(s for s in range(100) if 4 <= len(graph_and_values(s)[2]) <= 12)
    graph, theta, outputs, values = graph_and_values(seed)
    theta, values = theta / 10, values / 10
    drawn = [tuple(d) for d in graph.sample(theta, 4000, random_state=0)]
    p = np.exp(values - graph.log_partition(theta))
    for d in {tuple(d) for d in outputs}:
        wanted = sum(p[k] for k, other in enumerate(outputs) if tuple(other) == d)
        error = drawn.count(d) / 4000 - wanted
        assert abs(error) < 4.5 * np.sqrt(wanted * (1 - wanted) / 4000) + 1e-9
    again = graph.sample(theta, 5, random_state=0)
    assert [tuple(d) for d in again] == drawn[:5]


def test_samples_avoid_what_is_forbidden():
    graph, theta, outputs, values = graph_and_values(12, forbid=True)
    for d in graph.sample(theta, 50, random_state=1):
        assert values[outputs.index(d.tolist())] > -np.inf


def test_ties_go_to_the_lowest_edge():
    builder = HypergraphBuilder("root")
    for name in "abcd":
        builder.edge("root", part=name)
    graph = builder.build()
    ranked = [graph.parts_of(d) for d, _ in graph.k_best(np.zeros(4), 4)]
    assert ranked == [["a"], ["b"], ["c"], ["d"]]
    assert graph.parts_of(graph.best([0.0, 1.0, 1.0, 0.0])[0]) == ["b"]


def test_scores_far_apart_give_finite_sums():
    builder = HypergraphBuilder(60)
    builder.leaf(0)
    for end in range(1, 61):
        builder.edge(end, end - 1, part="a")
        builder.edge(end, end - 1, part="b")
    graph = builder.build()
    np.testing.assert_allclose(graph.marginals([-1e4, 1e4]), [0.0, 60.0])
    assert graph.log_partition([-1e4, 1e4]) == 60e4
    np.testing.assert_allclose(graph.marginals([-1e4, -np.inf]), [60.0, 0.0])
    assert graph.count() == pytest.approx(2.0**60, rel=1e-12)
    assert len(graph.k_best([0.0, 1.0], 200)) == 200


# building ----------------------------------------------------------------------------


def test_builder_sorts_nodes_and_drops_what_is_useless():
    builder = HypergraphBuilder(root="S")
    builder.edge("S", "A", "B", part="S -> A B")
    builder.edge("S", "A", "nowhere", part="dead end")
    builder.edge("island", part="not below the root")
    builder.edge("loop", "loop", part="never ends")
    builder.edge("A", part="a")
    builder.edge("B", "A", part="b")
    graph = builder.build()
    assert graph.parts == ["a", "b", "S -> A B"]
    assert (graph.n_nodes, graph.root, graph.longest) == (3, 2, 4)
    edges, _ = graph.best(np.zeros(3))
    assert graph.parts_of(edges) == ["a", "a", "b", "S -> A B"]
    assert "3 nodes, 3 edges" in repr(graph)


def test_parts_share_features_and_unnamed_parts_do_not_show():
    builder = HypergraphBuilder("root")
    builder.edge("root", "x", part="p", features=["f", "f"])
    builder.edge("x", part="p")
    builder.edge("x", features={"g": np.array([1, 2])})
    graph = builder.build()
    assert graph.n_parts == 2
    assert [graph.parts_of(d) for d, _ in graph.k_best([1.0, 0.0], 2)] == [
        ["p", "p"],
        ["p"],
    ]
    at = graph.parts.index("p")
    assert graph.features[at] == {"f": 2.0}
    assert graph.features[1 - at]["g"].dtype == np.float64


def built(*edges, root="root"):
    builder = HypergraphBuilder(root)
    for head, *tails in edges:
        builder.edge(head, *tails)
    return builder.build()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: built(), "no edges"),
        (lambda: built(("a",)), "root 'root' is neither head nor tail"),
        (lambda: built(("root", "a"), ("b",)), "no edge leads to 'a'"),
        (lambda: built(("root", "a"), ("a", "root")), "no derivation ever ends"),
        (lambda: built(("root", "a"), ("a", "a"), ("b",)), "only lead in circles"),
        (
            lambda: built(("root", "a"), ("a", "b"), ("b", "a"), ("b",)),
            "cycle: 'a' <- 'b' <- 'a'",
        ),
        (lambda: built(("root", "root"), ("root",)), "cycle: 'root' <- 'root'"),
        (lambda: built(("root", ["a", "b"])), "cannot be the name of a node"),
        (
            lambda: HypergraphBuilder(0).edge(0, part=[1]),
            "cannot be the name of a part",
        ),
        (lambda: HypergraphBuilder(0).edge(0, features="abc"), "the text 'abc'"),
        (lambda: HypergraphBuilder(0).edge(0, features=3), "give a list of names"),
        (lambda: HypergraphBuilder(0).edge(0, features=[[1]]), "give a list of names"),
        (
            lambda: HypergraphBuilder(0).edge(0, part="p", features={"f": np.nan}),
            "part 'p': 'f' is nan; values must be finite",
        ),
        (
            lambda: HypergraphBuilder(0).edge(0, features={"f": [1.0, np.inf]}),
            "entry inf at 1",
        ),
        (lambda: HypergraphBuilder(0).edge(0, features={"f": "x"}), "give a number"),
    ],
)
def test_bad_graphs_are_refused_by_the_builder(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_part_has_one_set_of_features():
    builder = HypergraphBuilder(0)
    builder.edge(0, part="p", features=["f"])
    builder.edge(0, part="p", features={"f": 1.0})
    with pytest.raises(ValueError, match="two different sets of features"):
        builder.edge(0, part="p", features=["g"])


GOOD = dict(head=[0, 1], tail_ptr=[0, 0, 1], tail=[0], part=[0, 1], n_nodes=2, root=1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(head=[], tail_ptr=[0], tail=[], part=[]), "no edges"),
        (dict(head=[0.0, 1.0]), "head must be a list of whole numbers"),
        (dict(head=[[0, 1]]), "head must be a list of whole numbers"),
        (dict(part=[0]), "part must have 2 entries"),
        (dict(tail_ptr=[0, 1]), "tail_ptr 3"),
        (dict(tail_ptr=[0, 2, 1]), "must ascend"),
        (dict(tail_ptr=[0, 0, 2]), "must ascend"),
        (dict(root=2), "root=2 is no node"),
        (dict(head=[0, 5]), r"head\[1\] is 5, which is no node"),
        (dict(tail=[-1]), r"tail\[0\] is -1, which is no node"),
        (dict(head=[1, 0]), "sorted by head"),
        (dict(tail=[1]), "edge 1 builds node 1 from node 1"),
        (dict(part=[0, -2]), r"part\[1\] is -2"),
        (dict(head=[1, 1], tail_ptr=[0, 1, 2], tail=[0, 0]), "cannot be built"),
        (dict(parts=["a"]), "parts has 1 entries"),
    ],
)
def test_bad_arrays_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        Hypergraph(**{**GOOD, **change})


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda g: g.best([0.0]), "one score per part"),
        (lambda g: g.best([0.0, np.nan]), r"theta\[1\] is nan"),
        (lambda g: g.best([np.inf, 0.0]), r"theta\[0\] is inf"),
        (lambda g: g.best([-np.inf, 0.0]), "no derivation obeys"),
        (lambda g: g.marginals([-np.inf, 0.0]), "every derivation is forbidden"),
        (lambda g: g.sample([-np.inf, 0.0], 1), "every derivation is forbidden"),
        (lambda g: g.k_best([0.0, 0.0], 0), "k=0 is not possible"),
    ],
)
def test_bad_questions_are_refused(ask, message):
    with pytest.raises(ValueError, match=message):
        ask(Hypergraph(**GOOD))
    assert Hypergraph(**GOOD).k_best([-np.inf, 0.0], 2) == []


def test_derivations_that_explode_are_refused():
    builder = HypergraphBuilder(40)
    builder.leaf(0)
    for n in range(1, 41):
        builder.edge(n, n - 1, n - 1)
    with pytest.raises(ValueError, match="used several times"):
        builder.build()


def test_costs_below_those_of_the_truth_are_refused():
    batch = random_batch(0, n=1)
    from maxmargin.hypergraphs.batch import Example
    from maxmargin.hypergraphs.structure import graph_of

    graph = Hypergraph([0, 0], [0, 0, 0], [], [0, 1], 1, 0).arrays
    nothing = np.zeros(0, np.int64), np.zeros(0)
    truth = np.array([0], np.int32)
    example = Example(
        graph, np.zeros(3, np.int64), *nothing, truth, np.array([0.0, -1])
    )
    with pytest.raises(
        ValueError, match="sample 0 give some other output a loss of -1"
    ):
        make_batch([example])
    assert graph_of.py_func(batch, 0).root == batch.node_start[1] - 1
