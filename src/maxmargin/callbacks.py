"""Callbacks that write down how a fit goes: to a file, to TensorBoard, to MLflow.

    from maxmargin.callbacks import JsonLines

    SequenceTagger(callbacks=[JsonLines("fit.jsonl")]).fit(X, y)

A callback is any function of a history row (``history_``); True stops the fit. One with a
true attribute ``takes_time_left`` gets the expected seconds left as a second argument, None
where they cannot be told. A method ``end()`` is called after the last row. One that raises
is left out for the rest of the fit, with a warning: what was learned in hours must not be
lost to a full disk. KeyboardInterrupt ends the fit as Ctrl-C does.

Those here may be shared by many fits (a path, a grid search): each row says whose it is.
"""

from __future__ import annotations

import importlib
import math
import numbers
import os
import time
from typing import Any

from maxmargin.solvers.watching.progress import as_json

__all__ = ["JsonLines", "MLflow", "TensorBoard"]


class _Writer:
    """Counts fits; copies that scikit-learn makes for them write to the same place."""

    takes_time_left = True
    fit = 0

    def __call__(self, row: dict, expected_seconds_left: float | None = None) -> None:
        first = row.get("iteration") == 1
        if first or not self.fit:
            self.fit += 1
            self.begin()
        self.write(row | {"expected_seconds_left": expected_seconds_left})

    def begin(self) -> None:
        """Another fit."""

    def write(self, row: dict) -> None:
        raise NotImplementedError

    def __deepcopy__(self, memo) -> _Writer:
        return self


class JsonLines(_Writer):
    """Appends every row to a file, as the line of JSON that ``verbose=2`` shows.

    Each line is written at once and whole, so the file can be followed (``tail -f``) and
    shared by processes; ``fit`` in it counts the fits that this object has seen.
    """

    def __init__(self, path: str | os.PathLike[str]):
        self.path = os.path.abspath(os.fsdecode(path))
        if os.path.isdir(self.path):
            raise ValueError(f"{self.path} is a folder: name a file for the rows.")
        try:
            self._append(b"")
        except OSError as error:
            raise type(error)(
                f"Rows cannot be written to {self.path}: {error.strerror}."
            ) from None

    def begin(self) -> None:
        """Whoever was stopped in the middle of a line keeps it for himself."""
        with open(self.path, "a+b") as file:
            if file.tell() and not self._ended(file):
                self._append(b"\n")

    @staticmethod
    def _ended(file) -> bool:
        try:
            file.seek(-1, os.SEEK_END)
        except OSError:  # a pipe or the like
            return True
        return file.read(1) == b"\n"

    def write(self, row: dict) -> None:
        self._append(as_json({"fit": self.fit} | row).encode() + b"\n")

    def _append(self, line: bytes) -> None:
        with open(self.path, "ab", buffering=0) as file:
            if line:
                file.write(line)

    def __repr__(self) -> str:
        return f"JsonLines({self.path!r})"


class TensorBoard(_Writer):
    """Curves of all numbers of the rows, for ``tensorboard --logdir FOLDER``.

    Needs the package tensorboard or tensorboardX. Fits after the first have curves of their
    own, in the folders ``fit-2``, ``fit-3``, ...
    """

    every = 1.0  # seconds between flushes
    _board: Any

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = os.path.abspath(os.fsdecode(folder))
        self._make, self._board, self._flushed = _board(), None, 0.0

    def begin(self) -> None:
        name = f"fit-{self.fit}" if self.fit > 1 else ""
        self.end()
        self._board = self._make(os.path.join(self.folder, name).rstrip(os.sep))

    def write(self, row: dict) -> None:
        if self._board is None:  # a copy in another process
            self.begin()
        for name, value in _numbers(row).items():
            self._board.add_scalar(name, value, row["iteration"])
        if time.monotonic() - self._flushed >= self.every:
            self.end()

    def end(self) -> None:
        """What was written so far can be seen."""
        if self._board is not None:
            self._board.flush()
            self._flushed = time.monotonic()

    def __getstate__(self) -> dict[str, Any]:
        return {"folder": self.folder, "fit": self.fit}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make, self._board, self._flushed = _board(), None, 0.0

    def __repr__(self) -> str:
        return f"TensorBoard({self.folder!r})"


def _board():
    """What makes a writer of a folder."""
    for module, name in (
        ("tensorboard.summary", "Writer"),
        ("tensorboardX", "SummaryWriter"),
    ):
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError):
            continue
    raise ImportError(
        "TensorBoard needs the package tensorboard or tensorboardX: pip install "
        "tensorboard."
    )


class MLflow(_Writer):
    """Metrics of an MLflow run: all numbers of the rows, at most once per second.

    `run` is a run, or the id of one; None is the active run, which MLflow begins if there
    is none. Steps are passes, counted on over several fits.
    """

    every = 1.0  # seconds: each row is a message to MLflow's server

    _waiting: dict[str, float] | None

    def __init__(self, run: Any = None):
        _mlflow()
        info = getattr(run, "info", None)
        self.run = run if info is None else info.run_id
        if self.run is not None and not isinstance(self.run, str):
            raise ValueError(
                f"run={run!r} is not possible: it must be a run of MLflow, the id of one, "
                "or None for the active run."
            )
        self._before = self._step = 0
        self._sent, self._waiting = -math.inf, None

    def begin(self) -> None:
        self.end()
        self._before = self._step

    def write(self, row: dict) -> None:
        self._step = self._before + int(row["iteration"])
        self._waiting = _numbers(row)
        if time.monotonic() - self._sent >= self.every:
            self.end()

    def end(self) -> None:
        """Send the last row."""
        if self._waiting is None:
            return
        metrics, self._waiting = self._waiting, None
        where = {} if self.run is None else {"run_id": self.run}
        _mlflow().log_metrics(metrics, step=self._step, **where)
        self._sent = time.monotonic()

    def __repr__(self) -> str:
        return f"MLflow({self.run!r})"


def _mlflow():
    try:
        return importlib.import_module("mlflow")
    except ImportError:
        raise ImportError(
            "MLflow needs the package mlflow: pip install mlflow."
        ) from None


def _numbers(row: dict) -> dict[str, float]:
    """What can be drawn: finite numbers under their names."""
    return {
        name: float(value)
        for name, value in row.items()
        if name != "iteration"
        and isinstance(value, numbers.Real)
        and math.isfinite(value)
    }
