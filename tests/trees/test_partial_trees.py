"""Trees that are only partly known: None, or brackets, in y."""

from collections import Counter

import numpy as np
import pytest
from far_cases import check_listed
from hypothesis import given, settings
from hypothesis import strategies as st
from parse_cases import enumerate_derivations, random_parses
from partial_cases import check_completion, check_descent, check_likelihood
from test_cky import brackets, check_rescaled

from maxmargin import GrammarParser, load, save
from maxmargin.core.completion import complete_all, with_truths
from maxmargin.core.partial import ordinary
from maxmargin.testing import check_structure
from maxmargin.trees import Tree
from maxmargin.trees.cky.batch import LOSSES
from maxmargin.trees.cky.parses import partly_parsed


def hide(batch, rng):
    """The batch with some of the brackets of its trees, labels of some left out."""
    known = []
    for i, length in enumerate(np.diff(batch.token_start).tolist()):
        found = brackets(batch.grammar, batch.y[slice(*batch.start[i : i + 2])], length)
        known.append(
            [
                (begin, end, -1 if rng.random() < 0.3 else label)
                for begin, end, label in found
                if rng.random() < 0.4
            ]
        )
    return partly_parsed(batch, rng.random(len(known)) < 0.2, known)


def agrees(batch, i, outputs):
    first, last = batch.start[i : i + 2]
    if batch.known[first]:
        return [bool((y == batch.y[first:last]).all()) for y in outputs]
    length = int(batch.token_start[i + 1] - batch.token_start[i])
    wanted = batch.brackets[batch.bracket_start[i] : batch.bracket_start[i + 1]]
    good = []
    for y in outputs:
        found = set(brackets(batch.grammar, y, length))
        spans = {(begin, end) for begin, end, _ in found}
        good.append(
            all(
                (b, e, a) in found if a >= 0 else (b, e) in spans
                for b, e, a in wanted.tolist()
            )
        )
    return good


CASES = {
    "seed": st.integers(0, 10**6),
    "lengths": st.lists(st.integers(1, 5), min_size=1, max_size=2),
    "with_features": st.booleans(),
    "free": st.booleans(),
}


@settings(max_examples=60, deadline=None)
@given(**CASES)
def test_completion_is_that_of_enumeration(seed, lengths, with_features, free):
    batch, size = random_parses(seed, lengths, "f1", with_features, free)
    rng = np.random.default_rng(seed)
    partial, w = hide(batch, rng), rng.normal(size=size)
    check_completion(partial, w, enumerate_derivations, agrees)


@given(**CASES)
def test_known_sums_of_scores_far_apart(seed, lengths, with_features, free):
    batch, size = random_parses(seed, lengths, "f1", with_features, free)
    rng = np.random.default_rng(seed)
    partial = hide(batch, rng)
    for i in range(len(lengths)):
        outputs = list(enumerate_derivations(batch, i))
        agree = agrees(partial, i, outputs)
        check_listed(partial, i, size, outputs, rng, 0.0, agree)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), loss=st.sampled_from(sorted(LOSSES)))
def test_searches_stay_exact_when_truths_move(seed, loss):
    batch, size = random_parses(seed, (5, 4), loss)
    rng = np.random.default_rng(seed)
    partial = partly_parsed(batch, [False, False], [[], []])
    for _ in range(2):
        truths = complete_all(partial, rng.normal(size=size))
        partial = with_truths(partial, truths)
    check_structure(ordinary(partial), size, enumerate_derivations, seed=seed, trials=1)
    check_rescaled(ordinary(partial), size, seed)
    for i, length in enumerate((5, 4)):  # what the search takes for granted
        truth = Counter(
            brackets(batch.grammar, truths[slice(*batch.start[i : i + 2])], length)
        )
        for y in enumerate_derivations(batch, i):
            right = (truth & Counter(brackets(batch.grammar, y, length))).total()
            assert right >= partial.bounds[i, 0]


@settings(max_examples=30, deadline=None)
@given(**CASES)
def test_marginal_likelihood_is_that_of_enumeration(seed, lengths, with_features, free):
    batch, size = random_parses(seed, lengths, "f1", with_features, free)
    rng = np.random.default_rng(seed)
    partial, w = hide(batch, rng), rng.normal(size=size)
    check_likelihood(partial, w, enumerate_derivations, agrees)


NOUN_PHRASES = ["(NP (D the) (N cat))", "(NP (N cats))"]


def attached(where, preposition, subject=0, last=1):
    """A sentence with a phrase that belongs to the object or to the verb."""
    phrase = f"(PP (P{preposition} by{preposition}) {NOUN_PHRASES[last]})"
    rest = f"(NP (NP (N men)) {phrase})" if where == "NP" else f"(NP (N men)) {phrase}"
    return Tree.parse(f"(S {NOUN_PHRASES[subject]} (VP (V see) {rest}))")


def samples():
    """Trees, and what is known of them: some whole, others by one bracket, None.

    Of the first three, two say of P1 what all others contradict.
    """
    trees = [attached("VP", 1, 0, 1), attached("VP", 1, 1, 0), attached("NP", 1)]
    trees.append(attached("VP", 2))
    known = list(trees)
    for k in range(8):
        trees.append(attached("NP", 1, k % 2, k // 2 % 2))
        known.append([trees[-1].spans()[3]])  # the object with its phrase
    return [*trees, attached("VP", 2, 1, 0)], [*known, None]


OPTIONS = {"C": 1.0, "parent": 1, "horizontal": None, "tol": 1e-3}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "zero-one"},
        {"loss": "hamming", "rescaling": "slack"},
        {"penalty": "quadratic", "unlabelled_weight": 1.0},
        {"input": "words", "features": "spans"},
        {"input": "both", "features": "spans"},
    ],
)
def test_known_brackets_teach(options, tmp_path):
    trees, known = samples()
    model = GrammarParser(**OPTIONS | options).fit(trees, known)
    check_descent(model)
    assert model.predict(trees[3:]) == trees[3:]
    alone = GrammarParser(**OPTIONS | options).fit(None, trees[:4])
    assert alone.predict(trees[4:8]) != trees[4:8]
    assert model.complete(trees, known) == trees
    assert model.n_left_out_ == 0
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.predict(trees) == model.predict(trees)
    assert again.certificate_ == model.certificate_


@pytest.mark.parametrize("objective", ["log", "perceptron"])
def test_other_objectives(objective):
    trees, known = samples()
    model = GrammarParser(**OPTIONS, objective=objective).fit(trees, known)
    assert model.complete(trees, known) == trees
    if objective == "log":  # a perceptron on samples that contradict each other may err
        assert model.predict(trees[3:]) == trees[3:]


def test_complete_keeps_what_is_given():
    trees, known = samples()
    model = GrammarParser(**OPTIONS).fit(trees, known)
    X = [tree.tags() for tree in trees[:4]]
    other = attached("VP", 1)
    y = [[("VP", 2, 6), (None, 4, 6)], [("NP", 1, 3)], trees[2], [("XX", 0, 1)]]
    found = model.complete([other, *X[1:]], y)
    assert found[0].spans()[:2] == [("S", 0, 6), ("NP", 0, 2)]
    assert ("PP", 4, 6) in found[0].spans()
    assert found[2] == trees[2]
    assert model.n_fallbacks_ >= 1  # the last: no such label
    model.fallback = "none"
    assert model.complete(X[3:], y[3:]) == [None]


def test_whole_trees_are_the_ordinary_fit():
    trees, _ = samples()
    one = GrammarParser(**OPTIONS).fit(None, trees)
    two = GrammarParser(**OPTIONS, unlabelled_weight=3.0).fit(trees, trees)
    assert np.array_equal(one.coef_, two.coef_)
    assert not hasattr(two, "rounds_")


@pytest.mark.filterwarnings("ignore:Training ended with weights that are all zero")
def test_what_the_grammar_cannot_parse_is_left_out():
    trees, known = samples()
    strange = [Tree.parse("(S (Z z) (Z z))"), *trees[:1]]
    with pytest.warns(UserWarning, match=r"2 of 15 sentences .* X\[13\] is the first"):
        model = GrammarParser(**OPTIONS).fit(
            [*trees, *strange], [*known, None, [("XX", 0, 2)]]
        )
    assert model.n_left_out_ == 2
    assert model.predict(trees[3:]) == trees[3:]
    with pytest.warns(UserWarning, match="left out"):
        model = GrammarParser(**OPTIONS).fit(
            [trees[0], strange[0]], [known[0], [("S", 0, 2)]]
        )
    assert model.predict(trees[:1]) == trees[:1]


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (None, "no whole tree"),
        ([("S", 0, 3)], "no whole tree"),
        ([("NP", 0, 2), ("VP", 1, 3)], r"y\[1\] has the brackets .* which cross"),
        ([("NP", 0, 4)], r"y\[1\] has the bracket \('NP', 0, 4\).* 3 words"),
        ([("NP", 2, 2)], r"y\[1\] has the bracket"),
        ([("NP", -1, 2)], r"y\[1\] has the bracket"),
        ([("NP", 0)], r"y\[1\]\[0\] is \('NP', 0\), but a bracket is"),
        ([("NP", 0, 1.5)], r"y\[1\]\[0\] is"),
        ([(3, 0, 1)], r"y\[1\]\[0\] is"),
        ([("", 0, 1)], r"y\[1\]\[0\] is"),
        (["NP"], r"y\[1\]\[0\] is 'NP'"),
        ("(S (X x))", r"y\[1\] is of type str"),
        ({"S": 1}, r"y\[1\] is of type dict"),
    ],
)
def test_bad_input(known, message):
    X = [["D", "N", "V"], ["D", "N", "V"]]
    with pytest.raises(ValueError, match=message):
        GrammarParser().fit(X, [[("S", 0, 3)], known])


@pytest.mark.filterwarnings("ignore:Training ended with weights that are all zero")
def test_bad_input_beside_trees():
    tree = Tree.parse("(S (NP (D the) (N cat)) (VP (V sees)))")
    with pytest.raises(ValueError, match=r"y\[1\] is of type NoneType.*X is missing"):
        GrammarParser().fit(None, [tree, None])
    with pytest.raises(ValueError, match="no known label"):
        GrammarParser().fit([tree, tree], [None, []])
    with pytest.raises(ValueError, match=r"X\[1\] is an empty sentence"):
        GrammarParser().fit([tree, []], [tree, None])
    with pytest.raises(ValueError, match=r"C=inf"):
        GrammarParser(C=np.inf).fit([tree, tree], [tree, None])
    with pytest.raises(ValueError, match=r"unlabelled_weight=-1"):
        GrammarParser(unlabelled_weight=-1).fit([tree, tree], [tree, None])
    with pytest.raises(ValueError, match=r"y\[1\] is of type NoneType"):
        GrammarParser().fit(None, [tree]).score([tree, tree], [tree, None])
