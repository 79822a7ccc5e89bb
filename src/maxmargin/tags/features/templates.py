"""Feature templates as in CRF++ and Wapiti: text in, a small immutable object out.

A line such as ``U05:%x[-1,0]/%x[0,1]`` is one feature per token: the text of the line
with every macro replaced by what it reads, here ``U05:the/NN``. Two lines with the same
text around their macros make the same features, so ``U:%x[-1,0]`` and ``U:%x[1,0]``
together are a bag of words. ``docs/features.md`` has all macros.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from maxmargin.tags.features import views
from maxmargin.tags.features.views import View

__all__ = ["Feature", "Part", "Template", "parse_template"]

MAX_ROW = 100  # tokens to the left or right
_MAX_COLUMN = 10_000
_MAX_BYTES = 10_000_000

_MACRO = re.compile(r"%([A-Za-z]*)([0-9]*)(\[?)")
_PLACE = re.compile(r"\s*([+-]?[0-9]{1,9})\s*,\s*(?:([0-9]{1,9})|([^\W\d][\w:.-]*))\s*")
_QUOTED = re.compile(r'\s*,\s*"((?:[^"\\]|\\.)*)"\s*')
_NAME = re.compile(r'\s*,\s*"?([^\]",\s]+)"?\s*')
_COMMENT = re.compile(r"\s#")


class Part(NamedTuple):
    """One macro: the view of the word in a column, some rows from the current token."""

    row: int
    column: int | str  # by number, or by name until the data are known
    view: View


class Feature(NamedTuple):
    """One line: its text is literals[0], part 0, literals[1], part 1, ..."""

    name: str  # what stands before the colon
    parts: tuple[Part, ...]
    literals: tuple[str, ...]  # one more than parts
    line: int  # where it stands in the template, from 1


@dataclass(frozen=True)
class Template:
    """What to read around every token; made by :func:`parse_template`."""

    text: str
    features: tuple[Feature, ...]
    notes: tuple[str, ...] = ()  # lines that were read in another way than written
    path: str = field(default="", compare=False)  # for messages; "" if there is no file
    names: tuple[str, ...] = ()  # of the columns that it was resolved for

    @property
    def n_columns(self) -> int:
        """How many columns the data must have, as far as these go by numbers."""
        every = [p.column for f in self.features for p in f.parts]
        return 1 + max((c for c in every if isinstance(c, int)), default=-1)

    @property
    def gazetteers(self) -> tuple[str, ...]:
        """Names of the gazetteers that the template reads, sorted."""
        every = [p.view for f in self.features for p in f.parts]
        return tuple(sorted({v.argument for v in every if v.macro == "g"}))

    def resolved(self, names: tuple[str, ...]) -> Template:
        """The template for columns with these names: ``%x[0,FORM]`` gets its number."""
        features = []
        for feature in self.features:
            parts = []
            for part in feature.parts:
                column = part.column
                if isinstance(column, str) and column not in names:
                    have = f"are {', '.join(names)}" if names else "have no names"
                    raise ValueError(
                        f"{_where(self.path, feature.line)}: {feature.name} reads the "
                        f"column {column}, but the columns of the data {have}."
                    )
                if isinstance(column, str):
                    column = names.index(column)
                parts.append(part._replace(column=column))
            features.append(feature._replace(parts=tuple(parts)))
        return replace(self, features=tuple(features), names=tuple(names))

    def check_columns(self, n: int) -> None:
        """Refuse data with too few columns, naming the line that reads beyond them."""
        for feature in self.features:
            for part in feature.parts:
                if part.column >= n:
                    have = f"{n} columns, 0 to {n - 1}" if n > 1 else "only column 0"
                    raise ValueError(
                        f"{_where(self.path, feature.line)}: {feature.name} reads column "
                        f"{part.column}, but the data have {have if n else 'none'}."
                    )


def parse_template(source: str | os.PathLike) -> Template:
    """Read a template in the syntax of CRF++ and Wapiti.

    Parameters
    ----------
    source : str or path-like
        The text of a template, or the path of a UTF-8 file that holds one. A string is
        taken as text if it has a line break or a percent sign in it.

    Raises
    ------
    ValueError
        If a line cannot be read, in words that name the file and the line.

    Examples
    --------
    >>> template = parse_template("U01:%x[-1,0]/%x[0,0]\\nU02:%s3[0,0]\\nB")
    >>> [feature.name for feature in template.features]
    ['U01', 'U02']
    >>> template.features[0].parts[0]
    Part(row=-1, column=0, view=View(macro='x', argument='', lower=False))
    """
    text, path = _read(source)
    features, notes = [], []
    for number, line in enumerate(text.split("\n"), 1):
        kind = line.lstrip()[:1]
        if not kind or kind == "#":
            continue
        try:
            name, literals, parts = _parse_line(line.strip())
            if kind in "Bb":
                if parts:
                    raise ValueError(
                        f"{name} asks for transitions that depend on observations, which "
                        "are not available: write it with U in place of B. Transitions "
                        "between labels are always there."
                    )
                continue
            if kind not in "Uu*":
                raise ValueError(
                    f"a line must begin with U, B, * or #, not {kind!r}: a feature looks "
                    "like U01:%x[0,0]."
                )
        except ValueError as error:
            raise ValueError(f"{_where(path, number)}: {error}") from None
        if kind == "*":
            notes.append(
                f"line {number}: {name} is read as U; its part for transitions that "
                "depend on observations is left out."
            )
        features.append(Feature(name, parts, literals, number))
    if not features:
        raise ValueError(
            f"{path or 'the template'} has no line that begins with U, so tokens would "
            "have no features: write at least one, such as U01:%x[0,0]."
        )
    return Template(text, tuple(features), tuple(notes), path)


def _read(source) -> tuple[str, str]:
    """The text of a template and the path it came from."""
    if isinstance(source, str) and re.search(r"[\n\r%]", source):
        return source, ""
    if not isinstance(source, (str, os.PathLike)):
        raise ValueError(
            f"a template must be text or the path of a file, not {type(source).__name__}."
        )
    path = Path(source)
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"the template {str(path)!r} has no macro, so it was taken as the path of a "
            f"file, which cannot be read ({getattr(error, 'strerror', None) or error})."
        ) from None
    if len(data) > _MAX_BYTES:
        raise ValueError(f"{path} is too large to be a template.")
    try:
        return data.decode("utf-8-sig"), str(path)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ValueError(
            f"{_where(str(path), line)}: not UTF-8; convert the template to UTF-8."
        ) from None


def _where(path: str, line: int) -> str:
    return f"{path or 'template'}, line {line}"


def _parse_line(line: str):
    """Name, literals and parts of a line."""
    literals, parts, at = [], [], 0
    while True:
        percent = line.find("%", at)
        literal = line[at : percent if percent >= 0 else len(line)]
        comment = _COMMENT.search(literal)
        if comment:
            literals.append(literal[: comment.start()].rstrip())
            break
        literals.append(literal)
        if percent < 0:
            break
        part, at = _parse_macro(line, percent)
        parts.append(part)
    name = literals[0].partition(":")[0].strip()
    return name, tuple(literals), tuple(parts)


def _parse_macro(line: str, at: int) -> tuple[Part, int]:
    """The macro that starts at a percent sign, and where it ends."""
    found = _MACRO.match(line, at)
    name, digits, bracket = found.groups()
    shown = f"%{name}{digits}"
    macro, lower = name, False
    if name.lower() in views.WITH_CAPITAL:
        macro, lower = name.lower(), name.isupper()
    affix = macro in views.AFFIXES
    known = affix or macro in (*views.PLAIN, *views.REGEXPS, "g")
    if not known or (digits and not affix):
        raise ValueError(
            f"unknown macro {shown!r}: there are %x %X %low %p3 %s3 (prefix and suffix "
            "of any length) %shape %short %cap %upper %digit %hyphen %punct "
            "%t %m (regular expressions) and %g (gazetteers)."
        )
    if affix and not (digits and 1 <= int(digits[:9]) <= views.MAX_AFFIX):
        raise ValueError(
            f"{shown!r} needs a length from 1 to {views.MAX_AFFIX}, as in %{macro}3."
        )
    if not bracket:
        raise ValueError(f"{shown!r} must be followed by [row,column], as in %x[-1,0].")
    at = found.end()
    place = _PLACE.match(line, at)
    if not place:
        odd = line[at : at + 1]
        if odd in ("@", "*"):
            raise ValueError(
                f"{shown}[{odd}... is a place in Wapiti that is not relative to the "
                "current token, which is not available: give a relative row."
            )
        raise ValueError(
            f"bad brackets after {shown!r}: expected [row,column] with two whole "
            "numbers, as in %x[-1,0], or a number and a name, as in %x[-1,FORM]."
        )
    row, column = int(place[1]), place[3] or int(place[2])
    if abs(row) > MAX_ROW:
        raise ValueError(f"row {row} of {shown!r} is beyond the limit of {MAX_ROW}.")
    if isinstance(column, int) and column > _MAX_COLUMN:
        raise ValueError(f"column {column} of {shown!r} is too large.")
    at = place.end()
    argument = digits.lstrip("0") if affix else ""
    if macro in views.REGEXPS or macro == "g":
        quoted = macro != "g"
        extra = (_QUOTED if quoted else _NAME).match(line, at)
        if not extra:
            example = f'{shown}[0,0,"^\\u"]' if quoted else f"{shown}[0,0,cities]"
            what = "a regular expression in double quotes" if quoted else "a name"
            raise ValueError(
                f"{shown!r} needs {what} after row and column, as in {example}."
            )
        argument, at = extra[1], extra.end()
    if line[at : at + 1] != "]":
        raise ValueError(
            f"bad brackets after {shown!r}: expected ] after {line[found.end() : at]!r}."
        )
    if macro in views.REGEXPS:
        views.regexp(argument)  # refuses what it cannot compile
    return Part(row, column, View(macro, argument, lower)), at + 1
