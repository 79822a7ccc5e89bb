"""More of ``certificate_cases.py``: trees, links, clusters, graphs, and users' problems."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise, product

import numpy as np
from certificate_cases import RNG, Case, Outputs, squares, with_options
from small_problems import Listed, random_problem, through

import maxmargin as mm
from maxmargin.trees import Tree


def trees() -> Case:
    texts = (
        "(S (NP (DT the) (NN cat)) (VP (VBD sat)))",
        "(S (NP (NNS dogs)) (VP (VBD saw) (NP (DT a) (NN cat))))",
        "(S (NP (NP (NN a)) (PP (IN in) (NP (NN b)))) (VP (VBD is)))",
        "(S (NP (NN I)) (VP (VBD saw) (NP (NN it)) (PP (IN in) (NP (NN it)))))",
    )
    Y = [Tree.parse(text) for text in texts]

    def weigh(model):
        tables = model.coef_, model.root_coef_, model.word_coef_, model.span_coef_
        listed = []
        for truth, every in zip(Y, model.predict_k_best(Y, 10_000), strict=True):
            losses = [_bracket_loss(truth, tree) for tree, _ in every]
            own = [score for tree, score in every if str(tree) == str(truth)]
            listed.append(Outputs(losses, [score for _, score in every], max(own)))
        return squares(*tables), listed

    return Case(
        "trees", with_options(mm.GrammarParser, loss="hamming"), (None, Y), weigh
    )


def _brackets(tree, begin=0) -> tuple[list, int]:
    """((label, begin, end) of all nodes above tags, end)."""
    if all(not isinstance(child, Tree) for child in tree.children):
        return [], begin + 1
    found, end = [], begin
    for child in tree.children:
        below, end = _brackets(child, end)
        found += below
    return [*found, (tree.label, begin, end)], end


def _bracket_loss(a, b) -> int:
    left, right = _brackets(a)[0], _brackets(b)[0]
    for bracket in list(left):
        if bracket in right:
            left.remove(bracket)
            right.remove(bracket)
    return len(left) + len(right)


def words() -> Case:
    rng = RNG(5)
    X = [(["a", "b"], ["x", "y", "z"]), (["c", "a", "d"], ["z", "w"]), (["b"], ["y"])]
    y = [[(0, 0), (1, 2)], [(0, 1)], [(0, 0)]]
    shapes = {tuple(s + t): (len(s), len(t), 3) for s, t in X}
    # the aligner keeps features in single precision
    tables = {key: np.float32(rng.normal(size=size)) for key, size in shapes.items()}

    def features(source, target):
        return tables[tuple([*source, *target])]

    def weigh(model):
        listed = []
        for (s, t), links in zip(X, y, strict=True):
            scores = features(s, t).astype(float) @ model.coef_
            every = list(_matchings(len(s), len(t)))
            losses = [
                len(set(m) - set(links)) + 2.0 * len(set(links) - set(m)) for m in every
            ]
            values = [sum(scores[link] for link in m) for m in every]
            listed.append(Outputs(losses, values, sum(scores[link] for link in links)))
        return squares(model.coef_), listed

    make = with_options(mm.WordAligner, features=[features], fertility=1)
    return Case("word alignment", make, (X, y), weigh)


def _matchings(n: int, m: int) -> Iterator[list]:
    links = list(product(range(n), range(m)))
    for size in range(min(n, m) + 1):
        for chosen in combinations(links, size):
            if all(len(set(side)) == size for side in zip(*chosen, strict=True)):
                yield list(chosen)


def clusters() -> Case:
    rng = RNG(6)
    y = [[0, 0, 1, 1], [0, 1, 1], [0, 1, 0, 2]]
    X = []
    for row in y:
        same = [float(a == b) for a, b in combinations(row, 2)]
        X.append(np.array(same)[:, None] + rng.normal(scale=0.8, size=(len(same), 3)))

    def weigh(model):
        listed = []
        for x, row in zip(X, y, strict=True):
            links = list(combinations(range(len(row)), 2))
            scores = x @ np.ravel(model.coef_) + model.intercept_
            value = dict(zip(links, scores, strict=True))
            wanted = len(row) - len(set(row))
            losses, found, right = [], [], []
            for forest in _forests(len(row)):
                inside = sum(row[a] == row[b] for a, b in forest)
                wrong = len(forest) - inside
                losses.append(wanted - inside + 0.5 * wrong)
                found.append(sum(value[link] for link in forest))
                if inside == wanted and wrong == 0:
                    right.append(found[-1])
            listed.append(Outputs(losses, found, max(right)))
        return squares(model.coef_, model.intercept_), listed

    return Case("clusters (hidden links)", mm.LinkClusterer, (X, y), weigh)


def _forests(n: int) -> Iterator[tuple]:
    links = list(combinations(range(n), 2))
    for size in range(n):
        for chosen in combinations(links, size):
            tree = list(range(n))
            for a, b in chosen:
                old, new = tree[a], tree[b]
                tree = [new if t == old else t for t in tree]
            if len(set(tree)) == n - size:
                yield chosen


def graphs() -> Case:
    rng = RNG(7)
    edges = ([(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 1), (1, 2)], [(0, 1)])
    sizes = (4, 3, 2)
    y = [rng.integers(3, size=n).tolist() for n in sizes]
    y[0] = [0, 1, 2, 1]
    nodes = [np.eye(3)[row] + rng.normal(scale=0.8, size=(len(row), 3)) for row in y]

    def weigh(model):
        tables = model.coef_, model.intercept_, model.edge_coef_
        listed = []
        for x, links, row in zip(nodes, edges, y, strict=True):
            unary = x @ model.coef_.T + model.intercept_

            def score(z, unary=unary, links=links):
                own = sum(unary[v, k] for v, k in enumerate(z))
                return own + sum(model.edge_coef_[z[a], z[b], 0] for a, b in links)

            every = list(product(range(3), repeat=len(row)))
            losses = [sum(a != b for a, b in zip(row, z, strict=True)) for z in every]
            listed.append(Outputs(losses, [score(z) for z in every], score(row)))
        return squares(*tables), listed

    X = list(zip(nodes, edges, strict=True))
    return Case("graphs", mm.GraphLabeler, (X, y), weigh)


class Cutting(mm.DynamicProgram):
    """Where a text is cut into words: a part per word."""

    def graph(self, x):
        builder = mm.HypergraphBuilder(root=len(x))
        builder.leaf(0)
        for j in range(1, len(x) + 1):
            for i in range(j):
                features = [x[i:j], ("length", j - i)]
                builder.edge(j, i, part=(i, j), features=features)
        return builder

    def parts_of(self, x, y):
        ends = np.cumsum([0, *map(len, y)]).tolist()
        return list(pairwise(ends))

    def output_of(self, x, parts):
        return [x[i:j] for i, j in sorted(parts)]


def folding() -> Case:
    y = [["ab", "c"], ["a", "bc", "a"], ["ca", "ab"], ["b", "b", "ca"]]
    X = ["".join(row) for row in y]

    def weigh(model):
        named = model.structure_.named(model.coef_)

        def score(x, ends):
            return sum(
                named.get(x[i:j], 0.0) + named.get(("length", j - i), 0.0)
                for i, j in pairwise(ends)
            )

        listed = []
        for x, row in zip(X, y, strict=True):
            truth = np.cumsum([0, *map(len, row)]).tolist()
            every = [
                [0, *cuts, len(x)]
                for size in range(len(x))
                for cuts in combinations(range(1, len(x)), size)
            ]
            own = set(pairwise(truth))
            losses = [len(own ^ set(pairwise(ends))) for ends in every]
            scores = [score(x, ends) for ends in every]
            listed.append(Outputs(losses, scores, score(x, truth)))
        return squares(model.coef_), listed

    make = with_options(mm.StructuralSVM, problem=Cutting())
    return Case("a dynamic programme", make, (X, y), weigh)


class Written(Case):
    """A problem in Python, whose outputs ``small_problems.Listed`` has."""

    def objective(self, model, C):
        problem, X, Y = self.weigh
        return Listed(problem, X, Y, C, "margin", "linear").primal(model.coef_)


def problems() -> list[Case]:
    found = []
    for seed in range(4):
        problem, X, Y, _ = random_problem(seed)
        make = with_options(mm.StructuralSVM, problem=through(problem, "outputs"))
        name = f"a Python problem: {type(problem).__name__}"
        found.append(Written(name, make, (X, Y), (problem, X, Y)))
    return found
