"""What the reference shows: griffe reads the sources, this adds what only running knows.

Public names are imported on first use, so a static reader does not see them: here they
become aliases of what they stand for. Constructors are made of declared parameters
(``fitting/parameters.py``), with their defaults. References in our docstrings become links,
and a parameter that is explained elsewhere ("As in :class:`maxmargin.StructuralSVM`") is
explained where it is used.
"""

from __future__ import annotations

import inspect

import griffe
from docstring_links import linked
from docstring_parameters import Entry, Explained
from public_names import every_name, found, modules, places

EXPLAINED = "Parameters", "Attributes"


class PublicNames(griffe.Extension):
    """The extension that mkdocs.yml names."""

    def on_package(self, *, pkg: griffe.Module, loader, **more) -> None:
        if pkg.name != "maxmargin":
            return
        add_aliases(pkg)
        for name in every_name():
            thing = found(name)
            if inspect.isclass(thing):
                complete(pkg, name, thing)
        seen: set[str] = set()
        for module in modules():
            relink(pkg[module.partition(".")[2]] if "." in module else pkg, module)
            for name in places(module):
                relink_all(pkg, f"{module}.{name}", seen)


def member(pkg: griffe.Module, path: str):
    """The object of a full path, behind all aliases."""
    thing = pkg[path.removeprefix(f"{pkg.name}.")]
    return thing.final_target if thing.is_alias else thing


def add_aliases(pkg: griffe.Module) -> None:
    for module in modules():
        shelf = pkg if module == pkg.name else member(pkg, module)
        for name, home in places(module).items():
            if home != shelf.path:
                shelf.set_member(name, griffe.Alias(name, f"{home}.{name}"))


def complete(pkg: griffe.Module, name: str, thing: type) -> None:
    """Constructor, parameters and attributes of a public class."""
    cls = member(pkg, f"{thing.__module__}.{thing.__qualname__}")
    declared = getattr(thing, "declared", {})
    if declared:
        cls.set_member("__init__", constructor(declared))
        for base in thing.__mro__[:-1]:
            if base.__module__.startswith("maxmargin"):
                drop_declarations(member(pkg, f"{base.__module__}.{base.__qualname__}"))
    if cls.docstring is not None:
        explain(cls, declared)


def explain(thing, declared) -> None:
    """Entries in full, in a docstring."""
    text = inspect.cleandoc(thing.docstring.value)
    for section in EXPLAINED:
        defaults = declared if section == "Parameters" else {}
        text = Explained(text, section).completed(entries_of, defaults)
    thing.docstring.value = text


def constructor(declared) -> griffe.Function:
    """``__init__`` as its declarations make it."""
    by_place = griffe.ParameterKind.positional_or_keyword
    made = [griffe.Parameter("self", kind=by_place)]
    for name, each in declared.items():
        kind = griffe.ParameterKind.keyword_only if each.kw_only else by_place
        required = each.default is inspect.Parameter.empty
        default = None if required else repr(each.default)
        made.append(griffe.Parameter(name, kind=kind, default=default))
    return griffe.Function("__init__", parameters=griffe.Parameters(*made))


def drop_declarations(cls: griffe.Class) -> None:
    """Declared parameters are no attributes of the class."""
    for name, each in list(cls.members.items()):
        if each.is_attribute and str(each.value or "").startswith("Parameter("):
            cls.del_member(name)


def entries_of(name: str, section: str) -> dict[str, Entry]:
    """What the docstring of a public class says of its parameters or attributes."""
    thing = found(name)
    return Explained(inspect.getdoc(thing) or "", section).entries()


def relink_all(pkg: griffe.Module, public: str, seen: set[str]) -> None:
    thing = member(pkg, public)
    relink(thing, public)
    if not thing.is_class:
        return
    for name, each in thing.all_members.items():
        if each.is_alias:
            each = each.final_target
        if each.path not in seen and not name.startswith("_"):
            seen.add(each.path)
            relink(each, public)


def relink(thing, public: str) -> None:
    """Links in place of references, in a docstring; parameters of functions in full."""
    if thing.docstring is not None:
        if thing.is_function:
            explain(thing, {})
        thing.docstring.value = linked(thing.docstring.value, public)
