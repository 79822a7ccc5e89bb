"""The families of structures: one folder each, and the one list of them.

A family's ``__init__.py`` says in a :class:`Family` what it offers. Public names, classes
that model files may name, commands, readers, metrics, scorers and plots derive from here:
adding a family is its folder and one word in ``FAMILIES``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

FAMILIES = (
    "classes",
    "multilabel",
    "kernel_svm",
    "rankings",
    "tags",
    "trees",
    "dependencies",
    "alignments",
    "matchings",
    "clusterings",
    "hypergraphs",
    "motifs",
    "graphs",
    "neural",
)

Places = Mapping[str, str]  # {name: module, relative to the family's folder}


@dataclass(frozen=True)
class Family:
    """What a folder offers: names and the modules, relative to it, that have them."""

    package: str
    public: Places = field(default_factory=dict)  # maxmargin.NAME
    models: tuple[str, ...] = ()  # versioned names of public classes, for model files
    commands: Places = field(default_factory=dict)  # maxmargin train NAME
    warmups: Places = field(default_factory=dict)  # maxmargin warmup NAME
    files: Places = field(default_factory=dict)  # maxmargin.files.NAME
    metrics: Places = field(default_factory=dict)  # maxmargin.metrics.NAME
    plots: Places = field(default_factory=dict)  # maxmargin.plots.NAME
    scorers: Places = field(default_factory=dict)  # maxmargin.scorers.NAME
    views: Places = field(default_factory=dict)  # maxmargin.views.NAME
    explains: Places = field(default_factory=dict)  # estimator: what its features say
    reports: Places = field(default_factory=dict)  # estimator: what draws its errors

    def places(self, shelf: str) -> dict[str, str]:
        """{name: full name of its module} of one shelf, such as "public"."""
        shelves = getattr(self, shelf)
        return {name: f"{self.package}.{module}" for name, module in shelves.items()}


def places(shelf: str) -> dict[str, str]:
    """{name: module} of one shelf over all families."""
    table: dict[str, str] = {}
    for name in FAMILIES:
        family = importlib.import_module(f"maxmargin.{name}").FAMILY
        table.update(family.places(shelf))
    return table


def model_classes() -> dict[str, str]:
    """{versioned name: "module:Class"}: the only classes that a model file can name."""
    table = {}
    for name in FAMILIES:
        family = importlib.import_module(f"maxmargin.{name}").FAMILY
        public = family.places("public")
        for model in family.models:
            cls = model.partition(".")[0]
            table[model] = f"{public[cls]}:{cls}"
    return table


def lazily(
    package: str, table: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """(``__getattr__``, ``__dir__``) of a package whose names are imported on first use."""

    def get(name: str) -> Any:
        if name not in table:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(table[name])
        return module if table[name] == f"{package}.{name}" else getattr(module, name)

    return get, lambda: sorted(table)
