"""Scores that tie say nothing: metrics are means over all orders of what is tied."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import HomologFinder, TopKRanker
from maxmargin.metrics import (
    mean_average_precision,
    mean_reciprocal_rank,
    multilabel_scores,
    ndcg_at_k,
    pairs_in_order,
    precision_at_k,
    ranking_scores,
)

METRICS = {
    "precision": lambda y, s, q, k: precision_at_k(y, s, q, k),
    "ndcg": lambda y, s, q, k: ndcg_at_k(y, s, q, k),
    "average precision": lambda y, s, q, k: mean_average_precision(y, s, q),
    "reciprocal rank": lambda y, s, q, k: mean_reciprocal_rank(y, s, q),
    "pairs": lambda y, s, q, k: pairs_in_order(y, s, q),
}


@pytest.mark.parametrize("name", sorted(METRICS))
@given(
    rows=st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from([0.0, 1.0, 2.5])),
        min_size=1,
        max_size=5,
    ),
    k=st.integers(1, 6),
)
def test_ties_are_the_mean_over_all_orders(name, rows, k):
    metric = METRICS[name]
    y, scores = (np.array(column) for column in zip(*rows, strict=True))
    qid = np.zeros(len(y), int)
    found = []
    for order in permutations(range(len(y))):
        # tiny steps break ties in this order, and move nothing past another score
        broken = scores + 1e-3 * np.array(order)
        found.append(metric(y, broken, qid, k))
    assert metric(y, scores, qid, k) == pytest.approx(np.mean(found), abs=1e-12)


@pytest.mark.parametrize("name", sorted(METRICS))
def test_the_order_of_the_file_is_worth_nothing(name):
    metric = METRICS[name]
    y, qid = np.tile([2, 1, 0, 0, 0, 0], 5), np.repeat(np.arange(5), 6)
    best_first = metric(y, np.zeros(30), qid, 3)
    assert best_first < 0.7
    assert metric(y[::-1], np.zeros(30), qid, 3) == pytest.approx(best_first)


def test_the_report_and_the_curve_say_the_same():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    from maxmargin.plots import plot_ranking_curves

    y, qid = [1, 1, 0, 0], [7, 7, 7, 7]
    report = ranking_scores(y, [0.0] * 4, qid, at=[1, 2])
    assert report.precision == {1: 0.5, 2: 0.5}
    assert report.mean_average_precision < 0.8
    figure = plot_ranking_curves(y, {"none": [0.0] * 4}, qid, most=2)
    assert figure.axes[0].lines[0].get_ydata().tolist() == [0.5, 0.5]
    pyplot.close(figure)


def test_a_finder_that_ties_all_candidates_has_not_found_the_first():
    finder = HomologFinder()
    finder.alphabet_ = "ACGT"
    finder.substitution_matrix_ = np.zeros((4, 4))
    finder.gap_open_ = finder.gap_extend_ = 0.0
    X = [("ACGT", ["ACGT", "TTTT", "GGGG", "CCCC"])] * 3
    assert finder.score(X, [0, 0, 0]) == pytest.approx(0.25)
    assert finder.score(X, [3, 3, 3]) == pytest.approx(0.25)
    finder.substitution_matrix_ = np.eye(4)
    assert finder.score(X, [0, 0, 0]) == 1.0


def test_tied_labels_are_in_the_wrong_order():
    truth = [[1, 1, 0], [0, 1, 0]]
    assert multilabel_scores(truth, truth, np.zeros((2, 3))).ranking == 1.0


@pytest.mark.parametrize("columns", [3, 17, 33])
def test_equal_documents_tie_wherever_they_stand(columns):
    model = TopKRanker()
    model.n_features_in_ = columns
    model.coef_ = np.random.default_rng(columns).normal(size=columns)
    X = np.tile(np.random.default_rng(0).normal(size=columns), (41, 1))
    assert len(set(model.predict(X))) == 1
    assert len(set(model.predict(np.asfortranarray(X)))) == 1
