"""With MAXMARGIN_COMPLETE=1 nothing is skipped because it is not installed."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
PROJECT = tomllib.loads((TESTS.parent / "pyproject.toml").read_text(encoding="utf-8"))
CALLED = {  # packages that are imported by another name, or come with another one
    "Bio": "biopython",
    "pycrfsuite": "python-crfsuite",
    "cloudpickle": "distributed",
    "fsspec": "distributed",
    "griffe": "mkdocstrings-python",
    "jupyter_client": "nbclient",
    "nbformat": "nbclient",
}
INSIDE = "import pytest\n\ndef test():\n    {}\n"
WHOLE_FILE = "import pytest\n{}\n\ndef test():\n    pass\n"


SKIPPED = {  # {a way to be skipped: whether that is because of what is not installed}
    "pytest.importorskip('no_such_package')": True,
    "pytest.skip('needs a browser', allow_module_level=True)": True,
    "pytest.skip('for two labels', allow_module_level=True)": False,
    "pytest.importorskip('json')": False,
}


@pytest.mark.parametrize("complete", [False, True])
def test_what_is_not_installed_fails(tmp_path, complete):
    for k, skipped in enumerate(SKIPPED):
        (tmp_path / f"test_{k}_inside.py").write_text(INSIDE.format(skipped))
        (tmp_path / f"test_{k}_whole.py").write_text(WHOLE_FILE.format(skipped))
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent / "src")]),
        "MAXMARGIN_COMPLETE": str(int(complete)),
    }
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-c", os.devnull]
    command += ["-p", "no:cacheprovider", "--rootdir", ".", "-rA"]
    done = subprocess.run(
        [*command, "--continue-on-collection-errors", "."],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    found = set(re.findall(r"^(?:FAILED|ERROR) (\w+)\.py", done.stdout, re.MULTILINE))
    expected = {
        f"test_{k}_{where}"
        for k, fails in enumerate(SKIPPED.values())
        for where in ("inside", "whole")
        if fails and complete
    }
    assert found == expected, done.stdout + done.stderr


def test_what_tests_ask_for_is_installed_with_the_tests():
    extras = PROJECT["project"]["optional-dependencies"]
    listed = {re.match(r"[\w-]+", name)[0] for name in extras["test"] + extras["docs"]}
    asked = {
        name
        for path in TESTS.rglob("test_*.py")
        for name in re.findall(r'importorskip\("(\w+)', path.read_text("utf-8"))
    }
    asked -= sys.stdlib_module_names  # some systems lack a few of these
    missing = {CALLED.get(name, name) for name in asked} - listed
    # which make test-torch installs, or nobody: their tests say so
    assert missing == {"torch", "transformers"}
