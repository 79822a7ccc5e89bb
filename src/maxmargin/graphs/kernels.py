"""Nodes as coordinates in the space of a kernel, in place of their features.

Scores of labels are functions of that space; edges stay linear. Nodes of every type have a
basis of their own; where a type has no features, there is nothing to do. See
``core/tables/coordinates.py``, which does the work.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from maxmargin.core.saved import Saved
from maxmargin.core.tables.arrays import TokenMatrix
from maxmargin.core.tables.coordinates import (
    KernelEncoder,
    basis_arrays,
    kernel_state,
    restored_basis,
)
from maxmargin.fitting.fit import seed_of
from maxmargin.graphs.batch import Rows, joined, stacked, with_ones
from maxmargin.graphs.input import GraphInput
from maxmargin.graphs.schema import Schema, node_tables


class Tables:
    """Tables of the features of one type of nodes, as a kernel encoder wants them."""

    def __init__(self, width: int, kind: str = "dense"):
        self.width, self.kind = width, kind

    def fit_encode(self, tables: list[tuple]) -> TokenMatrix:
        self.kind = "sparse" if any(issparse(t) for t, _, _ in tables) else "dense"
        return self.encode(tables)

    def encode(self, tables: list[tuple]) -> TokenMatrix:
        rows = stacked([tables], [self.width], 0, "node")
        start = np.cumsum([0, *(table.shape[0] for table, _, _ in tables)])
        return TokenMatrix(*rows, start, self.width)


class NodeKernels:
    """One encoder for each type of nodes, or None where it has no features."""

    def __init__(self, encoders: list[KernelEncoder | None]):
        self.encoders = encoders

    @classmethod
    def learn(
        cls, model: Any, schema: Schema, inputs: list[GraphInput]
    ) -> tuple[NodeKernels, Rows]:
        """(kernels with bases among these nodes, the features of these); sets widths."""
        found = cls([_encoder(model, width) for width in schema.given_widths])
        parts = []
        tables = node_tables(schema, inputs)
        for t, (encoder, some) in enumerate(zip(found.encoders, tables, strict=True)):
            if encoder is not None:
                parts.append(_rows(encoder.fit_encode(some)))
                schema.node_widths[t] = len(encoder.basis) + schema.constant
            else:
                parts.append(stacked([some], [0], 0, "node"))
        return found, found._with_constant(schema, parts)

    def rows(self, schema: Schema, inputs: list[GraphInput]) -> Rows:
        """The coordinates of all nodes, type by type, with the constant."""
        parts = [
            stacked([some], [0], 0, "node")
            if encoder is None
            else _rows(encoder.encode(some))
            for encoder, some in zip(
                self.encoders, node_tables(schema, inputs), strict=True
            )
        ]
        return self._with_constant(schema, parts)

    def _with_constant(self, schema, parts) -> Rows:
        if schema.constant:
            parts = [
                with_ones(rows, width - 1)
                for rows, width in zip(parts, schema.node_widths, strict=True)
            ]
        return joined(parts)

    # saving ----------------------------------------------------------------------------

    def state(self) -> tuple[dict, dict]:
        """(arrays, state), by number of the type."""
        arrays, state = {}, {}
        for t, encoder in enumerate(self.encoders):
            if encoder is not None:
                arrays |= basis_arrays(encoder.basis, f"kernel{t}")
                state[f"kernel{t}"] = kernel_state(encoder, "labeler")
        return arrays, state

    @classmethod
    def from_state(cls, saved: Saved, schema: Schema, model: Any) -> NodeKernels:
        encoders: list[KernelEncoder | None] = []
        for t, width in enumerate(schema.given_widths):
            encoder = None
            if width:
                part = saved.part(f"kernel{t}")
                size = schema.node_widths[t] - schema.constant
                basis, model.kernel = restored_basis(part, size)
                if basis.points.shape[1] != width:
                    raise ValueError("features and basis points do not fit together")
                encoder = _encoder(model, width)
                encoder.basis = basis
                encoder.inner.kind = "sparse" if issparse(basis.points) else "dense"
            encoders.append(encoder)
        return cls(encoders)


def _encoder(model, width: int) -> KernelEncoder | None:
    if width == 0:
        return None
    return KernelEncoder(
        Tables(width),
        model.kernel,
        model.method,
        model.n_components,
        model.gamma,
        model.kernel_memory,
        seed_of(model.random_state),
        words=("nodes", "graphs"),
    )


def _rows(tokens: TokenMatrix) -> Rows:
    return Rows(tokens.indptr, tokens.indices, tokens.values.astype(np.float64))
