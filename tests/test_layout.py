"""Files have one purpose and functions one page."""

import ast
from pathlib import Path

import maxmargin

SOURCES = sorted(Path(maxmargin.__file__).parent.rglob("*.py"))
LONGEST_FILE, LONGEST_FUNCTION = 400, 80


def long_pieces(text: str, name: str) -> list[str]:
    """What of a source is too long."""
    lines = len(text.splitlines())
    found = [f"{name}: {lines} lines"] if lines > LONGEST_FILE else []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef):
            size = node.end_lineno - node.lineno + 1
            if size > LONGEST_FUNCTION:
                found.append(f"{name}, {node.name}: {size} lines")
    return found


def test_nothing_is_too_long():
    found = [piece for p in SOURCES for piece in long_pieces(p.read_text(), p.name)]
    assert len(SOURCES) > 200
    assert found == []


def test_what_is_too_long_is_found():
    body = "".join(f"    x = {k}\n" for k in range(80))
    assert long_pieces(f"def f():\n{body}", "a.py") == ["a.py, f: 81 lines"]
    assert long_pieces("x = 1\n" * 401, "b.py") == ["b.py: 401 lines"]


def test_files_of_tests_have_names_of_their_own():
    # pytest imports them by name, without their folders
    names = sorted(path.name for path in Path(__file__).parent.rglob("*.py"))
    assert [name for k, name in enumerate(names[1:]) if name == names[k]] == []
