"""``show`` of every estimator: what is predicted of one input, beside the truth."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

import maxmargin
from maxmargin import (
    HomologFinder,
    KernelSVM,
    LatentProblem,
    LatentStructuralSVM,
    MotifFinder,
    MulticlassSVM,
    MultilabelSVM,
    Problem,
    StructuralSVM,
    TaxonomySVM,
    TopKRanker,
    Tree,
    views,
)
from maxmargin.alignments.homologs.invented import make_homologs
from maxmargin.families import places
from maxmargin.views.written import written

ROWS = np.array([[3.0, 0], [2.5, 0.5], [0, 3], [0.5, 2], [-3, -3], [-2, -3]])
NAMES = np.array(["cat", "cat", "dog", "dog", "fox", "fox"])


def lines(view):
    return repr(view).split("\n")


def test_every_estimator_has_it():
    classes = [getattr(maxmargin, name) for name in places("public")]
    classes += [StructuralSVM, LatentStructuralSVM]
    missing = [
        cls.__name__
        for cls in classes
        if isinstance(cls, type)
        and issubclass(cls, BaseEstimator)
        and not hasattr(cls, "show")
    ]
    assert missing == []


@pytest.mark.parametrize("kind", [MulticlassSVM, KernelSVM])
def test_classes(kind):
    model = kind(C=10).fit(ROWS, NAMES)
    scores = dict(
        zip(model.classes_, model.decision_function(ROWS[:1])[0], strict=True)
    )
    view = model.show(ROWS[0], "dog", top=1)
    assert lines(view) == [
        "cat, but the truth is dog",
        f"cat {scores['cat']:.3g}, dog {scores['dog']:.3g}",
    ]
    assert view._repr_svg_().count("<rect") == 2  # the strongest, and the true one
    assert view.picture in view._repr_html_()
    assert lines(model.show(list(ROWS[2]), "dog"))[0] == "dog, which is right"
    assert lines(model.show(csr_array(ROWS)[[4]]))[0] == "fox"
    with pytest.raises(ValueError, match="x has 6 rows, but one sample is shown"):
        model.show(ROWS)


def test_rows_of_dataframes():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(ROWS, columns=["a", "b"])
    model = MulticlassSVM(C=10).fit(frame, NAMES)
    assert repr(model.show(frame.iloc[2])) == repr(model.show(frame.iloc[[2]]))
    assert lines(model.show(frame.iloc[2]))[0] == "dog"


def test_two_classes_have_a_score_each():
    model = MulticlassSVM(C=10).fit(ROWS[:4], NAMES[:4])
    assert model.show(ROWS[0]).picture.count("<rect") == 2


def test_classes_of_texts():
    kernel = maxmargin.kernels.spectrum(2)
    model = KernelSVM(kernel=kernel).fit(["aab", "aaa", "bba", "bbb"], [0, 0, 1, 1])
    assert lines(model.show("bbbb", 1))[0] == "1, which is right"


def test_views_of_classes_check_what_they_get():
    with pytest.raises(ValueError, match=r"shape \(1,\), but there are 2 classes"):
        views.classes([1.0], ["a", "b"], "a")
    long = views.classes([np.inf, np.nan], ["a" * 100, "b"], ["b"], top=2)
    assert "a" * 39 + "\u2026" in long.picture
    assert "nan" in repr(long)


PATHS = ["pet.cat", "pet.cat", "pet.dog", "pet.dog", "car", "car"]


def test_taxonomies():
    model = TaxonomySVM(C=10).fit(ROWS, PATHS)
    view = model.show(ROWS[0], "pet.dog")
    assert lines(view) == [
        "pet.cat, but the truth is pet.dog",
        "pet",
        "  pet.cat (wrong)",
        "  pet.dog (missed)",
    ]
    assert view._repr_svg_().startswith("<svg")
    assert lines(model.show(ROWS[0], "pet.cow"))[-1] == "  pet.cow (missed)"
    assert lines(model.show(ROWS[4])) == ["car", "car"]
    lists = TaxonomySVM(C=10, multilabel=True).fit(ROWS, [[p] for p in PATHS])
    assert lines(lists.show(ROWS[0], ["pet.cat"]))[0] == "pet.cat, which is right"
    table = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1], [0, 0, 1]])
    marks = TaxonomySVM(
        C=10,
        multilabel=True,
        nodes=["pet", "pet.cat", "car"],
        taxonomy={"pet": None, "pet.cat": "pet", "car": None},
    ).fit(ROWS, table)
    assert lines(marks.show(ROWS[0], [1, 1, 0]))[0] == "pet.cat, which is right"
    assert lines(marks.show(ROWS[2], [1, 1, 0]))[0] == "pet, but the truth is pet.cat"


def test_nodes_with_two_parents_are_shown_once():
    tree = {"a": None, "b": None, "c": ["a", "b"], "d": "c"}
    assert lines(views.taxonomy(tree, "d")) == ["d", "a", "  c", "    d", "b"]
    wide = {k: None for k in range(100)}
    view = views.taxonomy(wide, set(range(100)))
    assert "The first 60 of 100 nodes" in view.html
    with pytest.raises(ValueError, match="'x' is not in the taxonomy"):
        views.taxonomy(tree, "x")


@pytest.mark.parametrize("graph", [None, "tree"])
def test_sets_of_labels(graph):
    X = [[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]]
    y = [{"sea"}, {"sea", "beach"}, {"beach", "city"}, {"city"}]
    model = MultilabelSVM(C=100, graph=graph).fit(X, y)
    view = model.show(X[1], {"sea", "city"})
    assert lines(view)[0] == "beach, sea, but the truth is city, sea"
    assert "stroke-dasharray" in view.picture
    assert lines(model.show(X[0], ["sea"]))[0] == "sea, which is right"
    table = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
    numbers = MultilabelSVM(C=100, graph=graph).fit(X, table)
    assert lines(numbers.show(X[3], table[3]))[0] == "nothing, which is right"


def test_rankings():
    X = [[3.0, 0.1], [1.0, 0.2], [0.0, 0.9], [0.4, 0.5], [0.1, 0.8], [0.9, 0.1]]
    y, qid = [1, 0, 0, 0, 0, 1], ["cats"] * 3 + ["dogs"] * 3
    model = TopKRanker(C=10).fit(X, y, qid)
    assert repr(model.show(X, y, qid)) == "6 documents of 2 queries"
    one = model.show(X[:3], names=["a", "b", "c"], top=1)
    assert "<td>a</td>" in one.html
    assert "<td>b</td>" not in one.html


def test_homologs():
    X, y = make_homologs(20, random_state=0)
    model = HomologFinder(C=0.1).fit(X, y)
    native, candidates = X[0]
    best = int(model.predict([X[0]])[0])
    view = model.show(X[0], y[0])
    assert lines(view)[0] == f"candidate {best} of {len(candidates)}, the homolog"
    pairs = model.align(native, candidates[best])
    top = lines(view)[1].replace("-", "")
    assert top == native[pairs[0][0] : pairs[-1][0] + 1]
    worst = int(np.argmin(model.decision_function([X[0]])[0]))
    other = model.show(X[0], worst, top=2)
    assert f"the homolog, {worst}, is in place {len(candidates)}" in repr(other)
    assert other.html.count("<tr") == 4  # the head, two, and the homolog
    with pytest.raises(ValueError, match="there are 2 candidates: give one score"):
        views.homologs(("A", ["A", "C"]), [1.0], [])
    assert "scores more than 0" in views.homologs(("A", ["C"]), [0.0], []).html


def test_motifs():
    X = ["ACTATAAGC", "GGCTATAAC", "TATAACCGA", "CCGACGTGC", "GGACCAGCA", "ACACGTCAG"]
    model = MotifFinder(width=5, order=0).fit(X, [True] * 3 + [False] * 3)
    assert lines(model.show(X[0], False)) == [
        "TATAA at 2 (+)",
        "1 of 1 labels are wrong.",
    ]
    assert len(lines(model.show(X))) == 6


class Sign(Problem):
    def joint_feature(self, x, y):
        return np.array([y * x])

    def outputs(self, x):
        return -1, 1

    def loss(self, y, y_hat):
        return float(y != y_hat)


def test_outputs_of_problems():
    model = StructuralSVM(Sign()).fit([1.0, -2.0], [1, -1])
    assert repr(model.show(3.0)) == "Predicted: 1"
    assert lines(model.show(3.0, -1)) == ["Predicted: 1", "True: -1", "Loss: 1."]
    with pytest.raises(ValueError, match=r"show\(\) does not know top"):
        model.show(3.0, top=3)


class Drawn(Sign):
    def show(self, x, predicted, y, mark="!"):
        return f"{x} {predicted} {y}{mark}"


class Branches(Sign):
    """Outputs that draw themselves."""

    trees = (Tree("S", [Tree("A", ["a"])]), Tree("S", [Tree("B", ["<b>"])]))

    def joint_feature(self, x, y):
        return np.array([x * (1 if y == self.trees[0] else -1)])

    def outputs(self, x):
        return self.trees


def test_problems_and_outputs_that_draw_themselves():
    model = StructuralSVM(Drawn()).fit([1.0, -2.0], [1, -1])
    assert model.show(3.0, mark="?") == "3.0 1 None?"
    first, second = Branches.trees
    model = StructuralSVM(Branches()).fit([1.0, -2.0], [first, second])
    assert "<svg" in model.show(-1.0).html
    assert ">&lt;b&gt;</text>" in model.show(-1.0, first).html


class Hidden(LatentProblem):
    def joint_feature(self, x, y, h):
        return np.array([y * x[h]])

    def outputs(self, x):
        return [(y, h) for y in (-1, 1) for h in range(len(x))]

    def loss(self, y, y_hat, h_hat):
        return float(y != y_hat)

    def complete(self, x, y, w):
        w = [1.0] if w is None else w  # None: the first time
        return int(np.argmax([w[0] * y * value for value in x]))


def test_hidden_parts_are_shown():
    X, y = [[3.0, 0.1], [0.2, 4.0], [-3.0, 0.3]], [1, 1, -1]
    model = LatentStructuralSVM(Hidden(), C=10, init="random").fit(X, y)
    assert lines(model.show([0.1, 5.0], 1)) == [
        "Predicted: 1",
        "Hidden: 1",
        "True: 1",
        "Loss: 0.",
    ]


def test_long_outputs_are_cut():
    view = written([("Predicted", list(range(100_000)))])
    assert "characters more" in repr(view)
    assert len(view.html) < 20_000


def test_views_that_are_pictures_are_saved_as_such(tmp_path):
    view = views.classes([1.0, 0.5], ["a", "b"], "a")
    view.save(tmp_path / "bars.svg")
    assert (tmp_path / "bars.svg").read_text() == view._repr_svg_()
    tree = Branches.trees[1]
    assert tree._repr_svg_() == views.tree(tree)._repr_svg_()
    text = views.tags(["a"], ["X"])
    assert text._repr_svg_() is None
    with pytest.raises(ValueError, match="is a text, not a picture"):
        text.save(tmp_path / "tags.svg")
    assert not (tmp_path / "tags.svg").exists()
