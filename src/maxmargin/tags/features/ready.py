"""Ready-made feature sets for common tasks, as template text.

In their text, column 0 holds words, and column 1, where a set reads it, part-of-speech
tags. Data may have these elsewhere, as CoNLL-U has.
"""

from __future__ import annotations

import numbers
import re

from maxmargin.tags.features.templates import Template, parse_template

__all__ = ["READY_NAMES", "ready_template", "ready_text"]


def _numbered(*macros: str) -> str:
    """Template lines U00, U01, ... of these macros, and B."""
    lines = [f"U{k:02d}:{macro}" for k, macro in enumerate(macros)]
    return "\n".join([*lines, "B", ""])


def _window(macro: str, first: int, last: int, n: int = 1) -> list[str]:
    """Runs of n neighbours between two rows: _window("%x[{},0]", -1, 1, 2)."""
    return [
        "/".join(macro.format(row + k) for k in range(n))
        for row in range(first, last - n + 2)
    ]


_WORDS = [*_window("%x[{},0]", -2, 2), *_window("%x[{},0]", -1, 1, 2)]
_TAGS = [
    *_window("%x[{},1]", -2, 2),
    *_window("%x[{},1]", -2, 2, 2),
    *_window("%x[{},1]", -2, 2, 3),
]
_FLAGS = ["%cap[{},0]", "%upper[{},0]", "%digit[{},0]", "%hyphen[{},0]", "%punct[{},0]"]

_TEXTS = {
    # words around the token and pairs of them
    "words": _numbered(*_WORDS),
    # the nineteen features usual for CoNLL-2000
    "chunking": _numbered(*_WORDS, *_TAGS),
    # names: case is in shapes and flags, so the words themselves are lowercased
    "ner": _numbered(
        *_window("%low[{},0]", -2, 2),
        *_window("%low[{},0]", -1, 1, 2),
        *(f"%p{n}[0,0]" for n in range(1, 5)),
        *(f"%s{n}[0,0]" for n in range(1, 5)),
        "%shape[0,0]",
        *_window("%short[{},0]", -1, 1),
        *_window("%short[{},0]", -1, 1, 3),
        *(line for flag in _FLAGS for line in _window(flag, -1, 1)),
        *_window("%x[{},1]", -2, 2),
        *_window("%x[{},1]", -1, 1, 2),
    ),
    # parts of speech: unknown words are recognised by their ends
    "pos": _numbered(
        *_WORDS,
        "%low[0,0]",
        *(f"%p{n}[0,0]" for n in range(1, 5)),
        *(f"%s{n}[0,0]" for n in range(1, 6)),
        *(f"%s3[{row},0]" for row in (-2, -1, 1, 2)),
        *_window("%short[{},0]", -1, 1),
        "%cap[0,0]",
        "%upper[0,0]",
        "%digit[0,0]",
        "%hyphen[0,0]",
        "%punct[0,0]",
    ),
}

#: Names that :func:`ready_template` knows.
READY_NAMES = tuple(sorted(_TEXTS))


def ready_text(name: str) -> str:
    """The whole template text of a ready-made set, to read or to change.

    >>> print(ready_text("words").splitlines()[0])
    U00:%x[-2,0]
    """
    if not isinstance(name, str) or name not in _TEXTS:
        raise ValueError(
            f"there is no ready-made feature set {name!r}; there are "
            f"{', '.join(map(repr, READY_NAMES))}."
        )
    return _TEXTS[name]


def ready_columns(text: str) -> dict[int, str] | None:
    """{column: "word" or "tag"} of a ready-made set in any columns; None of other texts.

    >>> ready_columns(ready_template("pos", 3, word=2).text)
    {2: 'word'}
    >>> ready_columns("U00:%x[0,0]")
    """
    columns = dict.fromkeys(re.findall(r",(\d+)\]", text))
    place = {column: str(k) for k, column in enumerate(columns)}
    usual = re.sub(r",(\d+)\]", lambda found: f",{place[found[1]]}]", text)
    without = [_without_tags(whole) for whole in _TEXTS.values()]
    if usual not in (*_TEXTS.values(), *without):
        return None
    return {int(c): what for c, what in zip(columns, ("word", "tag"), strict=False)}


def _without_tags(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(line for line in lines if ",1]" not in line)


def ready_template(
    name: str, n_columns: int, word: int = 0, tag: int | None = 1
) -> Template:
    """A ready-made set for data with so many columns.

    The words are in the column `word`, parts of speech in `tag`. Lines that read a column
    the data do not have are left out, whole; the others keep their names.

    >>> len(ready_template("chunking", 2).features)
    19
    >>> len(ready_template("chunking", 1).features)
    7
    """
    text = ready_text(name)
    if isinstance(n_columns, bool) or not isinstance(n_columns, numbers.Integral):
        raise ValueError(f"n_columns={n_columns!r} must be a whole number.")
    if not n_columns > word:
        raise ValueError(f"the feature set {name!r} needs data with a column of words.")
    if tag is None or tag >= n_columns:
        text = _without_tags(text)
    place = {"0": word, "1": tag}
    text = re.sub(r",([01])\]", lambda found: f",{place[found[1]]}]", text)
    return parse_template(text)
