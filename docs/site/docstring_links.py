"""References in docstrings: Sphinx's roles and pages of docs/ become links of the site."""

from __future__ import annotations

import inspect
import re
from functools import cache
from pathlib import Path

from public_names import every_name, found, modules

DOCS = Path(__file__).resolve().parents[1]
ROLE = re.compile(r":(?:class|func|meth|mod|attr|data|exc):`~?([^`]+)`")
HEAD = re.compile(r"^( *[*\w, ]+ : )(.*)$", re.MULTILINE)
NAME = re.compile(r"``(maxmargin\.[\w.]+)``")
PAGE = re.compile(r"``docs/([\w/-]+)\.md``")


def linked(text: str, public: str = "maxmargin") -> str:
    """The text with links; ``public`` is the name whose docstring it is of.

    Types of parameters are shown as code, in which nothing can be a link.
    """
    text = HEAD.sub(lambda match: match[1] + plain(match[2]).replace("`", ""), text)
    text = ROLE.sub(lambda match: _reference(match[1], public), text)
    text = NAME.sub(lambda match: _reference(match[1], public), text)
    return PAGE.sub(lambda match: _page(match[1]), text)


def plain(text: str) -> str:
    """The text with the last names of what it refers to."""
    return ROLE.sub(lambda match: match[1].rpartition(".")[2], text)


def _reference(target: str, public: str) -> str:
    for full in (target, f"{public}.{target}", f"maxmargin.{target}"):
        if full in known():
            return f"[`{target.removeprefix('maxmargin.')}`][{full}]"
    return f"`{target}`"


@cache
def known() -> frozenset[str]:
    """What has a heading in the reference."""
    names = set(modules()) | set(every_name())
    for name in every_name():
        thing = found(name)
        if inspect.isclass(thing):
            names |= {
                f"{name}.{method}"
                for method in dir(thing)
                if method[0] != "_" and _is_ours(thing, method)
            }
    return frozenset(names)


def _is_ours(cls: type, name: str) -> bool:
    """A documented member that is defined by the library itself."""
    for base in cls.__mro__:
        if name in vars(base):
            documented = bool(getattr(vars(base)[name], "__doc__", None))
            return base.__module__.startswith("maxmargin") and documented
    return False


def _page(name: str) -> str:
    """A link from a page of the reference, which is one folder down."""
    path = DOCS / f"{name}.md"
    if not path.is_file():
        return f"`docs/{name}.md`"
    title = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
    return f"[{title}](../{name}.md)"
