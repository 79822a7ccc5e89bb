"""A text with its mentions in the colours of their clusters: what notebooks show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from maxmargin.views.view import escaped, hue


def marked_text(
    sentences: Sequence[Sequence[str]],
    mentions: Sequence[Any],
    ids: Sequence[int] | None = None,
    wrong: Sequence[bool] = (),
) -> str:
    """Mentions boxed, with the numbers of their clusters behind them.

    ``ids`` are 0, 1, ...; those of clusters of one have no colour. Mentions may be nested,
    and may cross: then the shorter one is cut at the end of the other.
    """
    begins: dict[tuple[int, int], list[int]] = {}
    for v, m in enumerate(mentions):
        begins.setdefault((m.sentence, m.first), []).append(v)
    several = {c for c in ids or () if list(ids or ()).count(c) > 1}
    out = []
    for s, words in enumerate(sentences):
        line: list[str] = []
        opened: list[int] = []
        for t, word in enumerate(words):
            for v in sorted(begins.get((s, t), ()), key=lambda v: -mentions[v].last):
                opened.append(v)
                line.append(_begin(v, ids, several, wrong))
            line.append(escaped(word))
            while any(mentions[v].last <= t for v in opened):
                v = opened.pop()
                line.append(_end(v, ids))
            line.append(" ")
        out.append(f'<p dir="auto">{"".join(line)}</p>')
    return "".join(out)


def _begin(v: int, ids, several, wrong) -> str:
    look = "mark wrong" if len(wrong) and wrong[v] else "mark"
    if ids is None or ids[v] not in several:
        return f'<span class="{look}" style="background:none;--h:0;border-color:gray">'
    return f'<span class="{look}" style="--h:{hue(ids[v])}">'


def _end(v: int, ids) -> str:
    number = v if ids is None else ids[v]
    return f"<small>{number}</small></span>"
