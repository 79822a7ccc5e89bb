"""The log objective over every structure with sums, against enumeration and peers."""

import alignment_cases
import hypergraph_cases
import numpy as np
import parse_cases
import pytest
from conftest import random_chain, random_multiclass
from scipy.special import logsumexp
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from maxmargin import (
    DynamicProgram,
    GrammarParser,
    HomologFinder,
    HypergraphBuilder,
    MulticlassSVM,
    Problem,
    SequenceAligner,
    SequenceTagger,
    StructuralSVM,
    TaxonomySVM,
    WordAligner,
)
from maxmargin.core.formulation import make_form
from maxmargin.solvers import registry
from maxmargin.solvers.driver import drive
from maxmargin.solvers.log.log_objective import LogObjective
from maxmargin.solvers.result import Limits
from maxmargin.testing import Asker, enumerate_chain, enumerate_multiclass
from maxmargin.trees import Tree

TOL = 1e-5


def alignments(seed):
    batch, model = alignment_cases.random_batch(seed)
    return batch, model.n_weights, alignment_cases.enumerate_alignments


def trees(seed):
    found = parse_cases.random_parses(seed, with_features=True, free=True)
    return *found, parse_cases.enumerate_derivations


def hypergraphs(seed):
    batch = hypergraph_cases.random_batch(seed)
    return batch, 6, hypergraph_cases.enumerate_hypergraph


FAMILIES = {
    "classes": lambda seed: (*random_multiclass(seed), enumerate_multiclass),
    "tags": lambda seed: (*random_chain(seed), enumerate_chain),
    "hypergraphs": hypergraphs,
    "trees": trees,
    "alignments": alignments,
}
family = pytest.mark.parametrize("family", FAMILIES)


def objective_on(batch, n_weights, C=1.0):
    mass = C * np.array([0.5, 2.0, 1.0] * len(batch.start))[: len(batch.start) - 1]
    form = make_form("margin", "linear", TOL)
    return LogObjective(batch, n_weights, form, mass, np.float64)


@family
def test_losses_and_gradients_are_those_of_all_outputs(family):
    """Log-losses, margins and the gradient: by listing, and by finite differences."""
    batch, n_weights, listed = FAMILIES[family](1)
    objective = objective_on(batch, n_weights)
    w = np.random.default_rng(0).normal(size=n_weights)
    value, gradient = objective.value_and_gradient(w)
    sweep = objective.sweep(w, 0.5)
    total, slope = 0.5 * w @ w, w.copy()
    for i in range(objective.n):
        ask = Asker(batch, i, w, True)
        psi = np.array([ask.features(y) for y in listed(batch, i)])
        truth = ask.features(batch.y[batch.start[i] : batch.start[i + 1]])
        scores = psi @ w
        p = np.exp(scores - logsumexp(scores))
        total += objective.mass[i] * (logsumexp(scores) - truth @ w)
        slope += objective.mass[i] * (p @ psi - truth)
        half = np.exp(0.5 * scores - logsumexp(0.5 * scores))
        assert sweep.hinges[i] == pytest.approx(
            logsumexp(0.5 * scores) - 0.5 * truth @ w, abs=1e-9
        )
        assert sweep.margins[i] == pytest.approx(
            0.5 * (truth @ w - half @ scores), abs=1e-9
        )
    assert value == pytest.approx(total, rel=1e-10)
    np.testing.assert_allclose(gradient, slope, atol=1e-9 * np.abs(slope).max())
    for direction in np.random.default_rng(1).normal(size=(3, n_weights)):
        h = 1e-5
        up = objective.value_and_gradient(w + h * direction)[0]
        down = objective.value_and_gradient(w - h * direction)[0]
        size = np.linalg.norm(gradient) * np.linalg.norm(direction)
        wanted = pytest.approx((up - down) / (2 * h), abs=1e-7 * size)
        assert gradient @ direction == wanted


@family
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_solvers_agree_and_keep_their_promises(family, C):
    batch, n_weights, _ = FAMILIES[family](2)
    primals = []
    for name in ("exponentiated", "lbfgs"):
        objective = objective_on(batch, n_weights, C)
        solver = registry.make(name, objective)
        solution = drive(objective, solver, Limits(tol=TOL, max_iter=3000))
        assert solution.converged, name
        duals = np.array([row["dual"] for row in solution.history])
        assert (np.diff(duals) >= 0).all(), name
        assert all(row["gap"] >= 0 for row in solution.history), name
        certificate = solution.certificate
        assert certificate.relative_gap <= TOL
        primal = objective.primal(solution.w)[0]
        assert certificate.primal == pytest.approx(primal, rel=1e-9)
        _, gradient = objective.value_and_gradient(solution.w)
        # strong convexity: |w - best|^2 / 2 <= gap, so the gradient is small too
        assert certificate.dual <= primal
        assert primal - 0.5 * gradient @ gradient <= certificate.primal
        primals.append(primal)
    assert primals[0] == pytest.approx(primals[1], rel=2 * TOL)


def test_exponentiated_dual_is_exact():
    """Entropies and weights of the distributions kept, by listing all outputs."""
    batch, n_weights, listed = FAMILIES["tags"](3)
    objective = objective_on(batch, n_weights)
    solver = registry.make("exponentiated", objective)
    for _ in range(3):
        solver.step()
    w = solver.candidates()[1]
    dual, expected = -0.5 * w @ w, np.zeros(n_weights)
    for i in range(objective.n):
        place = solver.gibbs.place[i : i + 2]
        theta = np.zeros(Asker(batch, i, w, True).theta.shape)
        own = solver.gibbs.scores[place[0] : place[1]].reshape(-1, batch.width)
        theta[: len(own)] = own
        ask = Asker(batch, i, w, True)
        ask.theta = theta
        every = list(listed(batch, i))
        scores = np.array([ask.value(y) for y in every])
        log_p = scores - logsumexp(scores)
        dual -= objective.mass[i] * np.exp(log_p) @ log_p
        psi = np.array([ask.features(y) for y in every])
        truth = ask.features(batch.y[batch.start[i] : batch.start[i + 1]])
        expected += objective.mass[i] * (truth - np.exp(log_p) @ psi)
    assert solver.dual == pytest.approx(dual, rel=1e-9)
    np.testing.assert_allclose(w, expected, atol=1e-9)


@pytest.mark.parametrize("C", [0.1, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_classes_are_logistic_regression(C, weighted):
    X, y = load_iris(return_X_y=True)
    X = X - X.mean(axis=0)
    weights = np.where(y == 1, 2.0, 0.5) if weighted else None
    peer = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=10_000)
    peer.fit(X, y, weights)
    for solver in ("exponentiated", "lbfgs"):
        model = MulticlassSVM(
            C=C,
            objective="log",
            fit_intercept=False,
            tol=1e-11,
            solver=solver,
            max_iter=5000,
        ).fit(X, y, weights)
        assert model.converged_
        np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
        np.testing.assert_allclose(
            model.predict_proba(X), peer.predict_proba(X), atol=1e-5
        )
    assert not hasattr(MulticlassSVM(), "predict_proba")


def test_taxonomy_of_single_nodes_is_logistic_regression():
    X, y = load_iris(return_X_y=True)
    X, labels = X - X.mean(axis=0), np.array(["a", "b", "c"])[y]
    options = {"objective": "log", "tol": 1e-9, "C": 0.5, "fit_intercept": False}
    flat = MulticlassSVM(**options).fit(X, labels)
    tree = TaxonomySVM(mode="hierarchical", **options).fit(X, labels)
    assert tree.certificate_.primal == pytest.approx(flat.certificate_.primal, rel=1e-7)
    np.testing.assert_allclose(tree.coef_, flat.coef_, atol=1e-4)


def test_taxonomy_shares_what_its_nodes_share():
    """The optimum of a taxonomy against a smooth solver on the same features."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    y = rng.choice(["pet.cat", "pet.dog", "car"], size=40)
    model = TaxonomySVM(C=1.0, objective="log", tol=1e-8, fit_intercept=False)
    model.fit(X, y)
    nodes, classes = list(model.nodes_), list(model.classes_)
    marks = np.array(
        [[node == c or c.startswith(f"{node}.") for node in nodes] for c in classes]
    )
    truth = np.array([classes.index(label) for label in y])

    def value(flat):
        scores = X @ flat.reshape(len(nodes), 3).T @ marks.T
        losses = logsumexp(scores, axis=1) - scores[np.arange(40), truth]
        return 0.5 * flat @ flat + losses.sum()

    best = minimize(value, np.zeros(3 * len(nodes)), options={"gtol": 1e-7})
    assert model.certificate_.primal == pytest.approx(best.fun, rel=1e-6)


TREES = [
    Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))"),
    Tree.parse("(S (NP (NNS dogs)) (VP (VBD saw) (NP (DT a) (NN cat))))"),
    Tree.parse("(S (NP (DT a) (NN dog)) (VP (VBD saw) (NP (NNS cats))))"),
    Tree.parse("(S (NP (NP (NNS cats)) (PP (IN in) (NP (NNS hats)))) (VP (VBD sat)))"),
    Tree.parse(
        "(S (NP (NNS I)) (VP (VBD sat) (NP (NN it)) (PP (IN in) (NP (NN it)))))"
    ),
]


def test_parser_learns_probabilities():
    parser = GrammarParser(objective="log", C=5, tol=1e-3).fit(None, TREES)
    assert parser.converged_
    assert parser.certificate_.relative_gap <= 1e-3
    assert parser.predict(TREES) == TREES
    batch, w = parser.structure_.encode(TREES), parser._w
    for i, found in enumerate(parser.predict_marginals(TREES, threshold=0.0)):
        every = list(parse_cases.enumerate_derivations(batch, i))
        ask = Asker(batch, i, w.astype(np.float64), True)
        scores = np.array([ask.value(y) for y in every])
        p = np.exp(scores - logsumexp(scores))
        wanted = {}
        for y, share in zip(every, p, strict=True):
            tree = parser.structure_.derivations.tree(y, TREES[i].words())
            for bracket in set(tree.spans()):
                wanted[bracket] = wanted.get(bracket, 0.0) + share
        shown = {bracket: x for bracket, x in found.items() if x > 0}
        assert shown == pytest.approx(wanted, abs=1e-7)


def test_aligner_learns_probabilities():
    X = [("HEAGAWGHEE", "PAWHEAE"), ("GATTACA", "GCATGCA")]
    y = [("HEAGAWGHE-E", "--P-AW-HEAE"), ("G-ATTACA", "GCA-TGCA")]
    model = SequenceAligner(objective="log", C=1000, tol=1e-3).fit(X, y)
    assert model.converged_
    assert model.score(X, y) > 0.9
    batch = model.structure_.encode(X, y)
    for i, found in enumerate(model.predict_marginals(X)):
        if found.size > 50:
            continue  # the second pair is small enough to list
        ask = Asker(batch, i, model.coef_, True)
        every = list(alignment_cases.enumerate_alignments(batch, i))
        scores = np.array([ask.value(z) for z in every])
        p, wanted = np.exp(scores - logsumexp(scores)), np.zeros(found.shape)
        for share, z in zip(p, every, strict=True):
            at = np.flatnonzero(z >= 0)
            wanted[at, z[at]] += share
        np.testing.assert_allclose(found, wanted, atol=1e-9)


class Words(DynamicProgram):
    """Cut a text into words."""

    def graph(self, x):
        builder = HypergraphBuilder(root=len(x))
        builder.leaf(0)
        for end in range(1, len(x) + 1):
            for begin in range(max(0, end - 6), end):
                word = x[begin:end]
                builder.edge(end, begin, part=(begin, end), features=[word])
        return builder

    def parts_of(self, x, y):
        ends = np.cumsum([len(word) for word in y])
        return [(int(e) - len(word), int(e)) for word, e in zip(y, ends, strict=True)]

    def output_of(self, x, parts):
        return [x[begin:end] for begin, end in parts]


def test_dynamic_programmes_of_users():
    X, y = ["acatsat", "thecat"], [["a", "cat", "sat"], ["the", "cat"]]
    model = StructuralSVM(Words(), C=10, objective="log", tol=1e-4).fit(X, y)
    assert model.converged_
    assert model.predict(["thecatsat"]) == [["the", "cat", "sat"]]
    assert model.predict_marginals(["thecat"])[0][(0, 3)] > 0.5


class Sign(Problem):
    def joint_feature(self, x, y):
        return np.array([x * y])

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def argmax(self, x, w):
        return 1 if x * w[0] >= 0 else -1

    def loss_augmented_argmax(self, x, y, w):
        return max((-1, 1), key=lambda z: x * z * w[0] + (z != y))


@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        (StructuralSVM(Sign(), objective="log"), [1.0, -2.0], [1, -1]),
        (WordAligner(objective="log"), [("a b", "c d")], ["0-0 1-1"]),
        (HomologFinder(objective="log"), [], []),
        (
            TaxonomySVM(objective="log", multilabel=True),
            [[1.0], [2.0]],
            [{"a"}, {"a.b"}],
        ),
    ],
    ids=["Problem", "WordAligner", "HomologFinder", "closures"],
)
def test_families_without_sums_say_so(model, X, y):
    with pytest.raises(ValueError, match=r"sums over all outputs.*objective='hinge'"):
        model.fit(X, y)


@pytest.mark.parametrize("objective", ["perceptron", "passive-aggressive"])
def test_online_objectives_for_everyone(objective):
    X, y = load_iris(return_X_y=True)
    assert MulticlassSVM(objective=objective).fit(X, y).score(X, y) > 0.7
    parser = GrammarParser(objective=objective, C=1).fit(None, TREES)
    assert parser.predict(TREES) == TREES
    assert parser.n_iter_ <= 10
    signs = StructuralSVM(Sign(), objective=objective).fit([1.0, -2.0], [1, -1])
    assert signs.predict([3.0, -1.0]) == [1, -1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"objective": "logistic"}, "objective='logistic' is not known"),
        ({"objective": None}, "objective=None is not known"),
        ({"objective": "log", "C": np.inf}, "a hard margin, needs objective='hinge'"),
        ({"objective": "log", "rescaling": "slack"}, "rescaling and penalty belong to"),
        ({"objective": "log", "solver": "n-slack"}, "cannot minimise objective='log'"),
        ({"objective": "hinge", "solver": "lbfgs"}, "cannot minimise"),
    ],
)
def test_bad_choices_are_refused_before_any_work(options, words):
    for model in (MulticlassSVM(**options), GrammarParser(**options)):
        with pytest.raises(ValueError, match=words):
            model.fit(None, None)


@pytest.mark.parametrize(
    "options",
    [{"objective": "marginal"}, {"objective": "log", "decoding": "posterior"}],
)
def test_posteriors_are_decoded_within_the_scheme(options):
    """Most pairs begin with O and most end with I-X, though no pair is O, I-X."""
    from itertools import product

    from maxmargin.tags.schemes import forbidden_transitions

    counts = {"B-X I-X": 7, "O O": 3, "O B-X": 3, "O B-Y": 2, "B-Y I-Y": 3, "B-Y O": 2}
    y = [pair.split() for pair, count in counts.items() for _ in range(count)]
    X = [[["first"], ["second"]]] * len(y)
    model = SequenceTagger(scheme="BIO", C=100, **options).fit(X, y)
    labels = model.classes_.tolist()
    forbidden = set(forbidden_transitions(labels, "BIO"))
    (found,), (table,) = model.predict(X[:1]), model.predict_marginals(X[:1])
    assert [labels[k] for k in table.argmax(axis=1)] == ["O", "I-X"]
    sums = {
        pair: table[[0, 1], [labels.index(label) for label in pair]].sum()
        for pair in product(labels, repeat=2)
        if allowed(pair, forbidden)
    }
    assert tuple(found) == max(sums, key=sums.get)


def allowed(row, forbidden):
    steps = zip([None, *row], [*row, None], strict=True)
    return not any(step in forbidden for step in steps)
