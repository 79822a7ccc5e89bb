"""The page of tagged sentences: what it shows, not how."""

import os
from html.parser import HTMLParser

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

from maxmargin.plots import (
    tagged_page,
)

matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    """Every figure is drawn once, so that layout warnings show, and then closed."""
    yield
    for number in pyplot.get_fignums():
        pyplot.figure(number).canvas.draw()
    pyplot.close("all")


class Page(HTMLParser):
    """The sentences of a page: words with hints, and spans."""

    def __init__(self, path):
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.tags, self.sentences, self.open = set(), [], []
        self.feed(self.source)
        assert not self.open, "every element must be closed"

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        attributes = dict(attributes)
        assert not {name for name in attributes if name.startswith("on")}
        assert not {"src", "href"} & set(attributes)
        if tag in ("meta",):
            return
        self.open.append((tag, attributes))
        if tag == "li":
            self.sentences.append({"number": "", "words": [], "spans": []})
        elif tag == "mark" and self.sentences:
            self.sentences[-1]["spans"].append(([], []))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if not self.sentences or not self.open:
            return
        tag, attributes = self.open[-1]
        here = self.sentences[-1]
        if tag == "b":
            here["number"] = data
        elif tag == "u":
            wrong = attributes.get("class") == "x"
            here["words"].append((data, attributes["title"], wrong))
            if any(name == "mark" for name, _ in self.open):
                here["spans"][-1][0].append(data)
        elif tag == "i":
            here["spans"][-1][1].append(data)


WORDS = [["Ann", "Lee", "saw", "Rome"], ["Yes"], []]
LABELS = [["B-PER", "I-PER", "O", "B-LOC"], ["O"], []]


def test_page_joins_spans(tmp_path):
    path = tmp_path / "page.html"
    truth = [["B-PER", "I-PER", "O", "B-ORG"], ["O"], []]
    tagged_page(WORDS, LABELS, path, truth=truth, title="Names & places")
    page = Page(path)
    first = page.sentences[0]
    assert first["spans"] == [(["Ann", "Lee"], ["PER"]), (["Rome"], ["LOC"])]
    assert first["words"][0] == ("Ann", "B-PER", False)
    assert first["words"][3] == ("Rome", "B-LOC, but the truth is B-ORG", True)
    assert [s["number"] for s in page.sentences] == ["0", "1", "2"]
    assert "All 3 sentences" in page.source
    assert "1 of the 5 labels shown are wrong" in page.source
    assert "<title>Names &amp; places</title>" in page.source
    assert "prefers-color-scheme: dark" in page.source
    assert "script" not in page.tags
    assert "link" not in page.tags
    assert "http" not in page.source.replace("http-equiv", "")


def test_page_of_labels_without_scheme(tmp_path):
    path = tmp_path / "page.html"
    tagged_page([["a", "b"]], [["DT", "NN"]], path)
    assert Page(path).sentences[0]["spans"] == [(["a"], ["DT"]), (["b"], ["NN"])]
    tagged_page([["a", "b"]], [np.array([7, 8])], path)
    assert Page(path).sentences[0]["spans"] == [(["a"], ["7"]), (["b"], ["8"])]
    tagged_page([["a", "b"]], [["B", "I"]], path)
    assert Page(path).sentences[0]["spans"] == [(["a", "b"], [])]


def test_page_escapes_everything(tmp_path):
    path = tmp_path / "page.html"
    evil = "</style><script>alert('1')</script>\"&<b>"
    tagged_page([[evil]], [[evil]], path, truth=[[evil + "'"]], title=evil)
    page = Page(path)
    assert "script" not in page.tags
    assert page.sentences[0]["words"] == [
        (evil, f"{evil}, but the truth is {evil}'", True)
    ]
    tagged_page([["a\0b", "\ud800", "\N{RIGHT-TO-LEFT OVERRIDE}"]], [["x"] * 3], path)
    words = [word for word, _, _ in Page(path).sentences[0]["words"]]
    assert words[0] == "a\N{REPLACEMENT CHARACTER}b"
    assert words[1] == "\N{REPLACEMENT CHARACTER}"


def test_page_shows_probabilities(tmp_path):
    path = tmp_path / "page.html"
    classes = np.array(["B-LOC", "B-PER", "I-PER", "O"])
    tables = [np.full((4, 4), 0.2), np.array([[0, 0, 0, 1.0]]), np.zeros((0, 4))]
    tables[0][3, 0] = 0.625
    tagged_page(WORDS, LABELS, path, marginals=tables, classes=classes)
    page = Page(path)
    assert page.sentences[0]["words"][3][1] == "B-LOC (0.625)"
    assert 'Rome<s style="width:62.5%"></s>' in page.source
    assert 'Yes<s style="width:100.0%"></s>' in page.source
    given = [[0.2, 0.2, 0.2, 0.625], [1.0], []]
    tagged_page(WORDS, LABELS, path, marginals=given)
    assert Page(path).source == page.source


def test_page_limit_and_order(tmp_path):
    path = tmp_path / "page.html"
    words, labels = [[f"w{i}"] for i in range(300)], [["N"]] * 300
    tagged_page(words, labels, path)
    page = Page(path)
    assert len(page.sentences) == 200
    assert "The first 200 of 300 sentences" in page.source
    chances = [[1 - i / 1000] for i in range(300)]
    tagged_page(words, labels, path, marginals=chances, limit=3, order="uncertain")
    page = Page(path)
    assert [s["number"] for s in page.sentences] == ["299", "298", "297"]
    assert "The least certain 3 of 300 sentences" in page.source
    tagged_page([], [], path)
    assert "All 0 sentences" in Page(path).source


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"words": "Ann"}, "words is 'Ann'"),
        ({"words": ["Ann"]}, r"words\[0\] is 'Ann'"),
        ({"words": [["a", "b", "c", {"w": 1}], ["d"], []]}, "words must be strings"),
        ({"labels": LABELS[:2]}, "words has 3 sentences, but labels has 2"),
        ({"labels": [["O"] * 4, [], []]}, r"words\[1\] has 1 tokens, but labels\[1\]"),
        ({"labels": [["O"] * 4, [["O"]], []]}, r"labels\[1\] holds \['O'\]"),
        ({"truth": [["O"] * 3, ["O"], []]}, r"but truth\[0\] has 3"),
        ({"truth": [["O"] * 4, [None], []]}, r"truth\[1\] holds None"),
        ({"marginals": [np.ones(4), np.ones(1)]}, "but marginals has 2"),
        ({"marginals": [[1, 1, 1, 2], [1], []]}, r"marginals\[0\] must be"),
        ({"marginals": [[1, 1, 1, np.nan], [1], []]}, r"marginals\[0\] must be"),
        ({"marginals": [np.ones((4, 2)), np.ones((1, 2)), []]}, "say in classes"),
        (
            {"marginals": [np.ones((4, 2)), [[1, 1]], []], "classes": ["O"]},
            "2 columns, but there are 1",
        ),
        (
            {"marginals": [np.ones((4, 1)), [[1]], []], "classes": ["O"]},
            r"labels\[0\] holds 'B-PER', which is not in classes",
        ),
        ({"limit": 0}, "limit=0"),
        ({"limit": True}, "limit=True"),
        ({"order": "last"}, "order='last'"),
        ({"order": "uncertain"}, "needs marginals"),
    ],
)
def test_page_checks_its_input(tmp_path, change, message):
    path = tmp_path / "page.html"
    path.write_text("old")
    given = {"words": WORDS, "labels": LABELS, "path": path, **change}
    with pytest.raises(ValueError, match=message):
        tagged_page(**given)
    assert path.read_text() == "old"


def test_page_is_written_at_once_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        tagged_page(WORDS, LABELS, path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["page.html"]


def test_page_needs_a_place(tmp_path):
    with pytest.raises(ValueError, match="not a regular file"):
        tagged_page(WORDS, LABELS, tmp_path)
    with pytest.raises(FileNotFoundError, match="directory does not exist"):
        tagged_page(WORDS, LABELS, tmp_path / "no" / "page.html")
