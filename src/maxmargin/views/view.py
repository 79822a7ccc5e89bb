"""A piece of HTML that a notebook shows, and what its pieces are made of.

Text has the colour of its surroundings and fills are see-through, so that a view can be
read on any background, light or dark, without being told which one it is on.
"""

from __future__ import annotations

import html
import os

from maxmargin.files.atomic import write_file
from maxmargin.files.pages import write_page

STYLE = """<style>
.mm-view { font: 14px/1.9 system-ui, sans-serif; overflow-x: auto; max-width: 100%; }
.mm-view p { margin: .2em 0; } .mm-view small { font-size: .75em; opacity: .85; }
.mm-view .mark { background: hsl(var(--h) 75% 50% / .25); border-radius: .3em;
  border-bottom: 2px solid hsl(var(--h) 75% 45%); padding: .1em .25em; }
.mm-view .mark > small { font-weight: 600; margin-inline-start: .35em; }
.mm-view .wrong { text-decoration: underline wavy #E2570B 1.5px; }
.mm-view .about { opacity: .75; font-size: .9em; }
.mm-view svg { display: block; } .mm-view svg text { fill: currentColor; }
.mm-view pre { font: 13px/1.35 ui-monospace, monospace; margin: .4em 0; color: inherit;
  background: none; border: 0; padding: 0; }
.mm-view table { border-collapse: collapse; } .mm-view td, .mm-view th {
  padding: .1em .7em; text-align: end; border-bottom: 1px solid rgb(128 128 128 / .3); }
</style>"""
PAGE = """<!DOCTYPE html>
<html lang="und"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<style>:root {{ color-scheme: light dark; }} body {{ margin: 2em; }}</style>
</head><body>{body}</body></html>
"""
# Hues far apart for the first kinds; more follow by steps that never meet.
HUES = (205, 35, 150, 325, 265, 60, 180, 295, 105, 235)
STEP = 137.508
WRONG, RIGHT = "#E2570B", "#2C8FC9"  # seen on white and on black


class View:
    """What a notebook displays: ``html`` there, ``text`` without a browser.

    ``picture`` is the SVG in it, if what is shown is a picture.
    """

    __slots__ = ("body", "picture", "text")

    def __init__(self, body: str, text: str = "", picture: str = ""):
        self.body, self.picture = body, picture
        self.text = text or f"{type(self).__name__} ({len(self.html):,} characters)"

    @property
    def html(self) -> str:
        return f'{STYLE}\n<div class="mm-view">{self.body}</div>'

    def _repr_html_(self) -> str:
        return self.html

    def _repr_svg_(self) -> str | None:
        return self.picture or None

    def __repr__(self) -> str:
        return self.text

    def save(self, path: str | os.PathLike, title: str = "maxmargin") -> None:
        """Write a page that opens from disk; the picture alone if it ends in .svg."""
        if not os.fsdecode(path).lower().endswith(".svg"):
            write_page(path, PAGE.format(title=escaped(title), body=self.html))
            return
        if not self.picture:
            raise ValueError("this view is a text, not a picture: save it as .html.")
        write_file(path, self.picture.encode("utf-8", "xmlcharrefreplace"))


def escaped(value: object) -> str:
    """Any text as HTML, also inside of quotes; a zero byte has no place in HTML."""
    text = html.escape(str(value), quote=True)
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def hue(number: int) -> int:
    """The colour of kind 0, 1, 2, ..."""
    return HUES[number] if number < len(HUES) else round(number * STEP) % 360


def hues(kinds) -> dict:
    """A colour for every kind, in the order in which they first occur."""
    return {kind: hue(k) for k, kind in enumerate(dict.fromkeys(kinds))}


def about(sentence: str) -> str:
    return f'<p class="about">{escaped(sentence)}</p>'


def svg(width: float, height: float, parts: list[str]) -> str:
    size = f'width="{width:.0f}" height="{height:.0f}"'
    box = f'viewBox="0 0 {width:.0f} {height:.0f}"'
    look = 'role="img" font-family="system-ui, sans-serif" font-size="13"'
    start = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} {look}>'
    return f"{start}{''.join(parts)}</svg>"
