"""Cluster metrics on examples from the literature, and what must always hold."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.metrics import cluster_scores


def test_the_example_of_bagga_and_baldwin():
    # truth {1..5} {6 7} {8..C}; system 1 joins the small one to the last, system 2 the
    # two large ones: MUC cannot tell them apart, B-cubed can
    truth = [0] * 5 + [1] * 2 + [2] * 5
    one = cluster_scores([truth], [[0] * 5 + [1] * 7])
    two = cluster_scores([truth], [[0] * 5 + [1] * 2 + [0] * 5])
    assert one.muc == two.muc
    assert one.muc.precision == pytest.approx(9 / 10)
    assert one.muc.recall == 1.0
    assert one.b_cubed.precision == pytest.approx(16 / 21)
    assert two.b_cubed.precision == pytest.approx(7 / 12)
    assert one.b_cubed.recall == two.b_cubed.recall == 1.0


def test_luos_example_of_ceaf():
    truth = [0] * 5 + [1] * 2 + [2] * 5
    one = cluster_scores([truth], [[0] * 5 + [1] * 7])
    two = cluster_scores([truth], [[0] * 5 + [1] * 2 + [0] * 5])
    # Luo 2005, table 1: phi 3 gives 83.3% and 58.3%, phi 4 gives 73.3% and 66.7%
    assert one.ceaf_m.f1 == pytest.approx(10 / 12)
    assert two.ceaf_m.f1 == pytest.approx(7 / 12)
    assert one.ceaf_e.f1 == pytest.approx(0.733, abs=5e-4)
    assert two.ceaf_e.f1 == pytest.approx(0.667, abs=5e-4)
    all_one = cluster_scores([truth], [[0] * 12])
    apart = cluster_scores([truth], [list(range(12))])
    assert all_one.ceaf_m.f1 == pytest.approx(0.417, abs=5e-4)
    assert apart.ceaf_m.f1 == pytest.approx(0.25)
    assert apart.muc.recall == apart.muc.f1 == 0.0


def test_losses_are_means_over_documents():
    report = cluster_scores([[0, 0, 1], [0, 0]], [[0, 1, 1], [0, 0]])
    assert report.pair_loss == pytest.approx((100 * 2 / 3 + 0) / 2)
    assert report.mitre_loss == pytest.approx((100 + 0) / 2)
    assert report.as_dict()["muc"]["f1"] == report.muc.f1
    assert "MITRE loss 50.00" in str(report)


def test_documents_of_one_mention_or_none():
    report = cluster_scores([[], [7]], [[], [0]])
    assert report.conll == 1.0
    assert report.pair_loss == report.mitre_loss == 0.0


clusterings = st.lists(st.integers(0, 4), min_size=1, max_size=9)


@given(truth=clusterings, seed=st.integers(0, 1000))
def test_what_must_always_hold(truth, seed):
    rng = np.random.default_rng(seed)
    found = rng.integers(0, 4, size=len(truth)).tolist()
    here, back = cluster_scores([truth], [found]), cluster_scores([found], [truth])
    for name in ("muc", "b_cubed", "ceaf_e", "ceaf_m"):
        rates, other = getattr(here, name), getattr(back, name)
        assert 0 <= min(rates) <= max(rates) <= 1 + 1e-12
        assert rates.f1 == pytest.approx(other.f1)
        assert rates.precision == pytest.approx(other.recall)
    n = len(truth)
    wrong = sum(
        (truth[a] == truth[b]) != (found[a] == found[b])
        for a in range(n)
        for b in range(a)
    )
    assert here.pair_loss == pytest.approx(100 * wrong / max(n * (n - 1) / 2, 1))
    same = cluster_scores([truth], [[f"id {c}" for c in truth]])
    assert same.conll == pytest.approx(1.0)
    assert same.pair_loss == 0.0


def test_predictions_of_other_mentions_are_refused():
    with pytest.raises(ValueError, match="document 0, prediction has 1 cluster ids"):
        cluster_scores([[0, 0]], [[0]])
    with pytest.raises(ValueError, match="1 documents with true and 0"):
        cluster_scores([[0]], [])
