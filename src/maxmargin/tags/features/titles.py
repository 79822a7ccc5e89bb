"""Features by what they are: ``suffix(4)=raat`` for what a template calls ``U14:raat``.

Models and files keep the names of the template. Lines that say themselves what they are
(``Usuffix:...``) keep theirs everywhere.
"""

from __future__ import annotations

import re
from itertools import pairwise

from maxmargin.tags.features.plan import Domain, Group
from maxmargin.tags.features.ready import ready_columns
from maxmargin.tags.features.templates import Part, Template
from maxmargin.tags.features.views import View

_NUMBERED = re.compile(r"[Uu*]\d*:?")
_FLAGS = {
    "cap": "capitalised",
    "upper": "all capitals",
    "digit": "has digit",
    "hyphen": "has hyphen",
    "punct": "punctuation",
}
_VIEWS = {"p": "prefix", "s": "suffix", "t": "test", "m": "match"}
_TESTS = {"true": "matches", "false": "does not match"}
_SIMPLE = {"low": "lowercase", "shape": "shape", "short": "short shape"}
_WORD = View("x")
WORDS = ("word", "form")  # names of columns that go without saying


def title_pattern(group: Group, template: Template) -> str | None:
    """A pattern with %s for every value, or None for the names of the template.

    >>> from maxmargin.tags.features.plan import make_plan
    >>> from maxmargin.tags.features.templates import parse_template
    >>> template = parse_template("U01:%s4[0,0]\\nU02:%x[-1,0]/%cap[1,0]\\nU03")
    >>> [title_pattern(group, template) for group in make_plan(template)[0]]
    ['suffix(4)=%s', 'word[-1]/capitalised[+1]=%s/%s', 'every token']
    """
    first, *between = group.literals
    if not _NUMBERED.fullmatch(first) or between[-1:] not in ([], [""]):
        return None
    if not between:
        return "every token"
    names = _column_names(template)
    parts = [template.features[line].parts for line in group.lines]
    columns = [_title(list(some), names) for some in zip(*parts, strict=True)]
    if None in columns:
        return None
    joints = [literal.replace("%", "%%") for literal in between[:-1]]
    titles = [title.replace("%", "%%") for title in columns if title is not None]
    left, right = titles[0], "%s"
    for joint, title in zip(joints, titles[1:], strict=True):
        left, right = left + joint + title, f"{right}{joint}%s"
    if _is_run(parts):
        ends = parts[0][0].row, parts[0][-1].row
        left = f"{titles[0].partition('[')[0]}[{ends[0]:+d}..{ends[1]:+d}]"
    if len(titles) == 1 and parts[0][0].view.is_flag:
        return f"{left}%.0s"  # its value says the same
    if len(titles) == 1 and parts[0][0].view.macro == "t":
        name = _title([part._replace(view=_WORD) for part in parts[0]], names)
        argument = parts[0][0].view.argument.replace("%", "%%")
        return f"{name} %s {argument}"
    return f"{left}={right}"


def titled_values(domain: Domain, values: list[str]) -> list[str]:
    """Values as titles have them: those outside of the sentence, and of tests, in words.

    >>> from maxmargin.tags.features.plan import Domain
    >>> titled_values(Domain([], 2, 1), ["_B-1", "_B-2", "_B+1", "dog"])
    ['(start of sentence)', '(2 before the start)', '(end of sentence)', 'dog']
    """
    markers = domain.markers()
    found = [_outside(marker) for marker in markers]
    tests = any(view.macro == "t" for _, view in domain.sources)
    rest = values[len(markers) :]
    return found + [_TESTS.get(value, value) if tests else value for value in rest]


def _outside(marker: str) -> str:
    side, far = marker[2], int(marker[3:])
    if far == 1:
        return f"({'start' if side == '-' else 'end'} of sentence)"
    return f"({far} {'before the start' if side == '-' else 'after the end'})"


def _is_run(lines: list[tuple[Part, ...]]) -> bool:
    """Whether one line reads the same of three neighbours or more."""
    parts = lines[0]
    same = len({(part.column, part.view) for part in parts}) == 1
    next_to = all(b.row == a.row + 1 for a, b in pairwise(parts))
    return len(lines) == 1 and len(parts) > 2 and same and next_to


def _title(parts: list[Part], names: dict[int, str]) -> str | None:
    """Of one macro, in all lines that share their features; None if they differ."""
    if len({(part.column, part.view) for part in parts}) > 1:
        return None
    column, (macro, argument, lower) = parts[0].column, parts[0].view
    name = names.get(int(column), f"column {column}")
    if macro == "x":
        title = f"lowercase {name}" if lower and name not in WORDS else name
        title = "lowercase" if lower and name in WORDS else title
    else:
        if macro in _VIEWS:
            title = f"{'lowercase ' if lower else ''}{_VIEWS[macro]}({argument})"
        elif macro == "g":
            title = f"in {argument}"
        else:
            title = {**_SIMPLE, **_FLAGS}[macro]
        title += "" if name in WORDS else f" of {name}"
    rows = [f"{part.row:+d}" for part in parts]
    return title if rows == ["+0"] else f"{title}[{','.join(rows)}]"


def _column_names(template: Template) -> dict[int, str]:
    """What columns are called: by the data, or by a ready-made set; 0 has the words."""
    if template.names:
        return {k: name.lower() for k, name in enumerate(template.names)}
    found = ready_columns(template.text)
    return {0: "word"} if found is None else found
