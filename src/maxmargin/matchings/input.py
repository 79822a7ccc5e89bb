"""What a word aligner is given: sentence pairs, alignments, features; with checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.core.checks import is_whole
from maxmargin.core.listed import is_pair, listed
from maxmargin.matchings.bitext import LONGEST, Links, Pair, check_inside, split_words
from maxmargin.matchings.metrics import as_links
from maxmargin.matchings.word_pairs import GROUPS

LARGEST = 1e9  # of a feature: beyond it, single precision has no room for the others


class Sample(NamedTuple):
    """Sentence pairs, and what the user adds to their features: arrays or None."""

    pairs: list[Pair]
    arrays: list[np.ndarray | None]
    first: int = 0  # its place among those of which it is a part

    def parts(self, size: int) -> Iterator[Sample]:
        """The same, so many pairs at a time."""
        for k in range(0, len(self.pairs), size):
            yield Sample(self.pairs[k : k + size], self.arrays[k : k + size], k)


def check_pairs(X: Any, name: str = "X", strict: bool = True) -> Sample:
    """Sentence pairs as lists of words; texts are split at spaces.

    Without ``strict`` (a bitext), a side may be empty.
    """
    if isinstance(X, Sample):
        return X
    wanted = "(source words, target words)"
    sample = Sample([], [])
    for k, item in enumerate(
        listed(X, f"{name} is {X!r}: give a list of pairs {wanted}.")
    ):
        where = f"{name}[{k}]"
        item = listed(item, f"{where} is {item!r}, not a pair: give {wanted}.")
        if len(item) not in (2, 3):
            raise ValueError(
                f"{where} has {len(item)} parts: give {wanted}, and perhaps an array of "
                "features as the third."
            )
        source, target = (
            _words(side, where, name, strict)
            for side, name in zip(item[:2], ("source", "target"), strict=True)
        )
        sample.pairs.append((source, target))
        sample.arrays.append(item[2] if len(item) == 3 else None)
    return sample


def _words(side, where: str, name: str, strict: bool) -> list[str]:
    if isinstance(side, str):
        side = split_words(side)
    words = listed(side, f"the {name} of {where} is {side!r}, not a list of words.")
    for word in words:
        if not isinstance(word, str):
            raise ValueError(
                f"the {name} of {where} holds {word!r}, which is not a string: give words."
            )
    if strict and not words:
        raise ValueError(
            f"the {name} of {where} has no words: leave pairs with an empty side out."
        )
    if len(words) > LONGEST:
        raise ValueError(
            f"the {name} of {where} has {len(words)} words, more than {LONGEST}: split "
            "the pair into sentences."
        )
    return [str(word) for word in words]


def check_alignments(y: Any, pairs: list[Pair]) -> list[Links]:
    """One alignment per sentence pair, with links between words that are there."""
    y = listed(y, f"y is {y!r}: give a list with one alignment per sentence pair.")
    if len(y) != len(pairs):
        raise ValueError(
            f"X has {len(pairs)} sentence pairs, but y has {len(y)} alignments: give one "
            "per pair."
        )
    checked = []
    for k, (value, pair) in enumerate(zip(y, pairs, strict=True)):
        links = as_links(value, f"y[{k}]")
        try:
            check_inside(links, pair)
        except ValueError as error:
            raise ValueError(f"y[{k}]: {error}.") from None
        checked.append(links)
    return checked


SIDES = ("source", "target")


def split_unknown(y: Any, pairs: list[Pair]) -> tuple[Any, list | None]:
    """(alignments without what is not known, per pair which words of both sides are).

    None in place of an alignment is one of which nothing is known, (i, None) in a list of
    links says that those of source word i are not, (None, j) those of target word j. None
    if all is known.
    """
    if not isinstance(y, (list, tuple, np.ndarray)) or len(y) != len(pairs):
        return y, None  # check_alignments says what is wrong
    rest = list(y)
    masks = [tuple(np.ones(len(side), bool) for side in pair) for pair in pairs]
    for k, value in enumerate(rest):
        if value is None:
            rest[k], masks[k][0][:] = [], False
        if not isinstance(value, (list, tuple, set, frozenset)):
            continue
        rest[k] = [link for link in value if not _open_word(link)]
        for link in filter(_open_word, value):
            side = 0 if link[1] is None else 1
            word, n = link[side], len(masks[k][side])
            if not is_whole(word) or not 0 <= word < n:
                raise ValueError(
                    f"y[{k}] holds {tuple(link)!r}, but the {SIDES[side]} of X[{k}] has "
                    f"{n} words, numbered from 0: (i, None) says that the links of word i "
                    "of the source are not known, (None, j) those of word j of the target."
                )
            masks[k][side][word] = False
            for other in rest[k]:
                if is_pair(other) and other[side] == word:
                    raise ValueError(
                        f"y[{k}] holds {other!r} and {tuple(link)!r}: links of a word are "
                        "known all or not at all."
                    )
    return rest, None if all(m.all() for mask in masks for m in mask) else masks


def _open_word(link: Any) -> bool:
    """Whether it is (i, None) or (None, j)."""
    return is_pair(link) and (link[0] is None or link[1] is None)


def check_fertility(fertility: Any) -> tuple[int, int]:
    """(of source words, of target words); None is no bound."""
    both = fertility if isinstance(fertility, (tuple, list)) else (fertility, fertility)
    good = len(both) == 2 and all(
        most is None or (is_whole(most) and most > 0) for most in both
    )
    if not good:
        raise ValueError(
            f"fertility={fertility!r} is not possible: it must be the largest number of "
            "links of a word, such as 1, None for no bound, or a pair of these for "
            "(source, target)."
        )
    largest = np.iinfo(np.int32).max
    source, target = (largest if most is None else int(most) for most in both)
    return source, target


def check_features(features: Any) -> tuple[list[str], list[Callable]]:
    """Names of groups and functions of the user."""
    if features is None:
        return list(GROUPS), []
    if isinstance(features, str) or not isinstance(features, Sequence):
        raise ValueError(
            f"features={features!r} is not possible: give a list of names and functions; "
            f"names are {', '.join(GROUPS)}."
        )
    names = [feature for feature in features if not callable(feature)]
    for name in names:
        if not isinstance(name, str) or name not in GROUPS:
            raise ValueError(
                f"the feature group {name!r} is not known; there are {', '.join(GROUPS)}, "
                "and functions of (source words, target words)."
            )
    return names, [feature for feature in features if callable(feature)]


def user_table(value: Any, pair: Pair, where: str) -> np.ndarray:
    """What a user gives for a pair, as an array (source words, target words, features)."""
    shape = len(pair[0]), len(pair[1])
    try:
        table = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{where} are not an array of numbers.") from None
    if table.ndim == 2:
        table = table[:, :, None]
    if table.ndim != 3 or table.shape[:2] != shape:
        raise ValueError(
            f"{where} have shape {table.shape}, but there are {shape[0]} source words and "
            f"{shape[1]} target words: give ({shape[0]}, {shape[1]}, features)."
        )
    if not (np.abs(table) <= LARGEST).all():  # NaN neither
        raise ValueError(
            f"{where} hold NaN, infinity or a number above {LARGEST:g}: clean them first."
        )
    return table
