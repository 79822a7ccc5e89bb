"""DependencyParser: what a fit learns, predicts, saves and refuses."""

import numpy as np
import pytest
from dependency_cases import all_trees, is_projective, is_tree
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict, cross_val_score

import maxmargin
from maxmargin import DependencyParser, StructuralSVM, scorers
from maxmargin.dependencies.input import crossing, lifted
from maxmargin.dependencies.metrics import attachment_scores
from maxmargin.testing import check_model_file

X = [
    [("the", "DT"), ("dog", "NN"), ("barks", "VBZ")],
    [("cats", "NNS"), ("see", "VBP"), ("a", "DT"), ("dog", "NN")],
    [("dogs", "NNS"), ("sleep", "VBP"), (".", ".")],
]
Y = [
    [(2, "det"), (3, "subj"), (0, "root")],
    [(2, "subj"), (0, "root"), (4, "det"), (2, "obj")],
    [(2, "subj"), (0, "root"), (2, "punct")],
]
HEADS = [[head for head, _ in row] for row in Y]
CROSSING = [3, 4, 0, 3]  # word 2 has word 4, word 1 has word 3
FOUR = [("a", "A"), ("b", "B"), ("c", "C"), ("d", "D")]
KINDS = [
    {},
    {"projective": False},
    {"objective": "log"},
    {"objective": "log", "projective": False},
    {"order": 2},
]
SUMMED = KINDS[:4]


@pytest.mark.parametrize("options", KINDS)
@pytest.mark.parametrize("y", [Y, HEADS], ids=["labels", "heads"])
def test_what_was_learned_is_predicted(options, y):
    parser = DependencyParser(C=10, **options).fit(X, y)
    assert parser.predict(X) == y
    assert parser.score(X, y) == 1.0
    assert parser.certificate_.relative_gap <= 0.1
    assert parser.labels_ == (["det", "obj", "punct", "root", "subj"] if y is Y else [])
    new = [[("the", "DT"), ("cat", "NN"), ("sees", "VBZ")]]
    assert [h for h, _ in parser.predict(new)[0]] == [2, 3, 0] if y is Y else True
    assert parser.predict([[]]) == [[]]


@pytest.mark.parametrize("options", KINDS)
def test_structural_svm_takes_the_structure(options):
    parser = DependencyParser(C=1, tol=1e-3, **options).fit(X, Y)
    objective = {k: v for k, v in options.items() if k == "objective"}
    plain = StructuralSVM(parser._structure(), C=parser.C_, tol=1e-3, **objective)
    plain.fit(X, Y)
    np.testing.assert_array_equal(plain.coef_, parser.coef_)
    assert plain.predict(X) == parser.predict(X)
    assert plain.certificate_ == parser.certificate_
    assert plain.score(X, Y) == 0.0  # minus the loss


@pytest.mark.parametrize("options", KINDS)
def test_files(options, tmp_path):
    parser = DependencyParser(C=1, **options).fit(X, Y)
    maxmargin.save(parser, tmp_path / "model.safetensors")
    again = maxmargin.load(tmp_path / "model.safetensors")
    assert again.predict(X) == parser.predict(X)
    assert again.predict_k_best(X, 2) == parser.predict_k_best(X, 2)
    assert again.get_params() == parser.get_params()


def test_what_others_make_of_a_file():
    check_model_file(DependencyParser(C=1, rows=4).fit(X, Y), X)


@pytest.mark.parametrize("options", SUMMED)
def test_marginals_are_those_of_all_trees(options):
    parser = DependencyParser(C=1, **options).fit(X, HEADS)
    structure, x = parser.structure_, X[1]
    ranked = parser.predict_k_best([x], 1000)[0]
    projective = options.get("projective", True)
    assert len(ranked) == len(all_trees(4, projective))
    p = np.exp([score for _, score in ranked])
    p /= p.sum()
    chances = {}
    for (heads, _), share in zip(ranked, p, strict=True):
        for m, h in enumerate(heads, 1):
            chances[h, m] = chances.get((h, m), 0.0) + share
    found = parser.predict_marginals([x], 0.0)[0]
    assert found == pytest.approx(chances)
    assert structure.predict_marginals([x], parser.coef_)[0] == found


def test_marginals_with_labels_sum_to_one():
    parser = DependencyParser(C=1, objective="log").fit(X, Y)
    (found,) = parser.predict_marginals(X[:1], 0.0)
    for m in (1, 2, 3):
        assert sum(
            p for (_, word, _), p in found.items() if word == m
        ) == pytest.approx(1)
    assert found[0, 3, "root"] > 0.5
    assert parser.predict_marginals([[]]) == [{}]


def test_order_2_has_no_probabilities():
    parser = DependencyParser(C=1, order=2).fit(X, Y)
    with pytest.raises(ValueError, match="no probabilities with order=2"):
        parser.predict_marginals(X)


def test_siblings_take_no_more_weights():
    names = "abcdefgh"
    x = [(name, "T") for name in names]
    y = [2, 0, 2, 3, 4, 5, 6, 7]
    parser = DependencyParser(C=10, order=2).fit([x], [y])
    assert parser.predict([x]) == [y]
    first = DependencyParser(C=10).fit([x], [y])
    assert len(parser.coef_) == len(first.coef_)


def test_scores_of_the_best_are_values_of_the_weights():
    parser = DependencyParser(C=1).fit(X, Y)
    (best, second), *_ = parser.predict_k_best(X, 2)
    assert best[0] == Y[0]
    assert best[1] > second[1]
    assert best[0] != second[0]


# what is not known ----------------------------------------------------------------------


@pytest.mark.parametrize("options", KINDS)
def test_heads_that_are_not_known(options):
    partial = [[(2, "det"), None, None], Y[1], None]
    parser = DependencyParser(C=10, **options).fit(X, partial)
    assert parser.predict(X[1:2]) == Y[1:2]
    assert parser.predict(X)[0][0] == (2, "det")


@pytest.mark.parametrize("projective", [True, False])
def test_completions_have_what_is_known(projective):
    parser = DependencyParser(C=1, projective=projective).fit(X, Y)
    (found,) = parser.complete(X[:1], [[None, (1, "obj"), None]])
    assert found[1] == (1, "obj")
    assert is_tree([head for head, _ in found])
    assert parser.complete(X, [None] * 3) == parser.predict(X)
    with pytest.raises(ValueError, match=r"y\[0\]\[1\] has the label 'new'"):
        parser.complete(X[:1], [[None, (1, "new"), None]])
    with pytest.raises(ValueError, match=r"y\[0\]\[1\] has no label"):
        parser.complete(X[:1], [[None, 1, None]])


def test_known_heads_without_a_projective_tree():
    parser = DependencyParser(C=1).fit([FOUR], [[2, 0, 2, 3]])
    with pytest.raises(ValueError, match=r"y\[0\]: no tree without crossing arcs"):
        parser.complete([FOUR], [[3, 4, None, None]])
    with pytest.raises(ValueError, match="projective=False"):
        DependencyParser().fit([FOUR, FOUR], [[2, 0, 2, 3], [3, 4, None, None]])
    free = DependencyParser(projective=False).fit([FOUR], [CROSSING])
    assert free.complete([FOUR], [[3, 4, None, None]]) == [CROSSING]


# trees whose arcs cross -----------------------------------------------------------------


def test_crossing_arcs_are_lifted():
    with pytest.warns(UserWarning, match=r"1 of 2 trees .*y\[1\] is the first"):
        parser = DependencyParser(C=10).fit([FOUR[:2], FOUR], [[2, 0], CROSSING])
    assert parser.n_lifted_ == 1
    assert parser.predict([FOUR]) == [lifted(CROSSING)]
    free = DependencyParser(C=10, projective=False).fit([FOUR], [CROSSING])
    assert free.predict([FOUR]) == [CROSSING]


def test_lifting_makes_projective_trees():
    for heads in all_trees(5):
        found = lifted(heads)
        assert is_tree(found)
        assert is_projective(found)
        assert crossing(found) == []
        if is_projective(heads):
            assert found == list(heads)


# scores ---------------------------------------------------------------------------------


def test_attachment_scores():
    found = [
        [(2, "det"), (3, "obj"), (0, "root")],
        [(2, "subj"), (0, "root"), (4, "det"), (3, "obj")],
        [(2, "subj"), (0, "root"), (1, "punct")],
    ]
    report = attachment_scores(X, Y, found)
    assert (report.uas, report.las) == (0.8, 0.7)
    assert (report.plain_uas, report.plain_las) == (8 / 9, 7 / 9)
    assert (report.complete, report.plain_complete) == (1 / 3, 2 / 3)
    assert report.label_accuracy == 0.9
    assert report.root_accuracy == 1.0
    assert report.labels["obj"].truth == 1
    assert report.labels["obj"].predicted == 2
    assert report.labels["obj"].correct == 0
    assert report.words == 10
    assert report.plain_words == 9
    text = str(report)
    assert "80.00%" in text
    assert "88.89%" in text
    assert len(report.as_dict()["sentences"]) == 3
    every = attachment_scores(X, Y, found, punctuation=())
    assert every.plain_uas == every.uas
    assert attachment_scores([], [], []).uas == 0.0


def test_scorers_and_folds():
    parser = DependencyParser(C=1)
    found = cross_val_score(
        parser, X * 2, Y * 2, cv=2, scoring=scorers.attachment_score
    )
    assert (found >= 0.9).all()
    assert len(cross_val_predict(clone(parser), X * 2, Y * 2, cv=2)) == 6
    model = parser.fit(X, Y)
    assert scorers.labelled_attachment_score(model, X, Y) == 1.0
    assert model.score(X, Y, sample_weight=[1, 0, 2]) == 1.0


def test_calibration():
    parser = DependencyParser(C=1).fit(X, Y)
    parser.calibrate(X * 10, Y * 10)
    assert parser.calibration_.loss <= parser.calibration_.loss_before + 1e-9
    parser.calibrate(X * 10, Y * 10, method="isotonic")
    assert (parser.predict_confidence(X) > 0.5).all()


# words ----------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2])
def test_explanations_add_up(order):
    parser = DependencyParser(C=1, order=order).fit(X, Y)
    found = parser.explain(X[1])
    assert [part.predicted for part in found.parts][:2] == [
        "2 'see' (subj)",
        "root (root)",
    ]
    scores = [score for _, score in parser.predict_k_best(X[1:2], 2)[0]]
    gaps = [part.difference for part in found.parts]
    assert min(gaps) == pytest.approx(scores[0] - scores[1], rel=1e-5)
    names = [f.feature for part in found.parts for f in part.features]
    assert any("NNS, to the left" in name for name in names)


def test_views_and_reports():
    parser = DependencyParser(C=1).fit(X, Y)
    view = parser.show(X[0], [(3, "det"), (3, "subj"), (0, "root")])
    assert "1 of 3 words" in view.text
    assert "<svg" in view.html
    assert "as it should be" in parser.show(X[0], Y[0]).text
    assert "det" in parser.show(X[0]).text
    page = parser.report(X, [[(3, "det"), (3, "subj"), (0, "root")], *Y[1:]])
    assert "UAS" in page.html
    assert "the true ones" in page.html


# bad input ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([[2, 1, 0], *HEADS[1:]], r"y\[0\]: the heads of the words 1, 2 form a cycle"),
        ([[0, 0, 2], *HEADS[1:]], r"the words 1 and 2 both have the root"),
        ([[2, 3, 1], *HEADS[1:]], r"y\[0\]: no word has the root"),
        ([[1, 0, 2], *HEADS[1:]], r"the words 1 form a cycle"),
        ([[2, 4, 0], *HEADS[1:]], r"y\[0\]\[1\] has the head 4, but there are 3 words"),
        ([[2, 0], *HEADS[1:]], r"X\[0\] has 3 words, but y\[0\] has 2 heads"),
        (HEADS[1:], "X has 3 samples, but y has 2"),
        ([[2, (3, "x"), 0], *HEADS[1:]], r"y\[0\]\[0\] has no label"),
        (
            [[2, (3, 1), 0], *HEADS[1:]],
            r"y\[0\]\[1\] is \(3, 1\), but a label is a text",
        ),
        ([[2, "a", 0], *HEADS[1:]], r"y\[0\]\[1\] is 'a'"),
        ([[2, 0.5, 0], *HEADS[1:]], r"y\[0\]\[1\] is 0.5"),
        ([None] * 3, "no known head"),
        (["abc", *HEADS[1:]], r"y\[0\] is 'abc', but it must be a list"),
    ],
)
def test_trees_that_are_none(y, message):
    with pytest.raises(ValueError, match=message):
        DependencyParser().fit(X, y)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (["the dog"], r"X\[0\] is 'the dog'"),
        ([["the", "dog"]], r"X\[0\]\[0\] is 'the', but a sentence is a list of"),
        ([[("the", 1)]], r"X\[0\]\[0\] is \('the', 1\)"),
        (5, "X is of type int|holds no samples"),
    ],
)
def test_sentences_that_are_none(bad, message):
    parser = DependencyParser(C=1).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        parser.predict(bad)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 3}, "order=3"),
        ({"rows": 100}, "power of two"),
        ({"projective": 1}, "projective=1"),
        ({"order": 2, "projective": False}, "order=2"),
        ({"order": 2, "objective": "log"}, "order=2"),
    ],
)
def test_parameters_that_are_not_possible(options, message):
    with pytest.raises(ValueError, match=message):
        DependencyParser(**options).fit(X, Y)
