"""Sets of labels against enumeration, and the estimator on small and real data."""

from itertools import product

import numpy as np
import pytest
from far_cases import check_listed
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import MultilabelSVM, load, save
from maxmargin.core.formulation import make_form
from maxmargin.core.tables.arrays import csr_arrays
from maxmargin.multilabel.label_sets import KINDS, RANKING, is_pair, make_batch
from maxmargin.multilabel.metrics import multilabel_scores
from maxmargin.testing import FORMULATIONS, Asker, check_structure


def enumerate_label_sets(batch, i: int):
    """Every labelling of a small example."""
    n = batch.n_labels
    if batch.kind != RANKING:
        for y in product((0, 1), repeat=n):
            yield np.array(y, np.int32)
        return
    wanted = [
        (a, b)
        for a in range(n + 1)
        for b in range(n + 1)
        if is_pair.py_func(batch, i, a, b)
    ]
    for chosen in product((0, 1), repeat=len(wanted)):
        y = np.zeros(n + 1, np.int32)
        for (a, b), on in zip(wanted, chosen, strict=True):
            y[a] += on
            y[b] += on
        yield y


def random_batch(seed, kind, n=4, n_labels=3, n_features=3, cost=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) * (rng.random((n, n_features)) < 0.8)
    truth = rng.integers(0, 2, (n, n_labels))
    truth[0] = 0  # no label, all labels
    truth[1] = 1
    cost = np.ones(n_labels) if cost is None else cost
    rows = csr_arrays(X, np.float64)
    batch = make_batch(*rows, n_features, truth, cost, KINDS[kind], np.float64)
    return batch, n_features * batch.width


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_structure_equals_enumeration(kind):
    for seed in range(3):
        batch, size = random_batch(seed, kind)
        check_structure(batch, size, enumerate_label_sets, seed=seed)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_sums_of_scores_far_apart(kind):
    for seed in range(20):
        batch, size = random_batch(seed, kind)
        rng = np.random.default_rng(seed)
        for i in range(len(batch.start) - 1):
            check_listed(batch, i, size, enumerate_label_sets(batch, i), rng)


def test_label_weights_equal_enumeration():
    batch, size = random_batch(0, "hamming", cost=[1.0, 0.5, 3.0])
    check_structure(batch, size, enumerate_label_sets)


@pytest.mark.parametrize("kind", sorted(KINDS))
@given(seed=st.integers(0, 10**6))
def test_the_search_is_exact_in_every_formulation(kind, seed):
    batch, size = random_batch(seed, kind)
    w = np.random.default_rng(seed).normal(size=size)
    for i in range(len(batch.start) - 1):
        ask = Asker(batch, i, w, True)
        outputs = list(enumerate_label_sets(batch, i))
        losses = np.array([ask.loss(y) for y in outputs])
        margins = np.array([ask.margin(y) for y in outputs])
        for rescaling, penalty in FORMULATIONS:
            form = make_form(rescaling, penalty, 1e-6)
            c = np.sqrt(losses) if form.quadratic else losses
            best = (c - (c if form.slack else 1.0) * margins).max()
            bound, *_ = ask.most_violated(form)
            assert bound == pytest.approx(best, abs=1e-9)


def blobs(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    Y = (X @ rng.normal(size=(5, 4)) + 0.3 * rng.normal(size=(n, 4)) > 0.2).astype(int)
    return X, Y


@pytest.mark.parametrize("loss", sorted(KINDS))
def test_a_fit_is_certified_and_learns(loss):
    X, Y = blobs()
    model = MultilabelSVM(C=10, loss=loss, tol=0.01).fit(X, Y)
    assert model.converged_
    assert model.certificate_.relative_gap <= 0.01
    assert model.score(X, Y) > 0.85
    assert (model.predict(X) == (model.decision_function(X) > 0)).all()


def test_hamming_is_one_binary_machine_per_label():
    from sklearn.svm import LinearSVC

    X, Y = blobs()
    model = MultilabelSVM(C=0.7, tol=1e-6, max_iter=20000).fit(X, Y)
    for k in range(Y.shape[1]):
        # Psi has x where the label is on: half of what a +-1 machine separates by, so
        # 1/2 |w|^2 + C max(0, 1 -+ w.x), where LinearSVC has the margin 1 for w.x itself
        rows = np.hstack([X, np.ones((len(X), 1))])
        other = LinearSVC(
            C=0.7, loss="hinge", fit_intercept=False, tol=1e-9, max_iter=10**6
        ).fit(rows, Y[:, k])
        ours = np.append(model.coef_[k], model.intercept_[k])
        np.testing.assert_allclose(ours, other.coef_[0], atol=2e-3)


def test_sets_of_labels_go_in_and_come_out(tmp_path):
    X, Y = blobs()
    names = np.array(["bird", "fish", "frog", "newt"])
    sets = [set(names[row == 1].tolist()) for row in Y]
    model = MultilabelSVM(loss="f1", C=5).fit(X, sets)
    table = MultilabelSVM(loss="f1", C=5).fit(X, Y)
    assert model.classes_.tolist() == names.tolist()
    assert [set(row) for row in model.predict(X)] == [
        set(names[row == 1].tolist()) for row in table.predict(X)
    ]
    assert model.score(X, sets) == table.score(X, Y)
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").predict(X) == model.predict(X)


def test_scores_equal_scikit_learn():
    from sklearn import metrics

    rng = np.random.default_rng(0)
    Y, Z = rng.integers(0, 2, (2, 40, 5))
    scores = rng.normal(size=(40, 5))
    Z = (scores > 0).astype(int)
    report = multilabel_scores(Y, Z, scores)
    assert report.hamming == pytest.approx(metrics.hamming_loss(Y, Z))
    assert report.subset == pytest.approx(metrics.accuracy_score(Y, Z))
    for name, average in (
        ("f1", "samples"),
        ("micro_f1", "micro"),
        ("macro_f1", "macro"),
    ):
        wanted = metrics.f1_score(Y, Z, average=average, zero_division=1)
        assert getattr(report, name) == pytest.approx(wanted), name
    jaccard = metrics.jaccard_score(Y, Z, average="samples", zero_division=1)
    assert report.jaccard == pytest.approx(jaccard)
    some = (Y.sum(axis=1) > 0) & (Y.sum(axis=1) < 5)
    ranking = metrics.label_ranking_loss(Y[some], scores[some])
    assert report.ranking == pytest.approx(ranking)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([{"a"}, "b"], r"y\[1\] is the text 'b'"),
        ([{"a"}, {1}], "mixes texts and numbers"),
        ([{"a"}, 3], r"y\[1\] is 3"),
        ([set(), set()], "no sample in y has a label"),
        (np.array([[0, 2], [1, 0]]), r"y\[0, 1\] is"),
        (np.array([0, 1]), "shape"),
        ([{"a"}], "X has 2 samples and y 1"),
        ([{None}, {"a"}], "texts or whole numbers"),
        (None, "give a set of labels"),
    ],
)
def test_bad_sets_are_named(y, words):
    with pytest.raises(ValueError, match=words):
        MultilabelSVM().fit([[1.0], [2.0]], y)


@pytest.mark.parametrize("loss", ["f2", {"c": 1.0}, {"a": -1.0}, {"a": "x"}, 3])
def test_bad_losses_are_named(loss):
    with pytest.raises(ValueError, match="loss"):
        MultilabelSVM(loss=loss).fit([[1.0], [2.0]], [{"a"}, {"b"}])


def test_labels_of_other_data_are_named():
    model = MultilabelSVM().fit([[1.0], [2.0]], [{"a"}, {"b"}])
    with pytest.raises(ValueError, match="the label 'c'"):
        model.score([[1.0]], [{"c"}])
    with pytest.raises(ValueError, match="NaN"):
        model.predict([[np.nan]])


@pytest.mark.slow
def test_f1_training_helps_f1_on_scenes(data_home):
    raw = np.load(data_home / "scene" / "scene.npz")
    X, Y = raw["X_train"][::2], raw["y_train"][::2]  # quick, and enough for it
    X_test, Y_test = raw["X_test"], raw["y_test"]
    found = {
        loss: MultilabelSVM(C=1.0, loss=loss, tol=0.1).fit(X, Y).score(X_test, Y_test)
        for loss in ("hamming", "f1")
    }
    assert found["f1"] > found["hamming"] + 0.02


def test_the_picture_shows_every_label():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from maxmargin.plots import plot_label_scores

    truth = np.array([[1, 0, 1], [1, 0, 0], [1, 1, 0]])
    found = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0]])
    figure = plot_label_scores(truth, found, ["a", "b", "$c"])
    ax = figure.axes[0]
    assert [t.get_text() for t in ax.get_yticklabels()] == [
        "a  (3)",
        "b  (1)",
        "$c  (1)",
    ]
    precision, recall = ax.lines[0].get_xdata(), ax.lines[1].get_xdata()
    assert precision.tolist() == [1.0, 1.0]  # $c was never predicted
    np.testing.assert_allclose(recall, [2 / 3, 1.0, 0.0])
    figure.canvas.draw()
    pyplot.close(figure)


@pytest.mark.parametrize(("objective", "k"), [("hinge", 1.0), ("log", 5.0)])
def test_C_follows_the_unit_of_the_features(objective, k):
    X, Y = blobs()
    options = {"objective": objective, "fit_intercept": False, "tol": 1e-6}
    models = [MultilabelSVM(**options).fit(unit * X, Y) for unit in (1.0, 1024.0)]
    wanted = pytest.approx(k / X.var(axis=0).sum(), rel=0.005)
    assert wanted == models[0].C_ == MultilabelSVM(graph="tree", **options).fit(X, Y).C_
    np.testing.assert_allclose(
        models[1].decision_function(1024.0 * X),
        models[0].decision_function(X),
        atol=0.02,
    )
