"""Label sequences of second order: scores for three labels in a row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from maxmargin.core.partial import is_partial, ordinary, partly_known
from maxmargin.tags import second_order_sums  # noqa: F401  implements sums
from maxmargin.tags.second_order import second_order
from maxmargin.torch.chain import START, Chain, batch_of, wide
from maxmargin.torch.checks import same_device
from maxmargin.torch.examples import Examples
from maxmargin.torch.scored import Scored
from maxmargin.torch.sequences import Sequences


class SecondOrder(Chain):
    """A chain whose scores know two labels before: ``Chain``, and

        score(y) = that of a chain + sum_(t>=3) triples[y_(t-2), y_(t-1), y_t]

    It takes what :class:`maxmargin.torch.Chain` takes, with a cost of labels: "hamming" or
    an array. Sums and searches take time in proportion to tokens times labels cubed.

    Attributes
    ----------
    transitions, first, last, triples : Parameter
    """

    def __init__(
        self,
        labels: int | Sequence[str],
        scheme: str | None = None,
        forbidden: Any = None,
        cost: Any = "hamming",
        loss: Any = None,
    ):
        super().__init__(labels, scheme, forbidden, cost, loss)
        if cost in ("zero-one", "spans") and isinstance(cost, str):
            raise ValueError(
                f"cost={cost!r} is not possible here: a chain of second order needs a cost "
                "of labels, 'hamming' or an array."
            )
        n = self.n_labels
        self.triples = torch.nn.Parameter(torch.empty(n, n, n))
        torch.nn.init.uniform_(self.triples, -START, START)

    def reset_parameters(self) -> None:
        """Draw new transitions."""
        super().reset_parameters()
        if hasattr(self, "triples"):
            torch.nn.init.uniform_(self.triples, -START, START)

    def scored(self, emissions: Any, truths: Any = None, lengths: Any = None) -> Scored:
        """Emissions and transitions as scores of the parts of these sequences."""
        n = self.n_labels
        sequences = Sequences(emissions, n, lengths)
        same_device({"emissions": sequences.emissions, "the chain": self.transitions})
        if truths is not None:
            numbers = {name: k for k, name in enumerate(self.names or [])}
            truths = sequences.labels(truths, numbers)
        first_order = batch_of(self, sequences, truths)
        batch = second_order(ordinary(first_order))
        if is_partial(first_order):
            batch = partly_known(batch, first_order.known)
        real, wall = sequences.emissions.dtype, self.wall
        single = real in (torch.float16, torch.bfloat16)
        real = torch.float32 if single else real
        ends = torch.stack([self.first, self.last])
        table = torch.cat([self.transitions, ends]).to(real) + wall.to(real)
        triples = self.triples.to(real).reshape(n * n, n)
        return Scored(
            wide(sequences.emissions.to(real), batch.width),
            Examples(batch, self._read),
            wide(torch.cat([table, triples]), batch.width),
            lambda own: sequences.as_given(own.reshape(-1, batch.width)[:, :n]),
        )

    def _read(self, i: int, labelling: Any) -> list:
        labels = labelling.tolist()
        return labels if self.names is None else [self.names[k] for k in labels]
