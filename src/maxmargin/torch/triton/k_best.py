"""The k best labellings of chains, one program per sequence.

A list of each label's k best prefixes is kept, best first. The candidates of the next
token's label are all prefixes (rank q, label i) plus the transition from i; they are
ordered by score, then by q and i. The r-th of them is found as the best one that comes
after the one before, so that no list needs to be sorted; its rank q is at most r.
"""

from __future__ import annotations

import triton
import triton.language as tl

from maxmargin.torch.triton.chain_sums import NONE, finite, row_of


@triton.jit
def next_best(
    lists,
    transitions,
    r,
    score,
    place,
    k,
    K: tl.constexpr,
    P: tl.constexpr,
    C: tl.constexpr,
):
    """(score, place q K + i) of each label's best candidate after (score, place)."""
    best = tl.full((P,), NONE, tl.float32)
    arg = tl.zeros((P,), tl.int32)
    q = 0
    while q <= r:
        for j in range(0, P, C):
            c = j + tl.arange(0, C)
            there = (c < K)[:, None] & (k < K)[None, :]
            at = transitions + c[:, None] * K + k[None, :]
            x = tl.load(at, mask=there, other=NONE)
            x += tl.load(lists + q * K + c, mask=c < K, other=NONE)[:, None]
            later = (q * K + c)[:, None] > place[None, :]
            x = tl.where((x < score) | ((x == score) & later), x, NONE)
            one, i = tl.max(x, 0, return_indices=True)
            arg = tl.where(one > best, q * K + j + i, arg)
            best = tl.maximum(best, one)
        q += 1
    return best, arg


@triton.jit
def best_ends(
    lists, last, total, scores, ranks, K: tl.constexpr, P: tl.constexpr, Q: tl.constexpr
):
    """Places of the best labellings, -1 where there are no more; their scores."""
    q, k = tl.arange(0, Q), tl.arange(0, P)
    x = tl.load(last + k, mask=k < K, other=NONE)[None, :]
    there = (q < ranks)[:, None] & (k < K)[None, :]
    x += tl.load(lists + q[:, None] * K + k[None, :], mask=there, other=NONE)
    place = q[:, None] * P + k[None, :]
    places = tl.full((Q,), -1, tl.int32)
    r = 0
    while r < ranks:
        one = tl.max(tl.max(x, 1), 0)
        found = tl.min(tl.min(tl.where(x == one, place, Q * P), 1), 0)
        tl.store(scores + r, (total + one.to(tl.float64)).to(tl.float32))
        own = (found // P) * K + found % P
        places = tl.where(q == r, tl.where(one > NONE, own, -1), places)
        x = tl.where(place == found, NONE, x)
        r += 1
    return places


@triton.jit(do_not_specialize=["ranks"])
def best_lists(
    emissions,
    start,
    transitions,
    first,
    last,
    back,
    room,
    labels,
    scores,
    ranks,
    K: tl.constexpr,
    P: tl.constexpr,
    C: tl.constexpr,
    Q: tl.constexpr,
):
    """Grid (examples,). labels (tokens, ranks), -1 where there are no more labellings.

    back (tokens, ranks, K) holds places; room (examples, 2, ranks, K) the lists of two
    tokens.
    """
    b = tl.program_id(0)
    lo = tl.load(start + b)
    n = (tl.load(start + b + 1) - lo).to(tl.int32)
    q, k = tl.arange(0, Q), tl.arange(0, P)
    scores = scores + b * ranks
    if n == 0:
        tl.store(scores + q, tl.where(q == 0, 0.0, NONE), mask=q < ranks)
        return
    width = ranks * K
    room = room + b.to(tl.int64) * 2 * width
    v = row_of(emissions, lo, 0, n, k, K)
    v += tl.load(first + k, mask=k < K, other=NONE)
    total = tl.zeros((), tl.float64)
    there = (q < ranks)[:, None] & (k < K)[None, :]
    v = tl.where((q == 0)[:, None], v[None, :], NONE)
    tl.store(room + q[:, None] * K + k[None, :], v, mask=there)
    t = 1
    while t < n:
        tl.debug_barrier()
        lists = room + ((t - 1) % 2) * width
        x = row_of(emissions, lo, t, n, k, K)
        score = tl.full((P,), float("inf"), tl.float32)
        place = tl.full((P,), -1, tl.int32)
        top = tl.zeros((), tl.float32)
        r = 0
        while r < ranks:
            score, place = next_best(lists, transitions, r, score, place, k, K, P, C)
            if r == 0:
                top = finite(tl.max(score + x, 0))
                total += top.to(tl.float64)
            out = room + (t % 2) * width + r * K + k
            tl.store(out, score + x - top, mask=k < K)
            tl.store(back + ((lo + t) * ranks + r) * K + k, place, mask=k < K)
            r += 1
        t += 1
    tl.debug_barrier()
    lists = room + ((n - 1) % 2) * width
    places = best_ends(lists, last, total, scores, ranks, K, P, Q)
    t = n - 1
    while t >= 0:
        found = (q < ranks) & (places >= 0)
        own = tl.where(found, places % K, -1)
        tl.store(labels + (lo + t) * ranks + q, own, mask=q < ranks)
        if t > 0:
            at = back + ((lo + t) * ranks + places // K) * K + own
            places = tl.load(at, mask=found, other=-1)
        t -= 1
