"""Views: what a macro of a template reads from a word.

A view is a pure function of one word: the word itself, its lowercase, its last three
characters, its shape. It gives a string, or None when the word has no such value (a
word of two characters has no suffix of three); a feature with a None is left out.

Views are applied to the distinct words of a column, not to its tokens, so they may be
slow and still cost little.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

MAX_AFFIX = 100  # characters of a prefix or suffix


class View(NamedTuple):
    """A function of words: the macro that names it, its argument, whether to lowercase."""

    macro: str
    argument: str = ""  # length of an affix, regular expression, name of a gazetteer
    lower: bool = False

    @property
    def is_flag(self) -> bool:
        """Flags have a value or none; they have none outside the sentence."""
        return self.macro in FLAGS or self.macro == "g"


class _Shape(dict):
    """Table for str.translate that classifies characters as it meets them."""

    def __missing__(self, number):
        c = chr(number)
        if c.isalpha():
            c = "X" if c.isupper() else "x"
        elif c.isdigit():
            c = "d"
        self[number] = c
        return c


_SHAPES = _Shape()


def shape(word: str) -> str:
    """Capitals as X, other letters as x, digits as d, the rest as it is.

    >>> shape("McDonald-2000")
    'XxXxxxxx-dddd'
    """
    return word.translate(_SHAPES)


def short_shape(word: str) -> str:
    """The shape with runs of one character written once.

    >>> short_shape("McDonald-2000")
    'XxXx-d'
    """
    return _without_repeats(word.translate(_SHAPES))


@functools.lru_cache(maxsize=2**14)
def _without_repeats(text: str) -> str:
    return "".join(c for c, _ in groupby(text))


_digit = re.compile(r"\d").search
_letter_or_digit = re.compile(r"[^\W_]").search

FLAGS = {
    "cap": lambda word: word[:1].isupper(),
    "upper": str.isupper,
    "digit": _digit,
    "hyphen": lambda word: "-" in word,
    "punct": lambda word: not _letter_or_digit(word),
}
_SIMPLE = {"x": str, "low": str.lower, "shape": shape, "short": short_shape}

#: Macros by what stands between their brackets after row and column.
PLAIN = (*_SIMPLE, *FLAGS)
AFFIXES = ("p", "s")
REGEXPS = ("t", "m")
#: One-letter macros may be capitals, which lowercases the value, as in Wapiti.
WITH_CAPITAL = ("x", "p", "s", "t", "m")


def values(
    view: View, words: Sequence[str], gazetteers: Mapping[str, frozenset] = {}
) -> list[str | None]:
    """The view of every word.

    >>> values(View("s", "3"), ["running", "is"])
    ['ing', None]
    >>> values(View("cap"), ["The", "dog"])
    ['cap', None]
    """
    macro, argument, lower = view
    if macro in FLAGS:
        test = FLAGS[macro]
        return [macro if test(w) else None for w in words]
    if macro == "g":
        members = gazetteers[argument]
        return [argument if w in members else None for w in words]
    if macro == "p":
        n = int(argument)
        out = [w[:n] if len(w) >= n else None for w in words]
    elif macro == "s":
        n = int(argument)
        out = [w[-n:] if len(w) >= n else None for w in words]
    elif macro == "t":
        search = regexp(argument).search
        out = ["true" if search(w) else "false" for w in words]
    elif macro == "m":
        search = regexp(argument).search
        out = [found[0] if (found := search(w)) else "" for w in words]
    else:
        out = list(map(_SIMPLE[macro], words)) if macro != "x" else list(words)
    if lower:
        out = [v if v is None else v.lower() for v in out]
    return out


# Regular expressions ------------------------------------------------------------------

_CLASSES = {
    "d": r"\d",
    "D": r"\D",
    "s": r"\s",
    "S": r"\S",
    "w": r"[^\W_]",
    "W": r"[\W_]",
    "a": r"[^\W\d_]",
    "A": r"[\W\d_]",
    "p": r"(?:[^\w\s]|_)",
    "P": r"(?:[^\W_]|\s)",
}
_SPECIAL = "[({+|"
_LAST_CASED = 0x20000  # Unicode has no letters with case beyond


@functools.cache
def _case_class(letter: str) -> str:
    """The character class of capitals (u), of lowercase letters (l), or the rest (U, L)."""
    test = str.isupper if letter in "uU" else str.islower
    numbers = [n for n in range(_LAST_CASED) if test(chr(n))]
    runs = []
    for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        run = [n for _, n in run]
        runs.append(f"\\U{run[0]:08x}-\\U{run[-1]:08x}")
    return f"[{'^' if letter in 'UL' else ''}{''.join(runs)}]"


MOST_REPEATS = 2  # of an expression that is left to Python's matcher


class _Careful:
    """Matches as Python's matcher does, in steps of the word times the expression.

    That one tries all ways to share a word among repeats, so that ``a*b*c*d*e*x`` (or 30
    times ``a?``) can take years; here a place that has failed is not tried again.
    """

    def __init__(self, atoms: list[tuple[str, str]], begins: bool, ends: bool):
        tests = [re.compile(one, re.DOTALL).match for one, _ in atoms]
        self._atoms = list(zip(tests, (repeat for _, repeat in atoms), strict=True))
        self._begins, self._ends = begins, ends

    def search(self, word: str) -> tuple[str] | None:
        """(what is found,): the leftmost, of these the one with the first repeats."""
        size, failed = len(self._atoms), set()
        for first in range(1 if self._begins else len(word) + 1):
            open_ = [(0, first)]  # (atoms done, place); the last is tried first
            while open_:
                k, at = place = open_.pop()
                if place in failed:
                    continue
                failed.add(place)
                if k == size:
                    if at == len(word) or not self._ends:
                        return (word[first:at],)
                    continue
                test, repeat = self._atoms[k]
                skip, fits = (k + 1, at), bool(test(word, at))
                if repeat == "*?":
                    open_ += [(k, at + 1)] * fits + [skip]
                else:
                    open_ += [skip] * (repeat == "?") + [(k + 1, at + 1)] * fits
        return None


@functools.lru_cache(maxsize=256)
def regexp(text: str) -> re.Pattern | _Careful:
    """Compile a regular expression in the small language of Wapiti.

    ``.`` is any character; ``\\d \\a \\w \\l \\u \\p \\s`` are digits, letters, both,
    lowercase letters, capitals, punctuation and spaces, and their capitals all other
    characters; ``*`` repeats a character as little as possible, ``?`` makes it optional;
    ``^`` comes first and ``$`` last. Characters that mean more elsewhere (``[({+|``) must
    be escaped: in Wapiti they stand for themselves, which is rarely what was meant.
    """
    begins, ends, n = text.startswith("^"), False, len(text)
    atoms, i = [], int(begins)
    while i < n:
        c = text[i]
        i += 1
        if c == "$" and i == n:
            ends = True
            break
        if c == "\\":
            if i == n:
                raise ValueError(
                    f'the regular expression "{text}" ends in a backslash: write \\\\ '
                    "for the character itself."
                )
            c = text[i]
            i += 1
            atom = _case_class(c) if c in "uUlL" else _CLASSES.get(c, re.escape(c))
        elif c in "*?":
            raise ValueError(
                f'the regular expression "{text}" has a {c} with nothing to repeat: '
                f"write \\{c} for the character itself."
            )
        elif c in _SPECIAL:
            raise ValueError(
                f'the regular expression "{text}" has a {c}, which has no meaning here: '
                f"write \\{c} for the character itself, and \\d \\a \\w \\l \\u \\p "
                "\\s . * ? for sets and repeats."
            )
        else:
            atom = "." if c == "." else re.escape(c)
        repeat = ""
        if i < n and text[i] in "*?":
            repeat = "*?" if text[i] == "*" else "?"
            i += 1
        atoms.append((atom, repeat))
    if sum(bool(repeat) for _, repeat in atoms) > MOST_REPEATS:
        return _Careful(atoms, begins, ends)
    joined = "".join(atom + repeat for atom, repeat in atoms)
    return re.compile(r"\A" * begins + joined + r"\Z" * ends, re.DOTALL)
