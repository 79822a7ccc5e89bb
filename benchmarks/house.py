"""The shape of the source: how far a fit has to walk, and who knows whom.

    python benchmarks/house.py

prints a line for each bound, and ends with 1 if one does not hold. Steps are counted in
a fit of toy data that has run before (``tests/steps.py``). What the source says is read,
not run (``tests/test_layers.py``): imports inside functions, imports of a module from a
folder above its own, and families that import each other.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from steps import FITS, microseconds_of_run, steps  # noqa: E402
from test_layers import EDGES, LATE, LATE_ONES, SOURCE, level  # noqa: E402

from maxmargin.families import FAMILIES  # noqa: E402

STEPS = {"tags": (24, 75), "graphs": (28, 90), "kernels": (30, 110)}  # files, pairs
# The source before it was put in order (f01df20), and what should go at equal features.
# What looks at models came later: it is counted apart.
LINES, FEWER = 82_814, 6_000
LATER = ("report", "views", "findings.py", "view.py", "scorers.py")
UPWARD, PAIRS, MICROSECONDS, ERRORS = 0, 4, 5.0, 0


def lines() -> tuple[int, int]:
    """(all lines of the source, those of what looks at models)."""
    whole = later = 0
    for path in SOURCE.rglob("*.py"):
        count = len(path.read_text().splitlines())
        whole += count
        parts = path.relative_to(SOURCE).parts
        later += count * (parts[0] in LATER or parts[-1] in LATER)
    return whole, later


def mypy_errors() -> int | None:
    """Of the public modules, as in ``make lint``; None where mypy is not installed."""
    program = shutil.which("mypy", path=str(Path(sys.executable).parent))
    if program is None:
        return None
    names = subprocess.run(
        [sys.executable, ROOT / "tests" / "public_modules.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    command = [program, *names.stdout.split()]
    out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return sum(": error:" in line for line in out.stdout.splitlines())


def main() -> int:
    bad = 0

    def line(what: str, value, bound=None, more: str = "") -> None:
        nonlocal bad
        good = bound is None or (value is not None and value <= bound)
        bad += not good
        word = "pass" if good else "FAIL" if value is not None else "not measured"
        shown = "-" if value is None else f"{value:,.6g}"
        ends = f"{bound:>9,}  {word}  {more}" if bound is not None else ""
        print(f"{what:44}{shown:>9}{ends}".rstrip())

    warnings.simplefilter("ignore")
    for name, fit in FITS.items():
        files, pairs = steps(fit)
        line(f"a warm fit of {name}: files entered", len(files), STEPS[name][0])
        line(f"a warm fit of {name}: pairs of functions", len(pairs), STEPS[name][1])
    line("kernel.run of nothing, microseconds", microseconds_of_run(), MICROSECONDS)
    whole, later = lines()
    line("lines of src", whole)
    line("  of what looks at models, which came later", later)
    line("  of all else", whole - later, LINES - FEWER, f"{LINES:,} before")
    line("imports inside functions", LATE_ONES, LATE)
    upward = {e: n for e, n in EDGES.items() if level(e[1]) > level(e[0])}
    upward = {e: n for e, n in upward.items() if e[1] != "cli"}
    names = ", ".join(f"{a} -> {b} {n}" for (a, b), n in upward.items())
    line("imports upwards", sum(upward.values()), UPWARD, names)
    known = {tuple(sorted(edge)) for edge in EDGES if set(edge) <= set(FAMILIES)}
    names = ", ".join(f"{a}-{b}" for a, b in sorted(known))
    line("pairs of families that know each other", len(known), PAIRS, names)
    line("errors of mypy", mypy_errors(), ERRORS)
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
