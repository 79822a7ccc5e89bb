"""The estimators among scikit-learn's tools: checks, pipelines, searches, copies."""

import pickle

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from weight_checks import KINDS, check_weights, inexact_checks

from maxmargin import KernelSVM, MulticlassSVM, Problem, SequenceTagger, StructuralSVM

pytestmark = pytest.mark.slow


@parametrize_with_checks(
    [MulticlassSVM(), KernelSVM(method="exact"), KernelSVM(n_components=5)],
    expected_failed_checks=inexact_checks,
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_samples_are_repetitions_to_seven_digits(kind):
    check_weights(MulticlassSVM(tol=1e-14, max_iter=300), kind)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.fixture(scope="module")
def tagged():
    rng = np.random.default_rng(0)
    X, y = [], []
    for i in range(24):
        numbers = rng.integers(2, size=1 + i % 4)
        X.append([{"word": f"w{k}{rng.integers(3)}"} for k in numbers])
        y.append([["O", "B"][k] for k in numbers])
    return X, y


class Sign(Problem):
    def joint_feature(self, x, y):
        return 0.5 * y * x

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def argmax(self, x, w):
        return 1 if w @ x >= 0 else -1

    def loss_augmented_argmax(self, x, y, w):
        return max((1, -1), key=lambda z: w @ x * z / 2 + (z != y))


ESTIMATORS = [MulticlassSVM(), SequenceTagger(), StructuralSVM(Sign())]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_parameters(estimator):
    names = set(estimator.get_params(deep=False))
    assert {"C", "tol", "solver", "rescaling", "penalty", "n_jobs"} <= names
    changed = clone(estimator).set_params(C=3.5, tol=0.2)
    assert (changed.C, changed.tol) == (3.5, 0.2)
    assert estimator.C != 3.5
    assert clone(changed).get_params()["C"] == 3.5
    with pytest.raises(ValueError, match="Invalid parameter 'c'"):
        changed.set_params(c=1.0)
    # checked in fit, never in __init__
    type(estimator)(**{**estimator.get_params(deep=False), "C": -1, "tol": "x"})
    assert "C=3.5" in repr(changed)


def test_pipeline_and_grid_search(iris):
    pipeline = make_pipeline(StandardScaler(), MulticlassSVM())
    grid = {
        "multiclasssvm__C": [0.001, 1.0],
        "multiclasssvm__loss": ["zero-one", {"setosa": 2.0}],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(*iris)
    assert search.best_params_["multiclasssvm__C"] == 1.0
    assert search.best_score_ > 0.9
    assert search.predict(iris[0]).dtype == iris[1].dtype


def test_sample_weights_pass_through_a_pipeline(iris):
    X, y = iris
    weights = np.where(y == "virginica", 0.0, 1.0)
    pipeline = make_pipeline(StandardScaler(), MulticlassSVM())
    pipeline.fit(X, y, multiclasssvm__sample_weight=weights)
    assert pipeline.score(X, y, sample_weight=weights) > 0.97
    assert "virginica" not in pipeline.predict(X[y != "virginica"])


def test_cross_validation(iris):
    X, y = iris
    X = StandardScaler().fit_transform(X)
    assert cross_val_score(MulticlassSVM(), X, y, cv=5).mean() > 0.9
    assert cross_val_predict(MulticlassSVM(), X, y, cv=3).shape == y.shape
    sizes, _, scores = learning_curve(
        MulticlassSVM(),
        X,
        y,
        cv=3,
        train_sizes=[0.2, 1.0],
        shuffle=True,
        random_state=0,
    )
    assert len(sizes) == len(scores) == 2


def test_scorers_of_two_classes(iris):
    X, y = iris
    X, y = X[y != "setosa"], (y == "virginica")[y != "setosa"]
    assert cross_val_score(MulticlassSVM(), X, y, cv=3, scoring="roc_auc").mean() > 0.9


def test_one_against_the_rest(iris):
    X, y = iris
    X = StandardScaler().fit_transform(X)
    model = OneVsRestClassifier(MulticlassSVM()).fit(X, y)
    assert model.score(X, y) > 0.85


def test_threads_and_processes(iris):
    X, y = iris
    X = StandardScaler().fit_transform(X)
    Cs = [0.01, 0.1]
    alone = [MulticlassSVM(C=C).fit(X, y).coef_ for C in Cs]
    for options in ({"prefer": "threads"}, {"prefer": "processes"}):
        fits = (delayed(MulticlassSVM(C=C).fit)(X, y) for C in Cs)
        models = Parallel(n_jobs=2, **options)(fits)
        for model, wanted in zip(models, alone, strict=True):
            np.testing.assert_array_equal(model.coef_, wanted)


@pytest.mark.parametrize("warm_start", [False, True])
def test_pickles_of_classifiers(iris, warm_start):
    X, y = iris
    model = MulticlassSVM(warm_start=warm_start).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.certificate_ == model.certificate_
    assert again.history_ == model.history_
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(again.fit(X, y).classes_, model.classes_)


@pytest.mark.parametrize("warm_start", [False, True])
def test_pickles_of_taggers(tagged, warm_start):
    X, y = tagged
    model = SequenceTagger(warm_start=warm_start).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X) == model.predict(X)
    assert again.predict_k_best(X, 3) == model.predict_k_best(X, 3)
    assert again.certificate_ == model.certificate_
    assert again.fit(X, y).predict(X) == model.predict(X)


def test_attributes_of_an_unpickled_tagger_are_those_it_predicts_with(tagged):
    X, y = tagged
    model = pickle.loads(pickle.dumps(SequenceTagger().fit(X, y)))
    before = model.decision_function(X)[3]
    for part in (model.coef_, model.transitions_, model.first_, model.last_):
        part[:] = 0
    assert (model.decision_function(X)[3] != before).any()


def test_taggers_in_searches(tagged):
    X, y = tagged
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(SequenceTagger(), {"C": [1e-4, 10.0]}, cv=folds).fit(X, y)
    assert search.best_params_ == {"C": 10.0}
    assert search.best_score_ > 0.9
    assert len(cross_val_score(SequenceTagger(), X, y, cv=folds)) == 3

    def errors(truth, found):
        return sum(a != b for a, b in zip(truth, found, strict=True)) / len(truth)

    scorer = make_scorer(errors, greater_is_better=False)
    scores = cross_val_score(SequenceTagger(), X, y, cv=folds, scoring=scorer)
    assert (scores <= 0).all()


def test_structural_svm_in_a_search():
    rng = np.random.default_rng(0)
    y = np.tile([1, -1], 12)
    X = y[:, None] * [2.0, 1.0] + rng.normal(size=(24, 2))
    search = GridSearchCV(StructuralSVM(Sign()), {"C": [1e-5, 1.0]}, cv=3)
    search.fit(list(X), y.tolist())
    assert search.best_score_ > -0.2
    assert len(search.predict(list(X))) == 24


def test_refit_on_other_data(iris, tagged):
    X, y = iris
    model = MulticlassSVM().fit(X, y)
    model.fit(X[:100, :2], y[:100])
    assert model.n_features_in_ == 2
    assert model.classes_.tolist() == ["setosa", "versicolor"]
    fresh = MulticlassSVM().fit(X[:100, :2], y[:100])
    np.testing.assert_array_equal(model.coef_, fresh.coef_)

    X, y = tagged
    tagger = SequenceTagger().fit(X, y)
    tables = [np.eye(3)[: len(row)] for row in y[:3]]
    labels = [list(range(len(row))) for row in y[:3]]
    assert tagger.fit(tables, labels).feature_names_ is None
    assert tagger.classes_.tolist() == [0, 1, 2]
    assert tagger.predict(tables) == SequenceTagger().fit(tables, labels).predict(
        tables
    )
