"""Sections of docstrings that list parameters, in numpy's style, and in ours.

Ours lists several names together over several lines, and says "As in" another class.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

AS_IN = re.compile(r"As in :class:`maxmargin\.(\w+)`")
WORD = re.compile(r"[\w.-]+|\"[\w -]+\"")
SAID = re.compile(r"((?:[^,;(]|\([^)]*\))+)[,;] (.* .*)$")
DEFAULT = re.compile(r",?\s*\bdefault\b")
# Where a section ends: before another, or a paragraph that is no entry.
END = re.compile(r"\n\n+(?=\w[\w ]*\n-+\n|(?![\w*]+(?:,\s+[\w*]+)*,?(?: :|\n))\S)")
NEXT = re.compile(r"\w[\w ]*\n-+\n")  # the heading of another section
MAPPING = re.compile(r"\{[\w ]+: [\w ]+\}")


@dataclass(frozen=True)
class Entry:
    name: str
    kind: str  # what it may be
    text: str  # what it means

    def shown(self) -> str:
        head = f"{self.name} : {alternatives(self.kind)}" if self.kind else self.name
        body = "\n".join(f"    {line}".rstrip() for line in self.text.splitlines())
        return f"{head}\n{body}" if body else head


def alternatives(kind: str) -> str:
    """A list of what a parameter may be as a type: ``"a", dict or None`` with bars."""
    kind = MAPPING.sub("dict", " ".join(kind.split()))
    kind, comma, default = kind.partition(", default ")
    words = re.split(r", | or ", kind.replace("{", "").replace("}", ""))
    if len(words) > 1 and all(WORD.fullmatch(word) for word in words):
        kind = " | ".join(words)
    return kind + comma + default


class Explained:
    """One section of a docstring without its indentation."""

    def __init__(self, text: str, section: str):
        self.section = section
        heading = f"{section}\n{'-' * len(section)}\n"
        self.before, self.heading, rest = text.partition(heading)
        cut = END.search(rest)
        self.body = rest[: cut.start()] if cut else rest
        self.after = rest[cut.start() :] if cut else ""

    def entries(self) -> dict[str, Entry]:
        found = {}
        for head, text in _pieces(self.body):
            names, _, kind = (part.strip() for part in head.partition(" :"))
            kinds = kind.split(", ") if kind else []
            listed = [name.strip() for name in names.rstrip(": ").split(",")]
            apart = len(kinds) == len(listed) > 1 and all(map(WORD.fullmatch, kinds))
            for k, name in enumerate(listed):
                own = kinds[k] if apart else kind
                found[name] = Entry(name, own, text)
        return found

    def completed(
        self, entries_of: Callable[[str, str], dict[str, Entry]], declared: Mapping
    ) -> str:
        """The docstring with every entry in full, and with the defaults declared."""
        if not self.heading and not declared:
            return self.before
        entries = {
            name: _resolved(entry, entries_of, self.section)
            for name, entry in self.entries().items()
        }
        if self.section == "Attributes":
            entries = {name: _said(entry) for name, entry in entries.items()}
        if self.section == "Parameters" and not declared:
            entries = {name: _worded(entry) for name, entry in entries.items()}
        if declared:
            own = {name: entries.pop(name, Entry(name, "", "")) for name in declared}
            entries = {
                n: _with_default(e, declared[n]) for n, e in own.items()
            } | entries
        heading = self.heading or f"\n\n{self.section}\n{'-' * len(self.section)}\n"
        shown = "\n".join(entry.shown() for entry in entries.values())
        return f"{self.before}{heading}{shown}{_headed(self.after)}"


def _headed(after: str) -> str:
    """What stands after a section, with a heading if it has none: it is no entry."""
    text = after.lstrip("\n")
    if not text or NEXT.match(text):
        return after
    heading = "Examples" if text.startswith(">>>") else "Notes"
    return f"\n\n{heading}\n{'-' * len(heading)}\n{text}"


def _pieces(body: str) -> list[tuple[str, str]]:
    """(head, text) of every entry; heads may go on over lines, and over brackets."""
    pieces: list[tuple[str, list[str]]] = []
    open_head = False
    for line in body.splitlines():
        if open_head:
            pieces[-1] = (f"{pieces[-1][0]} {line.strip()}", [])
        elif line and not line[0].isspace():
            pieces.append((line, []))
        elif pieces:
            pieces[-1][1].append(line)
            continue
        else:
            continue
        head = pieces[-1][0]
        open_head = head.endswith(",") or head.count("{") > head.count("}")
    return [(head, _dedented(text)) for head, text in pieces]


def _dedented(lines: list[str]) -> str:
    depths = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    depth = min(depths, default=0)
    return "\n".join(line[depth:] for line in lines).strip("\n")


def _resolved(entry: Entry, entries_of, section: str) -> Entry:
    """What the class says that an entry refers to, where it says it."""
    match = AS_IN.match(entry.text)
    if not match:
        return entry
    there = entries_of(f"maxmargin.{match[1]}", section).get(entry.name)
    if there is None:
        return entry
    there = _resolved(there, entries_of, section)
    more = entry.text[match.end() :].lstrip(".;, \n")
    text = f"{there.text}\n\n{more[:1].upper()}{more[1:]}" if more else there.text
    return replace(entry, kind=entry.kind or there.kind, text=text)


def _said(entry: Entry) -> Entry:
    """What an attribute is, where its type says that: ``ndarray, the weights w``."""
    said = SAID.match(entry.kind)
    if not said or alternatives(entry.kind) != entry.kind:
        return entry
    text = f"{said[2][:1].upper()}{said[2][1:]} {entry.text}".strip()
    return replace(entry, kind=said[1], text=f"{text.rstrip('.')}.")


def _worded(entry: Entry) -> Entry:
    """A parameter whose type is all that is said of it: then that is the text."""
    if entry.text or not entry.kind:
        return entry
    kind, _, default = entry.kind.partition(", default ")
    text = f"{kind[:1].upper()}{kind[1:]}{f' (default: {default})' if default else ''}."
    return replace(entry, kind="", text=text)


def _with_default(entry: Entry, declared: Any) -> Entry:
    kind = DEFAULT.split(entry.kind)[0].strip()
    if isinstance(declared.default, type):  # required
        return replace(entry, kind=kind)
    default = f"default {declared.default!r}"
    return replace(entry, kind=f"{kind}, {default}" if kind else default)
