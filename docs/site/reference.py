"""Pages of the reference: one for every public class, one for every other module."""

from __future__ import annotations

import importlib
import inspect

from docstring_links import plain
from public_names import found, modules, places, summary

DIRECTIVE = "::: {name}\n    options:\n      heading_level: {level}\n"
INTRODUCTION = """# Reference

Every public name, from the docstrings. Names are imported from where they are listed:
`from maxmargin import SequenceTagger`, `from maxmargin.files import read_columns`.
"""


def pages() -> dict[str, str]:
    """{path below docs: Markdown} of all pages of the reference."""
    made = {"reference/index.md": index()}
    for name in places("maxmargin"):
        made[page_of(f"maxmargin.{name}")] = entry(f"maxmargin.{name}", 1)
    for module in modules()[1:]:
        parts = [
            f"# {module} {{#{module}}}\n",
            f"::: {module}\n{ONLY_TEXT}",
            table(module),
        ]
        parts += [entry(f"{module}.{name}", 2) for name in names(module)]
        made[page_of(module)] = "\n".join(parts)
    return made


ONLY_TEXT = """    options:
      members: false
      show_root_heading: false
      show_root_toc_entry: false
"""


def titles() -> list[dict[str, str]]:
    """What the navigation says of these pages, in its order."""
    classes = [{name: page_of(name)} for name in names("maxmargin")]
    return [{"maxmargin": classes}, *({name: page_of(name)} for name in modules()[1:])]


def page_of(name: str) -> str:
    return f"reference/{name.removeprefix('maxmargin.')}.md"


def entry(name: str, level: int) -> str:
    return DIRECTIVE.format(name=name, level=level)


def index() -> str:
    parts = [INTRODUCTION, "## maxmargin\n", table("maxmargin")]
    for module in modules()[1:]:
        text = plain(summary(importlib.import_module(module)))
        parts += [f"## {module}\n", f"{text}\n", table(module)]
    return "\n".join(parts)


def names(module: str) -> list[str]:
    """Public names of a module, classes before functions."""

    def place(name: str) -> tuple:
        return not inspect.isclass(found(f"{module}.{name}")), name.lower()

    return sorted(places(module), key=place)


def table(module: str) -> str:
    rows = ["| name | what it is |", "| --- | --- |"]
    for name in names(module):
        full = f"{module}.{name}"
        text = plain(summary(found(full))).replace("|", "&#124;")
        rows.append(f"| [`{name}`][{full}] | {text} |")
    return "\n".join(rows) + "\n"
