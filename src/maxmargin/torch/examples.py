"""A batch of the contract, and where the scores of its parts lie in one tensor."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from maxmargin.core import contract
from maxmargin.core.flat_scores import Layout, layout_of
from maxmargin.core.kernel import implemented
from maxmargin.core.partial import is_partial


class Examples:
    """Encoded examples, whose part scores a network gives.

    ``batch`` is a batch of the contract (``core/contract.py``): what ``fit(X, Y)`` of a
    :class:`maxmargin.DynamicProgram` or of a compiled structure returns. ``sizes`` says
    how many scores each example takes, ``n_shared`` how many all have in common.
    ``read(i, labelling)`` turns a labelling into an output of example i.
    """

    def __init__(self, batch: Any, read: Callable[[int, Any], Any] | None = None):
        if not (isinstance(batch, tuple) and hasattr(batch, "start")):
            raise TypeError(
                f"{type(batch).__name__} is no batch of compiled code: give what fit(X, Y) "
                "of a DynamicProgram or of a compiled Structure returns."
            )
        if not self._can(contract.parts, batch):
            raise TypeError(
                f"{type(batch).__name__} does not say what the parts of an output are: "
                "implement contract.parts for it."
            )
        self.batch: Any = batch
        self.read = read or (lambda i, labelling: labelling)

    @staticmethod
    def _can(function, batch) -> bool:
        return implemented(function, type(batch))

    @functools.cached_property
    def layout(self) -> Layout:
        return layout_of(self.batch)

    @property
    def n(self) -> int:
        """How many examples there are."""
        return len(self.batch.start) - 1

    @functools.cached_property
    def sizes(self) -> np.ndarray:
        """How many scores each example takes, without those that all have in common."""
        return np.diff(self.layout.place)

    @property
    def n_scores(self) -> int:
        return int(self.layout.place[-1])

    @property
    def n_shared(self) -> int:
        """How many scores all examples have in common."""
        return self.layout.head

    @functools.cached_property
    def owner(self) -> np.ndarray:
        """The example of every score."""
        return np.repeat(np.arange(self.n), self.sizes)

    @property
    def has_sums(self) -> bool:
        """Whether there are sums over all outputs: probabilities, a log-loss."""
        able = getattr(self.batch, "has_sums", True)
        return able and self._can(contract.sums, self.batch)

    @property
    def is_partial(self) -> bool:
        """Whether some truths are not known whole."""
        return is_partial(self.batch)

    def spread(self, values: np.ndarray) -> np.ndarray:
        """A number per example for every score of it."""
        return np.repeat(values, self.sizes)

    def outputs(self, labels: np.ndarray) -> list:
        """The outputs of all examples, from labellings laid out as ``batch.y``."""
        rows = np.split(labels, self.batch.start[1:-1]) if self.n else []
        return [self.read(i, row) for i, row in enumerate(rows)]


def as_examples(examples: Any) -> Examples:
    """Examples, also where a batch was given."""
    return examples if isinstance(examples, Examples) else Examples(examples)
