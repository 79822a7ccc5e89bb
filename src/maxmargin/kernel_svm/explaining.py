"""Why a kernel machine chose a class: the basis points that the sample is similar to."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.explain.explained import rows_of
from maxmargin.explain.explanation import Explanation, Part, ranked
from maxmargin.kernels.inputs import count
from maxmargin.kernels.tables import toarray

LONGEST = 40  # characters of a basis point that is a text


def explain(model: Any, x: Any) -> Explanation:
    """The class against the one with the second largest score, by basis point."""
    similar = _similarities(model, x)
    scores = similar[0] @ model.dual_coef_
    a, b = np.argsort(-scores, kind="stable")[:2].tolist()
    weights = model.dual_coef_[:, a] - model.dual_coef_[:, b]
    columns = basis_titles(model), similar[0].tolist(), weights.tolist()
    part = Part(
        "class",
        str(model.classes_[a]),
        str(model.classes_[b]),
        ranked(zip(*columns, strict=True)),
    )
    note = "values are those of the kernel: how similar the sample is to each point"
    return Explanation(type(model).__name__, [part], note)


def _similarities(model: Any, x: Any) -> np.ndarray:
    """The kernel between one sample and the basis points, of shape (1, points)."""
    if hasattr(x, "to_frame") and x.ndim == 1:  # a row of a DataFrame
        x = x.to_frame().T.infer_objects()
    elif isinstance(x, str) or (not hasattr(x, "tocsr") and np.ndim(x) == 1):
        x = [x]
    X, points = model._compared(x)
    if count(X) != 1:
        raise ValueError(f"x has {count(X)} samples: explain takes one.")
    if points is None:
        return np.asarray(toarray(X))
    return np.asarray(model.kernel_(X, points), float)


def basis_titles(model: Any) -> list[str]:
    """Basis points by number; those that are texts as they are."""
    points = model.basis_
    if isinstance(points, (list, tuple)) and all(isinstance(p, str) for p in points):
        short = (p if len(p) <= LONGEST else f"{p[:LONGEST]}…" for p in points)
        return [f"similarity to {p!r} (point {k})" for k, p in enumerate(short, 1)]
    return [f"similarity to basis point {k + 1}" for k in range(count(points))]


def named_weights(model: Any) -> list[tuple[str, str, float]]:
    """(class, basis point, coefficient), the largest first."""
    return rows_of(
        model.dual_coef_.T, list(map(str, model.classes_)), basis_titles(model)
    )
