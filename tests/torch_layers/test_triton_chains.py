"""log Z, losses, marginals and counts of chains by the kernels."""

from itertools import pairwise

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from triton_cases import (
    DEVICE,
    NONE,
    QUIET,
    chains,
    enumerated,
    on_device,
    ragged,
    random_scores,
    reference,
    score_of,
    starts,
    torch,
)

pytestmark = QUIET


def leaves(scores, dtype=torch.float32):
    return [x.to(dtype).clone().requires_grad_() for x in scores]


def gradients(loss, inputs):
    found = torch.autograd.grad(loss, inputs, materialize_grads=True)
    return [x.cpu().double() for x in found]


def check(start, scores):
    """log Z, and gradients with a weight for each example, against the reference."""
    exact, inputs = leaves(scores, torch.float64), leaves(on_device(*scores))
    expected = reference(exact[0], start, *exact[1:])
    found = chains.log_z(inputs[0], *on_device(start), *inputs[1:])
    assert found.dtype == torch.float32
    own = found.detach().cpu().double()
    torch.testing.assert_close(own, expected.detach(), rtol=1e-5, atol=1e-5)
    possible = expected.detach() > NONE
    weights = torch.linspace(-1.0, 2.0, len(start) - 1)[possible]
    loss = (found[possible.to(DEVICE)] * weights.to(DEVICE)).sum()
    true = gradients((expected[possible] * weights).sum(), exact)
    for own, one in zip(gradients(loss, inputs), true, strict=True):
        torch.testing.assert_close(own, one, rtol=1e-5, atol=1e-5)


@given(ragged())
def test_small_ragged_batches(case):
    check(*case)


@settings(max_examples=8)
@given(ragged(n_labels=st.sampled_from([17, 64, 65, 130]), longest=4))
def test_many_labels(case):
    check(*case)


@pytest.mark.parametrize("n_labels", [2, 5])
def test_enumeration(n_labels):
    lengths = [0, 1, 2, 4]
    start, scores = random_scores(lengths, n_labels)
    found = chains.sums(*on_device(scores[0], start, *scores[1:]))
    log_z, marginals, pairs, first, last = (x.cpu() for x in found)
    all_pairs, ends = torch.zeros_like(pairs), torch.zeros(2, n_labels)
    for b, length in enumerate(lengths):
        lo, hi = start[b], start[b + 1]
        outputs = enumerated(length, n_labels)
        values = torch.stack(
            [score_of(y, scores[0][lo:hi], *scores[1:]) for y in outputs]
        )
        torch.testing.assert_close(log_z[b], torch.logsumexp(values, 0))
        own = torch.zeros(length, n_labels)
        for y, p in zip(outputs, torch.softmax(values, 0), strict=True):
            own[torch.arange(length), y] += p
            all_pairs.index_put_((y[:-1], y[1:]), p.expand(max(length - 1, 0)), True)
            if length:
                ends[0, y[0]] += p
                ends[1, y[-1]] += p
        torch.testing.assert_close(marginals[lo:hi], own, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(pairs, all_pairs, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(torch.stack([first, last]), ends, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("n_labels", [4, 70])
def test_log_loss_subtracts_the_labels(n_labels):
    start, scores = random_scores([3, 0, 1, 40], n_labels)
    scores[0][3:] *= 100.0  # one example in log space
    scores[0][5, :] = NONE
    labels = torch.randint(n_labels, (int(start[-1]),))
    scores[0][5, labels[5]] = 0.0
    exact, inputs = leaves(scores, torch.float64), leaves(on_device(*scores))
    given_scores = [
        score_of(labels[lo:hi], exact[0][lo:hi], *exact[1:])
        for lo, hi in pairwise(start)
    ]
    expected = reference(exact[0], start, *exact[1:]) - torch.stack(given_scores)
    found = chains.log_loss(inputs[0], *on_device(labels, start), *inputs[1:])
    own = found.detach().cpu().double()
    torch.testing.assert_close(own, expected.detach(), rtol=1e-5, atol=1e-4)
    true = gradients(expected.sum(), exact)
    for own, one in zip(gradients(found.sum(), inputs), true, strict=True):
        torch.testing.assert_close(own, one, rtol=1e-5, atol=1e-5)


def far_apart(name):
    """(emissions, transitions) of scores that single precision cannot multiply."""
    g = torch.Generator().manual_seed(3)
    e, steps = torch.randn(40, 9, generator=g), torch.randn(9, 9, generator=g)
    wall = torch.tensor([[0.0, NONE], [NONE, 0.0]])
    if name == "a favourite that leads nowhere":
        e[3, 0] += 200.0
        steps[0, 1:], steps[0, 0] = NONE, -300.0
    elif name == "a dead end":
        e[3, 0] += 120.0
        steps[0] = NONE
    elif name == "behind at first, ahead at last":
        e, steps = torch.zeros(12, 2), wall
        e[:5, 0] = e[5:11, 1] = 20.0
    elif name == "ahead only between both ends":
        e, steps = torch.zeros(42, 2), wall
        e[0, 0] = e[-1, 0] = 200.0
        e[1:-1, 1] = 15.0
    elif name == "all steps far below staying":
        steps = torch.full((9, 9), -1e4).fill_diagonal_(0.0)
        e *= 10.0
    elif name == "one step far above":
        steps[2, 3] = 50.0
    elif name == "ten thousand":
        e, steps = 1e4 * e, 1e4 * steps
    return e, steps


FAR = [
    "a favourite that leads nowhere",
    "a dead end",
    "behind at first, ahead at last",
    "ahead only between both ends",
    "all steps far below staying",
    "one step far above",
    "ten thousand",
]
MANY = [(name, 64) for name in FAR if "ends" in name or "first" in name]


@pytest.mark.parametrize(("name", "more"), [*((x, 0) for x in FAR), *MANY])
def test_scores_far_apart(name, more):
    """Alone with its labels, and among others that are forbidden; with a near example."""
    e, steps = far_apart(name)
    k = e.shape[1]
    emissions = torch.full((len(e) + 3, k + more), NONE)
    emissions[: len(e), :k] = e
    emissions[len(e) :, :k] = 0.0
    transitions = torch.zeros(k + more, k + more)
    transitions[:k, :k] = steps
    start = starts([len(e), 3])
    ends = torch.zeros(k + more), torch.zeros(k + more)
    far = chains.forward(
        *on_device(emissions), None, *on_device(start, transitions, *ends)
    )[-1]
    assert far[0] == 1
    check(start, [emissions, transitions, *ends])


@pytest.mark.parametrize("n_labels", [9, 66])
def test_ordinary_scores_stay_in_probability_space(n_labels):
    start, scores = random_scores([60, 1, 7], n_labels, scale=5.0)
    scores[1][0, 1:] = -1e4  # as many write what they forbid
    scores[1][1, 2] = NONE
    far = chains.forward(*on_device(scores[0]), None, *on_device(start, *scores[1:]))[
        -1
    ]
    assert far.tolist() == [0, 0, 0]
    check(start, scores)


@pytest.mark.parametrize("n_labels", [5, 66])
def test_only_one_labelling_is_possible(n_labels):
    start, scores = random_scores([6, 1], n_labels, scale=1e4)
    y = torch.randint(n_labels, (7,))
    kept = torch.full_like(scores[0], NONE)
    kept[torch.arange(7), y] = scores[0][torch.arange(7), y]
    scores[0] = kept
    found = chains.sums(*on_device(kept, start, *scores[1:]))
    assert torch.equal(
        found.marginals.cpu(), torch.nn.functional.one_hot(y, n_labels).float()
    )
    assert torch.isfinite(found.log_z).all()


def test_nothing_is_possible():
    start, scores = random_scores([3, 2], 4)
    scores[0][1] = NONE
    inputs = leaves(on_device(*scores))
    found = chains.log_z(inputs[0], *on_device(start), *inputs[1:])
    assert found[0] == NONE
    assert torch.isfinite(found[1])
    changes = torch.autograd.grad(found, inputs, torch.ones_like(found))
    assert all(torch.isfinite(x).all() for x in changes)
    assert (changes[0][:3] == 0.0).all()


@pytest.mark.parametrize("n_labels", [1, 3, 70])
def test_batches_without_examples_or_tokens(n_labels):
    for lengths in ([], [0], [0, 0]):
        start, scores = random_scores(lengths, n_labels)
        found = chains.sums(*on_device(scores[0], start, *scores[1:]))
        assert found.log_z.tolist() == [0.0] * len(lengths)
        assert found.marginals.shape == (0, n_labels)
        assert found.pairs.shape == (n_labels, n_labels)
        assert not found.pairs.any()
        assert not found.first.any()


@pytest.mark.parametrize("n_labels", [6, 80])
def test_a_batch_equals_its_examples(n_labels):
    lengths = [5, 0, 1, 9]
    start, scores = random_scores(lengths, n_labels)
    whole = chains.sums(*on_device(scores[0], start, *scores[1:]))
    for b, length in enumerate(lengths):
        part = scores[0][start[b] : start[b + 1]]
        own = chains.sums(*on_device(part, starts([length]), *scores[1:]))
        assert own.log_z == whole.log_z[b]
        assert torch.equal(own.marginals, whole.marginals[start[b] : start[b + 1]])


@pytest.mark.parametrize("n_labels", [6, 80])
def test_half_precision_comes_in_and_single_is_used(n_labels):
    start, scores = random_scores([4, 7], n_labels)
    half = [scores[0].bfloat16(), *scores[1:]]
    inputs = leaves(on_device(scores[0].bfloat16().float(), *scores[1:]))
    expected = chains.log_z(inputs[0], *on_device(start), *inputs[1:])
    own = [x.requires_grad_() for x in on_device(*half)]
    found = chains.log_z(own[0], *on_device(start), *own[1:])
    assert torch.equal(found, expected)
    change = torch.autograd.grad(found.sum(), own[0])[0]
    assert change.dtype == torch.bfloat16
    exact = torch.autograd.grad(expected.sum(), inputs[0])[0]
    # the interpreter cuts digits off where a GPU rounds
    torch.testing.assert_close(change.float(), exact, rtol=2.0**-7, atol=0.0)


def test_gradients_can_be_asked_for_twice():
    start, scores = random_scores([4, 7], 70)
    inputs = leaves(on_device(*scores))
    found = chains.log_z(inputs[0], *on_device(start), *inputs[1:]).sum()
    once = torch.autograd.grad(found, inputs, retain_graph=True)
    again = torch.autograd.grad(found, inputs)
    assert all(torch.equal(a, b) for a, b in zip(once, again, strict=True))


def test_second_derivatives_are_refused():
    start, scores = random_scores([4], 3)
    inputs = leaves(on_device(*scores))
    found = chains.log_z(inputs[0], *on_device(start), *inputs[1:]).sum()
    change = torch.autograd.grad(found, inputs[0], create_graph=True)[0]
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        change.square().sum().backward()
