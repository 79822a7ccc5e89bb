"""Files have one purpose and functions one page."""

import ast
from collections import Counter
from pathlib import Path

from sources import parsed

import maxmargin

SOURCES = sorted(Path(maxmargin.__file__).parent.rglob("*.py"))
TESTS = sorted(Path(__file__).parent.rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION = 400, 80


def long_pieces(text: str, name: str) -> list[str]:
    """What of a source is too long."""
    lines = len(text.splitlines())
    found = [f"{name}: {lines} lines"] if lines > LONGEST_FILE else []
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.FunctionDef):
            size = node.end_lineno - node.lineno + 1
            if size > LONGEST_FUNCTION:
                found.append(f"{name}, {node.name}: {size} lines")
    return found


def test_nothing_is_too_long():
    files = [*SOURCES, *TESTS]
    found = [piece for p in files for piece in long_pieces(p.read_text(), p.name)]
    assert min(len(SOURCES), len(TESTS)) > 200
    assert found == []


def test_what_is_too_long_is_found():
    body = "".join(f"    x = {k}\n" for k in range(80))
    assert long_pieces(f"def f():\n{body}", "a.py") == ["a.py, f: 81 lines"]
    assert long_pieces("x = 1\n" * 401, "b.py") == ["b.py: 401 lines"]


def test_files_of_tests_have_names_of_their_own():
    # pytest imports them by name, without their folders
    assert repeated(path.name for path in TESTS) == []


def test_no_test_hides_another_of_its_file():
    found = {path.name: repeated(named(path.read_text())) for path in TESTS}
    assert {name: names for name, names in found.items() if names} == {}


def test_tests_that_hide_others_are_found():
    assert repeated(named("def test_a(): 1\ndef test_a(): 2\n")) == ["test_a"]


def named(text: str) -> list[str]:
    """Names of the functions of a source."""
    return [n.name for n in parsed(text).body if isinstance(n, ast.FunctionDef)]


def repeated(names) -> list[str]:
    return [name for name, times in Counter(names).items() if times > 1]
