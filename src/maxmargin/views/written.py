"""Outputs of any kind: as they draw themselves, else as Python writes them."""

from __future__ import annotations

import pprint
from collections.abc import Sequence
from typing import Any

from maxmargin.views.view import View, about, escaped

WIDE, LONGEST = 88, 10_000  # letters of a line, and of a value


def written(parts: Sequence[tuple[str, Any]], remark: str = "") -> View:
    """Values with a heading each, and a remark at the end."""
    body, texts = [], []
    for heading, value in parts:
        text = pprint.pformat(value, width=WIDE, sort_dicts=False)
        if len(text) > LONGEST:
            more = f"\n... and {len(text) - LONGEST:,} characters more"
            text = text[:LONGEST] + more
        body += [about(f"{heading}:"), _drawn(value) or f"<pre>{escaped(text)}</pre>"]
        texts.append(f"{heading}: {text}")
    if remark:
        body.append(about(remark))
        texts.append(remark)
    return View("".join(body), "\n".join(texts))


def _drawn(value: Any) -> str | None:
    """What a notebook would show of it."""
    for name in ("_repr_html_", "_repr_svg_"):
        draw = getattr(value, name, None)
        if callable(draw) and not isinstance(value, type):
            return draw()
    return None
