"""Parsing against enumeration of all derivations of random small grammars."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from parse_cases import enumerate_derivations, random_parses

from maxmargin.core.formulation import make_form
from maxmargin.testing import FORMULATIONS, Asker, check_structure
from maxmargin.trees.cky.batch import LOSSES
from maxmargin.trees.cky.parses import make_batch, n_weights
from maxmargin.trees.cky.tables import make_tables


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_uncompiled_parser_equals_enumeration(loss):
    for seed in range(3):
        batch, size = random_parses(seed, loss=loss, with_features=True, free=True)
        check_structure(
            batch, size, enumerate_derivations, seed=seed, trials=1, compiled=False
        )


def check_rescaled(batch, size, seed):
    """The search finds the maximum in every formulation, not only a bound of it."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=size) * 10.0 ** rng.uniform(-2, 1)
    for i in range(len(batch.start) - 1):
        ask = Asker(batch, i, w, True)
        outputs = list(enumerate_derivations(batch, i))
        losses = np.array([ask.loss(y) for y in outputs])
        margins = np.array([ask.margin(y) for y in outputs])
        for rescaling, penalty in FORMULATIONS:
            form = make_form(rescaling, penalty, 1e-6)
            c = np.sqrt(losses) if form.quadratic else losses
            violations = c - (c if form.slack else 1.0) * margins
            bound = ask.most_violated(form)[0]
            what = f"example {i}, {rescaling} rescaling, {penalty} slacks"
            assert bound == pytest.approx(max(violations.max(), 0.0), abs=1e-9), what


@given(
    seed=st.integers(0, 10**6),
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=2),
    loss=st.sampled_from(sorted(LOSSES)),
    with_features=st.booleans(),
    free=st.booleans(),
)
def test_parser_equals_enumeration(seed, lengths, loss, with_features, free):
    batch, size = random_parses(seed, lengths, loss, with_features, free)
    check_structure(batch, size, enumerate_derivations, seed=seed, trials=1)
    check_rescaled(batch, size, seed)


@given(st.integers(0, 10**6), st.booleans(), st.booleans())
def test_k_best_and_marginals_equal_enumeration(seed, with_features, free):
    from maxmargin.trees.cky.k_best import k_best
    from maxmargin.trees.cky.sums import bracket_probabilities
    from maxmargin.trees.span_features import cells

    batch, size = random_parses(seed, (4, 2), "f1", with_features, free)
    w = np.random.default_rng(seed).normal(size=size)
    for i, length in enumerate((4, 2)):
        ask = Asker(batch, i, w, True)
        outputs = list(enumerate_derivations(batch, i))
        values = np.array([ask.value(y) for y in outputs])
        found = k_best(batch, i, w, 7)
        best = np.sort(values)[::-1][:7]
        assert [value for _, value in found] == pytest.approx(best.tolist())
        assert [ask.value(y) for y, _ in found] == pytest.approx(best.tolist())
        assert len({tuple(y.tolist()) for y, _ in found}) == len(best)
        assert {tuple(y.tolist()) for y, _ in found} <= {
            tuple(y.tolist()) for y in outputs
        }
        log_z, table, _ = bracket_probabilities(batch, i, w)
        top = values.max()
        share = np.exp(values - top)
        assert log_z == pytest.approx(top + np.log(share.sum()))
        want = np.zeros(table.shape)
        place = {(b, e): c for c, (b, e) in enumerate(zip(*cells(length), strict=True))}
        for y, p in zip(outputs, share / share.sum(), strict=True):
            for b, e, label in set(brackets(batch.grammar, y, length)):
                want[place[b, e], label] += p
        np.testing.assert_allclose(table, want, atol=1e-9)


def brackets(tables, y, length):
    """(begin, end, label) of every bracket of a labelling."""
    todo, found = [(0, 0, length)], []
    while todo:
        m, b, e = todo.pop()
        chain, rule, split = y[3 * m : 3 * m + 3].tolist()
        core = tables.parent[rule] if rule >= 0 else -1 - rule
        labels = [int(tables.label[core])]
        if chain >= 0:
            places = slice(tables.chain_start[chain], tables.chain_start[chain + 1])
            labels += tables.chain_labels[places].tolist()
        found += [(b, e, label) for label in labels if label >= 0]
        if rule >= 0:
            todo += [(m + 1, b, split), (m + 2 * (split - b), split, e)]
    return found


@pytest.mark.parametrize("loss", ["hamming", "f1"])
def test_loss_is_that_of_the_brackets(loss):
    from collections import Counter

    for seed in range(5):
        batch, size = random_parses(seed, (4,), loss)
        ask = Asker(batch, 0, np.zeros(size), True)
        truth = Counter(brackets(batch.grammar, batch.y, 4))
        for y in enumerate_derivations(batch, 0):
            found = Counter(brackets(batch.grammar, y, 4))
            right, total = (truth & found).total(), truth.total() + found.total()
            want = total - 2 * right
            if loss == "f1":
                want = 1 - 2 * right / total if total else 0.0
            assert ask.loss(y) == pytest.approx(want)


def test_no_tree_is_marked_and_empty_sentences_are_skipped():
    from maxmargin.core.decode import decode
    from maxmargin.trees.cky.k_best import k_best
    from maxmargin.trees.cky.trees import NO_PARSE

    tables = make_tables(3, 2, [(2, 0, 1)], [], [], [2], [-1, -1, 0])
    batch = make_batch(tables, [[[0], [1]], [], [[1], [0]], [[0], []]])
    flat = decode(batch, np.zeros(n_weights(tables)))
    parts = [flat[batch.start[i] : batch.start[i + 1]].tolist() for i in range(4)]
    assert parts[0] == [-1, 0, 1, -1, -1, 0, -1, -2, 0]
    assert parts[1] == []
    assert set(parts[2]) == set(parts[3]) == {NO_PARSE}
    w = np.zeros(n_weights(tables))
    assert [len(k_best(batch, i, w, 3)) for i in range(4)] == [1, 0, 0, 0]


def test_threads_change_nothing():
    from maxmargin.core.decode import decode

    batch, size = random_parses(4, (4, 3, 4, 2, 3), free=True)
    w = np.random.default_rng(0).normal(size=size)
    np.testing.assert_array_equal(decode(batch, w, 1), decode(batch, w, 3))
