"""``maxmargin warmup``: what it compiles is what the next process loads."""

import json
import os
import subprocess
import sys

import pytest

from maxmargin.cli.main import main
from maxmargin.warmup import TASKS

pytestmark = pytest.mark.slow

NEXT = """
import json
from maxmargin.core.kernel import cache_statistics
from maxmargin.warmup import run
run("classify")
print(json.dumps(cache_statistics()))
"""


def test_the_next_process_compiles_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert main(["warmup", "classify"]) == 0
    assert capsys.readouterr().out.startswith("classify  compiled in ")
    found = subprocess.check_output([sys.executable, "-c", NEXT], env=os.environ)
    statistics = json.loads(found)
    assert statistics
    assert not any(compiled for _, compiled in statistics.values())


def test_unknown_tasks_are_refused_before_any_work(capsys):
    assert main(["warmup", "tag", "everything"]) == 2
    error = capsys.readouterr().err
    assert "task 'everything' is not known; choose from align, classify" in error


def test_a_task_that_fails_is_named(monkeypatch, capsys):
    def broken():
        raise OSError

    monkeypatch.setitem(TASKS, "only-here", broken)  # its process does not know it
    assert main(["warmup", "only-here"]) == 2
    assert "warming up for 'only-here' failed: KeyError" in capsys.readouterr().err


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_a_name_of_the_command_line(task):
    assert task == task.lower().replace("_", "-")
