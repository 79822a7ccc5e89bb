"""Files of label sequences as a model remembers them: how they are read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import scipy.sparse as sp

from maxmargin import files
from maxmargin.cli.command import Sample
from maxmargin.cli.common import say
from maxmargin.tags.command_outputs import TagOutputs
from maxmargin.tags.files.conllu import NAMES
from maxmargin.tags.schemes import check_scheme, convert, guess_scheme

if TYPE_CHECKING:
    from maxmargin.files import Columns, RawText

MOST_LABELS = 1000  # more are a wrong column, and would take for ever


@dataclass
class TagFiles(TagOutputs):
    """How a file is read. ``more`` of a sample is its raw text."""

    # reading --------------------------------------------------------------------------

    def read_training(self, path: str, quiet: bool = False) -> Sample:
        """A file with labels, and the places of its columns."""
        raw = files.read_raw(path)
        if self.holds_features:
            sample = self._read_features(raw)
            if hasattr(sample.X[0], "shape"):
                self.width = sample.X[0].shape[1]
            check_labels(sample, raw.path)
            return sample
        given, layout = self.format, self.layout.known(raw)
        self.format = layout.format
        columns = self._read_columns(raw)
        n = columns.n_columns
        first = f"{raw.path}, line {columns.lines[0]}"
        if n == 1:
            raise ValueError(
                f"{first}: there is only one column, that of the labels. Tokens need one "
                "more; is the separator right?"
            )
        try:
            self.n_columns, (self.label_column, word) = n, layout.places(n)
        except ValueError as error:
            raise ValueError(f"{first}: {error}") from None
        if self.word_column is not None:
            self.word_column = word
        if given != self.format == "conllu" and not quiet:
            say(conllu_sentence(raw.path, self.label_column, word))
        sample = self._split(columns, raw)
        check_labels(sample, f"{raw.path}, column {self._called(self.label_column)}")
        remark = unspecified(sample)
        if remark and self.format == "conllu" and not quiet:
            say(f"{remark}, which is learned as a label like the others.")
        return sample

    def read(self, path: str, truth: bool) -> Sample:
        """A file for a model with this layout, with or without labels."""
        from maxmargin.tags.corpus.command import is_corpus, labelled

        if is_corpus(path):
            return labelled(path)
        raw = files.read_raw(path)
        if self.holds_features:
            return self._read_features(raw, self.width)
        n = self.n_columns
        columns = self._read_columns(raw, (n - 1, n))
        if truth and columns.n_columns < n:
            raise ValueError(
                f"{raw.path} has {n - 1} columns where the training file had {n}: the "
                "labels are missing, and there is nothing to compare with."
            )
        sample = self._split(columns, raw)
        if truth and self.format == "conllu" and {"_"} == set(chain(*sample.y)):
            raise ValueError(
                f"{raw.path}: the column {self._called(self.label_column)} has _ for all "
                "words, which are no labels: there is nothing to compare with."
            )
        return sample

    def _split(self, columns: Columns, raw: RawText) -> Sample:
        """The label column apart from the others, which are numbered without it."""
        features, labels = list(columns.columns), None
        if columns.n_columns == self.n_columns:
            del features[self.label_column]
            labels = columns.strings(self.label_column)
        start, meaning = columns.start, self.layout.meaning(self.n_columns)
        return Sample(
            columns._replace(columns=features, meaning=meaning),
            labels,
            raw.path,
            lambda i, t: columns.where(int(start[i]) + t),
            more=raw,
        )

    def _called(self, column: int) -> int | str:
        return NAMES[column] if self.format == "conllu" else column

    def _read_features(self, raw: RawText, n_features: int | None = None) -> Sample:
        weights = None
        if self.format == "svmhmm":
            X, y = files.read_svmhmm(raw, encoding=self.encoding)
            if n_features is not None:
                X = _with_width(X, n_features)
        else:
            X, y, weights = files.read_crfsuite(raw, self.encoding, weights=True)
            if set(weights) == {1.0}:
                weights = None

        def where(i, t):
            return f"{raw.path}, sequence {i + 1}, token {t + 1}"

        return Sample(X, y, raw.path, where, weights, more=raw)

    # corpora on disk ------------------------------------------------------------------

    def in_shards(self, args) -> bool:
        """Is the data a corpus, which has its features?"""
        from maxmargin.files.corpora.storage import is_corpus

        own = (args.template, args.features, args.gazetteer)
        if not is_corpus(args.train) or any(value is not None for value in own):
            return False
        return not self.holds_features

    def read_corpus(self, path: str, args) -> Sample | None:
        """A corpus, or what is to become one; None for other files."""
        from maxmargin.tags.corpus.command import LAYOUT, OLD_LAYOUT, corpus_sample

        sample = corpus_sample(path, args)
        if sample is not None:
            settings = sample.X.settings
            for name in LAYOUT:
                setattr(self, name, settings.get(name, OLD_LAYOUT.get(name)))
            self.n_columns = settings["n_columns"]
            self.label_column %= self.n_columns
            ready = "\n" not in settings["features"]
            self.source = settings["features"] if ready else "a template"
        return sample

    def encoded(self, sample: Sample, given: dict) -> dict:
        """Parameters of an estimator that a corpus decides, where they are not given."""
        settings = getattr(sample.X, "settings", {})
        names = [name for name in ("features", "min_count") if name in settings]
        return {name: settings[name] for name in names if given.get(name) is None}


def tokens_of(sample: Sample) -> int:
    return sample.X.n_tokens if sample.y is None else sum(map(len, sample.y))


def scheme_of(scheme: str | None, sample: Sample) -> str | None:
    """The scheme of a corpus, which training checks."""
    return guess_scheme(sample.X.labels) or scheme if scheme == "auto" else scheme


def separator_of(text: str | None) -> str | None:
    """A tab is hard to type: \\t stands for it."""
    return text and text.replace("\\t", "\t")


def column_of(text: str | None) -> int | str | None:
    """A column by number, or by name."""
    try:
        return text and int(text)
    except ValueError:
        return text


def conllu_sentence(path: str, label: int, word: int) -> str:
    """What is said of a file that was recognised."""
    return (
        f"{path} is read as CoNLL-U: words from {NAMES[word]}, labels from {NAMES[label]} "
        "(--label-column NAME for others, --format columns for a plain file)."
    )


def unspecified(sample: Sample) -> str:
    """What to say of labels that are _."""
    labels = list(chain(*sample.y))
    n = labels.count("_")
    return n and f"{sample.path}: {n:,} of {len(labels):,} labels are _"


def _with_width(X: list, width: int) -> list:
    """Matrices with as many columns as those of training; new features are left out."""
    if X[0].shape[1] > width:
        return [x[:, :width] for x in X]
    return [
        sp.csr_array((x.data, x.indices, x.indptr), shape=(x.shape[0], width))
        for x in X
    ]


def check_labels(sample: Sample, place: str) -> None:
    """Refuse labels that nothing can be learned from."""
    labels = set(chain.from_iterable(sample.y))
    if "" in labels:
        i, t = next((i, row.index("")) for i, row in enumerate(sample.y) if "" in row)
        raise ValueError(f"{sample.where(i, t)}: the label is empty.")
    if len(labels) == 1:
        raise ValueError(
            f"{place}: all labels are {labels.pop()!r}, but at least two different ones "
            "are needed. Is it the column of the labels?"
        )
    if len(labels) > MOST_LABELS:
        raise ValueError(
            f"{place}: there are {len(labels)} different labels, more than "
            f"{MOST_LABELS}. Is it the column of the labels?"
        )


def checked_scheme(args, sample: Sample) -> tuple[str | None, Sample]:
    """The scheme, and the labels as it wants them."""
    if args.scheme is None:
        if args.repair:
            raise ValueError("--repair needs a scheme, such as --scheme BIO.")
        return None, sample
    scheme = args.scheme
    if scheme == "auto":
        scheme = guess_scheme(sample.y) or scheme
    if args.repair and scheme != "auto":
        y = [convert(labels, scheme, scheme) for labels in sample.y]
        repaired = sum(a != b for a, b in zip(y, sample.y, strict=True))
        if repaired and not args.quiet:
            say(f"{sample.path}: {repaired} sentences broke the scheme; repaired.")
        sample = replace(sample, y=y)
    try:
        check_scheme(sample.y, scheme, sample.where)
    except ValueError as error:
        here = str(error).replace(
            "repair it with maxmargin.tags.schemes.convert", "--repair"
        )
        raise ValueError(here) from None
    return scheme, sample
