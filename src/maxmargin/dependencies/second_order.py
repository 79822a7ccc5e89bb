"""The best projective tree under scores of arcs and of neighbouring modifiers.

Eisner's algorithm as McDonald & Pereira (2006, figure 4) extend it: the span between a
modifier t and the one before it, r, is found first (``between``), so that an arc knows the
sibling of its modifier:

    open[s -> t] = arc[s, t] + max(left[s + 1, t] + cube[s, none, t],
                                   open[s -> r] + between[r, t] + cube[s, r, t])
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.kernel import inlined

RIGHT, LEFT, OPEN_RIGHT, OPEN_LEFT, BETWEEN = range(5)


@inlined
def best_with_siblings(arcs, cube, heads):
    """heads[1 .. n] <- the best tree; cube[h, s, m] is flat, s = h where there is none."""
    n = len(arcs) - 1
    size = n + 1
    right, left = np.zeros((size, size)), np.zeros((size, size))
    open_right, open_left = np.zeros((size, size)), np.zeros((size, size))
    between = np.zeros((size, size))
    at = np.zeros((5, size, size), np.int32)
    for width in range(1, n):
        for s in range(1, n - width + 1):
            t = s + width
            best, where = -np.inf, s
            for r in range(s, t):
                x = right[s, r] + left[r + 1, t]
                if x > best:
                    best, where = x, r
            between[s, t], at[BETWEEN, s, t] = best, where
            open_arcs(arcs, cube, right, left, open_right, open_left, between, at, s, t)
            best, where = -np.inf, t
            for r in range(s + 1, t + 1):
                x = open_right[s, r] + right[r, t]
                if x > best:
                    best, where = x, r
            right[s, t], at[RIGHT, s, t] = best, where
            best, where = -np.inf, s
            for r in range(s, t):
                x = left[s, r] + open_left[r, t]
                if x > best:
                    best, where = x, r
            left[s, t], at[LEFT, s, t] = best, where
    best, root = -np.inf, 1
    for r in range(1, n + 1):
        x = left[1, r] + right[r, n] + arcs[0, r] + cube[r]
        if x > best:
            best, root = x, r
    heads[root] = 0
    follow_spans(at, root, heads)
    return best


@inlined
def open_arcs(arcs, cube, right, left, open_right, open_left, between, at, s, t):
    """The best spans with an arc between both ends, and the siblings of these arcs."""
    size = len(arcs)
    best, where = left[s + 1, t] + cube[(s * size + s) * size + t], s
    for r in range(s + 1, t):
        x = open_right[s, r] + between[r, t] + cube[(s * size + r) * size + t]
        if x > best:
            best, where = x, r
    open_right[s, t], at[OPEN_RIGHT, s, t] = best + arcs[s, t], where
    best, where = right[s, t - 1] + cube[(t * size + t) * size + s], t
    for r in range(s + 1, t):
        x = between[s, r] + open_left[r, t] + cube[(t * size + r) * size + s]
        if x > best:
            best, where = x, r
    open_left[s, t], at[OPEN_LEFT, s, t] = best + arcs[t, s], where


@inlined
def follow_spans(at, root, heads):
    """Take the spans below the root apart: (begin, end, kind), one on top of another."""
    n = len(heads) - 1
    stack = np.empty((3 * n + 6, 3), np.int64)
    put(stack, 0, 1, root, LEFT)
    put(stack, 1, root, n, RIGHT)
    size = 2
    while size > 0:
        size -= 1
        s, t, kind = stack[size]
        if s == t:
            continue
        r = at[kind, s, t]
        if kind == RIGHT:
            put(stack, size, s, r, OPEN_RIGHT)
            put(stack, size + 1, r, t, RIGHT)
        elif kind == LEFT:
            put(stack, size, s, r, LEFT)
            put(stack, size + 1, r, t, OPEN_LEFT)
        elif kind == BETWEEN:
            put(stack, size, s, r, RIGHT)
            put(stack, size + 1, r + 1, t, LEFT)
        elif kind == OPEN_RIGHT:
            heads[t] = s
            put(stack, size, s, r, OPEN_RIGHT)
            if r == s:
                put(stack, size + 1, s + 1, t, LEFT)
            else:
                put(stack, size + 1, r, t, BETWEEN)
        else:
            heads[s] = t
            put(stack, size, r, t, OPEN_LEFT)
            if r == t:
                put(stack, size + 1, s, t - 1, RIGHT)
            else:
                put(stack, size + 1, s, r, BETWEEN)
        size += 2


@inlined
def put(stack, size, s, t, kind):
    stack[size, 0], stack[size, 1], stack[size, 2] = s, t, kind
