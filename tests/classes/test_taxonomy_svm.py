"""TaxonomySVM: the objective of the definition, predictions, sets of labels."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from taxonomy_cases import DIAMOND, LABELS, data, model  # noqa: F401
from weight_checks import KINDS, check_weights, inexact_checks

from maxmargin import MulticlassSVM, Taxonomy, TaxonomySVM, load, save
from maxmargin.classes.taxonomy.losses import tree_distances, tree_heights
from maxmargin.classes.taxonomy.metrics import class_scores, node_set_scores

# ruff: noqa: F811  (what is imported so is a fixture)


# the estimator -----------------------------------------------------------------------


def objective(model, X, y, cost):
    """The primal, from node weights by the definition."""
    scores = model.decision_function(X)
    numbers = np.searchsorted(model.classes_, y)
    margins = scores[np.arange(len(y)), numbers][:, None] - scores
    hinge = (cost[numbers] - margins).max(axis=1)
    squared = (model.coef_**2).sum() + (model.intercept_**2).sum()
    return 0.5 * squared + model.C_ * hinge.sum()


@pytest.mark.parametrize("loss", ["tree", "tree-distance", "zero-one"])
def test_the_certificate_is_that_of_the_definition(data, loss):
    X, y = data
    model = TaxonomySVM(loss=loss).fit(X, y)
    t = Taxonomy.from_paths(LABELS.tolist())
    cost = {"tree": tree_heights, "tree-distance": tree_distances}.get(
        loss, lambda t, names: 1.0 - np.eye(len(names))
    )(t, sorted(LABELS))
    found = objective(model, X, y, cost)
    assert found == pytest.approx(model.certificate_.primal, rel=1e-6)
    assert model.certificate_.relative_gap <= 0.01
    assert model.nodes_.tolist() == ["a", "a.x", "a.y", "b", "b.w", "b.z", "c"]


def test_flat_is_multiclass(data):
    X, y = data
    cost = tree_heights(Taxonomy.from_paths(LABELS.tolist()), sorted(LABELS))
    flat = TaxonomySVM(mode="flat", tol=1e-4).fit(X, y)
    other = MulticlassSVM(loss=cost, tol=1e-4).fit(X, y)
    np.testing.assert_allclose(flat.coef_, other.coef_)
    assert flat.nodes_.tolist() == flat.classes_.tolist()


def test_a_star_is_flat_up_to_the_scale_of_features(data):
    """With k equal nodes per class, features count sqrt(k) times."""
    X, y = data
    star = {"top": None, **dict.fromkeys(LABELS.tolist(), "top")}
    chain = {**star, **{z + "'": z for z in LABELS.tolist()}}
    flat = MulticlassSVM(C=1.0, tol=1e-3, fit_intercept=False)
    want = flat.fit(X, y).certificate_.primal
    got = TaxonomySVM(star, C=1.0, tol=1e-3, fit_intercept=False).fit(X, y)
    assert got.certificate_.primal == pytest.approx(want, rel=2e-3)
    longer = TaxonomySVM(chain, loss="zero-one", C=1.0, tol=1e-3, fit_intercept=False)
    below = np.array([z + "'" for z in y])
    want = flat.fit(np.sqrt(2) * X, y).certificate_.primal
    assert longer.fit(X, below).certificate_.primal == pytest.approx(want, rel=2e-3)
    # weights of nodes say the same
    weighted = TaxonomySVM(
        star,
        node_weights=lambda depth: np.sqrt(2) ** depth,
        C=1.0,
        tol=1e-3,
        fit_intercept=False,
    )
    assert weighted.fit(X, y).certificate_.primal == pytest.approx(want, rel=2e-3)
    agree = weighted.predict(X) == flat.predict(np.sqrt(2) * X)
    assert agree.mean() > 0.95


def test_ancestors_of_all_classes_have_no_weights(data):
    X, y = data
    below = np.char.add("top.", y)
    model = TaxonomySVM(tol=1e-4).fit(X, below)
    assert "top" not in model.nodes_.tolist()
    inner = np.where(np.char.startswith(y, "a"), "top", below)
    model = TaxonomySVM(tol=1e-4, loss="zero-one").fit(X, inner)
    assert "top" in model.classes_.tolist()
    assert "top" not in model.nodes_.tolist()
    assert model.score(X, inner) > 0.7


def test_predictions(data, model):
    X, y = data
    scores = model.decision_function(X)
    assert scores.shape == (80, 5)
    assert (model.classes_[scores.argmax(axis=1)] == model.predict(X)).all()
    path = model.predict_path(X[:1])[0]
    assert path == model.taxonomy_.ancestors(model.predict(X[:1])[0])
    sparse = model.decision_function(sp.csr_matrix(X))
    np.testing.assert_allclose(sparse, scores)
    assert model.score(X, y) > 0.7


def test_report(data, model):
    X, y = data
    report = model.evaluate(X, y)
    predicted = model.predict(X)
    assert report.accuracy == pytest.approx(model.score(X, y))
    first = np.array([z[0] for z in y]) == np.array([z[0] for z in predicted])
    assert report.levels[0].score == pytest.approx(first.mean())
    deep = y != "c"
    assert report.levels[1].n == deep.sum()
    assert report.levels[1].score == pytest.approx((y == predicted)[deep].mean())
    height = np.where(y == predicted, 0, np.where(first, 1, 2))
    assert report.tree_height == pytest.approx(height.mean())
    assert "tree loss" in str(report)
    # labels are paths: a new one is compared by its path
    assert model.evaluate(X[:2], ["a.x", "zebra"]).accuracy <= 0.5
    strict = clone(model).set_params(taxonomy=LABELS.tolist(), tol=0.1).fit(X, y)
    with pytest.raises(ValueError, match=r"y\[1\] is 'zebra', which is not in the tax"):
        strict.evaluate(X[:2], ["a.x", "zebra"])
    with pytest.raises(ValueError, match="2 true labels but 1 predictions"):
        class_scores(model.taxonomy_, ["a", "a"], ["a"])
    with pytest.raises(ValueError, match="no samples"):
        node_set_scores(model.taxonomy_, [], [])


def test_other_formulations_and_solvers(data):
    X, y = data
    for settings in (
        {"rescaling": "slack"},
        {"penalty": "quadratic"},
        {"solver": "one-slack"},
    ):
        model = TaxonomySVM(**settings).fit(X, y)
        assert model.certificate_.relative_gap <= 0.01
        assert model.score(X, y) > 0.6


def test_path_and_warm_start(data):
    X, y = data
    models = TaxonomySVM(tol=1e-3).path(X, y, [0.1, 1.0])
    alone = TaxonomySVM(tol=1e-3, C=1.0).fit(X, y)
    assert models[1].certificate_.primal == pytest.approx(
        alone.certificate_.primal, rel=2e-3
    )
    warm = TaxonomySVM(warm_start=True, tol=1e-3).fit(X, y)
    passes = warm.n_iter_
    assert warm.fit(X, y).n_iter_ <= passes


def test_saving(data, model, tmp_path):
    X, y = data
    given_ = TaxonomySVM(LABELS.tolist(), mode="flat", tol=0.1).fit(X, y)
    inner = TaxonomySVM(DIAMOND, multilabel=True, tol=0.1)
    inner.fit(X, [["s"], ["u"], ["p", "u"], []] * 20)
    for each in (model, given_, inner):
        save(each, tmp_path / "m")
        again = load(tmp_path / "m")
        assert type(again) is TaxonomySVM
        assert list(again.predict(X)) == list(each.predict(X))
        assert again.taxonomy_ == each.taxonomy_
        assert (again.taxonomy is None) == (each.taxonomy is None)
        copy = pickle.loads(pickle.dumps(each))
        assert list(copy.predict(X)) == list(each.predict(X))


def test_a_failed_fit_changes_nothing(data):
    X, y = data
    model = TaxonomySVM(tol=0.1).fit(X, y)
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="not known"):
        model.set_params(loss="height").fit(X, y)
    assert (model.coef_ == before).all()
    assert model.taxonomy_ == Taxonomy.from_paths(LABELS.tolist())


# many labels -------------------------------------------------------------------------


def test_independent_labels_are_binary_machines(data):
    X, _ = data
    rng = np.random.default_rng(1)
    Y = (X @ rng.normal(size=(6, 4)) + rng.normal(size=(80, 4)) > 0).astype(int)
    Y[:, 3] = 0
    model = TaxonomySVM(multilabel=True, fit_intercept=False, tol=1e-5).fit(X, Y)
    total = 0.0
    for j in range(3):
        one = LinearSVC(loss="hinge", fit_intercept=False, tol=1e-9, max_iter=10**6)
        w = one.fit(X, Y[:, j]).coef_[0]
        hinges = np.maximum(0, 1 - (2 * Y[:, j] - 1) * (X @ w))
        total += 0.5 * w @ w + hinges.sum()
        np.testing.assert_allclose(model.coef_[j], w, atol=0.02)
    # the column that is always 0 has no weights and is predicted so
    assert model.certificate_.primal == pytest.approx(total, rel=1e-4)
    found = model.predict(X)
    assert found.shape == Y.shape
    assert not found[:, 3].any()
    assert model.score(X, Y) == pytest.approx((found == Y).all(axis=1).mean())
    assert model.score(X, sp.csr_matrix(Y)) == model.score(X, Y)
    named = TaxonomySVM(multilabel=True, nodes=["p", "q", "r", "s"], tol=0.1).fit(X, Y)
    assert named.nodes_.tolist() == ["p", "q", "r"]
    assert named.predict(X).shape == Y.shape


def test_sets_in_a_diamond(data):
    X, _ = data
    X = np.abs(X)
    Y = [
        ["s"] if x[0] > 1.5 else ["u"] if x[1] > 1 else ["p"] * int(x[2] > 1) for x in X
    ]
    model = TaxonomySVM(DIAMOND, multilabel=True, C=10.0, loss={"s": 2.0}).fit(X, Y)
    found = model.predict(X)
    t = model.taxonomy_
    assert all(t.closure(nodes) == nodes for nodes in found)
    assert set() in found
    assert [set(path) for path in model.predict_path(X)] == found
    assert model.decision_function(X).shape == (80, 5)
    report = model.evaluate(X, Y)
    wrong = [len(t.closure(y) ^ z) for y, z in zip(Y, found, strict=True)]
    assert report.hamming == pytest.approx(np.mean(wrong))
    assert report.accuracy == pytest.approx(np.mean(np.equal(wrong, 0)))
    assert report.accuracy == model.score(X, Y)
    assert report.accuracy > 0.6
    assert "exactly right" in str(report)
    weights = np.arange(80) < 40
    assert model.score(X, Y, weights) == pytest.approx(np.mean(np.equal(wrong[:40], 0)))


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_rescaled_sets_in_a_tree_converge(data, rescaling):
    X, y = data
    Y = [[label, "c"] if x[0] > 0 else [label] for label, x in zip(y, X, strict=True)]
    model = TaxonomySVM(multilabel=True, rescaling=rescaling, penalty="quadratic")
    model.fit(X, Y)
    assert model.certificate_.relative_gap <= 0.01
    assert model.evaluate(X, Y).micro_f1 > 0.8


def test_no_samples(model, data):
    assert len(model.predict([])) == len(model.predict_path([])) == 0
    X, y = data
    sets = TaxonomySVM(multilabel=True, tol=0.1).fit(X, [[label] for label in y])
    assert sets.predict([]) == sets.predict_path([]) == []


# scikit-learn ------------------------------------------------------------------------


# the features of some checks have scales that take more passes
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [TaxonomySVM(max_iter=300)], expected_failed_checks=inexact_checks
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_weights_of_samples_are_repetitions_to_seven_digits(kind):
    check_weights(TaxonomySVM(tol=1e-14, max_iter=300), kind)


def test_flat_classes_are_explained_by_their_own_weights_alone():
    X = np.eye(3)[[0, 1, 2] * 5]
    model = TaxonomySVM(C=10, mode="flat").fit(X, ["pet", "pet.cat", "car"] * 5)
    (part,) = model.explain(X[1]).parts
    scores = model.decision_function(X[1:2])[0]
    a, b = np.sort(scores)[:-3:-1]
    assert part.predicted == "pet.cat"
    np.testing.assert_allclose(part.difference, a - b)
