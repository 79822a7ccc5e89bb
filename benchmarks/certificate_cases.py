"""Small training problems of every family, and their objectives from public attributes.

A case lists all outputs of its few examples, with losses and scores that are written down
here once more, in Python and double precision: nothing is asked of the library but weights.

    objective = 1/2 |w|^2 + C sum_i max_y [loss(y) + score(y)] - score(truth)

With log-losses the maximum is a logarithm of a sum of exponentials, without the loss; where
something is hidden, the score of the truth is the best of its completions.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, pairwise, product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp
from sklearn.datasets import load_digits

import maxmargin as mm
from maxmargin.alignments.features.prior import NONE, make_prior

RNG = np.random.default_rng


class Outputs(NamedTuple):
    """All outputs of an example, and the score of the truth."""

    losses: Any
    scores: Any
    truth: float


class Case(NamedTuple):
    """``make(C=...)`` is an estimator, ``weigh(model)`` gives (|w|^2, Outputs of all)."""

    name: str
    make: Callable
    data: tuple
    weigh: Callable
    log: bool = False

    def objective(self, model, C: float) -> float:
        squared, examples = self.weigh(model)
        risk = 0.0
        for losses, scores, truth in examples:
            scores = np.asarray(scores, float)
            top = logsumexp(scores) if self.log else (np.asarray(losses) + scores).max()
            risk += top - truth
        return 0.5 * squared + C * risk


def squares(*arrays) -> float:
    return sum(float((np.asarray(a, float) ** 2).sum()) for a in arrays)


def with_options(kind, **options):
    return lambda **more: kind(**options, **more)


# classes and sets of labels -----------------------------------------------------------


def _named(name, kind) -> str:
    return f"{name}, {np.dtype(kind).name}"


def classes(kind) -> list[Case]:
    X, y = load_digits(return_X_y=True)
    X, y = (X[:200] / 16 + 0.1).astype(kind), y[:200]
    cost = RNG(0).uniform(0.3, 2.0, size=(10, 10)) * (1 - np.eye(10))

    def weigh(model, losses=cost):
        scores = X.astype(float) @ model.coef_.T + model.intercept_
        listed = [Outputs(losses[k], s, s[k]) for k, s in zip(y, scores, strict=True)]
        return squares(model.coef_, model.intercept_), listed

    make, log = mm.MulticlassSVM, with_options(mm.MulticlassSVM, objective="log")
    solvers = ("auto", "one-slack", "n-slack", "proximal-bundle")
    found = [
        Case(
            _named(f"classes, {solver}", kind),
            with_options(make, loss=cost, solver=solver),
            (X, y),
            weigh,
        )
        for solver in solvers
    ]
    threads = with_options(make, loss=cost, n_jobs=2)
    found.append(Case(_named("classes, two threads", kind), threads, (X, y), weigh))
    return [*found, Case(_named("classes, log", kind), log, (X, y), weigh, True)]


def taxonomies(kind) -> list[Case]:
    names = np.array(["a.b", "a.c", "d.e", "d.f", "g"])
    rng = RNG(1)
    y = rng.integers(5, size=30)
    X = (np.eye(5)[y] + rng.normal(scale=0.7, size=(30, 5))).astype(kind)
    cost = 1.0 - np.eye(5)

    def weigh(model):
        table = X.astype(float) @ model.coef_.T + model.intercept_
        nodes = [str(node) for node in model.nodes_]
        above = [[n for n in nodes if c == n or c.startswith(f"{n}.")] for c in names]
        scores = np.array(
            [table[:, [nodes.index(n) for n in line]].sum(axis=1) for line in above]
        )
        listed = [Outputs(cost[k], s, s[k]) for k, s in zip(y, scores.T, strict=True)]
        return squares(model.coef_, model.intercept_), listed

    make = with_options(mm.TaxonomySVM, loss="zero-one")
    return [Case(_named("taxonomy", kind), make, (X, names[y]), weigh)]


def label_sets(kind) -> list[Case]:
    rng = RNG(2)
    X = rng.normal(size=(25, 4)).astype(kind)
    Y = (X[:, :3] + rng.normal(scale=0.5, size=(25, 3)) > 0.3).astype(int)
    sets = np.array(list(product((0, 1), repeat=3)))

    def weigh(model):
        table = X.astype(float) @ model.coef_.T + model.intercept_
        listed = [
            Outputs(np.abs(sets - y).sum(axis=1), sets @ row, y @ row)
            for y, row in zip(Y, table, strict=True)
        ]
        return squares(model.coef_, model.intercept_), listed

    return [Case(_named("multilabel", kind), mm.MultilabelSVM, (X, Y), weigh)]


# sequences ----------------------------------------------------------------------------


def tags(kind) -> list[Case]:
    rng = RNG(3)
    y = [rng.integers(3, size=rng.integers(1, 6)).tolist() for _ in range(25)]
    X = [
        (np.eye(3, 6)[row] + rng.normal(scale=0.6, size=(len(row), 6))).astype(kind)
        for row in y
    ]

    def weigh(model):
        coef, steps = (
            np.asarray(model.coef_, float),
            np.asarray(model.transitions_, float),
        )
        first, last = np.asarray(model.first_, float), np.asarray(model.last_, float)

        def score(x, row):
            tokens = sum(x[t] @ coef[k] for t, k in enumerate(row))
            moves = sum(steps[a, b] for a, b in pairwise(row))
            return tokens + moves + first[row[0]] + last[row[-1]]

        listed = []
        for x, row in zip(X, y, strict=True):
            x, every = x.astype(float), list(product(range(3), repeat=len(row)))
            losses = [sum(a != b for a, b in zip(row, z, strict=True)) for z in every]
            listed.append(Outputs(losses, [score(x, z) for z in every], score(x, row)))
        return squares(coef, steps, first, last), listed

    make, found = mm.SequenceTagger, []
    for name, options in (
        ("auto", {}),
        ("one-slack", {"solver": "one-slack"}),
        ("n-slack", {"solver": "n-slack"}),
        ("two threads", {"n_jobs": 2}),
        ("log", {"objective": "log"}),
        ("log, lbfgs", {"objective": "log", "solver": "lbfgs"}),
        ("log, two threads", {"objective": "log", "n_jobs": 2}),
    ):
        label = _named(f"tags, {name}", kind)
        made = with_options(make, **options)
        found.append(Case(label, made, (X, y), weigh, "objective" in options))
    return found


def alignments() -> list[Case]:
    X = [("HEAGA", "PAHE"), ("GATTA", "GCAT"), ("AGG", "GAHG")]
    y = [[(0, 2), (1, 3)], [(0, 0), (1, 2), (2, 3)], [(0, 1), (1, 3)]]

    def weigh(model, gaps=True):
        letters = {letter: k for k, letter in enumerate(model.alphabet_)}
        table = np.asarray(model.substitution_matrix_, float)
        rates = model.gap_open_, model.gap_extend_

        def score(s, t, pairs):
            runs = _gaps(len(s), len(t), pairs)
            total = sum(table[letters[s[i]], letters[t[j]]] for i, j in pairs)
            return total + sum(rates[0] + k * rates[1] for k in runs)

        listed = []
        for (s, t), truth in zip(X, y, strict=True):
            every = list(_alignments(len(s), len(t)))
            losses = [len(set(truth) ^ set(pairs)) for pairs in every]
            scores = [score(s, t, pairs) for pairs in every]
            listed.append(Outputs(losses, scores, score(s, t, truth)))
        prior = make_prior(model.model_) if model.prior else NONE
        return squares(prior.unfolded(model.coef_, model.prior_factor_)), listed

    plain = with_options(mm.SequenceAligner, normalize=False)
    make = with_options(plain, loss="hamming")
    log = with_options(plain, objective="log")
    return [
        Case("alignments", make, (X, y), weigh),
        Case("alignments, no prior", with_options(make, prior=False), (X, y), weigh),
        Case("alignments, log", log, (X, y), weigh, True),
    ]


def _alignments(n: int, m: int):
    for size in range(min(n, m) + 1):
        for left in combinations(range(n), size):
            for right in combinations(range(m), size):
                yield list(zip(left, right, strict=True))


def _gaps(n: int, m: int, pairs) -> list[int]:
    """Lengths of the runs without a match, in either sequence."""
    ends = [(-1, -1), *pairs, (n, m)]
    runs = [b[side] - a[side] - 1 for a, b in pairwise(ends) for side in (0, 1)]
    return [run for run in runs if run > 0]


def homologs() -> Case:
    X = [
        ("ABA", ["ABA", "BBB", "AAC"]),
        ("CAB", ["CCB", "AB"]),
        ("BCC", ["CAB", "BCC"]),
    ]
    y = [(0, [(0, 0), (1, 1), (2, 2)]), (1, [(1, 0), (2, 1)]), (1, [(0, 0), (2, 2)])]

    def weigh(model):
        letters = {letter: k for k, letter in enumerate(model.alphabet_)}
        table, rate = model.substitution_matrix_, model.gap_extend_

        def score(s, t, pairs):
            inner = sum(b[0] - a[0] + b[1] - a[1] - 2 for a, b in pairwise(pairs))
            return rate * inner + sum(
                table[letters[s[i]], letters[t[j]]] for i, j in pairs
            )

        listed = []
        for (s, candidates), (right, pairs) in zip(X, y, strict=True):
            truth = score(s, candidates[right], pairs)
            losses, scores = [0.0], [truth]
            for k, t in enumerate(candidates):
                if k != right:
                    found = [score(s, t, p) for p in _alignments(len(s), len(t))]
                    losses, scores = losses + [1.0] * len(found), scores + found
            listed.append(Outputs(losses, scores, truth))
        return squares(table, rate), listed

    return Case(
        "homologs", with_options(mm.HomologFinder, gaps="linear"), (X, y), weigh
    )


def motifs() -> Case:
    X = ["ACGTTTAC", "CCGTTTAG", "ACACACGC", "GGCACAGC", "ATTTACGC", "TGCACGGA"]
    y = [1, 1, 0, 0, 1, 0]
    width = 4

    def weigh(model):
        codes = [["ACGT".index(letter) for letter in x] for x in X]
        lead = model.motif_ - model.background_[None, :4]
        listed = []
        for row, label in zip(codes, y, strict=True):
            sites = [
                sum(lead[j, row[h + j]] for j in range(width))
                for h in range(len(row) - width + 1)
            ]
            losses = [float(label)] + [1.0 - label] * len(sites)
            listed.append(Outputs(losses, [0.0, *sites], max(sites) if label else 0.0))
        return squares(model.coef_), listed

    make = with_options(
        mm.MotifFinder, width=width, order=0, both_strands=False, composition=False
    )
    return Case("motifs (hidden sites)", make, (X, y), weigh)


# rankings -----------------------------------------------------------------------------


def rankings(kind) -> list[Case]:
    rng = RNG(4)
    qid = np.repeat(np.arange(6), 5)
    grades = rng.integers(2, size=30)
    grades[::5], grades[1::5] = 0, 1
    X = (grades[:, None] * 0.5 + rng.normal(size=(30, 4))).astype(kind)

    def differences(model):
        """Of every query: scores of the others below each relevant document."""
        scores = X.astype(float) @ model.coef_
        for q in range(6):
            s, g = scores[qid == q], grades[qid == q]
            yield s[g == 1][:, None] - s[g == 0][None, :]

    def pairs(model):
        listed = []
        for lead in differences(model):
            every = np.array(list(product((0, 1), repeat=lead.size)))
            share = 1.0 / lead.size
            losses, scores = share * every.sum(axis=1), -share * every @ lead.ravel()
            listed.append(Outputs(losses, scores, 0.0))
        return squares(model.coef_), listed

    def orders(model, kind):
        """Of relevant documents r, u_r others stand above; both by falling scores."""
        listed = []
        for lead in differences(model):
            relevant, others = lead.shape
            order = np.argsort(-lead[:, 0], kind="stable")
            lead = lead[order][:, np.argsort(lead[0], kind="stable")]
            losses, scores = [], []
            for u in product(range(others + 1), repeat=relevant):
                if list(u) != sorted(u):
                    continue
                swapped = sum(lead[r, :above].sum() for r, above in enumerate(u))
                losses.append(_rank_loss(kind, u))
                scores.append(-swapped / lead.size)
            listed.append(Outputs(losses, scores, 0.0))
        return squares(model.coef_), listed

    def weigh(loss):
        return pairs if loss == "pairwise" else lambda model: orders(model, loss)

    return [
        Case(
            _named(f"rankings, {loss}", kind),
            with_options(mm.TopKRanker, loss=loss),
            (X, grades, qid),
            weigh(loss),
        )
        for loss in ("pairwise", "ndcg", "average-precision")
    ]


def _rank_loss(kind: str, u) -> float:
    places = [r + above for r, above in enumerate(u, 1)]
    if kind == "average-precision":
        return float(np.mean([a / p for a, p in zip(u, places, strict=True)]))
    gains = 1.0 / np.log2(1.0 + np.array(places))
    ideal = 1.0 / np.log2(2.0 + np.arange(len(places)))
    return float(1.0 - gains.sum() / ideal.sum())
