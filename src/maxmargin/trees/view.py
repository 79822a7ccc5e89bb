"""Trees in a notebook, alone or beside the truth."""

from __future__ import annotations

from maxmargin.trees.metrics import wrong_brackets, wrong_tags
from maxmargin.trees.svg import tree_svg
from maxmargin.trees.tree import Tree, own_tree
from maxmargin.views.view import View, about


def tree(predicted: Tree, truth: Tree | None = None) -> View:
    """A tree; with ``truth``, both, and where they differ.

    Wrong phrases and tags are boxed in the predicted tree, missed ones have dashed frames
    in the true one. Errors are those that ``score_brackets`` counts.
    """
    predicted, truth = own_tree(predicted, "predicted"), own_tree(truth, "truth")
    for name, value in (("predicted", predicted), ("truth", truth)):
        if not isinstance(value, Tree) and (name == "predicted" or value is not None):
            raise ValueError(f"{name} is of type {type(value).__name__}, not a Tree.")
    if truth is None or truth == predicted:
        right = [] if truth is None else [about("Predicted as it should be.")]
        picture = tree_svg(predicted)
        return View("".join([picture, *right]), predicted.draw(), picture)
    missed, wrong = wrong_brackets(truth, predicted)
    tags = wrong_tags(truth, predicted)
    picture = tree_svg(predicted, wrong, tags)
    body = [
        about(
            f"Predicted; boxed: {len(wrong)} phrases and {len(tags)} tags are wrong."
        ),
        picture,
        about(f"True; in dashed frames: {len(missed)} phrases were not found."),
        tree_svg(truth, missed, tags, found=False),
    ]
    text = f"{predicted.draw()}\n\ntrue:\n{truth.draw()}"
    return View("".join(body), text, picture)


def shown(sentence: object, predicted: Tree | None, truth: Tree | None = None) -> View:
    """What a parser predicts of a sentence: perhaps nothing."""
    if predicted is None:
        says = "The grammar has no tree for this sentence."
        return View(about(says), says)
    return tree(predicted, truth)
