"""The task ``kernel``: vectors into classes, by a machine with a kernel."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from maxmargin.cli.command import Command, Sample

CHOOSE = "choose"
MULTIPLES = (0.1, 0.3, 1.0, 3.0, 10.0)  # of gamma="scale", to choose from
APART = 100.0  # times: beyond, a column of the smaller scale has no say


@dataclass
class Kernel(Command):
    """Lines are a label and a vector; or rows of a table, which ``columns`` describes."""

    format: str = "auto"

    name = "kernel"
    about = "Classify vectors, one per line, with a kernel and few basis functions."
    example = """example:
  maxmargin train kernel train.svm --C 10 --components 200 -o digits.model
  maxmargin train kernel fish.csv --label kind --kernel poly --degree 2 -o fish.model
  maxmargin train kernel fish.csv --scale standard --gamma choose --cv 5 -o m.model
  maxmargin train kernel train.csv --gamma 0.02 --path 1,10,100 --cv 5 -o m.model

Lines are LABEL 3:0.5 7:1 ... (svmlight), or rows of a table with commas whose last column
is the class (csv); see docs/kernels.md. Files may be compressed with gzip."""
    estimators = {"svm": "KernelSVM"}
    hidden = frozenset({"taxonomy", "loss"})
    usual = (0.1, 1.0, 10.0, 100.0, 1000.0)
    options = """
    the file
      --format auto|svmlight|csv=auto  svmlight: LABEL 3:0.5 7:1 ...; csv: 0.5,0,1,LABEL
          (default: csv if the name ends so, else svmlight)
      --label NAME  the column of classes of a csv file (default: the last)
      --header auto|yes|no=auto  whether the first row of a csv file has names (default:
          if no cell but the last is a number)
      --encoding NAME=utf-8  default: utf-8
    the kernel
      --kernel rbf|poly|linear|laplace  k(x, x')
      --gamma X,scale,auto  width of rbf and laplace, factor of poly (default: scale, one
          over columns times variance). Of several with commas, or of multiples of scale
          with choose, one is chosen with C, by --cv or --dev
      --scale standard|range  columns to mean 0 and deviation 1, or to [0, 1]; kept in
          the model (default: as they are)
      --degree  of poly
      --coef0  of poly
    the basis
      --method  how basis functions are found: training-points, nystroem,
          nystroem-kmeans, nystroem-leverage, incomplete-cholesky, sampling, exact
      --n_components  basis functions at most, fewer if there are fewer samples
      --preimage gradient|fixed-point  how subspace-pursuit finds points
    the model
      --C  weight of the data
      --class-weight balanced  the same mass for every class
      --device  cpu or cuda
      --memory  bytes for tables of kernel values
      --max-terms  support vectors beyond which nothing is proved of the exact machine
    """
    evaluate_options = "--confusion FILE.png  draw which labels are confused"
    inspect_options = """
    --label L+  only of this label; repeatable
    --shape HxW  basis points are pictures, for --plot (default: if they are square)
    """

    gammas = ()  # to choose from; empty if there is one
    columns = None  # of a table
    width = None  # columns of vectors

    # training --------------------------------------------------------------------------

    @classmethod
    def of(cls, model) -> Kernel:
        from maxmargin.kernel_svm.csv_file import Columns

        run = super().of(model)
        run.width = model.n_features_in_
        state = model.notes["columns"]
        run.columns = None if state is None else Columns.from_state(state)
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
            from maxmargin.kernel_svm.csv_file import read_csv

            found = read_csv(path, args.label, args.header, self.encoding)
            self.columns = found.columns
        else:
            from maxmargin.classes.svmlight import read_svmlight

            found = read_svmlight(path, None, self.encoding)
        sample = Sample(found.X, found.labels, found.path, found.where)
        self.width = sample.X.shape[1]
        if len(set(sample.y)) < 2:
            raise ValueError(
                f"{found.path}: all {len(sample):,} samples are of the class "
                f"{sample.y[0]!r}; two classes are the least."
            )
        from maxmargin.cli.common import say

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
        from maxmargin.kernel_svm.scaling import scaled
        from maxmargin.kernels.scales import gamma_of

        X, _ = scaled(model, sample.X)
        if self.gammas == [CHOOSE]:
            return [{"gamma": factor * gamma_of("scale", X)} for factor in MULTIPLES]
        named = {name: gamma_of(name, X) for name in ("scale", "auto")}
        return [{"gamma": named.get(g) or _number(g)} for g in self.gammas]

    def measures(self, model, sample: Sample, outputs) -> dict[str, float]:
        return {"accuracy": self.report(model, sample, outputs).accuracy}

    def summary(self, model) -> str:
        return (
            f"{model.notes['samples']:,} samples, {len(model.classes_)} classes, "
            f"{model.n_features_in_:,} features, {len(model.dual_coef_):,} basis functions "
            f"of {model.kernel_}; C={model.C_:g}"
        )

    # files -----------------------------------------------------------------------------

    def read(self, path: str, truth: bool) -> Sample:
        if self.columns is not None:
            from maxmargin.kernel_svm.csv_file import read_csv

            found = read_csv(
                path, encoding=self.encoding, like=self.columns, truth=truth
            )
        else:
            from maxmargin.classes.svmlight import read_svmlight

            found = read_svmlight(path, self.width, self.encoding, not truth)
        labels = found.labels if truth else None
        return Sample(found.X, labels, found.path, found.where)

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

    def report(self, model, sample: Sample, outputs):
        from maxmargin.classes.report import class_report

        return class_report(sample.y, list(map(str, outputs)))

    def numbers(self, report) -> dict[str, Any]:
        return report.as_dict()

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
            from maxmargin.tags.plots import plot_confusion

            return plot_confusion([sample.y], [list(map(str, outputs))])
        from maxmargin.kernel_svm.plots import plot_boundary

        return plot_boundary(model, sample.X, sample.y, names=self._names())

    def _names(self) -> Sequence[str | int]:
        if self.columns is None or self.columns.names is None:
            return range(
                1, self.width + 1
            )  # no list: a file may number columns to 2^31
        return self.columns.names

    # inspection ------------------------------------------------------------------------

    def rows(self, model) -> list[tuple[str, str]]:
        notes = model.notes
        return [
            ("trained on", f"{notes['file']} ({notes['format']})"),
            ("samples", f"{notes['samples']:,}"),
            ("classes", str(len(model.classes_))),
            ("features", f"{model.n_features_in_:,}"),
            ("columns", f"scaled: {model.scale}" if model.scale else "as they are"),
            ("kernel", f"k(x, x') = {model.kernel_}"),
            ("basis", f"{len(model.dual_coef_):,} functions, {model.method_}"),
            ("C", f"{model.C_:g}"),
            ("seconds", f"{model.seconds_:.2f}"),
        ]

    def weights(self, model, args) -> list[tuple[str, str, float]]:
        """Coefficients of basis functions, by class."""
        import numpy as np

        names = list(map(str, model.classes_.tolist()))
        for label in args.label or ():
            if label not in names:
                raise ValueError(
                    f"--label {label} is not a class of this model; there are, for "
                    f"example, {', '.join(names[:5])}."
                )
        out = []
        for name, column in zip(names, model.dual_coef_.T, strict=True):
            if args.label and name not in args.label:
                continue
            best = np.argsort(-np.abs(column), kind="stable")[: args.top]
            for j in best[column[best] != 0].tolist():
                out.append((name, f"k(b{j + 1}, x)", float(column[j])))
        return out

    def strongest(self, model, args) -> str:
        shown: dict[str, list[str]] = {}
        for label, name, weight in self.weights(model, args):
            shown.setdefault(label, []).append(f"{weight:+.3f} {name}")
        lines = [f"{label}: {', '.join(found)}" for label, found in shown.items()]
        return "\n".join(["Strongest basis functions", "", *lines])

    def draw_model(self, model, args):
        from maxmargin.kernel_svm.pictures import plot_basis_images

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


COMMAND = Kernel


def scale_remark(X, names: Sequence[str | int]) -> str:
    """What to say of columns that a kernel of distances or products would not see.

    The scale of a column is its standard deviation; of a sparse one, which may be rare, its
    largest value. Nothing here has an entry for every column of a sparse matrix.
    """
    import numpy as np

    if hasattr(X, "tocsr"):
        X = X.tocsr()
        column, place = np.unique(X.indices, return_inverse=True)
        spread = np.zeros(len(column))
        np.maximum.at(spread, place, np.abs(X.data))
    else:
        spread = np.asarray(X, np.float64).std(axis=0)
        column = np.arange(len(spread))
    column, spread = column[spread > 0], spread[spread > 0]
    if not len(spread):
        return ""
    low, high = spread.argmin(), spread.argmax()
    if spread[high] <= APART * spread[low]:
        return ""
    return (
        f"columns differ in scale: that of {names[column[high]]} is {spread[high]:.3g}, "
        f"that of {names[column[low]]} {spread[low]:.3g}, and the kernel hardly sees the "
        "smaller ones. With --scale standard or --scale range they matter alike."
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
