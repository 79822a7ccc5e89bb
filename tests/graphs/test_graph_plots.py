"""Pictures of graphs: that they show what they should."""

from types import SimpleNamespace

import numpy as np
import pytest

from maxmargin.graphs import edge_plots
from maxmargin.graphs.plots import draw_fractional, draw_worst
from maxmargin.graphs.schema import Schema, named_weights, public_weights
from maxmargin.plots import plot_edge_weights, plot_fractional, plot_segmentation

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    matplotlib.pyplot.close("all")


def titles(figure):
    return [ax.get_title(loc="left") for ax in figure.axes]


def image_of(ax):
    (image,) = ax.get_images()
    return np.asarray(image.get_array())


def test_segmentation_beside_photograph_and_truth():
    image = np.arange(12.0).reshape(3, 4)
    truth = np.array([["sky"] * 4, ["sky"] * 4, ["sea"] * 4], object)
    predicted = truth.copy()
    predicted[1, 1:3] = "sea"
    figure = plot_segmentation(image, truth, predicted)
    assert titles(figure) == ["photograph", "truth", "prediction", "2 of 12 wrong"]
    shown = [image_of(ax) for ax in figure.axes]
    np.testing.assert_allclose(shown[0], image / 11)
    assert len(np.unique(shown[1].reshape(-1, 3), axis=0)) == 2
    np.testing.assert_array_equal((shown[1] != shown[2]).any(2), truth != predicted)
    np.testing.assert_array_equal(shown[3], truth != predicted)
    texts = {text.get_text() for ax in figure.axes for text in ax.texts}
    assert texts == {"sky", "sea"}  # not by colour alone
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["sea", "sky"]


def test_unknown_labels_are_white_and_never_wrong():
    figure = plot_segmentation(None, [[0, None], [1, 1]], [[0, 1], [1, 0]])
    assert titles(figure) == ["truth", "prediction", "1 of 3 wrong"]
    np.testing.assert_array_equal(image_of(figure.axes[0])[0, 1], 1.0)


def test_super_pixels():
    regions = np.array([[0, 0, 1], [2, 2, 1]])
    figure = plot_segmentation(np.zeros((2, 3, 3)), ["a", "b", "a"], regions=regions)
    assert titles(figure) == ["photograph", "truth"]
    shown = image_of(figure.axes[1])
    np.testing.assert_array_equal(shown[0, 0], shown[1, 1])
    assert (shown[0, 0] != shown[0, 2]).any()
    with pytest.raises(ValueError, match="which of the 2 nodes"):
        plot_segmentation(None, ["a", "b"], regions=regions)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((None,), "nothing to draw"),
        ((np.zeros((2, 2)), [0, 1, 1]), "give one per pixel, like the image"),
        ((None, [0, 1]), "give one per pixel"),
        ((np.zeros((2, 2, 4)), np.zeros((2, 2), int)), r"the image has the shape"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        plot_segmentation(*arguments)


def test_many_labels_have_colours_of_their_own():
    labels = np.arange(40).reshape(5, 8)
    shown = image_of(plot_segmentation(None, labels).axes[0])
    assert len(np.unique(shown.reshape(-1, 3), axis=0)) == 40


def test_what_the_relaxation_left_fractional():
    shares = np.array([[1, 0, 0], [0.5, 0.5, 0], [0, 0.4, 0.6], [0, 1, 0]])
    figure = plot_fractional(shares, (2, 2), ["a", "b", "c"])
    assert titles(figure)[:2] == ["best label", "2 of 4 nodes fractional"]
    np.testing.assert_array_equal(image_of(figure.axes[1]), [[1, 0.5], [0.6, 1]])
    strip = plot_fractional(np.tile(shares, (20, 1)))
    assert image_of(strip.axes[1]).shape == (6, 15)
    with pytest.raises(ValueError, match="has not room for 4 nodes"):
        plot_fractional(shares, (3, 2))
    with pytest.raises(ValueError, match="must be a table"):
        plot_fractional([])


def a_model(edges, featured=True, typed=False):
    labels = [["a", "b"], ["x", "y", "z"]] if typed else [["a", "b"]]
    types = ["word", "page"] if typed else [""]
    keys = [("word", "of", "page")] if typed else [("", "", "")]
    width = 2 if featured else 1
    ones = [1] * len(types)
    schema = Schema(types, ones, ones, 0, labels, keys, [width], [featured], edges)
    w = np.arange(1.0, schema.n_weights + 1)
    public = public_weights(schema, w)
    structure = SimpleNamespace(schema=schema)
    return SimpleNamespace(edges=edges, structure_=structure, kernel=None, **public)


@pytest.mark.parametrize("typed", [False, True])
def test_edge_weights_by_feature(typed):
    model = a_model("directed", typed=typed)
    figure = plot_edge_weights(model, names=["down", "right"])
    names = (
        ["word of page: down", "word of page: right"] if typed else ["down", "right"]
    )
    assert titles(figure)[:2] == names
    weights = model.edge_coef_["word", "of", "page"] if typed else model.edge_coef_
    for j in (0, 1):
        np.testing.assert_array_equal(image_of(figure.axes[j]), weights[:, :, j])
    rows = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    columns = [text.get_text() for text in figure.axes[0].get_xticklabels()]
    assert rows == ["a", "b"]
    assert columns == (["x", "y", "z"] if typed else ["a", "b"])
    with pytest.raises(ValueError, match="there are 1 names, but a feature 1"):
        plot_edge_weights(model, names=["down"])


def test_edge_weights_without_features_and_of_equal_labels():
    figure = plot_edge_weights(a_model("symmetric", featured=False))
    assert titles(figure)[0] == "all edges"
    table = image_of(figure.axes[0])
    np.testing.assert_array_equal(table, table.T)
    model = a_model("associative")
    figure = plot_edge_weights(model)
    for ax, value in zip(figure.axes[:2], model.edge_coef_, strict=True):
        np.testing.assert_array_equal(image_of(ax), value * np.eye(2))
    assert "neighbouring labels" in figure.get_suptitle()


def test_many_features_of_equal_labels_are_bars(monkeypatch):
    monkeypatch.setattr(edge_plots, "MOST_EQUAL", 1)
    model = a_model("associative")
    figure = plot_edge_weights(model)
    bars = [bar.get_width() for bar in figure.axes[0].patches]
    np.testing.assert_array_equal(bars, model.edge_coef_)


def test_names_of_weights():
    rows = named_weights(a_model("symmetric", featured=False))
    names = [name for group, name, _ in rows if group == "edges"]
    assert names == ["a - a", "a - b", "b - b"]
    rows = named_weights(a_model("associative", typed=True))
    assert len(rows) == 2 + 3  # no labels are equal, so no edge has weights
    assert ("nodes", "a, feature 0", 1.0) in named_weights(a_model("directed"))
    rows = dict(row[1:] for row in named_weights(a_model("directed")))
    assert rows["a - b, feature 1"] == a_model("directed").edge_coef_[0, 1, 1]


def test_the_worst_graphs_come_first():
    X = [(np.eye(4) * 0.5, []), (np.eye(4), []), (np.zeros((0, 4)), [])]
    truth = [[0, 0, 1, None], [0, 0, 1, 1], []]
    predicted = [[0, 0, 1, 1], [1, 1, 0, 1], []]
    figure = draw_worst(X, truth, predicted, [(2, 2), (2, 2), (0, 0)], 4)
    assert titles(figure)[3::4] == ["3 of 4 wrong", "0 of 3 wrong"]
    assert figure.axes[0].get_ylabel() == "graph 1"
    figure = draw_worst(X, truth, predicted, [None, (2, 2), None], 1)
    assert "photograph" in titles(figure)
    figure = draw_worst(X, truth, predicted, [None] * 3, 4)
    assert titles(figure)[:3] == ["truth", "prediction", "3 of 4 wrong"]


def test_the_most_fractional_graphs_come_first():
    model = SimpleNamespace(classes_=np.array([0, 1]))
    tables = [np.eye(2), np.full((2, 2), 0.5), np.zeros((0, 2))]
    figure = draw_fractional(model, [None] * 3, tables, [None, (1, 2), None], 4)
    found = [title for title in titles(figure) if "fractional" in title]
    assert found == ["2 of 2 nodes fractional", "0 of 2 nodes fractional"]
