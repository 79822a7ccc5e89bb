"""Scores of outputs as users see them, against definitions; gradients of parameters."""

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from layer_cases import LAYERS, chain, second_order  # noqa: E402
from torch.autograd import gradcheck  # noqa: E402

from maxmargin.torch import LogLoss, Perturbed, SparseMAP, StructuredHinge  # noqa: E402

MANY = 10_000


def chain_score(layer, x, y):
    if layer.names is not None:
        y = [layer.names.index(label) for label in y]
    total = (
        layer.first[y[0]] + layer.last[y[-1]] + sum(x[t, k] for t, k in enumerate(y))
    )
    return total + sum(layer.transitions[a, b] for a, b in itertools.pairwise(y))


def alignment_score(layer, x, y):
    n, m = x.shape
    pairs = [(-1, -1), *[(i, j) for i, j in enumerate(y) if j >= 0], (n, m)]
    total = sum(x[i, j] for i, j in pairs[1:-1])
    for k, ((i, j), (a, b)) in enumerate(itertools.pairwise(pairs)):
        free = layer.free_ends and k in (0, len(pairs) - 2)
        for side, run in enumerate((a - i - 1, b - j - 1)):
            if run and not free:
                total = total + layer.opening[side] + run * layer.extension[side]
    return total


def matching_score(layer, x, y):
    return sum(x[link] + layer.link for link in y)


def graph_score(layer, x, y, edges):
    total = sum(x[v, k] for v, k in enumerate(y))
    return total + sum(layer.pairs[y[u], y[v]] for u, v in edges)


def example(name, i, emissions, arguments, more):
    """What belongs to one example."""
    sizes = arguments[2] if len(arguments) > 2 else more["lengths"]
    size = sizes[i]
    return (
        emissions[i][:size]
        if isinstance(size, int)
        else emissions[i][: size[0], : size[1]]
    )


DEFINITIONS = {
    "chain": (chain_score, 3**3 + 3 + 9),
    "chain, BIO": (chain_score, None),
    "alignment": (alignment_score, None),
    "alignment, free ends": (alignment_score, None),
    "matching": (matching_score, None),
    "matching, fertile": (matching_score, None),
    "graph": (graph_score, 8 + 2),
}


@pytest.mark.parametrize("name", sorted(DEFINITIONS))
def test_scores_are_those_of_the_definition(name):
    score, count = DEFINITIONS[name]
    layer, (emissions, _, *rest), more = LAYERS[name](5)
    ranked = layer.k_best(emissions, *rest, k=MANY, **more)
    assert count is None or sum(map(len, ranked)) == count
    for i, rows in enumerate(ranked):
        x = example(name, i, emissions, (emissions, None, *rest), more)
        others = (more["edges"][i],) if "edges" in more else ()
        wanted = torch.stack(
            [torch.as_tensor(score(layer, x, y, *others)) for y, _ in rows]
        )
        mine = torch.tensor([value for _, value in rows], dtype=torch.float64)
        torch.testing.assert_close(mine, wanted.detach().double())
        assert layer.decode(emissions, *rest, **more)[i] == rows[0][0]
        if not name.startswith("matching"):
            log_z = layer.log_partition(emissions, *rest, **more)[i]
            torch.testing.assert_close(log_z, wanted.logsumexp(0))


def test_a_chain_of_second_order_adds_triples():
    layer, (emissions, _, lengths), _ = second_order(3)
    log_z = layer.log_partition(emissions, lengths)
    decoded = layer.decode(emissions, lengths)
    for i, size in enumerate(lengths):
        values = {
            y: chain_score(layer, emissions[i], y)
            + sum(layer.triples[y[t - 2], y[t - 1], y[t]] for t in range(2, size))
            for y in itertools.product(range(2), repeat=size)
        }
        torch.testing.assert_close(
            log_z[i], torch.stack(list(values.values())).logsumexp(0)
        )
        assert tuple(decoded[i]) == max(
            values, key=lambda y, of=values: float(of[y].detach())
        )


def test_trees_add_spans_rules_and_tags():
    layer, (spans, _), more = LAYERS["trees, tags unknown, hamming"](2)
    ranked = layer.k_best(spans, k=MANY, **more)
    table = layer.derivations.tables
    for i, rows in enumerate(ranked):
        assert len({str(tree) for tree, _ in rows}) == len(rows) > 2
        for tree, value in rows[:20]:
            total = sum(
                spans[i, a, b, layer.labels.index(k)] for k, a, b in tree.spans()
            )
            tags = [layer.tags.index(tag) for _, tag in tree.tags()]
            total = total + sum(
                more["tag_scores"][i, t, tag] for t, tag in enumerate(tags)
            )
            total = total + sum_of_rules(layer, table, tree)
            torch.testing.assert_close(total.item(), value)
    assert layer.decode(spans, **more) == [rows[0][0] for rows in ranked]
    assert all(len(tree.words()) == 4 for tree in layer.decode(spans, **more))


def sum_of_rules(layer, table, tree):
    labelling = layer.derivations.labelling(tree).reshape(-1, 3)
    total = 0.0
    for chained, rule, _ in labelling.tolist():
        if rule >= 0:
            total = total + layer.rules[table.rule_weight[rule]]
        if chained >= 0:
            a, b = table.chain_start[chained : chained + 2]
            total = total + sum(layer.unaries[u] for u in table.chain_rules[a:b])
    numbers = layer.derivations.grammar.phrase_number
    return total + layer.roots[table.roots.tolist().index(numbers[tree.label])]


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_gradients_are_differences_of_losses(name):
    @settings(max_examples=3)
    @given(seed=st.integers(0, 1000))
    def check(seed):
        layer, (emissions, *rest), more = LAYERS[name](seed)
        losses = [
            StructuredHinge("margin"),
            Perturbed(samples=2, seed=seed),
            SparseMAP(),
        ]
        if not name.startswith("matching"):
            losses.append(LogLoss())
        for loss in losses:
            leaves = (emissions, *layer.parameters())

            def value(emissions, *_, loss=loss):
                return loss(layer.scored(emissions, *rest, **more))

            assert gradcheck(value, leaves, atol=1e-5, fast_mode=True)

    check()


def test_pairs_of_which_one_is_empty():
    layer, *_ = LAYERS["alignment"](1)
    rows = [torch.zeros(n, m) for n, m in ((0, 3), (3, 0), (0, 0))]
    opening, extension = layer.opening, layer.extension
    wanted = torch.stack([*(opening + 3.0 * extension).flip(0), opening.sum() * 0.0])
    found = layer.log_partition([t.double() for t in rows])
    torch.testing.assert_close(found, wanted)
    for a, b in zip(
        torch.autograd.grad(found.prod() + found.sum(), layer.parameters()),
        torch.autograd.grad(wanted.prod() + wanted.sum(), layer.parameters()),
        strict=True,
    ):
        torch.testing.assert_close(a, b)
    assert [z[0][1] for z in layer.k_best(rows, k=2)] == pytest.approx(wanted.tolist())
    assert layer.hinge(rows, [[], [-1] * 3, []]).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("name", ["chain", "second order", "alignment", "matching"])
def test_empty_batches_have_gradients(name):
    layer, (emissions, *_), _ = LAYERS[name](0)
    for x in (emissions[:0], emissions[:0].detach()):
        layer(x, [], []).backward()
        assert layer.decode(x, []) == []


def test_losses_reduce_as_they_say():
    layer, (emissions, labels, lengths), _ = chain(0)
    each = LogLoss("none")(layer.scored(emissions, labels, lengths))
    assert each.shape == (3,)
    for reduction, wanted in (("sum", each.sum()), ("mean", each.mean())):
        found = LogLoss(reduction)(layer.scored(emissions, labels, lengths))
        torch.testing.assert_close(found, wanted)
    torch.testing.assert_close(layer(emissions, labels, lengths), each.mean())
    assert repr(StructuredHinge(scale=0.5)) == (
        "StructuredHinge(rescaling='margin', scale=0.5, reduction='mean')"
    )


def test_noise_is_new_each_time_unless_there_is_a_seed():
    layer, (emissions, labels, lengths), _ = chain(0)
    found = layer.scored(emissions, labels, lengths)
    assert not torch.equal(found.perturbed(), found.perturbed())
    assert torch.equal(found.perturbed(seed=1), found.perturbed(seed=1))


def test_layers_are_trained_and_saved():
    layer, (emissions, labels, lengths), _ = chain(0)
    optimiser = torch.optim.SGD(layer.parameters(), 0.1)
    before = layer(emissions, labels, lengths).item()
    for _ in range(5):
        optimiser.zero_grad()
        layer(emissions, labels, lengths).backward()
        optimiser.step()
    assert layer(emissions, labels, lengths).item() < before
    other, *_ = chain(1)
    other.load_state_dict(layer.state_dict())
    assert set(layer.state_dict()) == {"transitions", "first", "last"}
    a, b = (x(emissions, labels, lengths) for x in (layer, other))
    torch.testing.assert_close(a, b)
    assert np.isfinite(a.item())
