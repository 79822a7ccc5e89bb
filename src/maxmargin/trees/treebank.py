"""Treebanks: files of bracketed trees, as of the Penn Treebank.

    ( (S (NP-SBJ (PRP We)) (VP (VBP try)) (. .)) )

A tree may stand on one line or on many. Between trees, lines that begin with # or * are
comments. The bracket without a label around a tree, function tags (NP-SBJ-1 is NP) and
empty elements (-NONE-) are taken away unless they are wanted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from maxmargin.core.objects import is_from
from maxmargin.files.messages import kind_of
from maxmargin.files.text_files import RawText, read_text, write_text
from maxmargin.trees.brackets import build, position
from maxmargin.trees.tree import Tree, parsed
from maxmargin.waiting import seen

ROOTS = ("TOP", "ROOT", "S1")  # labels that say "here is a tree" and no more
EMPTY = "-NONE-"
MISSING = "(())"  # the line of a sentence without a tree, as evalb has it
_COMMENT = re.compile(r"^[#*][^\n]*", re.MULTILINE)
_FUNCTION = re.compile(r"(?<=.)[-=|].*", re.DOTALL)


def read_trees(
    source: str | os.PathLike | RawText | Iterable[str],
    *,
    strip_functions: bool = True,
    strip_empty: bool = True,
    collapse_same: bool = True,
    root: str | None = None,
    missing: bool = False,
    encoding: str = "utf-8",
) -> list[Tree]:
    """Read all trees of a file.

    Parameters
    ----------
    source : path, "-", RawText, or lines
        A file, which may be compressed with gzip; "-" is standard input; or a list of
        texts, one line each, or of trees of nltk.
    strip_functions : bool
        Take away what follows a hyphen, an equals sign or a bar in labels: NP-SBJ-1 and
        NP=2 become NP, JJ|NN becomes JJ. Labels that begin with a hyphen, such as -LRB-,
        stay.
    strip_empty : bool
        Take away empty elements (-NONE-), and phrases that have no words then.
    collapse_same : bool
        Make one node of a phrase whose only child is a phrase of the same label: (NP (NP
        ...)), which is mostly what is left where something was taken away.
    root : str or None
        None: no tree has a root that only says that it is one. The outer bracket
        without a label, and TOP, ROOT or S1 over one child, are taken away. A label such
        as "TOP": every tree has it as its root, over what would be there otherwise.
    missing : bool
        Whether a sentence without a tree, ``()`` or ``(())``, is None in the list. By
        default it is an error, and so is a tree of empty elements only.
    encoding : str

    Raises
    ------
    ValueError
        With the file and the line, if the file is not like this.
    """
    return list(
        iter_trees(
            source,
            strip_functions=strip_functions,
            strip_empty=strip_empty,
            collapse_same=collapse_same,
            root=root,
            missing=missing,
            encoding=encoding,
        )
    )


def iter_trees(
    source: str | os.PathLike | RawText | Iterable[str],
    *,
    strip_functions: bool = True,
    strip_empty: bool = True,
    collapse_same: bool = True,
    root: str | None = None,
    missing: bool = False,
    encoding: str = "utf-8",
) -> Iterator[Tree]:
    """The trees of a file one after the other; see `read_trees`."""
    if root is not None:
        Tree(root, ["word"])  # refuses what cannot be a label
    text, name = _text_of(source, encoding)
    text = _without_comments(text)

    def place(at: int) -> str:
        return f"{name}, line {text.count(chr(10), 0, at) + 1}"

    labels = _Stripped() if strip_functions else _Same()

    def make(label: str, children: list) -> Tree | None:
        if type(children[0]) is str:
            if strip_empty and label == EMPTY:
                return None
            return parsed(labels[label], children)
        if None in children:
            children = [child for child in children if child is not None]
            if not children:
                return None
        label = labels[label]
        if collapse_same and len(children) == 1:
            (child,) = children
            if child.label == label and not child.is_preterminal:
                return child
        return parsed(label, children)

    def unlabelled(children: list) -> list:
        return [child for child in children if child is not None]

    some = text.count("\n(") + 1  # trees, about
    for built, token in seen(build(text, make, place, unlabelled), some):
        children = built if type(built) is list else unlabelled([built])
        if children:
            try:
                yield _rooted(children, root)
            except ValueError as error:
                raise ValueError(f"{place(position(text, token))}: {error}") from None
        elif missing:
            yield None  # type: ignore[misc]
        else:
            raise ValueError(
                f"{place(position(text, token))}: the tree has no words: take it out "
                "(in Python, missing=True reads it as None)."
            )


def write_trees(
    path: str | os.PathLike,
    trees: Iterable[Tree | None],
    *,
    outer: bool = False,
    width: int | None = None,
    encoding: str = "utf-8",
) -> None:
    """Write trees as `read_trees` reads them, one per line.

    ``outer`` puts each into a bracket without a label, as in the Penn Treebank. With a
    ``width``, trees that are wider are broken into lines, and a blank line follows each.
    None is written as ``(())``. A path that ends in .gz is compressed, "-" is standard
    output. A file appears whole or not at all.
    """
    lines = []
    for i, tree in enumerate(trees):
        if tree is not None and not isinstance(tree, Tree):
            raise ValueError(f"trees[{i}] is {kind_of(tree)}, but it must be a Tree.")
        if tree is None:
            line = MISSING
        else:
            line = repr(tree) if width is None else tree.pretty(width)
            line = f"( {line})" if outer else line
        lines.append(line if width is None else line + "\n")
    if not lines:
        raise ValueError(f"There is no tree to write to {os.fsdecode(path)}.")
    write_text(path, "\n".join([*lines, ""]), encoding)


def base_tag(label: str) -> str:
    """A label without function tags; those that begin with a hyphen stay.

    >>> [base_tag(label) for label in ("NP-SBJ-1", "NP=2", "JJ|NN", "-LRB-", "PRP$")]
    ['NP', 'NP', 'JJ', '-LRB-', 'PRP$']
    """
    return label if label[0] == "-" else _FUNCTION.sub("", label)


class _Stripped(dict):
    """Labels without function tags, each worked out once."""

    def __missing__(self, label: str) -> str:
        self[label] = short = base_tag(label)
        return short


class _Same(dict):
    """Labels as they are."""

    def __missing__(self, label: str) -> str:
        return label


def _rooted(children: list[Tree], root: str | None) -> Tree:
    """One tree, with or without a root that says no more than that."""
    while len(children) == 1 and _is_root(children[0], root is None):
        children = list(children[0].children)
    if root is not None:
        return parsed(root, children)
    if len(children) > 1:
        raise ValueError(
            f"the outer bracket has {len(children)} children, so that it cannot be taken "
            "away: give it a label with root='TOP'."
        )
    return children[0]


def _is_root(tree: Tree, single: bool) -> bool:
    if tree.label not in ROOTS or tree.is_preterminal:
        return False
    return len(tree.children) == 1 or not single


def _text_of(source, encoding: str) -> tuple[str, str]:
    """The text, and its name for messages."""
    if isinstance(source, str | os.PathLike | RawText):
        text, name = read_text(source, encoding)
        return text.decode(), name
    if isinstance(source, bytes) or not isinstance(source, Iterable):
        raise ValueError(f"trees are read from a path or from lines, not {source!r}.")
    lines = list(source)
    for i, line in enumerate(lines):
        if is_from(line, "nltk", "Tree"):
            lines[i] = " ".join(str(line).split())
            continue
        if not isinstance(line, str):
            raise ValueError(f"line {i + 1} is {kind_of(line)}, but it must be a text.")
    return "\n".join(line.rstrip("\r\n") for line in lines), "the lines"


def _without_comments(text: str) -> str:
    """Spaces in place of comments, so that all else stays where it is.

    A line is one only between trees: within a tree, a word may be a * at its start.
    """
    pieces: list[str] = []
    done = depth = 0
    for found in _COMMENT.finditer(text):
        before = text[done : found.start()]
        depth += before.count("(") - before.count(")")
        pieces.append(before)
        done = found.start()
        if depth <= 0:
            pieces.append(" " * len(found[0]))
            done = found.end()
    return "".join([*pieces, text[done:]])
