"""The task ``structure``: a Problem, Structure or DynamicProgram of the user's own.

Its class is named on the command line, ``--structure module:Class``, and made without
arguments. It may know its files:

    read(path) -> (X, Y)     Y is None, or a list with None, where there is no truth
    write(path, outputs)     predictions, for ``maxmargin predict``

Without, files have a JSON object per line, ``{"x": ..., "y": ...}``. A model file names the
class, but a file's word is not enough to import it: the other commands are told it again.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from maxmargin.cli.command import Command, Sample
from maxmargin.cli.task import K_BEST, MARGINALS, Output
from maxmargin.files.text_files import json_values, read_text
from maxmargin.metrics import scorers


def structure_class(place: str) -> type:
    """The class ``module:Class``; modules of the current folder are found."""
    module, mark, name = place.partition(":")
    if not (module and mark and name):
        raise ValueError(
            f"--structure {place} does not name a class: write module:Class, such as "
            "segments:Segments for the class Segments of segments.py."
        )
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        if error.name != module.partition(".")[0]:
            raise
        raise ValueError(
            f"--structure {place}: there is no module {module}, here or installed."
        ) from None
    except AttributeError:
        raise ValueError(f"--structure {place}: {module} has no {name}.") from None


@dataclass
class OwnStructure(Command):
    """A structure of the user's own; ``problem`` is an object of its class."""

    structure: str = ""  # module:Class

    name = "structure"
    about = "Train a structure of your own: a class in Python that you name."
    example = """example:
  maxmargin train structure train.jsonl --structure segments:Segments -o m.model
  maxmargin predict m.model new.jsonl --structure segments:Segments

Lines are {"x": ..., "y": ...}, unless the class has read(path): docs/command-line.md."""
    estimators = {"svm": "StructuralSVM"}
    hidden = frozenset({"problem"})
    smaller = True
    essential = "structure objective solver tol"
    options = """
    the file
      --structure MODULE:CLASS  the class that says what outputs are
      --encoding NAME=utf-8  default: utf-8
    the model
      --C
    """
    numbered = "sample"
    outputs = {"jsonl": Output((".jsonl", ".ndjson"))}
    predict_options = K_BEST + MARGINALS
    draws = False

    def check(self, args) -> None:
        if not self.structure:
            raise ValueError("say what is trained: --structure module:Class.")
        self.problem = structure_class(self.structure)()

    @classmethod
    def of(cls, model) -> OwnStructure:
        run = super().of(model)
        run.problem = model.structure_
        return run

    def notes(self, model, sample: Sample) -> dict[str, Any]:
        return {**super().notes(model, sample), "samples": len(sample)}

    def settings(self, args, given, sample, dev) -> dict[str, Any]:
        return {**given, "problem": self.problem}

    def measures(self, model, sample: Sample, outputs) -> dict[str, float]:
        report = self.report(model, sample, outputs)
        # tables have per cent
        return {"100 loss": scorers.loss.value(report), "right": report.right}

    def summary(self, model) -> str:
        return (
            f"{model.notes['samples']:,} samples, {len(model.coef_):,} weights; "
            f"C={model.C_:g}"
        )

    # files -----------------------------------------------------------------------------

    def read(self, path: str, truth: bool) -> Sample:
        if hasattr(self.problem, "read"):
            name, found = path, self.problem.read(path)
            if not isinstance(found, tuple) or len(found) != 2:
                raise ValueError(
                    f"{self.structure}.read({path!r}) must return the inputs and the "
                    f"outputs, (X, Y), not {type(found).__name__}."
                )
            X, y = (
                found[0],
                found[1] if found[1] is not None else [None] * len(found[0]),
            )
        else:
            text, name = read_text(path, self.encoding)
            X, y = _objects(text, name)
        if not len(X):
            raise ValueError(f"{name} has no samples.")
        missing = [i for i, output in enumerate(y) if output is None]
        if truth and missing:
            raise ValueError(f"{name}: sample {missing[0] + 1} has no output y.")
        return Sample(X, y if truth else None, name)

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        if chances is None and hasattr(self.problem, "write"):
            self.problem.write(path, outputs)
            return
        rows = zip(sample.X, outputs, chances or repeat(None), strict=False)
        self.write_lines(path, [self._json(self.record(*row)) for row in rows])

    def formats(self) -> dict[str, Output]:
        return {} if hasattr(self.problem, "write") else super().formats()

    def record(self, x, output, chance=None) -> dict[str, Any]:
        more = {} if chance is None else {"marginals": chance}
        return json.loads(self._json({"x": x, "y": output, **more}))

    def lines(self, sample: Sample, i: int, output) -> list[str]:
        return [self._json({"x": sample.X[i], "y": output})]

    def _json(self, value) -> str:
        try:
            return json.dumps(value, default=lambda v: v.tolist(), ensure_ascii=False)
        except (TypeError, AttributeError) as error:
            raise ValueError(
                f"the outputs cannot be written as JSON ({error}): give {self.structure} a "
                "method write(path, outputs)."
            ) from None

    # use -------------------------------------------------------------------------------

    def draw(self, option: str, path: str, model, sample, outputs, report):
        raise ValueError(
            "--plot means nothing for a structure of your own: leave it out."
        )

    def source(self, notes: dict[str, Any]) -> str:
        return f"{notes['file']}: {notes['samples']:,} samples"

    def facts(self, model, notes) -> list[tuple[str, str]]:
        return [
            ("structure", self.structure),
            ("weights", f"{len(model.coef_):,}"),
            ("objective", f"{model.rescaling} rescaling, C={model.C_:g}"),
        ]

    def named_weights(self, model) -> Iterator[tuple[str, str, float]]:
        names = getattr(model.structure_, "feature_names", None)
        for j, weight in enumerate(model.coef_.tolist()):
            yield "features", str(names[j]) if names else f"feature {j}", weight


COMMAND = RUN = OwnStructure


def _objects(text: bytes, name: str) -> tuple[list, list]:
    """x and y of every line; None where there is no y."""
    X, y = [], []
    for _, where, row in json_values(text, name):
        if not isinstance(row, dict) or "x" not in row:
            raise ValueError(
                f"{where}: a line is an object with x and perhaps y, "
                'such as {"x": [1, 2], "y": 0}.'
            )
        X.append(row["x"])
        y.append(row.get("y"))
    return X, y
