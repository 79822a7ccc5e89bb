"""Taxonomies in files: one edge or one path per line.

    rec        rec.sport            parent and child, or
    rec.sport  rec.sport.hockey

    rec.sport.hockey                paths, whose parts are nodes
    sci.med

Cells are separated by tabs, or by spaces in files without tabs. From # on, a line that
begins with it is a comment.
"""

from __future__ import annotations

import os

from maxmargin.classes.taxonomy.checks import check_separator
from maxmargin.classes.taxonomy.taxonomy import Taxonomy, add_path
from maxmargin.files.messages import column_count
from maxmargin.files.text_files import RawText, read_text


def read_taxonomy(
    path: str | os.PathLike | RawText, separator: str = ".", encoding: str = "utf-8"
) -> Taxonomy:
    """Read a taxonomy. Errors are ValueErrors that name the file and the line."""
    data, name = read_text(path, encoding)
    text = data.decode()
    between = "\t" if "\t" in text else None
    width = 0
    first: dict[tuple, int] = {}  # the line of each row
    for i, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.strip().split(between)]
        where = f"{name}, line {i}"
        if len(cells) > 2 or (width and len(cells) != width):
            wanted = column_count(width) if width else "one or two"
            raise ValueError(
                f"{where}: {column_count(len(cells))}, where {wanted} should be; lines "
                "are all paths, or all a parent and a child."
            )
        if not all(cells):
            raise ValueError(f"{where}: a name is empty.")
        if tuple(cells) in first:
            raise ValueError(
                f"{where}: it repeats line {first[tuple(cells)]}; remove it."
            )
        first[tuple(cells)], width = i, len(cells)
    if not first:
        raise ValueError(f"{name} has no nodes: all of it is blank or comments.")
    if width == 1:
        check_separator(separator)
        parents: dict = {}
        for (node,), i in first.items():
            add_path(parents, node, separator, f"{name}, line {i}: the path")
        return Taxonomy(parents)
    try:
        return Taxonomy.from_edges(list(first))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
