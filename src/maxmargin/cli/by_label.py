"""The strongest weights of every label, where labels have rows of weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

Row = tuple[str, str, float]  # label, name, weight


def strongest_of(
    labels: Sequence[str], rows, args, name: Callable[[int], str], kind: str
) -> Iterator[Row]:
    """The --top weights of every label, or of those that --label names."""
    for label in args.label or ():
        if label not in labels:
            raise ValueError(
                f"--label {label} is not a {kind}; there are, for example, "
                f"{', '.join(labels[:5])}."
            )
    for label, row in zip(labels, rows, strict=True):
        if not args.label or label in args.label:
            best = np.argsort(-np.abs(row), kind="stable")[: args.top]
            for j in best[row[best] != 0].tolist():
                yield label, name(j), float(row[j])


def lines_of(found: Sequence[Row], labels: Sequence[str] = ()) -> dict[str, str]:
    """{label: a line of it and its weights}; of these labels, also if there are none."""
    shown: dict[str, list[str]] = {label: [] for label in labels}
    for label, name, weight in found:
        shown.setdefault(label, []).append(f"{weight:+.3f} {name}")
    return {z: f"{z}: {', '.join(row) or 'no weights'}" for z, row in shown.items()}
