"""One number of a report, as scikit-learn asks for it: scorer(estimator, X, y)."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from maxmargin.metrics.report import Report


@dataclass(frozen=True)
class Scorer:
    """A measure to choose models by: ``scoring=`` of scikit-learn's searches.

    Called with an estimator, inputs and true outputs, it asks ``evaluate`` for the report
    and returns one number of it, negative where smaller is better. The estimator may be the
    last step of a ``Pipeline`` or the winner of a search.

    Attributes
    ----------
    name : str
        What :func:`maxmargin.scorers.get` knows it by.
    title : str
        What tables call the number.
    measure : str
        Where the number is in a report: an attribute, or several with dots between them.
    reports : tuple of str
        The reports that have it.
    smaller : bool
        Whether a smaller number is better.
    options : mapping
        What ``evaluate`` is told besides.
    metadata : tuple of str
        What it takes besides X and y, such as the queries of documents: scikit-learn hands
        it over where its metadata routing is enabled.
    """

    name: str
    title: str
    measure: str
    reports: tuple[str, ...]
    smaller: bool = False
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    metadata: tuple[str, ...] = ()

    def __call__(self, estimator: Any, X: Any, y: Any = None, **more: Any) -> float:
        model, X = _innermost(estimator, X)
        if not hasattr(model, "evaluate"):
            raise TypeError(
                f"{self.name} asks an estimator of maxmargin to evaluate itself, but "
                f"{type(model).__name__} has no evaluate()."
            )
        value = self.value(model.evaluate(X, y, **{**self.options, **more}))
        return -value if self.smaller else value

    def value(self, report: Report) -> float:
        """The number in a report, whether greater or smaller is better."""
        found: Any = report
        if type(report).__name__ not in self.reports:
            raise ValueError(
                f"{self.name} is a number of {' or '.join(self.reports)}, but evaluate() "
                f"has made a {type(report).__name__}: choose a scorer of that from "
                "maxmargin.scorers.table()."
            )
        for step in self.measure.split("."):
            inside = isinstance(found, Mapping)
            found = found[int(step)] if inside else getattr(found, step)
        return float(found)

    def with_options(self, **options: Any) -> Scorer:
        """The same number, where ``evaluate`` is told more."""
        return replace(self, options={**self.options, **options})

    def get_metadata_routing(self) -> Any:
        """What scikit-learn's metadata routing has to hand over."""
        # imported when asked for: the command line has scorers before it needs sklearn
        routing = importlib.import_module("sklearn.utils.metadata_routing")
        request = routing.MetadataRequest(owner=self)
        for name in self.metadata:
            request.score.add_request(param=name, alias=True)
        return request

    def __repr__(self) -> str:
        told = "".join(f", {name}={value!r}" for name, value in self.options.items())
        return f"<scorer {self.name}{told}>"


def _innermost(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The estimator that evaluates, and X as it takes it."""
    while not hasattr(estimator, "evaluate"):
        if hasattr(estimator, "best_estimator_"):  # of a search
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):  # of a Pipeline
            if len(estimator.steps) > 1:
                X = estimator[:-1].transform(X)
            estimator = estimator[-1]
        else:
            break
    return estimator, X
