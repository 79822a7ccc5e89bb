"""Pieces of batches: every function says of an example what it says in the whole."""

import copy
import pickle
from itertools import pairwise
from operator import attrgetter
from typing import NamedTuple

import numpy as np
import pytest
from conftest import random_chain, random_multiclass
from cutting_cases import CASES, batch_classes, some_weights
from hypothesis import given
from hypothesis import strategies as st
from watch_cases import Bump, bumps

from maxmargin import LatentStructuralSVM, Problem, StructuralSVM
from maxmargin.core import contract
from maxmargin.core.cutting import (
    _can_join,
    can_cut,
    cut,
    cut_by,
    deal,
    edges,
    owned,
    pieces,
)
from maxmargin.core.formulation import make_form
from maxmargin.core.kernel import implemented, implements, interpreted
from maxmargin.core.partial import is_partial
from maxmargin.core.pieces.sharded import InMemory
from maxmargin.core.problems.asker import Asker
from maxmargin.engine.threads import over_ranges


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
        y = truth.copy()
        interpreted(contract.complete)(batch, i, ask.theta.copy(), y)
        yield "completion", y
    yield "features of the truth", ask.features(truth)
    yield "least loss", contract.least_loss(batch)
    if len(truth) and contract.probabilistic(batch):
        z, mu = ask.sums()
        yield "sums", z
        yield "mu", mu.ravel()[inside]
        yield "spread", ask.spread(mu)
        yield "parts", ask.parts(truth).ravel()[inside]
        if is_partial(batch):
            mu, work = np.zeros(ask.theta.shape), np.zeros(contract.sums_room(batch))
            theta = ask.theta.copy()
            yield "known sums", contract.known_sums(batch, i, theta, mu, work)


def check_piece(batch, n_weights, lo, hi, seed=0):
    piece = cut(copy.deepcopy(batch), lo, hi)  # searches may remember
    check_examples(batch, n_weights, piece, range(lo, hi), seed)


def check_examples(batch, n_weights, piece, examples, seed=0):
    """The piece has these examples of the batch, in their order."""
    whole = copy.deepcopy(batch)
    assert type(piece) is type(batch)
    assert len(piece.start) == len(examples) + 1
    w = some_weights(n_weights, seed)
    alone = pickle.loads(pickle.dumps(owned(piece)))
    for i, example in enumerate(examples):
        expected = list(answers(whole, example, w))
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


@pytest.mark.parametrize("name", sorted(CASES))
def test_pieces_that_are_dealt_answer_as_the_whole_does(name):
    batch, n_weights = CASES[name]()
    n = len(batch.start) - 1
    dealt = deal(copy.deepcopy(batch), 2)
    assert len(dealt) == 2
    for piece, examples in dealt:
        check_examples(batch, n_weights, piece, examples.tolist())
    everyone = np.concatenate([examples for _, examples in dealt])
    assert sorted(everyone.tolist()) == list(range(n))
    consecutive = name.startswith("alignments")
    assert _can_join(batch) != consecutive, "fields cut by functions stay together"


@given(st.lists(st.integers(0, 4), min_size=2, max_size=80), st.integers(1, 9))
def test_dealt_pieces_have_equal_numbers_of_slots(lengths, shards):
    batch, _ = random_chain(0, tuple(lengths))
    dealt = deal(batch, shards)
    assert 1 <= len(dealt) <= shards
    everyone = np.concatenate([examples for _, examples in dealt])
    assert sorted(everyone.tolist()) == list(range(len(lengths)))
    for (piece, examples), (_, again) in zip(dealt, deal(batch, shards), strict=True):
        assert examples.tolist() == sorted(examples.tolist()) == again.tolist()
        assert np.diff(piece.start).tolist() == [lengths[i] for i in examples]
        assert len(piece.y) <= sum(lengths) / shards + 2 * max(lengths)


@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64])
def test_dealt_offsets_keep_their_type(dtype):
    start = np.array([0, 2, 3, 6, 8], dtype)
    batch = Thresholds(start, np.zeros(8, np.int32), np.arange(8.0), longest=3)
    for piece, examples in deal(batch, 2):
        assert piece.start.dtype == dtype
        parts = [batch.x[start[i] : start[i + 1]] for i in examples]
        assert piece.x.tolist() == np.concatenate(parts).tolist()


def test_neighbours_stay_together_and_pieces_are_from_everywhere():
    batch, _ = random_multiclass(0, n=6400)
    for piece, examples in deal(batch, 2):
        jumps = np.diff(examples) > 1
        assert 50 < jumps.sum() < len(examples) / 16
        assert abs(examples.mean() - 3200) < 400
        assert len(piece.y) == pytest.approx(3200, abs=16)


def test_every_class_of_batches_has_a_case():
    made = {type(make()[0]) for make in CASES.values()}
    missing = {cls.__name__ for cls in batch_classes() - made}
    assert not missing, f"say how to cut {missing}, and give cases"


def test_pieces_are_views_and_share_what_belongs_to_all():
    batch, _ = random_chain(0, (3, 1, 4, 2))
    piece = cut(batch, 1, 3)
    assert np.shares_memory(piece.values, batch.values)
    assert np.shares_memory(piece.y, batch.y)
    assert piece.cost is batch.cost
    assert (piece.longest, piece.widest) == (batch.longest, batch.widest)
    assert piece.start.tolist() == [0, 1, 5]
    again = cut(piece, 1, 2)
    assert again.y.tolist() == batch.y[4:8].tolist()


@pytest.mark.parametrize("name", ["graphs, relaxed", "graphs, cut"])
def test_what_searches_write_is_seen_in_the_whole(name):
    batch, n = CASES[name]()
    piece = cut(batch, 2, 4)
    Asker(piece, 0, some_weights(n), compiled=False).argmax(1.0)
    piece.short[0] = 0.25
    assert batch.short[2] == 0.25


def test_a_piece_travels_without_the_whole():
    big, _ = random_multiclass(0, n=4000)
    assert len(pickle.dumps(InMemory(cut(big, 7, 8)))) < 0.02 * len(pickle.dumps(big))


def test_a_shard_is_sent_without_the_tables_of_others():
    batch, _ = CASES["alignments"]()
    piece = cut(batch, 0, 1)
    sent = pickle.loads(pickle.dumps(InMemory(piece))).load()
    assert len(sent.s.codes) < len(piece.s.codes)


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("graphs, elimination", "graphs.nodes.values"),
        ("graphs, elimination partial", "graphs.nodes.values"),
        ("graphs, elimination", "search.order"),
        ("alignments", "s.codes"),
        ("alignments partial", "t.codes"),
        ("homologs", "letters"),
    ],
)
def test_of_shared_tables_a_piece_takes_what_it_needs(name, field):
    batch, _ = CASES[name]()
    get = attrgetter(field)
    n, size = len(batch.start) - 1, len(get(batch))
    sizes = [len(get(owned(cut(batch, i, i + 1)))) for i in range(n)]
    assert len(get(owned(cut(batch, 0, 0)))) == 0
    assert max(sizes) < size <= sum(sizes)


def test_pieces_have_equal_slots_whatever_the_threads():
    batch, _ = random_chain(3, (5, 1, 1, 1, 9, 0, 2, 2, 7, 3))
    for shards in (1, 2, 3, 5, 40):
        bounds = edges(batch, shards)
        ranges = over_ranges(lambda lo, hi: (lo, hi), batch.start, 1, shards)
        assert list(pairwise(bounds)) == ranges
        assert sum(len(p.start) - 1 for p in pieces(batch, shards)) == 10
    assert edges(batch, 3) == [0, 5, 8, 10]


def test_ranges_that_are_none():
    batch, _ = random_chain(0)
    for lo, hi in ((-1, 2), (2, 1), (0, 4)):
        with pytest.raises(ValueError, match="are not among the 3 of the batch"):
            cut(batch, lo, hi)
    with pytest.raises(ValueError, match="does not say how a field is cut"):
        cut_by(y="start -1")


# batches of users -----------------------------------------------------------------------


class Bare(NamedTuple):
    start: np.ndarray
    y: np.ndarray
    x: np.ndarray


class Thresholds(NamedTuple):
    """Scores of one number each; y says which are above."""

    cuts = cut_by(start="example", y="start", x="start")

    start: np.ndarray
    y: np.ndarray
    x: np.ndarray
    longest: int


@implements(contract.shape, Thresholds)
def shape(batch):
    return 1, batch.longest


@implements(contract.capacity, Thresholds)
def capacity(batch):
    return 2


@implements(contract.score, Thresholds)
def score(batch, i, w, theta):
    for t in range(batch.start[i + 1] - batch.start[i]):
        theta[0, t] = w[0] * batch.x[batch.start[i] + t] + w[1]


@implements(contract.value, Thresholds)
def value(batch, i, theta, y):
    return float((theta[0, : len(y)] * y).sum())


@implements(contract.loss, Thresholds)
def loss(batch, i, y):
    return float((batch.y[batch.start[i] : batch.start[i + 1]] != y).sum())


@implements(contract.argmax, Thresholds)
def argmax(batch, i, theta, scale, y):
    for t in range(len(y)):
        true = batch.y[batch.start[i] + t]
        y[t] = theta[0, t] + scale * (1 - 2 * true) > 0


@implements(contract.emit, Thresholds)
def emit(batch, i, y, coefficient, index, values, m):
    x = batch.x[batch.start[i] : batch.start[i + 1]]
    index[m], values[m] = 0, coefficient * (x * y).sum()
    index[m + 1], values[m + 1] = 1, coefficient * y.sum()
    return m + 2


def test_a_users_structure_says_how_it_is_cut():
    fields = np.array([0, 2, 3, 6]), np.arange(6, dtype=np.int32) % 2, np.arange(6.0)
    batch, bare = Thresholds(*fields, longest=3), Bare(*fields)
    check_piece(batch, 2, 1, 3)
    assert can_cut(batch)
    assert not can_cut(bare)
    with pytest.raises(TypeError, match="Bare does not say how it is cut into pieces"):
        cut(bare, 0, 1)


class Sign(Problem):
    def joint_feature(self, x, y):
        return 0.5 * y * x

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def argmax(self, x, w):
        return 1 if w @ x >= 0 else -1

    def loss_augmented_argmax(self, x, y, w):
        if x[0] > 9:
            raise RuntimeError("no search here")
        return max((1, -1), key=lambda z: w @ x * z / 2 + (z != y))


class SparseVector(Sign):
    def outputs(self, x):
        return [1, -1]


@pytest.mark.parametrize("problem", [Sign(), SparseVector()])
def test_pieces_of_a_python_problem(problem):
    X = list(np.random.default_rng(0).normal(size=(5, 2)))
    X[3] = np.array([10.0, 1.0])
    y = [1, -1, 1, 1, -1]
    batch = StructuralSVM(problem)._encode(X, y, None).batch
    assert can_cut(batch)
    w = np.array([0.3, -0.2])

    def asked(batch, i, scale):
        """(output, loss, score) of a search."""
        found, theta = np.zeros(1, np.int32), np.zeros((1, 1))
        batch.score(i, w, theta)
        batch.argmax(i, theta, scale, found)
        score = batch.value(i, theta, found)
        return batch.known[i][found[0]].output, batch.loss(i, found), score

    piece = cut(batch, 1, 4)
    travelled = pickle.loads(pickle.dumps(owned(piece)))
    for here in (piece, travelled):
        assert here.start.tolist() == [0, 1, 2, 3]
        for i in range(2):
            for scale in (0.0, 1.0):
                assert asked(here, i, scale) == asked(batch, 1 + i, scale)
    if not batch.listed:
        with pytest.raises(ValueError, match="for sample 3 raised RuntimeError"):
            asked(piece, 2, 1.0)


def test_pieces_of_a_problem_with_hidden_parts():
    X, y = bumps(8)
    batch = LatentStructuralSVM(Bump())._encode(X, y, None).batch
    piece, w = cut(batch, 3, 7), some_weights(4)
    assert piece.complete_all(w) == batch.complete_all(w)[3:7]
    assert [known[0].output for known in piece.known] == batch.Y[3:7]
