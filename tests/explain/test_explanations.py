"""Contributions of features add up to the difference of two scores, part by part."""

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_cases import VECTORS, cases, fitted, unfitted
from scipy import sparse

from maxmargin import (
    KernelSVM,
    MulticlassSVM,
    MultilabelSVM,
    SequenceTagger,
    TaxonomySVM,
    TopKRanker,
)
from maxmargin.explain.explanation import Explanation, Part, ranked
from maxmargin.files import columns_from
from maxmargin.kernels import spectrum

ROW = st.lists(st.floats(-5, 5, width=32), min_size=3, max_size=3)
WORDS = ["Ann", "Lee", "sleeps", "Bob", "sees", "dogs", "bark", "unseen"]
SENTENCES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8)


def two_best(scores):
    """The best score minus the second best, row by row."""
    best = np.sort(np.atleast_2d(scores), axis=1)
    return best[:, -1] - best[:, -2]


@pytest.mark.parametrize("name", ["MulticlassSVM", "TaxonomySVM", "KernelSVM"])
@given(row=ROW)
@settings(max_examples=40, deadline=None)
def test_classes_add_up(name, row):
    model = fitted(name)[0]
    (part,) = model.explain(row).parts
    assert part.difference == pytest.approx(
        two_best(model.decision_function([row]))[0], abs=1e-9
    )
    assert part.predicted == model.predict([row])[0]
    assert part.runner_up != part.predicted


@pytest.mark.parametrize("name", ["SequenceTagger", "HMMTagger"])
@given(words=SENTENCES)
@settings(max_examples=40, deadline=None)
def test_labels_of_tokens_add_up(name, words):
    """The runner-up of a token is the best sequence with another label there."""
    model = fitted(name)[0]
    x = [[word] for word in words]
    found = model.explain(x)
    expected = two_best(model.decision_function([x])[0])
    assert [p.difference for p in found.parts] == pytest.approx(expected, abs=1e-5)
    assert [p.predicted for p in found.parts] == model.predict([x])[0]
    assert found.text == words


@given(row=ROW, graph=st.sampled_from([None, "tree", "full"]))
@settings(max_examples=40, deadline=None)
def test_labels_of_sets_add_up(row, graph):
    _, X, y = unfitted("MultilabelSVM")
    model = MultilabelSVM(C=10, graph=graph, max_iter=20, tol=0.5).fit(X, y)
    found = model.explain(row)
    margins = np.abs(model.decision_function([row])[0])
    assert [p.difference for p in found.parts] == pytest.approx(margins, abs=1e-7)
    (labels,) = model.predict([row])
    assert tuple(p.name for p in found.parts if p.predicted == p.name) == labels


@given(row=ROW)
@settings(max_examples=30, deadline=None)
def test_nodes_of_taxonomies_add_up(row):
    """Against all closed sets, one by one."""
    sets = [["a.b"]] * 8 + [["a.c", "d"]] * 8 + [["d"]] * 8
    model = TaxonomySVM(C=10, multilabel=True).fit(VECTORS, sets)
    scores = dict(zip(model.nodes_, model.decision_function([row])[0], strict=True))
    closed = [
        {*under, *(["a"] if under & {"a.b", "a.c"} else []), *more}
        for under in (set(), {"a.b"}, {"a.c"}, {"a.b", "a.c"})
        for more in ((), ("d",), ("a",), ("a", "d"))
    ]
    best = max(sum(scores[v] for v in s) for s in closed)
    (predicted,) = model.predict([row])
    for part in model.explain(row).parts:
        others = [s for s in closed if (part.name in s) != (part.name in predicted)]
        second = max(sum(scores[v] for v in s) for s in others)
        assert part.difference == pytest.approx(best - second, abs=1e-9)


@given(rows=st.lists(ROW, min_size=2, max_size=6))
@settings(max_examples=30, deadline=None)
def test_rankings_add_up(rows):
    model = fitted("TopKRanker")[0]
    found = model.explain(rows)
    scores = np.sort(model.predict(rows))[::-1]
    apart = [p.difference for p in found.parts]
    assert apart == pytest.approx(-np.diff(scores), abs=1e-9)
    order = [p.predicted for p in found.parts]
    top = model.rank(rows, [0] * len(rows))[:-1]
    assert order == [f"document {k + 1}" for k in top]


def test_features_of_other_tokens_say_whose_they_are():
    X = [[[word] for word in words] for words in ("abc", "def")]
    model = SequenceTagger(C=10).fit(X, [["P"] * 3, ["Q"] * 3])
    model.transitions_ = 10 * np.eye(2)  # all labels change at once
    for t, part in enumerate(model.explain(X[0]).parts):
        others = {
            word if s == t else f"{word} of {word!r} (token {s + 1})"
            for s, word in enumerate("abc")
        }
        assert others <= {f.feature for f in part.features}


def test_forbidden_transitions_are_no_runners_up():
    X, y = cases()["SequenceTagger"][1:]
    model = SequenceTagger(C=10, scheme="BIO").fit(X, y)
    for part in model.explain(X[0]).parts:
        assert np.isfinite(part.difference)
    assert model.explain([["Ann"]]).parts[0].runner_up in ("O", "B-PER")
    assert model.explain([]).parts == []
    plain = SequenceTagger(C=10, order=0).fit(X, y)
    found = plain.explain(X[0])
    names = {f.feature for part in found.parts for f in part.features}
    assert names == {"Ann", "Lee", "sleeps"}


def test_labels_decoded_by_their_probabilities():
    X, y = cases()["SequenceTagger"][1:]
    model = SequenceTagger(objective="marginal").fit(X, y)
    found = model.explain(X[0])
    assert "another sequence may score more" in found.note
    assert [p.predicted for p in found.parts] == model.predict(X[:1])[0]


def test_what_cannot_be_explained_is_said():
    _, X, y = cases()["SequenceTagger"]
    tagger = SequenceTagger(features="words").fit(X, y)
    with pytest.raises(ValueError, match="x has 2 sentences: explain takes one"):
        tagger.explain(columns_from(X[:2]))
    assert len(tagger.explain(columns_from(X[:1])).parts) == 3
    with pytest.raises(ValueError, match="order=2 has no scores per token"):
        SequenceTagger(order=2).fit(X, y).explain(X[0])
    numbers = [np.eye(3)[[0, 1, 2]], np.eye(3)[[1, 0]]]
    tagger = SequenceTagger(kernel="rbf").fit(numbers, [[0, 1, 1], [1, 0]])
    with pytest.raises(ValueError, match="a tagger with a kernel has no weights"):
        tagger.explain(numbers[0])
    model = fitted("MulticlassSVM")[0]
    with pytest.raises(ValueError, match="x has 24 rows: explain takes one sample"):
        model.explain(VECTORS)
    with pytest.raises(ValueError, match="not fitted"):
        MulticlassSVM().explain(VECTORS[0])
    for row in ({"length": 1.0}, {1.0, 2.0, 3.0}):
        with pytest.raises(ValueError, match=r"the features are of type .*: give rows"):
            model.explain(row)


def test_kinds_of_rows():
    y = np.repeat(["cod", "eel", "ray"], 8)
    table = pd.DataFrame(VECTORS, columns=["length", "weight", "<b>age"])
    for model in (MulticlassSVM(), KernelSVM()):
        model.fit(table, y)
        expected = str(model.explain(table.iloc[[3]]))
        assert str(model.explain(table.iloc[3])) == expected
    model = MulticlassSVM().fit(VECTORS, y)
    expected = str(model.explain(VECTORS[3]))
    for row in (VECTORS[3].tolist(), VECTORS[3:4], sparse.csr_array(VECTORS[3:4])):
        assert str(model.explain(row)) == expected
    texts = KernelSVM(kernel=spectrum(2), method="exact").fit(["acac", "gtgt"], [0, 1])
    assert "similarity to 'gtgt' (point 2)" in str(texts.explain("gtga"))
    ranker = TopKRanker().fit(table, np.tile([1, 0], 12), qid=np.repeat([0, 1], 12))
    names = {f.feature for p in ranker.explain(table[:3]).parts for f in p.features}
    assert names == set(table.columns)


def test_rankings_of_one_query_alone_are_explained():
    model = fitted("TopKRanker")[0]
    rows = np.eye(3)
    expected = str(model.explain(rows))
    assert str(model.explain(rows, qid=["a"] * 3)) == expected
    with pytest.raises(
        ValueError, match="x has documents of 2 queries, such as 'b' and"
    ):
        model.explain(rows, qid=["b", "a", "b"])
    frame = pd.DataFrame(rows, columns=list("uvw"))
    ranker = TopKRanker().fit(frame.assign(qid=7), [1, 0, 0])
    alone = str(ranker.explain(frame))
    assert str(ranker.explain(frame.assign(qid=7))) == alone
    with pytest.raises(
        ValueError, match="x has documents of 3 queries, such as 1 and 2"
    ):
        ranker.explain(frame.assign(qid=[1, 2, 3]))


def test_as_dict_frame_and_page(tmp_path):
    model, X, *_ = fitted("SequenceTagger")
    found = model.explain([*X[0], ["<script>"]])
    data = json.loads(json.dumps(found.as_dict()))
    assert [p["name"] for p in data["parts"]][:2] == ["1 Ann", "2 Lee"]
    sums = [sum(f["contribution"] for f in p["features"]) for p in data["parts"]]
    assert sums == pytest.approx([p["difference"] for p in data["parts"]])
    frame = found.to_frame()
    assert len(frame) == sum(len(p["features"]) for p in data["parts"])
    assert list(frame.columns[:3]) == ["part", "predicted", "runner_up"]
    page = found._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count("<details>") == 4
    found.save(tmp_path / "why.html")
    with pytest.raises(ValueError, match=r"why.pdf ends in .pdf, .* save it as .html"):
        found.save(tmp_path / "why.pdf")
    assert page in (tmp_path / "why.html").read_text()
    assert repr(found).startswith("1 Ann: B-PER rather than ")


def test_text_of_explanations():
    rows = [(f"f{k}", 1.0, 0.1 * (k + 1)) for k in range(12)]
    features = ranked([*rows, ("same", 1.0, 0.5), ("same", -1.0, 0.5), ("x", 2.5, -1)])
    assert [f.feature for f in features[:3]] == ["x", "f11", "f10"]
    assert "same" not in {f.feature for f in features}
    found = Explanation("Model", [Part("class", "a", "b", features)])
    lines = str(found).splitlines()
    assert lines[0] == "class: a rather than b (+5.3)"
    assert lines[1] == "    -2.5000  x = 2.5"
    assert lines[-1] == "    +0.6000  3 more features"
    assert str(Explanation("Model", [])) == "(no part has a runner-up)"
