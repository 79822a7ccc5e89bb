"""Files of trees and of sentences, as a parser remembers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from maxmargin import Tree

HOW = {
    "tags": "tokens such as cat_NN, or tags alone",
    "both": "tokens such as cat_NN",
}


class Layout(NamedTuple):
    """How files are written; the model notes it, so that other commands need no options."""

    encoding: str = "utf-8"
    strip_functions: bool = True
    root: str | None = None

    def read_trees(self, path: str, collapse_same: bool = True) -> list[Tree]:
        from maxmargin.files import read_trees

        trees = read_trees(path, collapse_same=collapse_same, **self._asdict())
        if not trees:
            raise ValueError(f"{path} has no trees: it is empty.")
        return trees


def read_sentences(path: str, kind: str, encoding: str) -> list[list]:
    """One sentence per line as a parser with ``input=kind`` wants it; [] where blank."""
    from maxmargin.files.text_files import read_text

    text, name = read_text(path, encoding)
    lines = [line.split() for line in text.decode().split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise ValueError(f"{name} has no sentence: all of its lines are blank.")
    if kind == "words":
        return lines
    return [
        _tagged(line, kind, f"{name}, line {number}")
        for number, line in enumerate(lines, 1)
    ]


def _tagged(line: list[str], kind: str, place: str) -> list:
    """Tokens such as cat_NN as pairs; tags alone stay as they are."""
    pairs = [token.rpartition("_") for token in line]
    if kind == "tags" and not any(mark for _, mark, _ in pairs):
        return line
    for token, (word, _, tag) in zip(line, pairs, strict=True):
        if not (word and tag):
            raise ValueError(
                f"{place}: the token {token!r} has no tag; the model was trained on tags "
                f"and needs {HOW[kind]}."
            )
    return [(word, tag) for word, _, tag in pairs]
