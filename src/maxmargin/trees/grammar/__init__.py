"""Context-free grammars: rules read off binarised trees, their counts and chains."""

from maxmargin.trees.grammar.grammar import Grammar, LogProbabilities

__all__ = ["Grammar", "LogProbabilities"]
