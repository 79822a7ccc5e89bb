"""The reference has an entry for every public name, with links and true defaults."""

import importlib
import inspect
import pkgutil
from functools import cache

import pytest
from site_tools import ROOT, tool
from sources import parsing

import maxmargin
from maxmargin import scorers


def public():
    """Full public names, by another way than the site's own: whatever has ``__all__``."""
    inner = [each.name for each in pkgutil.iter_modules(maxmargin.__path__)]
    for name in ["maxmargin", *(f"maxmargin.{name}" for name in inner)]:
        if name in ("maxmargin.__main__", "maxmargin.torch"):  # the site has no PyTorch
            continue
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", ()):
            if not public.startswith("_"):
                yield f"{name}.{public}"


def test_every_public_name_has_an_entry():
    pages = "\n".join(tool("reference").pages().values())
    missing = [name for name in public() if f"::: {name}\n" not in pages]
    assert missing == []


def test_every_entry_is_in_the_index_and_has_a_sentence():
    index = tool("reference").pages()["reference/index.md"]
    names = tool("public_names").every_name()
    assert len(names) == len(set(names)) > 150
    for name in names:
        assert f"][{name}] |" in index
        assert f"][{name}] |  |" not in index, f"{name} has no docstring."


def test_scorers_say_what_they_read():
    summary = tool("public_names").summary
    assert summary(scorers.span_f1) == "Span F1: `f1` of `SpanReport`."
    assert summary(scorers.aer).endswith(
        "of `AlignmentScores`, negated: smaller is better."
    )


def test_every_page_is_in_the_navigation():
    reference = tool("reference")
    pages = str(reference.titles())
    assert all(page in pages or "index" in page for page in reference.pages())


@cache
def package():
    griffe = pytest.importorskip("griffe", reason="needs maxmargin[docs]")
    extension = griffe.load_extensions(tool("docstrings").PublicNames)
    where = {"search_paths": [ROOT / "src"], "extensions": extension}
    return parsing(griffe.load, "maxmargin", **where)


def read(name):
    """What the site shows of a public name."""
    return tool("docstrings").member(package(), name)


def test_a_static_reader_finds_every_name():
    for name in tool("public_names").every_name():
        thing = read(name)  # values, such as scorers, are explained by their module
        assert thing.docstring or thing.is_attribute, name


def test_constructors_have_the_declared_defaults():
    shown = read("maxmargin.SequenceTagger")
    parameters = shown.members["__init__"].parameters
    signature = inspect.signature(maxmargin.SequenceTagger)
    assert [p.name for p in parameters] == ["self", *signature.parameters]
    assert parameters["loss"].default == "'hamming'"
    assert parameters["loss"].kind.value == "keyword-only"
    assert "C" not in shown.all_members  # declarations are no attributes


@pytest.mark.parametrize("name", ["MulticlassSVM", "GraphLabeler", "TopKRanker"])
def test_every_parameter_is_explained(name):
    text = read(f"maxmargin.{name}").docstring.value
    entries = tool("docstring_parameters").Explained(text, "Parameters").entries()
    assert set(entries) == set(getattr(maxmargin, name).declared)
    assert "Largest number of passes" in entries["max_iter"].text  # from StructuralSVM
    assert "As in" not in entries["n_jobs"].text
    assert "default 'margin'" in entries["rescaling"].kind


def test_no_role_is_left():
    for name in tool("public_names").every_name():
        thing = read(name)
        members = thing.all_members.values() if thing.is_class else ()
        for each in (thing, *members):
            text = each.docstring.value if each.docstring else ""
            assert ":class:" not in text, each.path
            assert ":func:" not in text, each.path
