"""Bad input: one ValueError each, before any work, that says where and what to do."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

from maxmargin import Checkpoint, MulticlassSVM, Problem, SequenceTagger, StructuralSVM

# data of the tests ------------------------------------------------------------------

RNG = np.random.default_rng(0)
Y = np.arange(12) % 3
X = RNG.normal(size=(12, 4)) + np.eye(3, 4)[Y]
NAMES = np.array(["a", "b", "c"])[Y]

SEQUENCES = [RNG.normal(size=(1 + i % 3, 2)) for i in range(9)]
TAGS = [["A", "B", "C"][i % 3 :][:1] * len(x) for i, x in enumerate(SEQUENCES)]


def changed(array, where, value):
    array = np.array(array, dtype=object if value is None else None)
    array[where] = value
    return array


def replaced(rows, i, row):
    return [*rows[:i], row, *rows[i + 1 :]]


class Sign(Problem):
    def joint_feature(self, x, y):
        return 0.5 * y * x

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def argmax(self, x, w):
        return 1 if w @ x >= 0 else -1

    def loss_augmented_argmax(self, x, y, w):
        return max((1, -1), key=lambda z: w @ x * z / 2 + (z != y))


def refused(model, message, X, y, **arguments):
    """A failed fit raises a ValueError and leaves a fitted model as it was."""
    state = {name: value for name, value in vars(model).items() if name[-1] == "_"}
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, **arguments)
    after = {name: value for name, value in vars(model).items() if name[-1] == "_"}
    assert after.keys() == state.keys()
    assert all(after[name] is state[name] for name in state)


@pytest.fixture(scope="module")
def classifier():
    model = MulticlassSVM().fit(X, Y)
    found = model.predict(X)
    yield model
    np.testing.assert_array_equal(model.predict(X), found)  # after all those failures


@pytest.fixture(scope="module")
def tagger():
    model = SequenceTagger().fit(SEQUENCES, TAGS)
    found = model.predict(SEQUENCES)
    yield model
    assert model.predict(SEQUENCES) == found


# samples of a classifier ------------------------------------------------------------

CLASSIFIER_DATA = {
    "NaN": (changed(X, (3, 1), np.nan), Y, r"(?i)nan"),
    "infinity": (changed(X, (3, 1), np.inf), Y, r"(?i)inf"),
    "sparse NaN": (sp.csr_array(changed(X, (3, 1), np.nan)), Y, r"(?i)nan"),
    "no samples": (X[:0], Y[:0], r"0 sample"),
    "no features": (X[:, :0], Y, r"0 feature"),
    "one row": (X[0], Y[:1], r"(?i)reshape"),
    "ragged": ([[1.0, 2.0], [3.0]], [0, 1], r"inhomogeneous"),
    "texts": ([["a", "b"], ["c", "d"]], [0, 1], r"could not convert"),
    "complex": (X + 1j, Y, r"(?i)complex"),
    "lengths": (X, Y[:-1], r"12.*11"),
    "no y": (X, None, r"y.*None"),
    "one class": (X, np.zeros(12, int), r"one class only.*two classes"),
    "one class, a text": (X, ["a"] * 12, r"one class only.*'a'.*two classes"),
    "continuous": (X, Y + 0.5, r"continuous"),
    "label NaN": (X, changed(Y.astype(float), 2, np.nan), r"(?i)nan"),
    "labels None": (X, [None] * 12, r"label"),
    "two columns": (X, np.column_stack([Y, Y]), r"1d array"),
    "dicts": (X, [{}] * 12, r"label"),
}


@pytest.mark.parametrize("case", CLASSIFIER_DATA)
def test_samples_of_a_classifier(classifier, case):
    bad_X, bad_y, message = CLASSIFIER_DATA[case]
    refused(classifier, message, bad_X, bad_y)


@pytest.mark.parametrize(
    ("bad_X", "bad_y", "message"),
    [
        (changed(X, (3, 1), np.nan), Y, r"row 3.*column 1.*SimpleImputer"),
        (changed(X, (3, 1), np.inf), Y, r"row 3.*column 1"),
        (sp.csr_array(changed(X, (3, 1), np.inf)), Y, r"row 3.*column 1"),
        ([[1.0, 2.0], [3.0]], [0, 1], r"row 1|sample 1"),
        (X, [*NAMES[:2], 7, *NAMES[3:]], r"y\[2\]|sample 2"),
    ],
)
def test_samples_of_a_classifier_are_named(classifier, bad_X, bad_y, message):
    refused(classifier, message, bad_X, bad_y)


def test_mixed_labels_of_a_classifier():
    refused(MulticlassSVM(), r"mix|string", X, [1, *NAMES[1:].tolist()])


def test_numbers_too_large_to_square():
    refused(MulticlassSVM(max_iter=5), r"too large.*scale", X * 1e200, Y)


def test_prediction_of_a_classifier(classifier):
    with pytest.raises(ValueError, match=r"2 features.*expecting 4"):
        classifier.predict(X[:, :2])
    with pytest.raises(ValueError, match="NaN"):
        classifier.predict(changed(X, (3, 1), np.nan))
    with pytest.raises(ValueError, match=r"(?i)reshape"):
        classifier.predict(X[0])
    with pytest.raises(ValueError, match="0 sample"):
        classifier.decision_function(X[:0])


def test_a_score_may_meet_unknown_labels(classifier):
    assert classifier.score(X, Y + 10) == 0.0
    half = np.where(np.arange(12) < 6, classifier.predict(X), 99)
    assert classifier.score(X, half) == 0.5


@pytest.mark.parametrize(
    "model",
    [
        MulticlassSVM(),
        SequenceTagger(),
        StructuralSVM(Sign()),
    ],
    ids=["MulticlassSVM", "SequenceTagger", "StructuralSVM"],
)
def test_prediction_needs_a_fit(model):
    with pytest.raises(NotFittedError, match=r"not fitted yet"):
        model.predict(X)


# parameters -------------------------------------------------------------------------

PARAMETERS = [
    (dict(C=-1.0), r"C=-1.0 .*positive"),
    (dict(C=0), r"C=0 .*positive"),
    (dict(C=np.nan), r"C=nan .*positive"),
    (dict(C=-np.inf), r"C=-inf .*positive"),
    (dict(C="1"), r"C='1' .*positive"),
    (dict(C=True), r"C=True .*positive"),
    (dict(tol=0.0), r"tol=0.0 .*positive"),
    (dict(tol=-1), r"tol=-1 .*positive"),
    (dict(tol=np.nan), r"tol=nan .*positive"),
    (dict(tol=np.inf), r"tol=inf .*positive"),
    (dict(tol="small"), r"tol='small' .*positive"),
    (dict(solver="newton"), r"solver='newton'.*block-coordinate"),
    (dict(solver=None), r"solver=None.*block-coordinate"),
    (dict(rescaling="both"), r"rescaling='both'.*margin.*slack"),
    (dict(penalty="l2"), r"penalty='l2'.*linear.*quadratic"),
    (dict(max_iter=0), r"max_iter=0 .*positive"),
    (dict(max_iter="10"), r"max_iter='10' .*positive"),
    (dict(max_time=-1), r"max_time=-1 .*positive"),
    (dict(max_time=np.nan), r"max_time=nan .*positive"),
    (dict(random_state="x"), r"'x' cannot be used to seed"),
    (dict(loss="l1"), r"loss='l1'.*hamming.*dict"),
    (dict(n_jobs=0), r"n_jobs"),
    (dict(max_iter=2.5), r"max_iter=2.5 .*whole"),
    (dict(n_jobs="all"), r"n_jobs='all'"),
    (dict(verbose="yes"), r"verbose='yes'"),
    (dict(callbacks=print), r"callbacks.*list"),
    (dict(callbacks=[3]), r"callbacks.*3"),
    (dict(engine="steam"), r"engine='steam' .*None for this process"),
    (dict(engine="threads"), r"n_jobs threads train together without it"),
    (dict(checkpoint=3), r"checkpoint=3 .*folder"),
    (dict(checkpoint=Checkpoint("here", every=-1)), r"every=-1.*seconds"),
    (dict(checkpoint=Checkpoint(None)), r"checkpoint=.*folder"),
    (dict(resume="yes"), r"resume='yes' .*True"),
    (dict(resume=True), r"resume=True needs .*checkpoint='folder'"),
    (dict(loss=None), r"loss=None"),
    (dict(loss=3.0), r"loss=3.0"),
]


@pytest.mark.parametrize(("change", "message"), PARAMETERS)
def test_parameters(change, message):
    for model, data in (
        (MulticlassSVM(), (X, Y)),
        (SequenceTagger(), (SEQUENCES, TAGS)),
        (StructuralSVM(Sign()), (X, np.where(Y > 0, 1, -1))),
    ):
        if next(iter(change)) in model.get_params():
            refused(model.set_params(**change), message, *data)


LOSSES = [
    (1.0 - np.eye(2), r"shape \(2, 2\).*3 labels.*\(3, 3\)"),
    (np.ones(3), r"shape \(3,\).*3 labels"),
    (np.ones((3, 3)), r"true=.*predicted=.*is 1.0.*diagonal"),
    (np.eye(3) - 1.0, r"true=.*predicted=.*-1.0.*negative.*zero or more"),
    (np.full((3, 3), np.nan), r"true=.*predicted=.*nan.*not finite"),
    (lambda a, b: 1.0, r"true=.*predicted=.*is 1.0.*diagonal"),
    (lambda a, b: -float(a != b), r"true=.*predicted=.*negative"),
    ({"never": 2.0}, r"weight to 'never'.*not among the labels.*remove"),
    (lambda a, b: None, r"true=.*predicted="),
    (lambda a, b: "dear", r"true=.*predicted="),
    ([["x"] * 3] * 3, r"cost matrix"),
]


@pytest.mark.parametrize(("loss", "message"), LOSSES)
def test_losses(loss, message):
    refused(MulticlassSVM(loss=loss), message, X, Y)
    refused(SequenceTagger(loss=loss), message, SEQUENCES, TAGS)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(12), r"sample_weight\[0\] is -1.0.*zero or more"),
        (changed(np.ones(12), 5, np.nan), r"sample_weight\[5\] is nan.*finite"),
        (changed(np.ones(12), 5, np.inf), r"sample_weight\[5\] is inf.*finite"),
        (np.ones(11), r"shape \(11,\).*12 samples.*one weight per sample"),
        (np.ones((12, 1)), r"shape \(12, 1\).*12 samples"),
        (np.zeros(12), r"all sample weights are zero"),
        (0.0, r"all sample weights are zero"),
        (["heavy"] * 12, r"sample_weight"),
    ],
)
def test_sample_weights(weights, message):
    refused(MulticlassSVM(), message, X, Y, sample_weight=weights)
    signs = np.where(Y > 0, 1, -1)
    refused(StructuralSVM(Sign()), message, X, signs, sample_weight=weights)
    twelve = [*SEQUENCES, *SEQUENCES[:3]], [*TAGS, *TAGS[:3]]
    refused(SequenceTagger(), message, *twelve, sample_weight=weights)


@pytest.mark.parametrize(
    ("Cs", "message"),
    [
        ([1.0, -1.0], r"C=-1.0 .*positive"),
        ([1.0, np.nan], r"C=nan .*positive"),
        (["a"], r"C='a'"),
        ([None], r"C=None"),
        (1.0, r"list"),
    ],
)
def test_path(Cs, message):
    with pytest.raises(ValueError, match=message):
        MulticlassSVM().path(X, Y, Cs)


# sequences and their labels ---------------------------------------------------------

TOKENS = [[["a"], ["b"]], [["a"]]]
TAGGER_DATA = {
    "NaN": (
        replaced(SEQUENCES, 4, np.full((2, 2), np.nan)),
        TAGS,
        r"sequence 4, token 0.*column 0 is nan.*SimpleImputer",
    ),
    "infinity": (
        [[{"a": 1.0}, {"b": np.inf}], [{"c": 1}]],
        [["A", "B"], ["A"]],
        r"sequence 0, token 1.*'b' is inf.*finite",
    ),
    "ragged": ([[[1, 2], [3]]], [["A", "B"]], r"sequence 0.*token 1 has 1"),
    "widths": (
        replaced(SEQUENCES, 5, np.ones((3, 4))),
        TAGS,
        r"sequence 5 has 4 columns, sequence 0 has 2",
    ),
    "one table": (np.ones((3, 2)), [["A"], ["B"], ["A"]], r"one table.*wrap.*\[X\]"),
    "kinds": ([*TOKENS, np.ones((1, 2))], [["A", "B"], ["A"], ["B"]], r"one kind"),
    "plain strings": ([["a", "b"], ["a"]], [["A", "B"], ["A"]], r"token 0.*list of"),
    "more sequences": (SEQUENCES, TAGS[:-1], r"9 sequences.*8.*one label sequence"),
    "more labels": (
        SEQUENCES,
        replaced(TAGS, 2, ["A"]),
        r"sequence 2 has 3 tokens, but y\[2\] has 1.*one label per token",
    ),
    "no y": (SEQUENCES, None, r"y is missing"),
    "flat y": (SEQUENCES, list(range(9)), r"y\[0\] is 0.*list of label sequences"),
    "flat texts": (SEQUENCES, ["AB"] * 9, r"y\[0\] is 'AB'.*list of label sequences"),
    "one text": (SEQUENCES, "ABCABCABC", r"one string.*list of label sequences"),
    "one label": (SEQUENCES, [["A"] * len(t) for t in TAGS], r"one label only.*'A'"),
    "bools": (SEQUENCES, replaced(TAGS, 3, [True]), r"y\[3\] holds True"),
    "floats": (SEQUENCES, replaced(TAGS, 3, [0.5]), r"y\[3\] holds 0.5"),
    "tuples": (SEQUENCES, replaced(TAGS, 3, [("A", 1)]), r"y\[3\] holds \('A', 1\)"),
    "unhashable": (SEQUENCES, replaced(TAGS, 3, [["A"]]), r"y\[3\] holds \['A'\]"),
    "all empty": ([[], []], [[], []], r"label"),
}


@pytest.mark.parametrize("case", TAGGER_DATA)
def test_sequences(tagger, case):
    bad_X, bad_y, message = TAGGER_DATA[case]
    refused(tagger, message, bad_X, bad_y)


@pytest.mark.parametrize(
    ("bad_X", "bad_y", "message"),
    [
        ([], [], r"X has no sequences"),
        ([[], []], [[], []], r"all sequences are empty"),
        (None, TAGS, r"X.*None"),
        (SEQUENCES, replaced(TAGS, 3, [7]), r"y\[3\].*7"),
        (
            SEQUENCES,
            [np.full(len(t), 0.5 * len(t)) for t in TAGS],
            r"y\[0\] holds 0.5",
        ),
        (
            SEQUENCES,
            [np.full(len(t), len(t) > 1) for t in TAGS],
            r"y\[0\] holds False",
        ),
        (
            SEQUENCES,
            replaced(TAGS, 3, [(["A"],)]),
            r"y\[3\] holds",
        ),
    ],
)
def test_sequences_are_named(tagger, bad_X, bad_y, message):
    refused(tagger, message, bad_X, bad_y)


@pytest.mark.parametrize(
    ("forbidden", "message"),
    [
        ([("A",)], r"forbidden holds \('A',\).*pairs"),
        ([None], r"forbidden holds None.*pairs"),
        ([(None, None)], r"\(None, None\).*one label"),
        (3, r"forbidden"),
        ([(["A"], "B")], r"forbidden holds"),
    ],
)
def test_forbidden_transitions(forbidden, message):
    refused(SequenceTagger(forbidden=forbidden), message, SEQUENCES, TAGS)


def test_prediction_of_a_tagger(tagger):
    with pytest.raises(ValueError, match=r"sequence 1 has 3 columns.*fitted with 2"):
        tagger.predict([np.ones((1, 2)), np.ones((1, 3))])
    with pytest.raises(ValueError, match=r"sequence 0 is a list of tokens.*same form"):
        tagger.predict(TOKENS)
    with pytest.raises(ValueError, match=r"one table.*wrap.*\[X\]"):
        tagger.predict(np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"X has no sequences"):
        tagger.predict([])
    with pytest.raises(ValueError, match=r"sequence 1, token 0.*nan"):
        tagger.predict([np.ones((1, 2)), np.full((1, 2), np.nan)])


@pytest.mark.parametrize("k", [0, -1, 1.5, "a", None])
def test_number_of_best_sequences(tagger, k):
    with pytest.raises(ValueError, match=r"k=.*whole number >= 1"):
        tagger.predict_k_best(SEQUENCES, k)


def test_score_of_a_tagger(tagger):
    with pytest.raises(ValueError, match=r"9 sequences.*8"):
        tagger.score(SEQUENCES, TAGS[:-1])
    with pytest.raises(ValueError, match=r"y\[0\] is 1.*list of label sequences"):
        tagger.score(SEQUENCES, [1] * 9)
    with pytest.raises(ValueError, match=r"all sample weights are zero"):
        tagger.score(SEQUENCES, TAGS, sample_weight=np.zeros(9))


def test_score_of_a_tagger_with_more_labels_than_tokens(tagger):
    with pytest.raises(ValueError, match=r"sequence 2 has 3 tokens, but y\[2\] has 1"):
        tagger.score(SEQUENCES, replaced(TAGS, 2, ["A"]))


# problems of one's own --------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad_X", "bad_y", "message"),
    [
        (X, [1] * 11, r"12 samples.*11.*one output per input"),
        ([], [], r"X is empty.*at least one"),
        (X, None, r"both X and y"),
        (None, [1], r"both X and y"),
        (3, 4, r"X"),
    ],
)
def test_samples_of_a_problem(bad_X, bad_y, message):
    refused(StructuralSVM(Sign()), message, bad_X, bad_y)


def test_score_of_a_problem():
    model = StructuralSVM(Sign()).fit(X, np.where(Y > 0, 1, -1))
    with pytest.raises(ValueError, match=r"12 samples.*3.*one output per input"):
        model.score(X, [1, -1, 1])
