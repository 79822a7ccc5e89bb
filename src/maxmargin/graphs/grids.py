"""Images as graphs: a node per pixel, edges between neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

STEPS = {4: ((0, 1), (1, 0)), 8: ((0, 1), (1, 0), (1, 1), (1, -1))}
FEATURES = ("direction", "contrast")


def grid_graph(
    image: Any, neighbours: int = 4, edge_features: str | tuple[str, ...] | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """(node features, edges, edge features) of an image, for a GraphLabeler.

    The pixels of an array (rows, columns) or (rows, columns, channels) are nodes, row by
    row: ``labels.reshape(image.shape[:2])`` is an image of labels again. Every pixel is
    joined with the one to its right and the one below it; with 8 neighbours, also with
    those below it on both diagonals.

    ``edge_features`` are one or more of "direction" (one column per kind of edge, with a
    one) and "contrast" (a one, and how alike the two pixels are, exp(-|a - b|^2 / 2 m)
    where m is the mean of |a - b|^2).

    >>> image = [[0.0, 1.0], [2.0, 3.0]]
    >>> nodes, edges, features = grid_graph(image, edge_features="direction")
    >>> edges.tolist()
    [[0, 1], [2, 3], [0, 2], [1, 3]]
    >>> features.tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]
    """
    try:
        pixels = np.asarray(image)
        if pixels.dtype.kind not in "biuf" or pixels.ndim not in (2, 3):
            raise ValueError
    except (ValueError, TypeError):
        raise ValueError(
            "image is not a table of numbers: give an array (rows, columns) or (rows, "
            "columns, channels)."
        ) from None
    if neighbours not in STEPS:
        raise ValueError(f"neighbours={neighbours!r} is not possible: choose 4 or 8.")
    wanted = _wanted(edge_features)
    rows, columns = pixels.shape[:2]
    nodes = pixels.reshape(rows * columns, *pixels.shape[2:] or (1,)).astype(np.float64)
    at = np.arange(rows * columns).reshape(rows, columns)
    pairs = [_step(at, down, right) for down, right in STEPS[neighbours]]
    edges = np.concatenate(pairs)
    features = []
    if "direction" in wanted:
        kind = np.repeat(np.arange(len(pairs)), [len(p) for p in pairs])
        features.append(np.eye(len(pairs))[kind])
    if "contrast" in wanted:
        squared = ((nodes[edges[:, 0]] - nodes[edges[:, 1]]) ** 2).sum(1)
        mean = squared.mean() if len(squared) else 0.0
        alike = np.exp(-squared / (2.0 * mean if mean > 0 else 1.0))
        features.append(np.stack([np.ones(len(edges)), alike], 1))
    return nodes, edges, np.concatenate(features, 1) if features else None


def _wanted(names) -> tuple[str, ...]:
    names = () if names is None else (names,) if isinstance(names, str) else names
    if not isinstance(names, (tuple, list)) or not set(names) <= set(FEATURES):
        raise ValueError(
            f"edge_features={names!r} is not possible: choose from {', '.join(FEATURES)}."
        )
    return tuple(names)


def _step(at, down: int, right: int) -> np.ndarray:
    """Pairs of a pixel and the one so many rows below and columns to the right."""
    rows, columns = at.shape
    left, end = max(-right, 0), columns - max(right, 0)
    first = at[: rows - down, left:end]
    second = at[down:, left + right : end + right]
    return np.stack([first.ravel(), second.ravel()], 1)
