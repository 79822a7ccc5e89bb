"""What the command line says of a tagger that is a network."""

from __future__ import annotations

from typing import Any

import numpy as np

NO_ROWS = (
    "--model neural reads words and columns, or the numbers of --format svmhmm: give a "
    "file in another format than crfsuite."
)


def is_network(model: Any) -> bool:
    return hasattr(model, "network_")


def size_of(model: Any) -> int:
    """How many numbers it has learned."""
    return sum(p.numel() for p in model.network_.parameters())


def strength_of(model: Any) -> str:
    """After how many passes it is how good."""
    dev = getattr(model, "dev_", None)
    passes = f"{model.n_iter_} pass{'' if model.n_iter_ == 1 else 'es'}"
    if dev is None:
        return passes
    found = f"{dev.measure} {dev.score:.4f} on held-out data"
    return f"{passes}, the best of which was {dev.iteration} ({found})"


def facts_of(model: Any) -> list[tuple[str, str]]:
    return [
        ("network", f"{model.encoder}, {size_of(model):,} weights"),
        ("objective", model.objective),
        ("training", strength_of(model)),
        ("scheme", str(model.scheme or "none")),
    ]


def transitions_of(model: Any, labels: list, top: int) -> list[tuple[str, str, float]]:
    """(label, next label, weight): the strongest that leave these labels."""
    names = list(map(str, model.classes_.tolist()))
    table = np.asarray(model.transitions_, float)
    rows = [
        (a, b, float(table[i, j]))
        for i, a in enumerate(names)
        if a in set(map(str, labels))
        for j, b in enumerate(names)
    ]
    return sorted(rows, key=lambda row: -abs(row[2]))[:top]


def listed(rows: list[tuple[str, str, float]]) -> str:
    """The same as text."""
    lines = [f"{weight:+9.4f}  {a} to {b}" for a, b, weight in rows]
    return "\n".join(["Strongest transitions", "", *lines])
