"""What describes arcs and labels, as rows of a table that hashing finds.

The features are those of McDonald, Crammer & Pereira (2005), table 1: words and tags of
head and modifier, alone and in pairs, tags around both, and every tag between them; each
with the direction of the arc, and once more with its length, too. Words have a prefix of
five letters beside them.

Nothing is stored per arc. A token has one random-looking number, its *key*, for each role
in which a template sees it; the row of a feature is the exclusive or of the keys of its
parts, modulo the number of rows (Bohnet 2010 shows that such hashing parses faster and no
worse, as it has room for features of wrong arcs, too). A row holds the weights of all
directions and lengths side by side:

    row   [ left: 7 lengths, any length | right: 7 lengths, any length ]

so that both weights of a feature are in one line of the processor's cache, and what only
depends on one token is summed once per token.

Labels have rows of their own, with a weight for each: of the modifier, of the head, both
with the direction, and of the tags of both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import inlined

# numbers of words, prefixes and tags
UNKNOWN, ROOT, BEFORE, AFTER = range(4)
FIRST = 4  # the first that stands for a text

# what a key is made of
VIEWS = (
    "word",
    "tag",
    "word+tag",
    "prefix",
    "tag-1+tag",
    "tag+tag+1",
    "tag-1+tag+tag+1",
)
N_VIEWS = len(VIEWS)
# (view of the head, view of the modifier)
HEADS = (2, 1, 0, 2, 2, 0, 1, 3, 3, 1, 5, 4, 5, 4, 4, 5, 1, 1)
MODIFIERS = (2, 2, 2, 1, 0, 0, 1, 3, 1, 3, 4, 4, 5, 5, 1, 1, 4, 5)
N_PAIRS = len(HEADS)

# columns of the table of keys
MODIFIER = N_PAIRS
HEAD_ALONE = MODIFIER + N_PAIRS
MODIFIER_ALONE = HEAD_ALONE + N_VIEWS
HEAD_AROUND = MODIFIER_ALONE + N_VIEWS  # around a tag between
MODIFIER_AROUND = HEAD_AROUND + 1
BETWEEN = MODIFIER_AROUND + 1
LABEL_HEAD = BETWEEN + 1  # twice as many: by direction
LABEL_MODIFIER = LABEL_HEAD + 2 * N_VIEWS
LABEL_HEAD_TAG = LABEL_MODIFIER + 2 * N_VIEWS
LABEL_MODIFIER_TAG = LABEL_HEAD_TAG + 1
N_KEYS = LABEL_MODIFIER_TAG + 1

WIDTH = 16  # of the row of a feature of arcs
ANY = 7  # the place of any length within a direction
LONG, LONGER = 5, 10  # words: longer arcs are not told apart

_BITS = (1 << 42) - 1  # keys; times a factor below 2^21 they fit into 63 bits
_FACTOR, _STEP = 2031377, 40503


class Sentences(NamedTuple):
    """Tokens of all sentences, each after a token for the root."""

    cuts = cut_by(
        first="example", words="first", prefixes="first", tags="first", kinds="first",
        n_kinds="example",
    )  # fmt: skip

    first: np.ndarray  # int64: sentence i has the tokens first[i] .. first[i + 1]
    words: np.ndarray  # int32
    prefixes: np.ndarray
    tags: np.ndarray
    kinds: np.ndarray  # int32: the tags of a sentence, numbered in it
    n_kinds: np.ndarray  # int32, by sentence


@inlined
def mixed(key, value):
    """A key that depends on both."""
    x = ((key ^ value) * _FACTOR) & _BITS
    x = ((x ^ (x >> 21)) * _FACTOR) & _BITS
    return x ^ (x >> 19)


@inlined
def salted(place):
    """The number that tells one use of a view from the others."""
    return mixed((place + 1) * _STEP, place)


@inlined
def keys_of(sentences, i):
    """The keys of all tokens of sentence i; the root is token 0."""
    first = sentences.first[i]
    n = sentences.first[i + 1] - first
    keys = np.empty((n, N_KEYS), np.int64)
    views = np.empty(N_VIEWS, np.int64)
    for t in range(n):
        word = np.int64(sentences.words[first + t])
        tag = np.int64(sentences.tags[first + t])
        before, after = np.int64(BEFORE), np.int64(AFTER)
        if t > 0:
            before = np.int64(sentences.tags[first + t - 1])
        if t + 1 < n:
            after = np.int64(sentences.tags[first + t + 1])
        views[0] = mixed(salted(N_KEYS), word)
        views[1] = mixed(salted(N_KEYS + 1), tag)
        views[2] = mixed(views[0], tag)
        views[3] = mixed(salted(N_KEYS + 3), np.int64(sentences.prefixes[first + t]))
        views[4] = mixed(mixed(salted(N_KEYS + 4), before), tag)
        views[5] = mixed(mixed(salted(N_KEYS + 5), tag), after)
        views[6] = mixed(mixed(mixed(salted(N_KEYS + 6), before), tag), after)
        for j in range(N_PAIRS):
            keys[t, j] = mixed(views[HEADS[j]], salted(j))
            keys[t, MODIFIER + j] = mixed(views[MODIFIERS[j]], salted(MODIFIER + j))
        for j in range(N_VIEWS):
            for place in (HEAD_ALONE + j, MODIFIER_ALONE + j):
                keys[t, place] = mixed(views[j], salted(place))
            for d in range(2):
                for place in (LABEL_HEAD + 2 * j + d, LABEL_MODIFIER + 2 * j + d):
                    keys[t, place] = mixed(views[j], salted(place))
        for place in (
            HEAD_AROUND,
            MODIFIER_AROUND,
            BETWEEN,
            LABEL_HEAD_TAG,
            LABEL_MODIFIER_TAG,
        ):
            keys[t, place] = mixed(views[1], salted(place))
    return keys


@inlined
def slot_of(h, m):
    """Where the row of a feature has the weight for the direction and length of an arc."""
    length = abs(h - m)
    if length > LONG:
        length = LONG + 1 if length <= LONGER else LONG + 2
    return (8 if m > h else 0) + length - 1
