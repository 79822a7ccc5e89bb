"""Pictures of trees: everything is there, nothing overlaps, differences are marked."""

import itertools

import pytest

pytest.importorskip("matplotlib")

from hypothesis import given, settings
from matplotlib.colors import to_hex
from tree_cases import trees

from maxmargin import Tree
from maxmargin.plots import plot_tree, plot_tree_errors
from maxmargin.plots.training import ORANGE

GOLD = Tree.parse(
    "(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (PRP$ its) (NN $x_1$)) (PP (IN in) (NP "
    "(NN town)))) (. .))"
)
WRONG = Tree.parse(
    "(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (NP (PRP$ its) (NNP $x_1$)) (PP (IN in) "
    "(NP (NN town))))) (. .))"
)


@pytest.fixture(autouse=True)
def _closed():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def texts_of(ax):
    return [text for text in ax.texts if text.get_text()]


def overlaps(ax):
    """Pairs of texts whose letters lie over each other."""
    renderer = ax.figure.canvas.get_renderer()
    for text in ax.texts:
        text.set_bbox(None)
    boxes = [(t.get_text(), t.get_window_extent(renderer)) for t in texts_of(ax)]
    return [
        (a, b)
        for (a, x), (b, y) in itertools.combinations(boxes, 2)
        if min(x.x1, y.x1) - max(x.x0, y.x0) > 1
        and min(x.y1, y.y1) - max(x.y0, y.y0) > 1
    ]


@settings(max_examples=8)
@given(
    trees(
        words=("the", "incomprehensible", "."), labels=("S", "NP", "PRP$", "LONG-LABEL")
    )
)
def test_every_node_is_there_and_nothing_overlaps(tree):
    figure = plot_tree(tree)
    (ax,) = figure.axes
    labels = [node.label for node in tree.subtrees()]
    assert sorted(t.get_text() for t in ax.texts) == sorted(labels + tree.words())
    assert overlaps(ax) == []
    _close(figure)


def _close(figure):
    from matplotlib import pyplot

    pyplot.close(figure)


def test_thirty_words(data_home):
    from maxmargin.files import read_trees

    sample = read_trees(data_home / "wsj_sample_trees" / "wsj_sample.mrg.gz")
    for tree in [tree for tree in sample if len(tree.words()) == 30][:3]:
        figure = plot_tree(tree, title="Thirty words")
        (ax,) = figure.axes
        assert overlaps(ax) == []
        width, height = figure.get_size_inches() * 72
        renderer = figure.canvas.get_renderer()
        for text in ax.texts:
            box = text.get_window_extent(renderer).transformed(
                figure.dpi_scale_trans.inverted()
            )
            assert box.x0 >= 0
            assert box.y0 >= 0
            assert 72 * box.x1 <= width
            assert 72 * box.y1 <= height


def test_errors_are_marked(tmp_path):
    file = tmp_path / "errors.png"
    figure = plot_tree_errors(GOLD, WRONG, path=file)
    assert file.read_bytes()[:4] == b"\x89PNG"
    above, below = figure.axes
    assert boxed(above) == ["NN"]  # the tag; no bracket was missed
    assert boxed(below) == ["NNP", "NP"]
    title = texts_of(below)[-1].get_text()
    assert (
        title == "Predicted: 6 of 7 brackets right, 0 missed, F1 92%; boxes are wrong"
    )
    swapped = plot_tree_errors(WRONG, GOLD, title="Mine")
    assert boxed(swapped.axes[0]) == ["NNP", "NP"]
    assert texts_of(swapped.axes[1])[-1].get_text() == "Mine"


def boxed(ax):
    return sorted(
        text.get_text()
        for text in ax.texts
        if text.get_bbox_patch() is not None
        and to_hex(text.get_bbox_patch().get_edgecolor()).upper() == ORANGE
    )


def test_axes_of_the_user():
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2)
    assert plot_tree_errors(GOLD, WRONG, ax=axes) is figure
    assert plot_tree(GOLD, ax=axes[0]) is figure
    with pytest.raises(ValueError, match="ax holds 2 Axes, but 1"):
        plot_tree(GOLD, ax=axes)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="not a Tree"):
        plot_tree("(S (A b))")
    with pytest.raises(ValueError, match="predicted is of type NoneType"):
        plot_tree_errors(GOLD, None)
    with pytest.raises(ValueError, match="different words"):
        plot_tree_errors(GOLD, Tree.parse("(S (A b))"))
