"""Random grammars and sentences, and the enumeration of all derivations."""

import itertools

import numpy as np

from maxmargin.trees.cky.parses import for_training, make_batch, n_weights
from maxmargin.trees.cky.tables import make_tables

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
