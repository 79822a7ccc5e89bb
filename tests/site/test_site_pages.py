"""Commands on the pages of the site run: ``<!-- run -->`` stands above them.

A block of text below is what they print.
"""

import os
import re
import subprocess
import sys

import pytest
from site_tools import ROOT

pytestmark = pytest.mark.slow

COMMANDS = re.compile(
    r"^<!-- run -->\n```sh\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.M | re.S
)
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if COMMANDS.search(page.read_text(encoding="utf-8"))
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_run(page, tmp_path):
    program = tmp_path / "bin" / "maxmargin"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m maxmargin "$@"\n')
    program.chmod(0o755)
    path = os.pathsep.join([str(program.parent), os.environ["PATH"]])
    for commands, shown in COMMANDS.findall(page.read_text(encoding="utf-8")):
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", commands],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert not shown or done.stdout == shown
