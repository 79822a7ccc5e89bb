"""The WSJ sample as dependency trees with labels, which are derived from its phrases.

``wsj_sample_deps`` has the head of every word. Of a phrase, the word whose head is outside
is its head word; the label of a word is the category of the largest phrase that it heads,
with its first function tag (NP-SBJ, PP-TMP), or "word" if it heads none.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter

from common import need_data

from maxmargin.files import read_trees

FILES = (
    "wsj_sample_deps/wsj_sample.dp.gz",
    "wsj_sample_trees/wsj_sample.mrg.gz",
)
TRAIN, DEV, TEST = (1, 159), (160, 179), (180, 199)  # documents
WORD = "word"
LEAST = 5  # times that a label with its function tag must occur in training
_NUMBERS = re.compile(r"[-=]\d+")


def load(*parts: tuple[int, int], labels: bool = True) -> list[tuple[list, list]]:
    """(X, y) of the documents of each part."""
    sentences = _read()
    if labels:
        names = _labels(sentences)
    found = []
    for first, last in parts:
        X, y = [], []
        for k, (document, rows) in enumerate(sentences):
            if first <= document <= last:
                X.append([(word, tag) for word, tag, _ in rows])
                heads = [head for _, _, head in rows]
                y.append(list(zip(heads, names[k], strict=True)) if labels else heads)
        found.append((X, y))
    return found


def _read() -> list[tuple[int, list[tuple[str, str, int]]]]:
    with gzip.open(need_data(FILES[0])[0], "rt") as file:
        blocks = file.read().split("\n\n")
    sentences, document = [], 0
    for block in blocks:
        rows = []
        for line in block.splitlines():
            if line.startswith("# doc = wsj_"):
                document = int(line.removeprefix("# doc = wsj_"))
            elif line:
                word, tag, head = line.split("\t")
                rows.append((word, tag, int(head)))
        if rows:
            sentences.append((document, rows))
    return sentences


def _labels(sentences) -> list[list[str]]:
    trees = read_trees(*need_data(FILES[1]), strip_functions=False, collapse_same=False)
    found = [
        _of_tree(tree, rows) for tree, (_, rows) in zip(trees, sentences, strict=True)
    ]
    first, last = TRAIN
    often = Counter(
        label
        for (document, _), labels in zip(sentences, found, strict=True)
        if first <= document <= last
        for label in labels
    )
    return [
        [x if often[x] >= LEAST else x.partition("-")[0] for x in labels]
        for labels in found
    ]


def _of_tree(tree, rows) -> list[str]:
    """Labels of the words of a sentence; where words differ, all are "word"."""
    heads = [head for _, _, head in rows]
    labels = [WORD] * len(rows)
    if len(tree.words()) != len(rows):
        return labels
    largest = [0] * len(rows)
    for label, begin, end in tree.spans():
        outside = [t for t in range(begin, end) if not begin < heads[t] <= end]
        if len(outside) == 1 and end - begin > largest[outside[0]]:
            largest[outside[0]] = end - begin
            labels[outside[0]] = _NUMBERS.sub("", label)
    return ["-".join(label.split("-")[:2]) for label in labels]
