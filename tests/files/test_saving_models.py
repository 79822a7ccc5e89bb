"""Saved estimators come back as they were: predictions, certificate, parameters."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from maxmargin import MulticlassSVM, SequenceTagger, load, save


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def points(names, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(20) % len(names)
    X = rng.normal(size=(20, 4)) + 2.0 * np.eye(len(names), 4)[y]
    return X, np.asarray(names)[y]


def round_trip(model, path):
    save(model, path)
    again = load(path)
    assert type(again) is type(model)
    assert again.certificate_ == model.certificate_
    assert again.history_ == model.history_
    assert again.n_iter_ == model.n_iter_
    assert again.converged_ is model.converged_
    for name, value in model.get_params().items():
        if name not in ("n_jobs", "verbose", "max_time", "warm_start"):
            np.testing.assert_equal(getattr(again, name), value)
    return again


@pytest.mark.parametrize(
    "names",
    [
        ["no", "yes"],
        ["a", "bb", "ccc"],
        [-3, 0, 7],
        np.array([1, 2, 3], dtype=np.int8),
        np.array(["ä", "ö", ""], dtype=object),
        [True, False],
        [1.0, 3.0],
    ],
    ids=str,
)
def test_classifiers(names, path):
    X, y = points(names)
    model = MulticlassSVM(C=0.5, tol=0.003).fit(X, y)
    again = round_trip(model, path)
    np.testing.assert_array_equal(again.classes_, model.classes_)
    assert again.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(again.coef_, model.coef_)
    np.testing.assert_array_equal(again.intercept_, model.intercept_)
    for table in (X, sp.csr_array(X)):
        np.testing.assert_array_equal(again.predict(table), model.predict(table))
        np.testing.assert_array_equal(
            again.decision_function(table), model.decision_function(table)
        )
    with pytest.raises(ValueError, match=r"2 features.*expecting 4"):
        again.predict(X[:, :2])


def test_parameters_of_a_classifier(path):
    X, y = points(["a", "b", "c"])
    model = MulticlassSVM(
        C=np.inf,
        loss={"a": 2.0, "c": 0.5},
        fit_intercept=False,
        rescaling="slack",
        penalty="quadratic",
        solver="n-slack",
        max_iter=500,
        max_time=60.0,
        warm_start=True,
        n_jobs=2,
        random_state=3,
    ).fit(3.0 * X, y)
    again = round_trip(model, path)
    np.testing.assert_array_equal(again.fit(3.0 * X, y).coef_, model.coef_)


def test_losses_as_tables(path):
    X, y = points(["a", "b"])
    model = MulticlassSVM(loss=[[0.0, 1.0], [3.0, 0.0]]).fit(X, y)
    assert round_trip(model, path).loss == model.loss


def test_losses_as_arrays(path):
    X, y = points(["a", "b"])
    model = MulticlassSVM(loss=np.array([[0.0, 1.0], [3.0, 0.0]])).fit(X, y)
    np.testing.assert_array_equal(round_trip(model, path).loss, model.loss)


def test_a_fit_that_did_not_converge(path):
    X, y = points(["a", "b", "c"])
    with pytest.warns(ConvergenceWarning):
        model = MulticlassSVM(tol=1e-12, max_iter=2).fit(X, y)
    assert round_trip(model, path).converged_ is False


WORDS = [[["the", "x"], ["dog"], ["barks"]], [], [["dogs", "x"], ["bark"]]]
TAGS = [["D", "N", "V"], [], ["N", "V"]]
NAMES = ["the", "x", "dog", "barks", "dogs", "bark"]
TABLES = [
    np.array([[float(name in token) for name in NAMES] for token in tokens])
    for tokens in WORDS
]
TABLES[1] = np.zeros((0, len(NAMES)))
KINDS = {
    "strings": WORDS,
    "dicts": [[{"w": t[0], "n": 0.5} for t in tokens] for tokens in WORDS],
    "tables": TABLES,
    "single precision": [table.astype(np.float32) for table in TABLES],
    "sparse": [sp.csr_array(table) for table in TABLES],
}


@pytest.mark.parametrize("tol", [0.1, 1e-5], ids=["single", "double"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("labels", ["texts", "numbers"])
def test_taggers(kind, labels, tol, path):
    X, y = KINDS[kind], TAGS
    if labels == "numbers":
        y = [["DNV".index(tag) - 1 for tag in tags] for tags in TAGS]
    model = SequenceTagger(C=10.0, tol=tol, max_iter=5000).fit(X, y)
    again = round_trip(model, path)
    assert again.predict(X) == model.predict(X) == y
    assert again.predict_k_best(X, 3) == model.predict_k_best(X, 3)
    for a, b in zip(
        again.predict_marginals(X), model.predict_marginals(X), strict=True
    ):
        np.testing.assert_array_equal(a, b)
    for name in ("coef_", "transitions_", "first_", "last_", "classes_"):
        a, b = getattr(again, name), getattr(model, name)
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype
    assert again.feature_names_ == model.feature_names_
    assert again.score(X, y) == 1.0
    assert again.fit(X, y).predict(X) == y


def test_taggers_keep_their_rules(path):
    model = SequenceTagger(
        loss={"D": 2.0}, forbidden=[("V", "D"), (None, "V"), ("D", None)]
    ).fit(WORDS, TAGS)
    again = round_trip(model, path)
    assert again.forbidden == [("V", "D"), (None, "V"), ("D", None)]
    x = [[["barks"], ["the"]]]
    assert again.predict_k_best(x, 9) == model.predict_k_best(x, 9)
    assert all(labels[0] != "V" for labels, _ in again.predict_k_best(x, 9)[0])


def test_unknown_words_after_loading(path):
    model = SequenceTagger().fit(WORDS, TAGS)
    again = round_trip(model, path)
    assert again.predict([[["never"], ["seen", "dog"]]]) == model.predict(
        [[["never"], ["seen", "dog"]]]
    )
    with pytest.raises(ValueError, match="in the same form"):
        again.predict(TABLES)


def test_attributes_of_a_loaded_tagger_are_those_it_predicts_with(path):
    again = round_trip(SequenceTagger().fit(WORDS, TAGS), path)
    for part in (again.coef_, again.transitions_, again.first_, again.last_):
        part[...] = 0
    assert (again.decision_function(WORDS)[0] == 0).all()


def test_a_second_process_predicts_the_same(path):
    X, y = points(["a", "b", "c"])
    model = MulticlassSVM().fit(X, y)
    save(model, path)
    code = (
        "import sys; import numpy as np; from maxmargin import load\n"
        f"X = np.array({X.tolist()!r})\n"
        f"print(','.join(load({str(path)!r}).predict(X)))\n"
        "print('numba' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    answers, compiled = done.stdout.split()
    assert answers.split(",") == model.predict(X).tolist()
    assert compiled == "False"  # loading and predicting is quick


@pytest.mark.parametrize("model", [MulticlassSVM(), SequenceTagger()], ids=str)
def test_unfitted_models_are_refused(model, path):
    with pytest.raises(NotFittedError):
        save(model, path)
    assert not path.exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("callbacks", [print]),
        ("loss", lambda a, b: float(a != b)),
        ("random_state", np.random.RandomState(0)),
    ],
    ids=["callbacks", "loss", "random_state"],
)
def test_parameters_that_hold_code_are_named(name, value, path, capsys):
    X, y = points(["a", "b"])
    model = MulticlassSVM(**{name: value}).fit(X, y)
    message = rf"parameter '{name}' .*set_params\({name}=.*pickle"
    with pytest.raises(ValueError, match=message):
        save(model, path)
    assert not path.exists()
    default = MulticlassSVM().get_params()[name]
    again = round_trip(model.set_params(**{name: default}), path)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_where_a_fit_ran_is_not_in_its_file(tmp_path):
    model = MulticlassSVM(checkpoint=tmp_path / "kept").fit(np.eye(3), [0, 1, 2])
    save(model, tmp_path / "model")
    assert b"checkpoint" not in (tmp_path / "model").read_bytes()
    assert load(tmp_path / "model").checkpoint is None
