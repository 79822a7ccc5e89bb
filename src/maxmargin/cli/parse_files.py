"""Files of trees and of sentences, as a parser remembers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from maxmargin import Tree

HOW = {
    "tags": "tokens such as cat_NN, or tags alone",
    "both": "tokens such as cat_NN",
    "words": "words with spaces between them",
}


class Layout(NamedTuple):
    """How files are written; the model notes it, so that other commands need no options."""

    encoding: str = "utf-8"
    strip_functions: bool = True
    root: str | None = None

    def read_trees(self, path: str) -> list[Tree]:
        from maxmargin.data import read_trees

        trees = read_trees(path, **self._asdict())
        if not trees:
            raise ValueError(f"{path} has no trees: it is empty.")
        return trees


class Sentences(NamedTuple):
    """The sentences of a file, line by line; blank lines have no words."""

    words: list[list[str]]
    tags: list[list[str]] | None

    def inputs(self, kind: str) -> list:
        """X as a parser with ``input=kind`` wants it, without the blank lines."""
        if kind == "words":
            return [words for words in self.words if words]
        if kind == "tags":
            return [tags for tags in self.tags if tags]
        return [
            list(zip(words, tags, strict=True))
            for words, tags in zip(self.words, self.tags, strict=True)
            if words
        ]

    def spread(self, results: list, blank: Any) -> list:
        """One result per line: those of `inputs`, and ``blank`` for blank lines."""
        rest = iter(results)
        return [next(rest) if words else blank for words in self.words]


def of_trees(trees: list[Tree]) -> Sentences:
    pairs = [tree.tags() for tree in trees]
    return Sentences(
        [[word for word, _ in row] for row in pairs],
        [[tag for _, tag in row] for row in pairs],
    )


def read_sentences(path: str, kind: str, encoding: str) -> Sentences:
    """One sentence per line, for a parser with ``input=kind``."""
    from maxmargin.brackets import escape
    from maxmargin.data.text_files import read_text

    text, name = read_text(path, encoding)
    lines = [line.split() for line in text.decode().split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise ValueError(f"{name} has no sentence: all of its lines are blank.")
    if kind == "words":
        # single brackets as treebanks have them; else they would be unknown words
        words = [[escape(w) if len(w) == 1 else w for w in line] for line in lines]
        return Sentences(words, None)
    words, tags = [], []
    for number, line in enumerate(lines, 1):
        pairs = [token.rpartition("_") for token in line]
        if kind == "tags" and not any(mark for _, mark, _ in pairs):
            words.append(line)  # tags stand for their words
            tags.append(line)
            continue
        for token, (word, mark, tag) in zip(line, pairs, strict=True):
            if not (mark and word and tag):
                raise ValueError(
                    f"{name}, line {number}: the token {token!r} has no tag; the model "
                    f"was trained on tags and needs {HOW[kind]}."
                )
        words.append([escape(w) if len(w) == 1 else w for w, _, _ in pairs])
        tags.append([tag for _, _, tag in pairs])
    return Sentences(words, tags)
