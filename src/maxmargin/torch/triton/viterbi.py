"""Best labellings of chains: one program per sequence, there and back again.

    best_t(k) = e_t(k) + max_j (best_{t-1}(j) + T(j, k)),

the first of equal labels. Where the table of transitions is larger than the registers, it
is read in chunks of C rows, and the scores of the step before come back from memory.
"""

from __future__ import annotations

import triton
import triton.language as tl

from maxmargin.torch.triton.chain_sums import NONE, finite, row_of

OFTEN = tl.constexpr(15)  # after 16 tokens, scores are brought back to near zero


@triton.jit
def step_in_chunks(
    v, room, transitions, k, K: tl.constexpr, P: tl.constexpr, C: tl.constexpr
):
    """(best score of each label from the labels before, which one)."""
    tl.store(room + k, v, mask=k < K)
    tl.debug_barrier()
    best = tl.full((P,), NONE, tl.float32)
    arg = tl.zeros((P,), tl.int32)
    for j in range(0, P, C):
        c = j + tl.arange(0, C)
        there = (c < K)[:, None] & (k < K)[None, :]
        at = transitions + c[:, None] * K + k[None, :]
        x = tl.load(at, mask=there, other=NONE)
        x += tl.load(room + c, mask=c < K, other=NONE)[:, None]
        one, i = tl.max(x, 0, return_indices=True)
        arg = tl.where(one > best, i + j, arg)
        best = tl.maximum(best, one)
    tl.debug_barrier()
    return best, arg


@triton.jit
def best_labels(
    emissions,
    start,
    transitions,
    first,
    last,
    back,
    room,
    labels,
    scores,
    K: tl.constexpr,
    P: tl.constexpr,
    C: tl.constexpr,
):
    """Grid (examples,). back (tokens, K): the best label before; room (examples, K)."""
    b = tl.program_id(0)
    lo = tl.load(start + b)
    n = (tl.load(start + b + 1) - lo).to(tl.int32)
    if n == 0:
        tl.store(scores + b, 0.0)
        return
    k = tl.arange(0, P)
    if C == P:
        there = (k < K)[:, None] & (k < K)[None, :]
        table = tl.load(
            transitions + k[:, None] * K + k[None, :], mask=there, other=NONE
        )
    v = row_of(emissions, lo, 0, n, k, K)
    v += tl.load(first + k, mask=k < K, other=NONE)
    total = tl.zeros((), tl.float64)
    x = row_of(emissions, lo, 1, n, k, K)
    t = 1
    while t < n:
        x_next = row_of(emissions, lo, t + 1, n, k, K)
        if C == P:
            best, arg = tl.max(table + v[:, None], 0, return_indices=True)
        else:
            best, arg = step_in_chunks(v, room + b * K, transitions, k, K, P, C)
        at = back + (lo + t) * K + k
        tl.store(at, arg.to(back.dtype.element_ty), mask=k < K)
        v = best + x
        if (t & OFTEN) == OFTEN:
            top = finite(tl.max(v, 0))
            v -= top
            total += top.to(tl.float64)
        x = x_next
        t += 1
    v += tl.load(last + k, mask=k < K, other=NONE)
    best, y = tl.max(v, 0, return_indices=True)
    tl.store(scores + b, (total + best.to(tl.float64)).to(tl.float32))
    tl.store(labels + lo + n - 1, y)
    tl.debug_barrier()
    t = n - 1
    while t > 0:
        y = tl.load(back + (lo + t) * K + y).to(tl.int32)
        t -= 1
        tl.store(labels + lo + t, y)
