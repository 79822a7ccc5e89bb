"""Objectives of a tagger: one optimum, whatever finds it."""

import numpy as np
import pytest
from objective_cases import FORM, chain, listed, smooth_task, toy, weights
from scipy.special import logsumexp

from maxmargin import SequenceTagger
from maxmargin.core import contract
from maxmargin.core.kernel import interpreted
from maxmargin.solvers import registry
from maxmargin.solvers.driver import drive
from maxmargin.solvers.handover import Handover
from maxmargin.solvers.log.log_objective import LogObjective
from maxmargin.solvers.log.smooth import LBFGS
from maxmargin.solvers.result import Limits

# Optima ---------------------------------------------------------------------------------


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
    batch = model.structure_.encode(X)
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


# One slack per labelling ----------------------------------------------------------------


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
