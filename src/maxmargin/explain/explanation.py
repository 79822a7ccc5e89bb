"""What decided a prediction, part by part: features of the output, and of the runner-up.

Scores of outputs are sums over features, and so is the difference of two scores:

    score(y) - score(y') = sum_j  w_j (Psi_j(x, y) - Psi_j(x, y'))

where y is what was predicted and y' the best output in which this part is different. The
terms of that sum are the contributions of the features.
"""

from __future__ import annotations

import importlib
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from maxmargin.views.view import RIGHT, WRONG, View, about, escaped

SHOWN = 10  # features of a part that are shown
FOLDED = 3  # parts from which on tables are folded


class Contribution(NamedTuple):
    """What a feature adds to the score of the prediction, and not to the runner-up's.

    ``value`` is how much more of the feature the prediction has.
    """

    feature: str
    value: float
    contribution: float


@dataclass(frozen=True)
class Part:
    """One decision: what was predicted, the runner-up, and the features between them."""

    name: str
    predicted: str
    runner_up: str
    features: Sequence[Contribution]  # the largest contributions first

    @property
    def difference(self) -> float:
        """The score of the prediction minus that of the runner-up."""
        return math.fsum(f.contribution for f in self.features)


class Explanation:
    """Why a model predicts what it predicts for one input.

    Notebooks show it; ``str()`` is the same in text.

    Attributes
    ----------
    parts : list of Part
        What was decided, each against its runner-up.
    text : list of str
        The parts as a text, such as the words of a sentence; empty without.
    """

    def __init__(
        self, model: str, parts: Iterable[Part], note: str = "", text: Sequence = ()
    ):
        self.model, self.parts, self.note = model, list(parts), note
        self.text = list(map(str, text))

    def as_dict(self) -> dict[str, Any]:
        """All of it as dicts, lists, texts and numbers, as JSON has them."""
        parts = [
            {
                "name": part.name,
                "predicted": part.predicted,
                "runner_up": part.runner_up,
                "difference": part.difference,
                "features": [f._asdict() for f in part.features],
            }
            for part in self.parts
        ]
        return {"model": self.model, "parts": parts}

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row per part and feature."""
        pandas = importlib.import_module("pandas")
        rows = [
            (part.name, part.predicted, part.runner_up, *feature)
            for part in self.parts
            for feature in part.features
        ]
        head = ["part", "predicted", "runner_up", *Contribution._fields]
        return pandas.DataFrame(rows, columns=head)

    def view(self, top: int = SHOWN) -> View:
        """What notebooks show, with so many features of every part."""
        body = [about(f"{self.model}: {self.note}" if self.note else self.model)]
        most = max(
            (abs(f.contribution) for p in self.parts for f in p.features), default=1.0
        )
        if self.text:
            body.append(self._sentence())
        fold = len(self.parts) > FOLDED
        for part in self.parts:
            title = (
                f"<b>{escaped(part.name)}</b>: {escaped(part.predicted)} rather than "
                f"{escaped(part.runner_up)} <small>({part.difference:+.4g})</small>"
            )
            table = _table(part, most or 1.0, top)
            if fold:
                body.append(f"<details><summary>{title}</summary>{table}</details>")
            else:
                body.append(f"<p>{title}</p>{table}")
        return View("".join(body), str(self))

    def _sentence(self) -> str:
        """The words, the deeper in colour the clearer the decision."""
        most = max((abs(p.difference) for p in self.parts), default=0.0) or 1.0
        words = []
        for word, part in zip(self.text, self.parts, strict=True):
            share = min(abs(part.difference) / most, 1.0)
            hint = f"{part.predicted} rather than {part.runner_up}"
            hint += f" ({part.difference:+.4g})"
            colour = _colour(part.difference, 0.5 * share)
            words.append(
                f'<span title="{escaped(hint)}" style="background:{colour};'
                f'border-radius:.25em;padding:.1em .2em">{escaped(word)}'
                f"<small> {escaped(part.predicted)}</small></span>"
            )
        return f'<p dir="auto">{" ".join(words)}</p>'

    def save(self, path: Any) -> None:
        """Write a page that opens from disk."""
        self.view().save(path, "Explanation")

    def _repr_html_(self) -> str:
        return self.view()._repr_html_()

    def __str__(self) -> str:
        return "\n\n".join(map(_lines, self.parts)) or "(no part has a runner-up)"

    __repr__ = __str__


def ranked(rows: Iterable[tuple[str, float, float]]) -> list[Contribution]:
    """Rows (feature, value, weight): equal features as one, largest contributions first.

    What cancels is left out.
    """
    sums: dict[str, list[float]] = {}
    for feature, value, weight in rows:
        found = sums.setdefault(feature, [0.0, 0.0])
        found[0] += value
        found[1] += value * weight
    kept = (
        Contribution(name, float(v), float(c)) for name, (v, c) in sums.items() if c
    )
    return sorted(kept, key=lambda f: -abs(f.contribution))


def taken(
    one: Iterable, two: Iterable, say: Callable[[Any], str], weigh: Callable
) -> Iterator[tuple[str, float, float]]:
    """Rows for `ranked` of pieces, such as rules, that one output has and the other not."""
    counts = Counter(one)
    counts.subtract(two)
    for piece, n in counts.items():
        if n:
            name, weight = say(piece), float(weigh(piece))
            yield (name, n, weight) if n > 0 else (f"{name} (runner-up)", -n, -weight)


def _lines(part: Part) -> str:
    head = f"{part.name}: {part.predicted} rather than {part.runner_up} "
    lines = [f"{head}({part.difference:+.4g})"]
    shown = part.features[:SHOWN]
    lines += [f"  {f.contribution:+9.4f}  {_said(f)}" for f in shown]
    rest = part.features[SHOWN:]
    if rest:
        total = math.fsum(f.contribution for f in rest)
        lines.append(f"  {total:+9.4f}  {len(rest):,} more features")
    return "\n".join(lines)


def _said(f: Contribution) -> str:
    """A feature with its value, unless it is only there or not."""
    value = f"{f.value:.4g}"
    return f.feature if value == "1" else f"{f.feature} = {value}"


def _colour(value: float, depth: float) -> str:
    share = f"{100 * depth:.0f}%"
    name = RIGHT if value >= 0 else WRONG
    return f"color-mix(in srgb, {name} {share}, transparent)"


def _table(part: Part, most: float, top: int) -> str:
    rows = [
        f'<tr style="background:{_colour(f.contribution, 0.6 * depth(f, most))}">'
        f'<td>{f.contribution:+.4f}</td><td style="text-align:start">'
        f"{escaped(_said(f))}</td></tr>"
        for f in part.features[:top]
    ]
    rest = part.features[top:]
    if rest:
        total = math.fsum(f.contribution for f in rest)
        said = f'<td style="text-align:start">{len(rest):,} more features</td>'
        rows.append(f"<tr><td>{total:+.4f}</td>{said}</tr>")
    return f"<table>{''.join(rows)}</table>"


def depth(f: Contribution, most: float) -> float:
    """How deep the colour of a feature is, from 0 to 1."""
    return math.sqrt(min(abs(f.contribution) / most, 1.0))
