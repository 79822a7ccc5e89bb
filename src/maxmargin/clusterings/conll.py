"""Coreference in the format of the CoNLL-2012 shared task.

    #begin document (emma); part 000
    emma  0  0  Emma    NNP  ...  (1)
    emma  0  1  saw     VBD  ...  -
    emma  0  2  her     PRP$ ...  (1)|(2
    emma  0  3  friend  NN   ...  2)
    <an empty line after every sentence>
    #end document

Columns are separated by blanks; the fourth is the word, the last one has the mentions:
``(2`` opens one of cluster 2, ``2)`` closes it, ``(2)`` is one of a single word.
"""

from __future__ import annotations

import os
import re
from typing import Any

from maxmargin.clusterings.documents import (
    Mention,
    MentionDocument,
    as_document,
    first_mentions,
    numbered,
)
from maxmargin.clusterings.json_lines import Mentions
from maxmargin.files.messages import short
from maxmargin.files.text_files import RawText, encode_text, read_text, write_raw

_BEGIN = re.compile(r"#begin document \(?(.*?)\)?(?:; part (\d+))?\s*$")
_PIECE = re.compile(r"(\()?(\d+)(\))?")
WORD = 3  # column


class _Document:
    """One document while its lines are read."""

    def __init__(self, name: str):
        self.name = name
        self.sentences: list[list[str]] = []
        self.words: list[str] = []
        self.open: dict[str, list[int]] = {}
        self.found: list[tuple[Mention, str]] = []
        self.spans: dict[tuple[int, int, int], str] = {}  # and their clusters

    def line(self, columns: list[str], where: str) -> None:
        word, place = len(self.words), len(self.sentences)
        self.words.append(columns[WORD])
        if columns[-1] in ("-", "_", "*"):
            return
        for piece in columns[-1].split("|"):
            match = _PIECE.fullmatch(piece)
            if not match or not (match[1] or match[3]):
                raise ValueError(
                    f"{where}: {short(columns[-1])} does not say where mentions begin and "
                    "end: it must be - or such as (3, 3), (3) or (3)|(4."
                )
            begins, cluster, ends = match.groups()
            if begins:
                self.open.setdefault(cluster, []).append(word)
            if ends:
                if not self.open.get(cluster):
                    raise ValueError(
                        f"{where}: {cluster}) closes a mention that was not opened in this "
                        "sentence."
                    )
                first = self.open[cluster].pop()
                span = place, first, word
                if self.spans.setdefault(span, cluster) != cluster:
                    words = " ".join(self.words[first:])
                    raise ValueError(
                        f"{where}: the span {list(span)} ({short(words)}) is in the "
                        f"clusters {self.spans[span]} and {cluster}: a span of words has "
                        "one."
                    )
                self.found.append((Mention(*span), cluster))

    def end_sentence(self, where: str) -> None:
        left = sorted(cluster for cluster, firsts in self.open.items() if firsts)
        if left:
            raise ValueError(
                f"{where}: the sentence ends before the mention ({left[0]} is closed."
            )
        if self.words:
            self.sentences.append(self.words)
            self.words = []

    def finished(self):
        # outer mentions before inner ones, as they begin
        rows = sorted(self.found, key=lambda r: (*r[0][:2], -r[0].last))
        clusters = [cluster for _, cluster in rows]
        mentions = [mention for mention, _ in rows]
        return MentionDocument(self.name, self.sentences, mentions), numbered(clusters)


def read_conll2012(
    path: str | os.PathLike | RawText, encoding: str = "utf-8"
) -> Mentions:
    """Read documents; parts of one are documents of their own, named "name; part 000"."""
    text, name = read_text(path, encoding)
    X, y = [], []
    document: _Document | None = None
    for number, line in enumerate(text.decode().split("\n"), 1):
        where = f"{name}, line {number}"
        if line.startswith("#begin document"):
            if document is not None:
                raise ValueError(f"{where}: the last document has no #end document.")
            match = _BEGIN.match(line)
            title, part = match.groups() if match else ("", None)
            document = _Document(title if part is None else f"{title}; part {part}")
        elif line.startswith("#end document"):
            if document is None:
                raise ValueError(f"{where}: no document has begun that could end.")
            document.end_sentence(where)
            x, clusters = document.finished()
            X.append(x)
            y.append(clusters)
            document = None
        elif not line.strip():
            if document is not None:
                document.end_sentence(where)
        elif not line.startswith("#"):
            columns = line.split()
            if document is None:
                raise ValueError(f"{where}: there is no #begin document before it.")
            if len(columns) <= WORD + 1:
                raise ValueError(
                    f"{where} has {len(columns)} columns: a word is in column {WORD + 1}, "
                    "its mentions in the last one."
                )
            document.line(columns, where)
    if document is not None:
        raise ValueError(f"{name}: the document {document.name} has no #end document.")
    if not X:
        raise ValueError(f"{name} has no documents: each begins with #begin document.")
    return Mentions(X, y, name)


def write_conll2012(
    path: str | os.PathLike, X: Any, clusters: Any, encoding: str = "utf-8"
) -> None:
    """Write documents with their clusters, an id per mention."""
    lines = []
    for i, x in enumerate(X):
        x = as_document(x, f"X[{i}]")
        ids = numbered(
            first_mentions(clusters[i], len(x.mentions), f"clusters[{i}]").tolist()
        )
        title, _, part = x.name.partition("; part ")
        title, part = title or f"document{i}", part if part.isdigit() else "000"
        lines.append(f"#begin document ({title}); part {part}")
        marks = _marks(x, ids)
        for s, words in enumerate(x.sentences):
            for k, word in enumerate(words):
                empty = " ".join(["-"] * 2 + ["*"] + ["-"] * 3 + ["*"])
                mark = "|".join(marks.get((s, k), ["-"]))
                word = "_" if not word.strip() else "".join(word.split())
                row = f"{title.replace(' ', '_')} {int(part)} {k} {word} {empty} {mark}"
                lines.append(row)
            lines.append("")
        lines.append("#end document")
    text = "".join(f"{line}\n" for line in lines)
    write_raw(path, encode_text(text, path, encoding))


def _marks(x: MentionDocument, ids) -> dict[tuple[int, int], list[str]]:
    """What opens and closes at each word: outer mentions first, inner ones close first."""
    marks: dict[tuple[int, int], list[str]] = {}
    rows = sorted(
        zip(x.mentions, ids, strict=True), key=lambda r: (*r[0][:2], -r[0].last)
    )
    for m, c in rows:
        if m.last > m.first:
            marks.setdefault((m.sentence, m.first), []).append(f"({c}")
    for m, c in rows:
        if m.last == m.first:
            marks.setdefault((m.sentence, m.first), []).append(f"({c})")
    for m, c in reversed(rows):
        if m.last > m.first:
            marks.setdefault((m.sentence, m.last), []).append(f"{c})")
    return marks
