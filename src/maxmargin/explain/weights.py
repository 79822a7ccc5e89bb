"""The weights of a model in words: as a DataFrame of pandas, and as a view."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from maxmargin.core.checks import whole
from maxmargin.explain.explained import known_family
from maxmargin.views.view import RIGHT, WRONG, View, about, escaped

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped, unused-ignore]

GROUPS = 24  # groups that are shown


def weights_frame(model: Any, labels: Sequence | None = None) -> pd.DataFrame:
    """A row per weight that is not zero, with its feature in words; largest first.

    The columns are ``group`` (the label that has the weight, or what the weight is of),
    ``feature`` and ``weight``; those of taggers are ``label``, ``feature``, ``name`` (what
    a template calls the feature) and ``weight``. Needs pandas.

    Parameters
    ----------
    model : fitted estimator
    labels : list of groups, or None for all
    """
    check_is_fitted(model)
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise ImportError(
            "A DataFrame needs pandas: install it with  pip install pandas"
        ) from None
    family = known_family(model)
    if hasattr(family, "frame_columns"):
        return pandas.DataFrame(family.frame_columns(model, labels))
    rows = chosen_groups(family.named_weights(model), labels)
    return pandas.DataFrame(rows, columns=["group", "feature", "weight"])


def weights(model: Any, labels: Sequence | None = None, top: int = 20) -> View:
    """The strongest features of every group, in colours: for the label, or against it.

    Parameters
    ----------
    model : fitted estimator
    labels : list of groups, such as labels, or None for all
    top : int
        Features of every group.
    """
    check_is_fitted(model)
    top = whole("top", top)
    rows = chosen_groups(known_family(model).named_weights(model), labels)
    groups: dict[str, list[tuple[str, float]]] = {}
    for group, feature, weight in sorted(rows, key=lambda row: -abs(row[2])):
        groups.setdefault(group, []).append((feature, weight))
    most = max((abs(weight) for *_, weight in rows), default=1.0) or 1.0
    body, text = [], []
    for group in sorted(groups)[:GROUPS]:
        found = sorted(groups[group][:top], key=lambda row: -row[1])
        lines = "".join(_row(*row, most) for row in found)
        title = f"<b>{escaped(group)}</b>" if group else ""
        body.append(f"<div>{title}<table>{lines}</table></div>")
        text += [group, *(f"  {weight:+9.4f}  {name}" for name, weight in found)]
    rest = len(groups) - len(body)
    more = [about(f"and {rest:,} more groups")] if rest > 0 else []
    style = "display:flex;flex-wrap:wrap;gap:1em 2em;align-items:start"
    head = about(f"{type(model).__name__}: the strongest weights")
    page = f'{head}<div style="{style}">{"".join(body)}</div>{"".join(more)}'
    return View(page, "\n".join(filter(None, text)) or "(all weights are zero)")


def chosen_groups(rows: list, labels: Sequence | None) -> list:
    """Rows of these groups, or all; the largest first."""
    if labels is None:
        return rows
    known = {group for group, *_ in rows}
    wanted = list(map(str, labels))
    for label in wanted:
        if label not in known:
            raise ValueError(
                f"labels holds {label!r}, which has no weights; choose from "
                f"{', '.join(sorted(map(repr, known)))}."
            )
    return [row for row in rows if row[0] in wanted]


def _row(name: str, weight: float, most: float) -> str:
    colour = RIGHT if weight > 0 else WRONG
    share = f"{55 * (abs(weight) / most) ** 0.5:.0f}%"
    style = f"background:color-mix(in srgb, {colour} {share}, transparent)"
    cells = f'<td>{weight:+.4f}</td><td style="text-align:start">{escaped(name)}</td>'
    return f'<tr style="{style}">{cells}</tr>'
