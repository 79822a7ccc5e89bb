"""StructuralSVM with a user's four methods: the same optima, mistakes told plainly."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from maxmargin import MulticlassSVM, Problem, StructuralSVM

FORMS = [(r, p) for r in ("margin", "slack") for p in ("linear", "quadratic")]
COST = np.array([[0.0, 1.0, 2.0], [1.5, 0.0, 0.5], [3.0, 1.0, 0.0]])


class Classes(Problem):
    """Multiclass classification as a structured problem."""

    def __init__(self, cost=COST, make=np.asarray):
        self.cost = cost
        self.smallest_loss = cost[cost > 0].min()
        self.make = make
        self.calls = 0

    def joint_feature(self, x, y):
        table = np.zeros((len(self.cost), len(x)))
        table[y] = x
        return self.make(table.ravel())

    def loss(self, y, y_hat):
        return self.cost[y][y_hat]

    def argmax(self, x, w):
        return int((w.reshape(-1, len(x)) @ x).argmax())

    def loss_augmented_argmax(self, x, y, w):
        self.calls += 1
        return int((w.reshape(-1, len(x)) @ x + self.cost[y]).argmax())


def blobs(n=15, d=3, distance=1.5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    return list(rng.normal(size=(n, d)) + distance * np.eye(3, d)[y]), y.tolist()


def tight(problem=None, **params):
    problem = Classes() if problem is None else problem
    return StructuralSVM(problem, **{"tol": 1e-6, "max_iter": 2000, **params})


def compiled(X, y, **params):
    """The same objective through the compiled estimator."""
    params = {"C": 1.0, "tol": 1e-6, "max_iter": 20_000, "loss": COST, **params}
    return MulticlassSVM(fit_intercept=False, **params).fit(np.array(X), y)


# the optimum ------------------------------------------------------------------------


@pytest.mark.parametrize("C", [0.05, 1.0])
def test_same_optimum_as_the_compiled_estimator(C):
    X, y = blobs()
    model = tight(C=C).fit(X, y)
    other = compiled(X, y, C=C)
    assert model.certificate_.primal == pytest.approx(
        other.certificate_.primal, rel=2e-6
    )
    np.testing.assert_allclose(model.coef_.reshape(3, -1), other.coef_, atol=0.02)
    assert model.certificate_.exact


@pytest.mark.parametrize("form", FORMS[1:])
def test_same_optimum_in_rescaled_formulations(form):
    # with one loss only: with several, the search leaves a certified gap
    X, y = blobs()
    cost = 1.0 - np.eye(3)
    params = dict(rescaling=form[0], penalty=form[1], tol=0.01)
    other = compiled(X, y, loss=cost, **params)
    model = StructuralSVM(Classes(cost), max_iter=100, **params).fit(X, y)
    assert model.converged_
    assert model.certificate_.primal == pytest.approx(
        other.certificate_.primal, rel=0.02
    )


@pytest.mark.parametrize("form", FORMS[1:])
def test_certificates_of_rescaled_formulations_hold(form):
    X, y = blobs()
    params = dict(rescaling=form[0], penalty=form[1])
    optimum = compiled(X, y, **params).certificate_.primal
    model = StructuralSVM(Classes(), max_iter=30, tol=1e-9, **params)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert model.certificate_.dual <= optimum * (1 + 1e-6)
    assert model.certificate_.dual >= 0.9 * optimum
    assert model.certificate_.primal >= optimum * (1 - 1e-6)


def test_hard_margin():
    X, y = blobs(distance=8.0)
    model = StructuralSVM(Classes(), C=np.inf, tol=1e-3).fit(X, y)
    wanted = compiled(X, y, C=np.inf).certificate_.primal
    assert model.certificate_.primal == pytest.approx(wanted, rel=2e-3)


def test_hard_margin_with_slack_rescaling():
    X, y = blobs(distance=8.0)
    params = dict(C=np.inf, rescaling="slack", tol=0.01)
    cost = 1.0 - np.eye(3)
    model = StructuralSVM(Classes(cost), max_iter=30, **params).fit(X, y)
    wanted = compiled(X, y, loss=cost, **params).certificate_.primal
    assert model.certificate_.primal == pytest.approx(wanted, rel=0.02)


@pytest.mark.parametrize("solver", ["one-slack", "n-slack"])
def test_other_solvers_find_the_same_optimum(solver):
    X, y = blobs()
    model = tight(solver=solver, tol=1e-4).fit(X, y)
    wanted = compiled(X, y).certificate_.primal
    assert model.certificate_.primal == pytest.approx(wanted, rel=2e-4)


@pytest.mark.parametrize(
    "make",
    [
        lambda v: v.astype(np.float32),
        list,
        lambda v: sp.csr_array(v[None]),
        lambda v: sp.csr_matrix(v),
        lambda v: sp.coo_array(v),
        lambda v: sp.csc_array(v[:, None]),
        lambda v: sp.coo_array(
            (np.tile(v / 2, 2), (np.zeros(2 * len(v), int), np.tile(range(len(v)), 2))),
            shape=(1, len(v)),
        ),
    ],
    ids=["float32", "list", "row", "matrix", "1-D", "column", "duplicates"],
)
def test_features_may_be_dense_or_sparse(make):
    X, y = blobs()
    X = [(x * 64).round() / 64 for x in X]
    wanted = tight().fit(X, y)
    model = tight(Classes(make=make)).fit(X, y)
    assert model.certificate_.primal == pytest.approx(
        wanted.certificate_.primal, rel=2e-6
    )
    np.testing.assert_allclose(model.coef_, wanted.coef_, atol=0.02)


class Cuts(Problem):
    """Outputs that are objects: the best place to cut a text, as a dict."""

    def joint_feature(self, x, y):
        left, right = x[: y["at"]], x[y["at"] :]
        return np.array([left.count("a"), left.count("b"), right.count("b")], float)

    def loss(self, y, y_hat):
        return abs(y["at"] - y_hat["at"]) / 2

    def outputs(self, x):
        return [{"at": at} for at in range(len(x) + 1)]

    def argmax(self, x, w):
        return max(self.outputs(x), key=lambda z: w @ self.joint_feature(x, z))

    def loss_augmented_argmax(self, x, y, w):
        return max(
            self.outputs(x),
            key=lambda z: w @ self.joint_feature(x, z) + self.loss(y, z),
        )


def test_inputs_and_outputs_may_be_any_objects():
    X = ["aabb", "abbb", "aaab", "ab", "bb"]
    y = [{"at": at} for at in (2, 1, 3, 1, 0)]
    model = StructuralSVM(Cuts(), C=10.0).fit(X, y)
    assert model.predict(["aaaabb", "a", ""]) == [{"at": 4}, {"at": 1}, {"at": 0}]
    assert model.score(X, y) == 0.0
    assert model.certificate_.relative_gap <= 0.01


# life cycle -------------------------------------------------------------------------


def test_score_is_minus_the_average_loss():
    X, y = blobs(distance=0.5)
    model = StructuralSVM(Classes()).fit(X, y)
    losses = [COST[a][b] for a, b in zip(y, model.predict(X), strict=True)]
    assert sum(losses) > 0
    assert model.score(X, y) == pytest.approx(-np.mean(losses))
    weights = np.arange(len(y))
    assert model.score(X, y, sample_weight=weights) == pytest.approx(
        -np.average(losses, weights=weights)
    )


def test_the_problem_is_copied():
    X, y = blobs()
    problem = Classes()
    before = copy.deepcopy(vars(problem))
    model = StructuralSVM(problem).fit(X, y)
    assert problem.calls == 0
    assert model.structure_.calls > 0
    assert model.problem is problem
    assert vars(problem).keys() == before.keys()
    np.testing.assert_array_equal(problem.cost, before["cost"])


def test_history_counts_calls_of_the_oracle():
    X, y = blobs()
    model = StructuralSVM(Classes()).fit(X, y)
    assert model.history_[-1]["oracle_calls"] == model.structure_.calls
    for row in model.history_:
        total = row["oracle_seconds"] + row["update_seconds"]
        assert row["seconds"] == pytest.approx(total)
        assert row["oracle_seconds"] > 0


def test_path_has_the_optima_of_single_fits_in_order():
    X, y = blobs()
    Cs = [1.0, 0.01, 0.1]
    models = tight(tol=1e-5).path(X, y, Cs)
    assert [model.C for model in models] == Cs
    for C, model in zip(Cs, models, strict=True):
        wanted = compiled(X, y, C=C).certificate_.primal
        assert model.certificate_.primal == pytest.approx(wanted, rel=2e-5)
        assert len(model.predict(X)) == len(y)


def test_warm_start():
    X, y = blobs()
    model = tight(warm_start=True).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ < first / 2
    for other in ((X[::-1], y), (X, y[::-1]), (X[:7], y[:7])):
        model.fit(*other)
        wanted = compiled(*other).certificate_.primal
        assert model.certificate_.primal == pytest.approx(wanted, rel=2e-6)
    model.set_params(C=0.1).fit(X, y)
    wanted = compiled(X, y, C=0.1).certificate_.primal
    assert model.certificate_.primal == pytest.approx(wanted, rel=2e-6)


def test_sample_weights_are_repetitions():
    X, y = blobs(n=9)
    counts = [1, 0, 2, 1, 3, 0, 1, 1, 2]
    chosen = np.repeat(np.arange(9), counts)
    weighted = tight().fit(X, y, sample_weight=counts)
    repeated = tight().fit([X[i] for i in chosen], [y[i] for i in chosen])
    assert weighted.certificate_.primal == pytest.approx(
        repeated.certificate_.primal, rel=2e-6
    )


def test_equal_seeds_give_equal_weights():
    X, y = blobs()
    a, b, c = (
        StructuralSVM(Classes(), random_state=seed).fit(X, y) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(a.coef_, b.coef_)
    assert (a.coef_ != c.coef_).any()


def test_clone_and_pickle():
    X, y = blobs()
    model = StructuralSVM(Classes(), C=0.5).fit(X, y)
    np.testing.assert_array_equal(clone(model).fit(X, y).coef_, model.coef_)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X) == model.predict(X)
    assert again.certificate_ == model.certificate_
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_interrupt_keeps_the_best_so_far():
    X, y = blobs()

    class Interrupted(Classes):
        def loss_augmented_argmax(self, x, y, w):
            found = super().loss_augmented_argmax(x, y, w)
            if self.calls == 40:  # in the midst of a pass
                raise KeyboardInterrupt
            return found

    model = StructuralSVM(Interrupted(), tol=1e-9)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(X, y)
    assert model.converged_ is False
    assert len(model.predict(X)) == len(X)
    optimum = compiled(X, y).certificate_.primal
    assert model.certificate_.dual <= optimum <= model.certificate_.primal


def test_a_callback_may_compare_numbers_of_its_row():
    X, y = blobs()
    stop = StructuralSVM(
        Classes(), tol=1e-9, max_iter=60, callbacks=[lambda row: row["dual"] > 1.0]
    )
    with pytest.warns(ConvergenceWarning, match="callback"):
        stop.fit(X, y)


# mistakes in the problem ------------------------------------------------------------


def wrong(**methods):
    """Classes() with some methods replaced."""
    return type("Wrong", (Classes,), methods)()


def test_missing_methods_are_named():
    class Half(Problem):
        joint_feature = Classes.joint_feature
        loss = Classes.loss
        argmax = Classes.argmax

    X, y = blobs()
    with pytest.raises(
        ValueError, match=r"Half has no loss_augmented_argmax\(\).*loss"
    ):
        StructuralSVM(Half()).fit(X, y)
    with pytest.raises(ValueError, match=r"no joint_feature\(\), loss\(\), argmax\(\)"):
        StructuralSVM(Problem()).fit(X, y)
    with pytest.raises(ValueError, match="NoneType has no joint_feature"):
        StructuralSVM(None).fit(X, y)
    with pytest.raises(NotImplementedError, match=r"Half must define.*w\)"):
        Half().loss_augmented_argmax(X[0], 0, np.zeros(9))


def test_a_class_in_place_of_an_object():
    X, y = blobs()
    with pytest.raises(ValueError, match=r"Classes\(\)"):
        StructuralSVM(Classes).fit(X, y)


MISTAKES = {
    "loss of the truth": (
        dict(loss=lambda self, a, b: 0.5),
        r"loss\(y, y\) is 0.5 for sample 0.*zero",
    ),
    "negative loss": (
        dict(loss=lambda self, a, b: -1.0 * (a != b)),
        r"loss\(\) for sample \d+ is -1.0.*zero or more",
    ),
    "loss NaN": (
        dict(loss=lambda self, a, b: np.nan if a != b else 0.0),
        r"loss\(\) for sample \d+ is nan.*finite",
    ),
    "loss infinite": (
        dict(loss=lambda self, a, b: np.inf if a != b else 0.0),
        r"loss\(\) for sample \d+ is inf.*finite",
    ),
    "loss None": (dict(loss=lambda self, a, b: None), r"loss\(\) for sample 0"),
    "lengths": (
        dict(joint_feature=lambda self, x, y: np.ones(3 + y)),
        r"joint_feature for sample 1 has length 4, but earlier ones have length 3",
    ),
    "two dimensions": (
        dict(joint_feature=lambda self, x, y: np.ones((3, 3))),
        r"joint_feature for sample 0 has 2 dimensions.*ravel",
    ),
    "sparse table": (
        dict(joint_feature=lambda self, x, y: sp.csr_array(np.ones((3, 3)))),
        r"joint_feature for sample 0 has shape \(3, 3\).*one row",
    ),
    "features NaN": (
        dict(joint_feature=lambda self, x, y: x * np.nan),
        r"joint_feature for sample 0 holds NaN",
    ),
    "features None": (
        dict(joint_feature=lambda self, x, y: None),
        r"joint_feature for sample 0",
    ),
    "changes w": (
        dict(loss_augmented_argmax=lambda self, x, y, w: w.fill(0)),
        "read-only",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake):
    methods, message = MISTAKES[mistake]
    X, y = blobs()
    with pytest.raises(ValueError, match=message):
        StructuralSVM(wrong(**methods)).fit(X, y)


def test_features_that_are_no_numbers():
    X, y = blobs()
    with pytest.raises(ValueError, match="joint_feature for sample 0"):
        StructuralSVM(wrong(joint_feature=lambda self, x, y: ["a"])).fit(X, y)


def worst(self, x, y, w):
    """Starts right, and later returns the output with the lowest score."""
    if not w.any():
        return Classes.loss_augmented_argmax(self, x, y, w)
    return int((w.reshape(-1, len(x)) @ x).argmin())


def test_an_answer_worse_than_the_truth_is_an_error():
    X, y = blobs()
    message = r"loss_augmented_argmax for sample \d+ .*below.*exact = False"
    with pytest.raises(ValueError, match=message):
        StructuralSVM(wrong(loss_augmented_argmax=worst)).fit(X, y)


def test_an_approximate_problem_falls_back_to_the_truth():
    X, y = blobs()
    problem = wrong(loss_augmented_argmax=worst, exact=False)
    model = StructuralSVM(problem, max_iter=20, tol=0.5)
    model.fit(X, y)
    assert model.certificate_.exact is False
    assert len(model.predict(X)) == len(y)


def test_an_oracle_that_contradicts_itself_is_found_out():
    # The classic mistake: the loss is forgotten. Stored outputs prove it, since the
    # dual rises above the primal that the oracle claims.
    X, y = blobs()
    forgetful = wrong(loss_augmented_argmax=lambda self, x, y, w: self.argmax(x, w))
    with pytest.raises(ValueError, match="loss_augmented_argmax"):
        StructuralSVM(forgetful).fit(X, y)


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = blobs()
    model = StructuralSVM(Classes()).fit(X, y)
    before = model.predict(X), model.certificate_, model.coef_.copy()
    model.set_params(problem=wrong(loss_augmented_argmax=worst))
    with pytest.raises(ValueError, match="loss_augmented_argmax"):
        model.fit(X[::-1], y)
    assert model.predict(X) == before[0]
    assert model.certificate_ is before[1]
    np.testing.assert_array_equal(model.coef_, before[2])


def test_prediction_cannot_change_the_weights():
    X, y = blobs()
    problem = wrong(argmax=lambda self, x, w: w.fill(0))
    model = StructuralSVM(problem).fit(X, y)
    with pytest.raises(ValueError, match="read-only"):
        model.predict(X)


def test_a_problem_that_cannot_be_copied_is_refused(tmp_path):
    class Holding(Problem):
        def __init__(self):
            self.file = open(tmp_path / "some", "w")  # noqa: SIM115

        def joint_feature(self, x, y):
            return np.array([x * y])

        def loss(self, y, z):
            return float(y != z)

        def outputs(self, x):
            return [0, 1]

    problem = Holding()
    with pytest.raises(ValueError, match=r"Holding cannot be copied.*open files"):
        StructuralSVM(problem).fit([0.0, 1.0], [0, 1])
    problem.file.close()
