"""Grammars: counts, probabilities, chains, unknown words, nltk, model files."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_cases import deep_tree, trees

from maxmargin import Grammar, Tree
from maxmargin.trees.binarize import binarize, collapse_unaries
from maxmargin.trees.grammar.words import WordModel, signatures

TEXTS = [
    "(S (NP (DT the) (NN cat)) (VP (VBD sat)))",
    "(S (NP (DT a) (NN dog)) (VP (VBD saw) (NP (DT the) (NN cat))))",
    "(S (NP (NN dog)) (VP (VP (VBD sat))))",
    "(NN (NN fire))",
]
TREES = [Tree.parse(text) for text in TEXTS]


def rules_of(grammar):
    """Rules by name with counts; tags in lower case."""
    names = [
        name.lower() if k < grammar.n_tags else name
        for k, name in enumerate(grammar.symbols)
    ]
    return {
        tuple(names[k] for k in rule): count
        for rules, counts in (
            (grammar.binary, grammar.counts_binary),
            (grammar.unary, grammar.counts_unary),
        )
        for rule, count in zip(rules.tolist(), counts.tolist(), strict=True)
    }


def test_rules_and_counts():
    grammar = Grammar.from_trees(TREES)
    assert rules_of(grammar) == {
        ("S", "NP", "VP"): 3,
        ("NP", "dt", "nn"): 3,
        ("VP", "vbd", "NP"): 1,
        ("VP", "vbd"): 2,
        ("NP", "nn"): 1,
        ("VP", "VP"): 1,
        ("NN", "nn"): 1,
    }
    assert grammar.symbols[: grammar.n_tags] == ["NN", "DT", "VBD"]
    assert grammar.symbols[grammar.n_tags :] == ["NP", "VP", "S", "NN"]
    assert grammar.tag_counts.tolist() == [5, 3, 3]
    assert [grammar.symbols[k] for k in grammar.roots] == ["S", "NN"]
    assert grammar.counts_roots.tolist() == [3, 1]
    assert grammar.lexicon["dog"] == {"NN": 2}
    assert not grammar.intermediate.any()
    assert grammar.tag_number["NN"] != grammar.phrase_number["NN"]


def test_chains_and_all_their_parts():
    tree = Tree.parse("(S (A (B (C (t w)))) (D (t w)))")
    grammar = Grammar.from_trees([tree])
    names = [
        "".join(
            [grammar.symbols[grammar.unary[k, 0]] for k in chain]
            + [grammar.symbols[grammar.chain_ends(chain)[1]]]
        )
        for chain in grammar.chains
    ]
    assert sorted(names) == sorted(["ABCt", "ABC", "BCt", "AB", "BC", "Ct", "Dt"])
    assert [len(chain) for chain in grammar.chains] == [1, 1, 1, 1, 2, 2, 3]


@given(st.lists(trees(max_leaves=8), min_size=1, max_size=4))
def test_grammars_of_random_trees(some):
    small = [binarize(tree) for tree in some]
    grammar = Grammar.from_trees(small)
    nodes = [node for tree in small for node in tree.subtrees()]
    assert grammar.counts_binary.sum() == sum(len(n.children) == 2 for n in nodes)
    assert grammar.tag_counts.sum() == sum(n.is_preterminal for n in nodes)
    n_unary = sum(not n.is_preterminal and len(n.children) == 1 for n in nodes)
    assert grammar.counts_unary.sum() == n_unary
    hidden = grammar.intermediate[grammar.unary]
    assert not hidden.any()
    for chain in grammar.chains:
        for a, b in itertools.pairwise(chain):
            assert grammar.unary[a, 1] == grammar.unary[b, 0]
    assert len(set(grammar.chains)) == len(grammar.chains)
    backwards = Grammar.from_trees(small[::-1])
    assert backwards.symbols == grammar.symbols
    assert (backwards.binary == grammar.binary).all()
    assert backwards.chains == grammar.chains
    assert Grammar.from_state(*grammar.to_state()).lexicon == grammar.lexicon


def test_bad_trees_are_refused():
    with pytest.raises(ValueError, match="there are no trees"):
        Grammar.from_trees([])
    with pytest.raises(ValueError, match=r"trees\[1\] .*S with 3 children: binarise"):
        Grammar.from_trees([TREES[0], Tree.parse("(S (A a) (A a) (A a))")])
    with pytest.raises(ValueError, match=r"trees\[0\] is of type str"):
        Grammar.from_trees(TEXTS)
    tree = TREES[0]
    for _ in range(10_000):
        tree = Tree("A", [tree])
    with pytest.raises(ValueError, match=r"trees\[0\] has more than 30 nodes"):
        Grammar.from_trees([tree])
    assert len(Grammar.from_trees([deep_tree(10_000)]).symbols) == 4


# probabilities -----------------------------------------------------------------------


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_probabilities_sum_to_one(smoothing):
    grammar = Grammar.from_trees(TREES)
    logs = grammar.log_probabilities(smoothing)
    total = np.zeros(len(grammar.symbols))
    np.add.at(total, grammar.binary[:, 0], np.exp(logs.binary))
    np.add.at(total, grammar.unary[:, 0], np.exp(logs.unary))
    assert total[grammar.n_tags :] == pytest.approx(1.0)
    assert np.exp(logs.roots).sum() == pytest.approx(1.0)
    if not smoothing:
        values = np.exp([*logs.binary, *logs.unary])
        known = dict(zip(grammar.rule_names(), values, strict=True))
        assert known["VP -> VBD"] == pytest.approx(2 / 4)
        assert known["NP -> DT NN"] == pytest.approx(3 / 4)
        assert np.exp(logs.roots[0]) == pytest.approx(3 / 4)


def test_bad_smoothing_is_refused():
    grammar = Grammar.from_trees(TREES)
    for smoothing in (-1, math.nan, math.inf, "a lot", [1]):
        with pytest.raises(ValueError, match="smoothing="):
            grammar.log_probabilities(smoothing)


# chains ------------------------------------------------------------------------------


def unary_grammar(rules, n_tags, n):
    unary = np.array(rules, np.int32).reshape(-1, 2)
    return Grammar(
        [f"s{k}" for k in range(n)],
        n_tags,
        np.zeros((0, 3), np.int32),
        unary,
        np.array([n - 1], np.int32),
        np.zeros(0),
        np.ones(len(unary)),
        np.ones(1),
        np.ones(n_tags),
        [],
    )


@given(st.data())
def test_best_chains_are_the_best_of_all(data):
    n = data.draw(st.integers(2, 5))
    pairs = [(a, b) for a in range(1, n) for b in range(n)]
    rules = data.draw(st.lists(st.sampled_from(pairs), unique=True, max_size=10))
    values = data.draw(
        st.lists(
            st.sampled_from([0.0, -0.5, -1.0, -2.0, -math.inf]),
            min_size=len(rules),
            max_size=len(rules),
        )
    )
    grammar = unary_grammar(rules, 1, n)
    chains, found = grammar.best_chains(np.array(values))
    best = {}
    for size in range(1, n):  # a best chain need not visit a symbol twice
        for chain in itertools.product(range(len(rules)), repeat=size):
            joined = all(
                rules[a][1] == rules[b][0] for a, b in itertools.pairwise(chain)
            )
            ends = rules[chain[0]][0], rules[chain[-1]][1]
            value = sum(values[k] for k in chain)
            if joined and ends[0] != ends[1] and value > best.get(ends, -math.inf):
                best[ends] = value
    assert (
        dict(zip(map(grammar.chain_ends, chains), found.tolist(), strict=True)) == best
    )
    for chain, value in zip(chains, found, strict=True):
        assert sum(values[k] for k in chain) == value
        for a, b in itertools.pairwise(chain):
            assert rules[a][1] == rules[b][0]


def test_cycles_of_positive_value_are_named():
    grammar = unary_grammar([(1, 2), (2, 3), (3, 1), (1, 0)], 1, 4)
    assert len(grammar.best_chains(np.array([1.0, -1.0, -1.0, 2.0]))[0]) == 9
    with pytest.raises(ValueError, match=r"s\d -> s\d -> s\d -> s\d form a cycle"):
        grammar.best_chains(np.array([1.0, -1.0, 0.5, 2.0]))
    self_loop = unary_grammar([(1, 1)], 1, 2)
    assert self_loop.best_chains(np.array([0.0]))[0] == []
    with pytest.raises(ValueError, match="s1 -> s1 form a cycle"):
        self_loop.best_chains(np.array([0.1]))


def test_bad_values_of_rules_are_refused():
    grammar = unary_grammar([(1, 0)], 1, 2)
    for values, words in (([1.0, 2.0], "one value per rule"), ([math.nan], "nan")):
        with pytest.raises(ValueError, match=words):
            grammar.best_chains(np.array(values))


# words -------------------------------------------------------------------------------

LEXICON = {
    "the": {"DT": 50.0},
    "run": {"NN": 4.0, "VB": 6.0},
    "walking": {"VBG": 2.0},
    "running": {"VBG": 1.0},
    "London": {"NNP": 1.0},
    "table": {"NN": 1.0},
}


def test_known_and_unknown_words():
    tags = ["DT", "NN", "VB", "VBG", "NNP"]
    model = WordModel(LEXICON, tags)
    scores = dict(zip(tags, model.scores("run"), strict=True))
    assert scores["DT"] == scores["NNP"] == -math.inf
    assert math.exp(scores["VB"]) == pytest.approx(1.0)  # VB is never an unknown word
    assert math.exp(scores["NN"]) < 4 / 5  # NN may be
    assert tags[int(np.argmax(model.scores("singing")))] == "VBG"
    assert tags[int(np.argmax(model.scores("Paris")))] == "NNP"
    assert model.scores("12:30").max() > -math.inf
    assert model.scores("zzz")[0] == -math.inf  # no unknown determiners
    assert "run" in model
    assert "zzz" not in model


def test_probabilities_of_words_sum_to_one_by_tag():
    tags = ["DT", "NN", "VB", "VBG", "NNP"]
    model = WordModel(LEXICON, tags, rare=1)
    known = sum(np.exp(model.scores(word)) for word in LEXICON)
    # running, London and table occur once: 3 of 65 words are unknown, 1 of these is NN
    assert known[0] == pytest.approx(1.0)
    assert known[1] == pytest.approx(1 - (3 / 65) * (1 / 3) / (5 / 65))


def test_degenerate_lexicons():
    model = WordModel({"a": {"X": 100.0}}, ["X"])
    assert np.isfinite(model.scores("unseen")).all()
    with pytest.raises(ValueError, match="the lexicon is empty"):
        WordModel({}, ["X"])
    with pytest.raises(ValueError, match="rare="):
        WordModel(LEXICON, ["DT"], rare=0)


def test_signatures():
    assert signatures("singing") == ["a/ing", "a/ng", "a/g", "a", ""]
    assert signatures("42") == ["0", ""]
    assert signatures("I")[-2:] == ["Aa", ""]
    assert signatures("mid-1987")[0] == "a0-/987"
    assert signatures("") == [".", ""]


# exchange ----------------------------------------------------------------------------


def test_model_state_comes_back():
    grammar = Grammar.from_trees(TREES)
    again = Grammar.from_state(*grammar.to_state())
    assert again.symbols == grammar.symbols
    assert again.chains == grammar.chains
    assert again.lexicon == grammar.lexicon
    assert (again.binary == grammar.binary).all()
    assert again.rules_table() == grammar.rules_table()
    assert repr(again) == repr(grammar)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("binary", np.array([[0, 1, 2]], np.int32)),  # a tag cannot have children
        ("binary", np.full((2, 3), 99, np.int32)),
        ("binary", np.full((2, 3), -1, np.int32)),
        ("unary", np.zeros((1, 3), np.int32)),
        ("roots", np.zeros(0, np.int32)),
        ("roots", np.array([0.5])),
        ("counts_unary", np.array([np.nan] * 4)),
        ("tag_counts", np.zeros(9)),
        ("chain_rules", np.array([99] * 5, np.int32)),
        ("chain_start", np.array([0, 5, 3], np.int64)),
        ("lexicon_tags", np.full(7, 40, np.int32)),
        ("lexicon_words", np.zeros(1, np.int32)),
    ],
)
def test_damaged_states_are_refused(name, value):
    arrays, values = Grammar.from_trees(TREES).to_state()
    with pytest.raises(ValueError, match="not valid"):
        Grammar.from_state({**arrays, name: value}, values)


def test_exchange_with_nltk():
    nltk = pytest.importorskip("nltk")
    grammar = Grammar.from_trees(TREES)
    pcfg = grammar.to_nltk()
    assert str(pcfg.start()) == "<start>"
    again = Grammar.from_nltk(pcfg)
    logs = grammar.log_probabilities()
    mine = dict(zip(grammar.rule_names(), [*logs.binary, *logs.unary], strict=True))
    logs = again.log_probabilities()
    theirs = dict(zip(again.rule_names(), [*logs.binary, *logs.unary], strict=True))
    assert theirs == pytest.approx(mine)
    assert len(again.roots) == 2

    cfg = nltk.CFG.fromstring("S -> NP VP\nNP -> 'D' 'N' | 'N'\nVP -> 'V' NP | 'V'")
    plain = Grammar.from_nltk(grammar=cfg)
    assert plain.symbols[: plain.n_tags] == ["D", "N", "V"]
    assert [plain.symbols[k] for k in plain.roots] == ["S"]
    assert len(plain.chains) == 2
    assert plain.to_nltk().start() == cfg.start()


def test_nltk_parses_with_our_grammar():
    nltk = pytest.importorskip("nltk")
    grammar = Grammar.from_trees(TREES[:2])
    (tree,) = nltk.ViterbiParser(grammar.to_nltk()).parse(
        ["DT", "NN", "VBD", "DT", "NN"]
    )
    expected = 0.5  # VP -> VBD NP; all else is certain
    assert tree.prob() == pytest.approx(expected)


def test_grammars_that_nltk_cannot_give():
    nltk = pytest.importorskip("nltk")
    with pytest.raises(ValueError, match="4 symbols on its right-hand side"):
        Grammar.from_nltk(nltk.CFG.fromstring("S -> 'a' 'b' 'c' 'd'"))
    with pytest.raises(ValueError, match=r"not a str"):
        Grammar.from_nltk("S -> A")


@pytest.mark.slow
def test_the_whole_sample(data_home):
    from maxmargin.files import read_trees

    sample = read_trees(data_home / "wsj_sample_trees" / "wsj_sample.mrg.gz")
    grammar = Grammar.from_trees(map(binarize, sample))
    assert grammar.n_tags == 45
    assert len(grammar.lexicon) == len({w for t in sample for w in t.words()})
    chains, values = grammar.best_chains(grammar.log_probabilities().unary)
    assert len(chains) >= len({grammar.chain_ends(c) for c in grammar.chains})
    assert (values <= 0).all()


@pytest.mark.slow
def test_the_grammar_that_nltk_reads_off_the_sample(data_home):
    """Documents 1-180, unary chains collapsed below the root: counted with nltk once."""
    from maxmargin.files import read_raw, read_trees

    folder = data_home / "wsj_sample_trees"
    sample = read_trees(folder / "wsj_sample.mrg.gz", root="TOP", collapse_same=False)
    documents = read_raw(folder / "wsj_sample.docids.txt.gz").data.decode().split()
    small = [
        binarize(Tree("TOP", map(collapse_unaries, tree.children)))
        for tree, document in zip(sample, documents, strict=True)
        if document <= "wsj_0180"
    ]
    grammar = Grammar.from_trees(small)
    assert len(small) == 3677
    assert (len(grammar.binary), len(grammar.unary)) == (5214, 114)
    assert len(grammar.symbols) == 1568
