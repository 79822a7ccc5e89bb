"""One tagged sentence as HTML: spans in the colour of their type, errors underlined."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.report.markup import Markup, element, joined
from maxmargin.tags.schemes import guess_scheme, spans
from maxmargin.views.view import hues

Piece = tuple[int, int, Any]  # begin, end, type; None outside of spans


class Sentence(NamedTuple):
    """What is shown of a sentence; ``pieces`` are its spans and the tokens between."""

    number: int
    words: list[str]
    labels: list[Any]
    truth: list[Any] | None = None
    chances: np.ndarray | None = None  # of the labels, one per token, or nan
    pieces: tuple[Piece, ...] = ()


def are_spans(sentences: Iterable[Sentence]) -> bool:
    """Are all labels written in a tagging scheme?"""
    seen = {z for s in sentences for row in (s.labels, s.truth or ()) for z in row}
    return guess_scheme(seen) is not None


def pieces_of(labels: Sequence, spanned: bool) -> tuple[Piece, ...]:
    """A sentence cut into spans and tokens between them, or into tokens."""
    if not spanned:
        return tuple((t, t + 1, label) for t, label in enumerate(labels))
    out: list[Piece] = []
    last = 0
    for begin, end, kind in spans(labels):
        out += [(t, t + 1, None) for t in range(last, begin)]
        out.append((begin, end, kind))
        last = end
    return *out, *((t, t + 1, None) for t in range(last, len(labels)))


def hues_of(counts: Mapping[Any, int]) -> dict[Any, int]:
    """A hue for every type, the most frequent first."""
    return hues(sorted(counts, key=lambda z: (-counts[z], str(z))))


def marked(sentence: Sentence, look: Callable[[Any], dict[str, str]]) -> Markup:
    """The words, with a mark around every piece that has a type, of attributes ``look``."""
    parts: list[Markup] = []
    for begin, end, kind in sentence.pieces:
        tokens = [_token(sentence, t) for t in range(begin, end)]
        if kind is None:
            parts += tokens
            continue
        if str(kind):  # the name stays with the last word when lines are broken
            tokens[-1] = element("span", tokens[-1], element("i", kind))
        parts.append(element("mark", joined(tokens, " "), **look(kind)))
    return joined(parts, " ")


def _token(sentence: Sentence, t: int) -> Markup:
    label = sentence.labels[t]
    wrong = sentence.truth is not None and sentence.truth[t] != label
    hint, bar = str(label), []
    if wrong:
        hint = f"{label}, but the truth is {sentence.truth[t]}"  # type: ignore[index]
    if sentence.chances is not None and not np.isnan(sentence.chances[t]):
        chance = min(max(float(sentence.chances[t]), 0.0), 1.0)
        hint += f" ({chance:.3f})"
        bar = [element("s", style=f"width:{100 * chance:.1f}%")]
    word = sentence.words[t]
    return element("u", word, *bar, cls="x" if wrong else None, title=hint)
