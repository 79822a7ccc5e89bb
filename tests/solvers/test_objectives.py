"""Objectives of a tagger: gradients, bounds and optima against all label sequences."""

from itertools import product

import numpy as np
import pytest
from conftest import random_chain
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

from maxmargin import SequenceTagger
from maxmargin.core import contract
from maxmargin.core.expectations import expectations
from maxmargin.core.formulation import make_form
from maxmargin.core.kernel import interpreted
from maxmargin.solvers import registry
from maxmargin.solvers.driver import drive
from maxmargin.solvers.handover import Handover
from maxmargin.solvers.log_objective import LogObjective
from maxmargin.solvers.result import Limits
from maxmargin.solvers.smooth import LBFGS
from maxmargin.tags.chain_gradients import ChainObjective
from maxmargin.tags.chain_inference import table_per_token

KINDS = ("log", "marginal", "exponential")
FORM = make_form("margin", "linear", 0.01)
LENGTHS = (1, 2, 3, 4, 5)


# All label sequences of a chain, by the definition --------------------------------------


def chain(seed, lengths=LENGTHS, n_labels=3, n_features=4, wall=0.0):
    """A random batch; ``wall`` is the share of transitions and ends that is forbidden."""
    batch, n_weights = random_chain(seed, lengths, n_labels, n_features)
    rng = np.random.default_rng(seed)
    barrier = batch.barrier
    barrier[:, :n_labels][rng.random((n_labels + 2, n_labels)) < wall] = -np.inf
    barrier[0, 0] = barrier[n_labels, 0] = barrier[n_labels + 1, 0] = (
        0.0  # a way through
    )
    for i in range(len(lengths)):
        every = labellings(batch, i)
        truth = every[rng.integers(len(every))]
        batch.y[batch.start[i] : batch.start[i + 1]] = truth
    return batch, n_weights


def labellings(batch, i):
    """The allowed labellings of example i."""
    n, wall = batch.n_labels, batch.barrier
    length = batch.start[i + 1] - batch.start[i]
    every = np.array(list(product(range(n), repeat=length)), int).reshape(-1, length)
    walls = wall[n, every[:, 0]] + wall[n + 1, every[:, -1]]
    for t in range(1, length):
        walls = walls + wall[every[:, t - 1], every[:, t]]
    return every[walls == 0]


def features(batch, i, every):
    """Psi(x_i, y) of every labelling, one row each."""
    n, d, width = batch.n_labels, batch.n_features, batch.width
    out = np.zeros((len(every), (d + n + 2) * width))
    rows = np.arange(len(every))
    first = batch.start[i]
    for t in range(every.shape[1]):
        y = every[:, t]
        for j in range(batch.indptr[first + t], batch.indptr[first + t + 1]):
            np.add.at(out, (rows, batch.indices[j] * width + y), batch.values[j])
        if t > 0:
            np.add.at(out, (rows, (d + every[:, t - 1]) * width + y), 1.0)
    np.add.at(out, (rows, (d + n) * width + every[:, 0]), 1.0)
    np.add.at(out, (rows, (d + n + 1) * width + every[:, -1]), 1.0)
    return out


class Listed:
    """Example i with all its labellings and their scores at w."""

    def __init__(self, batch, i, w):
        self.every = labellings(batch, i)
        self.psi = features(batch, i, self.every)
        self.scores = self.psi @ w
        self.truth = batch.y[batch.start[i] : batch.start[i + 1]]
        self.is_truth = (self.every == self.truth).all(axis=1)
        self.lead = self.scores - self.scores[self.is_truth][0]
        self.p = np.exp(self.scores - logsumexp(self.scores))
        self.log_p_truth = -logsumexp(self.lead)
        self.share = 0.5 ** len(self.truth)

    def marginals(self, n_labels):
        is_label = self.every[:, :, None] == np.arange(n_labels)
        return np.einsum("y,ytk->tk", self.p, is_label)

    def loss(self, kind):
        if kind == "log":
            return -self.log_p_truth
        if kind == "exponential":
            return self.share * np.exp(self.lead[~self.is_truth]).sum()
        return -sum(
            np.log(self.p[self.every[:, t] == k].sum())
            for t, k in enumerate(self.truth)
        )


def listed(batch, w):
    return [Listed(batch, i, w) for i in range(len(batch.start) - 1)]


def smooth_task(batch, n_weights, kind, C=1.0, l1=0.0):
    mass = C * np.ones(len(batch.start) - 1)
    arguments = (batch, n_weights, FORM, mass, np.float64)
    if kind == "log":
        return LogObjective(*arguments, l1=l1)
    return ChainObjective(*arguments, kind=kind, l1=l1)


def weights(batch, n_weights, seed, size=1.0):
    w = size * np.random.default_rng(seed + 1).normal(size=n_weights)
    w.reshape(-1, batch.width)[:, batch.n_labels :] = 0  # padding is not a label
    return w


# Gradients ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3]), st.sampled_from([3, 7]))
@settings(max_examples=12)
def test_gradients_are_finite_differences(kind, seed, wall, n_labels):
    lengths = LENGTHS if n_labels == 3 else (1, 2, 3)  # 7 labels: rows with padding
    batch, n_weights = chain(seed, lengths, n_labels, wall=wall)
    objective = smooth_task(batch, n_weights, kind)
    w = weights(batch, n_weights, seed)
    value, gradient = objective.value_and_gradient(w)
    enumerated = 0.5 * w @ w + sum(x.loss(kind) for x in listed(batch, w))
    assert value == pytest.approx(enumerated, rel=1e-11)
    for direction in np.random.default_rng(seed).normal(size=(4, n_weights)):
        h = 1e-5
        up = objective.value_and_gradient(w + h * direction)[0]
        down = objective.value_and_gradient(w - h * direction)[0]
        slope = (up - down) / (2 * h)
        size = np.linalg.norm(gradient) * np.linalg.norm(direction)
        assert gradient @ direction == pytest.approx(slope, abs=1e-7 * size)


@pytest.mark.parametrize("seed", range(6))
def test_marginal_gradient_where_scores_are_far_apart(seed):
    batch, n_weights = chain(seed, LENGTHS, 3, wall=0.3)
    objective = smooth_task(batch, n_weights, "marginal")
    w = weights(batch, n_weights, seed, 100.0)
    value, gradient = objective.value_and_gradient(w)
    enumerated = 0.5 * w @ w
    for x in listed(batch, w):
        for t, k in enumerate(x.truth):
            enumerated -= logsumexp(x.scores[x.every[:, t] == k]) - logsumexp(x.scores)
    assert value == pytest.approx(enumerated, rel=1e-9)
    for direction in np.random.default_rng(seed).normal(size=(4, n_weights)):
        h = 1e-4
        up = objective.value_and_gradient(w + h * direction)[0]
        down = objective.value_and_gradient(w - h * direction)[0]
        size = np.linalg.norm(gradient) * np.linalg.norm(direction)
        slope = (up - down) / (2 * h)
        assert gradient @ direction == pytest.approx(slope, abs=1e-5 * size)


@pytest.mark.parametrize("kind", KINDS)
def test_every_entry_of_a_gradient(kind):
    """Coordinate by coordinate, against enumeration, the padding included."""
    batch, n_weights = chain(3, (1, 2, 3), 7, n_features=2, wall=0.2)
    w = weights(batch, n_weights, 3)
    objective = smooth_task(batch, n_weights, kind)
    for i in range(3):
        gradient = np.zeros(n_weights)
        objective._gradient_range(i, i + 1, w, np.zeros(3), gradient)
        x = Listed(batch, i, w)
        if kind == "marginal":
            wanted = len(x.truth) * x.p @ x.psi
            for t, k in enumerate(x.truth):
                p = np.where(x.every[:, t] == k, x.p, 0.0)
                wanted -= p / p.sum() @ x.psi
        else:
            factor = 1.0 if kind == "log" else x.share * np.exp(-x.log_p_truth)
            wanted = factor * (x.p - x.is_truth) @ x.psi
        np.testing.assert_allclose(gradient, wanted, atol=1e-11 * max(1, factor_of(x)))


def factor_of(x):
    return x.share * np.exp(-x.log_p_truth)


@given(st.integers(0, 10**6), st.sampled_from([1.0, 10.0, 25.0]))
@settings(max_examples=20)
def test_sums_agree_with_enumeration(seed, size):
    """Marginals, expected transitions and log Z."""
    check_sums(seed, size)


@pytest.mark.parametrize("seed", [11, 23])
def test_sums_where_scores_are_far_apart(seed):
    check_sums(seed, 60.0)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_dual_is_a_bound_where_scores_are_far_apart():
    X = [1000.0 * np.array([[1, 0], [0, 1], [0.5, 0.5]]), 1000.0 * np.eye(2)[::-1]] * 3
    y = [["A", "B", "A"], ["B", "A"]] * 3
    options = {"objective": "log", "C": 10, "forbidden": [("A", "A")], "max_iter": 50}
    good = SequenceTagger(solver="lbfgs", **options).fit(X, y)
    model = SequenceTagger(solver="exponentiated", **options).fit(X, y)
    assert model.certificate_.dual <= good.certificate_.primal * (1 + 1e-6)


def check_sums(seed, size):
    batch, n_weights = chain(seed, wall=0.3)
    w = weights(batch, n_weights, seed, size)
    table = table_per_token("sum", batch, w)
    n = batch.n_labels
    found, totals = expectations(batch, w)
    for i, x in enumerate(listed(batch, w)):
        length, total = len(x.truth), totals[i]
        mu = found[i].reshape(-1, batch.width)
        assert total == pytest.approx(logsumexp(x.scores), rel=1e-11, abs=1e-9)
        wanted = x.marginals(batch.n_labels)
        np.testing.assert_allclose(mu[n + 2 :], wanted, atol=1e-10)
        np.testing.assert_allclose(mu[n : n + 2], wanted[[0, -1]], atol=1e-10)
        np.testing.assert_allclose(
            table[batch.start[i] : batch.start[i + 1]], wanted, atol=1e-10
        )
        pairs = np.zeros((batch.n_labels, batch.n_labels))
        for t in range(1, length):
            np.add.at(pairs, (x.every[:, t - 1], x.every[:, t]), x.p)
        np.testing.assert_allclose(mu[:n], pairs, atol=1e-10)


# Bounds ---------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 5.0]))
@settings(max_examples=30)
def test_losses_bound_the_risks_that_the_survey_says(seed, size):
    batch, n_weights = chain(seed, wall=0.2 * (seed % 2))
    w = weights(batch, n_weights, seed, size)
    risks = dict.fromkeys(("zero-one", "hamming", "rank"), 0.0)
    for x in listed(batch, w):
        wrong = x.lead[~x.is_truth]
        risks["zero-one"] += wrong.max(initial=-np.inf) >= 0
        pointwise = x.marginals(batch.n_labels).argmax(axis=1)
        risks["hamming"] += (pointwise != x.truth).sum()
        risks["rank"] += x.share * (wrong >= 0).sum()
    bounds = {}
    for kind in KINDS:
        objective = smooth_task(batch, n_weights, kind)
        bounds[kind] = float(objective.sweep(w).hinges.sum())
    slop = 1e-9
    assert risks["zero-one"] <= bounds["log"] / np.log(2) + slop
    assert risks["hamming"] <= bounds["marginal"] / np.log(2) + slop
    assert risks["rank"] <= bounds["exponential"] + slop


# Optima ---------------------------------------------------------------------------------


def toy(seed=0, n=25, labels="ABC", words=8, longest=6):
    """Sentences of made-up words with some bearing on the labels."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        tags = rng.integers(len(labels), size=rng.integers(1, longest + 1))
        noise = rng.integers(words, size=len(tags))
        shown = np.where(rng.random(len(tags)) < 0.6, tags, noise)
        X.append([[f"w{k}", f"odd{k % 2}"] for k in shown])
        y.append([labels[k] for k in tags])
    return X, y


def objective_of(model, X, y, C):
    """The regularised log-loss of a model's public weights."""
    parts = (model.coef_, model.transitions_, model.first_, model.last_)
    value = 0.5 * sum(float((part**2).sum()) for part in parts)
    return value + C * sum(log_loss(model, x, t) for x, t in zip(X, y, strict=True))


def log_loss(model, x, tags):
    names = {name: j for j, name in enumerate(model.feature_names_)}
    emissions = np.array([model.coef_[:, [names[f] for f in t]].sum(axis=1) for t in x])
    k = [list(model.classes_).index(tag) for tag in tags]
    ahead = model.first_ + emissions[0]
    truth = model.first_[k[0]] + emissions[0, k[0]]
    for t in range(1, len(x)):
        ahead = logsumexp(ahead[:, None] + model.transitions_, axis=0) + emissions[t]
        truth += model.transitions_[k[t - 1], k[t]] + emissions[t, k[t]]
    return logsumexp(ahead + model.last_) - truth - model.last_[k[-1]]


@pytest.mark.parametrize("C", [0.1, 3.0])
def test_both_solvers_of_the_crf_reach_one_optimum(C):
    X, y = toy()
    options = {"objective": "log", "C": C, "tol": 1e-6, "max_iter": 3000}
    models = [
        SequenceTagger(solver=solver, **options).fit(X, y)
        for solver in ("exponentiated", "lbfgs")
    ]
    for model in models:
        primal = model.certificate_.primal
        assert model.converged_
        assert objective_of(model, X, y, C) == pytest.approx(primal, rel=1e-6)
    a, b = (model.certificate_.primal for model in models)
    assert a == pytest.approx(b, rel=1e-5)
    np.testing.assert_allclose(models[0].coef_, models[1].coef_, atol=1e-2)


def crfsuite_weights(X, y, C, path, template):
    """CRFsuite's optimum put into a copy of our model.

    It has no weights for the ends of a sequence: two attributes take their place.
    """
    pycrfsuite = pytest.importorskip("pycrfsuite")
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    for x, tags in zip(X, y, strict=True):
        tokens = [list(token) for token in x]
        tokens[0].append("<first>")
        tokens[-1].append("<last>")
        trainer.append(tokens, tags)
    trainer.set_params(
        {
            "c1": 0.0,
            "c2": 1 / (2 * C),
            "feature.possible_states": 1,
            "feature.possible_transitions": 1,
            "epsilon": 1e-9,
            "delta": 1e-12,
            "max_iterations": 2000,
        }
    )
    trainer.train(str(path))
    tagger = pycrfsuite.Tagger()
    tagger.open(str(path))
    info = tagger.info()
    labels = list(template.classes_)
    names = {name: j for j, name in enumerate(template.feature_names_)}
    for part in (
        template.coef_,
        template.transitions_,
        template.first_,
        template.last_,
    ):
        part[:] = 0
    for (name, label), value in info.state_features.items():
        k = labels.index(label)
        if name == "<first>":
            template.first_[k] = value
        elif name == "<last>":
            template.last_[k] = value
        else:
            template.coef_[k, names[name]] = value
    for (a, b), value in info.transitions.items():
        template.transitions_[labels.index(a), labels.index(b)] = value
    return template


@pytest.mark.parametrize("C", [0.1, 2.0])
def test_crfsuite_has_the_same_optimum(C, tmp_path):
    X, y = toy(1, n=40)
    fitted = [
        SequenceTagger(objective="log", C=C, tol=1e-6, max_iter=3000).fit(X, y)
        for _ in range(2)
    ]
    ours = objective_of(fitted[0], X, y, C)
    peer = crfsuite_weights(X, y, C, tmp_path / "peer.crfsuite", fitted[1])
    theirs = objective_of(peer, X, y, C)
    assert ours <= theirs * (1 + 1e-6)
    assert ours == pytest.approx(theirs, rel=1e-4)
    np.testing.assert_allclose(fitted[0].coef_, peer.coef_, atol=0.02)
    assert fitted[0].predict(X) == peer.predict(X)


@pytest.mark.parametrize("kind", ["log", "exponential"])
def test_l1_gives_zeros_and_an_optimum(kind):
    batch, n_weights = chain(5, (3, 4, 2, 5, 1, 3))
    l1 = 0.7
    objective = smooth_task(batch, n_weights, kind, C=1.0, l1=l1)
    solution = drive(objective, LBFGS(objective), Limits(tol=1e-8, max_iter=2000))
    w = solution.w
    assert solution.converged
    assert 0 < np.count_nonzero(w) < 0.8 * n_weights
    _, gradient = objective.value_and_gradient(w)
    used = w != 0
    np.testing.assert_allclose(gradient[used], -l1 * np.sign(w[used]), atol=1e-3)
    assert (np.abs(gradient[~used]) <= l1 + 1e-3).all()


def test_shrink_is_the_default_on_the_weights_of_an_example():
    batch, n_weights = chain(3, (3, 4, 2))
    rng, l1 = np.random.default_rng(0), 0.7
    v = weights(batch, n_weights, 1)
    w = np.sign(v) * np.maximum(np.abs(v) - l1, 0)
    for i in range(3):
        mu = rng.normal(size=contract.shape(batch))
        contract.spread(batch, i, 1.0, mu, v)
        goal = w.copy()
        grown = interpreted(contract.shrink.default)(batch, i, v, l1, goal)
        assert grown == pytest.approx(0.5 * (goal @ goal - w @ w))
        assert contract.shrink(batch, i, v, l1, w) == pytest.approx(grown)
        np.testing.assert_array_equal(w, goal)
        np.testing.assert_allclose(w, np.sign(v) * np.maximum(np.abs(v) - l1, 0))


@pytest.mark.parametrize("C", [0.3, 30.0])
@pytest.mark.parametrize("l1", [0.2, 2.0])
def test_l1_by_every_solver(C, l1):
    """Each bound of each solver lies below the objective of all, by enumeration."""
    batch, n_weights = chain(5, (3, 4, 2, 5, 1, 3))
    objective = smooth_task(batch, n_weights, "log", C=C, l1=l1)
    assert objective.solver == "handover"
    limits = Limits(tol=1e-6, max_iter=3000)
    found = {
        name: drive(objective, registry.make(name, objective), limits)
        for name in ("exponentiated", "lbfgs", "auto")
    }
    primals = []
    for solution in found.values():
        w = solution.w
        losses = sum(x.loss("log") for x in listed(batch, w))
        primals.append(0.5 * w @ w + l1 * np.abs(w).sum() + C * losses)
        assert solution.certificate.primal == pytest.approx(primals[-1], rel=1e-9)
        assert (w == 0).any()
    for name, solution in found.items():
        assert solution.converged, name
        duals = [row["dual"] for row in solution.history]
        assert max(duals) <= min(primals) * (1 + 1e-9), name


def test_l1_hands_over(monkeypatch):
    """L-BFGS goes on from the dual point of the first solver, and proves it again."""
    batch, n_weights = chain(5, (3, 4, 2, 5, 1, 3))
    objective = smooth_task(batch, n_weights, "log", C=1.0, l1=0.3)
    solver = Handover(objective)
    solver.prepare()
    for _ in range(3):
        solver.step()
    before = solver.dual
    monkeypatch.setattr(Handover, "_stuck", lambda self: True)
    solver.step()
    assert isinstance(solver.now, LBFGS)
    assert solver.dual >= before * (1 - 1e-12)
    assert solver.proved() == pytest.approx(solver.dual, rel=1e-9)


def test_l1_through_the_estimator():
    X, y = toy()
    counts = [
        np.count_nonzero(
            SequenceTagger(objective="log", l1=l1, tol=1e-4).fit(X, y).coef_
        )
        for l1 in (0.0, 0.5, 5.0)
    ]
    assert counts[0] > counts[1] > counts[2]


def test_marginal_objective_ends_where_the_gradient_vanishes():
    X, y = toy(2)
    model = SequenceTagger(objective="marginal", C=1.0, max_iter=2000).fit(X, y)
    assert not model.certificate_.exact  # it is not convex: there is no bound
    assert model.converged_
    assert model.certificate_.dual == 0  # not convex: no bound
    w = model._w.astype(np.float64)
    encoded = model._encode(X, y, None)
    objective = smooth_task(encoded.batch, len(w), "marginal")
    _, gradient = objective.value_and_gradient(w)
    assert np.linalg.norm(gradient) <= 0.01 * np.linalg.norm(w)


def test_log_task_agrees_with_enumeration():
    batch, n_weights = chain(11, wall=0.2)
    w = weights(batch, n_weights, 11)
    objective = LogObjective(batch, n_weights, FORM, np.full(5, 2.0), np.float64)
    sweep = objective.sweep(w, 0.5)
    for i, x in enumerate(listed(batch, 0.5 * w)):
        assert sweep.hinges[i] == pytest.approx(-x.log_p_truth)
        assert sweep.margins[i] == pytest.approx(-(x.p @ x.lead))


# Decoders and baselines -----------------------------------------------------------------


def test_posterior_decoding_is_the_argmax_of_marginals():
    X, y = toy(3)
    model = SequenceTagger(objective="log", C=1.0, decoding="posterior").fit(X, y)
    batch, _ = model._batch(X)
    for i, (x, found) in enumerate(
        zip(listed(batch, model._w.astype(float)), model.predict(X), strict=True)
    ):
        labels = model.classes_[x.marginals(3).argmax(axis=1)]
        assert found == labels.tolist(), i


@pytest.mark.parametrize("objective", ["perceptron", "passive-aggressive"])
def test_baselines_learn_what_can_be_separated(objective):
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(30):
        tags = rng.integers(3, size=rng.integers(1, 6))
        X.append([[f"w{k}"] for k in tags])
        y.append(["ABC"[k] for k in tags])
    model = SequenceTagger(objective=objective).fit(X, y)
    assert model.score(X, y) == 1.0


# Boosting -------------------------------------------------------------------------------


def drive_on(objective, solver, tol=0.01, max_iter=100):

    solution = drive(objective, solver, Limits(tol=tol, max_iter=max_iter))
    solver.finish(solution)
    return solution


def boost(batch, n_weights, rounds, mass=None, n_jobs=1):
    from maxmargin.tags.boosting import Boosting, BoostingObjective

    mass = np.ones(len(batch.start) - 1) if mass is None else mass
    objective = BoostingObjective(batch, n_weights, FORM, mass, np.float64, n_jobs)
    solver = Boosting(objective)
    return drive_on(objective, solver, max_iter=rounds), solver


@given(
    st.integers(0, 10**6), st.sampled_from([0.0, 0.3]), st.sampled_from(["01", "any"])
)
@settings(max_examples=15)
def test_risk_is_below_the_product_of_Z(seed, wall, values):
    batch, n_weights = chain(seed, wall=wall)
    if values == "01":
        batch.values[:] = 1.0
    mass = np.random.default_rng(seed).choice([0.0, 0.5, 2.0], size=5)
    mass[0] = 1.0
    solution, _ = boost(batch, n_weights, 15, mass)
    start = boosting_risk(batch, np.zeros(n_weights), mass)
    risk = boosting_risk(batch, solution.w, mass) / start
    assert solution.certificate.primal == pytest.approx(risk, rel=1e-7)
    rank = sum(
        m * 2.0 ** -len(x.truth) * (x.lead[~x.is_truth] >= 0).sum()
        for m, x in zip(mass, listed(batch, solution.w), strict=True)
    )
    before = product_of_Z = 1.0
    for row in solution.history:
        # every round, and not only their product, obeys its bound
        assert row["Z"] <= 1
        assert row["primal"] <= before * row["Z"] * (1 + 1e-7)
        before, product_of_Z = row["primal"], product_of_Z * row["Z"]
        assert row["bound"] == pytest.approx(product_of_Z)
    assert rank / start <= risk <= product_of_Z * (1 + 1e-7)


def boosting_risk(batch, w, mass):
    """sum_i C_i 2^-T sum_(y != y_i) exp(F(y) - F(y_i)), by enumeration."""
    return sum(
        m * 2.0 ** -len(x.truth) * np.exp(x.lead[~x.is_truth]).sum()
        for m, x in zip(mass, listed(batch, w), strict=True)
    )


def test_ranges_and_expectations_of_boosting_agree_with_enumeration():
    batch, n_weights = chain(2, wall=0.2)
    _, solver = boost(batch, n_weights, 5)
    low, high = np.zeros(n_weights), np.zeros(n_weights)
    total, mean = 0.0, np.zeros(n_weights)
    for x in listed(batch, solver.w):
        u = x.psi - x.psi[x.is_truth]
        low, high = np.minimum(low, u.min(axis=0)), np.maximum(high, u.max(axis=0))
        d = 2.0 ** -len(x.truth) * np.exp(x.lead) * ~x.is_truth
        total, mean = total + d.sum(), mean + d @ u
    # forbidden transitions may make the true range smaller, never larger
    assert (solver.low <= low + 1e-12).all()
    assert (solver.high >= high - 1e-12).all()
    np.testing.assert_allclose(solver.gradient, mean / total, atol=1e-11)
    free, n_weights = chain(2)
    _, solver = boost(free, n_weights, 1)
    low = np.min(
        [(x.psi - x.psi[x.is_truth]).min(axis=0) for x in listed(free, solver.w)], 0
    )
    np.testing.assert_allclose(solver.low, np.minimum(low, 0), atol=1e-12)


def test_boosting_gives_sparse_weights_that_work():
    X, y = toy(4, n=60)
    model = SequenceTagger(objective="boosting", max_iter=20).fit(X, y)
    assert not model.certificate_.exact
    used = sum(
        np.count_nonzero(part)
        for part in (model.coef_, model.transitions_, model.first_, model.last_)
    )
    assert 0 < used <= 20
    assert model.n_iter_ == 20
    full = SequenceTagger(objective="log").fit(X, y)
    assert model.score(X, y) >= full.score(X, y) - 0.1
    assert model.certificate_.dual == 0
    assert SequenceTagger(objective="boosting", max_iter=5, n_jobs=2).fit(
        X, y
    ).coef_.tolist() == (
        SequenceTagger(objective="boosting", max_iter=5).fit(X, y).coef_.tolist()
    )


def test_boosting_ends_when_nothing_is_to_be_gained():
    """Labels without any bearing on the words: no weight helps, once ends are known."""
    X = [[["w"]]] * 2
    y = [["A"], ["B"]]
    model = SequenceTagger(objective="boosting")
    with pytest.warns(UserWarning, match="all zero"):
        model.fit(X, y)
    assert model.converged_
    assert model.n_iter_ == 1
    assert not model._w.any()


def test_boosting_of_long_sequences_does_not_overflow():
    """Hundreds of tokens: more labellings than any float can count."""
    rng = np.random.default_rng(0)
    tags = [rng.integers(4, size=length) for length in (700, 3, 900, 1)]
    X = [[[f"w{k}"] for k in row] for row in tags]
    y = [["ABCD"[k] for k in row] for row in tags]
    model = SequenceTagger(objective="boosting", max_iter=60).fit(X, y)
    primal = np.array([row["primal"] for row in model.history_])
    assert (primal > 0).all()
    found = np.isfinite(primal)  # a certificate is not made in every round
    assert (np.diff(primal[found]) <= 0).all()
    assert primal[-1] < primal[found][0]
    bound = np.array([row["bound"] * (1 + 1e-7) for row in model.history_])
    certified = np.isfinite(primal) & (primal < np.append(np.inf, primal[:-1]))
    assert certified.sum() >= 2
    assert (primal <= bound)[certified].all()
    assert np.isfinite(model._w).all()
    assert model.score(X, y) > 0.9


# One slack per labelling ----------------------------------------------------------------


def per_output_reference(batch, n_weights, mass, passes=20_000):
    """The optimum over all labellings by plain coordinate ascent on their dual."""
    planes, boxes = [], []
    for i, x in enumerate(listed(batch, np.zeros(n_weights))):
        psi = x.psi[x.is_truth] - x.psi[~x.is_truth]
        planes.append(psi)
        boxes.append(np.full(len(psi), mass[i]))
    planes, boxes = np.concatenate(planes), np.concatenate(boxes)
    gram = planes @ planes.T
    alpha = np.zeros(len(planes))
    slopes = np.ones(len(planes))  # 1 - w.psi
    for _ in range(passes):
        moved = 0.0
        for p in range(len(planes)):
            if gram[p, p] > 0:
                new = np.clip(alpha[p] + slopes[p] / gram[p, p], 0, boxes[p])
                step = new - alpha[p]
                alpha[p] = new
                slopes -= step * gram[:, p]
                moved = max(moved, abs(step))
            else:
                alpha[p] = boxes[p]
        if moved < 1e-7:
            break
    w = alpha @ planes
    primal = 0.5 * w @ w + boxes @ np.maximum(1 - planes @ w, 0)
    assert primal - (alpha.sum() - 0.5 * w @ w) <= 1e-4 * primal
    return primal, w


def per_output(batch, n_weights, mass, tol=1e-6, max_iter=500):
    from maxmargin.tags.per_output import PerOutput, PerOutputObjective

    form = make_form("margin", "linear", tol)
    objective = PerOutputObjective(batch, n_weights, form, mass, np.float64)
    return drive_on(objective, PerOutput(objective), tol=tol, max_iter=max_iter)


@pytest.mark.parametrize("C", [0.02, 0.5, 20.0])
@pytest.mark.parametrize(("seed", "wall"), [(0, 0.0), (1, 0.3)])
def test_per_output_agrees_with_all_labellings(seed, wall, C):
    batch, n_weights = chain(seed, (1, 2, 3, 2, 3), wall=wall)
    mass = C * np.array([1.0, 2.0, 0.0, 0.5, 1.0])
    wanted, _ = per_output_reference(batch, n_weights, mass)
    solution = per_output(batch, n_weights, mass)
    certificate = solution.certificate
    assert solution.converged
    assert certificate.exact
    assert certificate.primal == pytest.approx(wanted, rel=1e-4)
    assert certificate.dual <= wanted * (1 + 1e-9)
    duals = [row["dual"] for row in solution.history]
    assert (np.diff(duals) >= -1e-12).all()
    # the certified primal is the primal of the weights, over all labellings
    value = 0.5 * solution.w @ solution.w
    for m, x in zip(mass, listed(batch, solution.w), strict=True):
        value += m * np.maximum(1 + x.lead[~x.is_truth], 0).sum()
    assert certificate.primal == pytest.approx(value, rel=1e-9)
    rank = sum(
        m * (x.lead[~x.is_truth] >= 0).sum()
        for m, x in zip(mass, listed(batch, solution.w), strict=True)
    )
    assert rank <= value


def test_per_output_says_when_lists_are_cut(monkeypatch):
    from sklearn.exceptions import ConvergenceWarning

    from maxmargin.tags import per_output as module

    X, y = toy(5, n=10)
    tagger = SequenceTagger(objective="hinge-per-output", C=1e-4)
    monkeypatch.setattr(module, "CAP", 1000)
    whole = tagger.fit(X, y).certificate_
    monkeypatch.setattr(module, "CAP", 4)
    monkeypatch.setattr(module, "FIRST", 2)
    monkeypatch.setattr(module, "STORED", 8)
    with pytest.warns(ConvergenceWarning, match="certificate_ is not exact"):
        cut = tagger.fit(X, y)
    assert not cut.certificate_.exact
    assert cut.converged_
    assert cut.certificate_.gap <= 0.1 * cut.certificate_.primal
    assert cut.certificate_.dual <= whole.primal
    assert whole.exact


def test_per_output_through_the_estimator():
    X, y = toy(6, n=20, longest=4)
    model = SequenceTagger(objective="hinge-per-output", C=0.05, tol=1e-3).fit(X, y)
    assert model.converged_
    assert model.certificate_.exact
    assert model.certificate_.relative_gap <= 1e-3
    assert model.score(X, y) > 0.6


@pytest.mark.parametrize("objective", ["boosting", "hinge-per-output"])
@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"l1": 1.0}, "l1=1.0 needs"),
        ({"C": np.inf}, "a hard margin, needs objective='hinge'"),
        ({"rescaling": "slack"}, "rescaling and penalty belong to"),
        ({"solver": "lbfgs"}, "cannot minimise"),
    ],
)
def test_options_that_do_not_apply(objective, params, words):
    with pytest.raises(ValueError, match=words):
        SequenceTagger(objective=objective, **params).fit(*toy(n=3))
