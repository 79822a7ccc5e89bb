"""Sequences of tokens as users hand them over: padded, flat with lengths, or as lists."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from maxmargin.torch import checks

UNKNOWN = -1  # a label that is not known; None in lists


class Sequences:
    """The tokens of all sequences one after the other, and how they were given.

    Parameters
    ----------
    emissions : tensor (sequences, tokens, labels) or (all tokens, labels), or list
        One number per token and label; a list has a tensor (tokens, labels) per sequence.
    n_labels : int
    lengths : sequence of int, optional
        Tokens of every sequence. Without it, padded sequences are all full, and a flat
        tensor is one sequence.
    name : str
        What sentences about them say.
    """

    def __init__(
        self,
        emissions: Any,
        n_labels: int,
        lengths: Any = None,
        name: str = "emissions",
    ):
        self.form, self.name = "padded", name
        if isinstance(emissions, (list, tuple)):
            emissions, lengths = self._joined(emissions, n_labels, lengths)
            self.form = "list"
        checks.is_real(emissions, name)
        if emissions.dim() not in (2, 3) or emissions.shape[-1] != n_labels:
            raise ValueError(
                f"{name} have the shape {tuple(emissions.shape)}: they must be "
                f"(sequences, tokens, {n_labels}), or (all tokens, {n_labels}) with "
                "lengths, one number per label at the end."
            )
        if emissions.dim() == 2 and self.form == "padded":
            self.form = "flat"
        self.shape = tuple(emissions.shape)
        self.sizes = self._sizes(emissions, lengths)
        self.rows, self.columns = None, None
        if self.form == "padded":
            if bool((self.sizes == emissions.shape[1]).all()):
                emissions = emissions.reshape(-1, n_labels)
            else:
                self.rows, self.columns = checks.inside(self.sizes.numpy())
                emissions = emissions[self.rows, self.columns]
        self.emissions = emissions.contiguous()
        self.start = torch.cat(
            [torch.zeros(1, dtype=torch.int64), self.sizes.cumsum(0)]
        )

    def _joined(self, emissions, n_labels, lengths):
        if lengths is not None:
            raise ValueError("a list of tensors has its lengths: leave lengths out.")
        for i, rows in enumerate(emissions):
            checks.is_real(rows, f"{self.name}[{i}]")
            if rows.dim() != 2 or rows.shape[1] != n_labels:
                raise ValueError(
                    f"{self.name}[{i}] has the shape {tuple(rows.shape)}: it must be "
                    f"(tokens, {n_labels})."
                )
            first = {f"{self.name}[0]": emissions[0]}
            checks.same_device({**first, f"{self.name}[{i}]": rows})
        sizes = [len(rows) for rows in emissions]
        return torch.cat([torch.zeros(0, n_labels), *emissions]) if not sizes else (
            torch.cat(list(emissions))
        ), sizes

    def _sizes(self, emissions, lengths) -> Any:
        """Tokens of every sequence (int64, on the CPU)."""
        padded = self.form == "padded"
        if lengths is None:
            full = [emissions.shape[1]] * len(emissions) if padded else [len(emissions)]
            return torch.tensor(full, dtype=torch.int64)
        sizes = checks.whole_numbers(lengths)
        if sizes is None or sizes.dim() != 1:
            raise ValueError(
                "lengths must be one whole number per sequence; of a mask they are "
                "mask.sum(1)."
            )
        if padded and len(sizes) != len(emissions):
            raise ValueError(
                f"there are {len(sizes)} lengths for {len(emissions)} sequences."
            )
        most = emissions.shape[1] if padded else len(emissions)
        bad = ((sizes < 0) | (sizes > most)).nonzero()
        if len(bad):
            i = int(bad[0])
            raise ValueError(
                f"lengths[{i}] is {int(sizes[i])}, but sequence {i} can have 0 to {most} "
                "tokens."
            )
        if not padded and int(sizes.sum()) != len(emissions):
            raise ValueError(
                f"lengths add up to {int(sizes.sum())}, but there are {len(emissions)} "
                "tokens."
            )
        return sizes

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def owner(self) -> np.ndarray:
        """The sequence of every token."""
        return np.repeat(np.arange(len(self)), self.sizes.numpy())

    def labels(self, given: Any, numbers: dict) -> Any:
        """Labels of all tokens (int64, on the device of the emissions), -1 if unknown.

        ``numbers`` has the number of every label that has a name.
        """
        if isinstance(given, torch.Tensor):
            flat = self._flat_labels(given)
        else:
            flat = self._listed_labels(given, numbers)
        n = self.shape[-1]
        if len(flat) and (int(flat.min()) < UNKNOWN or int(flat.max()) >= n):
            bad = int(((flat < UNKNOWN) | (flat >= n)).nonzero()[0])
            i = int(self.owner[bad])
            raise ValueError(
                f"the label of token {bad - int(self.start[i])} of sequence {i} is "
                f"{int(flat[bad])}: labels are 0 to {n - 1}, or {UNKNOWN} (None in lists) "
                "where they are not known."
            )
        return flat

    def _flat_labels(self, given) -> Any:
        if given.is_floating_point() or given.dtype == torch.bool:
            raise TypeError(f"labels hold {given.dtype}: they must be whole numbers.")
        checks.same_device({"emissions": self.emissions, "labels": given})
        wanted = self.shape[:-1] if self.form != "list" else (len(self.emissions),)
        if tuple(given.shape) != wanted and tuple(given.shape) != (
            len(self.emissions),
        ):
            raise ValueError(
                f"labels have the shape {tuple(given.shape)}, but emissions are "
                f"{self.shape}: there must be one label per token, {wanted}."
            )
        if given.dim() == 2 and self.rows is not None:
            given = given[self.rows, self.columns]
        return given.reshape(-1).to(torch.int64)

    def _listed_labels(self, given, numbers: dict) -> Any:
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise TypeError(
                "labels must be a tensor, or a list with the labels of each sequence."
            )
        if len(given) != len(self):
            raise ValueError(
                f"there are labels of {len(given)} sequences, but emissions of "
                f"{len(self)}."
            )
        flat: list[int] = []
        for i, (row, size) in enumerate(zip(given, self.sizes.tolist(), strict=True)):
            if not isinstance(row, Iterable):
                raise TypeError(
                    f"labels of sequence {i} are {row!r}: give a list with the label of "
                    "every token, None where it is not known."
                )
            row = row.tolist() if hasattr(row, "tolist") else list(row)
            if len(row) != size:
                raise ValueError(
                    f"sequence {i} has {size} tokens, but {len(row)} labels."
                )
            flat += [self._number(i, t, label, numbers) for t, label in enumerate(row)]
        return torch.tensor(flat, dtype=torch.int64, device=self.emissions.device)

    @staticmethod
    def _number(i: int, t: int, label, numbers: dict) -> int:
        if label is None:
            return UNKNOWN
        if isinstance(label, (int, np.integer)) and not isinstance(label, bool):
            return int(label)
        if not isinstance(label, Hashable) or label not in numbers:
            known = ", ".join(map(repr, list(numbers)[:5])) or "numbers from 0 on"
            raise ValueError(
                f"the label of token {t} of sequence {i} is {label!r}: labels of this "
                f"chain are {known}{', ...' if len(numbers) > 5 else ''}."
            )
        return numbers[label]

    def as_given(self, rows: Any) -> Any:
        """One row per token as emissions were given: padded, flat, or in a list."""
        if self.form == "list":
            return list(torch.split(rows, self.sizes.tolist()))
        if self.rows is not None:
            out = rows.new_zeros(*self.shape[:2], *rows.shape[1:])
            return out.index_put((self.rows, self.columns), rows)
        if self.form == "padded":
            return rows.reshape(*self.shape[:2], *rows.shape[1:])
        return rows

    def split(self, labels: Any, names: list | None = None) -> list[list]:
        """The labels of every sequence, by name if they have names."""
        flat = labels.tolist()
        if names is not None:
            flat = [names[k] for k in flat]
        at = self.start.tolist()
        return [flat[a:b] for a, b in pairwise(at)]
