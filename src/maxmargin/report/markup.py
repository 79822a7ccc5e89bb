"""HTML and SVG as values: whatever is not markup is escaped when it becomes a child.

    >>> element("b", "a < b", cls="x")
    '<b class="x">a &lt; b</b>'

No other file of this folder, and no family, writes a bracket of a tag by hand.
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from maxmargin.views.view import escaped as as_html

VOID = {"br", "img", "input", "meta"}


class Markup(str):
    """Text that is HTML already; made by the functions of this file."""

    __slots__ = ()


def escaped(value: Any) -> Markup:
    """Any text as HTML, also inside of quotes."""
    return Markup(as_html(value))


def joined(parts: Iterable[Any], between: str = "") -> Markup:
    """Parts one after the other; those that are not markup are escaped."""
    shown = (part if isinstance(part, Markup) else escaped(part) for part in parts)
    return Markup(between.join(shown))


def element(tag: str, *children: Any, **attributes: Any) -> Markup:
    """An element; ``cls`` is its class, and ``_`` in other names is written ``-``.

    Attributes that are None or False are left out, those that are True have no value.
    """
    words = [tag]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        name = "class" if name == "cls" else name.rstrip("_").replace("_", "-")
        words.append(name if value is True else f'{name}="{escaped(value)}"')
    head = f"<{' '.join(words)}>"
    return Markup(head if tag in VOID else f"{head}{joined(children)}</{tag}>")


def named(title: str, *parts: Any) -> Markup:
    """A drawing with its name at the left."""
    return element("div", element("h4", title), element("div", *parts), cls="named")


def table(head: Iterable[Any], rows: Iterable[Iterable[Any]], cls: str = "") -> Markup:
    """A table; cells that are numbers as text stand to the right by class ``numbers``."""
    cells = (element("th", cell, scope="col") for cell in head)
    body = (element("tr", *(element("td", c) for c in row)) for row in rows)
    inner = [element("thead", element("tr", *cells)), element("tbody", *body)]
    return element("div", element("table", *inner, cls=cls or None), cls="scroll")


def png(pixels: Any, alt: str, cls: str = "pixels") -> Markup:
    """An image of numbers from 0 to 255, of shape (rows, columns, 3), within the page."""
    pixels = np.ascontiguousarray(pixels, np.uint8)
    high, wide = pixels.shape[:2]
    rows = np.zeros((high, 1 + 3 * wide), np.uint8)  # each begins with its filter: none
    rows[:, 1:] = pixels.reshape(high, -1)

    def chunk(name: bytes, data: bytes) -> bytes:
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", wide, high, 8, 2, 0, 0, 0)
    data = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 9))
    file = b"\x89PNG\r\n\x1a\n" + data + chunk(b"IEND", b"")
    source = "data:image/png;base64," + base64.b64encode(file).decode()
    return element("img", src=source, alt=alt, width=wide, height=high, cls=cls)
