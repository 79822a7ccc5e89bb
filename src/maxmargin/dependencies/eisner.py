"""The best projective tree: Eisner's algorithm (1996), O(n^3).

Spans of words s .. t are *complete* (all modifiers on that side are there) with the head
at either end, or *incomplete* (an arc between both ends). The root has one modifier r,

    complete left of r  +  complete right of r  +  arc[0, r]

so that every tree has exactly one root. Tables are kept twice where the other order of
indices makes a loop run along memory.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.kernel import inlined


@inlined
def best_projective(arcs, heads):
    """heads[1 .. n] <- the best tree under arcs[h, m]; returns its score."""
    n = len(arcs) - 1
    right, right_t = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))  # head left
    left, left_t = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))  # head right
    open_right, open_left_t = np.zeros((n + 1, n + 1)), np.zeros((n + 1, n + 1))
    join = np.zeros((n + 1, n + 1), np.int32)  # where an incomplete span is split
    to_right = np.zeros((n + 1, n + 1), np.int32)  # the last modifier on that side
    to_left = np.zeros((n + 1, n + 1), np.int32)
    for width in range(1, n):
        for s in range(1, n - width + 1):
            t = s + width
            best, at = -np.inf, s
            for r in range(s, t):
                x = right[s, r] + left_t[t, r + 1]
                if x > best:
                    best, at = x, r
            join[s, t] = at
            open_right[s, t] = best + arcs[s, t]
            open_left_t[t, s] = best + arcs[t, s]
            best, at = -np.inf, t
            for r in range(s + 1, t + 1):
                x = open_right[s, r] + right_t[t, r]
                if x > best:
                    best, at = x, r
            right[s, t] = right_t[t, s] = best
            to_right[s, t] = at
            best, at = -np.inf, s
            for r in range(s, t):
                x = left[s, r] + open_left_t[t, r]
                if x > best:
                    best, at = x, r
            left[s, t] = left_t[t, s] = best
            to_left[s, t] = at
    best, root = -np.inf, 1
    for r in range(1, n + 1):
        x = left[1, r] + right[r, n] + arcs[0, r]
        if x > best:
            best, root = x, r
    heads[root] = 0
    follow(join, to_left, to_right, root, heads)
    return best


@inlined
def follow(join, to_left, to_right, root, heads):
    """Take the spans below the root apart: (begin, end, kind), one on top of another."""
    n = len(heads) - 1
    stack = np.empty((2 * n + 4, 3), np.int64)
    push(stack, 0, 1, root, 1)
    push(stack, 1, root, n, 0)
    size = 2
    while size > 0:
        size -= 1
        s, t, kind = stack[size]
        if s == t:
            continue
        if kind == 0:  # complete, the head is s
            m = to_right[s, t]
            heads[m] = s
            push(stack, size, m, t, 0)
            push(stack, size + 1, s, join[s, m], 0)
            push(stack, size + 2, join[s, m] + 1, m, 1)
        else:
            m = to_left[s, t]
            heads[m] = t
            push(stack, size, s, m, 1)
            push(stack, size + 1, m, join[m, t], 0)
            push(stack, size + 2, join[m, t] + 1, t, 1)
        size += 3


@inlined
def push(stack, size, s, t, kind):
    stack[size, 0], stack[size, 1], stack[size, 2] = s, t, kind
