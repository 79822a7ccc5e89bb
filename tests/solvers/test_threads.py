"""Several threads that step on one w: the same certificate, whatever happens to sums."""

import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import FunctionType

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import Checkpoint, SequenceTagger
from maxmargin.core.atomics import let_others
from maxmargin.core.kernel import inlined
from maxmargin.engine.threads import Team, over_ranges, over_vector
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


def test_an_error_is_raised_when_nobody_works_any_more():
    team, running = Team(4), []

    def work(worker, part):
        running.append(part)
        if part == 3:
            raise ValueError("part 3")
        return part

    with pytest.raises(ValueError, match="part 3"), team.at_work():
        team.run(work, list(range(100)), 4)
    before = len(running)
    assert team.run(lambda worker, part: part, [5, 6], 1) == [5, 6]
    assert len(running) == before


@pytest.mark.parametrize("n_jobs", [1, 2, 7, 64])
def test_ranges_cover_all_examples_in_order(n_jobs):
    start = np.cumsum([0, 3, 0, 5, 1, 1, 40, 2])
    found = over_ranges(lambda lo, hi: list(range(lo, hi)), start, n_jobs)
    assert [i for part in found for i in part] == list(range(7))


@pytest.mark.parametrize("n_jobs", [2, 5, 16])
@pytest.mark.parametrize("count", [1, 2, 3, 50, 1000])
def test_every_item_has_one_visit(always_threads, monkeypatch, n_jobs, count):
    monkeypatch.setattr("maxmargin.engine.threads.LONG", 1)
    items, start = list(range(count)), np.arange(count + 1)
    with (team := Team(n_jobs)).at_work():
        for _ in range(9):  # some compare the threads with one, some do not
            found = team.share(lambda worker, part: part, "a", np.arange(count))
            assert np.concatenate(found).tolist() == items
            pairs = over_ranges(lambda lo, hi: (lo, hi), start, team)
            assert [i for lo, hi in pairs for i in range(lo, hi)] == items
            slices = over_vector(team, lambda worker, part: part, count)
            assert [i for part in slices for i in items[part]] == items
        assert team.started or count == 1


@pytest.mark.parametrize("n_jobs", [2, 64])
def test_little_work_wakes_nobody(n_jobs):
    team = Team(n_jobs)
    for _ in range(20):
        found = team.share(lambda worker, part: (worker, list(part)), "a", range(50))
        assert {worker for worker, _ in found} == {0}
        assert [i for _, part in found for i in part] == list(range(50))
        over_ranges(lambda lo, hi: None, np.arange(51), team)
    assert team._pool is None


def test_threads_that_hinder_each_other_are_left_out():
    """Work that only one can do at a time, as where all write to the same memory."""
    lock, used = threading.Lock(), []

    def work(worker, part):
        used.append(worker)
        with lock:
            time.sleep(2e-4 * len(part))

    with (team := Team(2)).at_work():
        for _ in range(20):
            used.clear()
            team.share(work, "hindered", range(100))
            late = set(used)
        assert late == {0}  # the 20th call compares nothing
        for _ in range(20):
            used.clear()
            team.share(lambda worker, part: used.append(worker), "little", range(9))
            assert set(used) == {0}


def test_threads_that_pay_stay():
    used = []

    def work(worker, part):
        used.append(worker)
        time.sleep(2e-4 * len(part))

    with (team := Team(2)).at_work():
        for _ in range(12):
            used.clear()
            team.share(work, "free", range(100))
            assert set(used) == {0, 1}


def test_steps_that_undo_each_other_are_taken_by_fewer():
    team = Team(16)
    assert team.at_once(10_000) == 16
    assert team.at_once(100) == 6
    team.heed(1.0, 3.0, 2.8)  # nearly what was hoped for
    team.heed(3.0, 3.0 + 1e-9, 3.0)  # rounding
    assert team.stepping == 16
    team.heed(1.0, 3.0, 1.5)
    assert team.stepping == 8
    team.heed(2.0, 2.0, 1.9)  # the dual fell
    assert team.at_once(10_000) == 4
    for _ in range(5):
        team.heed(2.0, 3.0, 1.0)
    assert team.at_once(10_000) == 1


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
    from maxmargin.solvers.local import Local

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


def interrupt_main():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


@pytest.mark.skipif(sys.platform == "win32", reason="no signals to threads")
def test_a_second_ctrl_c_waits_for_the_other_threads_too():
    both, ended = threading.Barrier(2), threading.Event()

    def work(worker, part):
        both.wait()
        if worker == 0:
            threading.Timer(0.05, interrupt_main).start()
            raise KeyboardInterrupt
        time.sleep(0.3)
        ended.set()

    with (team := Team(2)).at_work():
        with pytest.raises(KeyboardInterrupt):
            team.run(work, [0, 1], 2)
        assert ended.is_set()


@pytest.mark.skipif(sys.platform == "win32", reason="no signals to threads")
def test_ctrl_c_while_threads_are_woken_leaves_none_at_work(monkeypatch):
    begun, ended, submit = [], [], ThreadPoolExecutor.submit

    def interrupted(*arguments):
        found = submit(*arguments)
        time.sleep(0.05)  # the other thread has begun
        interrupt_main()
        time.sleep(0.05)
        return found

    def work(worker, part):
        begun.append(part)
        time.sleep(0.3)
        ended.append(part)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    with (team := Team(2)).at_work():
        with pytest.raises(KeyboardInterrupt):
            team.run(work, list(range(10)), 2)
        assert begun == ended == [0]


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
