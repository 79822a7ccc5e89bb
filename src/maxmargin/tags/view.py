"""Tagged sentences in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from maxmargin.core.listed import listed
from maxmargin.tags.input import sequences_from
from maxmargin.tags.marked import pieces_of
from maxmargin.tags.schemes import guess_scheme
from maxmargin.views.view import View, about, escaped, hues

MOST = 200  # sentences in a view


def tags(tokens: Any, labels: Any, truth: Any = None) -> View:
    """A sentence, or a list of them, with its labels in colours.

    Labels of a tagging scheme such as BIO are drawn as spans, others token by token. With
    ``truth``, words with a wrong label are underlined, and the true label follows.

    Parameters
    ----------
    tokens : the tokens of a sentence, or a list of sentences
        Words; of tokens with several columns or features, the first is shown.
    labels, truth : their labels

    >>> from maxmargin.views import tags
    >>> tags(["Ada", "vive", "en", "Lima"], ["B-PER", "O", "O", "B-LOC"])
    Ada/B-PER vive/O en/O Lima/B-LOC
    """
    labels = _list(labels, "labels")
    if labels and isinstance(labels[0], (list, tuple, np.ndarray)):
        rows = list(_list(tokens, "tokens"))
        truths = [None] * len(labels) if truth is None else _list(truth, "truth")
    else:
        rows, labels, truths = [tokens], [labels], [truth]
    if not len(rows) == len(labels) == len(truths):
        raise ValueError(
            f"there are {len(rows)} sentences, but labels of {len(labels)} and true ones "
            f"of {len(truths)}: give as many."
        )
    sentences = [_sentence(*each) for each in zip(rows, labels, truths, strict=True)]
    shown = sentences[:MOST]
    seen = [z for _, given, true in shown for row in (given, true or ()) for z in row]
    spanned = guess_scheme(seen) is not None
    pieces = [pieces_of(given, spanned) for _, given, _ in shown]
    colours = hues(kind for row in pieces for *_, kind in row if kind is not None)
    body = [_draw(*each, colours) for each in zip(shown, pieces, strict=True)]
    wrong = [a != b for _, y, true in sentences if true for a, b in zip(y, true)]  # noqa: B905
    if wrong:
        says = f"{sum(wrong):,} of {len(wrong):,} labels are wrong"
        body.append(about(f"{says}: underlined, with the true label behind."))
    if len(shown) < len(sentences):
        body.append(about(f"The first {len(shown)} of {len(sentences):,} sentences."))
    text = "\n".join(
        " ".join(f"{w}/{z}" for w, z in zip(words, given, strict=True))
        for words, given, _ in shown
    )
    return View("".join(body), text or "(no tokens)")


def _list(values, name: str) -> list:
    if hasattr(values, "tolist") and name != "tokens":
        values = values.tolist()
    return listed(values, f"{name} is {values!r}: give a list.")


def _sentence(tokens, labels, truth) -> tuple[list[str], list, list | None]:
    (tokens,) = sequences_from([tokens])
    words = [_word(token, t) for t, token in enumerate(_list(tokens, "a sentence"))]
    labels = _list(labels, "labels")
    truth = None if truth is None else _list(truth, "truth")
    for name, row in (("labels", labels), ("true labels", truth)):
        if row is not None and len(row) != len(words):
            raise ValueError(
                f"there are {len(words)} tokens, but {len(row)} {name}: give one per token."
            )
    return words, labels, truth


def _word(token: Any, t: int) -> str:
    """What to show of a token; its number where it holds numbers only."""
    if isinstance(token, str):
        return token
    if isinstance(token, Mapping):
        texts = {k: v for k, v in token.items() if isinstance(v, str)}
        named = [texts[k] for k in ("word", "w", "form", "text") if k in texts]
        return next(iter([*named, *texts.values(), *map(str, token)]), str(t))
    if isinstance(token, Sequence) and token and isinstance(token[0], str):
        return token[0]
    return str(t)


def _draw(sentence, pieces, colours) -> str:
    words, labels, truth = sentence
    out = []
    for begin, end, kind in pieces:
        inside = " ".join(_token(words, labels, truth, t) for t in range(begin, end))
        if kind is not None:
            name = f"<small>{escaped(kind)}</small>" if str(kind) else ""
            style = f'class="mark" style="--h:{colours[kind]}"'
            inside = f"<span {style}>{inside}{name}</span>"
        out.append(inside)
    return f'<p dir="auto">{" ".join(out)}</p>'


def _token(words, labels, truth, t: int) -> str:
    word = escaped(words[t])
    if truth is None or truth[t] == labels[t]:
        return f'<span title="{escaped(labels[t])}">{word}</span>'
    hint = f"{labels[t]}, but the truth is {truth[t]}"
    small = f"<small>(true: {escaped(truth[t])})</small>"
    return f'<span class="wrong" title="{escaped(hint)}">{word}</span>&thinsp;{small}'
