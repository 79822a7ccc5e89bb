"""Pictures of substitution scores and alignments: what they show."""

import itertools

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402

from maxmargin.alignments.export import Scoring  # noqa: E402
from maxmargin.alignments.files.pairs import paired_columns  # noqa: E402
from maxmargin.alignments.plots import _break_lines, letter_order  # noqa: E402
from maxmargin.plots import (  # noqa: E402
    plot_alignment,
    plot_alignment_path,
    plot_substitutions,
)

AMINO = "ARNDCQEGHILKMFPSTWYV"


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def texts(ax):
    return [t.get_text() for t in ax.texts]


def test_amino_acids_are_ordered_by_groups():
    order, edges = letter_order(AMINO)
    assert sorted(order) == list(range(20))
    shown = "".join(AMINO[k] for k in order)
    assert shown == "GASTCVILMFYWHKRDENQP"
    assert edges == [4, 5, 9, 12, 15, 19]
    order, edges = letter_order(AMINO + "X")
    assert (order[-1], edges[-1]) == (20, 20)
    assert letter_order("ACGT") == ([0, 1, 2, 3], [])


def test_heat_map_shows_the_matrix(tmp_path):
    matrix = np.arange(400.0).reshape(20, 20)
    path = tmp_path / "matrix.png"
    figure = plot_substitutions(Scoring(AMINO, matrix, -3.0, -1.0), path=path)
    assert path.read_bytes()[:4] == b"\x89PNG"
    ax = figure.axes[0]
    order, _ = letter_order(AMINO)
    assert np.array_equal(ax.images[0].get_array(), matrix[np.ix_(order, order)])
    limit = ax.images[0].get_clim()[1]
    beyond = np.abs(ax.images[0].get_array()) > limit
    assert 0 < beyond.sum() < 10
    assert len(texts(ax)) == beyond.sum()  # those have numbers
    names = [t.get_text() for t in ax.get_yticklabels()]
    assert names == [AMINO[k] for k in order]
    assert "1 per letter" in ax.get_title(loc="left")


def test_one_strong_pair_does_not_wash_out_the_rest():
    matrix = np.full((20, 20), -1.0)
    np.fill_diagonal(matrix, 2.0)
    matrix[AMINO.index("C"), AMINO.index("C")] = 40.0
    ax = plot_substitutions(Scoring(AMINO, matrix)).axes[0]
    assert ax.images[0].get_clim() == (-1.0, 1.0)
    assert sorted(texts(ax)) == ["2"] * 19 + ["40"]


def test_small_matrices_have_numbers_and_an_ax_may_be_given():
    _, ax = pyplot.subplots()
    scoring = Scoring("AB", np.array([[1.0, -2.0], [0.0, 3.0]]), 0.0, -0.5)
    assert plot_substitutions(scoring, ax=ax) is ax.figure
    assert texts(ax) == ["1", "\N{MINUS SIGN}2", "0", "3"]
    title = ax.get_title(loc="left")
    assert title.endswith("\nA letter in a gap scores \N{MINUS SIGN}0.5")
    zero = plot_substitutions(Scoring("AB", np.zeros((2, 2))))
    assert zero.axes[0].get_title(loc="left") == "Scores of matched letters"


def test_alignment_shows_letters_agreement_and_counts():
    figure = plot_alignment(
        "HEAG",
        "HEG",
        [(0, 0), (1, 1), (2, 2)],
        [(0, 0), (1, 1), (3, 2)],
        ("x", "y" * 20),
    )
    ax = figure.axes[0]
    shown = texts(ax)
    assert "predicted" in shown
    assert "reference" in shown
    letters = [t for t in shown if len(t) == 1 and t not in "xy"]
    assert letters[-2:] == ["A", "A"]  # of the legend
    assert shown[-4:] == ["pair in both", "A", "pair in one of the two only", "- gap"]
    letters = letters[:-2]
    assert "".join(letters) == "HHEEAGG-" + "HHEEA-GG"
    assert (
        sum(t.startswith("yyy") and len(t) == 12 for t in shown) == 2
    )  # the long name is cut
    assert len(ax.patches) == 4 + 1  # two pairs agree, in both alignments; the legend
    assert ax.get_title(loc="left") == (
        "2 of 3 pairs found (67%), 67% of 3 predicted are right"
    )


def test_long_alignments_are_broken_where_they_belong_together():
    a, b = "A" * 190, "C" * 170
    one, two = [(i, i) for i in range(170)], [(i + 20, i) for i in range(170)]
    columns = [paired_columns(a, b, pairs) for pairs in (one, two)]
    lines = _break_lines(columns)
    assert max(hi - lo for cut in lines for lo, hi in cut) <= 80
    for k in range(2):
        assert lines[0][k][0] == 0
        assert lines[-1][k][1] == len(columns[k])
        assert all(p[k][1] == q[k][0] for p, q in itertools.pairwise(lines))
    plot_alignment(a, b, one, two)
    plot_alignment("AC", "GT", [], [])


def test_paths(tmp_path):
    path = tmp_path / "path.svg"
    figure = plot_alignment_path(
        "HEAG", "HEG", [(0, 0), (2, 2)], [(0, 0), (1, 1)], np.eye(4, 3), path=path
    )
    assert b"<svg" in path.read_bytes()
    lines = {line.get_label(): line for line in figure.axes[0].lines}
    assert lines["reference"].get_xydata().tolist() == [[0, 0], [1, 1]]
    assert lines["predicted, right"].get_xydata().tolist() == [[0, 0]]
    assert lines["predicted, wrong"].get_xydata().tolist() == [[2, 2]]
    with pytest.raises(ValueError, match="scores have shape"):
        plot_alignment_path("HEAG", "HEG", [], [], np.eye(3))
    plot_alignment_path("HEAG", "HEG", [], [], np.zeros((4, 3)))


def test_bad_alignments_are_refused():
    with pytest.raises(ValueError, match="pair 0"):
        plot_alignment("AC", "AC", [(5, 0)], [])
