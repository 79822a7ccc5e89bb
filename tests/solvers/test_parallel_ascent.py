"""Training over shards: the same optimum, whoever does the work."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import MulticlassSVM, SequenceTagger
from maxmargin.core import mirrors, sharded
from maxmargin.core.estimator import masses
from maxmargin.core.mirrors import Mirror
from maxmargin.core.vectors import Listed
from maxmargin.engine.crew import ThreadCrew
from maxmargin.solvers import block_coordinate
from maxmargin.solvers.parallel_ascent import ParallelAscent, best_shares, gram_of
from maxmargin.solvers.shard import Shard


def sentences(n=60, seed=0, k=4, d=12):
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=(d, k))
    X = [rng.normal(size=(rng.integers(1, 7), d)) for _ in range(n)]
    y = [(x @ truth + rng.normal(size=(len(x), k))).argmax(axis=1).tolist() for x in X]
    return X, y


def spoken(n=60, seed=0):
    """Sentences of rare words, of which no shard has many."""
    rng = np.random.default_rng(seed)
    words = [rng.integers(900, size=rng.integers(1, 7)) for _ in range(n)]
    X = [[{f"word {v}": 1.0, f"end {v % 10}": 1.0} for v in row] for row in words]
    return X, [[str(v % 3 * (rng.random() < 0.8)) for v in row] for row in words]


@pytest.fixture
def small_shards(monkeypatch):
    monkeypatch.setattr(sharded, "SHARD_SLOTS", 40)


def tagger(**more):
    return SequenceTagger(**{"C": 0.3, "tol": 0.02} | more)


@pytest.mark.parametrize("penalty", ["linear", "quadratic"])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_every_form_ends_at_the_optimum_of_one_process(
    small_shards, penalty, rescaling
):
    X, y = sentences()
    more = {"penalty": penalty, "rescaling": rescaling}
    alone = tagger(**more, tol=0.005).fit(X, y).certificate_
    apart = tagger(**more, engine="threads").fit(X, y).certificate_
    assert apart.relative_gap <= 0.02
    assert apart.dual <= alone.primal * (1 + 1e-9)
    assert alone.dual <= apart.primal * (1 + 1e-9)


def test_every_example_keeps_its_weight(small_shards):
    X, y = sentences()
    weights = np.random.default_rng(0).gamma(0.3, 3.0, size=len(X))
    alone = tagger(tol=1e-3).fit(X, y, sample_weight=weights).certificate_
    more = {"engine": "threads", "tol": 0.005}
    apart = tagger(**more).fit(X, y, sample_weight=weights).certificate_
    assert apart.relative_gap <= 0.005
    assert apart.dual <= alone.primal
    assert alone.dual <= apart.primal


@pytest.mark.parametrize("solver", ["n-slack", "one-slack", "proximal-bundle"])
def test_every_solver_runs_over_shards(small_shards, solver):
    X, y = sentences()
    alone = tagger(tol=0.005).fit(X, y).certificate_
    apart = tagger(engine="threads", solver=solver, tol=0.05).fit(X, y).certificate_
    assert apart.relative_gap <= 0.05
    assert apart.dual <= alone.primal
    assert alone.dual <= apart.primal


@pytest.mark.parametrize("objective", ["hinge", "log"])
def test_the_weights_do_not_depend_on_the_number_of_threads(small_shards, objective):
    X, y = sentences()
    weights = [
        tagger(engine="threads", n_jobs=n, objective=objective).fit(X, y)._w
        for n in (1, 2, 4)
    ]
    assert np.array_equal(weights[0], weights[1])
    assert np.array_equal(weights[0], weights[2])


@pytest.mark.parametrize("solver", ["block-coordinate", "n-slack"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_marking_pages_changes_nothing(small_shards, monkeypatch, solver, n_jobs):
    """Long weights are copied where something has changed: the same as all of them."""
    X, y = spoken()
    tol = 0.2 if solver == "n-slack" else 0.01
    more = {"engine": "threads", "solver": solver, "tol": tol, "C": 3.0}
    whole = tagger(**more).fit(X, y)._w
    monkeypatch.setattr(mirrors, "SHORT", 0)
    assert np.array_equal(tagger(**more, n_jobs=n_jobs).fit(X, y)._w, whole)


@pytest.mark.parametrize("solver", ["auto", "exponentiated", "lbfgs"])
def test_log_losses_end_at_the_optimum_of_one_process(small_shards, solver):
    X, y = sentences()
    alone = tagger(objective="log", tol=1e-4).fit(X, y)
    more = {"objective": "log", "tol": 1e-4, "solver": solver}
    apart = tagger(**more, engine="threads").fit(X, y)
    assert apart.certificate_.relative_gap <= 1e-4
    np.testing.assert_allclose(apart.coef_, alone.coef_, atol=0.02)


def test_l1_over_shards(small_shards):
    """Distributions in shards know no l1: gradients do."""
    X, y = sentences()
    more = {"objective": "log", "tol": 1e-4, "l1": 0.3}
    alone = tagger(**more).fit(X, y)
    apart = tagger(**more, engine="threads").fit(X, y)
    assert apart.certificate_.relative_gap <= 1e-4
    np.testing.assert_allclose(apart.coef_, alone.coef_, atol=0.02)
    with pytest.raises(ValueError, match="choose one of auto, lbfgs"):
        tagger(**more, engine="threads", solver="exponentiated").fit(X, y)


def test_classes_over_shards(small_shards):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 5))
    y = (X @ rng.normal(size=(5, 3))).argmax(axis=1)
    alone = MulticlassSVM(tol=1e-3).fit(X, y).certificate_
    apart = MulticlassSVM(tol=0.02, engine="threads").fit(X, y).certificate_
    assert apart.relative_gap <= 0.02
    assert apart.dual <= alone.primal
    assert alone.dual <= apart.primal


def test_the_dual_never_falls(small_shards):
    X, y = sentences(seed=3)
    seen = []
    before = ParallelAscent._combine

    def look(self, moves):
        gain = before(self, moves)
        seen.append((gain, self.shares))
        return gain

    ParallelAscent._combine = look
    try:
        tagger(engine="threads").fit(X, y)
    finally:
        ParallelAscent._combine = before
    assert min(gain for gain, _ in seen) >= 0
    assert all(0 <= share <= 1 for _, shares in seen for share in shares)
    assert any(share < 1 for _, shares in seen for share in shares)


@pytest.mark.filterwarnings("ignore:Training stopped")
@pytest.mark.parametrize("room", [64, 4])  # of a block: of 4 places some are used again
def test_the_dual_of_the_search_is_that_of_the_shards(small_shards, monkeypatch, room):
    """What combining claims to gain is gained: w and dual agree with a rebuild."""
    monkeypatch.setattr(block_coordinate, "MAX_ROOM", room)
    X, y = sentences(seed=4)
    rebuild = ParallelAscent._rebuild
    errors = []

    def compare(self):
        w, dual = self.w.copy(), self.dual
        rebuild(self)
        errors.append((np.abs(self.w - w).max(), abs(self.dual - dual)))

    ParallelAscent._rebuild = compare
    try:
        for penalty in ("linear", "quadratic"):
            more = {"penalty": penalty, "tol": 1e-3, "max_iter": 100}
            tagger(engine="threads", **more).fit(X, y)
    finally:
        ParallelAscent._rebuild = rebuild
    assert len(errors) > 1
    assert max(w for w, _ in errors) < 1e-4
    assert max(d for _, d in errors) < 1e-2


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 6), st.integers(0, 10_000))
def test_the_search_over_shares_finds_the_best(count, seed):
    rng = np.random.default_rng(seed)
    moves = rng.normal(size=(count, 4)) * rng.choice(
        [0.0, 1.0], size=(count, 1), p=[0.2, 0.8]
    )
    gram, slopes = moves @ moves.T, rng.normal(size=count)
    shares = best_shares(gram, slopes)
    assert ((shares >= 0) & (shares <= 1)).all()

    def value(s):
        return s @ slopes - 0.5 * s @ gram @ s

    best = value(shares)
    for _ in range(200):
        other = np.clip(
            shares + rng.normal(scale=rng.choice([0.01, 1]), size=count), 0, 1
        )
        assert value(other) <= best + 1e-5


@given(st.integers(0, 10_000))
def test_listed_vectors_are_the_vectors(seed):
    rng = np.random.default_rng(seed)
    dense = [
        rng.normal(size=30).astype(np.float32) * (rng.random(30) < share)
        for share in (0.0, 0.1, 0.9)
    ]
    listed = [Listed.of(v) for v in dense]
    np.testing.assert_allclose(
        gram_of(listed, np.zeros_like(dense[0])),
        np.array(dense) @ np.array(dense).T,
        atol=1e-4,
    )
    total = np.zeros(30, np.float32)
    for vector in listed:
        vector.add_to(total)
    np.testing.assert_array_equal(total, dense[0] + dense[1] + dense[2])


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"C": np.inf}, "C=inf cannot be trained over shards"),
        ({"solver": "perceptron"}, "is not possible|not known|does not run"),
        (
            {"objective": "log", "solver": "one-slack"},
            "does not run|cannot",
        ),
    ],
)
def test_what_cannot_be_done_in_shards_is_refused(small_shards, more, words):
    X, y = sentences(8)
    with pytest.raises(ValueError, match=words):
        tagger(engine="threads", **more).fit(X, y)


def test_limits_hold_over_shards(small_shards):
    X, y = sentences()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = tagger(engine="threads", max_iter=3, tol=1e-6).fit(X, y)
    assert model.n_iter_ == 3
    assert not model.converged_
    assert model.certificate_.dual <= model.certificate_.primal < np.inf


@pytest.mark.parametrize(
    "solver", ["block-coordinate", "one-slack", "proximal-bundle", "handover"]
)
def test_a_fit_over_shards_goes_on_from_its_checkpoint(small_shards, tmp_path, solver):
    X, y = sentences()
    more = {"engine": "threads", "solver": solver, "tol": 0.01}
    if solver == "handover":
        more = {"engine": "threads", "objective": "log", "tol": 1e-5}
    whole = tagger(**more).fit(X, y)
    place = {"checkpoint": str(tmp_path / "kept")}

    def give_up(row):
        if row["iteration"] == 4:
            raise KeyboardInterrupt

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tagger(**more, **place, callbacks=[give_up]).fit(X, y)
    resumed = tagger(**more, **place, resume=True).fit(X, y)
    assert np.array_equal(resumed._w, whole._w)
    assert resumed.certificate_ == whole.certificate_


@pytest.mark.parametrize("objective", ["hinge", "log"])
def test_a_checkpoint_knows_which_shards_began_anew(
    small_shards, monkeypatch, tmp_path, objective
):
    """A worker that dies as the state is asked for: w is not that of the shards."""
    made, ask, specs = ThreadCrew.__init__, ThreadCrew.ask, []

    def make(self, found, n_jobs=1):
        specs[:] = found
        made(self, found, n_jobs)

    def die(self, method, *common, each=None, optional=False):
        if method == "state":
            self._shards[0] = specs[0].build()
            self.restarted.add(0)
        return ask(self, method, *common, each=each)

    def give_up(row):
        return row["iteration"] == 3

    monkeypatch.setattr(ThreadCrew, "__init__", make)
    X, y = sentences(seed=6)
    more = {"engine": "threads", "tol": 0.01, "checkpoint": str(tmp_path / "kept")}
    more["objective"] = objective
    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setattr(ThreadCrew, "ask", die)
        tagger(**more, callbacks=[give_up]).fit(X, y)

    candidates, errors = ParallelAscent.candidates, []

    def compare(self):
        dual = self.dual
        found = candidates(self)
        errors.append(abs(self.dual - dual))
        return found

    monkeypatch.setattr(ParallelAscent, "candidates", compare)
    model = tagger(**more, resume=True).fit(X, y)
    assert model.certificate_.relative_gap <= 0.01
    assert max(errors) < 1e-3


@pytest.mark.parametrize("objective", ["hinge", "log"])
def test_late_moves_are_judged_when_they_come(small_shards, monkeypatch, objective):
    """A crew whose shards are late in turn: dual and w stay those of the shards."""
    ask = ThreadCrew.ask
    waiting: dict = {}
    rounds = [0]

    def late(self, method, *common, each=None, optional=False):
        if not optional:
            return ask(self, method, *common, each=each)
        rounds[0] += 1
        replies = []
        for k in range(self.shards):
            if k in waiting:
                replies.append(waiting.pop(k))
                continue
            reply = self.ask_one(k, method, *common, *each[k])
            if (rounds[0] + k) % 3 == 0:
                waiting[k] = reply
                reply = None
            replies.append(reply)
        return replies

    monkeypatch.setattr(ThreadCrew, "ask", late)
    rebuild, errors = ParallelAscent._rebuild, []

    def compare(self):
        dual = self.dual
        dropped = bool(waiting) or self.epoch == 0
        rebuild(self)
        if not dropped:
            errors.append(abs(self.dual - dual) / max(abs(dual), 1.0))

    monkeypatch.setattr(ParallelAscent, "_rebuild", compare)
    X, y = sentences(seed=5)
    alone = tagger(objective=objective, tol=0.005)
    alone.fit(X, y)
    model = tagger(engine="threads", objective=objective).fit(X, y)
    assert model.certificate_.relative_gap <= 0.02
    assert model.certificate_.dual <= alone.certificate_.primal
    assert alone.certificate_.dual <= model.certificate_.primal
    assert rounds[0] > 3
    assert all(error < 1e-4 for error in errors)


def test_a_module_may_train_while_it_is_imported(tmp_path):
    """Threads that import what is being imported would wait for ever."""
    (tmp_path / "trains.py").write_text(
        "import sys\n"
        "from maxmargin.solvers.shard import ShardSpec\n"
        "from maxmargin.engine.crew import ThreadCrew\n"
        "specs = [ShardSpec(None, None, 'lbfgs', ('trains',))] * 2\n"
        "print(ThreadCrew(specs, 2).shards)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", "import trains"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.strip() == "2", done.stderr


@pytest.mark.parametrize(
    ("objective", "share"), [("hinge", 0.0), ("hinge", 0.3), ("log", 0.0), ("log", 1.0)]
)
def test_a_shard_keeps_what_it_is_told_to(objective, share):
    X, y = sentences(20)
    model = tagger(objective=objective)
    form, _, _, seed, _ = model._settings()
    encoded = model._encode(X, y, None)
    mass = masses(0.3, encoded.weights)
    whole = model._make_objective(
        encoded.batch, encoded.n_weights, form, mass, np.float64, 1, seed
    )
    solver = "handover" if objective == "log" else "block-coordinate"
    shard = Shard(whole.piece(0, mass), sharded.Held(encoded.batch), solver)
    before, after = whole.weights(), whole.weights()
    rest = shard.contribution(None)
    rest[0].add_to(before)
    move = shard.ascend(Mirror(before), 0, 2.0, False, 100.0, None)
    assert move.change.dot(np.ones(len(before))) != 0
    found = shard.contribution(share)
    found[0].add_to(after)
    move.change.add_to(before, share)
    np.testing.assert_allclose(after, before, atol=1e-9)
    np.testing.assert_allclose(found[1], rest[1] + share * move.rise, rtol=1e-9)
