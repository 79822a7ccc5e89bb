"""Imports point downwards, and what the source says of itself is there.

Where a bound is not reached yet, the test holds what is reached: it may only fall.
"""

import ast
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path

from sources import parsed

import maxmargin
from maxmargin.families import FAMILIES, places

SOURCE = Path(maxmargin.__file__).parent
REPOSITORY = Path(__file__).parent.parent
# from the bottom: a folder imports from those before it, and no family from another
LAYERS = (
    *("kernels", "files", "engine", "core", "views", "metrics", "solvers", "fitting"),
    *("plots", "explain", "report"),
)
PAIRS = {
    ("classes", "kernel_svm"),
    ("classes", "multilabel"),
    ("dependencies", "tags"),  # one reader of CoNLL-U
    ("graphs", "multilabel"),
    ("kernel_svm", "tags"),
    ("neural", "tags"),  # whose sequences it reads
}
LATE = 100  # imports inside functions


def imports(tree: ast.AST, late: bool = False):
    """(an import, whether it is inside of a function); not those for types alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node, late
        function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
        yield from imports(node, late or isinstance(node, function))


def folders_of(node: ast.stmt) -> list[str]:
    """The folders of the library that it imports from; public names are of families."""
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    elif node.module == "maxmargin":
        public = places("public")
        names = [alias.name for alias in node.names]
        modules = [public.get(name, f"maxmargin.{name}") for name in names]
    else:
        modules = [node.module]
    parts = [module.split(".") for module in modules]
    return [part[1] for part in parts if part[0] == "maxmargin" and len(part) > 1]


def read() -> tuple[Counter, int]:
    """({(folder, a folder that it imports from): how often}, imports in functions)."""
    edges, late_ones = Counter(), 0
    for path in SOURCE.rglob("*.py"):
        folder = path.relative_to(SOURCE).parts[0]
        for node, late in imports(parsed(path.read_text())):
            late_ones += late
            for other in folders_of(node):
                if folder != other and (SOURCE / folder).is_dir():
                    edges[folder, other] += (SOURCE / other).is_dir()
    return +edges, late_ones


EDGES, LATE_ONES = read()


def level(folder: str) -> int:
    """Its place from the bottom."""
    order = *LAYERS, "families", "torch", "neural", "cli"
    family = folder in FAMILIES and folder not in order
    return order.index("families" if family else folder)


def test_imports_point_downwards():
    found = [(a, b) for a, b in EDGES if level(b) > level(a) and b != "cli"]
    assert found == []


def test_only_commands_know_the_command_line():
    for path in SOURCE.rglob("*.py"):
        for node, _ in imports(parsed(path.read_text())):
            if "cli" in folders_of(node):
                parts = path.relative_to(SOURCE).parts
                root = parts[0] == "cli" or len(parts) == 1
                assert root or re.match("command|run$", path.stem), path


def test_no_folders_in_cycles():
    edges = {edge for edge in EDGES if edge[1] != "cli"}
    done: set[str] = set()
    folders = {folder for edge in EDGES for folder in edge}
    while folders - done:
        free = {f for f in folders - done if all(b in done for a, b in edges if a == f)}
        assert free, f"in a cycle: {sorted(folders - done)}"
        done |= free


def test_few_families_know_each_other():
    found = {
        tuple(sorted(edge))
        for edge in EDGES
        if edge[0] in FAMILIES and edge[1] in FAMILIES
    }
    assert found <= PAIRS


def test_few_imports_stand_inside_functions():
    assert LATE_ONES <= LATE


def test_what_files_and_modules_the_source_names_is_there():
    files = {str(p.relative_to(REPOSITORY)) for p in REPOSITORY.rglob("*.py")}
    files |= {str(p.relative_to(REPOSITORY)) for p in REPOSITORY.rglob("*.md")}
    pages = [
        *SOURCE.rglob("*.py"),
        *REPOSITORY.glob("docs/*.md"),
        REPOSITORY / "README.md",
    ]
    missing = []
    for page in pages:
        for name in re.findall(r"[\w./-]*\w\.(?:py|md)\b", page.read_text()):
            name = name.strip("./")
            there = any(f == name or f.endswith("/" + name) for f in files)
            if not there and name != "segments.py":  # of an example
                missing.append((page.name, name))
    assert missing == []


def test_lists_of_families_are_complete():
    """A paragraph or table that links most pages of tasks links all of them."""
    commands = {name: place for name, place in places("commands").items()}
    pages = {
        "tag": "tagging",
        "classify": "classify",
        "multilabel": "multilabel",
        "kernel": "kernels",
        "rank": "ranking",
        "parse": "parsing",
        "align": "alignment",
        "match": "matching",
        "cluster": "clustering",
        "depend": "dependencies",
        "motif": "motifs",
        "graph": "graphs",
    }
    assert pages.keys() == commands.keys()
    for page in [*REPOSITORY.glob("docs/*.md"), REPOSITORY / "README.md"]:
        for block in page.read_text().split("\n\n"):
            linked = {task for task, name in pages.items() if f"{name}.md" in block}
            assert len(linked) < 6 or linked == set(pages), (page.name, block)


def test_tables_of_estimators_are_complete():
    table = (REPOSITORY / "docs/objectives.md").read_text().split("\n\n")[2]
    for name in places("public"):
        if name.endswith(("SVM", "Tagger", "Parser", "Labeler", "Ranker", "Finder")):
            generative = name in ("HMMTagger", "PCFGParser")
            assert generative or f"`{name}`" in table, name


def test_families_are_named_in_the_architecture():
    text = (REPOSITORY / "docs/architecture.md").read_text()
    assert [f for f in [*FAMILIES, *LAYERS, "torch"] if f"`{f}/`" not in text] == []


def test_layers_are_in_order():
    order = [*LAYERS, "tags", "torch", "neural", "cli"]
    assert all(level(a) < level(b) for a, b in pairwise(order))
