"""Training over shards: the same optimum, whoever does the work, whatever goes wrong."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from test_signs import problem

from maxmargin import SequenceTagger
from maxmargin.core.formulation import make_form
from maxmargin.core.objective import Objective
from maxmargin.core.pieces.sharded import InMemory
from maxmargin.engine.executor import LocalExecutor, each_of, merged
from maxmargin.solvers import block_coordinate, driver
from maxmargin.solvers.result import Limits
from maxmargin.solvers.shards.parallel_ascent import ParallelAscent
from maxmargin.solvers.shards.shard import ShardSpec
from maxmargin.solvers.shards.sharded_training import over_shards


def sentences(n=60, seed=0, k=4, d=12):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(d, k))
    X = [rng.normal(size=(rng.integers(1, 7), d)) for _ in range(n)]
    y = [(x @ truth + rng.normal(size=(len(x), k))).argmax(axis=1).tolist() for x in X]
    return X, y


def tagger(**more):
    return SequenceTagger(**{"C": 0.3, "tol": 0.02} | more)


def apart(**more):
    return tagger(engine="dask", **more)


def overlap(one, other, tol):
    """The second holds tol, and both certificates of one optimum."""
    one, other = one.certificate_, other.certificate_
    assert other.relative_gap <= tol
    assert other.dual <= one.primal * (1 + 1e-9)
    assert one.dual <= other.primal * (1 + 1e-9)


@pytest.mark.parametrize("penalty", ["linear", "quadratic"])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("shards", [2, 5])
def test_every_form_ends_at_the_optimum_of_one_process(
    home, penalty, rescaling, shards
):
    home.count = shards
    X, y = sentences()
    weights = np.random.default_rng(0).gamma(0.3, 3.0, size=len(X))
    more = {"penalty": penalty, "rescaling": rescaling}
    alone = tagger(**more, tol=1e-3).fit(X, y, sample_weight=weights)
    overlap(alone, apart(**more).fit(X, y, sample_weight=weights), 0.02)
    assert home.executors[0].shards == shards


@pytest.mark.parametrize("l1", [0.0, 0.3])
def test_log_losses_end_at_the_optimum_of_one_process(home, l1):
    X, y = sentences()
    more = {"objective": "log", "tol": 1e-4, "l1": l1}
    alone, other = tagger(**more).fit(X, y), apart(**more).fit(X, y)
    overlap(alone, other, 1e-4)
    np.testing.assert_allclose(other.coef_, alone.coef_, atol=0.02)


def test_the_average_of_what_shards_find_alone_saves_rounds(home):
    """It is the solution of one shard, and near it of more."""
    X, y = sentences(240)
    more = {"objective": "log", "tol": 1e-3}
    zero = tagger(**more, solver="lbfgs").fit(X, y).n_iter_
    assert apart(**more).fit(X, y).n_iter_ < 0.7 * zero


def test_weights_that_must_not_be_negative(home):
    """Signs are a matter of the weights of all: no shard sees to them."""
    batch, _, _, held = problem(1, n=40)

    def make(batch, mass=np.ones(40)):  # noqa: B008  # only read
        form = make_form("margin", "linear", 1e-5)
        made = Objective(batch, 3 * batch.width, form, mass, np.float64)
        made.nonnegative = held
        return made

    limits, objective = Limits(tol=1e-3, max_iter=500), make(batch)
    machine = block_coordinate.BlockCoordinate(objective)
    alone = driver.drive(objective, machine, limits)
    with over_shards("dask", batch, make, "auto", objective.mass) as found:
        other = driver.drive(*found, limits)
    assert other.certificate.relative_gap <= 1e-3
    assert other.certificate.dual <= alone.certificate.primal
    assert alone.certificate.dual <= other.certificate.primal
    assert other.w[held].min() == 0.0  # some would be less


@pytest.mark.filterwarnings("ignore:Training stopped")
@pytest.mark.parametrize("room", [64, 4])  # of a block: of 4 places some are used again
@pytest.mark.parametrize("penalty", ["linear", "quadratic"])
def test_what_a_search_gains_is_gained(home, monkeypatch, penalty, room):
    """The dual never falls, and it and w are those of the shards: a rebuild agrees."""
    monkeypatch.setattr(block_coordinate, "MAX_ROOM", room)
    take, rebuild, gains, errors = ParallelAscent._take, ParallelAscent._rebuild, [], []

    def taken(self, move):
        before = self.dual
        take(self, move)
        gains.append((self.dual - before, self.shares))

    def rebuilt(self):
        w, dual = self.w.copy(), self.dual
        found = rebuild(self)
        errors.append((np.abs(self.w - w).max(), abs(self.dual - dual) / self.dual))
        return found

    monkeypatch.setattr(ParallelAscent, "_take", taken)
    monkeypatch.setattr(ParallelAscent, "_rebuild", rebuilt)
    X, y = sentences(seed=4)
    apart(penalty=penalty, tol=0.005, max_iter=100).fit(X, y)
    shares = np.concatenate([shares for _, shares in gains])
    assert min(gain for gain, _ in gains) >= 0
    assert 0 <= shares.min() < 1 == shares.max()
    assert len(errors) > 1
    assert np.max(errors) < 1e-4


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"C": np.inf}, "C=inf cannot be trained over shards"),
        ({"solver": "n-slack"}, "does not run over shards .*for 'block-coordinate'"),
        ({"objective": "log", "solver": "exponentiated"}, "for 'lbfgs'"),
    ],
)
def test_what_cannot_be_done_in_shards_is_refused(home, more, words):
    with pytest.raises(ValueError, match=words):
        apart(**more).fit(*sentences(8))


def test_limits_hold_over_shards(home):
    with pytest.warns(UserWarning, match="max_iter"):
        model = apart(max_iter=3, tol=1e-6).fit(*sentences())
    assert model.n_iter_ == 3
    assert not model.converged_
    assert model.certificate_.dual <= model.certificate_.primal < np.inf


@pytest.mark.parametrize("objective", ["hinge", "log"])
def test_a_fit_over_shards_goes_on_from_its_checkpoint(home, tmp_path, objective):
    X, y = sentences()
    more = {"objective": objective, "tol": 1e-5 if objective == "log" else 0.01}
    whole = apart(**more).fit(X, y)
    place = {"checkpoint": str(tmp_path / "kept")}

    def give_up(row):
        if row["iteration"] == 4:
            raise KeyboardInterrupt

    with pytest.warns(UserWarning, match="interrupted"):
        apart(**more, **place, callbacks=[give_up]).fit(X, y)
    resumed = apart(**more, **place, resume=True).fit(X, y)
    assert np.array_equal(resumed._w, whole._w)
    assert resumed.certificate_ == whole.certificate_
    home.count = 3
    with pytest.raises(ValueError, match="checkpoint"):
        apart(**more, **place, resume=True).fit(X, y)


# executors with faults ------------------------------------------------------------------


class Mortal(LocalExecutor):
    """A shard begins anew in the middle of questions with a certain name."""

    deadly: str
    deaths = 3

    def __init__(self, specs):
        super().__init__(specs)
        self.specs = specs

    def ask(self, method, *common, each=None):
        if method == self.deadly and self.deaths:
            self.deaths -= 1
            k = self.deaths % self.shards
            self._shards[k] = self.specs[k].build(1)
            self.restarted.add(k)
        return super().ask(method, *common, each=each)


class Late(LocalExecutor):
    """In every second round, one shard's reply comes with the next optional question."""

    def __init__(self, specs):
        super().__init__(specs)
        self.waiting, self.rounds, self.judged = {}, 0, 0

    def reduce(self, method, *common, each=None, optional=False):
        if not optional:
            return super().reduce(method, *common, each=each)
        self.rounds += 1
        w, epoch, *_ = common
        came, self.waiting, replies = self.waiting, {}, []
        for k, own in enumerate(each_of(each, self.shards)):
            if k in came:
                self.judged += came[k].epoch == epoch
                replies.append(came[k])
                continue
            reply = getattr(self._shards[k], method)(*common, *own)
            if self.rounds % 2 and k == self.rounds // 2 % self.shards:
                self.waiting[k] = reply
            else:
                replies.append(reply)
        return merged(replies, w)


@pytest.fixture
def drifts(monkeypatch):
    """By how much duals were not those of the shards, where no move was dropped."""
    rebuild, errors = ParallelAscent._rebuild, []

    def compare(self):
        dual, executor = self.dual, self.executor
        whole = not (executor.restarted or getattr(executor, "waiting", None))
        deaths = getattr(executor, "deaths", 0)
        found = rebuild(self)
        if whole and deaths == getattr(executor, "deaths", 0):
            errors.append(abs(self.dual - dual) / max(abs(dual), 1.0))
        return found

    monkeypatch.setattr(ParallelAscent, "_rebuild", compare)
    return errors


@pytest.mark.parametrize("method", ["ascend", "contribution", "totals"])
def test_a_shard_that_begins_anew_is_seen_to(home, drifts, method):
    class Deadly(Mortal):
        deadly = method

    home.kind = Deadly
    X, y = sentences(seed=5)
    overlap(tagger(tol=1e-3).fit(X, y), apart().fit(X, y), 0.02)
    assert home.executors[0].deaths < 3
    assert max(drifts) < 1e-4


def test_a_checkpoint_knows_which_shards_began_anew(home, drifts, tmp_path):
    """A worker that dies as the state is asked for: w is not that of the shards."""

    class Deadly(Mortal):
        deadly = "state"

    home.kind = Deadly
    X, y = sentences(seed=6)
    more = {"tol": 0.01, "checkpoint": str(tmp_path / "kept")}
    with pytest.warns(UserWarning, match="stopped"):
        apart(**more, callbacks=[lambda row: row["iteration"] == 3]).fit(X, y)
    assert home.executors[0].deaths < 3
    home.kind = LocalExecutor
    assert apart(**more, resume=True).fit(X, y).certificate_.relative_gap <= 0.01
    assert max(drifts) < 1e-4


def test_late_moves_are_judged_when_they_come(home, drifts, monkeypatch):
    monkeypatch.setattr(driver, "SMALL", -1)  # moves from before a certificate are void
    home.kind = Late
    X, y = sentences(seed=5)
    overlap(tagger(tol=1e-3).fit(X, y), apart().fit(X, y), 0.02)
    assert home.executors[0].judged > 3
    assert max(drifts) < 1e-4


# shards --------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [None, 0.0, 0.3, 1.0])
@pytest.mark.parametrize("penalty", ["linear", "quadratic"])
def test_a_shard_keeps_what_it_is_told_to(share, penalty):
    batch, _, _, _ = problem(2, n=20)
    form, mass = make_form("margin", penalty, 1e-5), np.ones(20)
    whole = Objective(batch, 3 * batch.width, form, mass, np.float64)
    spec = ShardSpec(whole.piece(0, mass), InMemory(batch), 0, "block-coordinate")
    shard, n = spec.build(1), whole.n_weights

    def dual():
        found = shard.contribution(None)
        w = found.vector.dense(n)
        return w, found.value - 0.5 * w @ w

    shard.ascend(np.zeros(n), 0, 1.0, 1, False, 100.0, None)
    shard.contribution(0.5)
    before, value = dual()
    move = shard.ascend(before, 0, 2.0, 1, False, 100.0, None)
    assert move.squared() > 0
    shard.contribution(share)
    after, gained = dual()
    s = share or 0.0
    move.change.add_to(before, s)
    np.testing.assert_allclose(after, before, atol=1e-9)
    curvature = move.squared() + move.bend
    at = before - s * move.change.dense(n)
    wanted = s * move.slope(at) - 0.5 * s**2 * curvature
    np.testing.assert_allclose(gained - value, wanted, atol=1e-9)


def test_a_module_may_train_while_it_is_imported(tmp_path):
    """A thread that imports what is being imported would wait for ever."""
    (tmp_path / "trains.py").write_text(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from types import SimpleNamespace\n"
        "from maxmargin.core.pieces.sharded import InMemory\n"
        "from maxmargin.solvers.shards.shard import ShardSpec\n"
        "spec = ShardSpec(SimpleNamespace(), InMemory(()), 7, 'lbfgs', ('trains',))\n"
        "with ThreadPoolExecutor() as threads:\n"
        "    print(threads.submit(spec.build, 1).result().number)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", "import trains"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.strip() == "7", done.stderr
