"""Weights of an alignment model to scores of pairs and gaps, and back to features.

Terms (``alignments/features/models.py``) look up one weight for the symbols of a matched
pair. Positions that agree in all tracks have equal symbols in every term without a
window: they form a *class*. A pair of proteins of 300 residues has some 60 classes a
side, so the many terms are summed once per pair of classes, 3600 times instead of
90 000, and the table is spread over positions after that. Terms with windows come in
groups with classes of their own.

Weights of the symbols (a, b) of an ordinary term stand at code_s(a) + code_t(b) in w.
With a *prior* (``alignments/features/prior.py``), what is used at place k is

    scale[k] w[k] + w[factor] prior[k]

so that the feature of the weight w[factor] is the prior score of all parts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.alignments.dp import Gaps
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import inlined, inner


class Side(NamedTuple):
    """All targets, or all templates, one after the other."""

    cuts = cut_by(
        start="example",
        classes=":, start",
        first=lambda first, lo, hi: first[:, lo : hi + 1].copy(),  # into all codes
        dense="start",
        opening=":, start",
        boundary=":, start + 1",
    )

    start: np.ndarray  # int64[N + 1]: positions of sequence e: start[e] .. start[e + 1]
    classes: np.ndarray  # int32[groups, positions]: number of the class in its sequence
    first: np.ndarray  # int64[groups, N + 1]: where the classes of sequence e begin
    codes: np.ndarray  # int32: of every term, its code for every class of its group
    dense: np.ndarray  # (positions, numbers): vectors
    opening: np.ndarray  # int32[views, positions]: weights of a run that begins here
    boundary: np.ndarray  # int32[views, positions + N]: of a run of the other sequence
    extend: int  # weight of every unmatched position


class Terms(NamedTuple):
    """Terms by group, and those over vectors."""

    groups: np.ndarray  # int64[groups + 1]: the terms of group g
    s_codes: np.ndarray  # int64[terms]: where the codes of a term begin in s.codes
    t_codes: np.ndarray
    offset: np.ndarray  # int64[terms], of tied terms
    tied: np.ndarray  # uint8[terms]
    dense: np.ndarray  # int64[dense terms, 7], see dense_row()
    prior: np.ndarray  # [weights]: scores known before training; empty without any
    scale: np.ndarray  # [weights]: by what weights are multiplied beside them
    factor: int  # place of the weight that multiplies them


@inlined
def weight_index(terms, k, a, b):
    """Where the weight of codes a and b in term k stands in w."""
    if terms.tied[k]:
        low, high = min(a, b), max(a, b)
        return terms.offset[k] + high * (high + 1) // 2 + low
    return a + b


@inlined
def weight(terms, w, place):
    """What is used at this place."""
    if len(terms.prior):
        known = w[terms.factor] * terms.prior[place]
        return known + terms.scale[place] * w[place]
    return w[place]


@inlined
def add_weight(terms, w, place, x):
    """Its adjoint."""
    if len(terms.prior):
        w[terms.factor] += x * terms.prior[place]
        x *= terms.scale[place]
    w[place] += x


@inner
def list_prior(terms, index, values, first, m):
    """Scale the parts listed since ``first``, append their prior score; return the end."""
    if len(terms.prior) == 0:
        return m
    total = 0.0
    for k in range(first, m):
        total += values[k] * terms.prior[index[k]]
        values[k] *= terms.scale[index[k]]
    index[m], values[m] = terms.factor, total
    return m + 1


@inner
def class_tables(s, t, terms, e, w):
    """(tables of all groups one after the other, where each begins)."""
    n_groups = len(terms.groups) - 1
    where = np.zeros(n_groups + 1, np.int64)
    for g in range(n_groups):
        rows = s.first[g, e + 1] - s.first[g, e]
        where[g + 1] = where[g] + rows * (t.first[g, e + 1] - t.first[g, e])
    flat = np.zeros(where[-1], w.dtype)
    for g in range(n_groups):
        rows = s.first[g, e + 1] - s.first[g, e]
        columns = t.first[g, e + 1] - t.first[g, e]
        table = flat[where[g] : where[g + 1]].reshape((rows, columns))
        for k in range(terms.groups[g], terms.groups[g + 1]):
            a0 = terms.s_codes[k] + s.first[g, e]
            b0 = terms.t_codes[k] + t.first[g, e]
            right = t.codes[b0 : b0 + columns]
            for a in range(rows):
                code, row = s.codes[a0 + a], table[a]
                if terms.tied[k] or len(terms.prior):
                    for b in range(columns):
                        place = weight_index(terms, k, code, right[b])
                        row[b] += weight(terms, w, place)
                else:
                    for b in range(columns):
                        row[b] += w[code + right[b]]
    return flat, where


@inner
def score_matches(s, t, terms, e, w, norm, match):
    """match[i, j] <- norm * sum of the weights of all terms."""
    flat, where = class_tables(s, t, terms, e, w)
    factor = w.dtype.type(norm)
    for k in range(len(flat)):
        flat[k] *= factor
    n, m = match.shape
    i0, j0 = s.start[e], t.start[e]
    n_groups = len(terms.groups) - 1
    for i in range(n):
        row = match[i]
        for g in range(n_groups):
            width = t.first[g, e + 1] - t.first[g, e]
            begin = where[g] + s.classes[g, i0 + i] * width
            look_up(flat[begin : begin + width], t.classes[g, j0 : j0 + m], row, g)
        if n_groups == 0:
            row[:] = 0
    for d in range(len(terms.dense)):
        score_dense(s, t, terms, d, e, w, factor, match)


@inlined
def look_up(table, classes, row, added):
    if added:
        for j in range(len(row)):
            row[j] += table[classes[j]]
    else:
        for j in range(len(row)):
            row[j] = table[classes[j]]


@inlined
def dense_row(terms, d):
    """(start of s codes or -1, of t codes or -1, columns of s and t, sizes, offset)."""
    r = terms.dense[d]
    return r[0], r[1], r[2], r[3], r[4], r[5], r[6]


@inner
def score_dense(s, t, terms, d, e, w, factor, match):
    """Add term d of those over vectors: x_s' W x_t, where symbols are unit vectors."""
    sc, tc, s_column, t_column, size_s, size_t, offset = dense_row(terms, d)
    n, m = match.shape
    table = w[offset : offset + size_s * size_t].reshape((size_s, size_t))
    left = np.zeros(size_t, w.dtype)  # x_s' W
    for i in range(n):
        p = s.start[e] + i
        if sc >= 0:
            source = table[s.codes[sc + s.first[0, e] + s.classes[0, p]]]
            for b in range(size_t):
                left[b] = source[b] * factor
        else:
            left[:] = 0
            for a in range(size_s):
                x = s.dense[p, s_column + a] * factor
                for b in range(size_t):
                    left[b] += x * table[a, b]
        row = match[i]
        for j in range(m):
            q = t.start[e] + j
            if tc >= 0:
                row[j] += left[t.codes[tc + t.first[0, e] + t.classes[0, q]]]
            else:
                total = w.dtype.type(0)
                for b in range(size_t):
                    total += left[b] * t.dense[q, t_column + b]
                row[j] += total


@inner
def spread_matches(s, t, terms, e, c, match, w):
    """w += c * what score_matches() reads for each pair, weighted by match."""
    n, m = match.shape
    for g in range(len(terms.groups) - 1):
        rows = s.first[g, e + 1] - s.first[g, e]
        columns = t.first[g, e + 1] - t.first[g, e]
        table = np.zeros((rows, columns))
        for i in range(n):
            row, source = table[s.classes[g, s.start[e] + i]], match[i]
            for j in range(m):
                row[t.classes[g, t.start[e] + j]] += c * source[j]
        for k in range(terms.groups[g], terms.groups[g + 1]):
            a0 = terms.s_codes[k] + s.first[g, e]
            b0 = terms.t_codes[k] + t.first[g, e]
            for a in range(rows):
                for b in range(columns):
                    place = weight_index(terms, k, s.codes[a0 + a], t.codes[b0 + b])
                    add_weight(terms, w, place, table[a, b])
    for d in range(len(terms.dense)):
        spread_dense(s, t, terms, d, e, c, match, w)


@inner
def spread_dense(s, t, terms, d, e, c, match, w):
    """W += c * sum_ij match[i, j] x_s(i) x_t(j)' for term d of those over vectors."""
    sc, tc, s_column, t_column, size_s, size_t, offset = dense_row(terms, d)
    n, m = match.shape
    table = w[offset : offset + size_s * size_t].reshape((size_s, size_t))
    right = np.zeros(size_t)  # c * sum_j match[i, j] x_t(j)
    for i in range(n):
        p = s.start[e] + i
        for b in range(size_t):
            right[b] = 0.0
        for j in range(m):
            q, x = t.start[e] + j, c * match[i, j]
            if tc >= 0:
                right[t.codes[tc + t.first[0, e] + t.classes[0, q]]] += x
            else:
                for b in range(size_t):
                    right[b] += x * t.dense[q, t_column + b]
        first, last = 0, size_s
        if sc >= 0:
            first = s.codes[sc + s.first[0, e] + s.classes[0, p]]
            last = first + 1
        for a in range(first, last):
            x = 1.0 if sc >= 0 else s.dense[p, s_column + a]
            for b in range(size_t):
                table[a, b] += x * right[b]


@inner
def spread_gaps(s, t, terms, e, c, gaps, w):
    """w += c * what score_gaps() reads, weighted by gaps."""
    i0, j0 = s.start[e], t.start[e]
    for i in range(len(gaps.open_s)):
        spread_views(terms, s.opening, i0 + i, c * gaps.open_s[i], w)
        add_weight(terms, w, s.extend, c * gaps.extend_s[i])
    for j in range(len(gaps.open_t)):
        spread_views(terms, t.opening, j0 + j, c * gaps.open_t[j], w)
        add_weight(terms, w, t.extend, c * gaps.extend_t[j])
    for i in range(len(gaps.at_s)):
        spread_views(terms, s.boundary, i0 + e + i, c * gaps.at_s[i], w)
    for j in range(len(gaps.at_t)):
        spread_views(terms, t.boundary, j0 + e + j, c * gaps.at_t[j], w)


@inlined
def spread_views(terms, views, position, x, w):
    for v in range(len(views)):
        add_weight(terms, w, views[v, position], x)


@inner
def list_pair(s, t, terms, e, i, j, coefficient, index, values, m):
    """Append the features of the matched pair (i, j) after position m; return the end."""
    p, q = s.start[e] + i, t.start[e] + j
    for g in range(len(terms.groups) - 1):
        a = s.first[g, e] + s.classes[g, p]
        b = t.first[g, e] + t.classes[g, q]
        for k in range(terms.groups[g], terms.groups[g + 1]):
            code_s = s.codes[terms.s_codes[k] + a]
            code_t = t.codes[terms.t_codes[k] + b]
            index[m] = weight_index(terms, k, code_s, code_t)
            values[m] = coefficient
            m += 1
    for d in range(len(terms.dense)):
        sc, tc, s_column, t_column, size_s, size_t, offset = dense_row(terms, d)
        a0, a1 = 0, size_s
        if sc >= 0:
            a0 = s.codes[sc + s.first[0, e] + s.classes[0, p]]
            a1 = a0 + 1
        b0, b1 = 0, size_t
        if tc >= 0:
            b0 = t.codes[tc + t.first[0, e] + t.classes[0, q]]
            b1 = b0 + 1
        for a in range(a0, a1):
            x = coefficient if sc >= 0 else coefficient * s.dense[p, s_column + a]
            for b in range(b0, b1):
                index[m] = offset + a * size_t + b
                values[m] = x if tc >= 0 else x * t.dense[q, t_column + b]
                m += 1
    return m


@inlined
def summed(terms, views, position, w, norm):
    total = 0.0
    for v in range(len(views)):
        total += float(weight(terms, w, views[v, position]))
    return norm * total


@inner
def score_gaps(s, t, terms, e, w, norm, gaps):
    """Fill the arrays of ``gaps`` for sequences e."""
    n, m = len(gaps.open_s), len(gaps.open_t)
    i0, j0 = s.start[e], t.start[e]
    for i in range(n):
        gaps.open_s[i] = summed(terms, s.opening, i0 + i, w, norm)
        gaps.extend_s[i] = norm * weight(terms, w, s.extend)
    for j in range(m):
        gaps.open_t[j] = summed(terms, t.opening, j0 + j, w, norm)
        gaps.extend_t[j] = norm * weight(terms, w, t.extend)
    for i in range(n + 1):
        gaps.at_s[i] = summed(terms, s.boundary, i0 + e + i, w, norm)
    for j in range(m + 1):
        gaps.at_t[j] = summed(terms, t.boundary, j0 + e + j, w, norm)


@inner
def list_gaps(s, t, e, free_s, free_t, y, coefficient, index, values, m):
    """Append the features of the unmatched runs of alignment y; return the end."""
    n, size_t = s.start[e + 1] - s.start[e], t.start[e + 1] - t.start[e]
    i0, j0 = 0, 0
    left_s, left_t = 0, 0  # unmatched positions that cost
    for i in range(n + 1):
        if i < n and y[i] < 0:
            continue
        j = y[i] if i < n else size_t
        outside = i == n or (i0 == 0 and j0 == 0)
        if i > i0 and not (free_s and outside):
            left_s += i - i0
            m = list_run(s.opening, s.start[e] + i0, coefficient, index, values, m)
            m = list_run(t.boundary, t.start[e] + e + j0, coefficient, index, values, m)
        if j > j0 and not (free_t and outside):
            left_t += j - j0
            m = list_run(t.opening, t.start[e] + j0, coefficient, index, values, m)
            m = list_run(s.boundary, s.start[e] + e + i, coefficient, index, values, m)
        if i < n:
            i0, j0 = i + 1, j + 1
    index[m], values[m] = s.extend, coefficient * left_s
    index[m + 1], values[m + 1] = t.extend, coefficient * left_t
    return m + 2


@inlined
def list_run(views, position, coefficient, index, values, m):
    for v in range(len(views)):
        index[m] = views[v, position]
        values[m] = coefficient
        m += 1
    return m


@inlined
def views_of(theta, n, m, free_s, free_t):
    """(match, gaps): the parts of an example inside one row of numbers."""
    flat = theta[0]
    match = flat[: n * m].reshape((n, m))
    a = n * m
    b = a + n
    c = b + m + 1
    d = c + n
    f = d + m
    g = f + n + 1
    gaps = Gaps(
        flat[a:b], flat[b:c], flat[c:d], flat[d:f], flat[f:g], flat[g : g + m],
        free_s, free_t,
    )  # fmt: skip
    return match, gaps


def parts(n: int, m: int) -> int:
    """How many numbers views_of() needs."""
    return n * m + 3 * (n + m) + 2
