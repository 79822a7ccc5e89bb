"""Check a built site: check_links.py FOLDER.

Every link leads to a file that is there, and to an anchor of it; what a page loads, its
scripts, styles, fonts and pictures, comes from the site itself.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src")}
LOADED |= {("source", "src"), ("source", "srcset"), ("object", "data"), ("use", "href")}
NOT_LOADED = {"canonical", "next", "prev", "alternate"}  # kinds of <link>
URL = re.compile(r"""(?:url\(|@import)\s*["']?([^"')\s;]+)""")


class Links(HTMLParser):
    """Links and anchors of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []  # to be followed by readers
        self.loaded: list[str] = []  # by the browser, at once
        self._in_style = False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.anchors |= {found[key] for key in ("id", "name") if found.get(key)}
        self._in_style = tag == "style"
        rel = set((found.get("rel") or "").split())
        for key in ("href", "src", "srcset", "data"):
            if found.get(key) is None:
                continue
            loads = (tag, key) in LOADED and not (tag == "link" and rel & NOT_LOADED)
            (self.loaded if loads else self.links).append(found[key])
        self.loaded += URL.findall(found.get("style") or "")

    def handle_data(self, data):
        if self._in_style:
            self.loaded += URL.findall(data)


def check(site: Path) -> list[str]:
    """What is wrong with the links of a built site, a sentence each."""
    site = site.resolve()
    pages = {p: Links(p.read_text(encoding="utf-8")) for p in site.rglob("*.html")}
    wrong = [] if pages else [f"{site} has no pages: build the site first."]
    for page, links in sorted(pages.items()):
        for link in [*links.loaded, *links.links]:
            trouble = _wrong(link, page, site, pages, loads=link in links.loaded)
            if trouble:
                wrong.append(f"{page.relative_to(site)}: {link!r} {trouble}.")
    for style in sorted(site.rglob("*.css")):
        for link in URL.findall(style.read_text(encoding="utf-8")):
            trouble = _wrong(link, style, site, pages, loads=True)
            if trouble:
                wrong.append(f"{style.relative_to(site)}: {link!r} {trouble}.")
    return wrong


def _wrong(link, page, site, pages, *, loads: bool) -> str:
    """What is wrong with a link, or nothing."""
    parts = urlsplit(link)
    if parts.scheme in ("data", "mailto", "javascript"):
        return ""
    if parts.scheme or parts.netloc:
        return "is loaded from another host" if loads else ""
    if parts.path.startswith("/"):
        return "begins at the root, and is lost where the site is in a folder"
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(site) or not target.is_file():
        return "leads to no file"
    anchor = unquote(parts.fragment)
    if anchor and target in pages and anchor not in pages[target].anchors:
        return "leads to no place on that page"
    return ""


def main(folder: str) -> int:
    wrong = check(Path(folder))
    print(*wrong, sep="\n", file=sys.stderr)
    print(f"Links of {folder}: {len(wrong)} wrong.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
