"""Contributions in structured outputs add up to differences that others compute."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_cases import DNA, cases, fitted

from maxmargin import (
    GrammarParser,
    GraphLabeler,
    LinkClusterer,
    PCFGParser,
    SequenceAligner,
    Tree,
    WordAligner,
)
from maxmargin.clusterings.features import PairFeatures
from maxmargin.matchings.titles import title_of

NUMBER = st.floats(-3, 3, width=32)
TREES = [
    "(S (NP (PRP I)) (VP (VBD saw) (NP (NP (NN it)) (PP (IN in) (NP (NN it))))))",
    "(S (NP (PRP I)) (VP (VBD saw) (NP (NN it)) (PP (TO to) (NP (NN it)))))",
    "(S (NP (PRP I)) (VP (VBD put) (NP (NN it)) (PP (IN in) (NP (DT a) (NN box)))))",
]


@pytest.mark.parametrize("parser", [GrammarParser(C=10), PCFGParser()])
def test_brackets_add_up(parser):
    trees = [Tree.parse(text) for text in TREES]
    parser.fit(trees, trees)
    (ranked,) = parser.predict_k_best(trees[:1], 100)
    found = parser.explain(trees[0])
    assert found.parts
    best = ranked[0][0].spans()
    words = trees[0].words()
    tree, *brackets = found.parts
    assert tree.difference == pytest.approx(ranked[0][1] - ranked[1][1], abs=1e-6)
    # what the runner-up alone has is counted by how often it has it
    theirs = [f for f in tree.features if f.feature.endswith("(runner-up)")]
    assert theirs
    assert min(f.value for f in theirs) > 0
    for part in brackets:
        (bracket,) = (
            (z, a, b)
            for z, a, b in best
            if f"{z} {' '.join(words[a:b])!r}" == part.name
        )
        without = next(score for tree, score in ranked if bracket not in tree.spans())
        assert part.difference == pytest.approx(ranked[0][1] - without, abs=1e-6)


def test_a_single_tree_has_no_runner_up():
    model, X, *_ = fitted("GrammarParser")
    assert str(model.explain(X[0])) == "(no part has a runner-up)"
    strange = Tree.parse("(S (ZZ what))")
    with pytest.raises(ValueError, match="the grammar has no tree for x"):
        model.explain(strange)


@pytest.mark.parametrize("edges", ["directed", "symmetric", "associative"])
@given(values=st.lists(NUMBER, min_size=4, max_size=4))
@settings(max_examples=10, deadline=None)
def test_nodes_add_up(edges, values):
    _, X, y = cases()["GraphLabeler"]
    model = GraphLabeler(C=10, edges=edges, tol=0.2).fit(X, y)
    x = [[value] for value in values], X[0][1]
    (ranked,) = model.predict_k_best([x], 16)
    best = model.predict([x])[0]
    for v, part in enumerate(model.explain(x).parts):
        assert part.name == f"node {v}"
        assert part.predicted == best[v]
        without = next(score for labels, score in ranked if labels[v] != best[v])
        assert part.difference == pytest.approx(ranked[0][1] - without, abs=1e-7)
        assert part.runner_up != best[v]


def test_nodes_of_types_and_names():
    nodes = {"user": [[1.0], [-1.0]], "item": [[0.5], [-2.0]]}
    x = {"nodes": nodes, "edges": {("user", "likes", "item"): [(0, 0), (1, 1)]}}
    y = {"user": ["good", "bad"], "item": ["new", "old"]}
    model = GraphLabeler(C=10).fit([x], [y])
    found = model.explain(x)
    assert [p.name for p in found.parts] == ["user 0", "user 1", "item 0", "item 1"]
    names = {f.feature for part in found.parts for f in part.features}
    assert "user nodes: good, feature 0" in names
    assert any(name.startswith("edges user likes item: ") for name in names)
    (one,) = model.explain(x, nodes=[2]).parts
    assert one.name == "item 0"
    with pytest.raises(ValueError, match="nodes has 9, but x has the nodes 0 to 3"):
        model.explain(x, nodes=[9])
    for nodes, message in (
        (2, "nodes is 2: give a list of nodes"),
        ("01", "nodes is '01': give a list"),
        (
            [0.5],
            "nodes has 0.5, which is no node of x: give numbers of nodes, from 0 to 3.",
        ),
        (["a"], "nodes has 'a', which is no node"),
        ([[0]], r"nodes has \[0\], which is no node"),
    ):
        with pytest.raises(ValueError, match=message):
            model.explain(x, nodes=nodes)


def test_nodes_of_networkx_go_by_name():
    networkx = pytest.importorskip("networkx")
    x = networkx.Graph([("a", "b"), ("b", "c")])
    for name, value in zip("abc", (1.0, -1.0, 2.0), strict=True):
        x.nodes[name]["x"] = [value]
    model = GraphLabeler(C=10).fit([x], [["up", "down", "up"]])
    found = model.explain(x, nodes=["c", 0])
    assert [part.name for part in found.parts] == ["node c", "node a"]
    with pytest.raises(
        ValueError, match=r"nodes has 'd', .* from 0 to 2, or their names"
    ):
        model.explain(x, nodes=["d"])


@given(texts=st.tuples(*[st.text("HEAGW", min_size=1, max_size=7)] * 2))
@settings(max_examples=25, deadline=None)
def test_alignments_add_up(texts):
    model = fitted("SequenceAligner")[0]
    (ranked,) = model.predict_k_best([texts], 2)
    for part in model.explain(texts).parts:
        assert part.difference == pytest.approx(ranked[0][1] - ranked[1][1], abs=1e-7)


def test_gaps_have_names():
    model = SequenceAligner(C=100, gaps="linear").fit(*cases()["SequenceAligner"][1:])
    features = model.explain(("HEAG", "HG")).parts[0].features
    assert {f.feature.removesuffix(" (runner-up)") for f in features} <= {
        "gap, each position",
        *(f"{a} with {b}" for a, b in product("HEAG", repeat=2)),
    }


@given(words=st.lists(st.sampled_from(["the", "house", "he"]), min_size=1, max_size=3))
@settings(max_examples=20, deadline=None)
def test_links_add_up(words):
    """Against all matchings, one by one."""
    model = WordAligner(fertility=1).fit(*cases()["WordAligner"][1:])
    target = ["la", "maison"]
    batch = model.structure_.encode([(words, target)])
    theta = (batch.x @ model.coef_).reshape(len(words), 2)

    def matchings(k=0, used=()):
        if k == len(words):
            yield ()
            return
        yield from matchings(k + 1, used)
        for j in range(2):
            if j not in used:
                yield from (((k, j), *r) for r in matchings(k + 1, (*used, j)))

    every = [(sum(theta[i, j] for i, j in m), set(m)) for m in matchings()]
    best = max(score for score, _ in every)
    (links,) = model.predict([(words, target)])
    found = model.explain((words, target)).parts
    assert [p.name for p in found] == [f"{words[i]} with {target[j]}" for i, j in links]
    for link, part in zip(links, found, strict=True):
        second = max(score for score, m in every if tuple(link) not in m)
        assert part.difference == pytest.approx(best - second, abs=1e-9)


@given(table=st.lists(NUMBER, min_size=6, max_size=6))
@settings(max_examples=30, deadline=None)
def test_links_of_mentions_add_up(table):
    model = fitted("LinkClusterer")[0]
    x = [[value] for value in table]
    links = {(a, b): score for a, b, score in model.predict_links([x])[0]}
    linked = [p for p in model.explain(x).parts if p.predicted != "apart"]
    apart = sorted(p.difference for p in linked)
    assert apart == pytest.approx(sorted(links.values()))
    assert all(p.difference >= -1e-12 for p in model.explain(x).parts)


def test_clusters_of_a_correlation_add_up():
    _, X, y = cases()["LinkClusterer"]
    model = LinkClusterer(C=10, method="correlation").fit(X, y)
    first, second, third = model.explain(X[0]).parts
    scores = model.decision_function([X[0]])[0]
    assert first.predicted == "with mention 2"
    assert first.runner_up == "apart"
    assert first.difference == pytest.approx(scores[0])
    assert third.predicted == "apart"
    assert third.difference == pytest.approx(-sum(scores[1:]))
    assert second.name == "mention 2"


@pytest.mark.parametrize("x", DNA)
def test_sites_add_up(x):
    model = fitted("MotifFinder")[0]
    (part,) = model.explain(x).parts
    assert part.difference == pytest.approx(abs(model.decision_function([x])[0]))
    assert part.predicted == model.predict([x])[0]


def test_names_of_background_and_words():
    model, X, *_ = fitted("MotifFinder")
    names = {f.feature for x in X for f in model.explain(x).parts[0].features}
    kinds = {name.split()[0].rstrip(",") for name in names}
    assert kinds == {"site", "background", "word"}
    words = [n.split()[1] for n in names if n.startswith("word ")]
    assert {len(w) for w in words} == {4, 6}
    assert all(any(w in x for x in X) for w in words)


def test_titles_are_words():
    assert title_of("bias") == "every link"
    assert title_of("word dice") == "Dice coefficient (words)"
    assert title_of("hmm at -1,+0") == "HMM probability of the neighbours at -1, +0"
    assert title_of("stem4 one <= 1") == "one word occurs at most once (4-letter stems)"
    assert title_of("hmm, logarithm") == "HMM probability (logarithm)"
    assert title_of("my function 3") == "my function 3"
    aligner = fitted("WordAligner")[0]
    titles = list(map(title_of, aligner.feature_names_))
    assert len(set(titles)) == len(titles)
    pairs = PairFeatures(["PER"])
    titles = pairs.titles()
    assert len(set(titles)) == len(titles) == pairs.n_features
    assert not any("=" in title or "?" in title for title in titles)
