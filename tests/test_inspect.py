"""Pictures: what they show, not how."""

import sys
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from maxmargin import SequenceTagger
from maxmargin.plots import plot_convergence, plot_predictions, plot_transitions

matplotlib.use("Agg")
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def closed():
    """Every figure is drawn once, so that layout warnings show, and then closed."""
    yield
    for number in pyplot.get_fignums():
        pyplot.figure(number).canvas.draw()
    pyplot.close("all")


def row(iteration, primal, dual):
    return {
        "iteration": iteration,
        "seconds": 0.1 * iteration,
        "primal": primal,
        "dual": dual,
        "gap": primal - dual,
    }


HISTORY = [row(1, np.inf, 1.0), row(2, 40.0, 8.0), row(3, 20.0, 10.0), row(4, 16.0, 12)]


def tagger(k=3, forbidden=None, names=None):
    """What plot_transitions reads of a fitted tagger, with weights 0, 1, 2, ..."""
    model = SequenceTagger(forbidden=forbidden)
    model.classes_ = np.array(names or list(range(k)))
    model.transitions_ = np.arange(k * k, dtype=np.float32).reshape(k, k) - k
    return model


def texts(ax):
    return [text.get_text() for text in ax.texts]


# convergence -------------------------------------------------------------------------


def test_convergence_of_a_history():
    bounds, gap = plot_convergence(HISTORY).axes
    primal, dual = bounds.get_lines()
    # the first row has no certificate, but a dual
    np.testing.assert_allclose(primal.get_xdata(), [0.2, 0.3, 0.4])
    np.testing.assert_allclose(primal.get_ydata(), [40, 20, 16])
    np.testing.assert_allclose(dual.get_ydata(), [1, 8, 10, 12])
    assert len(bounds.collections) == 1  # the shaded gap
    assert "25%" in bounds.get_title(loc="left")
    assert "4 passes" in bounds.get_title(loc="left")
    assert gap.get_yscale() == "log"
    np.testing.assert_allclose(gap.get_lines()[0].get_ydata(), [0.8, 0.5, 0.25])


def test_convergence_of_a_model_shows_its_tolerance():
    certificate = SimpleNamespace(exact=True)
    model = SimpleNamespace(history_=HISTORY, tol=0.3, certificate_=certificate)
    _, gap = plot_convergence(model).axes
    assert texts(gap) == ["tol = 30%"]
    assert list(gap.get_lines()[1].get_ydata()) == [0.3, 0.3]


def test_convergence_says_what_is_not_proved():
    certificate = SimpleNamespace(exact=False)
    model = SimpleNamespace(history_=HISTORY, tol=0.3, certificate_=certificate)
    assert "not proved" in plot_convergence(model).axes[0].get_title(loc="left")
    rows = [row(1, 5.0, 0.0)]
    assert "No lower bound" in plot_convergence(rows).axes[0].get_title(loc="left")


def test_convergence_at_the_optimum():
    """A gap of zero has no place on a log axis."""
    fig = plot_convergence([row(1, 4.0, 2.0), row(2, 3.0, 3.0)])
    assert len(fig.axes[1].get_lines()[0].get_ydata()) == 1
    fig = plot_convergence([row(1, 3.0, 3.0)])
    assert "Within 0%" in fig.axes[0].get_title(loc="left")
    plot_convergence([row(1, 0.0, 0.0)])


def test_convergence_into_given_axes():
    fig, ax = pyplot.subplots()
    assert plot_convergence(HISTORY, ax=ax) is fig
    assert len(fig.axes) == 1
    assert ax.get_xlabel()
    fig, pair = pyplot.subplots(2)
    assert plot_convergence(HISTORY, ax=pair) is fig
    assert pair[1].get_yscale() == "log"


def test_convergence_without_certificates():
    with pytest.raises(ValueError, match="no certified pass"):
        plot_convergence(HISTORY[:1])
    with pytest.raises(ValueError, match="history_"):
        plot_convergence(SequenceTagger())


# transitions -------------------------------------------------------------------------


def test_transitions_show_every_label_and_weight():
    fig = plot_transitions(tagger(names=["B", "I", "O"]))
    ax = fig.axes[0]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["B", "I", "O"]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["B", "I", "O"]
    np.testing.assert_array_equal(
        ax.images[0].get_array(), np.arange(-3, 6).reshape(3, 3)
    )
    low, high = ax.images[0].get_clim()
    assert low == -high == -5
    assert len(ax.texts) == 9
    title = ax.get_title(loc="left")
    assert "O \N{RIGHTWARDS ARROW} O" in title
    assert "B \N{RIGHTWARDS ARROW} B" in title


def test_transitions_forbidden_are_crossed_out():
    ban = [(0, 1), (None, 2), (7, 1)]  # a start and an unknown label have no cell
    ax = plot_transitions(tagger(forbidden=ban)).axes[0]
    assert ax.images[0].get_array().mask.sum() == 1
    assert texts(ax).count("\N{MULTIPLICATION SIGN}") == 1
    assert len(ax.texts) == 9


def test_transitions_all_zero_or_all_forbidden():
    model = tagger(2)
    model.transitions_ = np.zeros((2, 2))
    assert plot_transitions(model).axes[0].images[0].get_clim() == (-1, 1)
    model = tagger(2, forbidden=[(a, b) for a in (0, 1) for b in (0, 1)])
    assert "forbidden" in plot_transitions(model).axes[0].get_title(loc="left")


def test_transitions_of_many_labels_have_no_numbers():
    ax = plot_transitions(tagger(30)).axes[0]
    assert not ax.texts
    assert len(ax.get_xticklabels()) == 30


def test_transitions_into_given_axes():
    fig, ax = pyplot.subplots()
    assert plot_transitions(tagger(), ax=ax) is fig
    assert ax.images


def test_transitions_need_a_fit():
    with pytest.raises(NotFittedError):
        plot_transitions(SequenceTagger())


# predictions -------------------------------------------------------------------------

IMAGES = [np.zeros((3, 8, 8)), np.ones((2, 8, 8))]
TRUTH = [[1, 2, 3], [4, 5]]
READ = {"one": [[1, 7, 3], [4, 6]], "two": [[1, 2, 3], [4, 6]]}


def test_predictions_show_pictures_and_labels():
    ax = plot_predictions(IMAGES, TRUTH, READ).axes[0]
    assert len(ax.images) == 5
    # per sequence three names; per picture three labels
    assert len(ax.texts) == 2 * 3 + 5 * 3
    wrong = [text for text in ax.texts if text.get_bbox_patch() is not None]
    assert [text.get_text() for text in wrong] == ["7", "6", "6"]
    assert ax.get_title(loc="left") == "Wrong labels of 5: one 2, two 1"


def test_predictions_title_columns_and_axes():
    fig, ax = pyplot.subplots()
    made = plot_predictions(IMAGES, TRUTH, READ, title="T", columns=1, ax=ax)
    assert made is fig
    assert ax.get_title(loc="left") == "T"
    tops = {image.get_extent()[3] for image in ax.images}
    assert len(tops) == 2


def test_predictions_must_fit():
    with pytest.raises(ValueError, match="'one' does not fit"):
        plot_predictions(IMAGES, TRUTH, {"one": [[1, 2], [4, 5]]})
    with pytest.raises(ValueError, match="'truth' does not fit"):
        plot_predictions(IMAGES, TRUTH[:1], {})
    with pytest.raises(ValueError, match="no images"):
        plot_predictions([], [], {})
    with pytest.raises(ValueError, match="columns=0"):
        plot_predictions(IMAGES, TRUTH, READ, columns=0)


# without matplotlib ------------------------------------------------------------------


@pytest.mark.parametrize(
    "draw",
    [
        lambda: plot_convergence(HISTORY),
        lambda: plot_transitions(tagger()),
        lambda: plot_predictions(IMAGES, TRUTH, READ),
    ],
)
def test_without_matplotlib_says_what_to_install(monkeypatch, draw):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"pip install 'maxmargin\[plot\]'"):
        draw()
