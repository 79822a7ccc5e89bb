"""What all reports of predictions share: numbers for programs, tables for people.

A report says its headline numbers (``_measures``) and, where its things are of several
kinds, the numbers of every kind (``_parts``). Dictionaries, DataFrames and the table that
a notebook shows follow from these.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from html import escape
from typing import Any

MOST = 30  # rows in a notebook
TABLE = (
    "border-collapse:collapse;margin:0.4em 0;text-align:right;"
    "font-variant-numeric:tabular-nums"
)
CELL = (
    "padding:0.15em 0.7em;border-bottom:1px solid rgba(128,128,128,0.35)"  # any theme
)


class Report:
    """Scores of predictions: attributes for each, ``str()`` for all of them.

    What `evaluate` of an estimator returns is one of these.
    """

    __slots__ = ()

    def _measures(self) -> Mapping[str, Any]:
        """The headline numbers, by name."""
        raise NotImplementedError

    def _parts(self) -> tuple[str, Mapping[Any, Mapping[str, Any]]]:
        """(what kinds are called, the numbers of every kind); empty without kinds."""
        return "", {}

    def as_dict(self) -> dict[str, Any]:
        """All numbers as dicts, lists, texts and numbers, as JSON has them.

        What is not a finite number is None.
        """
        return plain(self)

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row per kind, or one row where there are no kinds."""
        try:
            pandas = importlib.import_module("pandas")
        except ImportError:
            raise ImportError(
                "to_frame makes a DataFrame of pandas, which is not installed: pip install "
                "pandas, or take as_dict()."
            ) from None
        kind, parts = self._parts()
        if not kind:
            return pandas.DataFrame([dict(self._measures())])
        index = pandas.Index(list(parts), name=kind)
        return pandas.DataFrame(list(map(dict, parts.values())), index=index)

    def _repr_html_(self) -> str:
        """The headline numbers and, below, those of up to 30 kinds."""
        title = f"<b>{escape(type(self).__name__)}</b>"
        body = [title, _table([], [[name, v] for name, v in self._measures().items()])]
        kind, parts = self._parts()
        if parts:
            columns = list(next(iter(parts.values())))
            rows = [[name, *row.values()] for name, row in parts.items()]
            body.append(_table([kind, *columns], rows[:MOST]))
            if len(rows) > MOST:
                body.append(f"<p>and {len(rows) - MOST:,} more: to_frame() has all</p>")
        return f"<div>{''.join(body)}</div>"


def _table(head: list[str], rows: list[list[Any]]) -> str:
    """A table of HTML; the first cell of a row is its name."""
    lines = [_row("th", head)] if head else []
    lines += [_row("td", row) for row in rows]
    return f'<table style="{TABLE}">{"".join(lines)}</table>'


def _row(tag: str, cells: list[Any]) -> str:
    texts = [str(cells[0]), *map(shown, cells[1:])]
    styles = [f"{CELL};text-align:left", *[CELL] * (len(cells) - 1)]
    return "<tr>{}</tr>".format(
        "".join(
            f'<{tag} style="{style}">{escape(text)}</{tag}>'
            for style, text in zip(styles, texts, strict=True)
        )
    )


def shown(value: Any) -> str:
    """A number as a table has it."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "-"
    if isinstance(value, float):
        return f"{value:.4f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def plain(value: Any) -> Any:
    """The same in dicts, lists, texts and numbers; what is not a finite number is None."""
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    elif hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
