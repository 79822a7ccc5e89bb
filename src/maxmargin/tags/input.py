"""What a tagger is given: sequences, label sequences, constraints; checked, with words.

Sequences may be objects of other libraries: data frames, docs of spaCy.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set
from itertools import chain as chain_lists
from itertools import pairwise, repeat
from typing import Any

import numpy as np

from maxmargin.core.objects import is_class_of, is_from
from maxmargin.core.warn import warn
from maxmargin.fitting.held_out import unknown
from maxmargin.tags.features.sequences import sequence_list
from maxmargin.tags.files.columns import Columns, columns_from
from maxmargin.tags.files.docs import words_of_docs
from maxmargin.tags.files.frames import columns_of, tokens_of
from maxmargin.tags.schemes import forbidden_transitions

LONG = 5_000  # tokens: whole books in one sequence, or a file without blank lines
PLAIN = list, tuple  # what other libraries have not made

# sequences -----------------------------------------------------------------------------


def sequences_from(X: Any) -> Any:
    """A list of data frames or docs as lists of tokens; all else as it is."""
    if _holds(X, "pandas", "DataFrame"):
        return tokens_of(X)
    return words_of_docs(X) if _holds(X, "spacy", "Doc") else X


def read_input(X: Any, columns: bool) -> Any:
    """Sequences as an encoder wants them: as columns for templates, or as lists."""
    if not columns:
        return sequences_from(X)
    if isinstance(X, Columns):
        return X
    refuse_containers(X)
    if _holds(X, "pandas", "DataFrame"):
        return columns_of(X)
    return columns_from(words_of_docs(X) if _holds(X, "spacy", "Doc") else X)


def _holds(X: Any, package: str, name: str) -> bool:
    """Whether a list has an object of this class in it."""
    kinds = set(map(type, X)).difference(PLAIN) if isinstance(X, PLAIN) else ()
    return any(is_class_of(kind, package, name) for kind in kinds)


def refuse_containers(X: Any) -> None:
    """A sentence for one object that holds many sequences, or is one of them."""
    if type(X) in PLAIN:
        return
    if is_from(X, "spacy", "Doc"):
        raise ValueError("X is one Doc: give a list of docs, also for one.")
    for package, name, reader in (
        ("pandas", "DataFrame", 'read_frame(frame, sentence="...", label="...")'),
        ("spacy", "DocBin", "read_docs(docbin, vocab=nlp.vocab)"),
        ("datasets", "Dataset", 'read_dataset(dataset, "tokens", "ner_tags")'),
        ("datasets", "IterableDataset", 'read_dataset(dataset, "tokens", "ner_tags")'),
    ):
        if is_from(X, package, name):
            raise ValueError(
                f"X is of type {name}, which must be read before: X, y = "
                f"maxmargin.files.{reader}."
            )


def check_samples(X, y, unlabelled=False):
    """X as a list of sequences and y as a list of label sequences, as many.

    With ``unlabelled``, None may stand for a whole label sequence.
    """
    if not isinstance(X, Columns):
        refuse_containers(X)
        X = sequence_list(X)
    n = len(X.start) - 1 if isinstance(X, Columns) else len(X)
    if y is None:
        raise ValueError("y is missing: give one label sequence per sequence of X.")
    if isinstance(y, str):
        raise ValueError("y is one string: give a list of label sequences.")
    if not isinstance(y, Iterable):
        raise ValueError(f"y is {y!r}: give a list of label sequences.")
    y = list(y)
    for i, labels in enumerate(y):
        if type(labels) in PLAIN or (unlabelled and labels is None):
            continue
        if is_from(labels, "spacy", "Doc"):  # which has many annotations
            raise ValueError(
                f'y[{i}] is a Doc: X, y = maxmargin.files.read_docs(docs, label="ents") '
                '(or "tag", "pos") gives its labels.'
            )
        # a set has no order, and an array may have no dimension
        if (
            isinstance(labels, (str, bytes, Mapping, Set))
            or not (isinstance(labels, Iterable) and hasattr(labels, "__len__"))
            or getattr(labels, "ndim", 1) == 0
        ):
            raise ValueError(
                f"y[{i}] is {labels!r}, not a sequence of labels: y must be a list of "
                "label sequences, one per sequence of X."
            )
    if len(y) != n:
        raise ValueError(
            f"X has {n} sequences, but y has {len(y)}: give one label sequence "
            "per sequence."
        )
    return X, y


def check_matching(start, y) -> None:
    lengths = np.diff(start)
    given = np.fromiter(map(len, y), np.int64, len(y))
    wrong = np.flatnonzero(lengths != given)
    if len(wrong):
        i = wrong[0]
        raise ValueError(
            f"sequence {i} has {lengths[i]} tokens, but y[{i}] has {given[i]} labels: "
            "give one label per token."
        )


def check_known(y, name: str = "y") -> None:
    """Refuse held-out labels that are None: they are neither right nor wrong."""
    for i, row in enumerate(y):
        missing = [None] if row is None else [z for z in row if unknown(z)]
        if missing:
            raise ValueError(
                f"{name}[{i}] has {missing[0]}, a label that is not known, and held-out "
                "labels must be known: leave such sequences out."
            )


def warn_of_truth(X, template, y) -> None:
    """A column that is read and holds the labels teaches nothing but to copy it."""
    parts = {p for f in template.features for p in f.parts}
    for column in sorted(
        {p.column for p in parts if not p.row and p.view.macro == "x"}
    ):
        ids, words = X.columns[column]
        first = [words[k] for k in ids[: len(y[0])].tolist()] if y else None
        if first and first == list(y[0]) and X.strings(column) == list(map(list, y)):
            name = X.names[column] if X.names else column
            warn(
                f"column {name} of X, which the features read, holds the labels "
                "themselves: leave it out, or there is nothing to learn.",
            )


def warn_of_length(start) -> None:
    lengths = np.diff(start)
    if lengths.max(initial=0) > LONG:
        i = int(lengths.argmax())
        warn(
            f"sequence {i} has {lengths[i]} tokens, and long sequences train slowly: is "
            "there a blank line missing between sentences?",
        )


# labels --------------------------------------------------------------------------------


class Truth:
    """Label sequences as numbers of labels: those in y, or ``labels`` where given."""

    def __init__(self, y: list, labels: list | None = None):
        self.y, self.gaps = y, False
        if labels is None:
            labels, self.gaps = label_set(y)
        self.labels = labels
        self._number = {label: k for k, label in enumerate(labels)}

    def numbers(self, start: np.ndarray) -> np.ndarray:
        """A number per token of sequences that start there; -1 for no known label.

        From now on, ``y`` has lists of None for sequences of which nothing is known.
        """
        self.y = fill_rows(self.y, start)
        check_matching(start, self.y)
        every = chain_lists.from_iterable(self.y)
        return np.fromiter(map(self._number.get, every, repeat(-1)), np.int32)


def fill_rows(y, start: np.ndarray) -> list:
    """Sequences of which nothing is known as lists of None."""
    sizes = np.diff(start).tolist()
    return [[None] * n if row is None else row for row, n in zip(y, sizes, strict=True)]


def label_set(y) -> tuple[list, bool]:
    """(the distinct labels, sorted; whether some are None, or a whole sequence of them).

    Labels are plain str or int, so that they can be saved.
    """
    try:
        labels = set(chain_lists.from_iterable(row for row in y if row is not None))
    except TypeError:  # a label that cannot be hashed
        raise _bad_label(y) from None
    gaps = None in labels or any(row is None for row in y)
    labels = set(map(_plain, labels)) - {None}  # a label that is not known
    kinds = set(map(_label_kind, labels))
    if None in kinds or len(kinds) > 1:
        raise _bad_label(y)
    if len(labels) == 1:  # without any, the sequences are empty or do not match
        raise ValueError(
            f"y holds one label only ({', '.join(map(repr, labels))}): at least two "
            "labels are needed to learn to tell them apart."
        )
    return sorted(labels), gaps


def _plain(label):
    return label.item() if isinstance(label, np.generic) else label


def _label_kind(label):
    if isinstance(label, bool):
        return None
    return next((kind for kind in (str, int) if isinstance(label, kind)), None)


def _bad_label(y) -> ValueError:
    """What to say of the first label that is strange or unlike the very first."""
    wanted = "labels must be all strings or all integers."
    first = None
    for i, row in enumerate(y):
        for label in map(_plain, () if row is None else row):
            if label is None:  # not known
                continue
            kind = _label_kind(label)
            if kind is None:
                return ValueError(f"y[{i}] holds {label!r}: {wanted}")
            first = first or (i, label, kind)
            if kind is not first[2]:
                return ValueError(
                    f"y[{i}] holds {label!r}, but y[{first[0]}] holds {first[1]!r}: "
                    f"{wanted}"
                )
    return ValueError(f"y holds a label that cannot be hashed: {wanted}")


# constraints ---------------------------------------------------------------------------


def barrier_with(scheme: str | None, forbidden, labels: list) -> np.ndarray | None:
    """The same, of what a scheme does not allow either."""
    if scheme is not None:
        forbidden = [*(forbidden or ()), *forbidden_transitions(labels, scheme)]
    return barrier_of(forbidden, labels)


def barrier_of(forbidden, labels):
    """(labels + 2, labels): -inf where a transition, start or end is forbidden."""
    if forbidden is None:
        return None
    if (
        isinstance(forbidden, str)
        or not isinstance(forbidden, Collection)
        or getattr(forbidden, "ndim", 1) == 0
    ):
        raise ValueError(
            f"forbidden={forbidden!r} is not possible: give a list of pairs (label, "
            "next label), or None."
        )
    if len(forbidden) == 0:
        return None
    numbers = {label: k for k, label in enumerate(labels)}
    k = len(labels)
    wall = np.zeros((k + 2, k))
    for pair in forbidden:
        try:
            if isinstance(pair, str):  # two letters are not two labels
                raise TypeError
            a, b = pair
            unknown = [z for z in (a, b) if z is not None and z not in numbers]
        except (TypeError, ValueError):
            raise ValueError(
                f"forbidden holds {pair!r}: give pairs (label, next label)."
            ) from None
        if a is None and b is None:
            raise ValueError("forbidden holds (None, None): one label is needed.")
        if unknown:
            # a label that never occurs cannot be predicted: nothing to forbid
            continue
        if a is None:
            wall[k, numbers[b]] = -np.inf
        elif b is None:
            wall[k + 1, numbers[a]] = -np.inf
        else:
            wall[numbers[a], numbers[b]] = -np.inf
    return wall


def first_forbidden(wall, flat, start) -> tuple[int, np.ndarray, int] | None:
    """(sequence, its labels, place) of the first with a forbidden transition.

    Place 0 is the start, 1 the end, t + 1 the step to token t. None if there is none.
    """
    k = len(wall) - 2
    for i, (a, b) in enumerate(pairwise(start.tolist())):
        y = flat[a:b]
        if len(y):
            ends = wall[[k, k + 1], [y[0], y[-1]]]
            bad = np.isinf(np.concatenate([ends, wall[y[:-1], y[1:]]]))
            if bad.any():
                return i, y, int(bad.argmax())
    return None


def check_allowed(wall, flat, start, labels) -> None:
    """The training data must obey the constraints; says where they do not."""
    found = first_forbidden(wall, flat, start)
    if found is None:
        return
    i, y, place = found
    if place == 0:
        what = f"starts with {labels[y[0]]!r}"
    elif place == 1:
        what = f"ends with {labels[y[-1]]!r}"
    else:
        t = place - 1
        what = f"goes from {labels[y[t - 1]]!r} to {labels[y[t]]!r} at token {t}"
    raise ValueError(
        f"y[{i}] {what}, which is forbidden: correct the data or allow it."
    )
