"""What is released: a source archive that is whole, and a wheel that works alone."""

import os
import subprocess
import sys
import tarfile
import tomllib
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PYTHON_BLOCK = "```python\n"


def run(*words, cwd=None):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        words, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def build(kind, source, folder):
    """The archive of a source tree that hatchling makes."""
    before = set(folder.iterdir())
    run(
        sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder, cwd=source
    )
    (made,) = set(folder.iterdir()) - before
    return made


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("sdist")
    archive = build("sdist", ROOT, folder)
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def test_the_sdist_has_what_its_tests_and_pages_need(sdist):
    def files(root, folder, suffix="*.py"):
        return sorted(p.relative_to(root) for p in (root / folder).rglob(suffix))

    for folder in ("src", "tests", "docs", "benchmarks", "reproduction"):
        assert files(sdist, folder) == files(ROOT, folder)
    for name in (
        "Makefile",
        "CONTRIBUTING.md",
        "CITATION.cff",
        "pyproject.toml",
        "mkdocs.yml",
    ):
        assert (sdist / name).is_file()
    assert (sdist / "pyproject.toml").is_file()
    models = "tests/files/models"
    assert files(sdist, models, "*.safetensors") == files(ROOT, models, "*.safetensors")


@pytest.mark.slow
def test_the_wheel_runs_the_first_example_in_an_empty_environment(sdist, tmp_path):
    (tmp_path / "dist").mkdir()
    wheel = build("wheel", sdist, tmp_path / "dist")
    home = tmp_path / "empty"
    venv.create(home, with_pip=False)
    python = home / "bin" / "python"
    # Nothing is downloaded: what the wheel needs is found where this Python has it.
    run(
        *(sys.executable, "-m", "pip", "--disable-pip-version-check"),
        *("--python", python, "install", "--no-deps", "--no-index", wheel),
    )
    packages = Path(
        run(python, "-c", "import site; print(site.getsitepackages()[0])")[:-1]
    )
    others = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "others.pth").write_text("\n".join(others), encoding="utf-8")

    version = run(home / "bin" / "maxmargin", "--version").split()[1]
    assert version == PROJECT["project"]["version"]
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    example = page.partition(PYTHON_BLOCK)[2].partition("```")[0]
    assert "MulticlassSVM" in example
    (tmp_path / "first.py").write_text(
        f"{example}\nimport maxmargin\nprint(maxmargin.__file__)\n", encoding="utf-8"
    )
    where = run(python, "-W", "error", "first.py", cwd=tmp_path)
    assert Path(where.splitlines()[-1]).is_relative_to(packages)


def test_the_citation_is_of_this_version():
    lines = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {PROJECT['project']['version']}" in lines
    assert f"license: {PROJECT['project']['license']}" in lines


def test_numba_has_bounds_and_the_lower_one_is_tried():
    (numba,) = [d for d in PROJECT["project"]["dependencies"] if d.startswith("numba")]
    lower, upper = numba.removeprefix("numba>=").split(",<")
    tried = (ROOT / ".github" / "oldest.txt").read_text(encoding="utf-8")
    assert f"numba=={lower}.0" in tried
    assert [int(part) for part in lower.split(".")] < [int(p) for p in upper.split(".")]
