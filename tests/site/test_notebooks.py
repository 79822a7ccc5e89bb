"""The notebooks: stored without outputs, run once, and what they show is there."""

import ast
import json
import re
import sys

import pytest
from site_tools import ROOT, tool
from sources import parsed

pytestmark = pytest.mark.slow

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
PACKAGES = {"maxmargin", "matplotlib", "networkx", "numpy", "pandas", "sklearn", "Bio"}
SHOWN = {  # lines that texts of cells refer to
    "graphs": [r"alone: +7\d\.\d% of the pixels are right", r"neighbours: 9\d\.\d%"],
    "language": [r"\d of 200 sentences have an error", r"goloen\t_\tVERB"],
    "own_structure": [r"kilometres +1\.00", r"climb +0\.[56]\d +true: 0\.60", "True"],
    "search": ["#document \\d+", r"below +-?0\.00", r"inside +-0\.07"],
    "sequences": ["MEME version 4", "query +0 [ACGT-]+ 36"],
}


def by_name(path):
    return path.stem


def test_there_is_one_for_every_kind_of_user():
    assert {path.stem for path in NOTEBOOKS} == set(SHOWN)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=by_name)
def test_notebooks_are_stored_without_outputs(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    assert notebook["cells"][0]["cell_type"] == "markdown"
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            assert cell["execution_count"] is None


@pytest.mark.parametrize("path", NOTEBOOKS, ids=by_name)
def test_notebooks_import_what_is_installed_for_the_site(path):
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        for node in ast.walk(parsed("".join(cell["source"]))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                package = name.partition(".")[0]
                assert package in PACKAGES or package in sys.stdlib_module_names


@pytest.mark.parametrize("path", NOTEBOOKS, ids=by_name)
def test_notebooks_run_and_show(path):
    """After ``make docs`` nothing runs again."""
    pytest.importorskip("nbclient")
    made = tool("notebooks").run(path)
    cells = json.loads((made / "output.json").read_text(encoding="utf-8"))
    outputs = [output for cell in cells for output in cell["outputs"]]
    html = [output["html"] for output in outputs if "html" in output]
    text = "\n".join(output["text"] for output in outputs if "text" in output)
    assert any("picture" in output for output in outputs)
    assert any("Report</b>" in piece for piece in html)
    if path.stem != "own_structure":  # which draws its own
        assert any("mm-view" in piece for piece in html)
    for line in SHOWN[path.stem]:
        assert re.search(line, text), text


CELLS = [
    {"kind": "markdown", "source": "# Title\n\nWords.", "outputs": []},
    {
        "kind": "code",
        "source": "1 < 2",
        "outputs": [
            {"text": "True\n"},
            {"picture": "1-1.png"},
            {"html": "<b>bold</b>  \n\n<i>x</i>"},
        ],
    },
]


def test_cells_become_a_page(tmp_path, monkeypatch):
    notebooks = tool("notebooks")
    path = tmp_path / "one.ipynb"
    path.write_text(json.dumps({"cells": [{"source": ["# Title\n", "\n", "Words."]}]}))
    made = tmp_path / "made"
    made.mkdir()
    (made / "output.json").write_text(json.dumps(CELLS))
    (made / "1-1.png").write_bytes(b"png")
    monkeypatch.setattr(notebooks, "paths", lambda: [path])
    monkeypatch.setattr(notebooks, "run", lambda path, store: made)
    files = notebooks.build()
    page = files["notebooks/one.md"]
    assert page.startswith(
        "# Title\n\nWords.\n\n```python\n1 < 2\n```\n\n```text\nTrue"
    )
    assert "](images/one-1-1.png)" in page
    assert files["notebooks/images/one-1-1.png"] == b"png"
    assert "[Title](one.md)" in files["notebooks/index.md"]
    pieces = {"notebooks/one.md#0": files["html/notebooks/one.md#0"]}
    html = notebooks.with_html(page, "notebooks/one.md", pieces)
    assert '<div class="shown"><b>bold</b>' in html
    assert notebooks.with_html(page, "other.md", pieces) == page


WARNS = "import warnings\nwarnings.warn('careful')\n"


@pytest.mark.parametrize("source", ["1 / 0", WARNS], ids=["error", "warning"])
def test_a_cell_that_fails_or_warns_ends_the_build(tmp_path, source):
    pytest.importorskip("nbclient")
    cell = {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [{**cell, "id": "one", "execution_count": None}],
    }
    path = tmp_path / "bad.ipynb"
    path.write_text(json.dumps(notebook))
    with pytest.raises(tool("kept").BrokenExample, match=r"division by zero|careful"):
        tool("notebooks").run(path, tmp_path / "store")
