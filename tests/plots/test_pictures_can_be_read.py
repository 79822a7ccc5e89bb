"""What can be asserted of any picture: readable text, legends of what is drawn."""

import itertools
import math

import matplotlib as mpl
import numpy as np
import pytest

from maxmargin import (
    LinkClusterer,
    Mention,
    MentionDocument,
    MotifFinder,
    SequenceTagger,
    Taxonomy,
    plots,
)
from maxmargin.alignments.export import Scoring
from maxmargin.motifs.formats import Motif
from maxmargin.trees.tree import Tree

mpl.use("Agg")
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def row(iteration, primal, dual, estimate=None):
    both = {"iteration": iteration, "seconds": 0.1 * iteration, "dual": dual}
    return both | {"primal": primal, "gap": primal - dual, "primal_estimate": estimate}


# a fit that is certified once, at its end, as most are
ONCE = [row(k, math.inf, 10 - 8 / k, 10 + 9 / k) for k in range(1, 9)]
ONCE.append(row(9, 10.2, 9.9, 10.4))


def legend_of(ax):
    legends = [*ax.figure.legends, ax.get_legend()]
    return [t.get_text() for each in legends if each for t in each.get_texts()]


def document(n=6, words=("Emma", "her", "friend")):
    sentences = [[words[k % len(words)], "."] for k in range(n)]
    return MentionDocument("d$o$c", sentences, [Mention(k, 0, 0) for k in range(n)])


CLUSTERS = [0, 0, 1, 1, 0, 2]
TREE = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog))))")
FLAT = Tree.parse("(S (DT the) (NN cat) (VBD saw) (NP (DT a) (NN dog)))")
PATHS = [
    f"{a}.{b}" for a in ("comp", "rec") for b in ("graphics", "sport", "os", "med")
]


def transitions():
    labels = ["B-PER", "I-PER", "O"]
    weights = np.arange(9.0).reshape(3, 3) - 4
    ends = {"first_": np.ones(3), "last_": -np.ones(3), "transitions_": weights}
    model = SequenceTagger(forbidden=[("O", "I-PER")])
    for name, value in {"classes_": np.array(labels), **ends}.items():
        setattr(model, name, value)
    return model


PICTURES = {
    "convergence": lambda: plots.plot_convergence(ONCE),
    "confusion": lambda: plots.plot_confusion(
        [["a"] * 90 + ["bb"] * 9], [["a"] * 88 + ["bb"] * 11]
    ),
    "transitions": lambda: plots.plot_transitions(transitions()),
    "weights": lambda: plots.plot_weights([("g", "one", 1.0), ("h", "two", -2.0)]),
    "labels": lambda: plots.plot_label_scores([[1, 0], [1, 1]], [[1, 0], [0, 0]], "ab"),
    "rankings": lambda: plots.plot_ranking_curves(
        [2, 0, 1, 0], {"one": [3, 1, 2, 0], "two": [0, 1, 2, 3]}, [1, 1, 2, 2], "ndcg"
    ),
    "alignment": lambda: plots.plot_alignment(
        "HEAG", "HEG", [(0, 0), (1, 1), (2, 2)], [(0, 0), (1, 1), (3, 2)]
    ),
    "path": lambda: plots.plot_alignment_path(
        "HEAG", "HEG", [(0, 0)], [(0, 0), (1, 1)]
    ),
    "substitutions": lambda: plots.plot_substitutions(
        Scoring("ACGT", np.eye(4), -3, -1)
    ),
    "clusters": lambda: plots.plot_clusters(
        document(), CLUSTERS, [(0, 1, 1.0), (2, 3, 0.1)], [0, 0, 1, 2, 0, 2]
    ),
    "logo": lambda: plots.plot_logo(
        Motif("m", np.array([[9.0, 1, 0, 0], [1, 1, 1, 1]]), np.full(4, 0.25), 10),
        title="m",
    ),
    "sites": lambda: plots.plot_site_scores([True, False, True], [1.0, -1.0, 0.5]),
    "links": lambda: plots.plot_links(("the dog", "le chien"), "0-0 0-1", "0-0 1?1"),
    "fractional": lambda: plots.plot_fractional([[0.5, 0.5], [1, 0], [0.2, 0.8]]),
    "segmentation": lambda: plots.plot_segmentation(
        None, [[0, 1], [1, 1]], [[0, 0], [1, 1]]
    ),
    "tree errors": lambda: plots.plot_tree_errors(TREE, FLAT),
    "taxonomy": lambda: plots.plot_taxonomy_errors(
        Taxonomy.from_paths(PATHS), PATHS, PATHS[1:] + PATHS[:1]
    ),
}


@pytest.mark.parametrize("name", PICTURES)
def test_texts_are_inside_and_apart(name):
    figure = PICTURES[name]()
    figure.canvas.draw()
    frame, boxes = figure.bbox.padded(1), []
    for text in figure.findobj(mpl.text.Text):
        if text.get_visible() and text.get_text().strip():
            boxes.append((text.get_text(), text.get_window_extent()))
    inside = [t for t, b in boxes if b.width and b.x0 < frame.x1 and b.y0 < frame.y1]
    assert len(inside) > 2
    titles = [ax.title for ax in figure.axes] + [ax._left_title for ax in figure.axes]
    for text in [*titles, *(ax.xaxis.label for ax in figure.axes)]:
        box = text.get_window_extent()
        if text.get_text():
            assert frame.x0 <= box.x0 <= box.x1 <= frame.x1, text
            assert frame.y0 <= box.y0 <= box.y1 <= frame.y1, text
    for ax in figure.axes:
        ticks = [t for t in ax.get_yticklabels() if t.get_text()]
        names = [*ax.texts, ax._left_title] if name != "alignment" else ticks
        shown = [t.get_window_extent() for t in names if t.get_text().strip()]
        for a, b in itertools.combinations(shown, 2):
            assert not a.padded(-1).overlaps(b.padded(-1)), name
    for legend in [*figure.legends, *(ax.get_legend() for ax in figure.axes)]:
        if legend is not None:
            box = legend.get_window_extent()
            assert frame.x0 <= box.x0
            assert frame.y0 <= box.y0
            assert box.x1 <= frame.x1


@pytest.mark.parametrize(
    "name", ["rankings", "labels", "clusters", "sites", "logo", "path"]
)
def test_axes_have_names(name):
    ax = PICTURES[name]().axes[0]
    assert ax.get_ylabel()
    assert ax.get_title(loc="left")


# convergence -------------------------------------------------------------------------


def test_convergence_with_one_certificate_shows_the_estimate():
    bounds, gap = plots.plot_convergence(ONCE).axes
    lines = {line.get_label(): line for line in bounds.get_lines()}
    assert legend_of(bounds) == list(lines)  # nothing else, as one point has no area
    assert list(lines) == ["primal, proved", "primal, estimated", "dual: a lower bound"]
    guess = lines["primal, estimated"].get_ydata()
    np.testing.assert_allclose(guess[:-1], [10 + 9 / k for k in range(1, 9)])
    assert guess[-1] == 10.2  # where the proof is
    assert not bounds.collections
    names = [line.get_label() for line in gap.get_lines()]
    assert names[:2] == legend_of(gap) == ["proved", "estimated"]


def test_convergence_believes_no_estimate_that_is_the_dual():
    rows = [row(k, math.inf, 5.0, 5.0) for k in (1, 2)] + [row(3, 6.0, 5.5)]
    bounds, gap = plots.plot_convergence(rows).axes
    assert legend_of(bounds) == ["primal, proved", "dual: a lower bound"]
    assert gap.get_legend() is None


def test_history_of_a_fit_has_estimates():
    X, y = ["ACTATAAGC", "GGCTATAAC", "CCGACGTGC", "GGACCAGCA"], [1, 1, 0, 0]
    model = MotifFinder(width=5, order=0).fit(X, y)
    guesses = [r["primal_estimate"] for r in model.history_]
    assert any(g is not None and math.isfinite(g) for g in guesses)
    for r in model.history_:
        assert r["primal_estimate"] is None or r["primal_estimate"] > 0


# other families ----------------------------------------------------------------------


def test_legends_of_clusters_name_what_is_drawn():
    ax = PICTURES["clusters"]().axes[0]
    right, wrong = (text for text in legend_of(ax) if "link" in text)
    assert "inside" in right
    assert "between" in wrong
    plain = plots.plot_clusters(document(), CLUSTERS).axes[0]
    assert legend_of(plain) == ["mention"]
    model = LinkClusterer(C=10).fit([document()], [CLUSTERS])
    links = model.predict_links([document()])[0]
    names = legend_of(plots.plot_clusters(document(), CLUSTERS, links).axes[0])
    assert names == ["mention", "link (thicker: a higher score)"]


def test_clusters_that_are_not_shown_are_counted():
    ax = plots.plot_clusters(document(60), np.repeat(np.arange(30), 2)).axes[0]
    assert len(ax.get_yticks()) == 25
    title = ax.get_title(loc="left")
    assert "30 clusters of several" in title
    assert "the 25 largest are shown" in title


def test_the_logo_goes_to_two_bits():
    ax = PICTURES["logo"]().axes[0]
    assert ax.get_ylim() == (0, 2)
    assert ax.get_ylabel() == "information (bits)"


def test_rankings_have_intervals_of_their_means():
    y, qid = [1, 0, 0, 1], [1, 1, 2, 2]
    ax = plots.plot_ranking_curves(y, {"a": [1.0, 0, 1, 0]}, qid, most=1).axes[0]
    (band,) = ax.collections
    ends = band.get_paths()[0].vertices[:, 1]
    assert (ends.min(), ends.max()) == (0, 1)  # one query right, one wrong
    assert ax.get_lines()[0].get_ydata() == [0.5]
    assert ax.get_ylabel() == "Precision at k"
    sure = plots.plot_ranking_curves(y, {"a": [1.0, 0, 0, 1]}, qid, "ndcg").axes[0]
    low, high = sure.get_ylim()
    assert high - low > 0.15
    assert high <= 1.02


def test_labels_never_predicted_have_recall_only():
    ax = PICTURES["labels"]().axes[0]
    precision, recall = (line.get_ydata() for line in ax.get_lines())
    assert len(precision) == 1
    assert len(recall) == 2
    assert "never predicted" in ax.get_xlabel()
    assert legend_of(ax) == ["precision", "recall"]


def test_paths_name_only_what_they_show():
    ax = plots.plot_alignment_path("AC", "AC", [(0, 0)], [(0, 0)]).axes[0]
    assert legend_of(ax) == ["reference", "predicted, right"]
    assert plots.plot_alignment_path("AC", "AC", [], []).axes[0].get_legend() is None


def test_numbers_on_dark_cells_are_white():
    ax = plots.plot_substitutions(
        Scoring("AB", np.array([[9.0, 1.0], [0.0, -9.0]]))
    ).axes[0]
    assert [t.get_color() for t in ax.texts] == ["white", "#333333", "#333333", "white"]


def test_trees_say_what_frames_mean():
    above, below = PICTURES["tree errors"]().axes
    assert "dashed frames were not found" in above.texts[-1].get_text()
    assert "boxes" not in below.texts[-1].get_text()
    same, _ = plots.plot_tree_errors(TREE, TREE).axes
    assert same.texts[-1].get_text() == "True"
