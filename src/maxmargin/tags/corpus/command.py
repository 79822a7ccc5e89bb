"""Corpora on the command line: ``maxmargin shard``, and ``train tag`` on them."""

from __future__ import annotations

import os
from typing import Any

from maxmargin.cli.command import Sample
from maxmargin.cli.common import say
from maxmargin.files.corpora.sources import beginning, find_sources
from maxmargin.files.corpora.storage import is_corpus
from maxmargin.files.model_file import load
from maxmargin.tags.command_features import features_of, gazetteers_of
from maxmargin.tags.command_files import (
    MOST_LABELS,
    column_of,
    conllu_sentence,
    separator_of,
)
from maxmargin.tags.corpus.corpus import TagCorpus
from maxmargin.tags.corpus.training import same_features
from maxmargin.tags.files.conllu import NAMES
from maxmargin.tags.files.layout import Layout

LAYOUT = ("label_column", "separator", "encoding", "comment", "format", "word_column")
OLD_LAYOUT = {"format": "columns"}  # of corpora from before there was another one
WORDS = {  # for settings of a corpus
    "like": "features (those of a model or another corpus)",
    "hashing": "features (hashed ones)",
    "min_count": "min count",
    "label_column": "label column",
    "word_column": "word column",
}


def build_corpus(files: list[str], folder: str, args) -> TagCorpus:
    """What the options of ``maxmargin shard`` and ``maxmargin train tag`` say."""
    like = _like(getattr(args, "like", None))
    if like is not None:
        for option in ("template", "features", "min_count", "hashing", "gazetteer"):
            if getattr(args, option, None) is not None:
                raise ValueError(
                    f"--{option.replace('_', '-')} was given beside --like, which brings "
                    "its own features: leave one out."
                )
    corpus = TagCorpus.build(
        folder,
        files,
        **_features(args, like),
        label_column=column_of(args.label_column),
        format=args.format,
        word_column=column_of(args.word_column),
        separator=separator_of(args.separator),
        encoding=args.encoding,
        comment=args.comment,
        hashing=getattr(args, "hashing", None),
        shard_tokens=getattr(args, "shard_tokens", 500_000),
        n_jobs=getattr(args, "n_jobs", None) or 1,
        verbose=int(not args.quiet),
        overwrite=getattr(args, "overwrite", False),
    )
    settings = corpus.settings
    if args.format != settings["format"] == "conllu" and not args.quiet:
        word = Layout(**{name: settings[name] for name in LAYOUT}).places(len(NAMES))[1]
        say(conllu_sentence(files[0], settings["label_column"], word))
    return corpus


def _features(args, like: Any) -> dict[str, Any]:
    if like is not None:
        return {"like": like}
    template = features_of(args)
    lists = gazetteers_of(args, template)
    options = {"gazetteers": lists} if lists else None
    count = args.min_count or 1
    return {"features": template, "min_count": count, "feature_options": options}


def _like(name: str | None) -> Any:
    if name is None or is_corpus(name):
        return name and TagCorpus.open(name)
    return load(name)


def labelled(path: str) -> Sample:
    """A corpus to predict, with its labels; its text is not there any more."""
    corpus = TagCorpus.open(path)
    return Sample(
        corpus,
        list(corpus.label_sequences()),
        path.rstrip(os.sep),
        lambda i, t: f"{path}, sentence {i + 1}, token {t + 1}",
    )


# training ------------------------------------------------------------------------------


def corpus_sample(path: str, args) -> Sample | None:
    """The corpus that a command trains on; None if it is a file to hold in memory."""
    if not is_corpus(path) and args.shards is None:
        return None
    for option in ("cv", "repair"):
        if getattr(args, option):
            raise ValueError(
                f"--{option} needs all data in memory: leave it out with a corpus"
                + ("; choose C with --dev." if option == "cv" else ".")
            )
    if is_corpus(path):
        if args.shards is not None:
            raise ValueError(f"{path} is a corpus already: leave out --shards.")
        for option in LAYOUT:
            usual = "utf-8" if option == "encoding" else None
            if getattr(args, option) != usual:
                raise ValueError(
                    f"--{option.replace('_', '-')} says how text files are read, but "
                    f"{path} is a corpus, which was read already: leave it out."
                )
        corpus = _few_labels(TagCorpus.open(path))
        return Sample(corpus, None, path.rstrip(os.sep))
    if is_corpus(args.shards):
        corpus = TagCorpus.open(args.shards)
        _check_reuse(corpus, path, args)
        if not args.quiet:
            say(f"{args.shards} is there already, from these files: not built again.")
    else:
        corpus = build_corpus([path], args.shards, args)
    return Sample(_few_labels(corpus), None, path)


def _few_labels(corpus: TagCorpus) -> TagCorpus:
    if len(corpus.labels) > MOST_LABELS:
        raise ValueError(
            f"{corpus.folder}: there are {len(corpus.labels):,} different labels, more "
            f"than {MOST_LABELS}. Was it built with the right --label-column?"
        )
    return corpus


def check_dev(sample: Sample, dev: Sample | None) -> None:
    """A corpus to choose C on must have the features of the one to train on."""
    corpora = isinstance(sample.X, TagCorpus) and isinstance(
        getattr(dev, "X", None), TagCorpus
    )
    if corpora and not same_features(sample.X.encoder, dev.X.encoder):
        raise ValueError(
            f"{dev.path} has other features than {sample.path}: build it with maxmargin "
            f"shard --like {sample.X.folder}."
        )


def _check_reuse(corpus: TagCorpus, path: str, args) -> None:
    """A corpus that is there must be what would be built."""
    template = features_of(args)
    found, settings = find_sources(path), OLD_LAYOUT | corpus.settings
    settings["label_column"] %= settings["n_columns"]
    layout = Layout(
        column_of(args.label_column),
        separator_of(args.separator),
        args.encoding,
        args.comment,
        args.format,
        column_of(args.word_column),
    ).known(beginning(found[0]))
    wanted = layout._asdict() | {
        "hashing": None,
        "like": False,
        "features": template if isinstance(template, str) else template.text,
        "min_count": args.min_count or 1,
        "label_column": layout.places(settings["n_columns"])[0],
    }
    if any(s.size is None for s in found):
        raise ValueError(
            f"{corpus.folder} is a corpus already, and whether it was made of the same "
            f"text as {'standard input' if path == '-' else path} cannot be told: remove "
            "it, name another folder for --shards, or train on it by its name."
        )
    files = [{"path": s.path, "size": s.size, "changed": s.changed} for s in found]
    known = [{k: s[k] for k in ("path", "size", "changed")} for s in corpus.sources]
    what = [name for name in wanted if settings.get(name) != wanted[name]]
    lists = gazetteers_of(args, template)
    named = getattr(template, "gazetteers", ())
    if {name: lists[name] for name in named} != corpus.encoder._gazetteers:
        what.append("gazetteers")
    if files != known:
        what.insert(0, "files")
    if what:
        raise ValueError(
            f"{corpus.folder} is a corpus with other {WORDS.get(what[0], what[0])}: remove "
            "it, name another folder for --shards, or train on it by its name."
        )
