"""Tagging data sets on disk: text in, shards of encoded sentences out."""

from maxmargin.tags.corpus.corpus import Shard, TagCorpus

__all__ = ["Shard", "TagCorpus"]
