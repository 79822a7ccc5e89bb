"""What all reports share: plain numbers, DataFrames, tables for notebooks."""

import builtins
import importlib
import json
import math
from html.parser import HTMLParser

import numpy as np
import pytest
from report_cases import cases, report_of

from maxmargin import metrics
from maxmargin.metrics.losses import LossReport
from maxmargin.metrics.report import MOST, Report, plain, shown

NASTY = "<script>alert('x')</script>&\""


class Page(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.open = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize("name", cases())
def test_reports_are_plain_numbers_tables_and_html(name):
    report = report_of(name)
    assert isinstance(report, Report)
    found = report.as_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    frame = report.to_frame()
    assert len(frame)
    assert frame.notna().to_numpy().all()
    page = Page(report._repr_html_())
    assert page.open == []
    assert page.tags == {"div", "b", "table", "tr", "td"} | (
        {"th"} if report._parts()[1] else set()
    )
    assert type(report).__name__ in page.text
    assert all(str(column) in page.text for column in frame.columns)


def test_rows_of_frames_are_kinds():
    report = metrics.span_scores([["B-NP", "I-NP", "O"]], [["B-NP", "I-NP", "B-VP"]])
    frame = report.to_frame()
    assert frame.index.name == "type"
    assert frame.loc["NP", "recall"] == 1.0
    assert frame.loc["VP", "predicted"] == 1
    frame = metrics.class_report([1, 1, 2], [1, 2, 2]).to_frame()
    assert frame.index.tolist() == [1, 2]
    assert frame.loc[1].to_dict() == {
        "n": 2,
        "precision": 1,
        "recall": 0.5,
        "f1": 2 / 3,
    }
    frame = metrics.ranking_scores([0, 1], [2, 1], ["q", "q"], at=(1, 2)).to_frame()
    assert frame.loc[2, "precision"] == 0.5


def test_frames_of_families_and_their_errors():
    pairs = [[(0, 0), (1, 1)], [(0, 0)], [(0, 0)]]
    found = [[(0, 0)], [(0, 0)], [(0, 0)]]
    report = metrics.alignment_report(pairs, found, families=["x", "x", "y"], shift=2)
    frame = report.to_frame()
    assert frame.index.tolist() == ["x", "y"]
    assert list(frame) == ["n", "q", "q_error", "q2", "q2_error", "f_m", "f_m_error"]
    assert frame.loc["x", "q"] == 0.75
    assert math.isnan(frame.loc["y", "q_error"])
    out = report.as_dict()
    assert out["families"]["y"]["q"] == {"mean": 1.0, "standard_error": None}
    assert out["by_family"]["families"] == 2
    assert "alignments" not in out["by_family"]
    assert "<td" in report._repr_html_()


def test_html_escapes_labels():
    y = [[NASTY, "a"]]
    for report in (
        metrics.token_scores(y, y),
        metrics.class_report(y[0], y[0]),
        metrics.graph_scores(y, y),
        metrics.span_scores([[f"B-{NASTY}"]], [["O"]]),
        metrics.alignment_report([[(0, 0)]], [[(0, 0)]], families=[NASTY]),
    ):
        page = report._repr_html_()
        assert "<script" not in page
        assert any(NASTY in text for text in Page(page).text)


def test_html_of_many_kinds_is_cut():
    labels = [f"label {k:02}" for k in range(MOST + 5)]
    report = metrics.class_report(labels, labels)
    page = Page(report._repr_html_())
    assert f"label {MOST}" not in page.text
    assert "and 5 more: to_frame() has all" in page.text
    assert len(report.to_frame()) == MOST + 5


def test_html_asks_nobody_and_has_no_colours_of_text():
    page = metrics.class_report(["a"], ["a"])._repr_html_()
    assert "http" not in page
    assert "background" not in page
    assert ";color" not in page


def test_without_pandas_there_is_a_sentence(monkeypatch):
    load = importlib.import_module

    def without(name, *rest):
        if name == "pandas":
            raise ImportError(name)
        return load(name, *rest)

    monkeypatch.setattr(importlib, "import_module", without)
    with pytest.raises(ImportError, match=r"needs|not installed: pip install pandas"):
        metrics.class_report(["a"], ["a"]).to_frame()


def test_reports_need_no_pandas(monkeypatch):
    load = builtins.__import__

    def without(name, *rest, **more):
        assert name.partition(".")[0] != "pandas"
        return load(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    report = metrics.class_report(["a"], ["a"])
    assert report.as_dict()["accuracy"] == 1.0
    assert report._repr_html_()


def test_plain_values():
    rows = {1: np.float64(2), "x": (np.arange(2), math.nan, np.inf, None, True, "t")}
    assert plain(rows) == {"1": 2.0, "x": [[0, 1], None, None, None, True, "t"]}


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0.5000"), (1.0, "1.0000"), (1234, "1,234"), (None, "-"), (math.nan, "-")],
)
def test_numbers_in_tables(value, text):
    assert shown(value) == text


def test_losses():
    report = LossReport.of([0, 0, 3, 1])
    assert report == LossReport(4, 1.0, 0.5)
    assert report.as_dict() == {"samples": 4, "loss": 1.0, "right": 0.5}
    with pytest.raises(ValueError, match="no samples"):
        LossReport.of([])


@pytest.mark.parametrize(
    ("compare", "message"),
    [
        (lambda: metrics.class_report([], []), "give a class per sample"),
        (lambda: metrics.class_report(["a"], ["a", "b"]), "give a class per sample"),
        (
            lambda: metrics.class_report(["a", None], ["a", "b"]),
            r"several kinds \(NoneType, str\)",
        ),
        (lambda: metrics.motif_scores([True], []), "1 labels but 0 predictions"),
        (lambda: metrics.motif_scores([], []), "0 labels"),
        (lambda: metrics.token_scores([["a"]], []), "predicted has 0"),
        (lambda: metrics.token_scores([["a"]], [["a", "b"]]), "1 labels, but"),
        (lambda: metrics.graph_scores([["a"]], [["a", "b"]]), "differ"),
        (lambda: metrics.multilabel_scores([[1, 0]], [[1]]), "shapes"),
        (lambda: metrics.alignment_scores([], []), "at least one"),
    ],
)
def test_what_cannot_be_compared_is_said(compare, message):
    with pytest.raises(ValueError, match=message):
        compare()
