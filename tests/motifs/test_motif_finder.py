"""MotifFinder: it finds what was planted, says where, and refuses what it cannot use."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

from maxmargin import MotifFinder, load, save
from maxmargin.motifs.words import shifted_motif
from maxmargin.plots import plot_convergence, plot_logo, plot_site_scores
from maxmargin.testing import check_model_file

MOTIF = "TTTACGTA"
TURNED = "TACGTAAA"


@pytest.fixture(scope="module")
def planted():
    """(sequences, labels, starts): the motif is in the first half, on both strands."""
    rng = np.random.default_rng(0)
    X = ["".join(rng.choice(list("ACGT"), 30)) for _ in range(60)]
    at = rng.integers(0, 23, 30)
    for i in range(30):
        site = MOTIF if i % 3 else TURNED
        X[i] = X[i][: at[i]] + site + X[i][at[i] + 8 :]
    return X, [True] * 30 + [False] * 30, at


@pytest.fixture(scope="module")
def model(planted):
    X, y, _ = planted
    finder = MotifFinder(8, order=1, both_strands=True, C=3, n_restarts=3)
    return finder.fit(X, y)


def test_planted_sites_are_found(model, planted):
    X, y, at = planted
    assert model.score(X, y) > 0.9
    sites = model.predict_sites(X)
    starts = np.array([site.start for site in sites[:30]])
    assert np.mean(starts == at) > 0.8
    strands = {site.strand for site in sites[:30]}
    assert strands == {"+", "-"}
    assert model.consensus() in (MOTIF, TURNED)
    scores = model.decision_function(X)
    assert scores.tolist() == pytest.approx([site.score for site in sites])
    assert (model.predict(X) == (scores > 0)).all()
    assert all(site.end - site.start == 8 for site in sites)


def test_the_objective_never_rises_and_the_best_start_is_kept(model):
    values = [row["objective"] for row in model.rounds_]
    assert all(b <= a * (1 + 1e-6) for a, b in pairwise(values))
    assert model.certificate_.objective == min(model.restarts_)
    assert len(model.restarts_) == 3
    assert model.certificate_.bound <= model.tol * model.certificate_.objective


def test_probabilities_are_the_softmax_against_the_background(model):
    odds = model.motif_ - model.letter_background_
    p = model.frequencies_ * np.exp(odds)
    assert model.probabilities() == pytest.approx(p / p.sum(axis=1, keepdims=True))
    assert model.counts_.sum(axis=1).tolist() == [30] * 8
    assert len(model.background_) == 4 + 16


def test_labels_may_be_anything_of_two_kinds(planted):
    X, y, _ = planted
    finder = MotifFinder(8, order=0, tol=0.1)
    for yes, no in ((1, -1), (1, 0), ("+", "-")):
        fitted = clone(finder).fit(X, [yes if v else no for v in y])
        assert fitted.classes_.tolist() == [no, yes]
    fitted = (
        clone(finder)
        .set_params(positive="ars")
        .fit(X, ["ars" if v else "other" for v in y])
    )
    assert fitted.classes_.tolist() == ["other", "ars"]


def test_a_width_is_chosen_on_samples_left_out(planted):
    X, y, _ = planted
    finder = MotifFinder([2, 8], order=0, both_strands=True, C=3)
    finder.fit(X, y)
    assert set(finder.width_errors_) == {2, 8}
    assert finder.width_ == 8 == len(finder.motif_)
    assert finder.width_errors_[8] < finder.width_errors_[2]
    finder.set_params(width=8).fit(X, y)
    assert not hasattr(finder, "width_errors_")


def test_weights_of_samples_count(planted):
    X, y, _ = planted
    weights = np.where(y, 1.0, 0.02)
    finder = MotifFinder(8, order=0, C=0.1, composition=False)
    light = finder.fit(X, y, weights).predict(X)
    assert light.mean() > 0.9  # negatives hardly matter


def test_starts_from_a_model_and_in_order(model, planted):
    X, y, _ = planted
    again = clone(model).set_params(init=model, n_restarts=1).fit(X, y)
    assert again.certificate_.objective <= model.certificate_.objective * 1.02
    paced = clone(model).set_params(self_paced=True).fit(X, y)
    assert paced.rounds_[0]["objective"] > paced.certificate_.objective
    with pytest.raises(ValueError, match="init has weights of shape"):
        MotifFinder(5, init=model).fit(X, y)


def test_a_motif_half_outside_its_sites_is_shifted_back(model, planted):
    X, y, _ = planted
    off = shifted_motif(model.coef_, 8, 3)
    start = clone(model).set_params(init=off, n_restarts=1, shifts=3)
    stays = clone(start).set_params(shifts=0).fit(X, y)
    moves = start.fit(X, y)
    assert stays.consensus() not in (MOTIF, TURNED)
    assert moves.consensus() in (MOTIF, TURNED)
    assert moves.certificate_.objective < 0.99 * stays.certificate_.objective
    values = [row["objective"] for row in moves.rounds_]
    assert all(b <= a * (1 + 1e-6) for a, b in pairwise(values))
    assert [row["outer"] for row in moves.rounds_] == [*range(1, moves.n_outer_ + 1)]
    assert moves.history_[-1]["outer"] == moves.n_outer_
    assert moves.rounds_[-1]["objective"] == moves.certificate_.objective


def test_saving(model, planted, tmp_path):
    X, _, _ = planted
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.predict_sites(X) == model.predict_sites(X)
    assert (again.counts_ == model.counts_).all()
    assert again.certificate_ == model.certificate_
    done = check_model_file(model, X[:3], n=60)
    assert done["refused"] >= 15


def test_pictures(model, planted):
    X, y, _ = planted
    for kind in ("sites", "probabilities", "weights"):
        figure = plot_logo(model, kind)
        assert len(figure.axes[0].patches) >= 8
        figure.savefig("/dev/null", format="png")
    with pytest.raises(ValueError, match="kind='bits' is not known"):
        plot_logo(model, "bits")
    plot_site_scores(y, model.decision_function(X))
    axis = plot_convergence(model).axes[0]
    assert "Stationary within" in axis.get_title(loc="left")
    lines = {line.get_label(): line for line in axis.get_lines()}
    assert len(lines["objective after each step"].get_xdata()) == model.n_outer_
    assert {"convex problem: primal", "convex problem: dual"} <= set(lines)


# what is refused -----------------------------------------------------------------------

GOOD = ["ACGTACGTACGT", "TTTTACGTACGA"]


@pytest.mark.parametrize(
    ("X", "y", "params", "sentence"),
    [
        ([GOOD[0], "ACG"], [1, 0], {}, r"X\[1\] has 3 letters, fewer than the motif"),
        ([GOOD[0], "ACGTANGTACGT"], [1, 0], {}, r"X\[1\] has 'N' at position 6.*skip"),
        ([GOOD[0], "ACGTA-GTACGT"], [1, 0], {"unknown": "skip"}, "'-' at position 6"),
        ([GOOD[0], "ACGTAéGTACGT"], [1, 0], {}, "'é' at position 6"),
        ([GOOD[0], 3], [1, 0], {}, r"X\[1\] is '3', not a text"),
        ("ACGT", [1], {}, "give a list of DNA sequences"),
        (None, [1], {}, "give a list of DNA sequences"),
        ([], [], {}, "X is empty"),
        (GOOD, [1, 1], {}, r"y holds 1 label \(1\), but two are needed"),
        (GOOD, [1], {}, "X has 2 sequences and y 1 labels"),
        (GOOD, [1, None], {}, r"y\[1\] is 'None'"),
        (GOOD, [1, "a"], {}, r"y\[1\] is 'a', but y\[0\] is 1"),
        (GOOD, [1, float("nan")], {}, r"y\[1\] is 'nan'"),
        (GOOD, [1, 0], {"positive": 2}, "positive=2 is not a label of y"),
        (GOOD, [1, 0], {"width": 0}, "width=0 is not possible"),
        (GOOD, [1, 0], {"width": []}, "width is an empty list"),
        (GOOD, [1, 0], {"width": [4, 5]}, "too few samples to hold some out"),
        (GOOD, [1, 0], {"order": -1}, "order=-1 is not possible"),
        (GOOD, [1, 0], {"unknown": "x"}, "unknown='x' is not known"),
        (GOOD, [1, 0], {"both_strands": 2}, "both_strands=2 is not possible"),
        (GOOD, [1, 0], {"objective": "log"}, "needs a marginal likelihood"),
        (GOOD, [1, 0], {"composition": 4}, "composition=4 is not possible"),
        (GOOD, [1, 0], {"shifts": -1}, "shifts=-1 is not possible"),
        (GOOD, [1, 0], {"n_restarts": 0}, "n_restarts=0 is not possible"),
    ],
)
def test_bad_input(X, y, params, sentence):
    with pytest.raises(ValueError, match=sentence):
        MotifFinder(**params).fit(X, y)


def test_classes_without_weight_and_bad_prediction(model):
    with pytest.raises(
        ValueError, match="all samples of the class 0 have the weight 0"
    ):
        MotifFinder().fit(GOOD, [1, 0], [1.0, 0.0])
    with pytest.raises(ValueError, match=r"X\[0\] has 4 letters, fewer"):
        model.predict(["ACGT"])
    assert model.predict([]).tolist() == []
    assert model.predict_sites([]) == []


def test_unknown_letters_have_no_weight(planted):
    X, y, _ = planted
    finder = MotifFinder(8, order=1, unknown="skip", tol=0.1).fit(X, y)
    assert finder.decision_function(["N" * 8]).tolist() == [0.0]
    assert finder.decision_function(["nnnnRYSW"]).tolist() == [0.0]
