"""``model.report`` in Python: its numbers are those of the families, errors by kind."""

import re

import numpy as np
import pytest

from maxmargin import (
    GraphLabeler,
    HMMTagger,
    HomologFinder,
    KernelSVM,
    LatentProblem,
    LatentStructuralSVM,
    LinkClusterer,
    MulticlassSVM,
    MultilabelSVM,
    PCFGParser,
    Problem,
    SequenceAligner,
    SequenceTagger,
    StructuralSVM,
    TaxonomySVM,
    TopKRanker,
    Tree,
    WordAligner,
)
from maxmargin.matchings.metrics import alignment_scores
from maxmargin.metrics import cluster_scores, span_scores
from maxmargin.rankings.queries import Documents
from maxmargin.report import Test, findings_of, report_of
from maxmargin.trees.metrics import score_brackets

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4))
NAMES = np.where(X[:, 0] + 0.5 * RNG.normal(size=90) > 0, "<b>yes", "no")


def kinds(model, inputs, y, outputs):
    """The errors of every example, as texts."""
    findings = findings_of(model, Test(inputs, y))
    return [list(map(str, row)) for row in findings.errors(outputs)]


def value(report, name):
    return report.measures[name].value


def test_classes():
    model = MulticlassSVM(objective="log").fit(X, NAMES)
    report = model.report(X, NAMES)
    assert value(report, "accuracy") == pytest.approx(model.score(X, NAMES))
    assert "&lt;b&gt;yes taken for no" in report.html
    assert "<b>yes" not in report.html
    assert 'id="calibration"' in report.html
    assert str(report).startswith("accuracy  ")
    other = MulticlassSVM(C=1e-4).fit(X, NAMES)
    both = model.report(X, NAMES, against=other, limit=5)
    apart = other.score(X, NAMES) - model.score(X, NAMES)
    assert both.differences["accuracy"].value == pytest.approx(apart)
    assert report.differences == {}
    few = both.html.count("<article")
    assert 5 <= few <= 5 + 12 < report.html.count("<article")


def test_the_report_as_a_file_and_in_a_notebook(tmp_path):
    kernel = KernelSVM().fit(X, NAMES)
    report = MulticlassSVM().fit(X, NAMES).report(X, NAMES, against=kernel)
    assert "MulticlassSVM, against KernelSVM" in report.html
    report.save(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text() == report.html
    with pytest.raises(ValueError, match=r"r.PDF ends in .pdf, but this is a page"):
        report.save(tmp_path / "r.PDF")
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]
    frame = report._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html')
    assert frame.count("<") == 2


def test_what_is_wrong_is_said():
    model = MulticlassSVM().fit(X, NAMES)
    with pytest.raises(ValueError, match="X has 90 samples, but y has 3: give"):
        model.report(X, NAMES[:3])
    with pytest.raises(ValueError, match="X has 90 samples, but y has 0"):
        model.report(X, None)
    with pytest.raises(ValueError, match="limit"):
        model.report(X, NAMES, limit=0)
    with pytest.raises(ValueError, match="not fitted"):
        MulticlassSVM().report(X, NAMES)
    whole, few = (findings_of(model, Test(X[:n], NAMES[:n])) for n in (90, 8))
    with pytest.raises(ValueError, match="one is of 90 samples, the other of 8"):
        report_of(whole, against=(few, None))
    other = findings_of(model, Test(X, NAMES[::-1]))
    with pytest.raises(ValueError, match="different true outputs"):
        report_of(whole, against=(other, None))
    with pytest.raises(ValueError, match="no examples"):
        model.report(X[:0], [])
    tagger = SequenceTagger().fit([[["a"], ["b"]]], [["A", "B"]])
    with pytest.raises(
        ValueError, match="MulticlassSVM and SequenceTagger have outputs"
    ):
        model.report(X, NAMES, against=tagger)


def test_one_example_is_no_plural():
    model = MulticlassSVM().fit(X, NAMES)
    found = model.predict(X)
    assert "The one example is right." in model.report(X[:1], found[:1]).html
    assert "All 2 samples are right." in model.report(X[:2], found[:2]).html


def test_large_tests_are_sampled():
    model = MulticlassSVM(C=0.01).fit(X, NAMES)
    many = np.tile(X, (200, 1))
    report = model.report(many, np.tile(NAMES, 200))
    assert len(report.html) < 200_000
    assert "They are a sample" in report.html
    assert "18,000 samples" in report.html


def test_drawings_have_bounds(monkeypatch):
    """Too large ones are not drawn, too many are cut, and no link leads nowhere."""
    model = MulticlassSVM(C=0.01).fit(X, NAMES)
    whole = model.report(X, NAMES).html
    monkeypatch.setattr("maxmargin.report.sections.BUDGET", 3_000)
    cut = model.report(X, NAMES).html
    assert 0 < cut.count("<article") < whole.count("<article")
    for page in (whole, cut):
        links = set(re.findall(r'href="#(\w+)"', page))
        assert links <= set(re.findall(r' id="(\w+)"', page))
    monkeypatch.setattr("maxmargin.report.sections.LARGEST", 50)
    assert "too large to be drawn" in model.report(X, NAMES).html


def test_tags():
    tokens = [[["Ada"], ["of"], ["Rome"]], [["Bob"], ["Lee"]]]
    y = [["B-P", "O", "B-L"], ["B-P", "I-P"]]
    model = SequenceTagger(C=10).fit(tokens, y)
    found = [["B-L", "O", "B-L"], ["B-P", "B-P"]]
    assert kinds(model, tokens, y, found) == [
        ["P taken for L"],
        ["P: wrong boundaries", "P invented"],
    ]
    measures = findings_of(model, Test(tokens, y)).measures(found)
    assert measures[0].name == "span F1"
    assert measures[0].interval().value == span_scores(y, found).f1
    plain = [["D", "N", "V"], ["N", "V"]]
    model = SequenceTagger(C=10).fit(tokens, plain)
    assert kinds(model, tokens, plain, [["D", "D", "V"], ["N", "V"]]) == [
        ["N taken for D"],
        [],
    ]
    hmm = HMMTagger().fit(tokens, plain)
    assert 'id="calibration"' in hmm.report(tokens, plain).html


def test_trees():
    gold = [
        Tree.parse("(S (NP (PRP We)) (VP (VBP try)))"),
        Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBZ sees)))"),
    ]
    found = [Tree.parse("(S (XP (PRP We)) (VP (VB try)))"), None]
    model = PCFGParser().fit(gold, gold)
    assert kinds(model, gold, gold, found) == [
        ["NP taken for XP", "tag VBP taken for VB"],
        ["no tree found"],
    ]
    first = findings_of(model, Test(gold, gold)).measures(found)[0]
    assert first.interval().value == score_brackets(gold, found).f1
    assert model.report(gold, gold).html.count("<svg") >= 2
    crossed = [Tree.parse("(S (X (PRP We) (VBP try)))"), gold[1]]
    assert kinds(model, gold, gold, crossed)[0] == [
        "NP missed",
        "VP missed",
        "X invented",
    ]


def test_alignments():
    pairs = [("HEAG", "HEG"), ("AKR", "AKR")]
    y = [[(0, 0), (1, 1), (3, 2)], [(0, 0), (1, 1)]]
    model = SequenceAligner().fit(pairs, y)
    found = [[(0, 0), (1, 2)], [(0, 0), (1, 1), (2, 2)]]
    assert kinds(model, pairs, y, found) == [
        ["match shifted by up to 4", "partner matched elsewhere"],
        ["match where both stand against gaps"],
    ]
    measures = findings_of(model, Test(pairs, y)).measures(found)
    assert measures[0].interval().value == pytest.approx((1 / 3 + 1) / 2)
    assert "aligned" in model.report(pairs, y).html


def test_links():
    pairs = [(["a", "b"], ["<c>", "d"])] * 3
    model = WordAligner().fit(pairs, ["0-0 1-1"] * 3)
    y = ["0-0 1-1", "0-0 1?1", "0-0"]
    found = [[(0, 0), (0, 1)], [(0, 0), (1, 1)], [(0, 0), (1, 1)]]
    assert kinds(model, pairs, y, found) == [
        ["link missed, short words", "link invented, short words"],
        [],
        ["link invented, short words"],
    ]
    measures = findings_of(model, Test(pairs, y)).measures(found)
    scores = alignment_scores(y, found)
    got = [m.interval().value for m in measures]
    assert got == pytest.approx([scores.aer, scores.precision, scores.recall])


def test_clusters():
    words = ["Ada", "she", "Bob", "he", "Ada"]
    document = {
        "sentences": [words],
        "mentions": [[0, k, k] for k in range(5)],
    }
    y = [[0, 0, 1, 1, 0]]
    model = LinkClusterer().fit([document], y)
    assert kinds(model, [document], y, [[0, 0, 1, 0, 0]]) == [
        ["mention joined to another cluster", "mention cut off its cluster"]
    ]
    for found in ([[0, 0, 1, 0, 0]], [[0, 1, 2, 3, 4]], y):
        first = findings_of(model, Test([document], y)).measures(found)[0]
        assert first.interval().value == pytest.approx(cluster_scores(y, found).conll)


def test_rankings():
    queries = np.repeat(np.arange(9), 10)
    grades = (X[:, 0] > 0.7).astype(int)
    grades[::10] = 1
    inputs = Documents(X, queries)
    model = TopKRanker(k=3).fit(inputs, grades)
    report = model.report(inputs, grades)
    scores = model.evaluate(X, grades, queries)
    assert value(report, "MAP") == pytest.approx(scores.mean_average_precision)
    assert value(report, "MRR") == pytest.approx(scores.mean_reciprocal_rank)
    one = Documents(X[:6], np.zeros(6, int))
    found = kinds(model, one, [1, 0, 0, 0, 0, 1], [6.0, 5.0, 4.0, 3.0, 2.0, 1.0])
    assert found == [
        ["grade 0 above relevant ones in the first 3", "grade 1 below place 3"]
    ]
    with pytest.raises(ValueError, match="qid is missing: give the query"):
        model.report(X, grades)


def test_sets_of_labels():
    y = [["a", "<i>b"] if row[0] > 0 else ["a"] for row in X]
    model = MultilabelSVM().fit(X, y)
    report = model.report(X, y)
    assert value(report, "micro F1") == pytest.approx(model.evaluate(X, y).micro_f1)
    assert kinds(model, X[:1], [["a"]], [["<i>b"]]) == [["a missed", "<i>b invented"]]
    table = (X > 0).astype(int)
    model = MultilabelSVM().fit(X, table)
    assert value(model.report(X, table), "whole sets right") > 0.5
    paths = [["a.b"] if row[0] > 0 else ["c"] for row in X]
    model = TaxonomySVM(multilabel=True).fit(X, paths)
    found = model.evaluate(X, paths)
    assert value(model.report(X, paths), "micro F1") == pytest.approx(found.micro_f1)


def test_images_and_graphs():
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    graphs = [(X[:4], ring), (X[4:8], ring)]
    y = [["a", "a", "b", "b"], ["a", None, "a", "<b>"]]
    model = GraphLabeler(C=10).fit(
        graphs, [["a", "a", "b", "b"], ["a", "a", "a", "<b>"]]
    )
    found = [np.array(["a", "b", "b", "b"]), np.array(["a", "b", "a", "a"])]
    assert kinds(model, graphs, y, found) == [["a taken for b"], ["<b> taken for a"]]
    measures = findings_of(model, Test(graphs, y)).measures(found)
    assert measures[0].interval().value == pytest.approx(5 / 7)
    assert "<circle" in model.report(graphs, y).html
    rows = np.abs(np.random.default_rng(1).normal(size=(40, 16)))
    labels = (rows[:, 0] > rows[:, 1]).astype(int)
    assert "image/png" in KernelSVM().fit(rows, labels).report(rows, labels).html


def test_homologs():
    native = "HEAGAWGHEE"
    inputs = [(native, [native[1:], "AAKRRKKRR"]), (native, ["KKRRAKR", native[:-1]])]
    alignments = [[(k + 1, k) for k in range(9)], [(k, k) for k in range(9)]]
    y = list(zip([0, 1], alignments, strict=True))
    model = HomologFinder().fit(inputs, y)
    report = model.report(inputs, y)
    assert value(report, "homologs found") == model.score(inputs, y) == 1.0
    assert kinds(model, inputs, [1, 1], [0, 1]) == [["another candidate chosen"], []]


class Signs(LatentProblem):
    """Whether one of two numbers is large; which one is hidden."""

    def joint_feature(self, x, y, h):
        return np.array([y * x[h], y])

    def loss(self, y, y_hat, h_hat):
        return float(y != y_hat)

    def outputs(self, x):
        return [(y, h) for y in (0, 1) for h in (0, 1)]


def test_hidden_parts():
    numbers = [[2.0, 0.1], [0.2, 2.1], [0.1, 0.3], [0.4, 0.2]]
    model = LatentStructuralSVM(Signs(), C=10.0).fit(numbers, [1, 1, 0, 0])
    report = model.report(numbers, [1, 1, 0, 1])
    assert value(report, "right") == 0.75
    assert ">estimated primal<" in report.html  # of the only convex problem
    assert "a stationary point" in report.html


class Near(Problem):
    """One number; the output is its sign."""

    def joint_feature(self, x, y):
        return [x * y]

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def outputs(self, x):
        return [-1, 1]


def test_problems_of_users():
    numbers = [1.0, -2.0, 0.5, -0.1]
    model = StructuralSVM(Near()).fit(numbers, [1, -1, 1, -1])
    report = model.report(numbers, [1, -1, -1, -1])
    assert value(report, "right") == 0.75
    assert value(report, "mean loss") == 0.25
    assert report.html.count("wrong outputs") >= 2
