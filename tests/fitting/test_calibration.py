"""Calibration: on data from models that are known, what is said comes true as often."""

import pickle

import numpy as np
import pandas as pd
import pytest
from held_out_cases import assert_less_is_sure
from report_cases import cases, fitted, unfitted
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from maxmargin import (
    GrammarParser,
    KernelSVM,
    MulticlassSVM,
    SequenceTagger,
    Tree,
    load,
    save,
)
from maxmargin.core.saved import Saved
from maxmargin.fitting.calibration import plain, ranked_margins, restored, top_two
from maxmargin.metrics.calibration import reliability

RNG = np.random.default_rng(0)
W = RNG.normal(size=(4, 3))


def drawn(n: int, seed: int):
    """Vectors, and classes drawn with the probabilities softmax(x W)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    p = np.exp(X @ W)
    p /= p.sum(axis=1, keepdims=True)
    return X, (p.cumsum(axis=1) < rng.random((n, 1))).sum(axis=1)


def chains(n: int, seed: int, width: float = 1.0):
    """Sequences of a Markov chain of two labels, seen through noise of this width."""
    rng = np.random.default_rng(seed)
    y = np.zeros((n, 8), int)
    y[:, 0] = rng.random(n) < 0.5
    for t in range(1, 8):
        y[:, t] = np.where(rng.random(n) < 0.2, 1 - y[:, t - 1], y[:, t - 1])
    X = np.stack([y, np.ones_like(y)], axis=2) + 0.0
    X[:, :, 0] += rng.normal(0, width, y.shape)
    return list(X), y.tolist()


TRAIN, HELD, TEST = drawn(400, 1), drawn(1500, 2), drawn(5000, 3)


def nll(p, y):
    return -np.log(p[np.arange(len(y)), y]).mean()


def ece(p, y):
    return reliability(p.max(axis=1), p.argmax(axis=1) == y).error


def softmax(scores):
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def model():
    return MulticlassSVM(C=1, tol=1e-3).fit(*TRAIN).calibrate(*HELD)


def test_probabilities_of_classes_are_right_as_often_as_they_say(model):
    X, y = TEST
    before, after = softmax(model.decision_function(X)), model.predict_proba(X)
    assert ece(after, y) < 0.03 < ece(before, y)
    best = nll(softmax(X @ W), y)  # of the model that drew them
    assert best < nll(after, y) < best + 0.02
    assert nll(after, y) < nll(before, y) - 0.005
    found = model.calibration_
    assert found.error < found.error_before
    assert found.loss < found.loss_before
    assert found.n == len(HELD[1])


@pytest.mark.parametrize("factor", [1e-9, 0.001, 0.3, 1.0, 50.0, 6e4, 4e8])
def test_the_temperature_undoes_what_scores_were_multiplied_with(factor):
    known = MulticlassSVM(C=1).fit(*TRAIN)
    known.coef_, known.intercept_ = factor * W.T, np.zeros(3)
    known.calibrate(*TEST)
    assert known.calibration_.temperature == pytest.approx(factor, rel=0.1)
    # the least of the loss, to what the search promises
    X, y = TEST
    found = [nll(softmax(X @ W * f), y) for f in np.geomspace(0.8, 1.25, 30)]
    assert nll(known.predict_proba(X), y) < min(found) + 1e-4
    scores = factor * (X @ W)  # the loss of which is told, whatever their size
    at = scores.max(axis=1), scores[np.arange(len(y)), y]
    assert known.calibration_.loss_before >= np.mean(at[0] - at[1])


@pytest.mark.filterwarnings("ignore:Only")
def test_sequences_of_large_scores_are_calibrated():
    X, y = chains(60, 1)
    tagger = SequenceTagger(C=1, tol=0.01).fit(X, y).calibrate(*chains(200, 2))
    T, p = tagger.calibration_.temperature, tagger.predict_marginals(X)
    tagger._w *= 2.0**20
    tagger.calibrate(*chains(200, 2))
    assert tagger.calibration_.temperature == pytest.approx(2.0**20 * T, rel=0.02)
    for a, b in zip(p, tagger.predict_marginals(X), strict=True):
        np.testing.assert_allclose(a, b, atol=0.01)


def test_where_nothing_is_right_the_end_of_the_range_is_said():
    X, y = HELD
    model = MulticlassSVM(C=1).fit(*TRAIN)
    wrong = (model.predict(X) + 1) % 3
    with pytest.warns(UserWarning, match="at the end of the range"):
        model.calibrate(X, wrong)
    assert np.isfinite(model.predict_proba(X)).all()
    model.coef_, model.intercept_ = 0 * model.coef_, 0 * model.intercept_
    assert model.calibrate(X, y).calibration_.temperature == pytest.approx(1, rel=4)


@pytest.mark.parametrize(("C", "gain"), [(0.001, 0.02), (0.01, 0.005), (1, 0.0)])
def test_labels_of_sequences_are_right_as_often_as_is_said(C, gain):
    tagger = SequenceTagger(C=C, tol=0.01).fit(*chains(60, 1))
    X, y = chains(500, 3)
    before, predicted = np.concatenate(tagger.predict_marginals(X)), tagger.predict(X)
    tagger.calibrate(*chains(300, 2))
    after, truth = np.concatenate(tagger.predict_marginals(X)), np.concatenate(y)
    assert tagger.predict(X) == predicted
    assert ece(after, truth) < 0.03
    assert nll(after, truth) < nll(before, truth) - gain
    if gain:  # else margins happened to be probabilities nearly
        assert ece(after, truth) < 0.5 * ece(before, truth)
    one = tagger.predict_marginals_single(X[0])
    np.testing.assert_allclose([row[1] for row in one], after[:8, 1])


def test_kernels_get_probabilities():
    machine = KernelSVM(C=10, n_components=20).fit(*TRAIN)
    assert not hasattr(machine, "predict_proba")
    with pytest.raises(AttributeError) as error:
        machine.predict_proba(TEST[0])
    assert "calibrate(X_held_out" in str(error.value.__cause__ or error.value)
    p = machine.calibrate(*HELD).predict_proba(TEST[0])
    assert ece(p, TEST[1]) < 0.03
    assert (machine.classes_[p.argmax(axis=1)] == machine.predict(TEST[0])).all()


def test_confidence_is_that_of_the_whole_prediction():
    tagger = SequenceTagger(C=1, tol=0.01).fit(*chains(60, 1))
    tagger.calibrate(*chains(3000, 2, 0.6), method="isotonic")
    X, y = chains(1500, 3, 0.6)
    said = tagger.predict_confidence(X)
    right = [a == b for a, b in zip(tagger.predict(X), y, strict=True)]
    assert reliability(said, right).error < 0.03
    assert 0.2 < np.mean(right) < 0.8
    assert np.std(said) > 0.1
    margins = [a[0][1] - a[1][1] for a in tagger.predict_k_best(X, 2)]
    assert (np.diff(said[np.argsort(margins)]) >= 0).all()
    assert ((said > 0) & (said < 1)).all()


def test_a_curve_is_not_judged_by_its_own_data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)  # nothing to learn
    model = MulticlassSVM(C=1).fit(X, y)
    X, y = rng.normal(size=(100, 2)), rng.integers(0, 2, 100)
    found = model.calibrate(X, y, method="isotonic").calibration_
    said, right = model.predict_confidence(X), model.predict(X) == y
    assert reliability(said, right).error < 0.01 < 0.03 < found.error


def test_margins_are_those_of_the_two_best_outputs():
    scores = np.random.default_rng(0).normal(size=(50, 5))
    best = np.sort(scores, axis=1)
    np.testing.assert_array_equal(top_two(scores), best[:, -1] - best[:, -2])
    assert np.isinf(top_two(scores[:, :1])).all()
    ranked = [[("a", 2.0), ("b", 0.5)], [("the only one", 1.0)]]
    assert ranked_margins([*ranked, []]).tolist() == [1.5, np.inf, -np.inf]


@pytest.mark.filterwarnings("ignore:Only")
def test_a_sentence_without_a_parse_has_no_confidence():
    trees = ambiguous()
    parser = GrammarParser(C=1, fallback="flat").fit(trees, trees)
    none = Tree.parse("(S (P in) (V saw) (V saw))")
    assert parser.predict_k_best([none], 2) == [[]]
    parser.calibrate([*trees, none], [*trees, none], method="isotonic")
    assert parser.calibration_.n == len(trees)
    said = parser.predict_confidence([none, *trees])
    assert said[0] == 0 < said[1:].min()


def test_one_method_takes_the_place_of_the_other(model):
    other = clone(model).fit(*TRAIN).calibrate(*HELD, method="isotonic")
    assert not hasattr(other, "predict_proba")
    with pytest.raises(ValueError, match="method='isotonic'"):
        model.predict_confidence(TEST[0])


NONE = {"HomologFinder", "LinkClusterer", "MotifFinder", "TopKRanker"}
SUMS = {*cases()} - NONE - {"LatentStructuralSVM", "StructuralSVM", "WordAligner"}


@pytest.mark.filterwarnings("ignore:Only")
@pytest.mark.parametrize("name", sorted({*cases()} - {"PCFGParser"}))
@pytest.mark.parametrize("method", ["temperature", "isotonic"])
def test_every_estimator_can_be_calibrated_or_says_why_not(name, method, tmp_path):
    model, X, y, _ = fitted(name)
    model = pickle.loads(pickle.dumps(model))
    if name not in SUMS and (name != "WordAligner" or method == "temperature"):
        with pytest.raises(
            ValueError, match=r"calibrate.*(no |not )|(no |not ).*calibrat"
        ):
            model.calibrate(X, y, method=method)
        assert not hasattr(model, "calibration_")
        return
    assert model.calibrate(X, y, method=method) is model
    assert model.calibration_.method == method
    assert not hasattr(clone(model), "calibration_")
    save(model, tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    assert again.calibration_ == model.calibration_
    ask = "predict_proba" if hasattr(model, "predict_proba") else "predict_marginals"
    ask = "predict_confidence" if method == "isotonic" else ask
    for a, b in zip(getattr(model, ask)(X), getattr(again, ask)(X), strict=True):
        np.testing.assert_equal(a, b)


@pytest.mark.filterwarnings("ignore:Only")
@pytest.mark.parametrize("name", sorted(SUMS - {"GrammarParser", "PCFGParser"}))
def test_the_higher_the_temperature_the_less_is_sure(name):
    model, X, y, _ = fitted(name)
    model = pickle.loads(pickle.dumps(model)).calibrate(X, y)
    assert_less_is_sure(model, X, y)


def ambiguous():
    high, low = "(VP (V saw) (NP (NP it) (PP in)))", "(VP (V saw) (NP it) (PP in))"
    return [Tree.parse(f"(S (NP I) {phrase})") for phrase in (high, high, low)]


@pytest.mark.filterwarnings("ignore:Only", "ignore:The temperature is at the end")
def test_the_same_of_label_sets_with_a_graph_and_of_trees():
    model, X, y = unfitted("MultilabelSVM")
    model.set_params(graph="tree").fit(X, y).calibrate(X, y)
    assert_less_is_sure(model, X, y)
    trees = ambiguous()
    parser = GrammarParser(C=1).fit(trees, trees).calibrate(trees, trees)
    assert_less_is_sure(parser, trees, trees)


@pytest.mark.filterwarnings("ignore:Only")
@pytest.mark.parametrize("name", sorted(SUMS - {"NeuralTagger", "PCFGParser"}))
def test_another_fit_forgets_it(name):
    model, X, y = unfitted(name)
    model.fit(X, y).calibrate(X, y)
    assert hasattr(model, "calibration_")
    assert not hasattr(model.fit(X, y), "calibration_")


def test_data_without_an_error_make_nothing_certain():
    X, y = [[-1.0], [1.0]] * 20, ["a", "b"] * 20
    model = MulticlassSVM(C=1).fit(X, y).calibrate(X, y)
    most = model.predict_proba(X).max()
    assert 0.95 < most < 0.999


def test_few_predictions_are_said_to_be_few():
    with pytest.warns(UserWarning, match="Only 12 held-out predictions"):
        MulticlassSVM(C=1).fit(*TRAIN).calibrate(HELD[0][:12], HELD[1][:12])


def test_classes_that_training_has_not_seen_are_errors():
    X, y = HELD
    model = MulticlassSVM(C=1).fit(*TRAIN)
    model.calibrate(X, np.where(np.arange(len(y)) % 10 == 0, 9, y))
    assert model.calibration_.n == len(y) - len(y[::10])
    with pytest.raises(ValueError, match="nothing that is true"):
        model.calibrate(X, np.full(len(y), 9))
    assert model.calibration_.n == len(y) - len(y[::10])


@pytest.mark.parametrize("method", ["temperature", "isotonic"])
@pytest.mark.parametrize("write", ["column", "frame", "text"])
def test_classes_may_be_written_as_fit_and_evaluate_take_them(method, write):
    X, y = HELD
    frame = pd.DataFrame({"y": y})
    other = {"column": y[:, None], "frame": frame, "text": y.astype(str)}[write]
    model = MulticlassSVM(C=1).fit(*TRAIN)
    found = [model.calibrate(X, given, method).calibration_ for given in (y, other)]
    assert found[0] == found[1]


UNKNOWN = {
    "lengths": lambda m, X, y: (X, [y[0][:-1], *y[1:]]),
    "NA": lambda m, X, y: (X, [[pd.NA, *y[0][1:]], *y[1:]]),
    "sets": lambda m, X, y: (X, [[{1}] * len(row) for row in y]),
    "a label": lambda m, X, y: (X, [[None, *y[0][1:]], *y[1:]]),
    "other labels": lambda m, X, y: (X, [["?"] * len(row) for row in y]),
}


@pytest.mark.parametrize("method", ["temperature", "isotonic"])
@pytest.mark.parametrize("case", UNKNOWN)
def test_labels_that_are_not_the_truth_are_refused(case, method):
    X, y = chains(60, 1)
    tagger = SequenceTagger(C=1, tol=0.01).fit(X, y)
    with pytest.raises(ValueError, match=r"label|None|nothing that is true"):
        tagger.calibrate(*UNKNOWN[case](tagger, X, y), method)


@pytest.mark.parametrize("method", ["temperature", "isotonic"])
def test_graphs_and_trees_that_are_not_the_truth_are_refused(method):
    labeler, X, y, _ = fitted("GraphLabeler")
    nothing = [[None] * len(labels) for labels in y]
    with pytest.raises(ValueError, match=r"no known label|nothing that is true"):
        labeler.calibrate(X, nothing, method)
    trees = ambiguous()
    parser = GrammarParser(C=1).fit(trees, trees)
    other = Tree.parse("(S (NP I) (VP (V saw) (PP in)))")
    with pytest.raises(ValueError, match=r"X\[2\].*y\[2\]"):
        parser.calibrate(trees, [*trees[:2], other], method)


X, Y = HELD
HOSTILE = {
    "two columns": ((X, np.stack([Y, Y], axis=1)), "1d array"),
    "no known class": ((X, np.full(len(Y), 9)), "nothing that is true"),
    "other classes": ((X, np.full(len(Y), "eel")), "nothing that is true"),
    "not a number": ((X, np.where(Y == 0, np.nan, Y)), "is nan at .* where the truth"),
    "NA": ((X, pd.array([pd.NA, *Y[1:]], "Int64")), "where the truth"),
    "NA in a list": ((X, [pd.NA, *Y[1:]]), "<NA> at 0, where the truth"),
    "NaN in a column": ((X, np.where(Y == 0, np.nan, Y)[:, None]), "is nan, where"),
    "lengths": ((X, Y[:-1]), "1500.*1499|1499.*1500"),
    "empty": ((X[:0], Y[:0]), "held-out data is empty"),
    "no truth": ((X, None), "no true outputs"),
    "an unknown truth": ((X, [None, *Y[1:]]), "None at 0"),
    "a generator": (((x for x in X), Y), "generator"),
    "columns": ((X[:, :2], Y), "features"),
    "a name": ((X, Y, "platt"), "method='platt' is not known"),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("method", ["temperature", "isotonic"])
def test_what_cannot_be_calibrated_with_is_refused(name, method):
    given, sentence = HOSTILE[name]
    model = MulticlassSVM(C=1).fit(*TRAIN)
    with pytest.raises(ValueError, match=sentence):
        model.calibrate(*given, *([] if len(given) == 3 else [method]))
    assert not hasattr(model, "calibration_")


def test_it_comes_after_a_fit():
    with pytest.raises(NotFittedError):
        MulticlassSVM().calibrate(*HELD)


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": -1.0},
        {"temperature": float("inf")},
        {"temperature": None},
        {"temperature": "1"},
        {"method": "isotonic"},
        {"method": "other"},
        {"margins": [0.0]},
        {"margins": [1.0, 0.0], "shares": [0.1, 0.2]},
        {"temperature": 0.0},
        {"temperature": 5e-324},
        {"temperature": 1e300},
        {"n": 0},
        {"error": None},
    ],
)
def test_files_that_claim_what_cannot_be_are_refused(model, change):
    state = plain(model.calibration_)
    assert restored(Saved({}, state)) == model.calibration_
    with pytest.raises(ValueError, match=r"'|known|range"):
        restored(Saved({}, state | change))
