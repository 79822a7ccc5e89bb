"""What a model file remembers for the command line, checked: it may be somebody else's."""

from __future__ import annotations

from dataclasses import fields
from types import GenericAlias, NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

INVALID = (
    "the model's notes, which say how its files are written and what it was trained on, "
    "are not valid ({}): train it again."
)
TEXTS = ("file", "task")
COUNTS = (
    *("clusters", "documents", "edges", "families", "graphs", "left_out", "links"),
    *("masked", "mentions", "nodes", "pairs", "queries", "samples", "sentences"),
    *("tokens", "words"),
)


class Notes(dict):
    """Notes of a model; where one is missing, a sentence says so."""

    def __missing__(self, name: str):
        raise ValueError(INVALID.format(f"there is no {name!r}"))


def checked_notes(kind: type, notes: dict[str, Any]) -> Notes:
    """The same notes if they are such as the command ``kind`` writes."""
    wanted = dict.fromkeys(TEXTS, str) | dict.fromkeys(COUNTS, int)
    hints = get_type_hints(kind)
    wanted |= {field.name: hints[field.name] for field in fields(kind)}
    for name, value in notes.items():
        if name in wanted and not _is(value, wanted[name]):
            raise ValueError(INVALID.format(f"{name}={value!r:.60}"))
        if name in COUNTS and value < 0:
            raise ValueError(INVALID.format(f"{name}={value!r:.60}"))
    return Notes(notes)


def _is(value: Any, hint: Any) -> bool:
    """Whether a value is of an annotated type: plain ones, lists of these, and unions."""
    if isinstance(hint, UnionType):
        return any(_is(value, kind) for kind in get_args(hint))
    if isinstance(hint, GenericAlias):
        inner = get_args(hint)[0]
        whole = type(value) is get_origin(hint)
        return whole and all(_is(item, inner) for item in value)
    if hint in (str, int, bool, NoneType):
        return type(value) is hint
    return True
