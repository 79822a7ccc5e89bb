"""The structure of homologs and decoys, against a list of all its outputs."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.alignments.homologs.candidates import (
    alignment_score,
    candidate_score,
    make_batch,
    score_candidates,
    table_shape,
    write_best,
)
from maxmargin.core.decode import decode
from maxmargin.core.kernel import interpreted
from maxmargin.testing import check_solver, check_structure


def enumerate_homologs(batch, i):
    """The truth, and every decoy with every alignment; without truth, everything."""
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    n = len(truth) - 1
    if batch.known:
        yield truth.copy()
    first, last = batch.list_start[i : i + 2]
    for number, sequence in enumerate(batch.candidates[first:last]):
        if batch.known and number == truth[0]:
            continue
        m = int(batch.first[sequence + 1] - batch.first[sequence])
        for k in range(min(n, m) + 1):
            for p in itertools.combinations(range(n), k):
                for q in itertools.combinations(range(m), k):
                    y = np.full(n + 1, -1, np.int32)
                    y[0] = number
                    y[1 + np.array(p, int)] = q
                    yield y


def random_batch(seed, affine, known=True, n=2, n_letters=3, longest=4):
    rng = np.random.default_rng(seed)
    sequences = [
        rng.integers(n_letters, size=rng.integers(1, longest + 1)).astype(np.uint8)
        for _ in range(3 * n)
    ]
    natives = list(range(n))
    lists, truth = [], []
    for i in range(n):
        lists.append(rng.permutation(np.arange(n, 3 * n))[: rng.integers(2, 4)])
        homolog = int(rng.integers(len(lists[-1])))
        a, b = len(sequences[i]), len(sequences[lists[-1][homolog]])
        k = int(rng.integers(1, min(a, b) + 1))
        p = sorted(rng.permutation(a)[:k].tolist())
        q = sorted(rng.permutation(b)[:k].tolist())
        truth.append((homolog, list(zip(p, q, strict=True))))
    truth = truth if known else None
    batch = make_batch(sequences, natives, lists, truth, n_letters, affine)
    return batch, int(np.prod(table_shape(n_letters)))


@pytest.mark.parametrize("affine", [False, True])
def test_uncompiled(affine):
    batch, n_weights = random_batch(0, affine)
    check_structure(batch, n_weights, enumerate_homologs, compiled=False, trials=1)


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("gap", [-1.0, 0.5])
def test_letters_outside_of_the_matches_are_free(affine, gap):
    """x matches in the middle of z, and z in the middle of x; gaps may even be gains."""
    short, long = np.array([0], np.uint8), np.array([1, 0, 2, 1], np.uint8)
    for native, other in ((short, long), (long, short), (long[:2], long[1:])):
        batch = make_batch([native, other], [0], [[1]], None, 3, affine)
        theta = np.zeros(table_shape(3))
        theta[:3] = np.diag([5.0, -9.0, -9.0])[:, : theta.shape[1]] - 9 * (
            1 - np.eye(3, theta.shape[1])
        )
        theta[3, :2] = gap, -0.25
        found = interpreted(candidate_score)(batch, 0, theta, 0)
        best = max(
            interpreted(alignment_score)(batch, 0, theta, y)
            for y in enumerate_homologs(batch, 0)
        )
        assert found == best == 5.0
        y = np.zeros(1 + len(native), np.int32)
        interpreted(write_best)(batch, 0, theta, 0, y)
        assert interpreted(alignment_score)(batch, 0, theta, y) == best


@given(st.integers(0, 10**6), st.booleans())
def test_against_enumeration(seed, affine):
    batch, n_weights = random_batch(seed, affine)
    check_structure(batch, n_weights, enumerate_homologs, seed=seed, trials=2)


@pytest.mark.parametrize("affine", [False, True])
def test_solvers_agree(affine):
    batch, n_weights = random_batch(5, affine, n=4)
    optimum = check_solver(batch, n_weights, solver="block-coordinate")
    for solver in ("n-slack", "one-slack"):
        check_solver(batch, n_weights, solver=solver, reference=optimum)
    # losses are 0 or 1, so slack rescaling is the same problem
    check_solver(
        batch, n_weights, solver="n-slack", rescaling="slack", reference=optimum
    )


@pytest.mark.parametrize("affine", [False, True])
def test_prediction_looks_at_all_alignments_with_all_candidates(affine):
    rng = np.random.default_rng(7)
    batch, n_weights = random_batch(6, affine, known=False, n=3)
    for _ in range(5):
        w = rng.normal(size=n_weights)
        theta = w.reshape(table_shape(3))
        scores = np.empty(len(batch.candidates))
        score_candidates(batch, w, 0, 3, scores)
        chosen = decode(batch, w)
        for i in range(3):
            first, last = batch.list_start[i : i + 2]
            best = np.full(last - first, -np.inf)
            for y in enumerate_homologs(batch, i):
                found = alignment_score(batch, i, theta, y)
                best[y[0]] = max(best[y[0]], found)
            assert np.allclose(scores[first:last], best)
            y = chosen[batch.start[i] : batch.start[i + 1]]
            assert y[0] == best.argmax()
            assert np.isclose(alignment_score(batch, i, theta, y), best.max())
