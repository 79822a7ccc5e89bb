"""Small alignments, all of them, and random batches of pairs."""

import itertools

import numpy as np

from maxmargin.alignments.features.arrays import encode_sides, entries_of
from maxmargin.alignments.features.settings import make_model
from maxmargin.alignments.pair_alignments import make_batch


def marginals(match, gaps):
    """(log Z, expected matches) under these scores."""
    from maxmargin.alignments.sums import sum_alignments

    runs = [0.0 * part for part in gaps[:6]]
    found = np.zeros(match.shape)
    runs = type(gaps)(*runs, *gaps[6:])
    total = sum_alignments(match, gaps, len(match), 0, found, runs)
    return total, found


def all_alignments(n, m):
    """Every increasing set of pairs, as labellings of n slots."""
    for k in range(min(n, m) + 1):
        for left in itertools.combinations(range(n), k):
            for right in itertools.combinations(range(m), k):
                y = np.full(n, -1, np.int32)
                y[list(left)] = right
                yield y


def enumerate_alignments(batch, i):
    n = int(batch.start[i + 1] - batch.start[i])
    m = int(batch.t.start[i + 1] - batch.t.start[i])
    yield from all_alignments(n, m)


def plain_score(match, gaps, y):
    """The definition, written down as directly as possible."""
    n, m = match.shape
    pairs = [(-1, -1), *[(i, int(j)) for i, j in enumerate(y) if j >= 0], (n, m)]
    total = sum(match[i, j] for i, j in pairs[1:-1])
    for k, ((i0, j0), (i1, j1)) in enumerate(itertools.pairwise(pairs)):
        at_end = k in (0, len(pairs) - 2)
        if i1 - i0 > 1 and not (at_end and gaps.free_s):
            total += gaps.open_s[i0 + 1] + gaps.at_t[j0 + 1]
            total += gaps.extend_s[i0 + 1 : i1].sum()
        if j1 - j0 > 1 and not (at_end and gaps.free_t):
            total += gaps.open_t[j0 + 1] + gaps.at_s[i1]
            total += gaps.extend_t[j0 + 1 : j1].sum()
    return total


TRACKS = {"residue": "ab", "ss": {"target": "HC", "template": "HCE"}}


def random_sequences(rng, sizes, side, dense=0):
    out = []
    for n in sizes:
        tracks = {"residue": "".join(rng.choice(list("ab"), n))}
        tracks["ss"] = "".join(rng.choice(list("HC" if side == 0 else "HCE"), n))
        if dense:
            tracks["profile"] = rng.normal(size=(n, dense))
        out.append(tracks)
    return out


def random_alignment(rng, n, m):
    k = rng.integers(0, min(n, m) + 1)
    y = np.full(n, -1, np.int32)
    left = np.sort(rng.choice(n, k, replace=False))
    y[left] = np.sort(rng.choice(m, k, replace=False))
    return y


def random_batch(seed, sizes=((3, 4), (1, 2), (4, 3)), loss=0, free=(0, 0), **settings):
    """A batch of pairs with random symbols, references and masks; and its model."""
    rng = np.random.default_rng(seed)
    settings = {"model": "simple", "alphabet": TRACKS, **settings}
    model = make_model(**settings)
    width = model.dense.get("profile", 0)
    targets = random_sequences(rng, [n for n, _ in sizes], 0, width)
    templates = random_sequences(rng, [m for _, m in sizes], 1, width)
    s, t, terms = encode_sides(model, targets, templates)
    y = np.concatenate([random_alignment(rng, n, m) for n, m in sizes])
    counts = rng.random(len(y)) < (0.7 if rng.random() < 0.5 else 1.1)
    norm = 1.0 / np.array([n + m for n, m in sizes])
    batch = make_batch(s, t, terms, y, norm, counts, loss, free, entries_of(model))
    return batch, model
