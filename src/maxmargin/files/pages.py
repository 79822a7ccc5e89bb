"""Pages for the browser, as files."""

from __future__ import annotations

import os

from maxmargin.files.atomic import write_file

OTHERS = {".pdf", ".png", ".jpg", ".jpeg", ".gif", ".svg", ".docx", ".json"}


def write_page(path: str | os.PathLike, page: str) -> None:
    """Write HTML whole or not at all, but not under a name of another format."""
    name = os.fsdecode(path)
    ending = os.path.splitext(name)[1].lower()
    if ending in OTHERS:
        raise ValueError(
            f"{name} ends in {ending}, but this is a page for the browser: save it as "
            ".html; browsers print pages to PDF."
        )
    # what UTF-8 cannot hold (halves of pairs) is shown as unknown, not refused
    write_file(name, page.encode("utf-8", "xmlcharrefreplace"))
