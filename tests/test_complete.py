"""With MAXMARGIN_COMPLETE=1 nothing is skipped because it is not installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parent
INSIDE = "import pytest\n\ndef test():\n    {}\n"
WHOLE_FILE = "import pytest\n{}\n\ndef test():\n    pass\n"


@pytest.mark.parametrize("file", [INSIDE, WHOLE_FILE], ids=["test", "file"])
@pytest.mark.parametrize(
    ("skipped", "fails"),
    [
        ("pytest.importorskip('no_such_package')", True),
        ("pytest.skip('needs a browser', allow_module_level=True)", True),
        ("pytest.skip('for two labels', allow_module_level=True)", False),
        ("pytest.importorskip('json')", False),
    ],
)
def test_what_is_not_installed_fails(tmp_path, file, skipped, fails):
    (tmp_path / "test_one.py").write_text(file.format(skipped))
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-c", os.devnull]
    for complete in (False, True):
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent / "src")]),
            "MAXMARGIN_COMPLETE": str(int(complete)),
        }
        done = subprocess.run(
            [*command, "-p", "no:cacheprovider", "--rootdir", ".", "test_one.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        failed = "MAXMARGIN_COMPLETE=1 is set" in done.stdout
        assert failed == (fails and complete), done.stdout + done.stderr
