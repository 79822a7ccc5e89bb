"""Callbacks that write to files, TensorBoard and MLflow; the last two are played."""

import copy
import json
import os
import pickle
import sys
import types

import pytest
from sklearn.base import clone
from watch_cases import blobs

import maxmargin
from maxmargin import MulticlassSVM
from maxmargin.callbacks import JsonLines, MLflow, TensorBoard
from maxmargin.solvers.watching.time_left import Curve


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def row(iteration, primal=2.0):
    return {"iteration": iteration, "seconds": 0.1 * iteration, "primal": primal}


def test_it_is_found_where_the_library_is():
    assert maxmargin.callbacks.JsonLines is JsonLines


# lines of JSON ------------------------------------------------------------------------


def test_rows_in_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(Curve, "seconds_left", lambda self, ratio: 7.0)
    path = tmp_path / "fit.jsonl"
    model = MulticlassSVM(tol=1e-6, callbacks=[JsonLines(path)]).fit(*blobs())
    rows = lines(path)
    assert {row.pop("fit") for row in rows} == {1}
    assert all(6.0 < row.pop("expected_seconds_left") <= 7.0 for row in rows)
    assert rows == model.history_


def test_fits_are_counted_also_those_of_copies(tmp_path):
    path = tmp_path / "fit.jsonl"
    model = MulticlassSVM(callbacks=[JsonLines(path)])
    models = model.path(*blobs(), [0.1, 1.0, 10.0])
    clone(model).fit(*blobs())
    found = [row["fit"] for row in lines(path)]
    assert found == sorted(found)
    assert [found.count(k) for k in (1, 2, 3)] == [m.n_iter_ for m in models]
    assert set(found) == {1, 2, 3, 4}


def test_what_was_there_stays_also_half_a_line(tmp_path):
    path = tmp_path / "fit.jsonl"
    path.write_text('{"fit": 1}\n{"fi')
    JsonLines(path)(row(1))
    JsonLines(path)(row(1, float("inf")))
    first, broken, *rest = path.read_text().splitlines()
    assert (first, broken) == ('{"fit": 1}', '{"fi')
    assert [json.loads(line)["primal"] for line in rest] == [2.0, None]


def test_every_line_is_in_the_file_at_once(tmp_path):
    path = tmp_path / "fit.jsonl"
    write = JsonLines(path)
    for k in range(1, 4):
        write(row(k))
        assert len(lines(path)) == k


def test_the_path_is_that_of_the_beginning(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write = pickle.loads(pickle.dumps(JsonLines("fit.jsonl")))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    write(row(1))
    assert len(lines(tmp_path / "fit.jsonl")) == 1


def test_a_file_that_cannot_be_written_is_refused_at_once(tmp_path):
    with pytest.raises(ValueError, match="is a folder: name a file"):
        JsonLines(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"cannot be written to .*fit\.jsonl"):
        JsonLines(tmp_path / "no" / "fit.jsonl")


def test_a_disk_that_fills_up_does_not_end_the_fit(tmp_path, monkeypatch):
    def full(self, line):
        raise OSError(28, "No space left on device")

    callback = JsonLines(tmp_path / "fit.jsonl")
    monkeypatch.setattr(JsonLines, "_append", full)
    with pytest.warns(RuntimeWarning, match="JsonLines.*No space left on device"):
        assert MulticlassSVM(callbacks=[callback]).fit(*blobs()).converged_


def test_a_line_may_go_to_a_device():
    JsonLines(os.devnull)(row(1))


# TensorBoard --------------------------------------------------------------------------


class Board:
    """What the writers of tensorboard and of tensorboardX have in common."""

    all: dict

    def __init__(self, folder):
        self.points, self.flushed = [], 0
        Board.all[folder] = self

    def add_scalar(self, name, value, step):
        self.points.append((name, value, step))

    def flush(self):
        self.flushed = len(self.points)


@pytest.fixture(params=["tensorboard.summary", "tensorboardX"])
def boards(request, monkeypatch):
    Board.all = {}
    for name in ("tensorboard", "tensorboard.summary", "tensorboardX"):
        monkeypatch.setitem(sys.modules, name, None)  # not there, though installed
    module = types.ModuleType(request.param)
    module.Writer = module.SummaryWriter = Board
    if "." in request.param:
        monkeypatch.setitem(sys.modules, "tensorboard", types.ModuleType("tensorboard"))
    monkeypatch.setitem(sys.modules, request.param, module)
    return Board.all


def test_curves_for_tensorboard(boards, tmp_path):
    callback = TensorBoard(tmp_path)
    models = MulticlassSVM(tol=1e-6, callbacks=[callback]).path(*blobs(), [0.1, 1.0])
    assert list(boards) == [str(tmp_path), str(tmp_path / "fit-2")]
    for board, model in zip(boards.values(), models, strict=True):
        assert board.flushed == len(board.points)
        drawn = [(value, step) for name, value, step in board.points if name == "gap"]
        assert drawn == [(r["gap"], r["iteration"]) for r in model.history_]
        assert "iteration" not in {name for name, *_ in board.points}


def test_curves_leave_out_what_cannot_be_drawn(boards, tmp_path):
    callback = copy.deepcopy(TensorBoard(tmp_path))
    callback(row(1, float("inf")), None)
    again = pickle.loads(pickle.dumps(callback))
    again(row(2), 3.0)
    again.end()
    (board,) = boards.values()  # the second writer of this folder
    assert board.points == [
        ("seconds", 0.2, 2),
        ("primal", 2.0, 2),
        ("expected_seconds_left", 3.0, 2),
    ]


# MLflow -------------------------------------------------------------------------------


@pytest.fixture
def sent(monkeypatch):
    module, calls = types.ModuleType("mlflow"), []
    module.log_metrics = lambda metrics, **more: calls.append((metrics, more))
    monkeypatch.setitem(sys.modules, "mlflow", module)
    return calls


def test_metrics_for_mlflow(sent, monkeypatch):
    monkeypatch.setattr(MLflow, "every", 0.0)
    models = MulticlassSVM(callbacks=[MLflow()]).path(*blobs(), [0.1, 1.0])
    rows = [row for model in models for row in model.history_]
    assert [metrics["gap"] for metrics, _ in sent] == [row["gap"] for row in rows]
    assert [more for _, more in sent] == [{"step": k} for k in range(1, len(rows) + 1)]


def test_the_last_row_of_a_quick_fit_is_sent(sent, monkeypatch):
    monkeypatch.setattr(MLflow, "every", 1e9)
    run = types.SimpleNamespace(info=types.SimpleNamespace(run_id="abc"))
    model = MulticlassSVM(tol=1e-6, callbacks=[MLflow(run)]).fit(*blobs())
    (first, _), (last, more) = sent
    assert first["gap"] == model.history_[0]["gap"]
    assert last["gap"] == model.history_[-1]["gap"]
    assert more == {"step": model.n_iter_, "run_id": "abc"}
    assert repr(MLflow("abc")) == "MLflow('abc')"


def test_a_server_that_goes_away_does_not_end_the_fit(sent, monkeypatch):
    def gone(metrics, **more):
        raise ConnectionError("no answer")

    callback = MLflow()
    sys.modules["mlflow"].log_metrics = gone
    with pytest.warns(RuntimeWarning, match=r"MLflow\(None\).*no answer"):
        assert MulticlassSVM(callbacks=[callback]).fit(*blobs()).converged_


def test_what_is_no_run_is_refused(sent):
    with pytest.raises(ValueError, match="run=3 is not possible"):
        MLflow(3)


def test_what_is_not_installed_is_said(monkeypatch, tmp_path):
    for name in ("tensorboard", "tensorboard.summary", "tensorboardX", "mlflow"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="pip install tensorboard"):
        TensorBoard(tmp_path)
    with pytest.raises(ImportError, match="pip install mlflow"):
        MLflow()
