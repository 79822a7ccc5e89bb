"""Pieces of batches: every function says of an example what it says in the whole."""

import pickle

import numpy as np
import pytest
from cutting_cases import CASES, some_weights

from maxmargin.core import contract
from maxmargin.core.asker import Asker
from maxmargin.core.cutting import cut, owned
from maxmargin.core.formulation import make_form
from maxmargin.core.kernel import implemented, interpreted


def answers(batch, i, w):
    """What the contract says of example i, bit for bit."""
    ask = Asker(batch, i, w, compiled=False)
    truth = np.asarray(batch.y[batch.start[i] : batch.start[i + 1]])
    inside = ask.inside.ravel() > 0
    yield "truth", truth
    yield "score", ask.theta.ravel()[inside]
    if implemented(contract.argmax, type(batch)):
        for scale in (0.0, 1.0):
            y = ask.argmax(scale)
            yield f"argmax {scale}", y
            yield "shortfall", contract.shortfall(batch, i)
            yield "loss", ask.loss(y)
            yield "value", ask.value(y)
            yield "margin", ask.margin(y)
            yield "features", ask.features(y)
            yield "difference", ask.difference(y, 1.0, truth, 0.5)
        form = make_form("slack", "linear", 1e-3)
        yield (
            "most violated",
            np.concatenate([np.ravel(x) for x in ask.most_violated(form)]),
        )
    yield "features of the truth", ask.features(truth)
    yield "least loss", contract.least_loss(batch)
    y = truth.copy()
    interpreted(contract.complete)(batch, i, ask.theta.copy(), y)
    yield "completion", y
    if len(truth) and contract.probabilistic(batch):
        z, mu = ask.sums()
        yield "sums", z
        yield "mu", mu.ravel()[inside]
        yield "spread", ask.spread(mu)
        if implemented(contract.parts, type(batch)):
            yield "parts", ask.parts(truth).ravel()[inside]


def check_piece(batch, n_weights, lo, hi, seed=0):
    whole, base = owned(batch), owned(batch)  # searches may remember
    piece = cut(base, lo, hi)
    assert type(piece) is type(batch)
    assert len(piece.start) == hi - lo + 1
    w = some_weights(n_weights, seed)
    alone = pickle.loads(pickle.dumps(owned(piece)))
    for i in range(hi - lo):
        expected = list(answers(whole, lo + i, w))
        for here in (piece, alone):
            for (name, wanted), (_, found) in zip(
                expected, answers(here, i, w), strict=True
            ):
                np.testing.assert_array_equal(found, wanted, f"{name} of {i}")


@pytest.mark.parametrize("name", sorted(CASES))
def test_pieces_answer_as_the_whole_does(name):
    batch, n_weights = CASES[name]()
    n = len(batch.start) - 1
    assert n >= 3
    for lo, hi in ((0, n), (1, n), (1, n - 1), (n - 1, n), (2, 2), (0, 2)):
        check_piece(batch, n_weights, lo, hi)
