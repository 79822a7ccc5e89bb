"""What features of arcs and labels are called, and which weights they have.

Hashing cannot be undone, so that names come from the sentence that has the features, or,
for all weights, from the tags that the model knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from maxmargin.core.kernel import kernel
from maxmargin.dependencies.features import (
    ANY,
    BETWEEN,
    HEAD_ALONE,
    HEAD_AROUND,
    HEADS,
    LABEL_HEAD,
    LABEL_HEAD_TAG,
    LABEL_MODIFIER,
    LABEL_MODIFIER_TAG,
    MODIFIER,
    MODIFIER_ALONE,
    MODIFIER_AROUND,
    MODIFIERS,
    N_PAIRS,
    N_VIEWS,
    WIDTH,
    Sentences,
    keys_of,
    slot_of,
)
from maxmargin.dependencies.siblings import (
    HEAD_WORD,
    MODIFIER_WORD,
    SIBLING,
    SIBLING_WORD,
    TEMPLATES,
    TRIPLES,
    SiblingBatch,
    find_siblings,
    sibling_keys,
)
from maxmargin.dependencies.siblings import MODIFIER as SECOND
from maxmargin.dependencies.words import PREFIX, numbered_within

LENGTHS = ("1", "2", "3", "4", "5", "6 to 10", "more than 10")
TAGS = HEADS.index(1, 6)  # the template of both tags


@kernel
def token_keys(sentences, i):
    return keys_of(sentences, i)


@kernel
def sibling_table(sentences, i):
    return sibling_keys(sentences, i)


class Names:
    """The features of one sentence of a batch, by the number of their weight."""

    def __init__(self, structure: Any, batch: Any, sentence: list[tuple[str, str]]):
        self.structure, self.batch = structure, batch
        self.keys = token_keys(batch.sentences, 0)
        self.tokens = [("ROOT", "ROOT"), *sentence]
        self.found: dict[int, str] = {}

    def add(self, y: np.ndarray) -> None:
        """The features of an output."""
        if isinstance(self.batch, SiblingBatch):
            self._add_siblings(y)
        for m, code in enumerate(y.tolist(), 1):
            h, label = divmod(code, self.batch.n_labels)
            for j, name in self._of_arc(h, m):
                self.found.setdefault(j, name)
            if self.batch.n_labels > 1:
                for j, name in self._of_label(h, m, label):
                    self.found.setdefault(j, name)

    def __call__(self, j: int) -> str:
        return self.found[j]

    def _of_arc(self, h: int, m: int) -> Iterator[tuple[int, str]]:
        keys, mask = self.keys, self.batch.arc_rows - 1
        rows = [
            (
                keys[h, j] ^ keys[m, MODIFIER + j],
                f"{self._view(HEADS[j], h)} -> {self._view(MODIFIERS[j], m)}",
            )
            for j in range(N_PAIRS)
        ]
        for j in range(N_VIEWS):
            rows.append((keys[h, HEAD_ALONE + j], f"head {self._view(j, h)}"))
            rows.append((keys[m, MODIFIER_ALONE + j], f"modifier {self._view(j, m)}"))
        around = keys[h, HEAD_AROUND] ^ keys[m, MODIFIER_AROUND]
        for t in range(min(h, m) + 1, max(h, m)):
            name = f"{self._view(1, h)} -> {self._view(1, m)} over {self._view(1, t)}"
            rows.append((around ^ keys[t, BETWEEN], name))
        slot = slot_of.py_func(h, m)
        for key, name in rows:
            row = int(key & mask) * WIDTH
            yield row + slot, f"{name}, {direction(h, m)}, {LENGTHS[slot & 7]}"
            yield row + (slot & 8) + ANY, f"{name}, {direction(h, m)}"

    def _of_label(self, h: int, m: int, label: int) -> Iterator[tuple[int, str]]:
        keys, d, text = self.keys, int(m > h), self.structure.labels[label]
        rows = [(keys[h, LABEL_HEAD_TAG] ^ keys[m, LABEL_MODIFIER_TAG], "")]
        rows[0] = (rows[0][0], f"{self._view(1, h)} -> {self._view(1, m)}")
        for j in range(N_VIEWS):
            name = f"modifier {self._view(j, m)}, {direction(h, m)}"
            rows.append((keys[m, LABEL_MODIFIER + 2 * j + d], name))
            name = f"head {self._view(j, h)}, {direction(h, m)}"
            rows.append((keys[h, LABEL_HEAD + 2 * j + d], name))
        for key, name in rows:
            yield label_place(self.batch, key) + label, f"{text}: {name}"

    def _add_siblings(self, y: np.ndarray) -> None:
        heads = y.astype(np.int64) // self.batch.n_labels
        keys, before = sibling_table(self.batch.sentences, 0), np.zeros_like(heads)
        find_siblings.py_func(heads, 1, before)
        none = len(keys) - 1
        for m, (h, s) in enumerate(
            zip(heads.tolist(), before.tolist(), strict=True), 1
        ):
            slot = slot_of.py_func(s, m)
            for j in range(TEMPLATES):
                key = keys[none if s == h else s, SIBLING + j] ^ keys[m, SECOND + j]
                parts = [self._view(not MODIFIER_WORD[j], m), "none"]
                if s != h:
                    parts[1] = self._view(not SIBLING_WORD[j], s)
                name = f"{parts[0]} after {parts[1]}"
                if j < TRIPLES:
                    key ^= keys[h, j]
                    name += f" of {self._view(not HEAD_WORD[j], h)}"
                row = int(key & (self.batch.arc_rows - 1)) * WIDTH
                far = f"{name}, {direction(h, m)}"
                self.found.setdefault(row + slot, f"{far}, {LENGTHS[slot & 7]}")
                self.found.setdefault(row + (slot & 8) + ANY, far)

    def _view(self, view: int, t: int) -> str:
        """A view of a token as text."""
        n = len(self.tokens)
        word, tag = self.tokens[t]
        before = self.tokens[t - 1][1] if t else "(start)"
        after = self.tokens[t + 1][1] if t + 1 < n else "(end)"
        return (
            word,
            tag,
            f"{word}/{tag}",
            f"{word[:PREFIX]}...",
            f"[{before}] {tag}",
            f"{tag} [{after}]",
            f"[{before}] {tag} [{after}]",
        )[view]


def direction(h: int, m: int) -> str:
    return "to the right" if m > h else "to the left"


def label_place(batch: Any, key: int) -> int:
    """Where the weights of all labels for a feature begin."""
    return batch.arc_rows * WIDTH + int(key & (batch.label_rows - 1)) * batch.width


def tag_weights(structure: Any, w: np.ndarray) -> Iterator[tuple[str, str, float]]:
    """(group, name, weight) of features that tags alone make: they can be listed."""
    tags = structure.words.tags
    names = ["ROOT", *tags]
    numbers = np.array([1, *tags.values()], np.int32)
    first = np.array([0, len(numbers)])
    kinds, n_kinds = numbered_within(numbers, first)
    sentence = Sentences(first, numbers, numbers, numbers, kinds, n_kinds)
    keys = token_keys(sentence, 0)
    batch = structure.encode([])
    for h, head in enumerate(names):
        for m, modifier in enumerate(names[1:], 1):
            key = keys[h, TAGS] ^ keys[m, MODIFIER + TAGS]
            row = int(key & (batch.arc_rows - 1)) * WIDTH
            for slot in range(WIDTH):
                length = LENGTHS[slot & 7] if slot & 7 != ANY else "any length"
                to = "to the right" if slot & 8 else "to the left"
                name = f"{head} -> {modifier}, {to}, {length}"
                yield "arcs", name, float(w[row + slot])
            if structure.labels:
                key = keys[h, LABEL_HEAD_TAG] ^ keys[m, LABEL_MODIFIER_TAG]
                place = label_place(batch, key)
                for k, label in enumerate(structure.labels):
                    name = f"{label}: {head} -> {modifier}"
                    yield "labels", name, float(w[place + k])
