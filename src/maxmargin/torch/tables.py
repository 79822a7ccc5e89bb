"""Tables of scores of pairs, as users hand them over: padded or as a list."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from maxmargin.torch import checks


class Tables:
    """A table (rows, columns) per example.

    Parameters
    ----------
    scores : tensor (examples, rows, columns), or list of tensors (rows, columns)
    lengths : sequence of pairs (rows, columns), optional
        Without it, padded tables are full.
    """

    def __init__(self, scores: Any, lengths: Any = None, name: str = "scores"):
        self.padded = isinstance(scores, torch.Tensor)
        if self.padded:
            checks.is_real(scores, name)
            if scores.dim() != 3:
                raise ValueError(
                    f"{name} have the shape {tuple(scores.shape)}: they must be "
                    "(examples, rows, columns), or a list of tables."
                )
            self.full = tuple(scores.shape)
            sizes = self._sizes(scores, lengths)
            tables = [t[:n, :m] for t, (n, m) in zip(scores, sizes, strict=True)]
            self.like = scores
        else:
            if lengths is not None:
                raise ValueError("a list of tables has its sizes: leave lengths out.")
            tables = list(scores)
            for i, table in enumerate(tables):
                checks.is_real(table, f"{name}[{i}]")
                if table.dim() != 2:
                    raise ValueError(
                        f"{name}[{i}] has the shape {tuple(table.shape)}: it must be "
                        "(rows, columns)."
                    )
                checks.same_device({f"{name}[0]": tables[0], f"{name}[{i}]": table})
            sizes = [(len(t), t.shape[1]) for t in tables]
            self.like = tables[0] if tables else torch.zeros(0)
        single = self.like.dtype in (torch.float16, torch.bfloat16)
        self.dtype = torch.float32 if single else self.like.dtype
        self.tables = [table.to(self.dtype) for table in tables]
        self.sizes = np.array(sizes, np.int64).reshape(-1, 2)

    @staticmethod
    def _sizes(scores, lengths) -> list[tuple[int, int]]:
        rows, columns = scores.shape[1:]
        if lengths is None:
            return [(rows, columns)] * len(scores)
        sizes = checks.whole_numbers(lengths)
        if sizes is not None and not len(scores) and not len(sizes):
            return []
        if sizes is None or tuple(sizes.shape) != (len(scores), 2):
            raise ValueError(
                f"lengths must be a pair of whole numbers (rows, columns) for each of the "
                f"{len(scores)} examples."
            )
        found = [(int(n), int(m)) for n, m in sizes.tolist()]
        for i, (n, m) in enumerate(found):
            if not (0 <= n <= rows and 0 <= m <= columns):
                raise ValueError(
                    f"lengths[{i}] is ({n}, {m}), but tables are {rows} by {columns}."
                )
        return found

    def __len__(self) -> int:
        return len(self.tables)

    @property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the rows of every example begin, and its columns."""
        ends = np.cumsum(self.sizes, axis=0, dtype=np.int64)
        n, m = np.concatenate([np.zeros((1, 2), np.int64), ends]).T
        return np.ascontiguousarray(n), np.ascontiguousarray(m)

    def as_given(self, tables: list) -> Any:
        """Tables of these sizes as the scores were given."""
        if not self.padded:
            return tables
        _, rows, columns = self.full
        pad = torch.nn.functional.pad
        wide = [pad(t, (0, columns - t.shape[1], 0, rows - t.shape[0])) for t in tables]
        return torch.stack(wide) if wide else self.like.new_zeros(self.full)
