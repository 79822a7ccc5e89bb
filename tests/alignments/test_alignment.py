"""Alignment kernels and structure against enumeration of all alignments."""

import numpy as np
import pytest
from alignment_cases import (
    all_alignments,
    enumerate_alignments,
    marginals,
    plain_score,
    random_batch,
)
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.alignments import pair_alignments as alignment
from maxmargin.alignments.dp import (
    Gaps,
    alignment_value,
    best_alignment,
    best_score,
    constant_gaps,
)
from maxmargin.alignments.k_best import best_alignments
from maxmargin.core import contract
from maxmargin.core.formulation import make_form
from maxmargin.testing import FORMULATIONS, Asker, check_solver, check_structure

ENDS = st.tuples(st.integers(0, 1), st.integers(0, 1))
SEEDS = st.integers(0, 10**6)


def random_pair(seed, n, m, free):
    """Scores of any sign for a pair of lengths n and m."""
    rng = np.random.default_rng(seed)

    def numbers(*shape):
        return rng.normal(size=shape) + rng.normal() * rng.integers(0, 3)

    gaps = Gaps(
        numbers(n), numbers(m + 1), numbers(n), numbers(m), numbers(n + 1), numbers(m),
        *free,
    )  # fmt: skip
    return numbers(n, m), gaps, numbers(n)


@pytest.mark.parametrize(
    ("n", "m"), [(0, 0), (0, 2), (2, 0), (1, 1), (4, 4), (5, 3), (2, 5)]
)
@given(seed=SEEDS, free=ENDS)
def test_best_alignment_equals_enumeration(n, m, seed, free):
    match, gaps, bonus = random_pair(seed, n, m, free)
    outputs = list(all_alignments(n, m))
    raised = match + bonus[:, None]
    scores = np.array([plain_score(raised, gaps, y) for y in outputs])
    y = np.zeros(n, np.int32)
    found = best_alignment(match, gaps, bonus, y)
    np.testing.assert_allclose(found, scores.max(), atol=1e-9)
    np.testing.assert_allclose(plain_score(raised, gaps, y), scores.max(), atol=1e-9)
    np.testing.assert_allclose(best_score(match, gaps, bonus), found, atol=1e-12)
    again = [alignment_value(raised, gaps, y) for y in outputs]
    np.testing.assert_allclose(again, scores, atol=1e-9)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 4), (3, 5)])
@given(seed=SEEDS, free=ENDS)
def test_match_probabilities_equal_enumeration(n, m, seed, free):
    match, gaps, _ = random_pair(seed, n, m, free)
    outputs = list(all_alignments(n, m))
    scores = np.array([plain_score(match, gaps, y) for y in outputs])
    p = np.exp(scores - scores.max())
    want = np.zeros((n, m))
    for y, share in zip(outputs, p / p.sum(), strict=True):
        left = np.flatnonzero(y >= 0)
        want[left, y[left]] += share
    total, found = marginals(match, gaps)
    np.testing.assert_allclose(total, np.log(p.sum()) + scores.max(), atol=1e-9)
    np.testing.assert_allclose(found, want, atol=1e-9)


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 3), (2, 5)])
@given(seed=SEEDS, free=ENDS, k=st.sampled_from([1, 4, 30]))
def test_k_best_equal_enumeration(n, m, seed, free, k):
    match, gaps, _ = random_pair(seed, n, m, free)
    wanted = sorted(
        (plain_score(match, gaps, y) for y in all_alignments(n, m)), reverse=True
    )
    labels, scores = np.full((k, n), -1, np.int32), np.full(k, -np.inf)
    best_alignments(match, gaps, labels, scores)
    count = min(k, len(wanted))
    np.testing.assert_allclose(scores[:count], wanted[:count], atol=1e-9)
    assert (scores[count:] == -np.inf).all()
    found = [plain_score(match, gaps, y) for y in labels[:count]]
    np.testing.assert_allclose(found, scores[:count], atol=1e-9)
    assert len({tuple(y) for y in labels[:count]}) == count


def test_large_scores_give_finite_probabilities():
    match, gaps, _ = random_pair(0, 30, 40, (0, 0))
    gaps = gaps._replace(extend_s=1e4 * gaps.extend_s)
    _, found = marginals(1e4 * match, gaps)
    assert np.isfinite(found).all()
    assert (found.sum(axis=1) <= 1 + 1e-9).all()


def test_empty_local_alignment_scores_zero():
    match = np.full((3, 4), -1.0)
    y = np.zeros(3, np.int32)
    gaps = constant_gaps(3, 4, -1.0, -1.0, 1, 1, match)
    assert best_alignment(match, gaps, np.zeros(3), y) == 0.0
    assert (y == -1).all()


def test_single_precision_finds_the_best_of_long_pairs():
    rng = np.random.default_rng(0)
    n, m = 300, 250
    match = rng.normal(size=(n, m))
    sizes = (n, m + 1, n, m, n + 1, m)
    costs = (2.0, 0.0, 0.5, 2.0, 0.0, 0.5)
    scores = [rng.normal(size=k) - c for k, c in zip(sizes, costs, strict=True)]
    gaps = Gaps(*scores, 0, 0)
    y = np.zeros(n, np.int32)
    best = best_alignment(match, gaps, np.zeros(n), y)
    single = Gaps(*(x.astype(np.float32) for x in gaps[:6]), 0, 0)
    z = np.zeros(n, np.int32)
    best_alignment(match.astype(np.float32), single, np.zeros(n, np.float32), z)
    assert alignment_value(match, gaps, z) >= best - 1e-4 * abs(best)


# the structure -----------------------------------------------------------------------

MODELS = [
    {"model": "simple"},
    {"model": "sum", "gaps": "position"},
    {"model": ["residue[3]/residue[3]", "ss[5]/residue", "1/ss"], "gaps": "linear"},
    {"model": "profile", "dense": {"profile": 3}, "gaps": "position"},
    {
        "model": ["residue/residue", "residue/ss", "ss/residue", "ss[3]/ss[3]"],
        "symmetric": True,
        "alphabet": {"residue": "ab", "ss": "HCE"},
        "gaps": "position",
    },
]


@given(
    seed=SEEDS,
    settings=st.sampled_from(MODELS),
    loss=st.sampled_from([0, 1, 4, "hamming"]),
    free=ENDS,
)
def test_structure_equals_enumeration(seed, settings, loss, free):
    batch, model = random_batch(seed, loss=loss, free=free, **settings)
    check_structure(batch, model.n_weights, enumerate_alignments, seed=seed, trials=1)


def test_uncompiled_contract_is_the_compiled_one():
    batch, model = random_batch(1, loss=1, model="sum", gaps="position")
    check_structure(
        batch, model.n_weights, enumerate_alignments, compiled=False, trials=1
    )


@given(seed=SEEDS, loss=st.sampled_from([0, 1, "hamming"]), free=ENDS)
def test_rescaled_search_is_exact(seed, loss, free):
    batch, model = random_batch(seed, loss=loss, free=free)
    w = np.random.default_rng(seed).normal(size=model.n_weights) * 3
    for i in range(3):
        ask = Asker(batch, i, w, True)
        outputs = list(enumerate_alignments(batch, i))
        losses = np.array([ask.loss(y) for y in outputs])
        margins = np.array([ask.margin(y) for y in outputs])
        for rescaling, penalty in FORMULATIONS:
            form = make_form(rescaling, penalty, 1e-6)
            c = np.sqrt(losses) if form.quadratic else losses
            wanted = (c - (c if form.slack else 1.0) * margins).max()
            bound, found, lead, _, _ = ask.most_violated(form)
            c = np.sqrt(found) if form.quadratic else found
            got = c - (c if form.slack else 1.0) * lead
            assert max(got, 0.0) == pytest.approx(max(wanted, 0.0), abs=1e-7)
            assert bound == pytest.approx(got, abs=1e-7)


def test_losses_mean_what_they_say():
    batch, _ = random_batch(0, sizes=((4, 4),), loss=0)
    counts = np.ones(4, bool)

    def loss(kind, y, truth=(0, 1, 2, -1), counts=counts):
        made = alignment.make_batch(
            batch.s, batch.t, batch.terms, np.array(truth, np.int32), batch.norm,
            np.asarray(counts), kind, (0, 0), (9, 1),
        )  # fmt: skip
        return contract.loss(made, 0, np.array(y, np.int32))

    assert loss(0, (0, 1, -1, 2)) == pytest.approx(1 / 3)
    assert loss(1, (0, 1, -1, 2)) == 0.0
    assert loss(1, (-1, -1, -1, 0)) == 1.0
    assert loss("hamming", (0, 1, -1, 2)) == 2.0  # one missed, one wrong
    assert loss("hamming", (-1, -1, -1, -1)) == 3.0
    core = (True, False, False, False)
    assert loss(0, (0, 2, 3, -1), counts=core) == 0.0
    assert loss(0, (1, 2, 3, -1), counts=core) == 1.0
    assert loss("hamming", (1, 2, 3, -1), counts=core) == 2.0
    empty = (-1, -1, -1, -1)
    assert loss(0, (0, 1, 2, 3), truth=empty) == 0.0
    assert loss("hamming", (0, 1, 2, 3), truth=empty) == 4.0


def test_solvers_agree():
    batch, model = random_batch(3, sizes=((4, 5), (3, 3), (5, 4)), loss=0)
    best = check_solver(batch, model.n_weights, solver="block-coordinate", C=5.0)
    check_solver(batch, model.n_weights, solver="n-slack", C=5.0, reference=best)
    check_solver(
        batch, model.n_weights, solver="one-slack", C=5.0, reference=best, tol=1e-4
    )
