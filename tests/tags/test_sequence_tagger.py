"""SequenceTagger: every answer against the enumeration of all label sequences."""

from itertools import pairwise, product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from maxmargin import MulticlassSVM, SequenceTagger

FORMS = [(r, p) for r in ("margin", "slack") for p in ("linear", "quadratic")]


def sequences(n=12, d=3, labels="ABC", longest=4, noise=1.0, seed=0):
    """Tables of numbers whose labels show in the first columns, with noise."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for i in range(n):
        numbers = rng.integers(len(labels), size=1 + i % longest)
        size = (len(numbers), d)
        X.append(noise * rng.normal(size=size) + np.eye(len(labels), d)[numbers])
        y.append([labels[k] for k in numbers])
    return X, y


def tight(**params):
    return SequenceTagger(**{"tol": 1e-6, "max_iter": 20_000, **params})


def every(model, length):
    return product(range(len(model.classes_)), repeat=length)


def score(model, x, y):
    """The score of label numbers y, from the public attributes."""
    if len(y) == 0:
        return 0.0
    value = sum(model.coef_[k] @ row for k, row in zip(y, x, strict=True))
    value += sum(model.transitions_[a, b] for a, b in pairwise(y))
    return value + model.first_[y[0]] + model.last_[y[-1]]


def squared_norm(model):
    parts = (model.coef_, model.transitions_, model.first_, model.last_)
    return sum(np.sum(part**2) for part in parts)


def loss_between(model, truth, found):
    """The loss that the parameter ``loss`` describes, of two lists of labels."""
    wrong = [a for a, b in zip(truth, found, strict=True) if a != b]
    if model.loss == "zero-one":
        return float(len(wrong) > 0)
    if model.loss == "hamming":
        return float(len(wrong))
    return float(sum(model.loss.get(a, 1.0) for a in wrong))


def hinge(model, x, truth):
    """H_i by enumeration."""
    numbers = [model.classes_.tolist().index(label) for label in truth]
    best, own = 0.0, score(model, x, numbers)
    for y in every(model, len(truth)):
        loss = loss_between(model, truth, [model.classes_[k] for k in y])
        c = np.sqrt(loss) if model.penalty == "quadratic" else loss
        r = c if model.rescaling == "slack" else 1.0
        best = max(best, c - r * (own - score(model, x, y)))
    return best


def primal(model, X, y, weights=None):
    h = np.array([hinge(model, x, truth) for x, truth in zip(X, y, strict=True)])
    phi = 0.5 * h**2 if model.penalty == "quadratic" else h
    weights = np.ones(len(h)) if weights is None else np.asarray(weights)
    return 0.5 * squared_norm(model) + model.C_ * weights @ phi


@pytest.fixture(scope="module")
def model():
    X, y = sequences()
    return tight().fit(X, y)


# training ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["hamming", "zero-one"])
def test_certificate_is_the_objective_of_the_weights(form, loss):
    X, y = sequences()
    weights = np.linspace(0.5, 2.0, len(y))
    model = SequenceTagger(
        C=0.4, loss=loss, rescaling=form[0], penalty=form[1], tol=1e-3
    ).fit([x * 0.1 for x in X], y, sample_weight=weights)
    wanted = primal(model, [x * 0.1 for x in X], y, weights)
    assert model.certificate_.primal == pytest.approx(wanted, rel=1e-9)
    assert 0 <= model.certificate_.relative_gap <= 1e-3
    assert model.certificate_.exact


def test_certificate_with_label_weights():
    X, y = sequences()
    model = tight(loss={"A": 3.0, "C": 0.5}, C=0.3).fit(X, y)
    assert model.certificate_.primal == pytest.approx(primal(model, X, y), rel=1e-9)


@pytest.mark.parametrize("form", FORMS[1:])
def test_label_weights_in_rescaled_formulations(form):
    X, y = sequences()
    loss = {"A": 3.0, "C": 0.5}
    model = SequenceTagger(loss=loss, rescaling=form[0], penalty=form[1], max_iter=20)
    with pytest.warns(ConvergenceWarning):
        model.set_params(tol=1e-9).fit(X, y)
    wanted = primal(model, X, y)
    assert model.certificate_.primal >= wanted * (1 - 1e-9)
    assert model.certificate_.dual <= wanted


def reference_optimum(X, y, labels, C, loss, form):
    """The quadratic program over all outputs of all sequences, by a general solver."""
    k, d = len(labels), X[0].shape[1]

    def psi(x, numbers):
        table = np.zeros((d + k + 2, k))
        for t, number in enumerate(numbers):
            table[:d, number] += x[t]
            if t:
                table[d + numbers[t - 1], number] += 1
        table[d + k, numbers[0]] += 1
        table[d + k + 1, numbers[-1]] += 1
        return table.ravel()

    rows, offsets = [], []
    for i, (x, truth) in enumerate(zip(X, y, strict=True)):
        truth = [labels.index(label) for label in truth]
        for other in product(range(k), repeat=len(truth)):
            wrong = sum(a != b for a, b in zip(truth, other, strict=True))
            value = min(wrong, 1) if loss == "zero-one" else wrong
            c = np.sqrt(value) if form[1] == "quadratic" else float(value)
            r = c if form[0] == "slack" else 1.0
            difference = r * (psi(x, truth) - psi(x, other))
            rows.append(np.concatenate([difference, np.eye(len(X))[i]]))
            offsets.append(c)
    A, c = np.array(rows), np.array(offsets)
    m = (d + k + 2) * k
    quadratic = form[1] == "quadratic"

    def value(v):
        w, h = v[:m], v[m:]
        return 0.5 * w @ w + C * (0.5 * h @ h if quadratic else h.sum())

    def gradient(v):
        w, h = v[:m], v[m:]
        return np.concatenate([w, C * (h if quadratic else np.ones(len(X)))])

    result = minimize(
        value,
        np.concatenate([np.zeros(m), np.full(len(X), c.max())]),
        jac=gradient,
        method="SLSQP",
        constraints={"type": "ineq", "fun": lambda v: A @ v - c, "jac": lambda v: A},
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    assert result.success
    return result.fun


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["hamming", "zero-one"])
def test_optimum_of_each_formulation(form, loss):
    X, y = sequences(n=4, d=2, labels="AB", longest=3)
    model = tight(C=0.6, loss=loss, rescaling=form[0], penalty=form[1]).fit(X, y)
    wanted = reference_optimum(X, y, ["A", "B"], 0.6, loss, form)
    assert model.certificate_.primal == pytest.approx(wanted, rel=3e-6)


@pytest.mark.parametrize("form", FORMS)
def test_sequences_of_one_token_are_a_multiclass_problem(form):
    X, y = sequences(n=20, longest=1)
    # the first and the last token coincide: two constant features
    table = np.array([np.append(x[0], [1.0, 1.0]) for x in X])
    params = dict(C=1, tol=1e-6, max_iter=20_000, rescaling=form[0], penalty=form[1])
    other = MulticlassSVM(fit_intercept=False, **params)
    other.fit(table, [labels[0] for labels in y])
    model = SequenceTagger(**params).fit(X, y)
    wanted = other.certificate_.primal
    assert model.certificate_.primal == pytest.approx(wanted, rel=2e-6)
    np.testing.assert_allclose(model.coef_, other.coef_[:, :3], atol=0.02)
    np.testing.assert_allclose(model.first_, other.coef_[:, 3], atol=0.02)
    np.testing.assert_allclose(model.last_, other.coef_[:, 4], atol=0.02)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("loss", ["hamming", "zero-one"])
@pytest.mark.parametrize("C", [0.01, 2.0])
def test_slacks_bound_the_training_loss(form, loss, C):
    X, y = sequences(noise=2.0)
    model = SequenceTagger(C=C, loss=loss, rescaling=form[0], penalty=form[1])
    model.fit(X, y)
    losses = sum(
        loss_between(model, a, b) for a, b in zip(y, model.predict(X), strict=True)
    )
    slacks = (model.certificate_.primal - 0.5 * squared_norm(model)) / C
    if form[1] == "quadratic":
        slacks *= 2  # the penalty is half the square
    assert losses > 0
    assert losses <= slacks * (1 + 1e-6)


def test_sample_weights_are_repetitions():
    X, y = sequences(n=8)
    counts = [2, 1, 0, 3, 1, 0, 1, 2]
    weighted = tight(C=0.2).fit(X, y, sample_weight=counts)
    chosen = np.repeat(np.arange(8), counts)
    repeated = tight(C=0.2).fit([X[i] for i in chosen], [y[i] for i in chosen])
    assert weighted.certificate_.primal == pytest.approx(
        repeated.certificate_.primal, rel=2e-6
    )


def test_path_has_the_optima_of_single_fits_in_order():
    X, y = sequences()
    Cs = [0.5, 0.02, 0.1]
    models = tight().path(X, y, Cs)
    assert [model.C for model in models] == Cs
    for C, model in zip(Cs, models, strict=True):
        wanted = tight(C=C).fit(X, y).certificate_.primal
        assert model.certificate_.primal == pytest.approx(wanted, rel=2e-6)


def test_warm_start():
    X, y = sequences()
    model = tight(warm_start=True).fit(X, y)
    first = model.n_iter_
    assert model.fit(X, y).n_iter_ < first / 2
    reverse = [labels[::-1] for labels in y]
    wanted = tight().fit(X, reverse).certificate_.primal
    assert model.fit(X, reverse).certificate_.primal == pytest.approx(wanted, rel=2e-6)
    wanted = tight().fit(X[3:], y[3:]).certificate_.primal
    assert model.fit(X[3:], y[3:]).certificate_.primal == pytest.approx(
        wanted, rel=2e-6
    )


def test_equal_seeds_and_threads_give_equal_weights():
    X, y = sequences(n=40)
    models = [
        SequenceTagger(tol=1e-3, random_state=1, n_jobs=jobs).fit(X, y)
        for jobs in (1, 1, 2)
    ]
    for other in models[1:]:
        np.testing.assert_array_equal(other.coef_, models[0].coef_)
        np.testing.assert_array_equal(other.transitions_, models[0].transitions_)
        assert other.predict(X) == models[0].predict(X)
        assert other.predict_k_best(X, 2) == models[0].predict_k_best(X, 2)
    moved = SequenceTagger(tol=1e-3, random_state=2).fit(X, y)
    assert (moved.coef_ != models[0].coef_).any()


def test_prediction_draws_no_random_numbers():
    X, y = sequences()
    generator = np.random.RandomState(0)
    model = SequenceTagger(random_state=generator).fit(X, y)
    before = generator.get_state()[2]
    model.predict(X)
    assert generator.get_state()[2] == before


def test_hard_margin():
    X, y = sequences(noise=0.1)
    hard = tight(C=np.inf).fit(X, y)
    soft = tight(C=1e5).fit(X, y)
    assert hard.certificate_.primal == pytest.approx(soft.certificate_.primal, rel=1e-4)
    assert max(hinge(hard, x, truth) for x, truth in zip(X, y, strict=True)) < 1e-6
    assert hard.predict(X) == y


def test_history_and_limits():
    X, y = sequences()
    model = SequenceTagger(tol=1e-12, max_iter=7)
    with pytest.warns(ConvergenceWarning, match="max_iter=7"):
        model.fit(X, y)
    assert model.n_iter_ == len(model.history_) == 7
    assert (np.diff([row["dual"] for row in model.history_]) >= 0).all()
    assert model.converged_ is False
    assert model.certificate_.primal == pytest.approx(primal(model, X, y))


def test_interrupt_keeps_the_best_so_far():
    X, y = sequences()

    def interrupt(row):
        if row["iteration"] == 3:
            raise KeyboardInterrupt

    model = SequenceTagger(tol=1e-12, callbacks=[interrupt])
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(X, y)
    assert model.converged_ is False
    assert model.certificate_.primal == pytest.approx(primal(model, X, y))
    assert model.score(X, y) > 0.5


# input ------------------------------------------------------------------------------

WORDS = [
    [["the", "short"], ["dog", "the"], ["barks", "verb", "short"]],
    [["dogs"], ["bark", "verb"]],
    [],
    [["bark", "noun"], ["falls", "verb", "short"]],
]
TAGS = [["D", "N", "V"], ["N", "V"], [], ["N", "V"]]
VOCABULARY = ["the", "short", "dog", "barks", "verb", "dogs", "bark", "noun", "falls"]


def table(tokens):
    return np.array([[float(v in token) for v in VOCABULARY] for token in tokens])


FORMATS = {
    "tuples": [tuple(map(tuple, tokens)) for tokens in WORDS],
    "sets": [list(map(set, tokens)) for tokens in WORDS],
    "dicts of bools": [[dict.fromkeys(t, True) for t in tokens] for tokens in WORDS],
    "dicts of numbers": [[dict.fromkeys(t, 1.0) for t in tokens] for tokens in WORDS],
    "tables": [table(x).reshape(-1, len(VOCABULARY)) for x in WORDS],
    "single precision": [
        table(x).reshape(-1, len(VOCABULARY)).astype(np.float32) for x in WORDS
    ],
    "nested lists": [table(x).tolist() for x in WORDS],
    "sparse": [sp.csr_array(table(x).reshape(-1, len(VOCABULARY))) for x in WORDS],
    "sparse matrices": [
        sp.coo_matrix(table(x).reshape(-1, len(VOCABULARY))) for x in WORDS
    ],
    "an iterator": None,
}


@pytest.mark.parametrize("name", FORMATS)
def test_formats_mean_the_same(name):
    def data():
        return iter(WORDS) if name == "an iterator" else FORMATS[name]

    wanted = tight().fit(WORDS, TAGS)
    model = tight().fit(data(), TAGS)
    assert model.certificate_.primal == pytest.approx(
        wanted.certificate_.primal, rel=2e-6
    )
    assert model.predict(data()) == wanted.predict(WORDS) == TAGS
    for row, other in zip(
        model.predict_marginals(data()), wanted.predict_marginals(WORDS), strict=True
    ):
        np.testing.assert_allclose(row, other, atol=2e-3)


def test_feature_names():
    model = SequenceTagger().fit(WORDS, TAGS)
    assert model.feature_names_ == VOCABULARY
    assert model.coef_.shape == (3, len(VOCABULARY))
    assert model.transitions_.shape == (3, 3)
    assert model.first_.shape == model.last_.shape == (3,)
    assert SequenceTagger().fit(FORMATS["tables"], TAGS).feature_names_ is None


def test_strings_train_in_single_precision_with_a_valid_certificate():
    model = SequenceTagger(tol=1e-3, C=5.0).fit(WORDS, TAGS)
    assert model.coef_.dtype == np.float32
    X = FORMATS["tables"]
    assert model.certificate_.primal == pytest.approx(primal(model, X, TAGS), rel=1e-5)
    optimum = tight(C=5.0).fit(WORDS, TAGS).certificate_
    assert model.certificate_.dual <= optimum.primal * (1 + 1e-6)
    assert model.predict(WORDS) == TAGS


def test_unknown_words_have_no_weight():
    model = SequenceTagger().fit(WORDS, TAGS)
    plain = model.predict_marginals([[["dog"], []]])[0]
    strange = model.predict_marginals([[["dog", "never"], ["seen", "before"]]])[0]
    np.testing.assert_array_equal(strange, plain)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ("ABC", str),
        (["B-NP", "I-NP", "O"], str),
        ([3, -1, 20], int),
        (np.array([0, 1, 2]), int),
        (np.array(["x", "yy", "z"]), str),
    ],
)
def test_labels_come_back_as_they_were(labels, kind):
    X, y = sequences(labels=labels, noise=0.0)
    model = SequenceTagger(C=100.0).fit(X, y)
    found = model.predict(X)
    assert found == y
    assert all(type(label) is kind for labels in found for label in labels)
    assert model.classes_.tolist() == sorted(set(np.asarray(labels).tolist()))
    arrays = SequenceTagger(C=100.0).fit(X, [np.array(row) for row in y])
    assert arrays.predict(X) == y


def test_empty_sequences_change_nothing():
    X, y = sequences()
    with_empty = tight().fit([[], *X, np.zeros((0, 3))], [[], *y, []])
    assert with_empty.certificate_.primal == pytest.approx(
        tight().fit(X, y).certificate_.primal, rel=2e-6
    )


def test_empty_sequences_in_every_answer(model):
    x = sequences()[0][3]
    assert model.predict([[], x, []]) == [[], model.predict([x])[0], []]
    assert model.predict([[], []]) == [[], []]
    assert model.predict_k_best([[], x], 2)[0] == [([], 0.0)]
    for tables in (model.predict_marginals([x, []]), model.decision_function([x, []])):
        assert [t.shape for t in tables] == [(len(x), 3), (0, 3)]
    assert model.score([[]], [[]]) == 1.0


def test_score_is_the_share_of_right_labels(model):
    X, y = sequences(seed=5)
    found = model.predict(X)
    pairs = [(a, b) for t, f in zip(y, found, strict=True) for a, b in zip(t, f)]  # noqa: B905
    assert 0 < model.score(X, y) < 1
    assert model.score(X, y) == pytest.approx(np.mean([a == b for a, b in pairs]))
    weights = np.zeros(len(X))
    weights[3] = 2.0
    alone = model.score(X[3:4], y[3:4])
    assert model.score(X, y, sample_weight=weights) == pytest.approx(alone)
    assert model.score(X, [["never"] * len(row) for row in y]) == 0.0


def test_score_takes_iterators(model):
    X, y = sequences()
    assert model.score(iter(X), iter(y)) == model.score(X, y)


# prediction against enumeration -----------------------------------------------------


@pytest.fixture(scope="module")
def free():
    """A model whose weights a test may overwrite, and one with forbidden moves."""
    X, y = sequences(n=6)
    bare = SequenceTagger(tol=1e-6, max_iter=20_000).fit(X, y)
    y = [["A"] * len(row) for row in y[:-3]] + [["A", "B"], ["C"], ["B", "C"]]
    X = [*X[:-3], X[1], X[0], X[1]]
    walls = [("B", "A"), ("C", "B"), (None, "B"), ("A", None), ("C", "C")]
    y = [["C"] if row == ["A"] else row for row in y]
    y = [[*row[:-1], "B"] if len(row) > 1 and row[-1] == "A" else row for row in y]
    y = [["A", *row[1:]] if row[0] == "B" else row for row in y]
    walled = SequenceTagger(tol=1e-6, max_iter=20_000, forbidden=walls).fit(X, y)
    return {False: bare, True: walled}


def randomise(model, rng):
    # the attributes are views of the table that prediction uses
    for part in (model.coef_, model.transitions_, model.first_, model.last_):
        part[...] = rng.normal(size=part.shape)


def allowed(model, y):
    names = [None, *model.classes_[list(y)].tolist(), None]
    steps = set(pairwise(names))
    return not steps & set(model.forbidden or ())


def ranking(model, x):
    """All allowed outputs, best first, as (score, numbers)."""
    outputs = [y for y in every(model, len(x)) if allowed(model, y)]
    return sorted(((score(model, x, y), y) for y in outputs), reverse=True)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    length=st.integers(1, 4),
    walls=st.booleans(),
    k=st.integers(1, 40),
)
def test_predictions_are_those_of_enumeration(free, seed, length, walls, k):
    rng = np.random.default_rng(seed)
    model = free[walls]
    randomise(model, rng)
    x = rng.normal(size=(length, 3))
    ranked = ranking(model, x)
    scores = np.array([value for value, _ in ranked])
    names = model.classes_

    assert model.predict([x]) == [names[list(ranked[0][1])].tolist()]

    best = model.predict_k_best([x], k)[0]
    assert len(best) == min(k, len(ranked))
    np.testing.assert_allclose([s for _, s in best], scores[: len(best)], atol=1e-9)
    assert len({tuple(y) for y, _ in best}) == len(best)
    for y, value in best:
        numbers = [names.tolist().index(label) for label in y]
        assert allowed(model, numbers)
        assert value == pytest.approx(score(model, x, numbers), abs=1e-9)

    marginals = np.zeros((length, 3))
    maxima = np.full((length, 3), -np.inf)
    chances = np.exp(scores - scores.max())
    for (value, y), chance in zip(ranked, chances / chances.sum(), strict=True):
        for t, number in enumerate(y):
            marginals[t, number] += chance
            maxima[t, number] = max(maxima[t, number], value)
    found = model.predict_marginals([x])[0]
    np.testing.assert_allclose(found, marginals, atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    decisions = model.decision_function([x])[0]
    np.testing.assert_allclose(decisions, maxima, atol=1e-9)
    np.testing.assert_allclose(decisions.max(axis=1), best[0][1], atol=1e-9)
    assert names[decisions.argmax(axis=1)].tolist() == best[0][0]


# forbidden transitions --------------------------------------------------------------


def test_forbidden_transitions_shape_training():
    X, y = sequences(n=10, labels="AB", longest=3, noise=2.0)
    y = [sorted(labels) for labels in y]  # B never comes before A
    model = tight(C=1, forbidden=[("B", "A")]).fit(X, y)
    free = tight(C=1).fit(X, y)
    other = [100 * x[::-1] for x in X]  # features that outweigh the transitions
    assert any(row != sorted(row) for row in free.predict(other))
    assert all(row == sorted(row) for row in model.predict(other))
    for answers in model.predict_k_best(other, 8):
        assert all(row == sorted(row) for row, _ in answers)
    # forbidden outputs are no rivals, so the optimum is smaller and the hinges differ
    assert model.certificate_.primal < free.certificate_.primal
    value = 0.5 * squared_norm(model)
    for x, truth in zip(X, y, strict=True):
        numbers = [int(label == "B") for label in truth]
        value += max(
            sum(a != b for a, b in zip(other, numbers, strict=True))
            + score(model, x, other)
            - score(model, x, numbers)
            for other in every(model, len(truth))
            if list(other) == sorted(other)
        )
    assert model.certificate_.primal == pytest.approx(value)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        (("A", "B"), r"y\[1\] goes from 'A' to 'B' at token 1.*forbidden"),
        ((None, "A"), r"y\[1\] starts with 'A'.*forbidden"),
        (("B", None), r"y\[0\] ends with 'B'.*forbidden"),
    ],
)
def test_data_that_breaks_the_rules_are_named(pair, message):
    X = [np.ones((2, 1)), np.ones((2, 1))]
    y = [["B", "B"], ["A", "B"]]
    with pytest.raises(ValueError, match=message):
        SequenceTagger(forbidden=[pair]).fit(X, y)


def test_rules_about_labels_that_do_not_occur_are_ignored():
    X, y = sequences()
    model = SequenceTagger(forbidden=[("A", "never"), (None, "seen")]).fit(X, y)
    assert model.predict(X) == SequenceTagger().fit(X, y).predict(X)


@pytest.fixture(scope="module")
def singles():
    """Every transition is forbidden: only sequences of one token are possible."""
    X, y = sequences(longest=1)
    walls = [(a, b) for a in "ABC" for b in "ABC"]
    return SequenceTagger(forbidden=walls).fit(X, y)


def test_a_length_without_any_allowed_output(singles):
    x = np.ones((2, 3))
    for ask in (
        singles.predict,
        singles.predict_marginals,
        singles.decision_function,
        lambda X: singles.predict_k_best(X, 3),
    ):
        with pytest.raises(ValueError, match=r"sequence 1 has 2 tokens.*allow more"):
            ask([x[:1], x])
        assert len(ask([x[:1], []])) == 2
