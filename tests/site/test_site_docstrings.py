"""Docstrings as the reference shows them: links, groups of parameters, defaults."""

from types import SimpleNamespace

from site_tools import tool

TEXT = """A class.

Parameters
----------
C : float or None, default 1.0
    The weight
    of the data.
kind : {"a", "b",
    "c"}
tol, n_jobs,
verbose
    As in :class:`maxmargin.StructuralSVM`, but slower.

Attributes
----------
coef_ : ndarray
"""


def section():
    return tool("docstring_parameters").Explained(TEXT, "Parameters")


def test_groups_and_long_heads_are_read():
    entries = section().entries()
    assert list(entries) == ["C", "kind", "tol", "n_jobs", "verbose"]
    assert entries["C"].text == "The weight\nof the data."
    assert entries["kind"].kind == '{"a", "b", "c"}'


def test_what_is_explained_elsewhere_is_explained_here():
    entry = tool("docstring_parameters").Entry
    there = {"tol": entry("tol", "float", "The gap.")}
    declared = {
        name: SimpleNamespace(default=0.5) for name in (*section().entries(), "seed")
    }
    text = section().completed(lambda name, section: there, declared)
    assert "tol : float, default 0.5\n    The gap.\n\n    But slower.\n" in text
    assert "C : float | None, default 0.5\n" in text
    assert 'kind : "a" | "b" | "c", default 0.5\n' in text
    assert "n_jobs : default 0.5\n    As in" in text
    assert "seed : default 0.5" in text  # declared, but not documented
    assert text.endswith("\n\nAttributes\n----------\ncoef_ : ndarray\n")


def test_what_an_attribute_is_stands_below_its_type():
    text = "Attributes\n----------\nw_ : array (a, b), with zeros\n    out.\nn_ : int\n"
    section = tool("docstring_parameters").Explained(text, "Attributes")
    assert section.completed(lambda name, section: {}, {}) == (
        "Attributes\n----------\nw_ : array (a, b)\n    With zeros out.\nn_ : int"
    )


FUNCTION = """Draw two sequences.

Parameters
----------
a, b : the two sequences
pairs, truth : matched pairs (i, j), or None
kind : {"x",
    "y"}

Then a paragraph.

>>> draw("a", "b")  # doctest: +SKIP
"""


def test_parameters_of_functions_have_a_text():
    section = tool("docstring_parameters").Explained(FUNCTION, "Parameters")
    text = section.completed(lambda name, section: {}, {})
    assert "a\n    The two sequences.\nb\n    The two sequences.\n" in text
    assert "truth\n    Matched pairs (i, j), or None.\n" in text
    assert "\n\nNotes\n-----\nThen a paragraph.\n\n>>> draw" in text
    assert tool("docstring_parameters").alternatives('{"x",    "y"}') == '"x" | "y"'
    assert tool("docstring_parameters").alternatives("{name: Interval}") == "dict"


def test_references_become_links():
    linked = tool("docstring_links").linked
    assert linked(":func:`maxmargin.save`") == "[`save`][maxmargin.save]"
    assert linked("``maxmargin.save``") == "[`save`][maxmargin.save]"
    assert linked(":meth:`fit`", "maxmargin.HMMTagger") == (
        "[`fit`][maxmargin.HMMTagger.fit]"
    )
    assert linked(":func:`of_nobody`") == "`of_nobody`"
    assert linked("a : str or :class:`maxmargin.Tree`") == "a : str or Tree"
    assert linked("``docs/latent.md``") == "[Hidden parts](../latent.md)"
    assert linked("``docs/none.md``") == "`docs/none.md`"
