"""The searches of ``chains.py`` as operators of torch."""

from __future__ import annotations

import torch
import triton

from maxmargin.torch.triton.k_best import best_lists
from maxmargin.torch.triton.launching import HELD, chunk, on_its_device, places, warps
from maxmargin.torch.triton.viterbi import best_labels

TABLE = "Tensor emissions, Tensor start, Tensor transitions, Tensor first, Tensor last"


@on_its_device
def best_of(emissions, start, transitions, first, last):
    n_tokens, n_labels = emissions.shape
    examples = len(start) - 1
    small = torch.uint8 if n_labels <= 256 else torch.int16
    labels = start.new_empty(n_tokens, dtype=torch.int32)
    scores = emissions.new_empty(examples, dtype=torch.float32)
    if examples:
        places_ = places(n_labels)
        held = places_ <= HELD
        best_labels[(examples,)](
            emissions, start, transitions, first, last,
            labels.new_empty((n_tokens, n_labels), dtype=small),
            scores.new_empty(0 if held else (examples, n_labels)), labels, scores,
            K=n_labels, P=places_, C=places_ if held else chunk(places_),
            num_warps=warps(places_),
        )  # fmt: skip
    return labels, scores


chain_viterbi = torch.library.custom_op(
    "maxmargin::chain_viterbi",
    best_of,
    mutates_args=(),
    schema=f"({TABLE}) -> (Tensor, Tensor)",
)


@chain_viterbi.register_fake
def _(emissions, start, transitions, first, last):
    scores = emissions.new_empty(start.shape[0] - 1, dtype=torch.float32)
    return start.new_empty(emissions.shape[0], dtype=torch.int32), scores


@on_its_device
def k_best_of(emissions, start, transitions, first, last, k):
    n_tokens, n_labels = emissions.shape
    examples = len(start) - 1
    labels = start.new_empty((n_tokens, k), dtype=torch.int32)
    scores = emissions.new_empty((examples, k), dtype=torch.float32)
    if examples:
        places_ = places(n_labels)
        best_lists[(examples,)](
            emissions, start, transitions, first, last,
            labels.new_empty((n_tokens, k, n_labels)),
            scores.new_empty((examples, 2, k, n_labels)), labels, scores, k,
            K=n_labels, P=places_, C=chunk(places_), Q=triton.next_power_of_2(k),
            num_warps=warps(places_),
        )  # fmt: skip
    return labels, scores


chain_k_best = torch.library.custom_op(
    "maxmargin::chain_k_best",
    k_best_of,
    mutates_args=(),
    schema=f"({TABLE}, int k) -> (Tensor, Tensor)",
)


@chain_k_best.register_fake
def _(emissions, start, transitions, first, last, k):
    scores = emissions.new_empty((start.shape[0] - 1, k), dtype=torch.float32)
    return start.new_empty((emissions.shape[0], k), dtype=torch.int32), scores
