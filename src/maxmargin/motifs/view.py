"""Sites of a motif in a notebook."""

from __future__ import annotations

from typing import Any

from maxmargin.core.listed import listed
from maxmargin.core.objects import letters_of
from maxmargin.views.view import RIGHT, View, about, escaped

MOST = 100  # sequences in a view
LONGEST = 160  # letters of a sequence: more are left out on both sides of the site


def sites(sequences: Any, found: Any) -> View:
    """Sequences with the site of each filled, as ``predict_sites`` returns them."""
    sequences = listed(sequences, "sequences must be a list of texts.")
    found = listed(found, "found must be a list of sites, one for every sequence.")
    if len(sequences) != len(found):
        raise ValueError(
            f"there are {len(sequences)} sequences, but {len(found)} sites: give as many."
        )
    for k, site in enumerate(found):
        if not hasattr(site, "strand"):
            raise ValueError(f"site {k} is {site!r}: give what predict_sites returns.")
    texts = [str(letters_of(x, f"sequence {k}")) for k, x in enumerate(sequences)]
    shown = list(zip(texts, found, strict=True))[:MOST]
    lines = [_line(text, site) for text, site in shown]
    body = f"<pre>{chr(10).join(lines)}</pre>"
    if len(found) > MOST:
        body += about(f"The first {MOST} of {len(found):,} sequences.")
    body += about("In front: strand and score. A score above 0: the motif is there.")
    text = "\n".join(
        f"{t[s.start : s.end]} at {s.start} ({s.strand})" for t, s in shown
    )
    return View(body, text)


def _line(text: str, site) -> str:
    begin = max(site.start - LONGEST // 2, 0)
    end = min(site.end + LONGEST // 2, len(text))
    left, inside = text[begin : site.start], text[site.start : site.end]
    right = text[site.end : end]
    dots = ["\u2026" * (begin > 0), "\u2026" * (end < len(text))]
    look = f"background:{RIGHT}66" if site.score > 0 else "outline:1px solid gray"
    return (
        f"{site.strand} {site.score:7.2f}  {dots[0]}{escaped(left)}"
        f'<span style="{look}">{escaped(inside)}</span>{escaped(right)}{dots[1]}'
    )
