"""Pairs of sequences: alignments with affine gaps on top of any network."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch

from maxmargin.alignments import pair_alignments  # noqa: F401  implements searches
from maxmargin.alignments.pair_batch import make_batch
from maxmargin.alignments.scores import Side, Terms
from maxmargin.core.partial import partly_known
from maxmargin.torch.checks import same_device, whole_numbers
from maxmargin.torch.examples import Examples
from maxmargin.torch.scored import Scored
from maxmargin.torch.structure import StructureLayer
from maxmargin.torch.tables import Tables

UNMATCHED, UNKNOWN = -1, -2


class Alignment(StructureLayer):
    """Alignments of two sequences: the layer behind a network that scores pairs.

        score(y) = sum of scores[i, j] over matched pairs
                   + for every unmatched run of length r:  opening + r * extension

    Scores are (pairs of sequences, rows, columns) with lengths (rows, columns), or a list
    of tables. A truth says for every row which column it is matched with: a list of
    numbers, -1 where it is unmatched, None (-2 in arrays) where that is not known; columns
    rise. That is also what ``decode`` returns.

    Parameters
    ----------
    free_ends : bool
        Whether unmatched runs at both ends cost nothing (local alignment).
    cost : int or "hamming"
        The loss of the hinge: 1 - (pairs as in the truth, or in the same column and at
        most so many rows off) / (pairs of the truth), or wrong pairs plus missed ones.
    loss : module, optional
        :class:`maxmargin.torch.LogLoss`, if nothing is said.

    Attributes
    ----------
    opening, extension : Parameter
        Scores of runs of rows, and of columns.
    """

    def __init__(self, free_ends: bool = False, cost: Any = 0, loss: Any = None):
        super().__init__(loss)
        if cost != "hamming" and not (isinstance(cost, int) and cost >= 0):
            raise ValueError(f"cost must be 'hamming' or 0, 1, ..., not {cost!r}.")
        self.free_ends, self.cost = bool(free_ends), cost
        self.opening = torch.nn.Parameter(torch.full((2,), -1.0))
        self.extension = torch.nn.Parameter(torch.full((2,), -0.1))

    def scored(self, emissions: Any, truths: Any = None, lengths: Any = None) -> Scored:
        """Scores of pairs and runs as those of the parts of these alignments."""
        tables = Tables(emissions, lengths)
        same_device({"scores": tables.like, "the layer": self.opening})
        y = _positions(truths, tables)
        batch = self._batch(tables, y)
        parts = [self.opening[:0].to(tables.dtype)]
        for table in tables.tables:
            parts += [table.reshape(-1), self._runs(table)]
        sizes = tables.sizes.tolist()

        def shape(own: Any) -> Any:
            places = np.cumsum([0, *(n * m + 3 * (n + m) + 2 for n, m in sizes)])
            found = [
                own[a : a + n * m].reshape(n, m)
                for a, (n, m) in zip(places.tolist(), sizes, strict=False)
            ]
            return tables.as_given(found)

        return Scored(torch.cat(parts), Examples(batch, _read), None, shape)

    def _runs(self, table: Any) -> Any:
        """open_s, at_t, extend_s, open_t, at_s, extend_t (``alignments/dp.py``)."""
        (n, m), real = table.shape, table.dtype
        opening, extension = self.opening.to(real), self.extension.to(real)
        return torch.cat(
            [
                opening[0].expand(n),
                opening.new_zeros(m + 1),
                extension[0].expand(n),
                opening[1].expand(m),
                opening.new_zeros(n + 1),
                extension[1].expand(m),
            ]
        )

    def _batch(self, tables: Tables, y: np.ndarray) -> Any:
        s_start, t_start = tables.start
        none = np.zeros(0, np.int64)
        terms = Terms(
            np.zeros(1, np.int64),
            none,
            none,
            none,
            np.zeros(0, np.uint8),
            np.zeros((0, 7), np.int64),
            np.zeros(0),
            np.zeros(0),
            0,
        )
        known = y != UNKNOWN
        whole = np.where(known, y, UNMATCHED).astype(np.int32)
        free = (self.free_ends, self.free_ends)
        sides = _side(s_start), _side(t_start)
        norm, counts = np.ones(len(tables)), np.ones(len(y), bool)
        batch = make_batch(*sides, terms, whole, norm, counts, self.cost, free, (0, 0))
        return batch if known.all() else partly_known(batch, known)


def _side(start: np.ndarray) -> Side:
    n, side = int(start[-1]), cast(Any, Side)
    return side(
        start=start,
        classes=np.zeros((0, n), np.int32),
        first=np.zeros((0, len(start)), np.int64),
        codes=np.zeros(0, np.int32),
        dense=np.zeros((n, 0)),
        opening=np.zeros((0, n), np.int32),
        boundary=np.zeros((0, n + len(start) - 1), np.int32),
        extend=0,
    )


def _read(i: int, labelling: Any) -> list[int]:
    return labelling.tolist()


def _positions(truths: Any, tables: Tables) -> np.ndarray:
    """The column of every row of all examples."""
    if truths is None:
        return np.full(int(tables.sizes[:, 0].sum()), UNMATCHED, np.int32)
    truths = list(truths)
    if len(truths) != len(tables):
        raise ValueError(
            f"there are {len(truths)} truths for {len(tables)} tables of scores."
        )
    rows = [
        _row(i, truth, n, m)
        for i, (truth, (n, m)) in enumerate(
            zip(truths, tables.sizes.tolist(), strict=True)
        )
    ]
    return np.concatenate([np.zeros(0, np.int32), *rows]).astype(np.int32)


def _row(i: int, truth: Any, n: int, m: int) -> np.ndarray:
    values = truth.tolist() if hasattr(truth, "tolist") else truth
    if isinstance(values, (list, tuple)):
        values = [UNKNOWN if j is None else j for j in values]
    found = whole_numbers(values)
    if found is None or found.dim() != 1:
        raise TypeError(
            f"truth {i} must be a list with a column for every row, whole numbers: -1 "
            "where it is unmatched, None where that is not known."
        )
    row = found.numpy()
    if len(row) > n and (row[n:] == UNMATCHED).all():
        row = row[:n]  # of a padded tensor
    if len(row) != n:
        raise ValueError(f"truth {i} has {len(row)} rows, but its table has {n}.")
    matched = row[row >= 0]
    if (row < UNKNOWN).any() or (matched >= m).any() or (np.diff(matched) <= 0).any():
        raise ValueError(
            f"truth {i} must hold rising columns from 0 to {m - 1}, -1 where a row is "
            "unmatched, and None where that is not known."
        )
    return row
