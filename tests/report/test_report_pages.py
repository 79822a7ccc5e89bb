"""The page of every task as text: whole, by itself, and with all texts escaped."""

import base64
import hashlib
import re
from collections import Counter
from html.parser import HTMLParser

import pytest
from page_cases import EVIL, TASKS

from maxmargin.cli.main import main

pytestmark = pytest.mark.slow  # two models of every task are trained

OWN = {"classify": "sea.<i>crab", "multilabel": "<i>", "kernel": "<b>yes"}
OWN |= {"graph": "<i>sea", "align": "a3<b> and b3", "motif": "<b>", "cluster": "<b>"}
SILENT = ("align", "motif", "graph")  # no place for a script
VOID = {"br", "img", "input", "meta"}


class Page(HTMLParser):
    """Texts, elements and attributes, with a check that elements end in order."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = Counter(), [], []
        self.ids, self.classes, self.open = [], Counter(), []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        self.attributes += attributes
        found = dict(attributes)
        self.ids += [found["id"]] if "id" in found else []
        self.classes.update((found.get("class") or "").split())
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(data)


@pytest.mark.parametrize("task", TASKS)
def test_page(page_of, task):
    source = page_of(task).read_text()
    page = Page(source)
    assert page.tags["script"] == page.tags["html"] == 1
    text = " ".join(page.text)
    assert f"{task}<b>test." in text
    assert task in SILENT or EVIL in text
    assert OWN.get(task, "") in text
    # nothing is fetched, and nothing but our own script runs
    for name, value in page.attributes:
        assert not name.startswith("on")
        if name in ("src", "href"):
            assert value.startswith(("#", "data:image/png;base64,")), value
    assert "url(" not in source
    assert "@import" not in source
    script = re.search(r"<script>(.*?)</script>", source, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(v for n, v in page.attributes if n == "content")
    assert policy.endswith(f"script-src 'sha256-{digest}'")
    # all links within the page lead somewhere, and names are given once
    links = [v[1:] for n, v in page.attributes if n == "href"]
    assert set(links) <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


@pytest.mark.parametrize("task", TASKS)
def test_parts_of_the_page(page_of, task):
    page = Page(page_of(task).read_text())
    sections = {"scores", "comparison", "errors", "training", "features", "examples"}
    assert sections <= set(page.ids)
    probable = task in ("tag", "multilabel", "graph")
    assert ("calibration" in page.ids) == probable
    assert page.classes["card"] >= 2
    assert page.classes["proved"] == 1
    assert page.classes["chart"] >= 1
    text = " ".join(page.text)
    assert "95% interval" in text
    assert "(proved)" in text
    assert page.tags["article"] > 5
    assert "sizes_report" in text or task != "structure"


def test_errors_that_are_shown_can_be_found(page_of):
    """Every kind in the table has an example that is marked with it."""
    for task in TASKS:
        page = Page(page_of(task).read_text())
        picks = {v for n, v in page.attributes if n == "data-pick"}
        marks = {m for n, v in page.attributes if n == "data-kinds" for m in v.split()}
        assert picks
        assert picks <= marks


def test_messages(page_of, tmp_path, capsys):
    folder = page_of("tag").parent
    page_of("classify")
    model, test = str(folder / "tag.model"), str(folder / "tag<b>test.txt")

    def says(*words):
        out = str(tmp_path / "r.html")
        assert main(["report", model, test, "-o", out, *words]) == 2
        assert not (tmp_path / "r.html").exists()
        return capsys.readouterr().err

    other = str(folder / "classify.model")
    assert "is a model of the task 'classify'" in says("--against", other)
    assert "only models of one task can be compared" in says("--against", other)
    assert "no.model" in says("--against", "no.model")
    for words in (["--page", "x.html"], ["--page=x.html"]):
        assert main(["evaluate", model, test, *words]) == 2
        assert "maxmargin report MODEL FILE -o PAGE.html" in capsys.readouterr().err
    test = "-"
    assert "which standard input cannot be" in says("--against", model)


def test_the_page_is_not_written_over_what_is_read(page_of, capsys, tmp_path):
    folder = page_of("tag").parent
    test = tmp_path / "test.html"
    test.write_text((folder / "tag<b>test.txt").read_text())
    before = test.read_bytes()
    assert main(["report", str(folder / "tag.model"), str(test), "-o", str(test)]) == 2
    assert "would be overwritten" in capsys.readouterr().err
    assert test.read_bytes() == before
