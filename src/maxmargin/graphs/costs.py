"""Losses of a GraphLabeler: a table cost[true, predicted] for every type of node."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from maxmargin.core.label_costs import cost_table
from maxmargin.graphs.schema import Schema


def node_costs(loss, schema: Schema) -> list[np.ndarray]:
    """For each type; a loss given as {type: loss} may differ by type."""
    if isinstance(loss, str) and loss == "zero-one":
        raise ValueError(
            "loss='zero-one' of whole graphs is not possible: choose 'hamming', weights of "
            "labels, a cost matrix or a function of two labels, summed over nodes."
        )
    if schema.typed and isinstance(loss, Mapping):
        if loss and set(loss) <= set(schema.node_types):
            each = [loss.get(name, "hamming") for name in schema.node_types]
            return [
                cost_table(own, labels)
                for own, labels in zip(each, schema.labels, strict=True)
            ]
        cost_table(loss, sorted({label for some in schema.labels for label in some}))
        return [
            cost_table({k: v for k, v in loss.items() if k in set(labels)}, labels)
            for labels in schema.labels
        ]
    return [cost_table(loss, labels) for labels in schema.labels]
