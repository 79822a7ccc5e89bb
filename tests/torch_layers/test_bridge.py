"""Losses, marginals and entropies of every structure against all of its outputs."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
from layer_cases import LAYERS, outputs_of, scored  # noqa: E402

from maxmargin.core import flat_scores  # noqa: E402
from maxmargin.core.partial import ordinary  # noqa: E402
from maxmargin.torch import Scored  # noqa: E402

NAMES = sorted(LAYERS)
INEXACT = ("chain, costs", "graph", "second order")
SUMMED = [name for name in NAMES if not name.startswith("matching")]


class Listed:
    """All outputs of an example: their parts, losses, and which agree with the truth."""

    def __init__(self, found, i):
        examples, batch = found.examples, found.examples.batch
        self.head, self.i = found.head, i
        a, b = examples.layout.place[i : i + 2].tolist()
        self.own = found.own[a:b]
        self.size = b - a
        first, last = batch.start[i : i + 2].tolist()
        known = getattr(batch, "known", np.ones(len(batch.y), bool))[first:last]
        truth = batch.y[first:last]
        parts, losses, agrees = [], [], []
        for y in outputs_of(batch, i):
            labels, weights = batch.y.copy(), np.zeros(examples.n)
            labels[first:last], weights[i] = y, 1.0
            table = flat_scores.sum_of_parts(batch, examples.layout, labels, weights)
            parts.append(np.append(table.head, table.own[a:b]))
            losses.append(flat_scores.losses_of(ordinary(batch), labels)[i])
            agrees.append(bool((y == truth)[known].all()))
        self.parts = torch.from_numpy(np.array(parts))
        self.losses = torch.from_numpy(np.array(losses))
        self.agrees = torch.tensor(agrees)
        self.whole = bool(known.all())

    @property
    def values(self):
        return _product(self.parts, torch.cat([self.head, self.own]))


def _product(parts, theta):
    """parts @ theta, where 0 times -inf is 0."""
    return torch.where(parts != 0.0, parts * theta, torch.zeros(())).sum(1)


def listed(found):
    return [Listed(found, i) for i in range(found.examples.n)]


def compare(found, mine, right, tol=1e-8):
    """Values, and gradients for random weights of the examples."""
    torch.testing.assert_close(mine, right, atol=tol, rtol=tol)
    weights = torch.from_numpy(np.random.default_rng(0).normal(size=mine.shape))
    leaves = [t for t in (found.own, found.head) if t.numel()]
    for a, b in zip(
        torch.autograd.grad((mine * weights).sum(), leaves, retain_graph=True),
        torch.autograd.grad(
            (right * weights).sum(), leaves, retain_graph=True, allow_unused=True
        ),
        strict=True,
    ):
        b = torch.zeros_like(a) if b is None else b
        torch.testing.assert_close(a, b, atol=10 * tol, rtol=tol)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", SUMMED)
def test_sums_equal_those_of_all_outputs(name, seed):
    found = scored(name, seed)
    outputs = listed(found)
    log_z = torch.stack([o.values.logsumexp(0) for o in outputs])
    compare(found, found.log_partition(), log_z)
    known = torch.stack([o.values[o.agrees].logsumexp(0) for o in outputs])
    compare(found, found.log_loss(), log_z - known)
    logs = [o.values.log_softmax(0) for o in outputs]
    compare(found, found.entropy(), torch.stack([-(p.exp() * p).sum() for p in logs]))


@pytest.mark.parametrize("name", SUMMED)
def test_marginals_equal_those_of_all_outputs(name):
    found = scored(name)
    outputs = listed(found)
    mu = [o.values.softmax(0) @ o.parts for o in outputs]
    n = len(found.head)
    mine = found.marginals()
    own, head = mine if n else (mine, None)
    compare(found, own, torch.cat([m[n:] for m in mu]))
    if n:
        compare(found, head, torch.stack([m[:n] for m in mu]).sum(0))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", NAMES)
def test_hinges_equal_those_of_all_outputs(name, seed):
    found = scored(name, seed)
    if found.examples.is_partial:
        found = completed(found)
    outputs = listed(found)
    truths = torch.stack([o.values[o.agrees][0] for o in outputs])
    margin = torch.stack([(o.losses + o.values).max() for o in outputs]) - truths
    compare(found, found.hinge(), margin)
    half = torch.stack([(0.5 * o.losses + o.values).max() for o in outputs]) - truths
    compare(found, found.hinge(scale=0.5), half)
    slack = [
        (o.losses * (1.0 + o.values - truth)).max()
        for o, truth in zip(outputs, truths, strict=True)
    ]
    if name.startswith(INEXACT):  # a search through searches for margins
        assert (found.hinge("slack") <= torch.stack(slack) + 1e-9).all()
        assert (found.hinge("slack") >= 0.0).all()
    else:
        compare(found, found.hinge("slack"), torch.stack(slack))
    costs = torch.from_numpy(np.random.default_rng(seed).normal(size=len(found.own)))
    n, at, dear = len(found.head), 0, []
    for o, truth in zip(outputs, truths, strict=True):
        cost = o.parts[:, n:] @ costs[at : at + o.size]
        dear.append((cost + o.values).max() - truth - cost[o.agrees][0])
        at += o.size
    compare(found, found.hinge(costs=costs), torch.stack(dear))


def completed(found):
    """The same with the best completions for truths, found among all outputs."""
    batch = found.examples.batch
    y = batch.y.copy()
    for i, outputs in enumerate(listed(found)):
        values = torch.where(outputs.agrees, outputs.values, -torch.inf)
        y[batch.start[i] : batch.start[i + 1]] = outputs_of(batch, i)[
            int(values.argmax())
        ]
    best = found._completed()
    assert np.array_equal(best.batch.y, y)
    return Scored(found.own, best, found.head)


@pytest.mark.parametrize("name", NAMES)
def test_perturbed_searches_equal_those_among_all_outputs(name):
    found = scored(name)
    truths = found._completed().batch.y if found.examples.is_partial else None
    rng, total = np.random.default_rng(3), 0.0
    if truths is not None:
        found = Scored(found.own, found._completed(), found.head)
    for _ in range(4):
        noise = [
            torch.from_numpy(0.7 * rng.standard_normal(len(t)))
            for t in (found.own, found.head)
        ]
        moved = Scored(found.own + noise[0], found.examples, found.head + noise[1])
        outputs = listed(moved)
        best = torch.stack([o.values.max() for o in outputs])
        total = (
            total + (best - torch.stack([o.values[o.agrees][0] for o in outputs])) / 4
        )
    compare(found, found.perturbed(0.7, 4, seed=3), total)


@pytest.mark.parametrize("name", NAMES)
def test_sparse_map_is_the_optimum(name):
    found = scored(name)
    if found.examples.is_partial:
        found = Scored(found.own, found._completed(), found.head)
    mu = found.sparse_marginals()
    own, _ = mu if isinstance(mu, tuple) else (mu, None)
    at, n, losses = 0, len(found.head), []
    for o in listed(found):
        mine = own[at : at + o.size].detach()
        at += o.size
        theta = torch.cat([o.head, o.own - mine]).detach()
        moved = _product(o.parts, theta)
        # mu is an average of outputs that are all best under theta - mu
        best = moved > moved.max() - 1e-6
        rows = torch.cat([o.parts[best][:, n:], torch.ones(int(best.sum()), 1)], 1).T
        wanted = torch.cat([mine, torch.ones(1)])[:, None]
        shares = torch.linalg.lstsq(rows, wanted, driver="gelsd").solution
        assert (rows @ shares - wanted).abs().max().item() < 1e-6
        truth = o.parts[o.agrees][0]
        value = moved.max() + 0.5 * (mine @ mine) + 0.5 * (truth[n:] @ truth[n:])
        losses.append(value - o.values[o.agrees][0].detach())
    loss = found.sparse_map()
    torch.testing.assert_close(loss, torch.stack(losses), atol=1e-6, rtol=1e-6)
    leaves = [t for t in (found.own, found.head) if t.numel()]
    grads = torch.autograd.grad(loss.sum(), leaves)
    truths = flat_scores.sum_of_parts(
        found.examples.batch,
        found.examples.layout,
        found.examples.batch.y,
        np.ones(found.examples.n),
    )
    torch.testing.assert_close(grads[0], own.detach() - torch.from_numpy(truths.own))


@pytest.mark.parametrize("name", NAMES)
def test_the_best_outputs_are_the_best_of_all(name):
    found = scored(name)
    _, values = found._best()
    outputs = listed(found)
    best = torch.stack([o.values.max() for o in outputs])
    torch.testing.assert_close(torch.from_numpy(values), best.detach())
    if name.startswith("second") or name.endswith("reweighted"):
        with pytest.raises(TypeError, match="no search for its k best"):
            found.k_best(3)
        return
    ranked = found.k_best(3)
    for o, rows in zip(outputs, ranked, strict=True):
        wanted = o.values.detach().sort(descending=True).values[:3]
        mine = torch.tensor([value for _, value in rows], dtype=torch.float64)
        torch.testing.assert_close(mine, wanted[: len(mine)])
        assert len(mine) == min(3, int(torch.isfinite(o.values).sum()))


@pytest.mark.parametrize("name", ["chain", "chain, BIO", "program"])
def test_outputs_are_drawn_as_often_as_they_are_probable(name):
    found = scored(name)
    drawn = found.sample(4000, seed=0)
    chances = listed(found)
    for i, rows in enumerate(drawn):
        labels = outputs_of(found.examples.batch, i)
        p = chances[i].values.softmax(0).detach().numpy()
        read = [str(found.examples.read(i, y)) for y in labels]
        counts = np.array([sum(str(row) == text for row in rows) for text in read])
        assert counts.sum() == 4000
        assert np.abs(counts / 4000 - p).max() < 0.04


@pytest.mark.parametrize("name", SUMMED)
def test_second_derivatives(name):
    found = scored(name)
    leaves = [t for t in (found.own, found.head) if t.numel()]
    outputs = listed(found)
    log_z = torch.stack([o.values.logsumexp(0) for o in outputs])
    known = torch.stack([o.values[o.agrees].logsumexp(0) for o in outputs])
    products = []
    for loss in (found.log_loss(), log_z - known):
        weights = torch.arange(1.0, 1.0 + len(loss), dtype=torch.float64)
        grads = torch.autograd.grad((loss * weights).sum(), leaves, create_graph=True)
        rng = np.random.default_rng(0)
        ways = [torch.from_numpy(rng.normal(size=len(g))) for g in grads]
        slope = sum((g * v).sum() for g, v in zip(grads, ways, strict=True))
        products.append(torch.autograd.grad(slope, leaves, allow_unused=True))
    for a, b in zip(*products, strict=True):
        torch.testing.assert_close(a, b, atol=1e-8, rtol=1e-7)


def test_third_derivatives_are_refused():
    found = scored("program")
    (first,) = torch.autograd.grad(found.log_loss().sum(), found.own, create_graph=True)
    (second,) = torch.autograd.grad(first.square().sum(), found.own, create_graph=True)
    with pytest.raises(RuntimeError, match="asks for one more"):
        second.sum().backward()
