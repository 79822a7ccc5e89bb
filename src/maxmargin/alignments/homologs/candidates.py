"""Which candidate is the homolog? Outputs are a candidate and a local alignment with it.

Example i has a native sequence x, candidates z_1 .. z_k, and the truth: which candidate
z_h is its homolog, and an alignment a_i of the two. The score is linear in a histogram:

    <w, Psi(x, z, a)> = sum over matched pairs of substitution[x_p, z_q]
                        + gap * (letters between matches that are not matched)
                        [+ open * (runs of such letters)     if affine]

from the first matched pair to the last (local alignment: the rest is free, and the empty
alignment scores 0). An example has the slots

    [candidate, then for every letter of x the position in the candidate, or -1]

While learning, its outputs are its truth and every decoy with every alignment:

    <w, Psi(x, z_h, a_i)> - max_a <w, Psi(x, z_t, a)> >= 1 - xi_i    for all decoys t != h

as in the papers. Other alignments with the homolog are no outputs: they are not wrong,
and since a_i is fixed, the constraints stay linear in w. The loss is 0 for the truth and
1 for decoys. Predicted is the candidate with the largest max_a <w, Psi(x, z, a)>; there the
homolog's alignment is free too, which can only help it, so xi_i still bounds the error.
Without a truth (prediction), all candidates have all alignments, and the loss is 0.

(Joachims 2003, Learning to align sequences; Tsochantaridis et al. 2004, section 5.4.)

theta is the table of w itself: rows of first letters, columns of second letters, and a
last row that begins with gap and open.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.alignments.dp import best_alignment, best_score, constant_gaps
from maxmargin.core import contract
from maxmargin.core.compile.declared import Float, Int, Labels, Table
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, inlined, inner, kernel, outlined
from maxmargin.core.rescale import violation
from maxmargin.core.tables.arrays import runs
from maxmargin.core.vectors import copy_into


class HomologBatch(NamedTuple):
    """Natives and candidates as numbers into one pool of sequences."""

    cuts = cut_by(
        start="example",
        y="start",
        native="example",
        candidates="list_start",
        list_start="example",
    )

    start: np.ndarray  # slots: 1 + length of the native
    y: np.ndarray
    letters: np.ndarray  # uint8, all sequences one after the other
    first: np.ndarray  # int64: sequence s is letters[first[s] : first[s + 1]]
    native: np.ndarray  # int64, one sequence per example
    candidates: np.ndarray  # int64, sequences
    list_start: np.ndarray  # int64: example i has candidates[list_start[i] : ...]
    n_letters: int
    width: int
    affine: int
    known: int  # 1 if y holds the truth
    longest: int

    def compact(self) -> HomologBatch:
        """With the sequences of its own examples alone."""
        n = len(self.native)
        used, numbers = np.unique(
            np.concatenate([self.native, self.candidates]), return_inverse=True
        )
        sizes = np.diff(self.first)[used]
        return self._replace(
            letters=self.letters[runs(self.first[used], sizes)],
            first=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            native=numbers[:n],
            candidates=numbers[n:],
        )


def table_shape(n_letters: int) -> tuple[int, int]:
    """Rows and columns of w; the last row must hold gap and open."""
    return n_letters + 1, max(n_letters, 2)


def make_batch(sequences, natives, lists, truth, n_letters, affine) -> HomologBatch:
    """Encode examples.

    sequences : list of uint8 arrays; natives : their numbers, one per example;
    lists : the numbers of the candidates of every example;
    truth : (number of the homolog in its list, matched pairs) per example, or None.
    """
    lengths = [len(sequences[s]) for s in natives]
    start = np.concatenate([[0], np.cumsum([1 + n for n in lengths])]).astype(np.int64)
    y = np.full(start[-1], -1, np.int32)
    for i, (homolog, pairs) in enumerate(truth or ()):
        y[start[i]] = homolog
        for p, q in pairs:
            y[start[i] + 1 + p] = q
    sizes = [len(s) for s in sequences]
    return HomologBatch(
        start=start,
        y=y,
        letters=np.concatenate([np.zeros(0, np.uint8), *sequences]).astype(np.uint8),
        first=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        native=np.array(natives, np.int64),
        candidates=np.concatenate([np.zeros(0), *lists]).astype(np.int64),
        list_start=np.concatenate([[0], np.cumsum(list(map(len, lists)))]).astype(
            np.int64
        ),
        n_letters=n_letters,
        width=table_shape(n_letters)[1],
        affine=int(affine),
        known=int(truth is not None),
        longest=max(lengths, default=0),
    )


@implements(contract.shape, HomologBatch)
def shape(batch):
    return batch.n_letters + 1, batch.width


@implements(contract.capacity, HomologBatch)
def capacity(batch):
    return batch.longest + 2


@implements(contract.least_loss, HomologBatch)
def least_loss(batch):
    return 1.0


@implements(contract.score, HomologBatch)
def score(batch, i, w, theta):
    copy_into(theta.ravel(), 0, w, len(w))


@inlined
def letters_of(batch, sequence):
    return batch.letters[batch.first[sequence] : batch.first[sequence + 1]]


@inlined
def candidate(batch, i, number):
    return letters_of(batch, batch.candidates[batch.list_start[i] + number])


@implements(contract.value, HomologBatch)
def value(batch, i, theta, y):
    return alignment_score(batch, i, theta, y)


@inner
def alignment_score(batch, i, theta, y):
    x, z = letters_of(batch, batch.native[i]), candidate(batch, i, y[0])
    gap, opening = theta[batch.n_letters, 0], theta[batch.n_letters, 1]
    total, at, after = 0.0, -1, 0  # the match before this one
    for p in range(len(x)):
        q = y[1 + p]
        if q < 0:
            continue
        total += float(theta[x[p], z[q]])
        if at >= 0:
            runs, unmatched = between(at, after, p, q)
            total += float(gap) * unmatched
            if batch.affine:
                total += float(opening) * runs
        at, after = p, q
    return total


@inlined
def between(at, after, p, q):
    """(runs, letters) that are not matched between the matches (at, after) and (p, q)."""
    of_x, of_z = p - at - 1, q - after - 1
    return (of_x > 0) + (of_z > 0), of_x + of_z


@implements(contract.possible, HomologBatch)
def possible(batch, i, y):
    """A decoy and any alignment with it; of the homolog, only the true one."""
    first, last = batch.start[i], -1
    if not 0 <= y[0] < batch.list_start[i + 1] - batch.list_start[i]:
        return False
    size, own = len(candidate(batch, i, y[0])), batch.known and y[0] == batch.y[first]
    for p in range(1, batch.start[i + 1] - first):
        if own and y[p] != batch.y[first + p]:
            return False
        if y[p] != -1:
            if not last < y[p] < size:
                return False
            last = y[p]
    return True


@implements(contract.loss, HomologBatch)
def loss(batch, i, y):
    return 1.0 if batch.known and y[0] != batch.y[batch.start[i]] else 0.0


@implements(contract.emit, HomologBatch)
def emit(batch, i, y, coefficient, index, values, m):
    x, z = letters_of(batch, batch.native[i]), candidate(batch, i, y[0])
    all_runs, all_unmatched = 0, 0
    at, after = -1, 0
    for p in range(len(x)):
        q = y[1 + p]
        if q < 0:
            continue
        index[m] = int(x[p]) * batch.width + int(z[q])
        values[m] = coefficient
        m += 1
        if at >= 0:
            runs, unmatched = between(at, after, p, q)
            all_runs += runs
            all_unmatched += unmatched
        at, after = p, q
    if all_unmatched > 0:
        index[m] = batch.n_letters * batch.width
        values[m] = coefficient * all_unmatched
        m += 1
        if batch.affine:
            index[m] = batch.n_letters * batch.width + 1
            values[m] = coefficient * all_runs
            m += 1
    return m


# search ------------------------------------------------------------------------------


@implements(contract.argmax, HomologBatch)
def argmax(batch, i, theta, scale, y):
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    best, number = best_candidate(batch, i, theta)
    if batch.known and alignment_score(batch, i, theta, truth) >= best + scale:
        copy_into(y, 0, truth, len(truth))
    else:
        write_best(batch, i, theta, number, y)


@implements(contract.argmax_rescaled, HomologBatch)
def argmax_rescaled(batch, i, theta, form, y):
    # all decoys have loss 1, so the one with the largest score is violated most
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    best, number = best_candidate(batch, i, theta)
    margin = alignment_score(batch, i, theta, truth) - best
    if violation(form, 1.0, margin) <= 0.0:
        copy_into(y, 0, truth, len(truth))
    else:
        write_best(batch, i, theta, number, y)
    return True


@inner
def best_candidate(batch, i, theta):
    """(score, number) of the candidate with the best alignment; decoys only, if known."""
    homolog = batch.y[batch.start[i]] if batch.known else -1
    best, number = -np.inf, 0
    for k in range(batch.list_start[i + 1] - batch.list_start[i]):
        if k != homolog:
            found = candidate_score(batch, i, theta, k)
            if found > best:
                best, number = found, k
    return best, number


@outlined
def candidate_score(batch, i: Int, theta: Table, number: Int) -> Float:
    """max_a <w, Psi(x, z, a)> for one candidate."""
    match = match_scores(batch, i, theta, number)
    bonus = np.zeros(match.shape[0], theta.dtype)
    return float(best_score(match, gaps_of(batch, theta, match), bonus))


@outlined
def write_best(batch, i: Int, theta: Table, number: Int, y: Labels) -> None:
    """y <- a candidate and its best alignment."""
    match = match_scores(batch, i, theta, number)
    bonus = np.zeros(match.shape[0], theta.dtype)
    y[0] = number
    best_alignment(match, gaps_of(batch, theta, match), bonus, y[1:])


@inlined
def match_scores(batch, i, theta, number):
    x, z = letters_of(batch, batch.native[i]), candidate(batch, i, number)
    match = np.empty((len(x), len(z)), theta.dtype)
    for p in range(len(x)):
        row = theta[x[p]]
        for q in range(len(z)):
            match[p, q] = row[z[q]]
    return match


@inlined
def gaps_of(batch, theta, match):
    opening = theta[batch.n_letters, 1] if batch.affine else theta.dtype.type(0)
    gap = theta[batch.n_letters, 0]
    return constant_gaps(match.shape[0], match.shape[1], opening, gap, 1, 1, match)


@kernel
def score_candidates(batch, w, lo, hi, scores):
    """The best score of every candidate of the examples lo .. hi."""
    theta = w.reshape((batch.n_letters + 1, batch.width))
    for i in range(lo, hi):
        first = batch.list_start[i]
        for k in range(batch.list_start[i + 1] - first):
            scores[first + k] = candidate_score(batch, i, theta, k)
