"""Why a problem of a user's own has the output that it has, and not another one."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.problem import has_own
from maxmargin.core.problems.answers import Answers
from maxmargin.explain.explained import rows_of, titles
from maxmargin.explain.explanation import Explanation, Part, ranked
from maxmargin.fitting.structural import is_structure

LONGEST = 200  # characters of an output


def explain(model: Any, x: Any, against: Any = None) -> Explanation:
    """The output against another one, by default the best other that ``outputs`` lists.

    With hidden parts, outputs are pairs (y, h), and the other one has another y.
    """
    if is_structure(model.structure_) or has_own(model.structure_, "joint_kernel"):
        raise TypeError(
            f"{type(model.structure_).__name__} has no joint_feature: explain works for "
            "problems whose features are written in Python."
        )
    door = model._door()
    answers, w = Answers(door, len(model.coef_)), model.coef_
    hidden = hasattr(model, "predict_latent")
    best = (model.predict_latent if hidden else model.predict)([x])[0]
    features = _vector(answers, x, best)
    if against is None:
        against = _runner_up(answers, x, best, features, w, hidden)
    apart = features - _vector(answers, x, against)
    names = feature_titles(model)
    rows = [(names[j], apart[j], float(w[j])) for j in np.flatnonzero(apart).tolist()]
    texts = str(best), str(against)
    said = (t if len(t) <= LONGEST else f"{t[:LONGEST]} …" for t in texts)
    return Explanation(type(model).__name__, [Part("output", *said, ranked(rows))])


def _vector(answers: Answers, x: Any, output: Any) -> np.ndarray:
    index, values = answers.features(0, x, output)
    out = np.zeros(answers.n_features)
    np.add.at(out, index, values)
    return out


def _runner_up(
    answers: Answers, x: Any, best: Any, features: np.ndarray, w: Any, hidden: bool
) -> Any:
    """The best output with other features, or with another y."""
    door = answers.problem
    if not has_own(getattr(door, "problem", door), "outputs"):
        raise ValueError(
            "which output comes second is not known: give one to compare with, as in "
            "explain(x, against=y), or write outputs(x)."
        )
    scored = []
    for output in answers.outputs(0, x):
        vector = _vector(answers, x, output)
        same = output[0] == best[0] if hidden else np.array_equal(vector, features)
        if not same:
            scored.append((float(vector @ w), len(scored), output))
    if not scored:
        raise ValueError("x has one output only: there is nothing to explain.")
    return max(scored, key=lambda row: (row[0], -row[1]))[2]


def feature_titles(model: Any) -> list[str]:
    """Names of the features, if the problem has ``feature_names``, or their numbers."""
    names = getattr(model.structure_, "feature_names", None)
    return titles(names, len(model.coef_))


def named_weights(model: Any) -> list[tuple[str, str, float]]:
    """("", feature, weight), the largest first."""
    return rows_of(model.coef_, [""], feature_titles(model))
