"""The family that docs/contributing/new-family.md adds: a folder, and one word."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import maxmargin

PAGE = Path(__file__).parents[1] / "docs" / "contributing" / "new-family.md"


def test_a_family_is_a_folder_and_a_word(tmp_path):
    library = tmp_path / "maxmargin"
    here = Path(maxmargin.__file__).parent
    shutil.copytree(here, library, ignore=shutil.ignore_patterns("__pycache__"))
    (library / "ordinal").mkdir()
    text = PAGE.read_text()
    for title, code in re.findall(
        r"^## (.*?)\n.*?^```py\n(.*?)^```", text, re.M | re.S
    ):
        path = (
            library / title.strip("`")
            if title.endswith(".py`")
            else tmp_path / "use.py"
        )
        path.write_text(code)
    families, last = library / "families.py", '    "graphs",\n'
    families.write_text(families.read_text().replace(last, f'{last}    "ordinal",\n'))
    command = [sys.executable, "-W", "error", "use.py"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(list((library / "ordinal").glob("*.py"))) == 4
