"""Sentence pairs and the links between their words, in files.

A link joins word i of the source and word j of the target, both counted from 0. It is
*sure*, written ``i-j``, or only *possible*, written ``i?j`` (or ``ipj``).

A file of sentence pairs has one per line, in columns that are separated by tabs; words
are separated by spaces:

    source TAB target                    a bitext, without links
    source TAB target TAB links          "he sleeps<TAB>il dort<TAB>0-0 1-1"
    id TAB source TAB target TAB links

A file of links alone (Pharaoh) has the links of one sentence pair per line.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from maxmargin.files.messages import column_count, short
from maxmargin.files.text_files import RawText, read_text, write_raw

Link = tuple[int, int]
Pair = tuple[list[str], list[str]]
_LINK = re.compile(r"([0-9]{1,9})([-?pP])([0-9]{1,9})")
LONGEST = 1000  # words of a sentence: dictionaries take the cube of it in time
_SHAPES = (
    "source TAB target, perhaps an id before them, and the links as the last column"
)


class Links(NamedTuple):
    """The links of one sentence pair, sorted; ``possible`` are those that are not sure."""

    sure: list[Link]
    possible: list[Link]

    def __str__(self) -> str:
        parts = [f"{i}-{j}" for i, j in self.sure]
        return " ".join(parts + [f"{i}?{j}" for i, j in self.possible])


class AlignedText(NamedTuple):
    """A file of sentence pairs; ``y`` and ``ids`` are None if it has none."""

    X: list[Pair]
    y: list[Links] | None
    ids: list[str] | None
    path: str


def parse_links(text: str) -> Links:
    """Links as texts write them: ``0-0 1-2 2?2``. An error says which is wrong."""
    kinds: dict[Link, bool] = {}
    for word in text.split():
        match = _LINK.fullmatch(word)
        if match is None:
            raise ValueError(
                f"{short(word)} is not a link: write i-j for a sure link and i?j for a "
                "possible one, with words counted from 0"
            )
        link = int(match[1]), int(match[3])
        if link in kinds:
            raise ValueError(
                f"the link {link[0]}-{link[1]} is there twice: a link is sure or "
                "possible, and listed once"
            )
        kinds[link] = match[2] == "-"
    return _sorted(kinds)


def _sorted(kinds: dict[Link, bool]) -> Links:
    return Links(
        sorted(link for link, sure in kinds.items() if sure),
        sorted(link for link, sure in kinds.items() if not sure),
    )


def check_inside(links: Links, pair: Sequence[Sequence[str]]) -> None:
    """Links must join words that are there."""
    for link in (*links.sure, *links.possible):
        for word, side, name in zip(link, pair, ("source", "target"), strict=True):
            if not 0 <= word < len(side):
                raise ValueError(
                    f"the link {link[0]}-{link[1]} names word {word} of the {name}, which "
                    f"has {len(side)} words, numbered from 0"
                )


# reading -----------------------------------------------------------------------------


def read_aligned(
    path: str | os.PathLike | RawText,
    links: bool | None = None,
    encoding: str = "utf-8",
) -> AlignedText:
    """Read a file of sentence pairs, with or without ids and links.

    Parameters
    ----------
    path : str, path or RawText
        May be compressed with gzip; "-" is standard input.
    links : bool or None
        True demands links. False leaves them out, and does not read them. None takes
        them where there are any.

    Raises
    ------
    ValueError
        With the file and the line: a wrong number of columns, a side without words, a
        link that is not one, is there twice or leads outside.
    """
    lines, name = _lines(path, encoding)
    width = len(lines[0].split("\t"))
    if not 2 <= width <= 4 or (links and width == 2):
        wanted = "there are no links" if width == 2 else f"there are {width} columns"
        raise ValueError(
            f"{name}, line 1: {wanted if width != 1 else 'there is 1 column'}, but a "
            f"line is {_SHAPES}."
        )
    first = int(width == 4)
    X, y, ids = [], [], []
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        if len(cells) != width:
            raise ValueError(
                f"{name}, line {number}: there {_be(len(cells))}, but line 1 has "
                f"{width}; columns are separated by single tabs."
            )
        pair = _pair(cells[first], cells[first + 1], name, number)
        X.append(pair)
        ids.append(cells[0])
        if links is not False and width > 2:
            y.append(_links_of(cells[-1], pair, name, number))
    return AlignedText(X, y or None, ids if width == 4 else None, name)


def read_bitext(
    path: str | os.PathLike | RawText,
    target: str | os.PathLike | RawText | None = None,
    encoding: str = "utf-8",
) -> list[Pair]:
    """Sentence pairs of one file (see :func:`read_aligned`), or of two, line by line."""
    if target is None:
        return read_aligned(path, False, encoding).X
    (sources, name), (targets, other) = _lines(path, encoding), _lines(target, encoding)
    if len(sources) != len(targets):
        raise ValueError(
            f"{name} has {len(sources)} lines, but {other} has {len(targets)}: both must "
            "have one sentence per line, in the same order."
        )
    rows, name = zip(sources, targets, strict=True), f"{name} and {other}"
    return [_pair(*row, name, number) for number, row in enumerate(rows, 1)]


def read_pharaoh(
    path: str | os.PathLike | RawText, encoding: str = "utf-8"
) -> list[Links]:
    """Links alone, one sentence pair per line; a blank line is a pair without links."""
    lines, name = _lines(path, encoding)
    return [_links_of(line, None, name, k) for k, line in enumerate(lines, 1)]


def read_naacl(
    path: str | os.PathLike | RawText, encoding: str = "utf-8"
) -> dict[str, Links]:
    """Links by sentence id, one per line: ``id i j [S|P] [confidence]``, from 1 on."""
    lines, name = _lines(path, encoding)
    found: dict[str, dict[Link, bool]] = {}
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if not cells:
            continue
        good = 3 <= len(cells) <= 5 and all(
            re.fullmatch(r"[1-9][0-9]{0,8}", cell) for cell in cells[1:3]
        )
        kind = cells[3] if good and len(cells) > 3 and cells[3] in ("S", "P") else "S"
        if not good:
            raise ValueError(
                f"{name}, line {number}: {short(line)} is not a link: write an id, two "
                "word numbers from 1 on, and perhaps S (sure) or P (possible)."
            )
        link = int(cells[1]) - 1, int(cells[2]) - 1
        kinds = found.setdefault(cells[0], {})
        if link in kinds:
            raise ValueError(
                f"{name}, line {number}: the link {cells[1]} {cells[2]} of sentence "
                f"{cells[0]} is there twice."
            )
        kinds[link] = kind == "S"
    return {name: _sorted(kinds) for name, kinds in found.items()}


def _lines(path, encoding) -> tuple[list[str], str]:
    text, name = read_text(path, encoding)
    lines = text.decode().split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        raise ValueError(f"{name} is empty: at least one line is needed.")
    return lines, name


def split_words(side: str) -> list[str]:
    """Words between spaces; other white space belongs to them, as links count words."""
    return [word for word in side.split(" ") if word]


def _pair(source: str, target: str, name: str, number: int) -> Pair:
    pair = split_words(source), split_words(target)
    for side, words in zip(("source", "target"), pair, strict=True):
        if not words:
            raise ValueError(
                f"{name}, line {number}: the {side} side has no words: leave the pair out."
            )
        if len(words) > LONGEST:
            raise ValueError(
                f"{name}, line {number}: the {side} side has {len(words)} words, more than "
                f"{LONGEST}: split the pair into sentences."
            )
    return pair


def _links_of(text: str, pair: Pair | None, name: str, number: int) -> Links:
    try:
        links = parse_links(text)
        if pair is not None:
            check_inside(links, pair)
    except ValueError as error:
        raise ValueError(f"{name}, line {number}: {error}.") from None
    return links


def _be(n: int) -> str:
    return f"{'is' if n == 1 else 'are'} {column_count(n)}"


# writing -----------------------------------------------------------------------------


def write_pharaoh(
    path: str | os.PathLike, alignments: Iterable[Links | Iterable[Link]]
) -> None:
    """Write links, one sentence pair per line; "-" is standard output."""
    text = "".join(f"{links_text(links)}\n" for links in alignments)
    write_raw(path, text.encode())


def write_aligned(
    path: str | os.PathLike,
    X: Iterable[Sequence[Sequence[str]]],
    y: Iterable[Links | Iterable[Link]],
    ids: Iterable[str] | None = None,
) -> None:
    """Write sentence pairs with links, and with ids if given; see :func:`read_aligned`."""
    rows = []
    for k, (pair, links) in enumerate(zip(X, y, strict=True)):
        for word in (word for side in pair[:2] for word in side):
            if not word or set(word) & set(" \t\n\r"):
                raise ValueError(
                    f"sample {k}: the word {word!r} cannot be written, because words are "
                    "separated by spaces, tabs and line ends."
                )
        rows.append([" ".join(pair[0]), " ".join(pair[1]), links_text(links)])
    if ids is not None:
        rows = [[str(name), *row] for name, row in zip(ids, rows, strict=True)]
    write_raw(path, "".join("\t".join(row) + "\n" for row in rows).encode())


def links_text(links: Links | Iterable[Link]) -> str:
    """Links as :func:`parse_links` reads them."""
    return str(links if isinstance(links, Links) else Links(sorted(links), []))
