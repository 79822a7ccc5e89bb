"""Bad input: one ValueError each, before any work, that says where and what to do."""

import numpy as np
import pytest
import scipy.sparse as sp
from bad_input_cases import RNG, SEQUENCES, TAGS, refused
from sklearn.exceptions import NotFittedError

from maxmargin import Checkpoint, MulticlassSVM, Problem, SequenceTagger, StructuralSVM

# data of the tests ------------------------------------------------------------------

Y = np.arange(12) % 3
X = RNG.normal(size=(12, 4)) + np.eye(3, 4)[Y]
NAMES = np.array(["a", "b", "c"])[Y]


def changed(array, where, value):
    array = np.array(array, dtype=object if value is None else None)
    array[where] = value
    return array


class Sign(Problem):
    def joint_feature(self, x, y):
        return 0.5 * y * x

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def argmax(self, x, w):
        return 1 if w @ x >= 0 else -1

    def loss_augmented_argmax(self, x, y, w):
        return max((1, -1), key=lambda z: w @ x * z / 2 + (z != y))


@pytest.fixture(scope="module")
def classifier():
    model = MulticlassSVM().fit(X, Y)
    found = model.predict(X)
    yield model
    np.testing.assert_array_equal(model.predict(X), found)  # after all those failures


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
