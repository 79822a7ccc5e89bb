"""Layers against the bridge: other ways to the same numbers, in the shape of scores."""

import itertools
from collections import Counter

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
from layer_cases import LAYERS, matching, normal, scored, shaken  # noqa: E402
from torch.autograd import gradcheck  # noqa: E402

from maxmargin.torch import (  # noqa: E402
    Alignment,
    Chain,
    Graph,
    Matching,
    Scored,
    SecondOrder,
)

SUMMED = [name for name in sorted(LAYERS) if not name.startswith("matching")]


@pytest.mark.parametrize("name", SUMMED)
def test_marginals_are_the_slopes_of_log_partitions(name):
    """In the shape of the emissions, zero where there is padding."""
    layer, (emissions, _, *rest), more = LAYERS[name](2)
    mu = layer.marginals(emissions, *rest, **more)
    log_z = layer.log_partition(emissions, *rest, **more).sum()
    (slopes,) = torch.autograd.grad(log_z, emissions)
    torch.testing.assert_close(mu, slopes)


def test_marginals_of_a_program_come_as_a_list_if_scores_do():
    layer, (scores, _, X), _ = LAYERS["program"](2)
    whole = layer.marginals(scores, X)
    rows = list(torch.split(scores, [len(parts) for parts in layer.parts(X)]))
    found = layer.marginals(rows, X)
    assert [len(row) for row in found] == [len(row) for row in rows]
    torch.testing.assert_close(torch.cat(found), whole)


def test_sparse_marginals_are_the_slopes_of_their_loss():
    layer, (scores, truths, lengths), _ = matching(2)
    found = layer.scored(scores, truths, lengths)
    (slopes,) = torch.autograd.grad(found.sparse_map().sum(), scores)
    for i, links in enumerate(truths):
        for link in links:
            slopes[i][link] += 1.0
    torch.testing.assert_close(found.sparse_marginals(), slopes)


@pytest.mark.parametrize("name", ["matching", "alignment", "program"])
def test_sparse_marginals_have_derivatives(name):
    found = scored(name, 1)

    def marginals(own):
        return type(found)(own, found.examples).sparse_marginals()

    assert gradcheck(
        marginals, found.own.detach().requires_grad_(), eps=1e-5, atol=1e-4
    )


@pytest.mark.parametrize("scale", [1.0, 0.4])
@pytest.mark.parametrize(
    "name", ["chain", "chain, costs", "chain, labels unknown", "chain, BIO"]
)
def test_hinges_of_chains_equal_those_of_the_bridge(name, scale):
    layer, (emissions, *rest), _ = LAYERS[name](4)
    for seed in range(5):
        x = normal(seed, *emissions.shape)
        found = []
        for ask in (layer.scored(x, *rest), layer.scored(x, *rest).flat()):
            loss = ask.hinge(scale=scale)
            grads = torch.autograd.grad(loss.sum(), (x, *layer.parameters()))
            found.append((loss, *grads))
        for a, b in zip(*found, strict=True):
            torch.testing.assert_close(a, b)


def test_costs_are_scaled():
    found = scored("alignment")
    costs = torch.from_numpy(np.random.default_rng(0).normal(size=len(found.own)))
    wanted = found.hinge(costs=0.3 * costs)
    torch.testing.assert_close(found.hinge(costs=costs, scale=0.3), wanted)
    assert not torch.allclose(found.hinge(costs=costs), wanted)


def test_scores_of_edges_belong_to_their_edges():
    """However edges are sorted on the way."""
    layer, (nodes, _), more = LAYERS["graph, edges scored, labels unknown"](1)
    edges = [[(1, 2), (0, 2), (0, 1)], [(1, 0)]]
    more = {**more, "edges": edges}
    log_z = layer.log_partition(nodes, **more)
    for i, size in enumerate(more["lengths"]):
        values = []
        for y in itertools.product(range(2), repeat=size):
            total = sum(nodes[i, v, k] for v, k in enumerate(y))
            for e, (u, v) in enumerate(edges[i]):
                table = layer.pairs + more["edge_scores"][i][e]
                total = total + table[y[u], y[v]]
            values.append(total)
        torch.testing.assert_close(log_z[i], torch.stack(values).logsumexp(0))


@pytest.mark.parametrize("n", [7, 9, 17])
def test_labels_that_fill_no_vector(n):
    """The rows of kernels are wider than there are labels."""
    layer, x, lengths = shaken(Chain(n), 0), normal(0, 2, 4, n, scale=3.0), [4, 2]
    truths = [[0, n - 1, 2, 1], [n - 1, n - 1]]
    chain = layer.scored(x, truths, lengths)
    flat = chain.flat()
    assert flat.examples.batch.width > n
    for ask in ("log_partition", "log_loss", "entropy", "hinge"):
        found, wanted = (getattr(given, ask)() for given in (flat, chain))
        torch.testing.assert_close(found, wanted)
    assert flat.decode() == chain.decode()
    for found, wanted in zip(flat.k_best(4), chain.k_best(4), strict=True):
        assert [y for y, _ in found] == [y for y, _ in wanted]
    assert flat.sample(5, seed=0) == chain.sample(5, seed=0)


@pytest.mark.parametrize("n", [3, 7])
def test_second_order_without_triples_is_a_chain(n):
    chain, layer = shaken(Chain(n), 0), shaken(SecondOrder(n), 1)
    with torch.no_grad():
        layer.triples.zero_()
        layer.load_state_dict(chain.state_dict(), strict=False)
    x, lengths = normal(0, 2, 4, n, scale=3.0), [4, 2]
    for ask in ("log_partition", "entropy", "marginals"):
        found, wanted = (getattr(given, ask)(x, lengths) for given in (layer, chain))
        torch.testing.assert_close(found, wanted)
    assert layer.decode(x, lengths) == chain.decode(x, lengths)
    truths = [[0, None, 2, 1], [n - 1, n - 1]]
    for ask in ("log_loss", "hinge"):
        found, wanted = (
            getattr(given, ask)(x, truths, lengths) for given in (layer, chain)
        )
        torch.testing.assert_close(found, wanted)


TABLE = [[0.0, 1.0, 2.5], [3.0, 0.0, 1.0], [0.5, 1.0, 0.0]]


def price(truth, y):
    """What TABLE says: rows are true, columns predicted."""
    return sum(TABLE[a][b] for a, b in zip(truth, y, strict=True))


def links(y):
    return {(i, j) for i, j in enumerate(y) if j >= 0}


def near(truth, y):
    """1 - (pairs of which the truth has the column, at most one row off) / (its pairs)."""
    rows = {j: i for i, j in links(truth)}
    right = [abs(rows[j] - i) <= 1 for i, j in links(y) if j in rows]
    return 1.0 - sum(right) / len(rows)


def extra_and_missing(truth, y):
    return 0.5 * len({*y} - {*truth}) + 3.0 * len({*truth} - {*y})


CHAINED, PAIRED = [[0, 2, 1], [1, 1]], [[1, -1, 3], [-1, 2, 3]]
COSTLY = {
    "chain, hamming": (Chain(3), CHAINED, lambda a, b: float(np.not_equal(a, b).sum())),
    "chain, zero-one": (Chain(3, cost="zero-one"), CHAINED, lambda a, b: float(a != b)),
    "chain": (Chain(3, cost=TABLE), CHAINED, price),
    "graph": (Graph(3, cost=TABLE), CHAINED, price),
    "alignment": (Alignment(cost=1), PAIRED, near),
    "alignment, hamming": (
        Alignment(cost="hamming"),
        PAIRED,
        lambda a, b: float(len(links(a) ^ links(b))),
    ),
    "matching": (
        Matching(costs=(0.5, 3.0)),
        [[(0, 1), (2, 0)], [(1, 2)]],
        extra_and_missing,
    ),
}


@pytest.mark.parametrize("name", sorted(COSTLY))
def test_hinges_have_the_loss_that_a_layer_was_made_with(name):
    layer, truths, loss = COSTLY[name]
    layer = shaken(layer, 3)
    sizes = [len(y) for y in truths] if truths is CHAINED else [(3, 4), (3, 4)]
    for seed in range(4):
        x = normal(seed, 2, 3, 3 if truths is CHAINED else 4, scale=0.5)
        more = {"lengths": sizes}
        if isinstance(layer, Graph):
            more["edges"] = [[(0, 1), (0, 2)], [(0, 1)]]
        found = layer.hinge(x, truths, **more)
        for i, rows in enumerate(layer.k_best(x, k=10_000, **more)):
            value = {str(y): score for y, score in rows}
            best = max(score + loss(truths[i], y) for y, score in rows)
            assert found[i].item() == pytest.approx(best - value[str(truths[i])])


@pytest.mark.parametrize("cost", ["f1", "hamming", "zero-one"])
def test_hinges_of_trees_count_brackets(cost):
    layer, (spans, truths), more = LAYERS["trees, tags unknown, hamming"](0)
    layer.cost = cost
    found = layer.hinge(spans, truths, **more)
    for i, rows in enumerate(layer.k_best(spans, k=10_000, **more)):
        value, true = {str(y): score for y, score in rows}, brackets(truths[i])
        losses = {
            "f1": lambda y, true=true: (
                1.0 - 2.0 * (y & true).total() / (y + true).total()
            ),
            "hamming": lambda y, true=true: (y - true).total() + (true - y).total(),
            "zero-one": lambda y, true=true: float(y != true),
        }
        best = max(score + losses[cost](brackets(y)) for y, score in rows)
        text = str(truths[i].with_words([str(t) for t in range(4)]))
        assert found[i].item() == pytest.approx(best - value[text])


def brackets(tree):
    return Counter(tree.spans())


UNKNOWN = [
    "chain, labels unknown",
    "alignment, partners unknown",
    "graph, edges scored, labels unknown",
]


@pytest.mark.parametrize("name", UNKNOWN)
def test_losses_of_truths_known_in_part_sum_over_the_rest(name):
    layer, (emissions, truths, *rest), more = LAYERS[name](0)
    found = layer.log_loss(emissions, truths, *rest, **more)
    hinge = layer.hinge(emissions, truths, *rest, scale=0.0, **more)
    for i, rows in enumerate(layer.k_best(emissions, *rest, k=10_000, **more)):
        values = np.array([score for _, score in rows])
        agrees = [
            all(a is None or a == b for a, b in zip(truths[i], y, strict=True))
            for y, _ in rows
        ]
        assert sum(agrees) > 0
        known, whole = (np.logaddexp.reduce(v) for v in (values[agrees], values))
        assert found[i].item() == pytest.approx(whole - known)
        assert hinge[i].item() == pytest.approx(values.max() - values[agrees].max())


def test_random_labels_keep_to_the_scheme_of_their_batch():
    found = scored("chain, BIO")
    plain = Scored(found.own, found.examples, torch.zeros_like(found.head))
    assert all(row[0] != "I-X" for rows in plain.sample(50, seed=0) for row in rows)
