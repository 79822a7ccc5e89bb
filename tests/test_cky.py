"""Parsing against enumeration of all derivations of random small grammars."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.formulation import make_form
from maxmargin.structures.cky import for_training, make_batch, n_weights
from maxmargin.structures.cky_batch import LOSSES
from maxmargin.structures.cky_tables import make_tables
from maxmargin.testing import FORMULATIONS, _Asker, check_structure

MANY = 400


def enumerate_derivations(batch, i):
    """Every labelling of example i."""
    tables = batch.grammar
    token = batch.token_start[i]
    length = int(batch.token_start[i + 1] - token)
    found = {}
    for size in range(1, length + 1):
        for b in range(length - size + 1):
            e = b + size
            cores = []
            if size == 1:
                word = token + b
                tags = batch.tags[batch.tag_start[word] : batch.tag_start[word + 1]]
                cores = [(tag, ((-1, -1 - tag, 0),)) for tag in tags.tolist()]
            for k in range(b + 1, e):
                for r in range(len(tables.left)):
                    lefts = found[b, k].get(tables.left[r], ())
                    rights = found[k, e].get(tables.right[r], ())
                    for x, z in itertools.product(lefts, rights):
                        cores.append((int(tables.parent[r]), ((-1, r, k), *x, *z)))
            items = {}
            for symbol, nodes in cores:
                items.setdefault(symbol, []).append(nodes)
                for c in range(len(tables.top)):
                    if tables.bottom[c] == symbol:
                        topped = ((c, *nodes[0][1:]), *nodes[1:])
                        items.setdefault(int(tables.top[c]), []).append(topped)
            found[b, e] = items
    for root in tables.roots.tolist():
        for nodes in found[0, length].get(root, ()):
            yield np.array(nodes, np.int32).ravel()


def random_grammar(rng, n_tags=2, n_phrases=3, n_binary=7, n_unary=3):
    """A small grammar; the last phrase is the intermediate symbol of a binarisation."""
    n = n_tags + n_phrases
    pairs = list(itertools.product(range(n_tags, n), range(n), range(n)))
    binary = [pairs[k] for k in rng.choice(len(pairs), n_binary, replace=False)]
    tops = range(n_tags, n - 1)
    edges = [(a, b) for a in tops for b in range(n - 1) if a != b]
    unary = [edges[k] for k in rng.choice(len(edges), n_unary, replace=False)]
    chains = {(k,) for k in range(n_unary)}
    for k, m in itertools.permutations(range(n_unary), 2):
        if unary[k][1] == unary[m][0]:
            chains.add((k, m))
            chains |= {(k, m, j) for j in (k,) if unary[m][1] == unary[j][0]}
    label = [-1] * n_tags + [0, *rng.integers(0, 2, n_phrases - 2), -1]
    roots = rng.choice(np.arange(n_tags, n - 1), 2, replace=False)
    return make_tables(n, n_tags, binary, unary, sorted(chains), roots, label)


def features(rng, rows, n):
    counts = rng.integers(0, n + 1, rows)
    lists = [rng.choice(n, c, replace=False) for c in counts]
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return start, np.concatenate([*lists, []]).astype(np.int32), n


def random_parses(seed, lengths=(3, 1, 4), loss="f1", with_features=False, free=False):
    """(batch, number of weights) with true trees drawn from all derivations, or None."""
    rng = np.random.default_rng(seed)
    for _ in range(100):
        tables = random_grammar(rng)
        tags = [
            [
                [0, 1] if free and rng.random() < 0.3 else [int(rng.integers(2))]
                for _ in range(length)
            ]
            for length in lengths
        ]
        words = spans = None
        if with_features:
            words = features(rng, sum(lengths), 2)
            spans = features(rng, sum(n * (n + 1) // 2 for n in lengths), 2)
        bare = make_batch(tables, tags, None, loss, words, spans)
        trees = [list(enumerate_derivations(bare, i)) for i in range(len(lengths))]
        if all(0 < len(t) <= MANY for t in trees) and sum(map(len, trees)) > len(trees):
            y = [t[rng.integers(len(t))] for t in trees]
            batch = for_training(make_batch(tables, tags, y, loss, words, spans))
            sizes = [x[2] if x else 0 for x in (words, spans)]
            return batch, n_weights(tables, *sizes)
    raise AssertionError("no random grammar has trees")


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
        ask = _Asker(batch, i, w, True)
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
    from maxmargin.features.spans import cells
    from maxmargin.structures.cky_k_best import k_best
    from maxmargin.structures.cky_sums import bracket_probabilities

    batch, size = random_parses(seed, (4, 2), "f1", with_features, free)
    w = np.random.default_rng(seed).normal(size=size)
    for i, length in enumerate((4, 2)):
        ask = _Asker(batch, i, w, True)
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
        log_z, table = bracket_probabilities(batch, i, w)
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
        ask = _Asker(batch, 0, np.zeros(size), True)
        truth = Counter(brackets(batch.grammar, batch.y, 4))
        for y in enumerate_derivations(batch, 0):
            found = Counter(brackets(batch.grammar, y, 4))
            right, total = (truth & found).total(), truth.total() + found.total()
            want = total - 2 * right
            if loss == "f1":
                want = 1 - 2 * right / total if total else 0.0
            assert ask.loss(y) == pytest.approx(want)


def test_no_tree_is_marked_and_empty_sentences_are_skipped():
    from maxmargin.structures.cky_k_best import k_best
    from maxmargin.structures.cky_trees import NO_PARSE
    from maxmargin.structures.decode import decode

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
    from maxmargin.structures.decode import decode

    batch, size = random_parses(4, (4, 3, 4, 2, 3), free=True)
    w = np.random.default_rng(0).normal(size=size)
    np.testing.assert_array_equal(decode(batch, w, 1), decode(batch, w, 3))
