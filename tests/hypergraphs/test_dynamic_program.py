"""Dynamic programmes of users: training, predictions, and mistakes told plainly."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from held_out_cases import assert_less_is_sure
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from maxmargin import (
    DynamicProgram,
    Hypergraph,
    HypergraphBuilder,
    Problem,
    StructuralSVM,
)

LABELS = "ab"


class Segments(DynamicProgram):
    """Cut a list of numbers into labelled segments (begin, end, label)."""

    longest = 3

    def graph(self, x):
        builder = HypergraphBuilder(root=len(x))
        builder.leaf(0)
        for end in range(1, len(x) + 1):
            for begin in range(max(0, end - self.longest), end):
                for k in LABELS:
                    features = {
                        ("sum", k): sum(x[begin:end]),
                        ("length", k, end - begin): 1.0,
                        ("first", k): np.array([x[begin], 1.0]),
                    }
                    part = (begin, end, k)
                    builder.edge(end, begin, part=part, features=features)
        return builder


class TokenCosts(Segments):
    """The same with a loss that counts the tokens with a wrong label."""

    def costs(self, x, y, parts):
        truth = [k for begin, end, k in y for _ in range(begin, end)]
        return [sum(truth[t] != k for t in range(b, e)) for b, e, k in parts]


def segments(n=20, seed=0):
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        x, y = [], []
        first = rng.integers(2)
        for n_before in range(rng.integers(1, 4)):
            # labels take turns, so that numbers alone say where segments end
            size, k = int(rng.integers(1, 4)), LABELS[(first + n_before) % 2]
            y.append((len(x), len(x) + size, k))
            x += rng.normal(1.5 if k == "a" else -1.5, 0.4, size=size).tolist()
        X.append(x)
        Y.append(y)
    return X, Y


@pytest.fixture(scope="module")
def model():
    return StructuralSVM(Segments(), C=1.0).fit(*segments())


def test_training_learns_to_cut(model):
    X, Y = segments()
    assert model.certificate_.relative_gap <= 0.01
    assert model.certificate_.exact
    assert model.predict(X) == Y
    assert model.score(*segments(seed=5)) == 0.0
    program = model.structure_
    untrained = program.predict(X, np.zeros_like(model.coef_))
    wrong = [len(set(a) ^ set(b)) for a, b in zip(Y, untrained, strict=True)]
    assert program.losses(X, Y, untrained) == wrong
    assert np.mean(wrong) > 2
    assert model.predict([]) == model.predict_k_best([], 2) == []
    assert model.predict_marginals([]) == []


def test_probabilities_are_calibrated(model):
    X, Y = segments(seed=5)
    other = pickle.loads(pickle.dumps(model)).calibrate(X, Y)
    assert other.calibration_.loss <= other.calibration_.loss_before
    assert_less_is_sure(other, X, Y)


def test_k_best_marginals_completion_and_samples_agree(model):
    x = segments(seed=1)[0][0][:5]
    program, w = model.structure_, model.coef_
    ranked = model.predict_k_best([x], 10**4)[0]
    values = np.array([value for _, value in ranked])
    assert len(ranked) == program.graph(x).build().count()
    assert ranked[0][0] == model.predict([x])[0]
    assert (np.diff(values) <= 0).all()
    assert model.predict_k_best([x], 3)[0] == ranked[:3]
    p = np.exp(values - values.max())
    p /= p.sum()
    found = model.predict_marginals([x])[0]
    for part, chance in found.items():
        wanted = sum(q for q, (y, _) in zip(p, ranked, strict=True) if part in y)
        assert chance == pytest.approx(wanted, abs=1e-9)
    part = min(found, key=found.get)  # the least likely one
    assert program.complete(x, w, [part]) == next(y for y, _ in ranked if part in y)
    first = ranked[0][0][0]
    wanted = next(y for y, _ in ranked if first not in y)
    assert program.complete(x, w, forbidden=[first]) == wanted
    drawn = program.sample(x, w, 20, random_state=0)
    assert all(y in [z for z, _ in ranked] for y in drawn)


def test_weights_have_names(model):
    weights = model.structure_.named(model.coef_)
    assert weights["sum", "a"] > 0 > weights["sum", "b"]
    assert weights["first", "a"].shape == (2,)
    total = sum(np.size(v) for v in weights.values())
    assert total == len(model.coef_) == model.structure_.n_weights


def test_costs_of_ones_own():
    X, Y = segments()
    model = StructuralSVM(TokenCosts(), C=1.0).fit(X, Y)

    def tokens(y):
        return [k for begin, end, k in y for _ in range(begin, end)]

    program = model.structure_
    untrained = program.predict(X, np.zeros_like(model.coef_))
    wrong = [
        np.sum(np.not_equal(tokens(a), tokens(b)))
        for a, b in zip(Y, untrained, strict=True)
    ]
    assert program.losses(X, Y, untrained) == wrong
    assert np.mean(wrong) > 1 > -model.score(X, Y)
    for rescaling, penalty in (("slack", "linear"), ("slack", "quadratic")):
        params = dict(rescaling=rescaling, penalty=penalty, tol=1e-4, max_iter=5000)
        exact = StructuralSVM(TokenCosts(), C=1.0, **params).fit(X, Y)
        assert exact.converged_


@pytest.mark.parametrize("solver", ["perceptron", "passive-aggressive", "subgradient"])
def test_baselines_train_too(solver):
    X, Y = segments()
    model = StructuralSVM(Segments(), solver=solver).fit(X, Y)
    assert model.score(X, Y) > -1.0


def test_warm_starts_and_paths(model):
    X, Y = segments()
    models = StructuralSVM(Segments(), warm_start=True).path(X, Y, [0.1, 1.0])
    primal = models[1].certificate_.primal
    assert primal == pytest.approx(model.certificate_.primal, rel=0.02)
    assert models[1].fit(X, Y).n_iter_ <= 2  # nothing is left to do


def test_graphs_do_not_load_the_compiler_before_they_are_used():
    code = (
        "import sys, maxmargin.hypergraphs.program; assert 'numba' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_array_graph_is_as_good_as_a_builder(model):
    class Arrays(Segments):
        def graph(self, x):
            graph = super().graph(x).build()
            # one more node that nothing can be built from, behind the root
            return Hypergraph(
                graph.head,
                graph.tail_ptr,
                graph.tail,
                graph.part,
                graph.n_nodes + 1,
                graph.root,
                graph.parts,
                graph.features,
            )

    X, Y = segments()
    other = StructuralSVM(Arrays(), C=1.0).fit(X, Y)
    np.testing.assert_array_equal(other.coef_, model.coef_)
    assert other.predict(X) == model.predict(X)


def test_scikit_learn_conventions(model):
    X, Y = segments()
    program = Segments()
    untrained = StructuralSVM(program, C=1.0)
    other = clone(untrained).set_params(n_jobs=2).fit(X, Y)
    assert vars(program) == {}  # only a copy was fitted
    np.testing.assert_array_equal(other.coef_, model.coef_)
    assert other.predict_k_best(X, 2) == model.predict_k_best(X, 2)
    assert other.predict_marginals(X) == model.predict_marginals(X)
    search = GridSearchCV(StructuralSVM(Segments()), {"C": [0.01, 0.1]}, cv=2)
    assert search.fit(X, Y).best_score_ <= 0
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X) == model.predict(X)
    with pytest.raises(NotFittedError):
        untrained.predict_k_best(X, 2)


def test_features_that_training_has_not_met_count_nothing(model):
    class More(Segments):
        def graph(self, x):
            builder = super().graph(x)
            builder.edge(len(x), 0, part="whole", features=[("never", "seen")])
            return builder

    fitted = pickle.loads(pickle.dumps(model.structure_))
    fitted.__class__ = More
    x = [0.1, 0.2]
    ranked = dict(
        (str(y), v) for y, v in fitted.predict_k_best([x], model.coef_, 99)[0]
    )
    assert ranked["['whole']"] == 0.0


def test_an_input_may_have_one_output_only():
    X, Y = segments()
    model = StructuralSVM(Segments(), C=1.0).fit([*X, []], [*Y, []])
    assert model.predict([[]]) == [[]]
    assert model.predict_k_best([[]], 2) == [[([], 0.0)]]
    assert model.predict_marginals([[]]) == [{}]


def test_true_outputs_that_are_not_in_the_graph_can_be_scored(model):
    x = [1.0] * 5
    y = [(0, 5, "a")]  # too long a segment
    found = model.predict([x])[0]
    assert model.score([x], [y]) == -(len(found) + 1)


# mistakes ----------------------------------------------------------------------------

X0, Y0 = [[1.0, 2.0], [1.0]], [[(0, 2, "a")], [(0, 1, "b")]]


def returning(value):
    class Bad(Segments):
        def graph(self, x):
            return value

    return Bad()


class NoFeatures(DynamicProgram):
    def graph(self, x):
        builder = HypergraphBuilder("root")
        builder.edge("root", part="a")
        return builder


class Ragged(DynamicProgram):
    def graph(self, x):
        builder = HypergraphBuilder("root")
        builder.edge("root", part="a", features={"v": x})
        return builder


class BadCosts(Segments):
    def __init__(self, costs):
        self.found = costs

    def costs(self, x, y, parts):
        return self.found(parts)


@pytest.mark.parametrize(
    ("program", "X", "Y", "message"),
    [
        (returning(None), X0, Y0, r"graph\(x\) of sample 0 returned None"),
        (returning(HypergraphBuilder(0)), X0, Y0, r"sample 0: the graph has no edges"),
        (Segments(), X0, [Y0[0], None], "None is no list of parts"),
        (
            Segments(),
            X0,
            [Y0[0], [(0, 1, "c")]],
            r"sample 1 has the part \(0, 1, 'c'\)",
        ),
        (Segments(), X0, [[(0, 1, "a")], Y0[1]], "sample 0 is not in graph"),
        (Segments(), X0, [[], Y0[1]], "sample 0 is not in graph"),
        (Segments(), X0, [Y0[0] * 2, Y0[1]], "has the part .* 2 times"),
        (Segments(), X0, [Y0[0], [[0, 1, "b"]]], "cannot be keys of a dict"),
        (Segments(), [[np.nan], [1.0]], [Y0[1]] * 2, "sample 0: .* must be finite"),
        (NoFeatures(), [0], [["a"]], "nothing to learn"),
        (
            Ragged(),
            [[1.0], [1.0, 2.0]],
            [["a"]] * 2,
            "sample 1 is a vector of 2 .* of 1",
        ),
        (Ragged(), [[1.0], 2.0], [["a"]] * 2, "sample 1 is a number, but"),
        (BadCosts(lambda parts: [1.0]), X0, Y0, "one number for each of the"),
        (
            BadCosts(lambda parts: {}["cost"]),
            X0,
            Y0,
            r"costs\(x, y, parts\) of sample 0 raised KeyError: 'cost'",
        ),
        (Segments(), [X0[0], 3], Y0, r"graph\(x\) of sample 1 raised TypeError"),
        (BadCosts(lambda parts: ["x"] * len(parts)), X0, Y0, "one number for each"),
        (BadCosts(lambda parts: [np.inf] * len(parts)), X0, Y0, "costs must be finite"),
        (
            BadCosts(lambda parts: [-float(p[2] != "a") for p in parts]),
            X0,
            Y0,
            "costs of sample 0 give some other output a loss of -2",
        ),
    ],
)
def test_mistakes_are_told_before_any_work(program, X, Y, message):
    model = StructuralSVM(program)
    with pytest.raises(ValueError, match=message):
        model.fit(X, Y)
    assert not hasattr(model, "coef_")


def test_bad_questions_to_a_fitted_model(model):
    for k in (0, 1.5, True, "x"):
        with pytest.raises(ValueError, match="whole number >= 1"):
            model.predict_k_best([[1.0]], k)
    with pytest.raises(ValueError, match="holds no samples"):
        model.predict_marginals(3)
    with pytest.raises(ValueError, match="no output for x has the part"):
        model.structure_.complete([1.0], model.coef_, [(0, 9, "a")])
    with pytest.raises(ValueError, match="no derivation obeys"):
        model.structure_.complete([1.0], model.coef_, [(0, 1, "a"), (0, 1, "b")])
    with pytest.raises(NotImplementedError, match="must define graph"):
        StructuralSVM(DynamicProgram()).fit([1], [[1]])


def test_other_problems_say_that_they_cannot_rank():
    class Sign(Problem):
        smallest_loss = 1.0

        def joint_feature(self, x, y):
            return np.array([x * y])

        def loss(self, y, y_hat):
            return float(y != y_hat)

        def argmax(self, x, w):
            return 1 if w[0] * x >= 0 else -1

        def loss_augmented_argmax(self, x, y, w):
            return max((1, -1), key=lambda z: w[0] * x * z + (y != z))

    model = StructuralSVM(Sign()).fit([1.0, -1.0], [1, -1])
    for ask in (
        lambda: model.predict_k_best([1.0], 2),
        lambda: model.predict_marginals([1.0]),
    ):
        with pytest.raises(NotImplementedError, match="Sign has no predict_"):
            ask()
