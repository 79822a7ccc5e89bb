"""Parameters of parsers."""

from __future__ import annotations

from typing import Any

from maxmargin.core.checks import (
    Check,
    choice_of,
    is_whole,
    not_possible,
    or_none,
    whole_from,
)
from maxmargin.fitting.parameters import (
    Parameter,
    Parameters,
    PartlyKnown,
)

INPUTS = ("tags", "words", "both")


def _check_parent(name: str, parent: Any) -> None:
    if isinstance(parent, float | str) or parent not in (0, 1):
        wanted = "0 or 1, the number of labels above a phrase that its symbol names"
        raise not_possible(name, parent, wanted)


# how trees are binarised
BINARISED: dict[str, Check] = {
    "direction": choice_of("right", "left", choice="'right' or 'left'"),
    "horizontal": or_none(
        Check(
            lambda value: is_whole(value) and value >= 0,
            "a whole number, 0 or more, or None for all siblings",
        )
    ),
    "parent": _check_parent,
}
_LENGTH = or_none(whole_from(1, "a positive whole number of words, or None"))


class GrammarParserParameters(PartlyKnown):
    C: float | None = Parameter(default=None, kw_only=False)
    loss: str = Parameter(
        default="f1", check=choice_of("f1", "hamming", "zero-one"), kw_only=False
    )
    input: str = Parameter(default="tags", check=choice_of(*INPUTS))
    features: Any = Parameter(default="auto")
    direction: str = Parameter(default="right", check=BINARISED["direction"])
    horizontal: int | None = Parameter(default=1, check=BINARISED["horizontal"])
    parent: int = Parameter(default=0, check=BINARISED["parent"])
    max_length: int | None = Parameter(default=None, check=_LENGTH, kind=int)
    fallback: str = Parameter(
        default="flat", check=choice_of("flat", "right", "none", "error")
    )
    tol: float = Parameter(default=0.1)
    decoding: str = Parameter(
        default="auto", check=choice_of("auto", "viterbi", "posterior")
    )


_SAME = GrammarParserParameters.declared


class PCFGParserParameters(Parameters):
    smoothing: float = Parameter(default=0.0, kw_only=False)
    input: str = Parameter(default="tags", check=choice_of(*INPUTS), kw_only=False)
    direction: str = _SAME["direction"]
    horizontal: int | None = _SAME["horizontal"]
    parent: int = _SAME["parent"]
    max_length: int | None = _SAME["max_length"]
    fallback: str = _SAME["fallback"]
    n_jobs: int | None = _SAME["n_jobs"]
