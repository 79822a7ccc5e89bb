"""The best labelling and the k best ones of chains by the kernels."""

from itertools import pairwise

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from triton_cases import (
    NONE,
    QUIET,
    chains,
    enumerated,
    on_device,
    ragged,
    random_scores,
    score_of,
    torch,
)

pytestmark = QUIET


def examples(start, scores):
    """(first token, one past the last, exact scores of all labellings, labellings)."""
    exact = [x.double() for x in scores]
    for lo, hi in zip(start[:-1].tolist(), start[1:].tolist(), strict=True):
        outputs = enumerated(hi - lo, scores[0].shape[1])
        values = [score_of(y, exact[0][lo:hi], *exact[1:]) for y in outputs]
        yield lo, hi, torch.stack(values), outputs


@settings(max_examples=20)
@given(ragged(n_labels=st.integers(1, 3), longest=4))
def test_best_labellings(case):
    start, scores = case
    labels, found = chains.viterbi(*on_device(scores[0], start, *scores[1:]))
    assert labels.dtype == torch.int32
    for b, (lo, hi, values, _) in enumerate(examples(start, scores)):
        own = labels[lo:hi].cpu().long()
        score = score_of(
            own, scores[0][lo:hi].double(), *[x.double() for x in scores[1:]]
        )
        close = {"rtol": 1e-6, "atol": 1e-5}
        torch.testing.assert_close(score, values.max(), **close)
        torch.testing.assert_close(found[b].cpu().double(), values.max(), **close)


@settings(max_examples=15)
@given(ragged(n_labels=st.integers(1, 3), longest=3), st.integers(1, 6))
def test_k_best_labellings(case, k):
    start, scores = case
    labels, found = chains.k_best(*on_device(scores[0], start, *scores[1:]), k)
    assert labels.shape == (int(start[-1]), k)
    assert found.shape == (len(start) - 1, k)
    exact = [x.double() for x in scores]
    for b, (lo, hi, values, _) in enumerate(examples(start, scores)):
        best = values[values > NONE].sort(descending=True).values[:k]
        own = found[b].cpu().double()
        torch.testing.assert_close(own[: len(best)], best, rtol=1e-6, atol=1e-4)
        assert (own[len(best) :] == NONE).all()
        some = labels[lo:hi].cpu().long()
        assert (some[:, len(best) :] == -1).all()
        for r in range(len(best)):
            score = score_of(some[:, r], exact[0][lo:hi], *exact[1:])
            torch.testing.assert_close(score, own[r], rtol=1e-6, atol=1e-4)
        if hi > lo:
            columns = {tuple(y.tolist()) for y in some.T[: len(best)]}
            assert len(columns) == len(best)  # no labelling twice


def textbook(emissions, transitions, first, last):
    """(labels, score) of one example in double precision."""
    e, steps = emissions.double(), transitions.double()
    v, back = first.double() + e[0], []
    for t in range(1, len(e)):
        best, i = (v[:, None] + steps).max(0)
        v = best + e[t]
        back.append(i)
    best, y = (v + last.double()).max(0)
    labels = [y]
    for i in reversed(back):
        labels.append(i[labels[-1]])
    return torch.stack(labels[::-1]), best


@pytest.mark.parametrize("n_labels", [9, 64, 100, 300])
def test_many_labels_and_long_sequences(n_labels):
    lengths = [20, 1, 35] if n_labels < 128 else [3, 1, 2]
    start, scores = random_scores(lengths, n_labels, scale=3.0)
    arguments = on_device(scores[0], start, *scores[1:])
    labels, found = chains.viterbi(*arguments)
    some, ranked = chains.k_best(*arguments, 2)
    for b, (lo, hi) in enumerate(pairwise(start)):
        y, best = textbook(scores[0][lo:hi], *scores[1:])
        assert labels[lo:hi].tolist() == y.tolist()
        assert some[lo:hi, 0].tolist() == y.tolist()
        torch.testing.assert_close(found[b].cpu().double(), best, rtol=1e-6, atol=1e-4)
        torch.testing.assert_close(ranked[b, 0], found[b], rtol=1e-6, atol=1e-4)
        assert (ranked[b].diff() <= 0).all()


def test_scores_of_long_sequences_keep_their_digits():
    """Sums are brought back to zero on the way: small differences still decide."""
    start, scores = random_scores([300], 3, scale=0.01)
    scores[0] += 100.0
    labels, found = chains.viterbi(*on_device(scores[0], start, *scores[1:]))
    _, best = textbook(scores[0], *scores[1:])
    own = score_of(labels.cpu().long(), *[x.double() for x in scores])
    assert best - own < 1e-4
    torch.testing.assert_close(found[0].cpu().double(), best, rtol=1e-7, atol=0.0)


def test_the_first_of_equal_labels():
    start, scores = random_scores([5, 2], 4, scale=0.0)
    arguments = on_device(scores[0], start, *scores[1:])
    assert not chains.viterbi(*arguments)[0].any()
    assert not chains.k_best(*arguments, 2)[0][:, 0].any()


def test_nothing_is_possible():
    start, scores = random_scores([3, 2], 4)
    scores[0][1] = NONE
    arguments = on_device(scores[0], start, *scores[1:])
    labels, found = chains.viterbi(*arguments)
    assert found[0] == NONE
    assert torch.isfinite(found[1])
    assert ((labels >= 0) & (labels < 4)).all()
    some, ranked = chains.k_best(*arguments, 2)
    assert (ranked[0] == NONE).all()
    assert (some[:3] == -1).all()
    assert (some[3:] >= 0).all()


@pytest.mark.parametrize("lengths", [[], [0], [0, 0]])
def test_batches_without_examples_or_tokens(lengths):
    start, scores = random_scores(lengths, 3)
    arguments = on_device(scores[0], start, *scores[1:])
    labels, found = chains.viterbi(*arguments)
    assert labels.tolist() == []
    assert found.tolist() == [0.0] * len(lengths)
    some, ranked = chains.k_best(*arguments, 2)
    assert some.shape == (0, 2)
    assert ranked.tolist() == [[0.0, NONE]] * len(lengths)
