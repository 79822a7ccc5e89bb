"""How a task of the command line runs: one class per family, in its folder.

An object is one run: its fields are how files are written. They are filled from the options
of ``train``, noted in the model, and filled from these notes by the other commands, so that
predicting needs no options. The attributes of the class are what all runs share.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar

from maxmargin import plots
from maxmargin.cli.task import TABLES, Output, Task
from maxmargin.files.text_files import encode_text, write_raw
from maxmargin.metrics.report import Report
from maxmargin.metrics.scorer import Scorer


@dataclass(frozen=True)
class Sample:
    """What a file holds."""

    X: Any
    y: Any  # None if the file has no truth
    path: str  # its name, for messages
    where: Callable[..., str] | None = None  # the place of a sample in it
    weights: list[float] | None = None
    groups: list | None = None  # what cross-validation must not tear apart
    more: Any = None  # what else its family wants to know

    def __len__(self) -> int:
        if hasattr(self.X, "n_sentences"):
            return self.X.n_sentences
        return self.X.shape[0] if hasattr(self.X, "shape") else len(self.X)

    def select(self, chosen: list[int]) -> Sample:
        """Some of it, to train and to predict."""

        def few(values):
            return values and [values[i] for i in chosen]

        if hasattr(self.X, "select"):
            X = self.X.select(chosen)
        else:
            X = self.X[chosen] if hasattr(self.X, "shape") else few(self.X)
        return replace(self, X=X, y=few(self.y), weights=few(self.weights))


@dataclass
class Command(Task):
    """A task; a family overrides what is its own."""

    encoding: str = "utf-8"

    form = ""  # one of `outputs` that --format or a name asks for
    weighed = "features"  # what has weights
    scorers: ClassVar[tuple[Scorer, ...]] = ()  # what C is chosen by: the first decides

    # a run -----------------------------------------------------------------------------

    @classmethod
    def from_args(cls, args) -> Command:
        """A run that trains."""
        given = {field.name: getattr(args, field.name, None) for field in fields(cls)}
        return cls(**{name: v for name, v in given.items() if v is not None})

    @classmethod
    def of(cls, model) -> Command:
        """A run with a model that was trained."""
        known = {field.name for field in fields(cls)}
        return cls(**{k: v for k, v in model.notes.items() if k in known})

    def notes(self, model, sample: Sample) -> dict[str, Any]:
        """What the model file has to remember."""
        return {**asdict(self), "file": os.path.basename(sample.path)}

    # training --------------------------------------------------------------------------

    def check(self, args) -> None:
        """What can be said before reading."""

    def learn(self, path: str, args) -> Sample:
        """The file to train on; fills the fields that only a file can fill."""
        return self.read(path, True)

    def settings(self, args, given: dict[str, Any], sample, dev) -> dict[str, Any]:
        """Parameters of the estimator; ``given`` are options of the same names."""
        return given

    def prepare(self, model, sample: Sample, dev: Sample | None, watch) -> None:
        """Work that all fits share."""

    def measures(self, model, sample: Sample, outputs) -> dict[str, float]:
        """Numbers to choose C by; the first decides."""
        report = self.report(model, sample, outputs)
        return {scorer.title: scorer.value(report) for scorer in self.scorers}

    def others(self, model, sample: Sample) -> list[dict[str, Any]]:
        """Parameters to choose beside C, all values with each C."""
        return [{}]

    def summary(self, model) -> str:
        """What was trained, after "Trained on FILE: "."""
        raise NotImplementedError

    # files -----------------------------------------------------------------------------

    def read(self, path: str, truth: bool) -> Sample:
        """A file like that of training; without the truth if it need not be there."""
        raise NotImplementedError

    def formats(self) -> dict[str, Output]:
        """The formats in which predictions can be written; its own win over tables."""
        return {**self.outputs, **TABLES, **self.outputs}

    @property
    def native(self) -> str:
        """The one in which `write` writes if ``form`` is ""."""
        return next(iter(self.outputs))

    def inputs(self, sample: Sample) -> Sequence:
        """What `record` is told of every sample."""
        return sample.X

    def record(self, x, output, chance=None) -> dict[str, Any]:
        """A prediction for programs, with its probabilities if they are given."""
        return {"output": output} | ({} if chance is None else {"marginals": chance})

    def cells(self, record: dict[str, Any]) -> Iterable[dict[str, Any]]:
        """The same as rows of a table; lists in a cell are JSON."""
        return [record]

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        """Predictions in the format ``form``, perhaps with their probabilities."""
        raise NotImplementedError

    def lines(self, sample: Sample, i: int, output) -> list[str]:
        """One output of sample i as text."""
        raise NotImplementedError

    def write_ranked(self, path: str, sample: Sample, ranked) -> None:
        """The best outputs of every sample, each after '# RANK SCORE'."""
        lines = []
        for i, best in enumerate(ranked):
            for rank, (output, score) in enumerate(best, 1):
                lines += [f"# {rank} {score:.6g}", *self.lines(sample, i, output)]
        self.write_lines(path, lines)

    def write_lines(self, path: str, lines: Iterable[str]) -> None:
        """A text, whole or not at all; "-" is standard output."""
        text = "".join(f"{line}\n" for line in lines)
        write_raw(path, encode_text(text, path, self.encoding))

    # models ----------------------------------------------------------------------------

    def predict(self, model, sample: Sample) -> list:
        return model.predict(sample.X)

    def k_best(self, model, sample: Sample, k: int) -> list:
        """[(output, score), ...] of every sample."""
        return model.predict_k_best(sample.X, k)

    def chances(self, model, sample: Sample, outputs) -> list:
        """Probabilities as `write` wants them."""
        return model.predict_marginals(sample.X)

    def check_truth(self, model, sample: Sample, train: Sample | None = None) -> str:
        """Refuse a file that has no truth to evaluate on; a remark where it is unclear.

        Before training, the model has its parameters, and ``train`` is what it will know.
        """
        from maxmargin.cli.evaluate import check_labels

        known = self.known_labels(model) if train is None else self.taught_labels(train)
        return check_labels(self.labels_of(sample), known, sample) if known else ""

    def known_labels(self, model) -> Collection:
        """The labels that a model can predict; empty where outputs have no such."""
        return ()

    def taught_labels(self, sample: Sample) -> Collection:
        """The labels that a model trained on this can predict."""
        return {label for label, _ in self.labels_of(sample)}

    def labels_of(self, sample: Sample) -> Iterator[tuple[Any, tuple]]:
        """(label, its place for `Sample.where`) of the truth; none if it has no such."""
        return iter(())

    def report(self, model, sample: Sample, outputs) -> Report:
        """Scores of outputs: what ``evaluate`` of the estimator says of them."""
        return model.evaluate(sample.X, sample.y, predicted=outputs)

    def remarks(self, model, sample: Sample) -> list[str]:
        """What else to say of predictions."""
        return []

    def draw(self, option: str, path: str, model, sample, outputs, report):
        """A figure for an option of evaluate; None if its file is written."""
        raise NotImplementedError

    def columns_of(self, sample: Sample) -> Any:
        """Names of features that only the files know, for the report."""
        return None

    # inspection ------------------------------------------------------------------------

    def rows(self, model) -> list[tuple[str, str]]:
        """(name, value): how the model was trained."""
        notes = model.notes
        rows = [("trained on", self.source(notes)), *self.facts(model, notes)]
        if hasattr(model, "history_"):  # not from counts alone
            # a search for a basis, before the last solver, counts too
            last = model.history_[-1]["seconds"] if model.history_ else 0.0
            rows.append(("seconds", f"{getattr(model, 'seconds_', last):.2f}"))
        return rows

    def source(self, notes: dict[str, Any]) -> str:
        """The file, and what it is."""
        kind = f" ({notes['format']})" if "format" in notes else ""
        return f"{notes['file']}{kind}"

    def facts(self, model, notes: dict[str, Any]) -> list[tuple[str, str]]:
        """The rows between the file and the time."""
        raise NotImplementedError

    def named_weights(self, model) -> Iterable[tuple[str, str, float]]:
        """(group, name, weight) of all weights that have names."""
        raise NotImplementedError

    def weights(self, model, args) -> list[tuple[str, str, float]]:
        """The --top strongest of them."""
        found = sorted(self.named_weights(model), key=lambda row: -abs(row[2]))
        return found[: args.top]

    def strongest(self, model, args) -> str:
        """The same as text, under a title."""
        return "\n".join([f"Strongest {self.weighed}", "", *self.listed(model, args)])

    def listed(self, model, args) -> Iterable[str]:
        """Its lines."""
        for _, name, weight in self.weights(model, args):
            yield f"{weight:+9.4f}  {name}"

    def sections(self, model, args) -> list[str]:
        """More texts to show."""
        return []

    def draw_model(self, model, args):
        """A figure of what was learned (--plot of inspect)."""
        return plots.plot_weights(self.weights(model, args))

    def export(self, path: str, model) -> None:
        """A text for other programs (--export of inspect): all weights that have names."""
        found = self.weights(model, Namespace(top=sys.maxsize, label=None))
        self.write_lines(
            path, [f"{group}\t{name}\t{w:.9g}" for group, name, w in found]
        )


def both_ends(rows: list, top: int) -> list:
    """The first and the last rows, each once."""
    return rows if len(rows) <= 2 * top else rows[:top] + rows[-top:]
