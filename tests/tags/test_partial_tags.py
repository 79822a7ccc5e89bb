"""Label sequences of which something is not known: None in y."""

from __future__ import annotations

import gzip
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from partial_cases import check_completion, check_descent, check_likelihood

from maxmargin import HMMTagger, SequenceTagger
from maxmargin.files import data_file
from maxmargin.files.model_file import load, save
from maxmargin.tags.metrics import scores, token_scores

LABELS = "abc"


def sequences(seed, n=12, hide=0.4):
    """Sequences that a chain can learn, their labels, and the labels with gaps."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for length in rng.integers(1, 6, n):
        labels = [LABELS[0]]
        while len(labels) < length:
            step = rng.choice(2, p=[0.3, 0.7])
            labels.append(LABELS[(LABELS.index(labels[-1]) + step) % 3])
        X.append([[f"{z}{rng.integers(3)}", f"n{rng.integers(4)}"] for z in labels])
        y.append(labels)
    gaps = [[None if rng.random() < hide else z for z in row] for row in y]
    gaps[0], gaps[1] = y[0], None
    gaps[2] = list(LABELS)[: len(y[2])] if len(y[2]) < 3 else y[2]
    return X, y, gaps


def labellings(batch, i):
    size = batch.start[i + 1] - batch.start[i]
    labels = range(batch.n_labels)
    outputs = np.array(list(itertools.product(labels, repeat=size)), np.int32)
    wall, n = batch.barrier, batch.n_labels
    good = np.isfinite(wall[n, outputs[:, 0]] + wall[n + 1, outputs[:, -1]])
    good &= np.isfinite(wall[outputs[:, :-1], outputs[:, 1:]]).all(axis=1)
    return outputs[good]


def encoded(seed, **settings):
    X, _, gaps = sequences(seed)
    return SequenceTagger(tol=1e-5, **settings)._encode(X, gaps, None)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), order=st.sampled_from([0, 1, 2]))
def test_completion_is_that_of_enumeration(seed, order):
    found = encoded(seed, order=order)
    w = np.random.default_rng(seed).normal(size=found.n_weights).astype(found.dtype)
    check_completion(found.batch, w, labellings)


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10**6), forbid=st.booleans())
def test_marginal_likelihood_is_that_of_enumeration(seed, forbid):
    forbidden = [("c", "b")] if forbid else None
    X, y, gaps = sequences(seed)
    gaps[2] = y[2]  # what the chain itself makes never has c before b
    found = SequenceTagger(tol=1e-5, forbidden=forbidden)._encode(X, gaps, None)
    w = np.random.default_rng(seed).normal(size=found.n_weights)
    check_likelihood(found.batch, w, labellings)


@pytest.mark.parametrize("seed", range(3))
def test_the_objective_never_rises(seed):
    X, y, gaps = sequences(seed, n=40)
    model = SequenceTagger(tol=1e-3, unlabelled_weight=1.0).fit(X, gaps)
    check_descent(model)
    assert model.score(X, y) > 0.8


def test_all_known_is_the_ordinary_fit():
    X, y, _ = sequences(3, n=40)
    kwargs = dict(tol=1e-3)
    model = SequenceTagger(**kwargs).fit(X, y)
    again = SequenceTagger(unlabelled_weight=5.0, **kwargs)
    again.fit(X, [np.array(row, object) for row in y])
    assert np.array_equal(model._w, again._w)
    assert not hasattr(again, "rounds_")


@pytest.mark.parametrize(
    "objective", ["log", "marginal", "perceptron", "hinge-per-output", "boosting"]
)
def test_other_objectives(objective):
    X, y, gaps = sequences(5, n=40)
    model = SequenceTagger(objective=objective).fit(X, gaps)
    assert model.score(X, y) > 0.8
    assert not hasattr(model, "rounds_")


def test_sparse_weights_with_gaps():
    X, _, gaps = sequences(5, n=40)
    model = SequenceTagger(objective="log", l1=0.3).fit(X, gaps)
    assert (model.coef_ == 0).any()
    assert not model.certificate_.exact


def test_a_hidden_markov_model_with_gaps():
    X, y, gaps = sequences(5, n=40)
    assert HMMTagger().fit(X, gaps).score(X, y) > 0.8


def test_unlabelled_sequences_say_nothing_to_the_likelihood():
    X, y, _ = sequences(1, n=30)
    gaps = [row if i % 2 else None for i, row in enumerate(y)]
    whole = SequenceTagger(objective="log", tol=1e-4, solver="lbfgs")
    known = whole.fit(X, gaps)
    weights = [float(row is not None) for row in gaps]
    alone = SequenceTagger(objective="log", tol=1e-4).fit(X, y, weights)
    np.testing.assert_allclose(known.coef_, alone.coef_, atol=1e-2)


def test_weight_zero_leaves_unlabelled_sequences_out():
    X, y, _ = sequences(1, n=30)
    gaps = [row if i % 2 else None for i, row in enumerate(y)]
    model = SequenceTagger(tol=1e-4, unlabelled_weight=0.0).fit(X, gaps)
    weights = [float(row is not None) for row in gaps]
    alone = SequenceTagger(tol=1e-4).fit(X, y, weights)
    np.testing.assert_allclose(
        model.certificate_.objective, alone.certificate_.primal, rtol=2e-4
    )


def test_files_and_fits_after_one_with_gaps(tmp_path):
    X, y, gaps = sequences(2, n=20)
    model = SequenceTagger().fit(X, gaps)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.certificate_ == model.certificate_
    assert again.rounds_ == model.rounds_
    model.fit(X, y)
    assert not hasattr(model, "rounds_")
    assert model.certificate_.dual > 0


def test_completion_of_whole_sequences():
    X, y, _ = sequences(2, n=20)
    model = SequenceTagger(C=10).fit(X, y)
    assert model.complete(X, [None] * len(X)) == model.predict(X)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([None, None], "no known label"),
        ([[None, None], None], "no known label"),
        ([["a", None], None], "one label only"),
        ([["a", 1], None], "y\\[0\\] holds 1"),
        ([["a", "b", None], None], "sequence 0 has 2 tokens"),
        ([["a", "b"], 3], "y\\[1\\] is 3"),
    ],
)
def test_bad_input(y, message):
    X = [[["x"], ["y"]], [["x"]]]
    with pytest.raises(ValueError, match=message):
        SequenceTagger().fit(X, y)


@pytest.mark.parametrize("weight", [-1, np.nan, np.inf, "a", True, None])
def test_bad_weights_of_unlabelled_sequences(weight):
    with pytest.raises(ValueError, match="unlabelled_weight="):
        SequenceTagger(unlabelled_weight=weight).fit([[["x"], ["y"]]], [["a", "b"]])


def test_known_labels_that_no_allowed_sequence_has():
    X = [[["x"], ["y"], ["x"]], [["x"], ["y"]]]
    tagger = SequenceTagger(forbidden=[("a", "a"), ("a", "b")])
    with pytest.raises(ValueError, match=r"y\[0\] goes from 'a' to '.' at token 1"):
        tagger.fit(X, [["a", None, "a"], ["b", "a"]])


def test_the_truth_of_a_test_must_be_known():
    X, y, _ = sequences(2, n=20)
    model = SequenceTagger(C=10).fit(X, y)
    found, gaps = model.predict(X), [y[0], [None, *y[1][1:]], *y[2:]]
    says = r"\[1\] has None, a label that is not known, .* leave such sequences out"
    for use in (model.score, model.evaluate, model.report):
        with pytest.raises(ValueError, match=says):
            use(X, gaps)
    with pytest.raises(ValueError, match=says):
        model.evaluate(X, gaps, predicted=found)
    with pytest.raises(ValueError, match=says):
        model.report(X, [y[0], None, *y[2:]])
    for count in (scores, token_scores):
        with pytest.raises(ValueError, match="truth" + says):
            count(gaps, found)


def test_solvers_that_cannot():
    X, _, gaps = sequences(2)
    with pytest.raises(ValueError, match=r"exponentiated.*not known"):
        SequenceTagger(objective="log", solver="exponentiated").fit(X, gaps)
    with pytest.raises(ValueError, match="hard margin"):
        SequenceTagger(C=np.inf).fit(X, gaps)


def chunks(part, n):
    try:
        path = data_file(f"conll2000/{part}.txt.gz")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    with gzip.open(path, "rt", encoding="utf-8") as file:
        blocks = file.read().split("\n\n")[:n]
    rows = [[line.split() for line in block.splitlines()] for block in blocks]
    X = [[[word, tag] for word, tag, _ in sentence] for sentence in rows]
    return X, [[chunk for _, _, chunk in sentence] for sentence in rows]


def test_half_of_the_labels_are_better_than_the_sentences_that_have_all():
    """Chunks of real sentences, every label hidden with probability 1/2."""
    X, y = chunks("train", 150)
    rng = np.random.default_rng(0)
    gaps = [[z if rng.random() < 0.5 else None for z in row] for row in y]
    gaps[:10] = y[:10]
    test = chunks("test", 150)
    kwargs = dict(features="chunking", C=1.0)
    for objective in ("hinge", "log"):
        model = SequenceTagger(objective=objective, **kwargs).fit(X, gaps)
        few = SequenceTagger(objective=objective, **kwargs).fit(X[:10], y[:10])
        assert model.score(*test) > few.score(*test) + 0.05
