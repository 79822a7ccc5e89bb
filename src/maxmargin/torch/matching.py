"""Bipartite matchings on top of any network; they have searches, and no sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from maxmargin.matchings.links import EXTRA, SURE, make_batch, to_links
from maxmargin.torch import checks
from maxmargin.torch.examples import Examples
from maxmargin.torch.losses import StructuredHinge
from maxmargin.torch.scored import Scored
from maxmargin.torch.structure import StructureLayer
from maxmargin.torch.tables import Tables


class Matching(StructureLayer):
    """Links between rows and columns: the layer behind a network that scores pairs.

        score(y) = sum over links (i, j) of scores[i, j] + link

    Scores are (examples, rows, columns) with lengths (rows, columns), or a list of tables.
    A truth is a list of links (row, column), as ``decode`` returns them. There are no
    sums over matchings: the loss is a hinge, if nothing is said, ``Perturbed`` or
    ``SparseMAP``.

    Parameters
    ----------
    row_most, column_most : int
        In how many links a row, and a column, takes part at most.
    costs : pair of float
        What a link too many and a missing one cost in the loss of the hinge.
    loss : module, optional

    Attributes
    ----------
    link : Parameter
        What every link scores more: it says how good one must be.
    """

    def __init__(
        self,
        row_most: int = 1,
        column_most: int = 1,
        costs: tuple[float, float] = (1.0, 1.0),
        loss: Any = None,
    ):
        super().__init__(StructuredHinge() if loss is None else loss)
        self.row_most = checks.whole("row_most", row_most)
        self.column_most = checks.whole("column_most", column_most)
        if len(costs) != 2 or not all(0 <= c < float("inf") for c in costs):
            raise ValueError(f"costs={costs!r} must be two numbers, 0 or more.")
        self.costs = float(costs[0]), float(costs[1])
        self.link = torch.nn.Parameter(torch.zeros(()))

    def scored(self, emissions: Any, truths: Any = None, lengths: Any = None) -> Scored:
        """Scores of pairs as those of the links of these matchings."""
        tables = Tables(emissions, lengths)
        checks.same_device({"scores": tables.like, "the layer": self.link})
        if (tables.sizes == 0).any():
            i = int(np.argmax((tables.sizes == 0).any(1)))
            raise ValueError(f"table {i} has no rows or no columns: leave it out.")
        links = None if truths is None else self._links(truths, tables)
        kinds = None
        if links:
            kinds = [
                _kinds(size, some)
                for size, some in zip(tables.sizes.tolist(), links, strict=True)
            ]
        empty = [np.zeros((n, m, 1)) for n, m in tables.sizes.tolist()]
        most = self.row_most, self.column_most
        batch = make_batch(empty, kinds, links, *most, self.costs)
        width = int(batch.longest_target)
        pad, link = torch.nn.functional.pad, self.link.to(tables.dtype)
        rows = [
            pad(t + link, (0, width - t.shape[1])).reshape(-1) for t in tables.tables
        ]
        own = torch.cat([link.reshape(1)[:0], *rows])
        sizes = tables.sizes.tolist()

        def shape(found: Any) -> Any:
            parts = torch.split(found, [n * width for n, _ in sizes])
            return tables.as_given(
                [
                    p.reshape(n, width)[:, :m]
                    for p, (n, m) in zip(parts, sizes, strict=True)
                ]
            )

        most_links = int(batch.source_most)
        read = lambda i, y: to_links(y, most_links)  # noqa: E731
        return Scored(own, Examples(batch, read), None, shape)

    def _links(self, truths: Any, tables: Tables) -> list[list[tuple[int, int]]]:
        truths = list(truths)
        if len(truths) != len(tables):
            raise ValueError(
                f"there are {len(truths)} truths for {len(tables)} tables of scores."
            )
        return [
            self._checked(i, truth, *size)
            for i, (truth, size) in enumerate(
                zip(truths, tables.sizes.tolist(), strict=True)
            )
        ]

    def _checked(self, i: int, truth: Any, n: int, m: int) -> list[tuple[int, int]]:
        rows = checks.whole_numbers(list(truth) if isinstance(truth, set) else truth)
        if rows is None or (rows.numel() and (rows.dim() != 2 or rows.shape[1] != 2)):
            raise TypeError(
                f"truth {i} must be a list of links (row, column), pairs of whole numbers."
            )
        links = sorted({(a, b) for a, b in rows.reshape(-1, 2).tolist()})
        if any(not (0 <= a < n and 0 <= b < m) for a, b in links):
            raise ValueError(f"truth {i} has a link outside of its {n} by {m} table.")
        used = np.zeros((n, m), np.int64)
        for link in links:
            used[link] = 1
        if (used.sum(1) > self.row_most).any() or (
            used.sum(0) > self.column_most
        ).any():
            raise ValueError(
                f"truth {i} has more than {self.row_most} links of a row, or more than "
                f"{self.column_most} of a column: raise row_most or column_most."
            )
        return links


def _kinds(size: list[int], links: list[tuple[int, int]]) -> np.ndarray:
    kinds = np.full(size, EXTRA, np.int8)
    for link in links:
        kinds[link] = SURE
    return kinds
