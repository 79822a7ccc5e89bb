"""What NeuralTagger refuses, and how it says so."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
from neural_cases import sentences, tables, tagger  # noqa: E402

X, y = sentences(12)

PARAMETERS = [
    ({"encoder": "gru"}, "encoder='gru' is not known; choose one of lstm, transformer"),
    ({"encoder": 3}, "encoder=3 is not possible"),
    (
        {"objective": "squared"},
        "objective='squared' is not known; choose one of log, h",
    ),
    ({"hinge_start": "warm"}, "hinge_start='warm' is not known"),
    ({"warm_up": 0.5}, "warm_up=0.5 would not be used: it says how the hinge begins"),
    ({"loss": "spans"}, "loss='spans' would not be used: objective='log' counts all"),
    ({"loss": "squared", "objective": "hinge"}, "loss='squared' is not known"),
    ({"feature_options": {"hash_bits": 4}}, "feature_options needs features"),
    ({"scheme": "IOBX"}, "IOBX"),
    ({"forbidden": "ab"}, "forbidden='ab' is not possible"),
    ({"word_size": 0}, "word_size=0 is not possible: it must be a positive whole"),
    ({"char_size": -1}, "char_size=-1 is not possible"),
    (
        {"n_layers": 1000},
        "n_layers=1000 is not possible: it must be a whole number from",
    ),
    ({"dropout": 1.0}, "dropout=1.0 is not possible"),
    (
        {"learning_rate": 0},
        "learning_rate=0 is not possible: it must be a positive numb",
    ),
    ({"schedule": "cosine"}, "schedule='cosine' is not known"),
    ({"batch_size": 0.5}, "batch_size=0.5 is not possible"),
    ({"validation_fraction": 1}, "validation_fraction=1 is not possible"),
    ({"device": "tpu"}, "device='tpu' is not known; choose auto, cpu, or cuda"),
    ({"device": "cuda:x"}, "device='cuda:x' is not known"),
    ({"n_jobs": 0}, "n_jobs=0 is not possible"),
    ({"max_iter": 0}, "max_iter=0 is not possible"),
    ({"resume": True}, "resume=True needs a folder with a checkpoint"),
]


@pytest.mark.parametrize(("params", "message"), PARAMETERS)
def test_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        tagger(**params).fit(X, y)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there():
    with pytest.raises(
        ValueError, match="device='cuda' is not there: torch sees no GPU"
    ):
        tagger(device="cuda").fit(X, y)


DATA = [
    ((X, None), "y is missing"),
    ((X, y[:-1]), "X has 12 sequences, but y has 11"),
    ((X, [["O"] * len(x) for x in X]), "y holds one label only"),
    ((X, [*y[:-1], ["O"]]), "sequence 11 has 5 tokens, but y|has .* labels: give one"),
    ((X, [*y[:-1], [1] * len(y[-1])]), "labels must be all strings or all integers"),
    (([], []), "X has no sequences"),
    ((X, [None] * 12), "y holds no known label: at least one sequence must have some"),
    ((X[0], y[0]), "token|sequence 0 is of type str"),
    (([["a", 3]], [["O", "B"]]), "sequence 0, token 1: the row is of type int"),
    ((np.zeros((3, 2)), [["a"]]), "X must be a list of sequences"),
    (([[["a", "b"], ["c"]]], [["O", "B"]]), "the row has 1 column, but the first one"),
    (([np.array([[np.nan]])] * 2, [[0], [1]]), "nan|NaN"),
    (([["a", 1.0]], [["O", "B"]]), "must be|but"),
]


@pytest.mark.parametrize(("given", "message"), DATA)
def test_data(given, message):
    with pytest.raises(ValueError, match=message):
        tagger(validation_fraction=0).fit(*given)


def test_labels_that_are_forbidden():
    wrong = [["I-PER", *row[1:]] for row in y]
    with pytest.raises(ValueError, match="BIO"):
        tagger(scheme="BIO").fit(X, wrong)
    with pytest.raises(ValueError, match="goes from 'O' to 'B-LOC' at token"):
        tagger(forbidden=[("O", "B-LOC")], validation_fraction=0).fit(X, y)
    some = [[None, *row[1:]] for row in y]
    with pytest.raises(
        ValueError, match=r"y\[0\]: what is known of it cannot be compl"
    ):
        tagger(forbidden=[("O", "B-LOC")]).fit(X, some)
    model = tagger(max_iter=1, forbidden=[(None, z) for z in ("O", "B-LOC", "I-PER")])
    model.set_params(forbidden=[*model.forbidden, ("B-PER", None)]).fit(X, y)
    with pytest.raises(ValueError, match="sequence 1 has 1 tokens, and the forbidden"):
        model.predict([X[0], ["Ada"]])


def test_held_out_data():
    for dev, message in (
        (X, "give held-out inputs and their true outputs"),
        ((X, [None, *y[1:]]), "a label that is not known|not known"),
        ((X, y[:-1]), "dev cannot be used: X has 12 sequences, but y has 11"),
        (
            (X, [["x"] * len(x) for x in X]),
            "dev cannot be used: .* labels of y are not",
        ),
        (([x[:-1] for x in X], y), "dev cannot be used: sequence 0 has"),
    ):
        with pytest.raises(ValueError, match=message):
            tagger(max_iter=1).fit(X, y, dev=dev)
    strange = [["O", *row[1:-1], "B-ORG"] for row in y]  # counts as an error
    assert tagger(max_iter=1).fit(X, y, dev=(X, strange)).dev_.score < 1.0


def test_features_of_what_is_no_text():
    numbers, labels = tables(5)
    with pytest.raises(
        ValueError, match="features are made of words and other columns"
    ):
        tagger(features="ner").fit(numbers, labels)


def test_columns_that_hold_the_labels():
    copied = [
        [[w, z] for w, z in zip(a, b, strict=True)] for a, b in zip(X, y, strict=True)
    ]
    with pytest.warns(
        UserWarning, match="column 1 of X, which the network reads, holds"
    ):
        tagger(max_iter=1).fit(copied, y)


class Far(torch.nn.Module):
    def forward(self, x):
        return 1e30 * x


def test_scores_that_are_no_numbers():
    huge = [np.full((3, 2), 1e30, np.float32)] * 8
    with pytest.raises(ValueError, match="scores are no longer finite numbers after 0"):
        tagger(validation_fraction=0, encoder=Far()).fit(huge, [[0, 1, 0]] * 8)
