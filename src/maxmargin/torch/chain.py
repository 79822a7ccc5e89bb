"""Label sequences: a chain with transitions on top of any network."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from maxmargin.core.checks import one_of
from maxmargin.core.partial import partly_known
from maxmargin.core.structure import check_k
from maxmargin.core.tables.arrays import TokenMatrix
from maxmargin.core.tables.label_costs import cost_table
from maxmargin.tags.chain import make_batch
from maxmargin.tags.chain_spans import span_tables
from maxmargin.tags.input import barrier_of
from maxmargin.tags.schemes import forbidden_transitions
from maxmargin.torch import checks, cpu, cpu_sums, devices, textbook
from maxmargin.torch.examples import Examples
from maxmargin.torch.scored import Scored
from maxmargin.torch.sequences import UNKNOWN, Sequences
from maxmargin.torch.structure import StructureLayer

START = 0.1  # parameters begin between -START and START


class Chain(StructureLayer):
    """A linear chain: the layer behind a network that scores labels of tokens.

        score(y) = sum_t emissions[t, y_t] + first[y_1] + sum_t transitions[y_(t-1), y_t]
                   + last[y_T]

    ``chain(emissions, labels, lengths)`` is the loss, ``chain.decode(emissions,
    lengths)`` the best labels. Emissions are padded (sequences, tokens, labels), or flat
    (all tokens, labels), or a list of tensors (tokens, labels). Labels are a tensor, or
    lists of numbers or names; -1, or None in lists, is a label that is not known: losses
    are then those of what is known.

    Parameters
    ----------
    labels : int or list of str
        How many labels there are, or their names.
    scheme : str, optional
        "BIO", "BIOES", ...: transitions that it does not allow are forbidden.
    forbidden : list of pairs (label, label after it), optional
        More transitions that are; None stands for the start or the end.
    cost : "hamming", "zero-one", "spans" or array (labels, labels)
        The loss of the hinge: wrong labels, wrong sequences, wrong spans, or what it
        costs to predict column k where row j is true.
    loss : module, optional
        :class:`maxmargin.torch.LogLoss`, if nothing is said.

    Attributes
    ----------
    transitions, first, last : Parameter
    """

    wall: Any
    cost_table: Any

    def __init__(
        self,
        labels: int | Sequence[str],
        scheme: str | None = None,
        forbidden: Any = None,
        cost: Any = "hamming",
        loss: Any = None,
    ):
        super().__init__(loss)
        self.names = self._names_of(labels)
        n = checks.whole("labels", labels) if self.names is None else len(self.names)
        known: list = list(range(n)) if self.names is None else self.names
        pairs = [] if forbidden is None else list(forbidden)
        given = list(pairs)
        if scheme is not None:
            if self.names is None:
                raise ValueError(
                    f"scheme={scheme!r} needs the names of the labels: give a list such as "
                    "['O', 'B-PER', 'I-PER'] for labels."
                )
            pairs += forbidden_transitions(known, scheme)
        wall = barrier_of(pairs, known) if pairs else np.zeros((n + 2, n))
        _are_labels(given, known)
        self.register_buffer("wall", torch.from_numpy(wall).float(), persistent=False)
        self.cost = cost
        linear = not isinstance(cost, str) or cost == "hamming"
        if not linear:
            one_of("cost", cost, ("hamming", "zero-one", "spans"))
        table = cost_table(cost if linear else "hamming", known)
        table = torch.from_numpy(np.asarray(table, np.float64)).float()
        self.register_buffer("cost_table", table, persistent=False)
        if not linear and cost == "spans" and self.names is None:
            raise ValueError("cost='spans' needs the names of the labels: give a list.")
        self.transitions = torch.nn.Parameter(torch.empty(n, n))
        self.first = torch.nn.Parameter(torch.empty(n))
        self.last = torch.nn.Parameter(torch.empty(n))
        self.reset_parameters()

    @staticmethod
    def _names_of(labels: Any) -> list | None:
        return _names(labels)

    def reset_parameters(self) -> None:
        """Draw new transitions."""
        for parameter in (self.transitions, self.first, self.last):
            torch.nn.init.uniform_(parameter, -START, START)

    @property
    def n_labels(self) -> int:
        return len(self.transitions)

    def scored(
        self, emissions: Any, truths: Any = None, lengths: Any = None
    ) -> ChainScores:
        """Emissions and transitions as scores of the parts of these sequences."""
        return ChainScores(self, Sequences(emissions, self.n_labels, lengths), truths)

    def extra_repr(self) -> str:
        return f"{self.n_labels} labels"


class ChainScores:
    """What :class:`maxmargin.torch.Scored` is, for sequences."""

    def __init__(self, chain: Chain, sequences: Sequences, truths: Any):
        self.chain, self.sequences = chain, sequences
        emissions = sequences.emissions
        checks.same_device({"emissions": emissions, "the chain": chain.transitions})
        single = emissions.dtype in (torch.float16, torch.bfloat16)
        self.dtype = torch.float32 if single else emissions.dtype
        self.module, device = devices.chains(emissions)
        real = emissions.dtype if device != "cpu" else self.dtype
        self.emissions = emissions.to(device, real)
        self.start = sequences.start.to(device)
        wall, n = chain.wall.to(device), chain.n_labels
        parameters = (chain.transitions, chain.first, chain.last)
        walls = (wall[:n], wall[n], wall[n + 1])
        self.tables = [
            p.to(device, self.dtype) + w.to(self.dtype)
            for p, w in zip(parameters, walls, strict=True)
        ]
        self._refuse_nan()
        numbers = {name: k for k, name in enumerate(chain.names or [])}
        self.truths: Any = None
        if truths is not None:
            self.truths = sequences.labels(truths, numbers).to(device)
        self.partial = self.truths is not None and bool((self.truths == UNKNOWN).any())

    # probabilities ----------------------------------------------------------------------

    def log_partition(self) -> Any:
        return self._given(self._value(self.emissions, None))

    def log_loss(self) -> Any:
        truths = self._need_truths()
        if not self.partial:
            return self._given(self._value(self.emissions, truths))
        emissions = self.emissions.to(self.dtype)  # gradients cancel out
        known = self._value(self._known(emissions), None)
        return self._given(self._value(emissions, None) - known)

    def marginals(self) -> Any:
        emissions = self.emissions.to(self.dtype)  # what is found is as precise
        with torch.no_grad():
            found = self.module.sums(emissions, self.start, *self.tables)
        self._check(found.log_z)
        rows = textbook.Marginals.apply(
            found.marginals, self.start, emissions, *self.tables
        )
        return self.sequences.as_given(rows.to(self._device, self.dtype))

    def entropy(self) -> Any:
        if self.module is cpu:
            return self._given(self.flat().entropy())
        with torch.no_grad():
            self._value(self.emissions, None)  # there is an output of every example
        found = textbook.entropy(self.emissions, self.start, *self.tables)
        return self._given(found)

    def sample(self, n: int = 1, seed: Any = None) -> list[list]:
        self._check(self._value(self.emissions.detach(), None))
        rng = np.random.default_rng(seed)
        scores = [t.detach().cpu() for t in (self.emissions, *self.tables)]
        out = []
        for _ in range(check_k(n)):
            uniform = torch.from_numpy(rng.random(len(scores[0])))
            start, tables = self.sequences.start, scores[1:]
            labels = cpu_sums.sample(scores[0], start, tables, uniform)
            out.append(self.sequences.split(labels, self.chain.names))
        return [list(row) for row in zip(*out, strict=True)]

    # the best ---------------------------------------------------------------------------

    def decode(self) -> list:
        labels = self._best(self.emissions)
        return self.sequences.split(labels, self.chain.names)

    def k_best(self, k: int) -> list[list[tuple[Any, float]]]:
        self._best(self.emissions)
        scores = [t.detach() for t in (self.emissions, *self.tables)]
        labels, values = self.module.k_best(
            scores[0], self.start, *scores[1:], check_k(k)
        )
        rows = [
            self.sequences.split(labels[:, r], self.chain.names)
            for r in range(labels.shape[1])
        ]
        return [
            [(rows[r][i], v) for r, v in enumerate(found) if v > -np.inf]
            for i, found in enumerate(values.tolist())
        ]

    def hinge(
        self, rescaling: str = "margin", costs: Any = None, scale: float = 1.0
    ) -> Any:
        """As :meth:`maxmargin.torch.Scored.hinge`.

        ``costs`` are (tokens, labels) in the shape of the emissions, instead of what the
        chain was made with.
        """
        truths = self._need_truths()
        checks.not_negative("scale", scale)
        linear = not isinstance(self.chain.cost, str) or self.chain.cost == "hamming"
        if rescaling != "margin" or (costs is None and not linear):
            return self.flat().hinge(rescaling, costs, scale)
        if self.partial:
            truths = self._best(self._known(self.emissions)).to(torch.int64)
        if costs is None:
            costs = self.chain.cost_table.to(truths.device)[truths]
        else:
            costs = self._costs(costs, truths)
        added = (scale * costs).to(self.dtype)
        labels = self._best(self.emissions.detach() + added).to(torch.int64)
        n = len(self.sequences)
        losses = torch.zeros(n, dtype=torch.float64, device=truths.device)
        own = added.gather(1, labels[:, None])[:, 0].to(torch.float64)
        owner = torch.from_numpy(self.sequences.owner).to(truths.device)
        losses = losses.index_add(0, owner, own)
        scores = self.emissions, self.start, *self.tables
        best = textbook.score(scores[0], labels, *scores[1:])
        true = textbook.score(scores[0], truths, *scores[1:])
        return self._given(losses + best - checks.possible(true, "the truth of"))

    def perturbed(self, sigma: float = 1.0, samples: int = 8, seed: Any = None) -> Any:
        """As :meth:`maxmargin.torch.Scored.perturbed`."""
        return self.flat().perturbed(sigma, samples, seed)

    def sparse_map(self, tol: float = 1e-9, rounds: int = 200) -> Any:
        """As :meth:`maxmargin.torch.Scored.sparse_map`."""
        return self.flat().sparse_map(tol, rounds)

    # helpers ----------------------------------------------------------------------------

    @functools.cached_property
    def _device(self) -> Any:
        return self.sequences.emissions.device

    def _value(self, emissions, labels) -> Any:
        found = self.module.value(emissions, labels, self.start, *self.tables)
        return self._check(found)

    def _best(self, emissions) -> Any:
        with torch.no_grad():
            tables = [t.detach() for t in self.tables]
            labels, values = self.module.viterbi(
                emissions.detach().contiguous(), self.start, *tables
            )
        self._check(values)
        return labels

    def _check(self, found: Any) -> Any:
        if not bool(torch.isfinite(found.detach()).all()):
            if self.truths is not None and not self.partial:
                scores = self.emissions, self.start, *self.tables
                true = textbook.score(scores[0], self.truths, *scores[1:])
                checks.possible(true, "the truth of")
            what = "what is known of" if self.partial else "every output of"
            checks.possible(found, what)
        return found

    def _refuse_nan(self) -> None:
        """Searches and sums may step over a NaN; sums of numbers do not."""
        with torch.no_grad():
            total = self.emissions.sum() + sum(table.sum() for table in self.tables)
        if bool(total < torch.inf):
            return
        checks.no_nan(self.emissions, self.sequences.owner, "emissions")
        names = ("transitions", "first", "last")
        for name, table in zip(names, self.tables, strict=True):
            table = table.detach()
            if bool((torch.isnan(table) | (table == torch.inf)).any()):
                raise ValueError(f"{name} of the chain hold NaN or +inf.")

    def _need_truths(self) -> Any:
        if self.truths is None:
            raise ValueError(
                "a loss needs the true labels: give them beside emissions."
            )
        return self.truths

    def _given(self, found: Any) -> Any:
        return found.to(self._device, self.dtype)

    def _known(self, emissions: Any) -> Any:
        """Emissions that forbid all but the known labels."""
        known = self.truths != UNKNOWN
        one_hot = torch.nn.functional.one_hot(
            self.truths.clamp(min=0), emissions.shape[1]
        ).bool()
        return emissions.masked_fill(known[:, None] & ~one_hot, -torch.inf)

    def _costs(self, costs: Any, truths: Any) -> Any:
        """Costs of all labels of all tokens, less those of the truth."""
        sizes = self.sequences.sizes
        lengths = None if isinstance(costs, (list, tuple)) else sizes
        given = Sequences(costs, self.chain.n_labels, lengths, "costs")
        if not torch.equal(given.sizes, sizes):
            raise ValueError(
                f"costs are of sequences of {given.sizes.tolist()} tokens, but emissions "
                f"of {sizes.tolist()}."
            )
        costs = given.emissions.detach().to(self.emissions.device)
        costs = costs - costs.gather(1, truths[:, None])
        checks.no_nan(costs, given.owner, "costs")
        return costs

    def flat(self) -> Scored:
        """The same for the bridge: scores of a batch of the contract."""
        batch = batch_of(self.chain, self.sequences, self.truths)
        rows = torch.cat([self.tables[0], *(t[None] for t in self.tables[1:])])
        return Scored(
            wide(self.emissions, batch.width),
            Examples(batch, self._read),
            wide(rows, batch.width),
        )

    def _read(self, i: int, labelling: Any) -> list:
        names = self.chain.names
        labels = labelling.tolist()
        return labels if names is None else [names[k] for k in labels]


def batch_of(chain: Any, sequences: Sequences, truths: Any) -> Any:
    """The batch of a chain; its tokens have no features."""
    y, known = np.zeros(len(sequences.emissions), np.int32), None
    if truths is not None:
        y = truths.clamp(min=0).cpu().numpy().astype(np.int32)
        known = (truths != UNKNOWN).cpu().numpy()
    kind = chain.cost if isinstance(chain.cost, str) else ""
    tokens = TokenMatrix(
        np.zeros(len(y) + 1, np.int64),
        np.zeros(0, np.int32),
        np.zeros(0),
        sequences.start.numpy(),
        0,
    )
    cost = chain.cost_table.cpu().double().numpy()
    wall = chain.wall.cpu().double().numpy()
    spans = span_tables(chain.names) if kind == "spans" else None
    batch = make_batch(tokens, 0, y, cost, wall, kind == "zero-one", np.float64, spans)
    whole = known is None or bool(known.all())
    return batch if whole else partly_known(batch, known)


def wide(rows: Any, width: int) -> Any:
    """Rows as wide as those of kernels, one after the other."""
    more = width - rows.shape[1]
    return torch.nn.functional.pad(rows, (0, more)).reshape(-1)


def _names(labels: Any) -> list | None:
    if isinstance(labels, (int, np.integer)):
        return None
    if isinstance(labels, str) or not isinstance(labels, Sequence):
        raise TypeError(
            f"labels={labels!r} is not possible: give how many there are, or their names."
        )
    names = list(labels)
    if not names or len(set(names)) < len(names):
        raise ValueError("labels must be names that differ, one at least.")
    for k, name in enumerate(names):
        if name is None or isinstance(name, (int, float, np.number)):
            raise TypeError(
                f"labels[{k}] is {name!r}: numbers are for labels without names, and None "
                "for what is not known; give names, or how many labels there are."
            )
    return names


def _are_labels(forbidden: list, labels: list) -> None:
    for pair in forbidden:
        for label in pair:
            if label is not None and label not in labels:
                raise ValueError(
                    f"forbidden holds {pair!r}, but {label!r} is no label of this chain."
                )
