"""Vectors with a class each, in a folder on disk."""

from maxmargin.classes.corpus.corpus import ClassCorpus

__all__ = ["ClassCorpus"]
