"""LinkClusterer: documents in, clusters out, and what is wrong said in sentences."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from maxmargin import LinkClusterer, Mention, MentionDocument, load, save
from maxmargin.clusterings import forests
from maxmargin.clusterings.features import PairFeatures
from maxmargin.clusterings.input import KEPT, WORK
from maxmargin.clusterings.pairs import ALL, n_pairs
from maxmargin.testing import check_model_file

TEXT = [["Emma", "saw", "her", "friend"], ["He", "greeted", "Emma", "."]]
EMMA = MentionDocument(
    "emma",
    TEXT,
    [
        Mention(0, 0, 0, "PER"),
        Mention(0, 2, 2, "PER"),
        Mention(0, 2, 3, "PER"),
        Mention(1, 0, 0, "PER"),
        Mention(1, 2, 2, "PER"),
    ],
)


def chains(n_documents=12, n=6, seed=0, noise=0.3, jump=4.0):
    """Mentions on a line: neighbours of one cluster are near, its ends far apart."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n_documents):
        clusters = np.sort(rng.integers(0, 3, size=n))
        place = np.cumsum(np.where(np.diff(clusters, prepend=0) > 0, jump, 1.0))
        a, b = np.triu_indices(n, 1)
        gap = abs(place[b] - place[a]) + noise * rng.normal(size=len(a))
        X.append(np.column_stack([gap, rng.normal(size=len(a))]))
        y.append(clusters.tolist())
    return X, y


def test_both_methods_find_chains():
    X, y = chains(n=12, noise=0.05, jump=1.8)
    forest = LinkClusterer(C=1).fit(X, y)
    pairs = LinkClusterer(C=1, method="correlation").fit(X, y)
    assert forest.score(X, y) > 0.95
    assert pairs.score(X, y) > 0.95
    assert not pairs.certificate_.exact
    assert forest.certificate_.exact
    assert forest.coef_[0] < 0 < forest.intercept_


@pytest.mark.parametrize("tol", [1.0, 2.5])
def test_a_large_tol_is_compared_with_what_a_step_could_gain(tol):
    model = LinkClusterer(tol=tol, max_iter=2).fit(*chains(8, 5))
    assert model.converged_
    assert model.certificate_.bound <= tol * model.certificate_.objective


@pytest.mark.parametrize("r", [1.0, 0.01])
def test_the_objective_never_rises(r):
    X, y = chains()
    model = LinkClusterer(C=1, r=r, tol=1e-3, init="random", random_state=1).fit(X, y)
    values = [row["objective"] for row in model.rounds_]
    assert all(b <= a * (1 + 1e-6) for a, b in pairwise(values))
    assert model.converged_


def test_a_small_r_links_more():
    X, y = chains(noise=1.5, n_documents=30)
    links = [
        sum(map(len, LinkClusterer(C=1, r=r).fit(X, y).predict_links(X)))
        for r in (1.0, 0.01)
    ]
    assert links[1] > links[0]


def test_links_and_clusters_belong_together():
    X, y = chains()
    for method in ("forest", "correlation"):
        model = LinkClusterer(C=1, method=method).fit(X, y)
        scores = model.decision_function(X)
        found = zip(model.predict(X), model.predict_links(X), scores, strict=True)
        for clusters, links, row in found:
            assert len(links) == len(clusters) - len(set(clusters))
            for a, b, score in links:
                assert clusters[a] == clusters[b]
                place = a * (2 * len(clusters) - a - 1) // 2 + b - a - 1
                assert score == pytest.approx(row[place])
                assert method != "forest" or score > 0


def test_trees_of_all_documents_are_followed_in_one_call(monkeypatch):
    X, y = chains()
    model = LinkClusterer().fit(X, y)
    calls, roots = [], forests.roots
    monkeypatch.setattr(forests, "roots", lambda *a: calls.append(a) or roots(*a))
    found = model.predict(X)
    assert len(calls) == 1
    assert found == [model.predict([x])[0] for x in X]


def test_sparse_tables_and_groups_of_mentions_are_the_same_data():
    X, y = chains()
    model = LinkClusterer().fit(X, y)
    groups = [
        [[v for v in range(len(c)) if c[v] == k] for k in sorted(set(c))] for c in y
    ]
    other = LinkClusterer().fit([csr_matrix(x) for x in X], groups)
    np.testing.assert_allclose(model.coef_, other.coef_)


def test_words_are_enough(tmp_path):
    y = [[0, 0, 1, 1, 0]]
    model = LinkClusterer(C=10).fit([EMMA], y)
    assert model.predict([EMMA]) == y
    assert model.types_ == ("PER",)
    assert len(model.feature_names_) == len(model.coef_)
    strongest = model.feature_names_[int(np.argmax(model.coef_))]
    assert "form1=" in strongest or "lemma1=" in strongest
    as_dict = {"sentences": TEXT, "mentions": [[*m[:3], None, "PER"] for m in EMMA[2]]}
    assert model.predict([as_dict]) == y
    new = EMMA._replace(mentions=[m._replace(type="GHOST") for m in EMMA.mentions])
    model.predict([new])  # types that training has not seen
    save(model, tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    assert again.predict([EMMA]) == y
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_one_mention_or_none():
    X, y = chains(n_documents=3)
    model = LinkClusterer().fit([*X, np.zeros((0, 2)), []], [*y, [5], []])
    assert model.predict([np.zeros((0, 2)), X[0]])[0] == [0]
    empty = EMMA._replace(mentions=[])
    single = EMMA._replace(mentions=EMMA.mentions[:1])
    for method in ("forest", "correlation"):
        model = LinkClusterer(method=method)
        model.fit([EMMA, empty, single], [[0, 0, 1, 1, 0], [], ["x"]])
        assert model.predict([empty, single]) == [[], [0]]
        assert model.predict([]) == []
        assert model.predict_links([empty, single]) == [[], []]
        with pytest.warns(UserWarning, match="all zero"):
            LinkClusterer(method=method).fit([empty, single], [[], [1]])


def test_restarts_and_starting_weights():
    X, y = chains(n_documents=4)
    model = LinkClusterer(n_restarts=3, random_state=0).fit(X, y)
    assert len(model.restarts_) == 3
    assert model.certificate_.objective == min(model.restarts_)
    tables = LinkClusterer(fit_intercept=False).fit(X, y)
    LinkClusterer(fit_intercept=False, init=tables).fit(X, y)


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        ([[[1.0], [1.0]]], [[0, 0, 1]], r"X\[0\] has 2 rows, but n mentions"),
        ([[[1.0]]], [[0, 0, 1]], r"y\[0\] has 3 cluster ids, but the document has 2"),
        ([[[1.0]]], [[[0, 7]]], r"y\[0\]: cluster 0 names the mention 7, but there are"),
        ([[[1.0]]], [[[0, 1], [1]]], r"mention 1 is in cluster 0 and in cluster 1"),
        ([[[1.0]]], [[0, 1.5]], r"the cluster of mention 1 is 1.5"),
        ([[[np.nan]]], [[0, 0]], r"X\[0\]"),
        ([[["x"]]], [[0, 0]], r"X\[0\] is not a table of numbers"),
        ([[[1.0]], [[1.0, 2.0]]], [[0, 0], [0, 0]], "features for each pair"),
        ([EMMA, [[1.0]]], [[0] * 5, [0, 0]], r"X\[1\] is of type list"),
        ([[[1.0]], EMMA], [[0, 0], [0] * 5], r"X\[1\] has words"),
        ([], [], "X is empty"),
        ([EMMA._replace(mentions=[(0, 0, 9)])], [[0]], "4 words in sentence 0"),
        ([EMMA._replace(mentions=[(9, 0, 0)])], [[0]], "there are 2 sentences"),
        ([EMMA._replace(mentions=[(0, 0)])], [[0]], r"mention 0 is '\(0, 0\)', not"),
        ([EMMA._replace(sentences=["ab"])], [[0] * 5], "sentence 0 is not a list"),
        ([{"sentences": TEXT}], [[0]], "has no mentions"),
    ],
)  # fmt: skip
def test_bad_documents_are_refused(X, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        LinkClusterer().fit(X, y)


def test_bad_parameters_are_refused():
    for name, value in (("r", -1), ("r", np.nan), ("method", "x"), ("n_restarts", 0)):
        with pytest.raises(ValueError, match=f"{name}="):
            LinkClusterer(**{name: value}).fit([[[1.0]]], [[0, 0]])
    with pytest.raises(ValueError, match="no sum over forests"):
        LinkClusterer(objective="log").fit([[[1.0]]], [[0, 0]])


def test_hostile_model_files_are_refused_or_work():
    X, y = chains(n_documents=3)
    check_model_file(LinkClusterer().fit(X, y), X, n=60)
    check_model_file(LinkClusterer().fit([EMMA], [[0, 0, 1, 1, 0]]), [EMMA], n=60)


def test_cues_of_words():
    from maxmargin.clusterings.mentions import mention_cues

    text = [
        ["Mrs.", "Elton", "'s", "old", "friends", "in", "London", "saw", "themselves"]
    ]
    places = [(0, 0, 1), (0, 0, 6), (0, 8, 8), (0, 6, 6)]
    cues = mention_cues(MentionDocument("", text, [Mention(*p) for p in places]))
    assert [c.form for c in cues] == ["PROP", "NOM", "PRON", "PROP"]
    assert [c.head for c in cues] == ["elton", "friends", "themselves", "london"]
    assert cues[0].gender == "f"
    assert [c.number for c in cues] == ["sg", "pl", "pl", "sg"]
    assert cues[2].lemma == "they"


def long_document(n):
    return MentionDocument("long", [["Emma"]] * n, [Mention(k, 0, 0) for k in range(n)])


def test_memory_of_pairs_is_guarded():
    model = LinkClusterer(C=10).fit([EMMA], [[0, 0, 1, 1, 0]])
    model.set_params(window=None)
    with pytest.raises(
        ValueError, match=r"X\[1\] has 9,000 mentions, 40,495,500 pairs"
    ):
        model.predict([EMMA, long_document(9000)])
    small = LinkClusterer(pair_memory=1000)
    with pytest.raises(ValueError, match="split long documents"):
        small.fit([EMMA], [[0, 0, 1, 1, 0]])
    with pytest.raises(ValueError, match="pair_memory=0 is not possible"):
        LinkClusterer(pair_memory=0).fit([EMMA], [[0, 0, 1, 1, 0]])


@pytest.mark.parametrize(("n", "window"), [(700, ALL), (3000, 200)])
def test_memory_of_pairs_is_what_the_guard_says(n, window):
    features = PairFeatures([])
    tracemalloc.start()
    try:
        features.encode(long_document(n), window)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < (KEPT + WORK) * n_pairs(n, window)


def test_features_in_a_window_are_those_of_all_pairs():
    names = ["Emma", "she", "the friend", "her friend", "Mr. Bird", "he", "it"]
    rng = np.random.default_rng(0)
    sentences = [names[k].split() for k in rng.integers(len(names), size=40)]
    mentions = [Mention(k, 0, len(s) - 1) for k, s in enumerate(sentences)]
    document = MentionDocument("names", sentences, mentions)
    features = PairFeatures([])

    def rows(window):
        codes, (indptr, indices, _) = features.encode(document, window)
        by_pattern = [sorted(p) for p in np.split(indices, indptr[1:-1])]
        return [[by_pattern[k] for k in row] for row in codes]

    a, b = np.triu_indices(40, 1)
    near = np.flatnonzero(b - a <= 7)
    everything = rows(ALL)
    assert rows(7) == [everything[p] for p in near]


def test_a_window_links_near_mentions_only():
    y = [[0, 0, 1, 1, 0]]
    wide, near = (LinkClusterer(C=10, window=k).fit([EMMA], y) for k in (None, 2))
    assert wide.predict([EMMA]) == y
    assert near.predict([EMMA]) == [[0, 0, 1, 1, 2]]  # Emma is three mentions away
    assert all(b - a <= 2 for a, b, _ in near.predict_links([EMMA])[0])
    assert len(near.decision_function([EMMA])[0]) == 7
    assert len(near.predict([long_document(9000)])[0]) == 9000
    with pytest.raises(ValueError, match=r"X\[0\] has 5 mentions, more than window=2"):
        near.fit([EMMA], [[0, None, 1, 1, 0]])
    with pytest.raises(ValueError, match="window=0 is not possible"):
        LinkClusterer(window=0).fit([EMMA], y)


@pytest.mark.parametrize("nothing", [(), [], np.zeros((0, 2))])
def test_no_pairs_are_no_mentions_or_one(nothing):
    X = [np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), nothing]
    model = LinkClusterer().fit(X, [["a", "b", "b"], ["a"]])
    assert len(model.predict(X)[0]) == 3
    with pytest.raises(
        ValueError, match=r"y\[1\] has 3 mentions, but the document has no"
    ):
        LinkClusterer().fit(X, [["a", "b", "b"], ["a", "b", "b"]])
