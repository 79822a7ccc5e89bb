"""The shape of the source: how far a fit has to walk, and who knows whom.

    python benchmarks/house.py

prints a line for each bound, and ends with 1 if one does not hold. Steps are counted in
a fit of toy data that has run before: files of the library that it enters, and pairs of
functions in different files of which one calls the other. What the source says is read,
not run: imports inside functions, imports of a module from a folder above its own, and
families that import each other.
"""

from __future__ import annotations

import ast
import collections
import shutil
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import maxmargin
from maxmargin import GraphLabeler, KernelSVM, SequenceTagger
from maxmargin.families import FAMILIES

SOURCE = Path(maxmargin.__file__).parent
# from the bottom: a folder imports from those before it, and families from no other
LAYERS = (
    "kernels",
    "files",
    "engine",
    "core",
    "views",
    "metrics",
    "solvers",
    "fitting",
    "plots",
)
STEPS = {"tags": (24, 75), "graphs": (28, 90), "kernels": (30, 110)}  # files, pairs
LINES = 84_071 - 6_000
LATE, UPWARD, PAIRS, MICROSECONDS, ERRORS = 100, 0, 4, 5.0, 0


# steps of a fit -----------------------------------------------------------------------


def fit_tags():
    X = [[["the"], ["dog"], ["barks"]], [["dogs"], ["bark"]]]
    SequenceTagger(C=10).fit(X, [["D", "N", "V"], ["N", "V"]])


def toy_graphs():
    square = [(0, 1), (1, 2), (2, 3), (3, 0)]
    nodes = [[1.0], [0.2], [-1.0], [-0.1]], [[0.5], [1.0], [0.3], [0.8]]
    return [(rows, square) for rows in nodes], [["a", "a", "b", "b"], ["a"] * 4]


def fit_graphs():
    GraphLabeler(C=10).fit(*toy_graphs())


def fit_kernels():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 3
    X = rng.normal(size=(40, 4)) + 2.0 * np.eye(3, 4)[y]
    KernelSVM(C=10, n_components=10).fit(X, y)


def steps(fit: Callable[[], None]) -> tuple[int, int]:
    """(files entered, pairs of functions in different files that call each other)."""
    files, pairs = set(), set()
    root = str(SOURCE)

    def watch(frame, event, _):
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(root):
            return
        files.add(name)
        caller = frame.f_back
        if caller is None or caller.f_code.co_filename == name:
            return
        if caller.f_code.co_filename.startswith(root):
            pairs.add((caller.f_code, frame.f_code))

    fit()
    sys.setprofile(watch)
    try:
        fit()
    finally:
        sys.setprofile(None)
    return len(files), len(pairs)


def microseconds_of_run() -> float:
    """What it takes to call a kernel that does nothing, for graphs."""
    from maxmargin.core.kernel import kernel, run

    @kernel
    def nothing(batch):
        return 0

    batch = GraphLabeler()._encode(*toy_graphs(), None).batch
    run(nothing, batch)
    best = np.inf
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(1000):
            run(nothing, batch)
        best = min(best, (time.perf_counter() - began) * 1e3)
    return best


# what the source says -----------------------------------------------------------------


def sources() -> Iterator[tuple[str, ast.Module, str]]:
    """(folder below the library, tree, text) of every file; "" is the library itself."""
    for path in sorted(SOURCE.rglob("*.py")):
        text, parts = path.read_text(), path.relative_to(SOURCE).parts
        yield parts[0] if len(parts) > 1 else "", ast.parse(text), text


def imports(tree: ast.AST, late: bool = False) -> Iterator[tuple[ast.stmt, bool]]:
    """(an import, whether it is inside of a function); not those for types alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, late
        inside = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        yield from imports(node, late or inside)


def folder_of(node: ast.stmt) -> str:
    """The folder of the library that it imports from."""
    name = getattr(node, "module", None) or node.names[0].name
    parts = name.split(".")
    folder = parts[1] if parts[0] == "maxmargin" and len(parts) > 1 else ""
    return folder if (SOURCE / folder).is_dir() else ""


def level(folder: str) -> int:
    return LAYERS.index(folder) if folder in LAYERS else len(LAYERS)


def read() -> dict[str, collections.Counter]:
    """Lines, late imports, imports upwards (from, to), families that know each other."""
    found = collections.defaultdict(collections.Counter)
    for folder, tree, text in sources():
        found["lines"][folder] += len(text.splitlines())
        for node, late in imports(tree):
            other = folder_of(node)
            found["late"][folder] += late
            if other == folder or "" in (folder, other):
                continue
            if not late and folder in LAYERS and level(other) > level(folder):
                found["upward"][folder, other] += 1
            if folder in FAMILIES and other in FAMILIES:
                found["pairs"][tuple(sorted((folder, other)))] += 1
    return found


def mypy_errors() -> int | None:
    """Of the public modules, as in ``make lint``; None where mypy is not installed."""
    program = shutil.which("mypy", path=str(Path(sys.executable).parent))
    if program is None:
        return None
    root = SOURCE.parents[1]
    names = subprocess.run(
        [sys.executable, root / "tests" / "public_modules.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    command = [program, *names.stdout.split()]
    out = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return sum(": error:" in line for line in out.stdout.splitlines())


def main() -> int:
    bad = 0

    def line(what: str, value, bound, more: str = "") -> None:
        nonlocal bad
        good = value is not None and value <= bound
        bad += not good
        word = "pass" if good else "FAIL" if value is not None else "not measured"
        shown = "-" if value is None else f"{value:,.6g}"
        print(f"{what:44}{shown:>9}{bound:>9,}  {word}  {more}".rstrip())

    warnings.simplefilter("ignore")
    for name, fit in (
        ("tags", fit_tags),
        ("graphs", fit_graphs),
        ("kernels", fit_kernels),
    ):
        for what, value, bound in zip(
            ("files entered", "pairs of functions"),
            steps(fit),
            STEPS[name],
            strict=True,
        ):
            line(f"a warm fit of {name}: {what}", value, bound)
    line("kernel.run of nothing, microseconds", microseconds_of_run(), MICROSECONDS)
    found = read()
    line("lines of src", found["lines"].total(), LINES)
    line("imports inside functions", found["late"].total(), LATE)
    names = ", ".join(f"{a} -> {b} {n}" for (a, b), n in found["upward"].items())
    line("imports upwards", found["upward"].total(), UPWARD, names)
    names = ", ".join(f"{a}-{b}" for a, b in found["pairs"])
    line("pairs of families that know each other", len(found["pairs"]), PAIRS, names)
    line("errors of mypy", mypy_errors(), ERRORS)
    return min(bad, 1)


if __name__ == "__main__":
    sys.exit(main())
