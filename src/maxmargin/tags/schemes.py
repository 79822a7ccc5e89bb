"""Tagging schemes: spans written as one label per token, such as B-NP I-NP O.

A label is ``O`` (outside of all spans) or a letter, a hyphen and a type; a letter alone
stands for a span without a type. What the letters say:

======  =======================================================================
BIO     ``B`` the first token of a span, ``I`` the others (also called IOB2)
IOB1    ``I`` a token of a span; ``B`` the first one, used only where the span
        follows at once on another of its type
BIOES   as BIO, and ``E`` the last token, ``S`` a span of one token (IOBES)
BILOU   as BIOES, with ``L`` for the last token and ``U`` for the only one
IO      ``I`` a token of a span; neighbours of one type are one span
======  =======================================================================

In every scheme it depends on two neighbours alone whether they may stand side by side
(`_may_follow`). So the rules can be checked pair by pair, and a chain can be kept to
them by forbidding transitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

SCHEMES = ("BIO", "IOB1", "BIOES", "BILOU", "IO")
_OTHER_NAMES = {"IOB2": "BIO", "IOBES": "BIOES"}
_LETTERS = {
    "BIO": "BI",
    "IOB1": "BI",
    "BIOES": "BIES",
    "BILOU": "BILU",
    "IO": "I",
    "auto": "BIESLU",
}
_MEANING = {"L": "E", "U": "S"}  # letters of BILOU as those of BIOES

Span = tuple[int, int, str]


class Violation(NamedTuple):
    """Where labels break a scheme: ``labels[sentence][position]``, and how."""

    sentence: int
    position: int
    message: str


# spans -------------------------------------------------------------------------------


def spans(tags: Sequence[str], scheme: str = "auto") -> list[Span]:
    """The spans of one sentence as (begin, end, type); end is one past the last token.

    Labels that break the rules are read as the evaluation of the CoNLL shared tasks
    reads them: ``I`` or ``E`` opens a span after ``O``, after the end of a span and
    after another type; a span that is not closed ends where the next one begins. All
    schemes can be read by that one rule, so ``scheme`` only says which letters may
    occur; "auto" takes all of them.

    Examples
    --------
    >>> spans(["B-NP", "I-NP", "O", "I-VP", "I-NP"])
    [(0, 2, 'NP'), (3, 4, 'VP'), (4, 5, 'NP')]
    """
    return read_spans(tags, LabelTable(scheme))


class LabelTable(dict):
    """label -> (letter, type), parsed and checked when first met.

    Letters are those of BIOES; ``O`` has the type None.
    """

    def __init__(self, scheme: str = "auto"):
        super().__init__()
        self.scheme = scheme if scheme == "auto" else _known(scheme)

    def __missing__(self, label):
        parsed = _parse(label, _LETTERS[self.scheme])
        if parsed is None:
            raise ValueError(_misfit(label, self.scheme))
        letter, kind = parsed
        self[label] = out = _MEANING.get(letter, letter), kind
        return out


def read_spans(tags: Sequence[str], table: LabelTable) -> list[Span]:
    """:func:`spans` with a table that is kept from sentence to sentence."""
    if isinstance(tags, str) or not hasattr(tags, "__len__"):
        raise ValueError(f"{tags!r} is not a sequence of labels: give a list of them.")
    out = []
    begin, kind = 0, None  # of the open span; kind None: none is open
    for t, tag in enumerate(tags):
        try:
            letter, this = table[tag]
        except TypeError:  # not hashable
            raise ValueError(_misfit(tag, table.scheme)) from None
        if kind is not None and (this != kind or letter == "B" or letter == "S"):
            out.append((begin, t, kind))
            kind = None
        if this is None:
            continue
        if kind is None:
            begin, kind = t, this
        if letter == "E" or letter == "S":
            out.append((begin, t + 1, kind))
            kind = None
    if kind is not None:
        out.append((begin, len(tags), kind))
    return out


def convert(tags: Sequence[str], source: str, target: str) -> list[str]:
    """The labels of one sentence written in another scheme.

    They are read as :func:`spans` reads them, so that the result obeys the rules of
    ``target`` even where ``tags`` breaks those of ``source``: ``convert(tags, "BIO",
    "BIO")`` repairs. Only "IO" loses something: neighbours of one type become one span.

    Examples
    --------
    >>> convert(["B-NP", "I-NP", "B-NP", "O"], "BIO", "BIOES")
    ['B-NP', 'E-NP', 'S-NP', 'O']
    """
    target = _known(target)
    out = ["O"] * len(tags)
    last, only = ("L", "U") if target == "BILOU" else ("E", "S")
    before = (0, -1, None)
    for begin, end, kind in spans(tags, source):
        letters = ["I"] * (end - begin)
        if target in ("BIO", "BIOES", "BILOU") or (
            target == "IOB1" and before[1:] == (begin, kind)
        ):
            letters[0] = "B"
        if target in ("BIOES", "BILOU"):
            letters[-1] = last if end - begin > 1 else only
        out[begin:end] = [f"{z}-{kind}" if kind else z for z in letters]
        before = (begin, end, kind)
    return out


# rules -------------------------------------------------------------------------------


def _may_follow(scheme: str, a, b) -> bool:
    """Whether label b may stand after a; None is the start (a) or the end (b).

    a and b are (letter, type) with the letters of BIOES.
    """
    if scheme == "IO":
        return True
    one_span = a is not None and b is not None and a[1] == b[1]
    if scheme == "IOB1":  # B needs a span of its type before it
        return b is None or b[0] != "B" or one_span
    inside = b is not None and b[0] in "IE"
    open_before = a is not None and a[0] in "BI"
    if scheme == "BIO":
        return not inside or (one_span and open_before)
    # BIOES: what is open goes on, and nothing else does
    return (inside and one_span) if open_before else not inside


def forbidden_transitions(
    labels: Iterable[str], scheme: str = "auto"
) -> list[tuple[str | None, str | None]]:
    """Pairs of labels that the scheme does not allow side by side.

    None stands for the start (first place) and the end (second place) of a sentence, as
    in the parameter ``forbidden`` of :class:`maxmargin.SequenceTagger`. A sequence of
    these labels obeys the scheme if and only if none of the pairs occurs in it.

    Examples
    --------
    >>> forbidden_transitions(["B-NP", "I-NP", "O"], "BIO")
    [(None, 'I-NP'), ('O', 'I-NP')]
    """
    labels = list(dict.fromkeys(map(_hashable, _no_string(labels))))
    scheme = _resolve(scheme, labels)
    table = LabelTable(scheme)
    parts = [table[label] for label in labels]
    start, end = (None, None), (None, None)
    inner = list(zip(labels, parts, strict=True))
    return [
        (a, b)
        for a, left in [start, *inner]
        for b, right in [*inner, end]
        if (a is not None or b is not None) and not _may_follow(scheme, left, right)
    ]


def violations(y: Sequence[Sequence[str]], scheme: str = "auto") -> Violation | None:
    """The first place where label sequences break the rules of the scheme, or None.

    Examples
    --------
    >>> violations([["B-PER", "O"], ["O", "I-PER"]], "BIO")
    Violation(sentence=1, position=1, message='I-PER follows O')
    """
    y = _rows(y)
    scheme = _resolve(scheme, y)
    letters = _LETTERS[scheme]
    seen = set(chain.from_iterable(y))
    misfits = {label for label in seen if _parse(label, letters) is None}
    if misfits:
        places = ((i, t) for i, row in enumerate(y) for t in range(len(row)))
        i, t = next((i, t) for i, t in places if y[i][t] in misfits)
        return Violation(i, t, _misfit(y[i][t], scheme))
    bad = set(forbidden_transitions(seen, scheme))
    for i, row in enumerate(y):
        if not row:
            continue
        # whole rows first: nearly all are right
        pairs = [(None, row[0]), *pairwise(row), (row[-1], None)]
        if bad.isdisjoint(pairs):
            continue
        t, (a, b) = next((t, pair) for t, pair in enumerate(pairs) if pair in bad)
        if b is None:
            return Violation(
                i, len(row) - 1, f"{a} stands last, but leaves a span open"
            )
        if a is None:
            return Violation(i, t, f"{b} stands first")
        return Violation(i, t, f"{b} follows {a}")
    return None


def check_scheme(
    y: Sequence[Sequence[str]],
    scheme: str = "auto",
    where: Callable[[int, int], str] | None = None,
) -> None:
    """Raise ValueError at the first place where labels break the rules of the scheme.

    ``where(sentence, position)`` names the place in the message, as "train.txt, line 7"
    does; without it, it is "y[3], token 5" (both from 0).
    """
    y = _rows(y)
    scheme = _resolve(scheme, y)
    found = violations(y, scheme)
    if found is None:
        return
    if where is None:
        place = f"y[{found.sentence}], token {found.position}"
    else:
        place = where(found.sentence, found.position)
    raise ValueError(
        f"{place}: {found.message}. This breaks the scheme {scheme}: correct the data, "
        "name another scheme, or repair it with maxmargin.tags.schemes.convert."
    )


# which scheme ------------------------------------------------------------------------


def guess_scheme(labels: Iterable) -> str | None:
    """The scheme that labels, or label sequences, are written in; None if in none.

    From the labels alone IOB1 cannot be told from BIO. Given sequences, it is IOB1 if
    they break the rules of BIO, but not those of IOB1.

    Examples
    --------
    >>> guess_scheme(["B-NP", "I-NP", "O"])
    'BIO'
    >>> guess_scheme([["I-NP", "O"], ["I-NP", "B-NP"]])
    'IOB1'
    >>> guess_scheme(["NN", "DT"]) is None
    True
    """
    labels, y = list(_no_string(labels)), None
    if labels and not isinstance(labels[0], str) and hasattr(labels[0], "__len__"):
        y = _rows(labels)
        labels = chain.from_iterable(y)
    labels = set(map(_hashable, labels))
    parsed = [_parse(label, _LETTERS["auto"]) for label in labels]
    if not parsed or None in parsed:
        return None
    letters = {letter for letter, _ in parsed}
    letters.discard("O")
    for scheme in ("IO", "BIO", "BIOES", "BILOU"):
        if letters <= set(_LETTERS[scheme]):
            break
    else:
        return None
    if y is not None and scheme == "BIO" and violations(y, "BIO"):
        return "BIO" if violations(y, "IOB1") else "IOB1"
    return scheme


def _resolve(scheme: str, y) -> str:
    if scheme != "auto":
        return _known(scheme)
    guess = guess_scheme(y)
    if guess is None:
        raise ValueError(
            "the labels are not written in a tagging scheme that is known "
            f"({', '.join(SCHEMES)}): they must be O, or a letter, a hyphen and a type."
        )
    return guess


def _known(scheme: str) -> str:
    name = _OTHER_NAMES.get(scheme, scheme) if isinstance(scheme, str) else None
    if name not in SCHEMES:
        choice = ", ".join(repr(z) for z in (*SCHEMES, *_OTHER_NAMES, "auto"))
        raise ValueError(f"scheme={scheme!r} is not known here; choose from {choice}.")
    return name


# labels ------------------------------------------------------------------------------


def _parse(label, letters: str) -> tuple[str, str | None] | None:
    """(letter, type), or None if the label does not fit."""
    if not isinstance(label, str):
        return None
    if label == "O":
        return "O", None
    letter, hyphen, kind = label.partition("-")
    if len(letter) != 1 or letter not in letters or (hyphen and not kind):
        return None
    return letter, str(kind)


def _misfit(label, scheme: str) -> str:
    letters = ", ".join(f"{letter}-type" for letter in _LETTERS[scheme])
    name = "any tagging scheme" if scheme == "auto" else f"the scheme {scheme}"
    return f"label {label!r} does not fit {name}, which has O, {letters}"


def _hashable(label):
    """The label; numpy's strings as plain ones, what cannot be a label as text."""
    if isinstance(label, str):
        return str(label)
    return label if isinstance(label, (int, float)) else f"({label!r})"


def _no_string(labels):
    if isinstance(labels, str) or not hasattr(labels, "__iter__"):
        raise ValueError(f"{labels!r} is not a list of labels.")
    return labels


def _rows(y) -> list[list[str]]:
    """Label sequences as lists, with what is not a sequence refused."""
    y = list(_no_string(y))
    for i, row in enumerate(y):
        if isinstance(row, str) or not hasattr(row, "__len__"):
            raise ValueError(
                f"y[{i}] is {row!r}, not a sequence of labels: give a list of label "
                "sequences."
            )
    return [list(map(_hashable, row)) for row in y]
