"""Mistakes that were once made at the core: certificates, messages."""

import warnings

import numpy as np
import pytest
from conftest import random_multiclass
from sklearn.exceptions import ConvergenceWarning
from structural_cases import Classes, Cuts, blobs, wrong

from maxmargin import MulticlassSVM, StructuralSVM
from maxmargin.core.formulation import make_form
from maxmargin.core.objective import Objective
from maxmargin.core.structure import Structure
from maxmargin.solvers.driver import drive
from maxmargin.solvers.result import Certificate, Limits
from maxmargin.solvers.solver import Solver
from maxmargin.testing import FORMULATIONS, check_loss

CUTS = [{"at": at} for at in (2, 1, 3, 1, 0)]
LINEAR = make_form("margin", "linear", 1e-3)


def messages(caught):
    return [str(w.message) for w in caught if w.category is ConvergenceWarning]


# certificates -------------------------------------------------------------------------


@pytest.mark.parametrize("heavy", [1e16, 1e300, 1e308])
@pytest.mark.parametrize("C", [1.0, 1e3])
def test_masses_beyond_precision_are_refused(heavy, C):
    X = np.random.default_rng(0).normal(size=(40, 4))
    weights = np.r_[heavy, np.ones(39)]
    model = MulticlassSVM(C=C)
    with pytest.raises(ValueError, match=r"C times the sample weight.*1e\+15"):
        model.fit(X, np.arange(40) % 3, sample_weight=weights)
    with pytest.raises(ValueError, match="C times the sample weight"):
        model.path(X, np.arange(40) % 3, [1e-2, C], sample_weight=weights)
    assert not hasattr(model, "coef_")


def test_a_hard_margin_takes_any_weight():
    X, y = blobs(distance=8.0)
    a, b = (
        MulticlassSVM(C=np.inf, tol=1e-4).fit(np.array(X), y, sample_weight=weights)
        for weights in (None, np.full(len(y), 1e300))
    )
    assert a.certificate_ == b.certificate_


class Boaster(Solver):
    """A solver whose dual is too good to be true."""

    update_seconds, estimate = 0.0, 1.0

    def __init__(self, objective, excess):
        self.objective, self.excess = objective, excess
        self.dual = 0.0

    def step(self):
        self.dual = self.objective.primal(self.objective.weights())[0] * (
            1 + self.excess
        )

    def candidates(self):
        return [self.objective.weights()]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_dual_above_the_primal_is_an_error(dtype):
    batch, n_weights = random_multiclass(0)
    objective = Objective(batch, n_weights, LINEAR, np.ones(12), dtype)
    limits = Limits(tol=1e-3, max_iter=3)
    certificate = drive(objective, Boaster(objective, 1e-7), limits).certificate
    assert certificate.gap == 0.0
    with pytest.raises(ValueError, match="lost precision: C times the sample weight"):
        drive(objective, Boaster(objective, 1e-5), limits)


def test_certificates_hold_plain_floats():
    certificate = Certificate.of(np.float64(2.0), np.float32(1.5), np.True_)
    assert [type(v) for v in vars(certificate).values()] == [float] * 4 + [bool]
    X, y = blobs()
    for model in (StructuralSVM(Classes()), MulticlassSVM(solver="n-slack")):
        found = model.fit(np.array(X), y).certificate_
        assert [type(v) for v in vars(found).values()] == [float] * 4 + [bool]


@pytest.mark.parametrize("form", FORMULATIONS)
def test_an_oracle_that_always_returns_the_truth_is_found_out(form):
    X, y = blobs()
    lazy = wrong(loss_augmented_argmax=lambda self, x, y, w: y)
    model = StructuralSVM(lazy, rescaling=form[0], penalty=form[1])
    with pytest.raises(ValueError, match=r"for sample \d+ .* not the maximum"):
        model.fit(X, y)
    assert not hasattr(model, "coef_")
    lazy.exact = False
    with pytest.warns(UserWarning, match="weights that are all zero"):
        assert model.fit(X, y).certificate_.exact is False


def test_an_argmax_that_fails_does_not_spoil_the_fit():
    X, y = blobs()

    def fail(self, x, w):
        raise RuntimeError("not written yet")

    model = StructuralSVM(wrong(argmax=fail)).fit(X, y)
    assert model.converged_
    message = "argmax for sample 0 raised RuntimeError: not written yet"
    with pytest.raises(ValueError, match=message) as caught:
        model.predict(X)
    assert isinstance(caught.value.__cause__, RuntimeError)


# ends of training ---------------------------------------------------------------------


def test_an_interrupt_ends_a_path():
    X, y = blobs()
    fits = []

    def interrupt(row):
        if row["iteration"] == 1:
            fits.append(row)
        if len(fits) == 2 and row["iteration"] == 2:
            raise KeyboardInterrupt

    model = MulticlassSVM(tol=1e-10, max_iter=3000, callbacks=[interrupt])
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        models = model.path(np.array(X), y, [10.0, 0.1, 1.0])
    assert [model.C for model in models] == [0.1, 1.0]
    assert [model.converged_ for model in models] == [True, False]
    assert len(fits) == 2


def test_the_steps_of_an_interrupted_first_pass_count():
    X, y = blobs()

    class Interrupted(Classes):
        def loss_augmented_argmax(self, x, y, w):
            found = super().loss_augmented_argmax(x, y, w)
            if self.calls == 9:
                raise KeyboardInterrupt
            return found

    model = StructuralSVM(Interrupted())
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(X, y)
    best = StructuralSVM(Classes()).fit(X, y).certificate_.primal
    assert 0 < model.certificate_.dual <= best
    assert model.history_[-1]["dual"] == model.certificate_.dual
    assert model.n_iter_ == 1


def test_a_callback_may_end_a_fit_before_its_first_certificate():
    X, y = blobs()
    model = StructuralSVM(Classes(), tol=1e-9, callbacks=[lambda row: True])
    with pytest.warns(ConvergenceWarning, match="callback") as caught:
        model.fit(X, y)
    (text,) = messages(caught)
    assert "max_iter" not in text
    assert "certificate_ is valid" in text
    assert np.isfinite(model.certificate_.primal)
    assert model.history_[-1]["primal"] == model.certificate_.primal
    assert len(model.predict(X)) == len(y)


def test_a_hard_margin_that_is_not_reached_yet():
    X, y = blobs(n=30, distance=0.5, d=12)
    X = np.array(X)
    with pytest.warns(ConvergenceWarning, match="no weights that separate") as caught:
        model = MulticlassSVM(C=np.inf, max_iter=1).fit(X, y)
    (text,) = messages(caught)
    assert "valid" not in text
    assert "finite C" in text
    assert model.certificate_.primal == np.inf


def test_no_separation_is_called_likely_not_certain():
    X, y = blobs(distance=0.5)
    with pytest.raises(
        ValueError, match=r"no separating weights after \d+ passes.*most likely"
    ):
        MulticlassSVM(C=np.inf, solver="block-coordinate").fit(np.array(X), y)


def test_a_gap_that_the_search_leaves_is_not_blamed_on_passes():
    X, y = blobs()
    params = dict(rescaling="slack", max_iter=40, tol=1e-6)
    with pytest.warns(ConvergenceWarning, match="smallest_loss") as caught:
        StructuralSVM(Classes(), **params).fit(X, y)
    (text,) = messages(caught)
    assert "search" in text
    assert "max_iter or" not in text
    # an exact search has only itself to blame
    with pytest.warns(ConvergenceWarning, match="more max_iter") as caught:
        MulticlassSVM(**{**params, "max_iter": 2}).fit(np.array(X), y)
    assert "smallest_loss" not in messages(caught)[0]


def test_the_largest_C_of_a_path_decides_the_precision(monkeypatch):
    seen = []

    class Spy(MulticlassSVM):
        def _encode(self, *data):
            encoded = super()._encode(*data)
            seen.append(encoded.dtype)
            return encoded

    X, y = blobs()
    X = np.array(X).round(1).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        small, large = Spy(max_iter=3).path(X, y, [1e-2, 1e7])
        Spy(C=1e7, max_iter=3).path(X, y, [1e-2])
        Spy(max_iter=3).fit(X, y, sample_weight=np.full(len(y), 1e7))
    assert (small.C, large.C) == (1e-2, 1e7)
    assert seen == [np.float64, np.float32, np.float64]
    assert Spy().path(X, y, []) == []


# messages -----------------------------------------------------------------------------


def test_a_bad_argmax_is_called_by_its_name():
    X, y = blobs()
    worst = wrong(argmax=lambda self, x, w: int((w.reshape(3, -1) @ x).argmin()))
    with pytest.raises(ValueError, match=r"^argmax for sample \d+ .*score is"):
        StructuralSVM(worst, solver="perceptron").fit(X, y)


@pytest.mark.parametrize(
    ("loss", "shown"), [("q", "'q'"), ("1", "'1'"), (None, "None"), (1j, "1j")]
)
def test_a_loss_that_is_no_number_is_shown(loss, shown):
    X, y = blobs()
    problem = wrong(loss=lambda self, a, b: loss)
    with pytest.raises(ValueError, match=rf"loss\(\) for sample 0 is {shown}, but"):
        StructuralSVM(problem).fit(X, y)


def test_a_forgotten_return_is_named():
    X, y = blobs()
    problem = wrong(joint_feature=lambda self, x, y: None)
    with pytest.raises(ValueError, match="joint_feature for sample 0 returned None"):
        StructuralSVM(problem).fit(X, y)


def test_score_needs_a_loss():
    class Mute(Structure):
        pass

    class Duck:
        def encode(self, X):
            raise AssertionError("asked for the loss first")

        output = encode

    with pytest.raises(NotImplementedError, match=r"Mute must define loss\(y, y_hat\)"):
        Mute().loss(0, 1)
    model = StructuralSVM(Duck())
    model.coef_, model.structure_ = np.zeros(1), Duck()
    with pytest.raises(NotImplementedError, match=r"Duck must define loss\(y, y_hat\)"):
        model.score([0], [0])


# testing.check_loss -------------------------------------------------------------------


def test_check_loss():
    check_loss(lambda y, z: abs(y - z), range(4))
    check_loss(Cuts().loss, CUTS)
    for loss, message in (
        (lambda y, z: 1.0, r"loss\(0, itself\) is not zero"),
        (lambda y, z: y - z, r"loss\(0, 1\) is -1.0.*negative"),
        (lambda y, z: np.inf if y != z else 0, r"loss\(0, 1\) is inf, not finite"),
        (lambda y, z: np.nan, r"loss\(0, 0\) is nan, not finite"),
    ):
        with pytest.raises(AssertionError, match=message):
            check_loss(loss, range(3))
