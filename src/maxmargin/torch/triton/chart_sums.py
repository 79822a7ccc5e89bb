"""Inside and outside sums over binary trees, one launch per width of span.

Everything is in log space. A cell (i, j) of a chart holds log alpha less its largest
value, and that value in double precision in ``scale``, so that long sentences lose no
digits. With l, r the two children's symbols and a the parent's,

    X(l, r)  = log sum_k exp(alpha(i, k, l) + alpha(k, j, r))
    alpha(a) = span(i, j, a) + log sum_{l,r} exp(R(a, l, r) + X(l, r)).

Outside, the probability g(i, j, a) of a symbol goes down to what it was made of:

    P(a -> l r over i, j) = g(a) exp(R(a, l, r) + X(l, r) + span(i, j, a) - alpha(a)),

summed over spans for the rules, over a for the children, where it is divided among the
splits k in proportion to exp(alpha(i, k, l) + alpha(k, j, r)).
"""

from __future__ import annotations

import triton
import triton.language as tl

from maxmargin.torch.triton.chain_sums import NONE, finite


@triton.jit
def cell(b, i, j, N):
    """Number of a cell of charts (examples, N, N + 1)."""
    return (b * N + i).to(tl.int64) * (N + 1) + j


@triton.jit
def log_alpha(alpha, at, k, S: tl.constexpr):
    return tl.load(alpha + at * S + k, mask=k < S, other=NONE)


@triton.jit
def pair_scores(alpha, left, right, k, shift, S: tl.constexpr):
    """alpha(left) + alpha(right) + shift, children by children."""
    rows = log_alpha(alpha, left, k, S)
    columns = log_alpha(alpha, right, k, S)
    return rows[:, None] + columns[None, :] + shift


@triton.jit
def split_sums(alpha, scale, b, i, j, N, S: tl.constexpr, P: tl.constexpr):
    """(X less a number, that number)."""
    k = tl.arange(0, P)
    high = tl.zeros((), tl.float64) + NONE
    m = i + 1
    while m < j:
        left, right = cell(b, i, m, N), cell(b, m, j, N)
        high = tl.maximum(high, tl.load(scale + left) + tl.load(scale + right))
        m += 1
    top = tl.full((P, P), NONE, tl.float32)
    m = i + 1
    while m < j:
        left, right = cell(b, i, m, N), cell(b, m, j, N)
        shift = tl.load(scale + left) + tl.load(scale + right) - high
        x = pair_scores(alpha, left, right, k, shift.to(tl.float32), S)
        top = tl.maximum(top, x)
        m += 1
    least = finite(top)
    total = tl.zeros((P, P), tl.float32)
    m = i + 1
    while m < j:
        left, right = cell(b, i, m, N), cell(b, m, j, N)
        shift = tl.load(scale + left) + tl.load(scale + right) - high
        x = pair_scores(alpha, left, right, k, shift.to(tl.float32), S)
        total += tl.exp(x - least)
        m += 1
    return tl.where(total > 0.0, least + tl.log(total), NONE), high


@triton.jit
def rule_scores(rules, a, k, S: tl.constexpr):
    there = (k < S)[:, None] & (k < S)[None, :]
    at = rules + (a * S + k[:, None]) * S + k[None, :]
    return tl.load(at, mask=there, other=NONE)


@triton.jit(do_not_specialize=["width", "N"])
def inside_width(
    spans,
    rules,
    lengths,
    alpha,
    scale,
    width,
    N,
    SPANS: tl.constexpr,
    A: tl.constexpr,
    S: tl.constexpr,
    P: tl.constexpr,
):
    """Grid (examples, N - width + 1): the cells of one width, of narrower ones."""
    b, i = tl.program_id(0), tl.program_id(1)
    j = i + width
    if j > tl.load(lengths + b):
        return
    at = cell(b, i, j, N)
    x, high = split_sums(alpha, scale, b, i, j, N, S, P)
    k = tl.arange(0, P)
    a = 0
    while a < A:
        y = rule_scores(rules, a, k, S) + x
        top = finite(tl.max(tl.max(y, 1), 0))
        y = top + tl.log(tl.sum(tl.sum(tl.exp(y - top), 1), 0))
        if SPANS:
            y += tl.load(spans + at * A + a)
        tl.store(alpha + at * S + a, y)
        a += 1
    tl.debug_barrier()
    y = tl.load(alpha + at * S + k, mask=k < A, other=NONE)
    top = finite(tl.max(y, 0))
    tl.debug_barrier()
    tl.store(alpha + at * S + k, y - top, mask=k < A)
    tl.store(scale + at, high + top.to(tl.float64))


@triton.jit(do_not_specialize=["N"])
def inside_top(
    roots,
    lengths,
    alpha,
    scale,
    result,
    N,
    A: tl.constexpr,
    S: tl.constexpr,
    P: tl.constexpr,
):
    """Grid (examples,). log Z; zero for a sentence without words."""
    b = tl.program_id(0)
    n = tl.load(lengths + b)
    if n == 0:
        tl.store(result + b, 0.0)
        return
    k = tl.arange(0, P)
    at = cell(b, 0, n, N)
    x = tl.load(alpha + at * S + k, mask=k < A, other=NONE)
    x += tl.load(roots + k, mask=k < A, other=NONE)
    top = finite(tl.max(x, 0))
    log_z = tl.load(scale + at) + top + tl.log(tl.sum(tl.exp(x - top), 0))
    tl.store(result + b, log_z.to(tl.float32))


@triton.jit(do_not_specialize=["N"])
def outside_top(
    roots,
    lengths,
    alpha,
    coefficient,
    g,
    tops,
    N,
    A: tl.constexpr,
    S: tl.constexpr,
    P: tl.constexpr,
):
    """Grid (examples,). Probabilities of the roots, in g and in tops (examples, A)."""
    b = tl.program_id(0)
    n = tl.load(lengths + b)
    k = tl.arange(0, P)
    if n == 0:
        tl.store(tops + b * A + k, tl.zeros((P,), tl.float32), mask=k < A)
        return
    at = cell(b, 0, n, N)
    x = tl.load(alpha + at * S + k, mask=k < A, other=NONE)
    x += tl.load(roots + k, mask=k < A, other=NONE)
    p = tl.exp(x - finite(tl.max(x, 0)))
    total = tl.sum(p, 0)
    p = tl.where(total > 0.0, p / total, 0.0) * tl.load(coefficient + b)
    tl.store(g + at * S + k, p, mask=k < A)
    tl.store(tops + b * A + k, p, mask=k < A)


@triton.jit(do_not_specialize=["width", "N"])
def splits_width(
    lengths, alpha, scale, room, width, N, S: tl.constexpr, P: tl.constexpr
):
    """Grid (examples, N - width + 1). room (cells, S, S): X less the scale of its cell."""
    b, i = tl.program_id(0), tl.program_id(1)
    if i + width > tl.load(lengths + b):
        return
    x, high = split_sums(alpha, scale, b, i, i + width, N, S, P)
    x += (high - tl.load(scale + cell(b, i, i + width, N))).to(tl.float32)
    k = tl.arange(0, P)
    there = (k < S)[:, None] & (k < S)[None, :]
    own = (b * tl.num_programs(1) + i).to(tl.int64) * S
    tl.store(room + (own + k[:, None]) * S + k[None, :], x, mask=there)


@triton.jit
def rule_parts(
    spans,
    rules,
    alpha,
    g,
    x,
    at,
    a,
    k,
    SPANS: tl.constexpr,
    A: tl.constexpr,
    S: tl.constexpr,
):
    """P(a -> l r) over one cell, times the coefficient of the example."""
    share = tl.load(g + at * S + a)
    less = finite(tl.load(alpha + at * S + a))
    if SPANS:
        less -= tl.load(spans + at * A + a)
    less = tl.where(share == 0.0, 0.0, less)
    p = tl.exp(rule_scores(rules, a, k, S) + x - less)
    return tl.where(share == 0.0, 0.0, p * share)


@triton.jit
def kept_splits(room, own, k, S: tl.constexpr):
    there = (k < S)[:, None] & (k < S)[None, :]
    at = room + (own.to(tl.int64) * S + k[:, None]) * S + k[None, :]
    return tl.load(at, mask=there, other=NONE)


@triton.jit(do_not_specialize=["width", "N", "cells"])
def rules_width(
    spans,
    rules,
    lengths,
    alpha,
    g,
    room,
    parts,
    width,
    N,
    cells,
    SPANS: tl.constexpr,
    A: tl.constexpr,
    S: tl.constexpr,
    P: tl.constexpr,
):
    """Grid (A, programs). parts (programs, A, S, S) += the rules of the cells."""
    a = tl.program_id(0)
    n = N - width + 1
    k = tl.arange(0, P)
    found = tl.zeros((P, P), tl.float32)
    q = tl.program_id(1)
    while q < cells:
        b, i = q // n, q % n
        if i + width <= tl.load(lengths + b):
            x = kept_splits(room, q, k, S)
            at = cell(b, i, i + width, N)
            found += rule_parts(spans, rules, alpha, g, x, at, a, k, SPANS, A, S)
        q += tl.num_programs(1)
    there = (k < S)[:, None] & (k < S)[None, :]
    out = parts + ((tl.program_id(1) * A + a).to(tl.int64) * S + k[:, None]) * S
    before = tl.load(out + k[None, :], mask=there, other=0.0)
    tl.store(out + k[None, :], before + found, mask=there)


@triton.jit(do_not_specialize=["width", "N"])
def children_width(
    spans,
    rules,
    lengths,
    alpha,
    scale,
    g,
    room,
    width,
    N,
    SPANS: tl.constexpr,
    A: tl.constexpr,
    S: tl.constexpr,
    P: tl.constexpr,
):
    """Grid (examples, N - width + 1). g of narrower cells += what comes from this width."""
    b, i = tl.program_id(0), tl.program_id(1)
    j = i + width
    if j > tl.load(lengths + b):
        return
    at = cell(b, i, j, N)
    k = tl.arange(0, P)
    x = kept_splits(room, b * tl.num_programs(1) + i, k, S)
    both = tl.zeros((P, P), tl.float32)
    a = 0
    while a < A:
        both += rule_parts(spans, rules, alpha, g, x, at, a, k, SPANS, A, S)
        a += 1
    less = finite(x)
    m = i + 1
    while m < j:
        left, right = cell(b, i, m, N), cell(b, m, j, N)
        shift = tl.load(scale + left) + tl.load(scale + right) - tl.load(scale + at)
        y = pair_scores(alpha, left, right, k, shift.to(tl.float32), S)
        p = both * tl.exp(y - less)
        tl.atomic_add(g + left * S + k, tl.sum(p, 1), mask=k < S)
        tl.atomic_add(g + right * S + k, tl.sum(p, 0), mask=k < S)
        m += 1
