"""Pages of the site print what they show, and their commands run."""

import contextlib
import io
import os
import re
import subprocess
import sys

import pytest
from site_tools import ROOT

pytestmark = pytest.mark.slow

PAGES = sorted((ROOT / "docs").glob("*.md"))
PYTHON = re.compile(r"^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", re.M | re.S)
COMMANDS = re.compile(r"^<!-- run -->\n```sh\n(.*?)^```", re.M | re.S)


def having(pattern, group):
    """Pages in which a block is checked here."""
    texts = {page: page.read_text(encoding="utf-8") for page in PAGES}
    found = [p for p, t in texts.items() if any(m[group] for m in pattern.finditer(t))]
    return pytest.mark.parametrize("page", found, ids=[path.stem for path in found])


@having(PYTHON, 2)
def test_pages_show_what_they_print(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {"__name__": page.stem}
    for block, shown in PYTHON.findall(page.read_text(encoding="utf-8")):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, str(page), "exec"), names)
        if shown:
            assert printed.getvalue() == shown


@having(COMMANDS, 1)
def test_commands_run(page, tmp_path):
    program = tmp_path / "bin" / "maxmargin"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m maxmargin "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    for commands in COMMANDS.findall(page.read_text(encoding="utf-8")):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
