"""Constituency trees: objects, brackets, drawings, binarisation."""

from maxmargin.trees.tree import Tree, parsed

__all__ = ["Tree", "parsed"]
