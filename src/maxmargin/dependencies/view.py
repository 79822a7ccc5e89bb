"""Dependency trees in a notebook, alone or beside the truth."""

from __future__ import annotations

from typing import Any

from maxmargin.dependencies.input import read_sentences, read_trees
from maxmargin.dependencies.svg import arcs_svg, unpacked
from maxmargin.views.view import View, about


def dependencies(sentence: Any, found: Any, truth: Any = None) -> View:
    """A sentence with its arcs; with ``truth``, wrong ones marked and missed ones below.

    Parameters
    ----------
    sentence : list of (word, tag)
    found, truth : a head for every word, 0 for the root; or (head, label)
    """
    (sentence,) = read_sentences([sentence], "sentence")
    n = len(sentence)
    read_trees([found], [n])
    heads, labels = unpacked(found)
    if truth is None:
        picture = arcs_svg(sentence, heads, labels)
        return View(picture, as_text(sentence, heads, labels), picture)
    read_trees([truth], [n])
    gold, names = unpacked(truth)
    wrong = [
        m
        for m in range(1, n + 1)
        if (heads[m - 1], labels[m - 1]) != (gold[m - 1], names[m - 1])
    ]
    missed = [(gold[m - 1], m, names[m - 1]) for m in wrong]
    picture = arcs_svg(sentence, heads, labels, set(wrong), missed)
    says = "Predicted as it should be."
    if wrong:
        says = f"{len(wrong)} of {n} words are attached wrongly; true arcs are below."
    text = f"{as_text(sentence, heads, labels)}\n{says}"
    return View(picture + about(says), text, picture)


def as_text(sentence, heads, labels) -> str:
    """A line per word: its number, itself, its tag, head and label."""
    rows = zip(sentence, heads, labels, strict=True)
    return "\n".join(
        f"{m:3d} {word:16s} {tag:6s} {head:3d} {label or ''}".rstrip()
        for m, ((word, tag), head, label) in enumerate(rows, 1)
    )
