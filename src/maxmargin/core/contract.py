"""What a structure must say of itself: the contract of the compiled door.

A *batch* holds encoded examples in flat arrays. It is a ``NamedTuple`` class of its own,
with at least

    start : int64[n + 1]   example i owns the slots start[i] .. start[i + 1]
    y     : int32[slots]   its true output as a *labelling*: integers in its slots

and whatever else the structure needs. An output is always a labelling of the same
slots, so solvers store, compare and exchange outputs without knowing what they mean.

Requires, for every example i, weights w, labellings y and part scores theta:

    value(theta(w), y) == <w, Psi(x_i, y)>         where emit() lists Psi(x_i, y)
    argmax(theta, scale) maximises value(theta, y) + scale * loss(y) over all outputs,
    up to shortfall()
    loss(true y) == 0 and loss(y) >= 0

Ensures: every solver, every check in ``maxmargin.testing``, and every formulation. With
slack rescaling or quadratic slacks, a search through plain argmax() only bounds the
largest violation: the certificate holds, but its gap closes no further than that bound.
least_loss() makes the bound tighter, argmax_rescaled() makes the search exact.

An array ``y`` that a function is given may be longer than the example: only its first
``start[i + 1] - start[i]`` slots count, also where argmax() writes. Compiled code does
not check indices: one out of range reads or destroys other memory. Uncompiled
(``check_structure(..., compiled=False)``) it raises an error.

Seven functions are required; the others have defaults and exist for speed. With
``complete``, outputs have hidden parts: slots whose true values are not known, which
training fills in (``hidden/concave_convex.py``). With ``parts``, part scores may come
from elsewhere, a neural network say, and losses have gradients there
(``core/flat_scores.py``). With ``sums`` and ``spread`` beside it a structure is
probabilistic: it has the log objective (``log/log_objective.py``), all solvers of
that, and certificates. They speak of parts alone:

    mu = E[parts(y)] under exp(value(theta, y)) / Z        what sums() finds
    <F_x w, mu> == <w, F_x^T mu>                           spread() is score()'s adjoint
"""

from __future__ import annotations

import numpy as np

from maxmargin.core.compile.declared import (
    Bool,
    Doubles,
    Float,
    Floats,
    Formulation,
    Indices,
    Int,
    Labels,
    Pair,
    Table,
    Vector,
    VectorTable,
    tuple_of,
)
from maxmargin.core.kernel import generic, implemented, required, summing
from maxmargin.core.row_changes import RowChange

Changes = tuple_of(RowChange, Labels, Labels, VectorTable)


@required
def shape(batch) -> Pair:
    """(rows, columns) of a theta array that is large enough for every example."""


@required
def score(batch, i: Int, w: Vector, theta: Table) -> None:
    """theta <- F_x w, the scores of the parts of example i.

    theta is of double precision, w perhaps not: widen it, by np.float64(w[k]), before
    it is multiplied by a number of single precision, or certificates are rounded.
    """


@required
def argmax(batch, i: Int, theta: Table, scale: Float, y: Labels) -> None:
    """y <- argmax_y <theta, parts(y)> + scale * loss(y_i, y). One decoder for all uses.

    Ties go to the lowest label. scale = 0 is prediction, 1 margin rescaling.
    """


@generic
def shortfall(batch, i: Int) -> Float:
    """By how much the last answer of argmax() for example i may be below the maximum.

    0 where the search is exact. Relaxations know an upper bound: they keep the number of
    each example in an array of the batch, and certificates add it to what was found.
    """
    return 0.0


@required
def value(batch, i: Int, theta: Table, y: Labels) -> Float:
    """<theta, parts(y)> = <w, Psi(x_i, y)>."""


@required
def loss(batch, i: Int, y: Labels) -> Float:
    """loss(y_i, y), zero when y is the truth."""


@required
def emit(
    batch, i: Int, y: Labels, coefficient: Float, index: Indices, values: Vector, m: Int
) -> Int:
    """Append the entries of coefficient * Psi(x_i, y) after position m; return the end.

    An index may repeat; repeated entries add up.
    """


@required
def capacity(batch) -> Int:
    """The largest number of entries that emit() appends for one labelling."""


@generic
def difference(
    batch,
    i: Int,
    s: Labels,
    rs: Float,
    a: Labels,
    ra: Float,
    index: Indices,
    values: Vector,
) -> Int:
    """List rs * psi(s) - ra * psi(a), where psi(y) = Psi(x_i, y_i) - Psi(x_i, y).

    Returns the number of entries. Override it to leave out what cancels.
    """
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    m = emit(batch, i, truth, rs - ra, index, values, 0)
    m = emit(batch, i, s, -rs, index, values, m)
    return emit(batch, i, a, ra, index, values, m)


@generic
def possible(batch, i: Int, y: Labels) -> Bool:
    """Whether y is an output of example i, for labellings that come from a file.

    Compiled code does not check indices, and what is no output proves nothing: planes of
    a checkpoint are asked about before anything else sees them. ``y`` may hold any int32.
    Without it, such planes are tried uncompiled (``solvers/checkpoints/stored_planes.py``).
    """
    return True


@generic
def margin(batch, i: Int, theta: Table, y: Labels) -> Float:
    """<w, psi(y)> = value of the truth - value of y. Override it to sum what differs."""
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    return value(batch, i, theta, truth) - value(batch, i, theta, y)


@generic
def extent(batch, i: Int) -> Int:
    """How many numbers of theta, row by row, example i uses."""
    rows, columns = shape(batch)
    return rows * columns


@generic
def rescale_scores(batch, i: Int, factor: Float, theta: Table) -> None:
    """theta <- factor * theta, for solvers that keep w as a multiple of a vector."""
    rows, columns = theta.shape
    left = extent(batch, i)
    for r in range(rows):
        for k in range(min(columns, left - r * columns)):
            theta[r, k] *= factor


@generic
def score_planes(
    batch, i: Int, w: Vector, labellings: Labels, count: Int, theta: Table
) -> None:
    """Like score(), but theta need only be right on the parts of the labellings given.

    ``labellings`` is flat: ``count`` labellings one after the other, the truth first.
    """
    score(batch, i, w, theta)


@generic
def shift(
    batch, i: Int, step: Float, s: Labels, rs: Float, a: Labels, ra: Float, theta: Table
) -> Bool:
    """Update theta after w += step * (rs psi(s) - ra psi(a)); False if that is expensive.

    Where it is cheap, a visit goes on until the block is solved.
    """
    return False


@generic
def least_loss(batch) -> Float:
    """A lower bound on the losses that are not zero; 0 if none is known.

    With it, the search through argmax() can prove that nothing is violated.
    """
    return 0.0


@generic
def argmax_rescaled(batch, i: Int, theta: Table, form: Formulation, y: Labels) -> Bool:
    """Exact search for the most violated output of a rescaled formulation, or False.

    Without it, solvers search through argmax() with a certified upper bound.
    """
    return False


@generic
def recall(batch, i: Int, theta: Table, form: Formulation, y: Labels) -> None:
    """y <- an output to begin that search with: the truth, or the best one known."""
    first = batch.start[i]
    for t in range(batch.start[i + 1] - first):
        y[t] = batch.y[first + t]


@generic
def solve_block(
    batch,
    i: Int,
    theta: Table,
    mass: Float,
    alpha: Vector,
    w: Vector,
    locks: Labels,
) -> Floats:
    """Solve the block of example i, all but exactly at least, and update w, given theta.

    For structures with so few outputs that every one has its own dual variable
    (``core/by_label.py``; ``alpha`` is by label and sums to ``mass``), margin
    rescaling and linear slacks.
    Where threads share w there are ``locks`` of its rows (``row_changes.py``).
    Returns (gap of the block before, hinge before).
    """
    return 0.0, 0.0


@generic
def emit_block(batch, i: Int, mass: Float, alpha: Doubles, w: Doubles) -> Float:
    """w += sum_y alpha_y psi_i(y), for the same structures; returns sum alpha loss."""
    return 0.0


# what is hidden ---------------------------------------------------------------------


@generic
def complete(batch, i: Int, theta: Table, y: Labels) -> None:
    """y <- argmax value(theta, y) over the outputs that agree with what is known of i.

    ``batch.y`` says what is known in slots of its own choice; in the others it holds
    the completion that stands for the truth at present. Training writes what complete()
    finds there, so the answer must depend on what is known alone, and its loss is zero.
    By default nothing is hidden, and the truth is its own completion.
    """
    first = batch.start[i]
    for t in range(batch.start[i + 1] - first):
        y[t] = batch.y[first + t]


@generic
def clamp(batch, i: Int, theta: Table) -> Float:
    """theta <- scores under which what contradicts the known slots of i is impossible.

    For batches with a field ``known`` (``core/partial.py``): parts that must not occur
    get -inf. Where that is not enough, parts that must occur get a bonus that nothing
    outweighs. Returns the sum of bonuses, which all outputs that agree have.
    """
    return 0.0


# sums over all outputs ---------------------------------------------------------------


@generic
def sums(batch, i: Int, theta: Table, mu: Table, work: Doubles) -> Float:
    """mu <- E[parts(y)] under exp(value(theta, y)) / Z; returns log Z.

    ``mu`` (float64) has the shape of theta; its extent is written whole. A part whose
    score is -inf is impossible: its expectation is 0. ``work`` is memory of the caller,
    zeros at first and then left alone between calls.
    """
    return np.nan


@generic
def known_sums(batch, i: Int, theta: Table, mu: Table, work: Doubles) -> Float:
    """Like sums(), over the outputs that agree with what is known of i; theta is lost.

    Override it where clamp() cannot say in scores of parts what is known.
    """
    bonus = clamp(batch, i, theta)
    return sums(batch, i, theta, mu, work) - bonus


@generic
def sums_room(batch) -> Int:
    """The length of ``work`` (float64) that sums() needs."""
    return 0


@generic
def shared(batch) -> Int:
    """How many numbers at the head of theta score parts of several places each.

    Transitions of a chain, say. The first distributions of the log objective leave them
    out: what favours one place would mislead another.
    """
    return 0


@generic
def common(batch) -> Int:
    """How many numbers at the head of theta are the same for all examples of a batch.

    Transitions of a chain, say, which depend on no input. Scores that come from
    elsewhere then hold them once, not for every example.
    """
    return 0


@generic
def parts(batch, i: Int, y: Labels, coefficient: Float, mu: Table) -> None:
    """mu += coefficient * parts(y), so that <theta, parts(y)> is value(theta, y)."""


@generic
def spread(batch, i: Int, coefficient: Float, mu: Table, w: Vector) -> None:
    """w += coefficient * F_x^T mu: from parts back to features, the adjoint of score()."""


@generic
def most_rows(batch) -> Pair:
    """(rows of w that spread_rows() lists at most, length of ``slots``)."""
    return 0, 0


@generic
def slot_rows(batch, lo: Int, hi: Int, slots: Labels) -> None:
    """Say, once for the examples lo .. hi, where spread_rows() puts each of its rows."""


@generic
def spread_rows(batch, i: Int, mu: Table, change: Changes) -> Int:
    """F_x^T mu row by row, each row of w once; returns how many (``row_changes.py``).

    For structures whose w is a table of rows as wide as those of theta: their threads
    can step on one w.
    """
    return 0


@generic
def shrink(batch, i: Int, v: Vector, l1: Float, w: Vector) -> Float:
    """w <- v moved towards zero by l1, where spread() of example i has changed v.

    Returns by how much that raises 1/2 |w|^2. By default all of w is gone through;
    structures whose estimators have an l1 penalty go through the weights of i.
    """
    return 0.5 * shrink_row(v, v.dtype.type(l1), w)


@summing
def shrink_row(v, l1, w):
    """w <- sign(v) max(|v| - l1, 0); returns by how much |w|^2 grows."""
    grown = 0.0
    for k in range(len(w)):
        x, old = max(v[k] - l1, v.dtype.type(0)) + min(v[k] + l1, v.dtype.type(0)), w[k]
        grown += (float(x) - float(old)) * (float(x) + float(old))
        w[k] = x
    return grown


def probabilistic(batch) -> bool:
    """Whether the structure of this batch can sum over its outputs.

    A class where only some batches can has a property ``has_sums``.
    """
    can = all(implemented(f, type(batch)) for f in (sums, parts, spread))
    return can and getattr(batch, "has_sums", True)
