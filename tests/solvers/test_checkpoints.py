"""A fit that was stopped goes on to the same weights, or says in a sentence why not."""

import io
import os
import signal

import numpy as np
import pytest
from checkpoint_cases import (
    CASES,
    ROWS,
    SENTENCES,
    SIGNS,
    TAGS,
    Rows,
    X,
    Y,
    fitted,
    outcome,
)

from maxmargin import Checkpoint, MulticlassSVM, SequenceTagger, StructuralSVM
from maxmargin.solvers import schedule
from maxmargin.solvers.checkpoints import checkpoint, notebook

KEPT = "fit.checkpoint"


class Killed(BaseException):
    """Ends a fit as kill -9 would: nothing is written after it."""


def killing(passes):
    """A callback that kills a fit in pass number ``passes``."""
    count = 0

    def stop(row):
        nonlocal count
        count += 1
        if count == passes:
            raise Killed

    return [stop]


def passes_of(case):
    """(the model of a whole fit, its passes, those of parts counted)."""
    seen = []
    return fitted(case, callbacks=[lambda row: seen.append(1) and None]), len(seen)


def kill(case, passes, folder, **more):
    place = Checkpoint(folder, every=0)
    with pytest.raises(Killed):
        fitted(case, checkpoint=place, callbacks=killing(passes), **more)


@pytest.mark.parametrize("case", CASES)
def test_fits_go_on_to_the_last_bit(case, tmp_path):
    whole, passes = passes_of(case)
    assert passes > 1
    for k in sorted({2, (passes + 1) // 2, passes}):
        kill(case, k, tmp_path / str(k))
        again = fitted(case, checkpoint=tmp_path / str(k), resume=True)
        assert outcome(again) == outcome(whole)
        assert again.converged_ == whole.converged_
    # and one that has ended returns what it found
    once = fitted(case, checkpoint=tmp_path / str(k), resume=True)
    assert outcome(once) == outcome(whole)
    if hasattr(whole, "certificate_") and not hasattr(whole, "restarts_"):
        assert once.history_[-1]["seconds"] == again.history_[-1]["seconds"]


def test_weights_held_to_be_positive(tmp_path):
    from test_signs import problem

    from maxmargin.core.formulation import make_form
    from maxmargin.core.objective import Objective
    from maxmargin.solvers import registry
    from maxmargin.solvers.driver import drive
    from maxmargin.solvers.result import Limits

    batch, _, _, held = problem(1, n=40)

    def fit(solver, place=None, callbacks=()):
        form = make_form("margin", "linear", 1e-5)
        objective = Objective(
            batch, 3 * batch.width, form, np.ones(40), np.float64, 1, 0
        )
        objective.nonnegative = held
        limits = Limits(tol=1e-5, callbacks=callbacks, checkpoint=place)
        return drive(objective, registry.make(solver, objective), limits)

    for solver in ("block-coordinate", "one-slack", "n-slack"):
        whole = fit(solver)
        place = checkpoint.Place(str(tmp_path), 0.0, True, solver)
        with pytest.raises(Killed):
            fit(solver, place, killing(len(whole.history) // 2 + 1))
        again = fit(solver, place)
        assert again.w.tobytes() == whole.w.tobytes()
        assert again.certificate == whole.certificate


def test_fits_may_be_killed_again_and_again(tmp_path):
    whole, passes = passes_of("tags")
    for _ in range(passes - 1):
        kill("tags", 2, tmp_path, resume=True)
    assert outcome(fitted("tags", checkpoint=tmp_path, resume=True)) == outcome(whole)


def test_no_result_depends_on_where_passes_are_cut(monkeypatch):
    """... which the clock decides."""
    names = ("planes of classes", "exact blocks", "exponentiated", "tags", "log")
    whole = {name: outcome(fitted(name)) for name in names}

    def one_by_one(self, order, visit):
        for k in range(len(order)):
            visit(order[k : k + 1])

    monkeypatch.setattr(schedule.Schedule, "in_chunks", one_by_one)
    assert {name: outcome(fitted(name)) for name in names} == whole


def test_paths_go_on(tmp_path):
    Cs = [1.0, 0.01, 0.1, 0.1]
    place = Checkpoint(tmp_path, every=0)

    def path(**more):
        model = SequenceTagger(tol=1e-3, **more)
        return [outcome(m) for m in model.path(SENTENCES, TAGS, Cs)]

    whole = path()
    rows = [len(rows) for _, _, rows, _ in whole]
    for k in (2, rows[1] + 2, sum(rows[1:3]) + 1):
        with pytest.raises(Killed):
            path(checkpoint=place, resume=k > 2, callbacks=killing(k))
        assert path(checkpoint=place, resume=True) == whole
        for entry in tmp_path.iterdir():
            entry.unlink()


def test_warm_starts_go_on(tmp_path):
    def fit(second, **more):
        model = fitted("functions", warm_start=True)
        model.set_params(C=2.0, **more)
        return second(model)

    def again(model):
        from checkpoint_cases import ROWS, SIGNS

        return model.fit(ROWS, SIGNS)

    whole = fit(again)
    with pytest.raises(Killed):
        fit(again, checkpoint=Checkpoint(tmp_path, 0), callbacks=killing(2))
    assert outcome(fit(again, checkpoint=tmp_path, resume=True)) == outcome(whole)


# limits ---------------------------------------------------------------------------------


def test_limits_may_be_others(tmp_path):
    place = Checkpoint(tmp_path, every=0)
    short = fitted("one-slack", checkpoint=place, max_iter=3)
    assert not short.converged_
    rough = fitted("one-slack", checkpoint=place, resume=True, tol=0.05)
    assert rough.converged_
    assert rough.n_iter_ > 3
    fine = fitted("one-slack", checkpoint=place, resume=True, n_jobs=2)
    assert fine.n_iter_ > rough.n_iter_
    assert fine.certificate_.relative_gap <= 1e-3
    more = fitted("one-slack", checkpoint=place, resume=True, tol=2e-4)
    assert more.certificate_.relative_gap <= 2e-4
    gap = more.certificate_
    assert gap.dual <= fine.certificate_.primal
    assert gap.primal >= fine.certificate_.dual


def test_time_is_counted_in_all(tmp_path):
    kill("tags", 4, tmp_path)
    model = fitted("tags", checkpoint=tmp_path, resume=True, max_time=1e-9)
    assert model.n_iter_ == 3
    assert not model.converged_
    assert model.history_[-1]["gap"] == model.certificate_.gap


def test_callbacks_that_stop_a_fit_do_not_end_it(tmp_path):
    whole = fitted("tags")
    stop = [lambda row: row["iteration"] == 4]
    model = fitted("tags", checkpoint=tmp_path, callbacks=stop)
    assert model.n_iter_ == 4
    with pytest.raises(ValueError, match=r"has not ended \(4 passes.*resume=True"):
        fitted("tags", checkpoint=tmp_path)
    assert outcome(fitted("tags", checkpoint=tmp_path, resume=True)) == outcome(whole)


# Ctrl-C ---------------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["tags", "functions, n-slack", "hidden, self-paced"])
def test_ctrl_c_leaves_a_checkpoint(case, tmp_path, monkeypatch):
    whole, passes = passes_of(case)
    monkeypatch.setattr(notebook, "RARELY", 0.0)
    seen = []

    def interrupt(row):
        seen.append(row)
        if len(seen) == passes - 1:
            signal.raise_signal(signal.SIGINT)

    model = fitted(case, checkpoint=tmp_path, callbacks=[interrupt])  # every minute
    assert not model.converged_
    (entry,) = tmp_path.iterdir()
    assert notebook.checkpoint_file.check(str(entry))["ended"] is False
    assert outcome(fitted(case, checkpoint=tmp_path, resume=True)) == outcome(whole)


def test_ctrl_c_while_writing(tmp_path, monkeypatch):
    whole = fitted("tags")
    real, calls = os.replace, []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(os, "replace", interrupted)
    fitted("tags", checkpoint=Checkpoint(tmp_path, every=0))
    assert [entry.name for entry in tmp_path.iterdir()] == [KEPT]
    again = fitted("tags", checkpoint=tmp_path, resume=True)
    assert outcome(again) == outcome(whole)


# what is refused ------------------------------------------------------------------------


def test_where_there_is_nothing_a_fit_starts(tmp_path):
    folder = tmp_path / "new" / "deep"
    model = fitted("tags", checkpoint=folder, resume=True)
    assert outcome(model) == outcome(fitted("tags"))
    assert os.listdir(folder) == [KEPT]


def test_fits_that_have_ended_may_be_overwritten(tmp_path):
    fitted("tags", checkpoint=tmp_path)
    fitted("exact blocks", checkpoint=tmp_path)
    model = fitted("exact blocks", checkpoint=tmp_path, resume=True)
    assert outcome(model) == outcome(fitted("exact blocks"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"C": 2.0}, "another C or other sample weights"),
        ({"penalty": "quadratic"}, "another rescaling or penalty"),
        ({"solver": "one-slack"}, "another solver"),
        ({"objective": "log"}, "another objective"),
        ({"random_state": 1}, "another random_state"),
        ({"loss": {"a": 2.0}}, "other data"),
        ({"tol": 1e-5}, "another precision"),
    ],
    ids=repr,
)
def test_other_settings(change, message, tmp_path):
    kill("tags", 3, tmp_path)
    kept = (tmp_path / KEPT).read_bytes()
    with pytest.raises(ValueError, match=f"Cannot go on from .*{message}.*folder"):
        fitted("tags", checkpoint=tmp_path, resume=True, **change)
    assert (tmp_path / KEPT).read_bytes() == kept


def test_other_data(tmp_path):
    place = Checkpoint(tmp_path, every=0)
    with pytest.raises(Killed):
        MulticlassSVM(tol=1e-4, checkpoint=place, callbacks=killing(2)).fit(X, Y)
    model = MulticlassSVM(tol=1e-4, checkpoint=place, resume=True)
    other, labels = X.copy(), Y.copy()
    other[3, 2] += 1e-6
    labels[0] = (labels[0] + 1) % 3
    for data in ((other, Y), (X, labels), (X[:-1], Y[:-1])):
        with pytest.raises(ValueError, match="other data"):
            model.fit(*data)
    with pytest.raises(ValueError, match="sample weights"):
        model.fit(X, Y, sample_weight=np.arange(len(Y)))
    assert not hasattr(model, "coef_")
    kill("functions", 2, tmp_path / "python")
    with pytest.raises(ValueError, match="other data"):
        fitted("functions, sealed outputs", checkpoint=tmp_path / "python", resume=True)


class Twice(Rows):
    """The same features, other losses."""

    def loss(self, y, z):
        return 2.0 * super().loss(y, z)


@pytest.mark.parametrize("more", [{}, {"engine": "dask"}], ids=["one", "shards"])
def test_other_losses_of_a_problem(more, home, tmp_path):
    """Nothing tells them apart before outputs are met."""
    Twice.__qualname__ = Rows.__qualname__
    kill("functions", 3, tmp_path, **more)
    kept = (tmp_path / KEPT).read_bytes()
    model = StructuralSVM(Twice(), tol=1e-4, checkpoint=tmp_path, resume=True, **more)
    with pytest.raises(ValueError, match="problem had other losses or features"):
        model.fit(ROWS, SIGNS)
    assert (tmp_path / KEPT).read_bytes() == kept


def test_hidden_parts_must_be_plain(tmp_path):
    from checkpoint_cases import BUMPS, SERIES, Sealed, Sought

    from maxmargin import LatentStructuralSVM

    class Odd(Sought):
        def complete(self, x, y, w):
            return Sealed(super().complete(x, y, w))

        def joint_feature(self, x, y, h):
            return super().joint_feature(x, y, getattr(h, "y", h))

    model = LatentStructuralSVM(Odd(), checkpoint=tmp_path)
    with pytest.raises(ValueError, match="hidden part of sample 0 is of type Sealed"):
        model.fit(list(SERIES), BUMPS.tolist())


# disks ----------------------------------------------------------------------------------


def test_folders_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "in", "nul\0l", ""):
        with pytest.raises(ValueError, match="checkpoint="):
            fitted("tags", checkpoint=folder)


def test_a_full_disk_before_any_work(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "unlink", full)
    with pytest.raises(ValueError, match=r"cannot be written to \(No space left"):
        fitted("tags", checkpoint=tmp_path)


def test_a_full_disk_keeps_no_leftovers(tmp_path, monkeypatch):
    class Full(io.FileIO):
        def write(self, data):
            raise OSError(28, "No space left on device")

    def opened(name, mode):
        return Full(name, "x")

    monkeypatch.setattr(checkpoint, "open", opened, raising=False)
    with pytest.raises(ValueError, match=r"cannot be written to \(No space left"):
        fitted("tags", checkpoint=tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_disk_that_fills_up_loses_no_fit(tmp_path, monkeypatch):
    real, calls = os.fsync, []

    def full(handle):
        calls.append(handle)
        if len(calls) > 4:  # two of each file
            raise OSError(28, "No space left on device")
        return real(handle)

    monkeypatch.setattr(os, "fsync", full)
    model = SequenceTagger(tol=1e-3, checkpoint=Checkpoint(tmp_path, every=0))
    with pytest.warns(RuntimeWarning, match="cannot be written .No space left") as seen:
        model.fit(SENTENCES, TAGS)
    assert len(seen) == 1
    assert outcome(model) == outcome(fitted("tags"))
    monkeypatch.undo()
    assert os.listdir(tmp_path) == [KEPT]  # of pass 2
    again = fitted("tags", checkpoint=tmp_path, resume=True)
    assert outcome(again) == outcome(model)


def test_leftovers_of_killed_writings_is_removed(tmp_path):
    from maxmargin.files.atomic import temporary_name

    (tmp_path / temporary_name(KEPT)).write_bytes(b"half")
    (tmp_path / temporary_name("other")).write_bytes(b"not ours")
    fitted("exact blocks", checkpoint=tmp_path)
    assert len(os.listdir(tmp_path)) == 2
    for name in ("probe", "fit-turn-1.checkpoint", "fit-start-1.checkpoint"):
        (tmp_path / temporary_name(name)).write_bytes(b"half")
    fitted("unknown tags", checkpoint=tmp_path)
    leftovers = [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]
    assert len(leftovers) == 1
