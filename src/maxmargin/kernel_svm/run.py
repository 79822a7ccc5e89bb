"""How the task ``kernel`` runs: its files, measures and weights."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from maxmargin.classes.svmlight import read_svmlight
from maxmargin.cli.by_label import lines_of, strongest_of
from maxmargin.cli.command import Command, Sample
from maxmargin.cli.common import say
from maxmargin.kernel_svm.command import KernelTask
from maxmargin.kernel_svm.csv_file import CsvColumns, read_csv
from maxmargin.kernel_svm.input import scaled
from maxmargin.kernel_svm.pictures import plot_basis_images
from maxmargin.kernel_svm.plots import plot_boundary
from maxmargin.kernels.base import gamma_of
from maxmargin.metrics.scorers import accuracy
from maxmargin.plots.confusion import plot_confusion

CHOOSE = "choose"
MULTIPLES = (0.1, 0.3, 1.0, 3.0, 10.0)  # of gamma="scale", to choose from
APART = 100.0  # times: beyond, a column of the smaller scale has no say


@dataclass
class Kernel(KernelTask, Command):
    """Lines are a label and a vector; or rows of a table, which ``columns`` describes."""

    format: str = "auto"

    scorers = (accuracy,)
    weighed = "basis functions"
    gammas = ()  # to choose from; empty if there is one
    columns = None  # of a table
    width = None  # columns of vectors

    # training --------------------------------------------------------------------------

    @classmethod
    def of(cls, model) -> Kernel:
        run = super().of(model)
        run.width = model.n_features_in_
        state = model.notes["columns"]
        run.columns = None if state is None else CsvColumns.from_state(state)
        return run

    def notes(self, model, sample: Sample) -> dict[str, Any]:
        columns = None if self.columns is None else self.columns.state()
        found = {"samples": len(sample), "columns": columns}
        return {**super().notes(model, sample), **found}

    def check(self, args) -> None:
        if args.class_weight not in (None, "balanced"):
            raise ValueError(
                f"--class-weight {args.class_weight} is not possible: it can be balanced."
            )
        self._check_gamma(args)
        if self.format == "auto":
            table = re.search(r"\.csv(\.gz)?$", args.train, re.IGNORECASE)
            self.format = "csv" if table else "svmlight"
        if self.format != "csv" and (args.label or args.header != "auto"):
            option = "--label" if args.label else "--header"
            raise ValueError(f"{option} is for csv files: leave it out.")

    def _check_gamma(self, args) -> None:
        if args.gamma is None:
            return
        values = args.gamma.split(",")
        if args.gamma == CHOOSE or len(values) > 1:
            if args.cv is None and (args.dev is None or args.path is None):
                raise ValueError(
                    f"--gamma {args.gamma} needs a way to choose: --cv 5, or --dev FILE "
                    "with --path for the values of C."
                )
            if args.kernel == "linear":
                raise ValueError("the linear kernel has no gamma: leave it out.")
            self.gammas = values
        for value in values:
            number = value in ("scale", "auto", CHOOSE) or 0 < _number(value) < math.inf
            if not number or (value == CHOOSE and len(values) > 1):
                raise ValueError(
                    f"--gamma {value} is not possible: it must be a positive number, "
                    "scale or auto."
                )

    def learn(self, path: str, args) -> Sample:
        if self.format == "csv":
            found = read_csv(path, args.label, args.header, self.encoding)
            self.columns = found.columns
        else:
            found = read_svmlight(path, None, self.encoding)
        sample = Sample(found.X, found.labels, found.path, found.where)
        self.width = sample.X.shape[1]
        if len(set(sample.y)) < 2:
            raise ValueError(
                f"{found.path}: all {len(sample):,} samples are of the class "
                f"{sample.y[0]!r}; two classes are the least."
            )
        remark = "" if args.scale else scale_remark(sample.X, self._names())
        if remark and not args.quiet:
            say(remark)
        return sample

    def settings(self, args, given, sample, dev) -> dict[str, Any]:
        if self.gammas:
            given["gamma"] = "scale"
        elif given.get("gamma") not in (None, "scale", "auto"):
            given["gamma"] = _number(given["gamma"])
        return given

    def others(self, model, sample: Sample) -> list[dict[str, Any]]:
        """Values of gamma, as numbers."""
        if not self.gammas:
            return [{}]
        X, _ = scaled(model, sample.X)
        if self.gammas == [CHOOSE]:
            return [{"gamma": factor * gamma_of("scale", X)} for factor in MULTIPLES]
        named = {name: gamma_of(name, X) for name in ("scale", "auto")}
        return [{"gamma": named.get(g) or _number(g)} for g in self.gammas]

    def summary(self, model) -> str:
        return (
            f"{model.notes['samples']:,} samples, {len(model.classes_)} classes, "
            f"{model.n_features_in_:,} features, {len(model.dual_coef_):,} basis functions "
            f"of {model.kernel_}; C={model.C_:g}"
        )

    # files -----------------------------------------------------------------------------

    def read(self, path: str, truth: bool) -> Sample:
        if self.columns is not None:
            found = read_csv(
                path, encoding=self.encoding, like=self.columns, truth=truth
            )
        else:
            found = read_svmlight(path, self.width, self.encoding, not truth)
        labels = found.labels if truth else None
        return Sample(found.X, labels, found.path, found.where)

    @property
    def native(self) -> str:
        return super().native if self.columns is None else "csv"

    def inputs(self, sample: Sample) -> Sequence:
        return range(len(sample))

    def record(self, x, output, chance=None) -> dict[str, Any]:
        named = self.columns is not None and self.columns.label is not None
        return {self.columns.label if named else "label": output}

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        """One label per line; under the name of their column, if it has one."""
        lines = list(map(str, outputs))
        if self.columns is not None:
            name = self.columns.label
            lines = [_row([line]) for line in ([] if name is None else [name]) + lines]
        self.write_lines(path, lines)

    # use -------------------------------------------------------------------------------

    def known_labels(self, model) -> set:
        return set(map(str, model.classes_.tolist()))

    def labels_of(self, sample: Sample):
        return ((str(label), (i,)) for i, label in enumerate(sample.y))

    def remarks(self, model, sample: Sample) -> list[str]:
        known = set(model.classes_.tolist())
        new = [label for label in sample.y if label not in known]
        if not new:
            return []
        return [
            f"{len(new):,} samples are of classes that training has not seen, such as "
            f"{new[0]!r}; they count as errors."
        ]

    def draw(self, option: str, path: str, model, sample, outputs, report):
        if option == "confusion":
            return plot_confusion([sample.y], [list(map(str, outputs))])
        return plot_boundary(model, sample.X, sample.y, names=self._names())

    def columns_of(self, sample: Sample) -> Sequence[str | int]:
        return self._names()

    def _names(self) -> Sequence[str | int]:
        if self.columns is None or self.columns.names is None:
            return range(
                1, self.width + 1
            )  # no list: a file may number columns to 2^31
        return self.columns.names

    # inspection ------------------------------------------------------------------------

    def facts(self, model, notes) -> list[tuple[str, str]]:
        return [
            ("samples", f"{notes['samples']:,}"),
            ("classes", str(len(model.classes_))),
            ("features", f"{model.n_features_in_:,}"),
            ("columns", f"scaled: {model.scale}" if model.scale else "as they are"),
            ("kernel", f"k(x, x') = {model.kernel_}"),
            ("basis", f"{len(model.dual_coef_):,} functions, {model.method_}"),
            ("C", f"{model.C_:g}"),
        ]

    def weights(self, model, args) -> list[tuple[str, str, float]]:
        """Coefficients of basis functions, by class."""
        labels = list(map(str, model.classes_.tolist()))
        kind, columns = "class of this model", model.dual_coef_.T
        found = strongest_of(labels, columns, args, lambda j: f"k(b{j + 1}, x)", kind)
        return list(found)

    def listed(self, model, args):
        return lines_of(self.weights(model, args)).values()

    def draw_model(self, model, args):
        if args.shape is not None:
            match = re.fullmatch(r"(\d+)x(\d+)(?:x(3))?", args.shape)
            if match is None:
                raise ValueError(
                    f"--shape {args.shape} is not a height and a width, such as 28x28."
                )
            return plot_basis_images(model, tuple(int(n) for n in match.groups() if n))
        side = math.isqrt(model.n_features_in_)
        if side >= 4 and side**2 == model.n_features_in_:
            return plot_basis_images(model)
        return super().draw_model(model, args)

    def export(self, path: str, model) -> None:
        """A table: coefficients of every class, then the basis point."""
        classes = [f"coefficient of {label}" for label in model.classes_.tolist()]
        points = model.basis_
        points = points.toarray() if hasattr(points, "toarray") else points
        lines = [_row([*classes, *self._names()])]
        for row, point in zip(model.dual_coef_, points, strict=True):
            cells = [*row.tolist(), *point.tolist()]
            lines.append(_row([f"{value:.9g}" for value in cells]))
        self.write_lines(path, lines)


RUN = Kernel


def scale_remark(X, names: Sequence[str | int]) -> str:
    """What to say of columns that a kernel of distances or products would not see.

    The scale of a column is its standard deviation; of a sparse one, which may be rare, its
    largest value. Nothing here has an entry for every column of a sparse matrix.
    """
    if hasattr(X, "tocsr"):
        X = X.tocsr()
        column, place = np.unique(X.indices, return_inverse=True)
        deviation = np.zeros(len(column))
        np.maximum.at(deviation, place, np.abs(X.data))
    else:
        deviation = np.asarray(X, np.float64).std(axis=0)
        column = np.arange(len(deviation))
    column, deviation = column[deviation > 0], deviation[deviation > 0]
    if not len(deviation):
        return ""
    low, high = deviation.argmin(), deviation.argmax()
    if deviation[high] <= APART * deviation[low]:
        return ""
    return (
        f"columns differ in scale: that of {names[column[high]]} is {deviation[high]:.3g}, "
        f"that of {names[column[low]]} {deviation[low]:.3g}, and the kernel hardly sees "
        "the smaller ones. With --scale standard or --scale range they matter alike."
    )


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _row(cells: list[str]) -> str:
    """A row of a csv file, quoted where it must be."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return out.getvalue()
