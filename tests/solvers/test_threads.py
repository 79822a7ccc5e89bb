"""Several threads that step on one w: the same certificate, whatever happens to sums."""

import threading
from types import FunctionType

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import Checkpoint, SequenceTagger
from maxmargin.core.compile.atomics import let_others
from maxmargin.core.kernel import inlined
from maxmargin.engine.threads import Team
from maxmargin.solvers import block_coordinate, planes
from maxmargin.solvers.best import LostPrecision


def sentences(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = [rng.integers(0, 2, (rng.integers(3, 12), 6)).astype(float) for _ in range(n)]
    y = [[f"L{int(2 * x[0] + x[1])}" for x in sample] for sample in X]
    for tags in y[::7]:
        tags[0] = "L0"
    return X, y


def fitted(n_jobs, n=300, **options):
    options = {"C": 0.5, "tol": 0.01, "random_state": 0} | options
    return SequenceTagger(n_jobs=n_jobs, **options).fit(*sentences(n))


@pytest.mark.parametrize(
    "options", [{}, {"penalty": "quadratic"}, {"rescaling": "slack"}]
)
@pytest.mark.parametrize("n_jobs", [2, 16])
def test_many_threads_certify_the_optimum_of_one(always_threads, n_jobs, options):
    n = 40 if n_jobs == 16 else 300
    alone, together = fitted(1, n, **options), fitted(n_jobs, n, **options)
    assert together.converged_
    for one, other in ((alone, together), (together, alone)):
        slack = 1e-9 * one.certificate_.primal
        assert one.certificate_.dual <= other.certificate_.primal + slack


def test_one_thread_gives_the_same_weights_again():
    first, second = fitted(1), fitted(1)
    assert first.certificate_ == second.certificate_
    assert [r["dual"] for r in first.history_] == [r["dual"] for r in second.history_]


@pytest.mark.parametrize(
    ("n", "tol", "lost"),
    [(300, 0.01, 0.1), (60, 9e-5, 1e-3)],  # single and double precision
)
def test_lost_additions_do_not_reach_a_certificate(
    always_threads, monkeypatch, n, tol, lost
):
    """Weights that lost a part of what was added to them are no proof, but an error."""
    together = block_coordinate.PlaneSolver.together

    def losing(self, kernel, blocks, *rest):
        found = together(self, kernel, blocks, *rest)
        if kernel is block_coordinate.exact_pass and len(blocks):
            self.w *= self.w.dtype.type(1 - lost)  # so much of all additions
        return found

    monkeypatch.setattr(block_coordinate.PlaneSolver, "together", losing)
    # the dual that such weights seem to have is above the primal that is computed anew
    with pytest.raises(LostPrecision, match="nothing is proved"):
        fitted(4, n, tol=tol)


@inlined
def add_plainly(w, step, index, values, m):
    """What ``add_listed`` does, by loads and stores between which others add, too."""
    s = w.dtype.type(step)
    for j in range(m):
        x = w[index[j]] + s * values[j]
        let_others()
        w[index[j]] = x


def remade(function, **others):
    """A kernel that calls other functions instead of some of its own."""
    source = function.py_func
    space = source.__globals__ | others
    return type(function)(FunctionType(source.__code__, space), **function.options)


def test_additions_that_are_really_lost_do_not_reach_a_certificate(
    always_threads, monkeypatch
):
    """Without atomic additions w is not what the planes say, until it is summed anew."""
    step = remade(planes.pairwise_step, add_listed=add_plainly)
    ascend = remade(planes.ascend_block, pairwise_step=step)
    exact = remade(planes.exact_pass, pairwise_step=step)
    cached = remade(planes.cached_pass, ascend_block=ascend)
    monkeypatch.setattr(block_coordinate, "exact_pass", exact)
    monkeypatch.setattr(block_coordinate, "cached_pass", cached)
    lost, real = [], block_coordinate.BlockCoordinate.candidates

    def watched(self):
        before = self.w.copy()
        found = real(self)
        lost.append(np.abs(self.w - before).max() / np.abs(self.w).max())
        return found

    monkeypatch.setattr(block_coordinate.BlockCoordinate, "candidates", watched)
    alone = fitted(1)
    assert max(lost) < 1e-5  # rounding
    lost.clear()
    try:
        proved = fitted(8).certificate_
    except LostPrecision:  # it says that nothing is proved
        pass
    else:
        one = alone.certificate_
        assert proved.relative_gap <= alone.tol
        assert one.dual <= proved.primal * (1 + 1e-9)
        assert proved.dual <= one.primal * (1 + 1e-9)
    assert max(lost) > 1e-4


def threads_of_ours():
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("maxmargin")]


def test_no_thread_is_left_behind(always_threads):
    seen = []
    callbacks = [lambda row: seen.append(threads_of_ours())]
    fitted(3, callbacks=callbacks)
    assert any(seen)
    assert not threads_of_ours()


def test_paces_of_blocks_are_measured_by_slots(monkeypatch):
    """A pass over short blocks says nothing of one over long ones, counted by blocks."""
    seen, real = [], Team.share

    def share(self, *arguments, sizes=None, steps=False, **options):
        seen.extend(np.unique(sizes) if steps else [])
        return real(self, *arguments, sizes=sizes, steps=steps, **options)

    monkeypatch.setattr(Team, "share", share)
    fitted(2)
    assert set(seen) == set(range(3, 12))


@pytest.mark.parametrize("objective", ["hinge", "log"])
def test_steps_that_spoil_each_other_end_in_one_thread(
    always_threads, monkeypatch, objective
):
    """Threads that step as if at the same place, all the time: progress goes on."""
    monkeypatch.setattr("maxmargin.engine.threads.KEPT", 1.5)  # nothing is enough
    together = fitted(8, objective=objective)
    assert together.converged_
    alone = fitted(1, objective=objective)
    assert together.certificate_.dual <= alone.certificate_.primal
    assert alone.certificate_.dual <= together.certificate_.primal


@pytest.mark.parametrize("stretch", [1.0, 3.0])
def test_shards_see_what_their_steps_gain(monkeypatch, stretch):
    """Of steps that nobody disturbs it is what they hoped for."""
    from conftest import random_chain

    from maxmargin.core.formulation import make_form
    from maxmargin.core.objective import Objective
    from maxmargin.solvers.shards.local import Local

    batch, n_weights = random_chain(0, (3, 4, 2, 5) * 5)
    mass = np.full(20, 0.5)
    form = make_form("margin", "linear", 0.01)
    objective = Objective(batch, n_weights, form, mass, np.float64)
    objective.team, heard = Team(2), []
    monkeypatch.setattr(Team, "heed", lambda self, *told: heard.append(told))
    local, w = Local(objective), objective.weights()
    for _ in range(3):
        change, *_ = local.move(w, stretch, 2, False)
        local.keep(1.0)
        change.add_to(w)
    assert len(heard) == 3
    for before, hoped, found in heard:
        assert before == 0.0
        assert found == pytest.approx(hoped, rel=1e-6, abs=1e-9)
    assert heard[0][1] > 0.1


def test_a_fit_whose_threads_lowered_the_dual_goes_on(
    always_threads, monkeypatch, tmp_path
):
    """Steps that went too far together are proved anew, not taken for a damaged file."""
    rise, seen = block_coordinate.BlockCoordinate.rise, []

    def undone(self, order):
        gained = rise(self, order)
        arrays = [p for p in (*self.planes, self.w) if isinstance(p, np.ndarray)]
        seen.append([array.copy() for array in arrays])
        if len(seen) == 3:  # as after the first pass
            for now, before in zip(arrays, seen[0], strict=True):
                now[:] = before
        return gained

    monkeypatch.setattr(block_coordinate.BlockCoordinate, "rise", undone)
    place = Checkpoint(tmp_path / "fit", every=0)
    with pytest.warns(ConvergenceWarning):
        first = fitted(2, tol=1e-3, max_iter=3, checkpoint=place)
    assert len(seen) == 3
    monkeypatch.undo()
    again = fitted(2, tol=1e-3, checkpoint=tmp_path / "fit", resume=True)
    assert again.converged_
    assert again.n_iter_ > first.n_iter_


def test_only_what_was_summed_up_anew_is_proved_of_threads():
    """In double precision, too: of one thread, a running sum differs by rounding."""
    from conftest import random_chain

    from maxmargin.core.formulation import make_form
    from maxmargin.core.objective import Objective
    from maxmargin.solvers.best import Best

    batch, n_weights = random_chain(0, (3, 4, 2))
    form = make_form("margin", "linear", 0.01)
    for n_jobs in (1, 2):
        objective = Objective(batch, n_weights, form, np.ones(3), np.float64, n_jobs)
        best = Best(objective)
        best.see_dual(3.0)
        assert best.proved == (3.0 if n_jobs == 1 else 0.0)
        best.prove(2.0)
        assert best.proved == (3.0 if n_jobs == 1 else 2.0)
        assert best.dual == 3.0
