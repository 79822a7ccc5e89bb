"""What a family tells of its predictions, so that a report can show them.

A family has a file ``findings.py`` with a class ``FINDINGS``, which its ``Family`` names
under ``reports``. All else (the page, charts, filters, sampling, escaping) is in this
folder. Estimators without such a class get `Findings`: outputs as texts, right or wrong.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from maxmargin.core.objects import is_from
from maxmargin.explain.explained import family_of
from maxmargin.families import places
from maxmargin.report.markup import Markup, element, escaped
from maxmargin.report.measures import Measure, share

LONGEST = 400  # characters of an output as text


@dataclass(frozen=True)
class Test:
    """What a model is tried on: inputs, their truth, and what they are called."""

    X: Any
    y: Any
    name: str = ""  # of the file
    more: Any = None  # what else the family reads from a file, such as texts
    columns: Any = None  # names of features
    where: Any = None  # the place of an example in the file

    __test__ = False  # for pytest: a class with this name is no test

    def __post_init__(self) -> None:
        for name in ("X", "y"):  # examples go by their places, not by an index
            value = getattr(self, name)
            if is_from(value, "pandas", "Series"):
                object.__setattr__(self, name, value.to_numpy())


class Kind(NamedTuple):
    """A kind of error: what was true and what was found; "" stands for nothing.

    ``what`` is said where that is not enough, such as "boundaries".
    """

    truth: str
    found: str
    what: str = ""

    def __str__(self) -> str:
        if not self.truth and not self.found:
            return self.what
        if not self.found:
            return f"{self.truth} {self.what or 'missed'}"
        if not self.truth:
            return f"{self.found} {self.what or 'invented'}"
        if self.what:
            return f"{self.truth}: {self.what}"
        return f"{self.truth} taken for {self.found}"


class Findings:
    """One model on one test; a family overrides what is its own.

    ``items`` is what examples are called. ``outputs`` are what `predict` returns.
    """

    items: ClassVar[str] = "samples"

    def __init__(self, model: Any, test: Test):
        if hasattr(test.X, "shards"):
            raise ValueError(
                f"{test.name or 'X'} is a corpus, which has nothing to show of its "
                f"{self.items}: report on a text file."
            )
        self.model, self.test = model, test
        self._known: np.ndarray | None = None

    def __len__(self) -> int:
        X = self.test.X
        return X.shape[0] if hasattr(X, "shape") else len(X)

    def predict(self) -> Any:
        return self.model.predict(self.test.X)

    def summary(self, outputs: Any) -> Any:
        """A report that prints, as ``maxmargin evaluate`` shows it; None for none."""
        return None

    def measures(self, outputs: Any) -> list[Measure]:
        """What counts, the most important first."""
        losses = self._losses(outputs)
        return [
            share("right", losses == 0, about="share of outputs without loss"),
            share("mean loss", losses, smaller=True, plain=True, about="per output"),
        ]

    def _losses(self, outputs: Any) -> np.ndarray:
        """What every output costs, by the loss of the structure if it has one."""
        if self._known is None:
            X, y = self.test.X, self.test.y
            if hasattr(self.model, "_losses"):  # it may need hidden parts, too
                found = self.model._losses(X, y)
            else:
                pairs = zip(y, outputs, strict=True)
                found = [not np.array_equal(a, b) for a, b in pairs]
            self._known = np.asarray(found, float)
        return self._known

    def errors(self, outputs: Any) -> list[list[Kind]]:
        """The errors of every example; an empty list for one that is right."""
        wrong = Kind("", "", "wrong outputs")
        return [[wrong] if loss else [] for loss in self._losses(outputs)]

    def weight(self, outputs: Any, errors: Sequence[list[Kind]]) -> Sequence[float]:
        """How bad every example is: the worst are shown first."""
        return [len(found) for found in errors]

    def right(self, outputs: Any) -> dict[str, int]:
        """How often every label was right, for the diagonal of confusions."""
        return {}

    def name(self, i: int) -> str:
        """What example i is called."""
        return str(i + 1)

    def prepare(self, few: Sequence[int], outputs: Any) -> None:
        """Work that the drawings of these examples share."""

    def draw(self, i: int, outputs: Any) -> Markup:
        """Example i and its prediction."""
        rows = [("input", self.test.X[i])]
        rows += [("truth", self.test.y[i]), ("predicted", outputs[i])]
        cells = ([element("dt", name), element("dd", brief(x))] for name, x in rows)
        return element("dl", *(part for row in cells for part in row), cls="facts")

    def draw_other(self, i: int, outputs: Any) -> Markup:
        """The prediction of another model, below a drawing of the first."""
        return self.draw(i, outputs)

    def legend(self) -> Markup | str:
        """What the drawings mean, for the head of the examples."""
        return ""

    def weights(self, top: int) -> Iterable[tuple[str, str, float]]:
        """(group, name, weight): the strongest of every group, of either sign."""
        family = family_of(self.model)
        rows = family.named_weights(self.model) if family is not None else []
        groups: dict[str, list[tuple[str, str, float]]] = {}
        for row in rows:  # the largest first
            groups.setdefault(row[0], []).append(row)
        most = top if len(groups) > 1 else 2 * top
        return [row for found in groups.values() for row in found[:most]]

    def chances(self, outputs: Any, few: Sequence[int]) -> Any:
        """(probabilities, whether right) of parts of these examples, or None."""
        return None


def findings_of(model: Any, test: Test) -> Findings:
    """The findings of the family of a model."""
    return _maker(model)(model, test)


def _maker(model: Any) -> Callable[[Any, Test], Findings]:
    table = places("reports")
    for cls in type(model).__mro__:
        if cls.__name__ in table:
            return importlib.import_module(table[cls.__name__]).FINDINGS
    return Findings


def check_comparable(model: Any, other: Any) -> None:
    """Refuse models of two families, but for those of rows of features."""
    makers = _maker(model), _maker(other)
    items = {getattr(maker, "items", Findings.items) for maker in makers}
    if makers[0] is not makers[1] and items != {Findings.items}:
        raise ValueError(
            f"the models cannot be compared: {type(model).__name__} and "
            f"{type(other).__name__} have outputs of different kinds."
        )


def strongest(
    rows: dict[str, Any], names: Any, top: int
) -> list[tuple[str, str, float]]:
    """The ``top`` weights of every row that are not zero, the largest first."""
    out = []
    for group, row in rows.items():
        row = np.asarray(row, float)
        best = np.argsort(-np.abs(row), kind="stable")[:top]
        for j in best[row[best] != 0].tolist():
            name = f"feature {j + 1}" if names is None else str(names[j])
            out.append((group, name, float(row[j])))
    return out


def columns_of(model: Any, test: Test) -> Any:
    """Names of the features: as the test has them, or as training had, or None."""
    known = getattr(model, "feature_names_in_", None)
    return known if test.columns is None else test.columns


def indexed(values: Any) -> Any:
    """Inputs or outputs as something that ``chosen`` can take samples from, many times.

    Tables stay what they are, for data frames name their columns; sparse ones become CSR.
    """
    if hasattr(values, "tocsr"):
        return values.tocsr()
    if isinstance(values, Iterator) or (hasattr(values, "iloc") and values.ndim == 1):
        return list(values)  # the labels of a Series are not places
    return values


def chosen(X: Any, few: Sequence[int]) -> Any:
    """Some inputs, in whatever they are kept."""
    few = [int(i) for i in few]
    if hasattr(X, "iloc"):
        return X.iloc[few]
    if hasattr(X, "select"):
        return X.select(few)
    return X[few] if hasattr(X, "shape") else [X[i] for i in few]


def brief(value: Any, longest: int = LONGEST) -> Markup:
    """A value as text, cut where it is very long."""
    text = str(value)
    return escaped(text if len(text) <= longest else f"{text[:longest]} …")
