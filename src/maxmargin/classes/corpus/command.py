"""Corpora of vectors on the command line."""

from __future__ import annotations

import os

from maxmargin.classes.corpus.corpus import ClassCorpus
from maxmargin.cli.command import Sample
from maxmargin.cli.common import say
from maxmargin.files.corpora.sources import find_sources
from maxmargin.files.corpora.storage import is_corpus


def check_options(args) -> None:
    """What cannot be with a corpus, before anything is read."""
    if args.shards is None and not is_corpus(args.train):
        return
    if args.shards is not None and args.format != "svmlight":
        raise ValueError(
            "--shards is for vectors (--format svmlight): texts are held in memory."
        )
    if is_corpus(args.train) and args.shards is not None:
        raise ValueError(f"{args.train} is a corpus already: leave out --shards.")
    for option in ("cv", "multilabel"):
        if getattr(args, option):
            raise ValueError(
                f"--{option} needs all data in memory: leave it out with a corpus"
                + ("; choose C with --dev." if option == "cv" else ".")
            )


def training_corpus(path: str, args) -> Sample | None:
    """The corpus that a command trains on; None if it is a file to hold in memory."""
    if is_corpus(path):
        return Sample(ClassCorpus.open(path), None, path.rstrip(os.sep))
    if args.shards is None:
        return None
    if is_corpus(args.shards):
        corpus = ClassCorpus.open(args.shards)
        _check_reuse(corpus, path, args.encoding)
        if not args.quiet:
            say(f"{args.shards} is there already, from these files: not built again.")
    else:
        verbose = int(not args.quiet)
        corpus = ClassCorpus.build(args.shards, path, args.encoding, verbose=verbose)
    return Sample(corpus, None, path)


def _check_reuse(corpus: ClassCorpus, path: str, encoding: str) -> None:
    """A corpus that is there must be what would be built."""
    found = [source._asdict() for source in find_sources(path)]
    settings = corpus.settings
    same = settings["encoding"] == encoding and settings["n_features"] is None
    if any(source["size"] is None for source in found) or not (
        same and found == corpus.sources
    ):
        raise ValueError(
            f"{corpus.folder} is a corpus of other files, or it was read in another way: "
            "remove it, name another folder for --shards, or train on it by its name."
        )


def corpus_sample(path: str, truth: bool) -> Sample:
    """A corpus to predict, with its labels."""
    corpus = ClassCorpus.open(path)
    y = corpus.classes().tolist() if truth else None
    return Sample(corpus, y, path.rstrip(os.sep), lambda i: f"{path}, vector {i + 1}")
