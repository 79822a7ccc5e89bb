"""What a trained network says of sequences: the best labels, shares, ranks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from maxmargin.core.jobs import effective_jobs
from maxmargin.core.structure import Outputs
from maxmargin.neural.batches import batch_of, in_order
from maxmargin.neural.tokens import Tokens
from maxmargin.neural.training import threads


def decode(tagger: Any, tokens: Tokens, known: Any = None) -> list[list[Any]]:
    """The best labels; ``known`` has the numbers of labels, -1 where they are not."""
    out: list[list] = [[] for _ in range(len(tokens))]
    for sequences, emissions, lengths, chain in _scored(tagger, tokens):
        if known is not None:
            emissions = _given(emissions, known[tokens.places(sequences)])
        found = chain.decode(emissions, lengths)
        for i, labels in zip(sequences.tolist(), found, strict=True):
            out[i] = labels
    return Outputs(out)


def k_best(tagger: Any, tokens: Tokens, k: int) -> list[list[tuple[list, float]]]:
    out: list[list] = [[([], 0.0)] for _ in range(len(tokens))]
    for sequences, emissions, lengths, chain in _scored(tagger, tokens):
        found = chain.k_best(emissions, lengths, k=k)
        for i, ranked in zip(sequences.tolist(), found, strict=True):
            out[i] = ranked
    return out


def marginals(tagger: Any, tokens: Tokens) -> list[np.ndarray]:
    count = len(tagger.classes_)
    out = [np.zeros((0, count), np.float32) for _ in range(len(tokens))]
    for sequences, emissions, lengths, chain in _scored(tagger, tokens):
        flat = chain.marginals(emissions, lengths=lengths).cpu().numpy()
        ends = np.cumsum([0, *lengths]).tolist()
        for i, (a, b) in zip(sequences.tolist(), pairwise(ends), strict=True):
            out[i] = flat[a:b]
    return out


def _scored(tagger: Any, tokens: Tokens) -> Iterator[tuple]:
    """(sequences, their emissions, lengths, the chain), some at a time."""
    network = tagger.network_
    check_possible(network.chain, tokens.sizes)
    training = network.training
    network.eval()
    try:
        with threads(effective_jobs(tagger.n_jobs)), torch.no_grad():
            for sequences in in_order(tokens):
                batch = batch_of(tokens, sequences, network.device)
                yield sequences, network(batch), batch.lengths, network.chain
    finally:
        network.train(training)


def _given(emissions: Any, known: np.ndarray) -> Any:
    """Emissions that forbid all but the known labels."""
    number = torch.from_numpy(known).to(emissions.device)
    others = (
        torch.arange(emissions.shape[1], device=emissions.device) != number[:, None]
    )
    return emissions.masked_fill(others & (number >= 0)[:, None], -torch.inf)


def check_possible(chain: Any, sizes: np.ndarray) -> None:
    """Forbidden transitions may leave no sequence of some length."""
    wall = chain.wall.cpu().numpy()
    if not np.isinf(wall).any() or not len(sizes):
        return
    free, k = np.isfinite(wall), chain.n_labels
    reached = free[k]
    possible = [True, bool((reached & free[k + 1]).any())]
    for _ in range(int(sizes.max()) - 1):
        reached = (reached[:, None] & free[:k]).any(axis=0)
        possible.append(bool((reached & free[k + 1]).any()))
    for i, size in enumerate(sizes.tolist()):
        if not possible[size]:
            raise ValueError(
                f"sequence {i} has {size} tokens, and the forbidden transitions leave no "
                "label sequence of that length: allow more."
            )
