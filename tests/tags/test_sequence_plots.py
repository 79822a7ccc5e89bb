"""Pictures and tables of taggers: what they show, not how."""

import os
import subprocess
import sys
from itertools import pairwise

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from maxmargin import SequenceTagger
from maxmargin.plots import (
    feature_table,
    plot_confusion,
    plot_top_features,
    plot_transitions,
    tagged_page,
    top_features,
    transition_table,
)
from maxmargin.tags.schemes import forbidden_transitions

matplotlib.use("Agg")
CROSS = "\N{MULTIPLICATION SIGN}"


@pytest.fixture(autouse=True)
def closed():
    """Every figure is drawn once, so that layout warnings show, and then closed."""
    yield
    for number in pyplot.get_fignums():
        pyplot.figure(number).canvas.draw()
    pyplot.close("all")


class Fitted(BaseEstimator):
    """What pictures read of a fitted tagger."""

    def __init__(self, forbidden=None, scheme=None):
        self.forbidden = forbidden
        self.scheme = scheme

    def fit(self, X, y): ...


def tagger(names=("B-X", "I-X", "O"), n_features=4, **params):
    """With weights that are easy to tell."""
    model = Fitted(**params)
    k = len(names)
    model.classes_ = np.array(names)
    model.transitions_ = np.arange(k * k, dtype=np.float32).reshape(k, k) - k
    model.first_ = 100 + np.arange(k, dtype=np.float32)
    model.last_ = -200 - np.arange(k, dtype=np.float32)
    model.coef_ = np.zeros((k, n_features), np.float32)
    model.feature_names_ = [f"f{j}" for j in range(n_features)]
    return model


def texts(ax):
    return [text.get_text() for text in ax.texts]


def names_at(ticks):
    return [tick.get_text() for tick in ticks]


# transitions -------------------------------------------------------------------------


def test_transitions_with_start_and_end():
    ax = plot_transitions(tagger()).axes[0]
    assert names_at(ax.get_yticklabels()) == ["(start)", "B-X", "I-X", "O"]
    assert names_at(ax.get_xticklabels()) == ["B-X", "I-X", "O", "(end)"]
    table = ax.images[0].get_array()
    np.testing.assert_array_equal(table[1:, :-1], np.arange(-3, 6).reshape(3, 3))
    np.testing.assert_array_equal(table[0, :-1], [100, 101, 102])
    np.testing.assert_array_equal(table[1:, -1], [-200, -201, -202])
    assert table.mask.sum() == 1  # no sequence starts and ends with no label
    assert len(ax.texts) == 15
    title = ax.get_title(loc="left")
    assert "(start) \N{RIGHTWARDS ARROW} O" in title
    assert "O \N{RIGHTWARDS ARROW} (end)" in title


def test_transitions_that_are_forbidden():
    labels = ["B-X", "E-X", "O"]
    model = tagger(labels, forbidden=forbidden_transitions(labels, "BIOES"))
    ax = plot_transitions(model).axes[0]
    # first E; last B; B-B, B-O, E-E, O-E
    assert texts(ax).count(CROSS) == 6
    assert transition_table(model).split("\n") == [
        "            B-X    E-X       O    (end)",
        "(start)  100.00      x  102.00",
        "B-X           x  -2.00       x        x",
        "E-X        0.00      x    2.00  -201.00",
        "O          3.00      x    5.00  -202.00",
    ]


def test_transitions_that_the_scheme_forbids():
    by_scheme = transition_table(tagger(scheme="BIO"))
    pairs = forbidden_transitions(["B-X", "I-X", "O"], "BIO")
    assert by_scheme == transition_table(tagger(forbidden=pairs))
    assert by_scheme != transition_table(tagger())
    both = tagger(scheme="BIO", forbidden=[("O", "O"), ("Z", "O"), (None, "Z")])
    assert transition_table(both).count("x") == 3


def test_transition_table_of_small_weights():
    model = tagger(["a", "b"])
    for name in ("transitions_", "first_", "last_"):
        setattr(model, name, np.full_like(getattr(model, name), -0.0123))
    assert "-0.0123" in transition_table(model)
    model.transitions_ = np.zeros((2, 2))
    model.first_ = model.last_ = np.zeros(2)
    assert "-" not in transition_table(model)


def test_labels_with_dollars_are_not_formulas():
    """Two dollars would otherwise be read as mathematics, and drop out."""
    model = tagger(["PRP$", "WP$", "$x_$"])
    ax = plot_transitions(model).axes[0]
    assert not any(t.get_parse_math() for t in ax.get_xticklabels())
    plot_confusion([["PRP$", "$\\bad$"]], [["PRP$", "PRP$"]])
    model.coef_[:] = 1
    model.feature_names_ = ["$\\frac$", "w=$ $", "f", "\n\t "]
    plot_top_features(model)


def test_transitions_into_axes_and_files(tmp_path):
    fig, ax = pyplot.subplots()
    assert plot_transitions(tagger(), ax=ax) is fig
    pyplot.close(fig)
    for name, start in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("b", b"\x89PNG")):
        plot_transitions(tagger(), path=tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
    assert not pyplot.get_fignums()
    assert sorted(os.listdir(tmp_path)) == ["a.png", "a.svg", "b"]


@pytest.mark.parametrize("k", [2, 13, 30])
def test_names_of_many_labels_do_not_overlap(k):
    fig = plot_transitions(tagger([f"B-LABEL{j}" for j in range(k)]))
    fig.canvas.draw()
    ax = fig.axes[0]
    for ticks in (ax.get_xticklabels(), ax.get_yticklabels()):
        boxes = [tick.get_window_extent() for tick in ticks]
        for a, b in pairwise(boxes):
            assert not a.overlaps(b)
    frame = fig.bbox
    for text in (ax.yaxis.label, ax.xaxis.label, ax._left_title):
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= frame.x1
        assert box.y1 <= frame.y1


# errors ------------------------------------------------------------------------------


def test_confusion_shows_errors_and_not_the_diagonal():
    truth = [["a"] * 10, ["b"] * 4, ["c"]]
    guess = [["a"] * 8 + ["b"] * 2, ["b", "b", "b", "a"], ["c"]]
    ax = plot_confusion(truth, guess).axes[0]
    share = ax.images[0].get_array().filled(0)
    np.testing.assert_allclose(share, [[0, 0.2, 0], [0.25, 0, 0], [0, 0, 0]])
    assert sorted(texts(ax)) == ["1", "1", "2", "3", "8"]  # counts, all of them
    assert sum(map(int, texts(ax))) == 15
    title = ax.get_title(loc="left")
    assert "3 of 15 labels are wrong" in title
    assert "a taken for b, 2 times" in title
    assert ax.get_xlabel().startswith("predicted label")


def test_confusion_in_shares_says_100_only_of_what_is_always_right():
    truth, guess = [["a"] * 20_000 + ["b"]], [["a"] * 19_955 + ["b"] * 46]
    ax = plot_confusion(truth, guess, values="shares").axes[0]
    assert sorted(texts(ax)) == ["0.2%", "100%", "99.8%"]
    truth, guess = [["a"] * 200_000 + ["b"]], [["a"] * 199_999 + ["b"] * 2]
    ax = plot_confusion(truth, guess, values="shares").axes[0]
    assert sorted(texts(ax)) == ["100%", "99.9%", "<0.1%"]
    with pytest.raises(ValueError, match="values='both' is not known"):
        plot_confusion(truth, guess, values="both")


def test_confusion_of_some_labels():
    truth, guess = [[1, 2, 3]], [[1, 3, 2]]
    ax = plot_confusion(truth, guess, labels=[3, 1]).axes[0]
    assert names_at(ax.get_yticklabels()) == ["3", "1"]
    assert "0 errors among 2 of 3 labels" in ax.get_title(loc="left")
    with pytest.raises(ValueError, match="holds 7, which does not occur"):
        plot_confusion(truth, guess, labels=[7])
    with pytest.raises(ValueError, match="is empty"):
        plot_confusion(truth, guess, labels=[])


def test_confusion_of_many_labels_shows_those_with_errors():
    truth = [list(range(50))]
    guess = [[*range(40), *range(41, 50), 40]]
    ax = plot_confusion(truth, guess).axes[0]
    shown = names_at(ax.get_yticklabels())
    assert len(shown) == 30
    assert set(map(str, range(40, 50))) <= set(shown)


def test_confusion_at_the_ends(tmp_path):
    title = plot_confusion([["a"]], [["a"]]).axes[0].get_title(loc="left")
    assert title == "0 of 1 labels are wrong"
    plot_confusion([["a"] * 20_000], [["b"] * 20_000], path=tmp_path / "c.pdf")
    with pytest.raises(ValueError, match="nothing to draw"):
        plot_confusion([], [])
    with pytest.raises(ValueError, match=r"truth\[0\] has 2 labels"):
        plot_confusion([["a", "a"]], [["a"]])


# features ----------------------------------------------------------------------------


def test_top_features_are_sorted_by_size():
    model = tagger()
    model.coef_[1] = [0.5, -2.0, 0.0, 1.0]
    assert top_features(model, "I-X", 2) == [("f1", -2.0), ("f3", 1.0)]
    assert top_features(model, "I-X") == [("f1", -2.0), ("f3", 1.0), ("f0", 0.5)]
    assert top_features(model, "O") == []
    assert feature_table(model, ["I-X", "O"], n=1) == (
        "I-X\n   -2.000  f1\n\nO\n  (all weights are zero)"
    )
    model.feature_names_ = None
    assert top_features(model, "I-X", 1) == [("feature 1", -2.0)]


def test_top_features_of_ties_come_in_order():
    model = tagger(n_features=50)
    model.coef_[0] = 1
    assert [name for name, _ in top_features(model, "B-X", 3)] == ["f0", "f1", "f2"]


def test_top_features_are_checked():
    with pytest.raises(ValueError, match=r"label='Z' is not known.*'B-X', 'I-X', 'O'"):
        top_features(tagger(), "Z")
    for n in (0, -1, 1.5, True, None):
        with pytest.raises(ValueError, match="n="):
            top_features(tagger(), "O", n)
        with pytest.raises(ValueError, match="n="):
            plot_top_features(tagger(), n=n)
    with pytest.raises(ValueError, match="labels is empty"):
        plot_top_features(tagger(), labels=[])


def test_plot_of_top_features(tmp_path):
    model = tagger(n_features=20)
    model.coef_[0] = np.arange(20) - 15
    model.feature_names_[0] = "a" * 50 + "z" * 50
    fig = plot_top_features(model, n=5, path=tmp_path / "features.png")
    assert (tmp_path / "features.png").exists()
    ax = fig.axes[0]
    assert [bar.get_width() for bar in ax.patches] == [-15, -14, -13, -12, -11]
    shown = names_at(ax.get_yticklabels())
    assert len(shown[0]) <= 30
    assert shown[0].startswith("aaa")
    assert shown[0].endswith("zzz")
    assert shown[1:] == ["f1", "f2", "f3", "f4"]
    assert "all weights are zero" in fig.axes[1].get_title(loc="left")
    assert len(fig.axes) == 3
    many = plot_top_features(tagger([f"L{j}" for j in range(34)]), n=1)
    assert "4 more labels" in many.get_suptitle()


# of a fitted model -------------------------------------------------------------------


def test_pictures_of_a_fitted_tagger(tmp_path):
    X = [[["the"], ["dog"], ["barks"]], [["dogs"], ["bark"]], [["barks"]]]
    y = [["B-NP", "I-NP", "O"], ["B-NP", "O"], ["O"]]
    forbidden = forbidden_transitions(["B-NP", "I-NP", "O"], "BIO")
    model = SequenceTagger(C=10, forbidden=forbidden).fit(X, y)
    weights = dict(top_features(model, "B-NP"))
    assert weights["the"] > 0 > weights["dog"]
    assert weights["the"] == model.coef_[0, model.feature_names_.index("the")]
    assert "the" in feature_table(model)
    assert " x " in transition_table(model)
    plot_transitions(model, path=tmp_path / "t.png")
    plot_top_features(model, path=tmp_path / "f.png")
    words = [[token[0] for token in row] for row in X]
    tagged_page(
        words,
        model.predict(X),
        tmp_path / "p.html",
        truth=y,
        marginals=model.predict_marginals(X),
        classes=model.classes_,
    )
    assert "0 of the 6 labels shown are wrong" in (tmp_path / "p.html").read_text()


@pytest.mark.parametrize(
    "look",
    [
        plot_transitions,
        transition_table,
        plot_top_features,
        feature_table,
        lambda model: top_features(model, "O"),
    ],
)
def test_a_fit_is_needed(look):
    with pytest.raises(NotFittedError):
        look(SequenceTagger())


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plot_transitions(tagger()),
        lambda: plot_confusion([["a"]], [["a"]]),
        lambda: plot_top_features(tagger()),
    ],
)
def test_without_matplotlib_says_what_to_install(monkeypatch, draw):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'maxmargin\[plot\]'"):
        draw()


def test_importing_loads_neither_matplotlib_nor_numba():
    code = (
        "import sys, maxmargin.plots, maxmargin.metrics, maxmargin.tags.schemes; "
        "print([m for m in ('matplotlib', 'numba', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
