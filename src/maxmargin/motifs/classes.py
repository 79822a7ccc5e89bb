"""Labels of sequences: which of two is that of those with the motif.

It must not depend on the alphabet: of "bound" and "unbound" nobody wants the motif of the
greater one. So it is named, or it is one that says so itself (1 beside 0 or -1, True, "+",
"positive", ..), or it is plainly the rarer one (:data:`RARER`), which a warning tells.
"""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Hashable

import numpy as np

from maxmargin.core.warn import warn
from maxmargin.files.messages import short
from maxmargin.motifs.input import listed

# Texts, in small letters, that speak for themselves; so does "1" beside a negative one.
POSITIVE = ("+", "+1", "true", "yes", "positive", "pos")
NEGATIVE = ("-", "-1", "0", "false", "no", "negative", "neg")
RARER = 3  # times as many others: then the rarer label is plainly that of the motif


def two_classes(y, n: int, positive):
    """(both labels, negative one first; 0 or 1 of every sample)."""
    labels = [
        v.item() if isinstance(v, np.generic) else v for v in listed(y, "y", "labels")
    ]
    if len(labels) != n:
        raise ValueError(
            f"X has {n} sequences and y {len(labels)} labels: give one label each."
        )
    if n == 0:
        raise ValueError("X is empty: give sequences with the motif and without it.")
    for i, label in enumerate(labels):
        if not isinstance(label, (str, numbers.Real)) or label != label:
            raise ValueError(
                f"y[{i}] is {short(str(label))}: give every sequence one of two labels, "
                "such as True and False."
            )
        if isinstance(label, str) != isinstance(labels[0], str):
            raise ValueError(
                f"y[{i}] is {label!r}, but y[0] is {labels[0]!r}: labels must be all texts "
                "or all numbers."
            )
    classes = sorted(set(labels))
    if len(classes) != 2:
        shown = ", ".join(map(repr, classes[:4])) + (
            ", ..." if len(classes) > 4 else ""
        )
        raise ValueError(
            f"y holds {len(classes)} label{'' if len(classes) == 1 else 's'} ({shown}), "
            "but two are needed: one for sequences with the motif, one for those without."
        )
    if positive is None:
        positive = positive_label(labels, "y", "positive=")
    elif positive not in classes:
        raise ValueError(
            f"positive={positive!r} is not a label of y, which has {classes[0]!r} and "
            f"{classes[1]!r}."
        )
    classes.sort(key=lambda label: label == positive)
    return np.array(classes), np.array([v == classes[1] for v in labels], np.uint8)


def check_use(label, weights, classes) -> None:
    """ValueError unless both classes have some weight."""
    for kind in (0, 1):
        if not weights[label == kind].any():
            raise ValueError(
                f"all samples of the class {classes[kind].item()!r} have the weight 0: "
                "give both classes some weight."
            )


def positive_label(labels: list, place: str, option: str) -> Hashable:
    """The label of sequences with the motif among two, if it need not be asked for.

    Messages say where the labels are and by which ``option`` one of them is named.
    """
    counts = Counter(labels)
    a, b = sorted(counts)
    speaking = [label for label, other in ((a, b), (b, a)) if _speaks(label, other)]
    if len(speaking) == 1:
        return speaking[0]
    rare, common = sorted((a, b), key=counts.get)
    seen = (
        f"{rare!r} ({counts[rare]:,} times) and {common!r} ({counts[common]:,} times)"
    )
    if RARER * counts[rare] > counts[common]:
        raise ValueError(
            f"{place} has the labels {seen}, of which neither says that it is the one of "
            f"sequences with the motif: name that by {option}{a!r} or {option}{b!r}."
        )
    warn(
        f"{place} has the labels {seen}: the rarer one, {rare!r}, is taken for that of "
        f"sequences with the motif. Say so by {option}{rare!r}, or name the other.",
    )
    return rare


def says(value: str) -> bool | None:
    """Whether a text says by itself that a sequence has the motif; None if neither."""
    known = value.lower()
    if known == "1" or known in POSITIVE:
        return True
    return False if known in NEGATIVE else None


def _speaks(label, other) -> bool:
    """Whether a label says of itself that it is the positive one of two."""
    if isinstance(label, str):
        return label.lower() in POSITIVE or (label == "1" and says(other) is False)
    return label == 1 and other in (0, -1)
