"""TopKRanker against other machines and metrics, and what it refuses."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.svm import LinearSVC

from maxmargin import TopKRanker, load, save
from maxmargin.rankings.metrics import (
    mean_average_precision,
    ndcg_at_k,
    pairs_in_order,
    precision_at_k,
    ranking_scores,
)
from maxmargin.rankings.parameters import LOSSES
from maxmargin.testing import check_model_file


def queries(n_queries=12, size=10, seed=0, noise=0.7):
    rng = np.random.default_rng(seed)
    n = n_queries * size
    X = rng.normal(size=(n, 4))
    score = X @ [1.0, -0.5, 0.2, 0.0] + noise * rng.normal(size=n)
    y = (score > 0.5).astype(int) + (score > 1.3)
    return X, y, np.repeat(np.arange(n_queries), size)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_fit_learns_and_survives_saving(loss, tmp_path):
    X, y, qid = queries()
    model = TopKRanker(k=3, C=10, loss=loss).fit(X, y, qid)
    assert model.converged_
    assert model.score(X, y, qid) > model.score(-X, y, qid) + 0.2
    assert model.coef_[0] > abs(model.coef_[3])
    np.testing.assert_array_equal(model.predict(X, qid), X @ model.coef_)
    np.testing.assert_array_equal(model.decision_function(X), model.predict(X))
    save(model, tmp_path / "model")
    other = load(tmp_path / "model")
    np.testing.assert_array_equal(other.rank(X, qid), model.rank(X, qid))
    assert other.certificate_ == model.certificate_
    check_model_file(model, X, n=40)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_order_of_documents_and_the_kind_of_matrix_do_not_matter(loss):
    X, y, qid = queries(6, 6)
    model = TopKRanker(k=2, C=5, loss=loss, tol=1e-4).fit(X, y, qid)
    mixed = np.argsort(np.arange(len(X)) % 6, kind="stable")  # queries torn apart
    other = TopKRanker(k=2, C=5, loss=loss, tol=1e-4)
    other.fit(sp.csr_matrix(X[mixed]), y[mixed], qid[mixed].astype(str))
    np.testing.assert_allclose(model.coef_, other.coef_, atol=0.05)
    ranked = other.rank(X[mixed], qid[mixed])
    for q in range(6):
        rows = mixed[ranked[6 * q : 6 * q + 6]]
        assert set(qid[rows]) == {q}
        assert (np.diff((X @ other.coef_)[rows]) <= 0).all()


def explicit_pairs(X, y, qid):
    """Differences of all pairs of documents, and their weights 1 / N of the query."""
    rows, weights = [], []
    for q in np.unique(qid):
        at = np.flatnonzero(qid == q)
        a, b = np.nonzero(y[at][:, None] > y[at])
        rows.append(X[at[a]] - X[at[b]])
        weights.append(np.full(len(a), 1.0 / max(len(a), 1)))
    return np.vstack(rows), np.concatenate(weights)


def test_pairwise_is_the_machine_of_all_pairs():
    X, y, qid = queries()
    Z, weights = explicit_pairs(X, y, qid)

    def objective(w, C):
        return 0.5 * w @ w + C * weights @ np.maximum(0.0, 1.0 - Z @ w)

    for C in (0.1, 3.0):
        model = TopKRanker(C=C, loss="pairwise", tol=1e-6, max_iter=10_000)
        w = model.fit(X, y, qid).coef_
        assert model.certificate_.primal == pytest.approx(objective(w, C), rel=1e-9)
        signs = np.where(np.arange(len(Z)) % 2, 1, -1)  # LinearSVC wants two classes
        svc = LinearSVC(
            C=C, loss="hinge", fit_intercept=False, tol=1e-8, max_iter=10**6
        )
        svc.fit(Z * signs[:, None], signs, sample_weight=weights)
        assert objective(w, C) == pytest.approx(objective(svc.coef_[0], C), rel=1e-4)


@pytest.mark.parametrize("loss", LOSSES)
def test_solvers_agree(loss):
    X, y, qid = queries(6, 8)
    found = [
        TopKRanker(k=2, loss=loss, C=2, solver=solver, tol=1e-3).fit(X, y, qid)
        for solver in ("auto", "one-slack")
    ]
    if loss == "precision":  # both from the same start, but not to the same point
        values = [model.certificate_.objective for model in found]
        assert values[0] == pytest.approx(values[1], rel=0.1)
    else:
        values = [model.certificate_.primal for model in found]
        assert values[0] == pytest.approx(values[1], rel=2e-3)


def test_the_objective_never_rises_and_the_start_is_kept():
    X, y, qid = queries(20, 12, noise=1.5)
    model = TopKRanker(k=3, C=20, loss="precision").fit(X, y, qid)
    values = [row["objective"] for row in model.rounds_]
    assert all(b <= a * (1 + 1e-6) for a, b in pairwise(values))
    assert model.initial_.shape == model.coef_.shape
    again = TopKRanker(k=3, C=20, loss="precision", init=model.initial_)
    again.fit(X, y, qid)
    np.testing.assert_allclose(again.coef_, model.coef_)
    assert not hasattr(again, "initial_")
    random = TopKRanker(
        k=3, C=20, loss="precision", init="random", n_restarts=3, random_state=1
    )
    assert len(random.fit(X, y, qid).restarts_) == 3


def test_one_place_for_one_relevant_document_has_nothing_hidden():
    X, _, qid = queries(10, 6)
    y = np.zeros(len(X), int)
    y[np.arange(10) * 6 + np.argmax((X @ [1, -1, 0, 0]).reshape(10, 6), axis=1)] = 1
    model = TopKRanker(k=1, C=50, loss="precision", tol=1e-3).fit(X, y, qid)
    assert model.n_outer_ == 1
    assert model.score(X, y, qid) == 1.0


def test_queries_that_teach_nothing_change_nothing():
    X, y, qid = queries(6, 6)
    more = np.vstack([X, X[:9]])
    grades = np.concatenate([y, [0] * 4, [2] * 4, [1]])  # none, all, one document
    names = np.concatenate([qid, [100] * 4, [101] * 4, [102]])
    for loss in LOSSES:
        C = 1.0 if loss == "precision" else None  # of many stationary points, the same
        few = TopKRanker(k=4, C=C, loss=loss, tol=1e-5).fit(X, y, qid)
        all_ = TopKRanker(k=4, C=C, loss=loss, tol=1e-5).fit(more, grades, names)
        assert all_.C_ == few.C_
        np.testing.assert_allclose(all_.coef_, few.coef_, atol=2e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_k_may_be_larger_than_every_list(loss):
    X, y, qid = queries(4, 5)
    model = TopKRanker(k=50, loss=loss, C=5).fit(X, y, qid)
    assert model.coef_.any()
    assert pairs_in_order(y, X @ model.coef_, qid) > 0.7


def test_short_lists_are_judged_by_r_precision():
    X, y, qid = queries(12, 8)
    kept = np.bincount(qid, y > 0)[qid] == 3  # so that one k is R of all of them
    short = TopKRanker(k=10, C=5, loss="precision", tol=1e-4)
    exact = TopKRanker(k=3, C=5, loss="precision", tol=1e-4)
    data = X[kept], y[kept], qid[kept]
    np.testing.assert_allclose(short.fit(*data).coef_, exact.fit(*data).coef_)
    assert short.coef_.any()


@pytest.mark.parametrize("loss", LOSSES)
def test_C_follows_the_unit_of_the_features(loss):
    X, y, qid = queries(12, 8)
    one, other = (
        TopKRanker(k=3, loss=loss, tol=1e-4).fit(unit * X, y, qid)
        for unit in (1.0, 1024.0)
    )
    assert pytest.approx(2.0 / X.var(axis=0).sum(), rel=0.05) == one.C_
    np.testing.assert_allclose(1024.0 * other.coef_, one.coef_, atol=0.05)


def test_weights_of_queries_and_paths():
    X, y, qid = queries(6, 6)
    kept = qid < 4
    few = TopKRanker(loss="ndcg", tol=1e-4).fit(X[kept], y[kept], qid[kept])
    weights = [1.0] * 4 + [0.0] * 2
    all_ = TopKRanker(loss="ndcg", tol=1e-4).fit(X, y, qid, sample_weight=weights)
    np.testing.assert_allclose(all_.coef_, few.coef_, atol=1e-2)
    models = TopKRanker(loss="pairwise", tol=1e-4).path(X, y, [1.0, 0.1], qid)
    assert [model.C for model in models] == [1.0, 0.1]
    alone = TopKRanker(C=1, loss="pairwise", tol=1e-4).fit(X, y, qid)
    assert models[0].certificate_.primal == pytest.approx(
        alone.certificate_.primal, rel=1e-3
    )


def test_scikit_learn_can_copy_it():
    model = TopKRanker(k=5, loss="ndcg", relevant=2)
    assert clone(model).get_params() == model.get_params()
    assert model.set_params(k=7).k == 7
    pandas = pytest.importorskip("pandas")
    X, y, qid = queries(4, 5)
    frame = pandas.DataFrame(X, columns=list("abcd"))
    model.fit(frame, y, qid)
    assert model.feature_names_in_.tolist() == list("abcd")


def test_metrics_equal_others():
    from sklearn.metrics import average_precision_score, ndcg_score

    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 3, 40), rng.normal(size=40)
    qid = np.repeat([3, 1, 2, 9], 10)
    at = [np.flatnonzero(qid == q) for q in (3, 1, 2, 9)]
    wanted = np.mean([ndcg_score([2.0 ** y[i] - 1], [scores[i]], k=5) for i in at])
    assert ndcg_at_k(y, scores, qid, 5) == pytest.approx(wanted)
    wanted = np.mean([average_precision_score(y[i] > 0, scores[i]) for i in at])
    assert mean_average_precision(y, scores, qid) == pytest.approx(wanted)
    top = [np.argsort(-scores[i])[:4] for i in at]
    wanted = np.mean([(y[i][t] > 0).mean() for i, t in zip(at, top, strict=True)])
    assert precision_at_k(y, scores, qid, 4) == pytest.approx(wanted)
    report = ranking_scores(y, scores, qid, at=[4, 5])
    assert report.precision[4] == pytest.approx(wanted)
    assert "4 queries, 40 documents" in str(report)
    assert pairs_in_order([0, 1], [0.0, 0.0], [1, 1]) == 0.5
    # a query without relevant documents counts 0, and is counted
    report = ranking_scores([0, 0, 1], [1, 2, 3], ["a", "a", "b"], at=[1])
    assert (report.irrelevant, report.precision[1]) == (1, 0.5)


GOOD = ([[1.0], [2.0], [0.0], [3.0]], [0, 1, 0, 1], [1, 1, 2, 2])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"qid": None}, "qid is missing"),
        ({"qid": [1, 1, 2]}, r"qid has shape \(3,\), but there are 4"),
        ({"qid": [1, 1, 2, np.nan]}, r"qid\[3\] is .*nan"),
        ({"qid": [1, 1, 2, 2.5]}, r"qid\[3\]"),
        ({"qid": [1, None, 2, 2]}, r"qid\[1\] is None"),
        ({"qid": [[1], [1, 2]]}, "qid has shape"),
        ({"y": None}, "y is missing"),
        ({"y": [0, 1, 0]}, r"y has shape \(3,\), but X has 4"),
        ({"y": [0, np.nan, 0, 1]}, r"y\[1\] is nan"),
        ({"y": [0, 1e9, 0, 1]}, r"y\[1\] is 1000000000.0"),
        ({"y": ["a", "b", "c", "d"]}, "not a number"),
        ({"y": [0, 0, 0, 0]}, "no document has a grade of 1 or more"),
        ({"y": [1, 1, 1, 1]}, "the same relevance"),
        ({"X": [[1.0], [np.nan], [0.0], [1.0]]}, "row 1: the value of column 0 is nan"),
        ({"X": [[1.0], [1.0, 2.0], [0.0], [1.0]]}, "row 1 of X does not have 1"),
        ({"X": np.zeros((0, 2)), "y": [], "qid": []}, "0 sample"),
        ({"sample_weight": [1.0]}, "sample_weight has shape"),
    ],
)
def test_bad_data_are_named(change, words):
    X, y, qid = GOOD
    data = {"X": X, "y": y, "qid": qid, **change}
    for loss in LOSSES:
        if "no document has" in words and loss == "pairwise":
            continue
        with pytest.raises(ValueError, match=words):
            TopKRanker(k=1, loss=loss).fit(**data)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"k": 0}, "k=0"),
        ({"k": 2.5}, "k=2.5"),
        ({"k": True}, "k=True"),
        ({"loss": "auc"}, "loss='auc'"),
        ({"loss": ["ndcg"]}, "loss="),
        ({"relevant": "x"}, "relevant='x'"),
        ({"relevant": np.nan}, "relevant=nan"),
        ({"init": "best"}, "init='best'"),
        ({"init": np.zeros(3)}, "init has weights of shape"),
        ({"C": np.inf}, "hard margin"),
        ({"objective": "log"}, "rankings have no sums"),
        ({"max_outer": 0}, "max_outer=0"),
    ],
)
def test_bad_parameters_are_named(parameters, words):
    with pytest.raises(ValueError, match=words):
        TopKRanker(**{"k": 1, "loss": "precision", **parameters}).fit(*GOOD)


def test_other_data_are_checked_too():
    model = TopKRanker(k=1).fit(*GOOD)
    with pytest.raises(ValueError, match="NaN"):
        model.predict([[np.nan]])
    with pytest.raises(ValueError, match="features"):
        model.predict([[1.0, 2.0]])
    with pytest.raises(ValueError, match="qid is missing"):
        model.rank([[1.0]])


def test_prediction_reads_weights_alone():
    X, y, qid = queries()
    model = TopKRanker().fit(X, y, qid)
    scores = model.predict(X)
    model.set_params(k=0, loss="other", n_jobs=0)  # for the next fit, which says so
    np.testing.assert_array_equal(model.predict(X), scores)
    with pytest.raises(ValueError, match="k=0 is not possible"):
        model.fit(X, y, qid)


def test_the_picture_has_a_line_per_model():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from maxmargin.plots import plot_ranking_curves

    X, y, qid = queries(4, 5)
    figure = plot_ranking_curves(y, {"a": X[:, 0], "$b": X[:, 1]}, qid, "ndcg", most=4)
    lines = figure.axes[0].lines
    assert len(lines) == 2
    assert lines[0].get_ydata()[3] == pytest.approx(ndcg_at_k(y, X[:, 0], qid, 4))
    figure.canvas.draw()
    pyplot.close(figure)
    with pytest.raises(ValueError, match="metric='map'"):
        plot_ranking_curves(y, {"a": X[:, 0]}, qid, "map")
