"""Chains: sums by kernel and by matrix, extremes, ragged batches, precisions."""

from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from layer_cases import normal, shaken  # noqa: E402
from torch.autograd import gradcheck, gradgradcheck  # noqa: E402

from maxmargin.torch import Chain, cpu, cpu_sums, textbook  # noqa: E402

COUNTS = (1, 2, 5, 17)


def random_chain(seed, n, lengths, real=torch.float64, scale=1.0, forbid=0.0):
    """(emissions, start, transitions, first, last); some transitions are forbidden."""
    rng = np.random.default_rng(seed)
    shapes = (sum(lengths), n), (n, n), (n,), (n,)
    scores = [torch.from_numpy(scale * rng.normal(size=shape)) for shape in shapes]
    banned = torch.from_numpy(rng.random((n, n)) < forbid)
    banned.fill_diagonal_(False)
    scores[1][banned] = -torch.inf
    start = torch.from_numpy(np.cumsum([0, *lengths]))
    emissions, *tables = (t.to(real) for t in scores)
    return emissions, start, *tables


def by_textbook(emissions, start, *tables, weights):
    """(log Z, gradients of its weighted sum) by autograd, in double precision."""
    leaves = [t.double().clone().requires_grad_() for t in (emissions, *tables)]
    log_z = textbook.log_partition(leaves[0], start, *leaves[1:])
    grads = torch.autograd.grad((log_z * weights).sum(), leaves, materialize_grads=True)
    return log_z.detach(), grads


@contextmanager
def summed(together):
    """With products of matrices, or sequence by sequence, however small a batch is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cpu_sums, "TOGETHER", 0 if together else 10**9)
        yield


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("real", [torch.float64, torch.float32])
@pytest.mark.parametrize("n", COUNTS)
@settings(max_examples=8)
@given(
    seed=st.integers(0, 10_000),
    lengths=st.lists(st.integers(0, 7), max_size=6),
    scale=st.sampled_from([0.5, 3.0, 30.0, 1e4]),
    forbid=st.sampled_from([0.0, 0.5]),
)
def test_sums_equal_those_of_the_textbook(
    n, real, together, seed, lengths, scale, forbid
):
    scores = random_chain(seed, n, lengths, real, scale, forbid)
    weights = torch.from_numpy(np.random.default_rng(seed).normal(size=len(lengths)))
    for g in (weights, torch.ones(len(lengths), dtype=torch.float64)):
        log_z, grads = by_textbook(*scores, weights=g)
        with summed(together):
            found = cpu.sums(*scores, g)
        tol = 1e-9 if real == torch.float64 else 1e-5
        torch.testing.assert_close(found.log_z, log_z, rtol=tol, atol=tol)
        for a, b in zip(found[1:], grads, strict=True):
            assert bool(torch.isfinite(a).all())
            torch.testing.assert_close(a.double(), b, rtol=0.0, atol=len(g) * 4 * tol)


def test_large_batches_are_summed_by_matrices(monkeypatch):
    scores = random_chain(0, 30, [40, 0, 90, 100, *[100] * 3], torch.float32)
    wanted = cpu.sums(*scores)
    monkeypatch.setattr(cpu_sums, "_each", None)
    for a, b in zip(cpu.sums(*scores), wanted, strict=True):
        torch.testing.assert_close(a, b)
    monkeypatch.undo()
    with summed(False):
        for a, b in zip(cpu.sums(*scores), wanted, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-4)


def test_what_memory_held_before_does_not_matter(monkeypatch):
    scores = random_chain(0, 5, [4, 0, 9, 1], torch.float32)
    filled = lambda like: torch.full_like(like, torch.nan)  # noqa: E731
    monkeypatch.setattr(torch, "empty_like", filled)
    monkeypatch.setattr(cpu_sums, "_each", None)
    with summed(True):
        assert all(bool(torch.isfinite(t).all()) for t in cpu.sums(*scores))


@pytest.mark.parametrize("n", [5, 30])
@pytest.mark.parametrize("real", [torch.float64, torch.float32])
@pytest.mark.parametrize("together", [False, True])
def test_a_favourite_that_leads_nowhere(n, real, together):
    emissions, start, transitions, first, last = random_chain(1, n, [6, 3], real)
    emissions[2, 0] = 120.0  # alone, but there is no way on
    transitions[0] = -torch.inf
    g = torch.ones(2, dtype=torch.float64)
    scores = emissions, start, transitions, first, last
    log_z, grads = by_textbook(*scores, weights=g)
    with summed(together):
        found = cpu.sums(*scores, g)
    torch.testing.assert_close(found.log_z, log_z, rtol=1e-6, atol=1e-6)
    for a, b in zip(found[1:], grads, strict=True):
        torch.testing.assert_close(a.double(), b, rtol=0.0, atol=1e-5)


@pytest.mark.parametrize("n", [3, 20])
def test_everything_is_forbidden_but_one(n):
    chain = shaken(Chain(n), 0)
    labels = [[k % n for k in range(5)]]
    emissions = torch.full((1, 5, n), -torch.inf, dtype=torch.float64)
    for t, k in enumerate(labels[0]):
        emissions[0, t, k] = 1e4 * (-1) ** t
    emissions.requires_grad_()
    loss = chain.log_loss(emissions, labels)
    loss.sum().backward()
    assert loss.item() == pytest.approx(0.0, abs=1e-7)
    assert chain.decode(emissions) == labels
    for t in (emissions, *chain.parameters()):
        torch.testing.assert_close(t.grad, torch.zeros_like(t), atol=1e-9, rtol=0.0)
    assert chain.hinge(emissions, labels).item() == 0.0
    assert chain.entropy(emissions).item() == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("scale", [1.0, 1e4])
@pytest.mark.parametrize("together", [False, True])
def test_ragged_batches_equal_one_at_a_time(together, scale):
    n, lengths = 5, [3, 0, 1, 6]
    chain = shaken(Chain(n), 0)
    emissions = normal(0, 4, 6, n, scale=scale)
    labels = torch.from_numpy(np.random.default_rng(0).integers(0, n, size=(4, 6)))
    for ask in (chain.log_loss, chain.hinge):
        chain.zero_grad()
        emissions.grad = None
        with summed(together):
            whole = ask(emissions, labels, lengths)
            whole.sum().backward()
        grads = [emissions.grad, *(p.grad for p in chain.parameters())]
        wanted = [torch.zeros_like(g) for g in grads]
        for i, size in enumerate(lengths):
            emissions.grad = None
            chain.zero_grad()
            alone = ask(emissions[i : i + 1, :size], labels[i : i + 1, :size])
            torch.testing.assert_close(alone[0], whole[i], rtol=1e-10, atol=1e-9)
            alone.sum().backward()
            for w, t in zip(wanted, (emissions, *chain.parameters()), strict=True):
                w += 0.0 if t.grad is None else t.grad
        for a, b in zip(grads, wanted, strict=True):
            assert bool(torch.isfinite(a).all())
            torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-9)


def test_flat_padded_and_listed_emissions_are_the_same():
    chain, lengths = shaken(Chain(3), 0), [2, 0, 3]
    padded = normal(1, 3, 4, 3)
    rows = [x[:size] for x, size in zip(padded, lengths, strict=True)]
    flat = torch.cat(rows)
    labels = [[0, 1], [], [2, 1, 0]]
    given = torch.tensor([[0, 1, 9, 9], [9] * 4, [2, 1, 0, 9]])
    wanted = chain.log_loss(padded, labels, lengths)
    for found in (
        chain.log_loss(padded, given, torch.tensor(lengths)),
        chain.log_loss(flat, labels, lengths),
        chain.log_loss(flat, torch.tensor([0, 1, 2, 1, 0]), lengths),
        chain.log_loss(rows, labels),
        chain.log_loss(rows, [torch.tensor(y) for y in labels]),
    ):
        torch.testing.assert_close(found, wanted)
    mu = chain.marginals(padded, lengths)
    assert mu.shape == padded.shape
    assert (mu[0, 2:].abs().sum() + mu[1].abs().sum()).item() == 0.0
    torch.testing.assert_close(chain.marginals(flat, lengths)[2:], mu[2, :3])
    torch.testing.assert_close(chain.marginals(rows)[2], mu[2, :3])
    torch.testing.assert_close(mu.sum((1, 2)).detach(), torch.tensor(lengths).double())


@pytest.mark.parametrize("n", [3, 18])
def test_first_and_second_derivatives(n):
    chain = shaken(Chain(n, forbidden=[(0, 1), (None, 2)]), 0)
    emissions, lengths = normal(0, 2, 3, n), [3, 1]
    labels = [[0, 2, 1], [1]]
    leaves = emissions, *chain.parameters()
    for loss in (
        lambda x, *_: chain.log_loss(x, labels, lengths),
        lambda x, *_: chain.log_loss(x, [[0, None, 1], [None]], lengths),
    ):
        assert gradcheck(loss, leaves, fast_mode=n > 3)
        assert gradgradcheck(loss, leaves, fast_mode=True)
    for ask in (chain.entropy, chain.marginals):
        assert gradcheck(lambda x, *_, f=ask: f(x, lengths), leaves, fast_mode=n > 3)
    hinge = lambda x, *_: chain.hinge(x, labels, lengths)  # noqa: E731
    assert gradcheck(hinge, leaves, fast_mode=n > 3)


def test_entropies_without_gradients():
    chain = shaken(Chain(3), 0)
    emissions = normal(0, 2, 4, 3)
    wanted = chain.entropy(emissions, [4, 2]).detach()
    for context in (torch.no_grad, torch.inference_mode):
        with context():
            x = emissions.clone()
            torch.testing.assert_close(chain.entropy(x, [4, 2]), wanted)
    found = chain.requires_grad_(False).entropy(emissions.detach(), [4, 2])
    torch.testing.assert_close(found, wanted)
    assert not found.requires_grad


@pytest.mark.parametrize("together", [False, True])
def test_mixed_precision_does_not_change_gradients(together):
    chain, x = Chain(20), torch.randn(5, 6, 20)
    y = torch.zeros(5, 6, dtype=torch.int64)
    for lengths in ([6] * 5, [1, 6, 2, 3, 4]):
        grads = []
        for mixed in (False, True):
            with torch.autocast("cpu", torch.bfloat16, mixed), summed(together):
                losses = chain.log_loss(x, y, lengths) * torch.arange(1.0, 6.0)
                grads.append(torch.autograd.grad(losses.sum(), chain.transitions)[0])
        assert torch.equal(*grads)


@pytest.mark.parametrize("real", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_single_precision(real):
    chain = Chain(4)
    emissions = torch.randn(2, 3, 4, generator=torch.Generator().manual_seed(0))
    short = emissions.to(real).requires_grad_()
    loss = chain(short, torch.zeros(2, 3, dtype=torch.int64))
    assert loss.dtype == torch.float32
    wanted = chain(short.detach().float(), torch.zeros(2, 3, dtype=torch.int64))
    torch.testing.assert_close(loss, wanted)
    loss.backward()
    assert short.grad.dtype == real
    half = Chain(4).to(real)
    assert bool(torch.isfinite(half(short, torch.zeros(2, 3, dtype=torch.int64))))


def test_sequences_of_no_and_one_token_and_one_label():
    chain = Chain(1)
    emissions = torch.randn(3, 2, 1).requires_grad_()
    loss = chain.log_loss(emissions, torch.zeros(3, 2, dtype=torch.int64), [0, 1, 2])
    torch.testing.assert_close(loss, torch.zeros(3))
    loss.sum().backward()
    torch.testing.assert_close(emissions.grad, torch.zeros(3, 2, 1))
    assert chain.decode(emissions, [0, 1, 2]) == [[], [0], [0, 0]]
    assert chain.k_best(emissions, [0, 1, 2], k=2)[0] == [([], 0.0)]
    assert chain.sample(emissions, [0, 1, 2], seed=0) == [[[]], [[0]], [[0, 0]]]
    torch.testing.assert_close(chain.entropy(emissions, [0, 1, 2]), torch.zeros(3))


def test_an_empty_batch():
    chain = Chain(3)
    for emissions, lengths in (
        (torch.zeros(0, 5, 3), []),
        (torch.zeros(0, 3), []),
        ([], None),
    ):
        assert chain.log_loss(emissions, [], lengths).shape == (0,)
        assert chain.hinge(emissions, [], lengths).shape == (0,)
        assert chain.decode(emissions, lengths) == []
        assert chain.k_best(emissions, lengths, k=2) == []
        assert chain.entropy(emissions, lengths).shape == (0,)
        assert chain(emissions, [], lengths).item() == 0.0


def test_the_hinge_takes_costs_of_tokens():
    chain = shaken(Chain(3), 0)
    emissions, labels, lengths = normal(0, 2, 3, 3), [[0, 1, 2], [2]], [3, 1]
    costs = normal(1, 2, 3, 3).detach()
    found = chain.hinge(emissions, labels, lengths, costs=costs, scale=2.0)
    for i, size in enumerate(lengths):
        rows = chain.k_best(emissions[i : i + 1, :size], k=100)[0]
        score = {tuple(y): value for y, value in rows}
        dear = {
            y: 2.0 * float(sum(costs[i, t, k] for t, k in enumerate(y))) for y in score
        }
        truth = tuple(labels[i])
        best = max(score[y] + dear[y] for y in score) - score[truth] - dear[truth]
        assert found[i].item() == pytest.approx(best)


def test_schemes_hold_in_all_predictions():
    chain = Chain(["O", "B-X", "I-X"], scheme="BIO")
    emissions = torch.zeros(1, 4, 3)
    emissions[0, :, 2] = 5.0
    assert chain.decode(emissions) == [["B-X", "I-X", "I-X", "I-X"]]
    for rows in (
        chain.sample(emissions, n=20, seed=0)[0],
        chain.k_best(emissions, k=9)[0],
    ):
        for row in rows:
            labels = row[0] if isinstance(row, tuple) else row
            assert labels[0] != "I-X"
            assert ("O", "I-X") not in list(pairwise(labels))
