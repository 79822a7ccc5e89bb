"""The pages of the documentation run as they stand, and so do the docstrings.

A block of text below a block of Python is what that prints.
"""

import contextlib
import doctest
import importlib
import importlib.util
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
STRUCTURE_PAGE = ROOT / "docs" / "add-a-structure.md"
SOURCES = ROOT / "src"
# every module whose docstrings have examples
MODULES = [
    ".".join(path.relative_to(SOURCES).with_suffix("").parts)
    for path in sorted(SOURCES.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


END = "\x1e"  # printed after every block of Python
SHOWN = re.compile(r"^```python\n.*?^```$(?:\n\n```text\n(.*?)^```$)?", re.M | re.S)


def python_of(text):
    """A page's Python as one module, every line at the number it has on the page."""
    lines, inside = [], False
    for line in text.splitlines():
        if line.startswith("```"):
            lines.append(f"print({END!r}, end='')" if inside else "")
            inside = line == "```python"
        else:
            lines.append(line if inside else "")
    return "\n".join(lines) + "\n"


def need_torch(source):
    """Where it is not installed, what needs it is tested by make test-torch alone."""
    if "maxmargin.torch" in source or "NeuralTagger" in source:
        reason = "torch is not installed: make test-torch"
        pytest.importorskip("torch", reason=reason)


def name_of(page):
    return page.stem.lower().replace("-", "_") + "_page"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_runs(page, tmp_path, monkeypatch, pytestconfig):
    text = page.read_text(encoding="utf-8")
    source = python_of(text)
    need_torch(source)
    module = tmp_path / f"{name_of(page)}.py"
    module.write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)  # pages save files
    if "@implements(" in source or "@kernel" in source:
        # Kernels of the page are kept in a folder of their own, and the module is imported
        # as a user's file would be.
        cache = pytestconfig.cache.mkdir(name_of(page))
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", f"import {module.stem}"],
            env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed = done.stdout
    else:
        spec = importlib.util.spec_from_file_location(module.stem, module)
        monkeypatch.setitem(
            sys.modules, module.stem, importlib.util.module_from_spec(spec)
        )
        with contextlib.redirect_stdout(io.StringIO()) as out:
            spec.loader.exec_module(sys.modules[module.stem])
        printed = out.getvalue()
    *printed, _ = printed.split(END)
    for shown, there in zip(SHOWN.findall(text), printed, strict=True):
        assert not shown or there == shown


def test_a_structure_is_one_short_file():
    page = STRUCTURE_PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"<!-- structure -->\n```python\n(.*?)```", page, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.strip()]
    assert any("class Segments" in line for line in lines)
    assert len(lines) < 80
    assert f"{len(lines)} lines of Python" in page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_and_headings(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{page.name} links to {path}, which is not there."
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE)
            slugs = [re.sub(r"[^\w\- ]", "", h).lower() for h in headings]
            assert anchor in [slug.replace(" ", "-") for slug in slugs], link


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_run(name):
    need_torch(name)
    module = importlib.import_module(name)
    assert doctest.testmod(module).failed == 0
