"""Sums over binary trees by the kernels."""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from triton_cases import DEVICE, NONE, QUIET, charts, on_device, torch

pytestmark = QUIET


def random_trees(lengths, parents, symbols, scale=1.0, spans=True, seed=0):
    """words, spans, rules, roots in single precision, and lengths."""
    g = torch.Generator().manual_seed(seed)
    b, n = len(lengths), max(lengths, default=0)
    shapes = [(b, n, symbols), (b, n, n + 1, parents), (parents, symbols, symbols)]
    scores = [scale * torch.randn(s, generator=g) for s in [*shapes, (parents,)]]
    if not spans:
        scores[1] = None
    return scores, torch.tensor(lengths, dtype=torch.int64)


def reference(words, spans, rules, roots, lengths):
    """log Z of each example, cell by cell, in the precision of its scores."""
    words, rules, roots = (x.clamp_min(-1e7) for x in (words, rules, roots))
    found, more = [], words.shape[2] - len(roots)
    for b, n in enumerate(lengths.tolist()):
        chart = {(i, i + 1): words[b, i] for i in range(n)}
        for width in range(2, n + 1):
            for i in range(n - width + 1):
                j = i + width
                splits = [
                    chart[i, m][:, None] + chart[m, j][None, :] for m in range(i + 1, j)
                ]
                x = torch.logsumexp(torch.stack(splits), 0)
                y = torch.logsumexp((rules + x).flatten(1), 1)
                if spans is not None:
                    y = y + spans[b, i, j].clamp_min(-1e7)
                chart[i, j] = torch.cat([y, y.new_full((more,), -1e7)])
        if n == 0:
            found.append(words.sum() * 0.0)
        else:
            found.append(torch.logsumexp(chart[0, n][: len(roots)] + roots, 0))
    found = torch.stack(found)
    return torch.where(found > -5e6, found, NONE)


def trees(lo, hi, symbols, rules, words, spans):
    """(symbol at the top, score) of every tree over words lo to hi of one example."""
    if hi - lo == 1:
        yield from ((s, float(words[lo, s])) for s in range(symbols))
        return
    for m in range(lo + 1, hi):
        for left, x in trees(lo, m, symbols, rules, words, spans):
            for right, y in trees(m, hi, symbols, rules, words, spans):
                for a in range(len(rules)):
                    more = float(rules[a, left, right] + spans[lo, hi, a])
                    yield a, x + y + more


def check(scores, lengths, scale=1.0):
    """log Z and gradients; in log space, digits of large scores are lost."""
    exact = [None if x is None else x.double().requires_grad_() for x in scores]
    own = [None if x is None else x.clone().to(DEVICE).requires_grad_() for x in scores]
    expected = reference(*exact, lengths)
    found = charts.log_z(*own, *on_device(lengths))
    torch.testing.assert_close(
        found.detach().cpu().double(), expected.detach(), rtol=1e-5, atol=1e-5
    )
    possible = expected.detach() > NONE
    weights = torch.linspace(-1.0, 2.0, len(lengths))[possible]
    total = (expected[possible] * weights).sum()
    loss = (found[possible.to(DEVICE)] * weights.to(DEVICE)).sum()
    inputs, truths = [[x for x in xs if x is not None] for xs in (own, exact)]
    changes = torch.autograd.grad(loss, inputs, materialize_grads=True)
    true = torch.autograd.grad(total, truths, materialize_grads=True)
    for a, b in zip(changes, true, strict=True):
        allowed = 1e-5 * max(1.0, 0.1 * scale)
        torch.testing.assert_close(a.cpu().double(), b, rtol=allowed, atol=allowed)


@settings(max_examples=8)
@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=3),
    st.integers(1, 3),
    st.integers(0, 2),
    st.sampled_from([0.3, 3.0, 100.0]),
    st.booleans(),
    st.sampled_from([0.0, 0.2]),
    st.integers(0, 10**6),
)
def test_small_batches(lengths, parents, more, scale, spans, share, seed):
    scores, lengths = random_trees(lengths, parents, parents + more, scale, spans, seed)
    g = torch.Generator().manual_seed(seed)
    for x in scores:
        if x is not None:
            x[torch.rand(x.shape, generator=g) < share] = NONE
    check(scores, lengths, scale)


def test_enumeration():
    scores, lengths = random_trees([4, 2, 1], 2, 3)
    words, spans, rules, roots = scores
    found = charts.log_z(*on_device(*scores, lengths)).cpu()
    for b, n in enumerate(lengths.tolist()):
        every = trees(0, n, 3, rules, words[b], spans[b])
        values = [x + float(roots[a]) for a, x in every if a < 2]
        expected = torch.logsumexp(torch.tensor(values), 0)
        torch.testing.assert_close(found[b], expected, rtol=1e-5, atol=1e-5)


def test_more_symbols_than_a_small_table():
    check(*random_trees([4, 3], 20, 33))


def test_a_long_sentence_keeps_its_digits():
    check(*random_trees([9], 3, 5, scale=30.0), scale=30.0)


def test_scores_of_ten_thousand():
    scores, lengths = random_trees([5, 4], 3, 4, scale=1e4)
    check(scores, lengths, scale=1e4)


def test_expected_parts_count():
    """A tree over n words has n of them, n - 1 rules and one root."""
    scores, lengths = random_trees([5, 0, 1, 3], 3, 4)
    result, words, spans, rules, roots = charts.sums(*on_device(*scores, lengths))
    words = words.sum((1, 2)).cpu()
    torch.testing.assert_close(words, lengths.float(), rtol=1e-5, atol=1e-5)
    inner = (lengths - 1).clamp_min(0).float()
    spans = spans.sum((1, 2, 3)).cpu()
    torch.testing.assert_close(spans, inner, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(rules.sum().cpu(), inner.sum(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(roots.sum().cpu(), torch.tensor(3.0))
    assert result[1] == 0.0


def test_nothing_is_possible():
    scores, lengths = random_trees([3, 2], 2, 3)
    scores[0][0, 1] = NONE
    given_scores = [x.requires_grad_() for x in on_device(*scores)]
    found = charts.log_z(*given_scores, *on_device(lengths))
    assert found[0] == NONE
    assert torch.isfinite(found[1])
    changes = torch.autograd.grad(found, given_scores, torch.ones_like(found))
    assert all(torch.isfinite(x).all() for x in changes)
    assert not changes[0][0].any()


def test_too_many_symbols_are_refused():
    scores, lengths = random_trees([2], 2, charts.MOST + 1)
    with pytest.raises(ValueError, match="at most 128 symbols, and there are 129"):
        charts.log_z(*scores, lengths)


@pytest.mark.parametrize("lengths", [[], [0], [0, 0]])
def test_batches_without_words(lengths):
    scores, lengths = random_trees(lengths, 2, 3)
    found = charts.sums(*on_device(*scores, lengths))
    assert found[0].tolist() == [0.0] * len(lengths)
    assert not found[3].any()
    assert not found[4].any()


def test_the_operator_is_registered_rightly():
    tests = "test_schema", "test_autograd_registration", "test_faketensor"
    for spans in (True, False):
        scores, lengths = random_trees([3, 1], 2, 3, spans=spans)
        scores = [x if x is None else x.to(DEVICE).requires_grad_() for x in scores]
        arguments = (*scores, *on_device(lengths))
        torch.library.opcheck(charts.chart_value, arguments, test_utils=tests)
