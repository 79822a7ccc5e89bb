"""Words of whole sequences beside a motif: what they add, and what stays as it was."""

import numpy as np
import pytest

from maxmargin import MotifFinder, load, save
from maxmargin.motifs.composition import N_WORDS


def two_kinds(n=120, seed=0):
    """Sequences without a motif: positive ones have more of A and T, everywhere."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2 == 0
    shares = {True: [0.32, 0.18, 0.18, 0.32], False: [0.25] * 4}
    X = ["".join(rng.choice(list("ACGT"), 80, p=shares[yes])) for yes in y.tolist()]
    return X, y


def test_what_is_everywhere_is_told_by_the_composition():
    X, y = two_kinds()
    unseen, truth = two_kinds(seed=1)
    both = MotifFinder().fit(X, y)
    alone = MotifFinder(composition=False).fit(X, y)
    assert both.score(unseen, truth) > alone.score(unseen, truth) + 0.05
    assert both.composition_.shape == (N_WORDS,)
    assert alone.composition_.shape == (0,)
    assert not hasattr(alone, "composition_scale_")
    assert both.background_.shape == alone.background_.shape == (4 + 16 + 64,)


@pytest.mark.parametrize("composition", [True, False])
def test_the_certificate_is_of_the_scores_that_a_model_predicts(composition):
    X, y = two_kinds()
    model = MotifFinder(composition=composition).fit(X, y)
    scores = np.where(y, 1, -1) * model.decision_function(X)
    hinges = np.maximum(1 - scores, 0)
    objective = 0.5 * model.coef_ @ model.coef_ + model.C_ * hinges.sum()
    assert model.certificate_.objective == pytest.approx(objective, rel=1e-4)


@pytest.mark.parametrize("C", [0.01, 10.0])
def test_C_is_that_of_the_motif(C):
    X, y = two_kinds()
    model = MotifFinder(C=C, tol=0.1).fit(X, y)
    assert C * model.composition_scale_**2 == pytest.approx(256 / len(X))


def test_a_model_file_keeps_the_composition(tmp_path):
    X, y = two_kinds(40)
    for composition in (True, False):
        model = MotifFinder(composition=composition).fit(X, y)
        save(model, tmp_path / "m")
        again = load(tmp_path / "m")
        assert (again.decision_function(X) == model.decision_function(X)).all()
        assert (again.composition_ == model.composition_).all()


def test_a_state_from_before_compositions_is_a_motif_alone():
    X, y = two_kinds(40)
    model = MotifFinder(composition=False).fit(X, y)
    arrays, state = model._get_state()
    del state["composition_scale"]
    params = {k: v for k, v in model.get_params().items() if k != "composition"}
    again = MotifFinder._from_state(params, arrays, state)
    assert (again.decision_function(X) == model.decision_function(X)).all()
