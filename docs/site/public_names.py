"""The public names of the library, from its own lists: none can be forgotten."""

from __future__ import annotations

import importlib
import inspect
import re
from types import ModuleType

import maxmargin
from maxmargin.scorers import Scorer

END = re.compile(r"(?<!\.)\.\s+(?=[A-Z`\"(])")  # of a sentence
# public, besides maxmargin.NAME
SHELVES = "explain", "files", "metrics", "plots", "report", "testing", "views"


def modules() -> list[str]:
    """Full names of the public modules, ``maxmargin`` first."""
    named = [name for name in maxmargin._WHERE if is_module(name)]
    return ["maxmargin", *(f"maxmargin.{name}" for name in sorted({*SHELVES, *named}))]


def is_module(name: str) -> bool:
    return isinstance(getattr(maxmargin, name), ModuleType)


def places(module: str) -> dict[str, str]:
    """{public name: the module that defines it} of a public module."""
    found = importlib.import_module(module)
    table = dict(getattr(found, "_WHERE", {}))
    for name in listed(found):
        if name not in table and name[0] != "_":
            table[name] = home_of(found, name)
    return {name: home for name, home in table.items() if home != f"{module}.{name}"}


def listed(module: ModuleType) -> list[str]:
    """``__all__``, or else what the module itself defines."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, thing in vars(module).items()
        if name[0] != "_" and getattr(thing, "__module__", "") == module.__name__
    ]


def home_of(module: ModuleType, name: str) -> str:
    """The module that defines a name; of values, the one that has it."""
    thing = getattr(module, name)
    defined = inspect.isclass(thing) or inspect.isroutine(thing)
    home = thing.__module__ if defined else ""
    return home if home.startswith("maxmargin") else module.__name__


def every_name() -> list[str]:
    """Full public names, such as ``maxmargin.files.read_columns``."""
    return [f"{module}.{name}" for module in modules() for name in places(module)]


def found(name: str):
    """The object of a full public name."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def summary(thing) -> str:
    """The first sentence of a docstring, in one line; of a scorer, what it reads."""
    if isinstance(thing, Scorer):
        return about_scorer(thing)
    text = (inspect.getdoc(thing) or "").split("\n\n")[0].replace("\n", " ")
    return END.split(text)[0].rstrip(".:") + "." if text else ""


def about_scorer(scorer: Scorer) -> str:
    """What the number is called, and where in which reports it stands."""
    reports = " or ".join(f"`{name}`" for name in scorer.reports)
    first, rest = scorer.title[:1], scorer.title[1:]
    title = f"{first.upper() if rest[:1].islower() else first}{rest}"
    text = f"{title}: `{scorer.measure}` of {reports}"
    return f"{text}, negated: smaller is better." if scorer.smaller else f"{text}."
