"""Files of label sequences as a model remembers them: how they are read and tagged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import scipy.sparse as sp

from maxmargin import files
from maxmargin.cli.command import Command, Sample
from maxmargin.cli.common import say
from maxmargin.files.text_files import write_text
from maxmargin.tags.files.conllu import NAMES, sentences_of, with_labels
from maxmargin.tags.files.layout import Layout
from maxmargin.tags.formats import FORMATS
from maxmargin.tags.schemes import check_scheme, convert, guess_scheme

if TYPE_CHECKING:
    from maxmargin.files import Columns, RawText
    from maxmargin.tags.files.layout import Layout

MOST_LABELS = 1000  # more are a wrong column, and would take for ever
CERTAIN = "1.0000"


@dataclass
class TagFiles(Command):
    """How a file is written. ``more`` of a sample is its raw text."""

    format: str | None = None  # known once a file was read
    separator: str | None = None
    comment: str | None = None
    label_column: int | str | None = None  # from 0 once a file was read
    word_column: int | str | None = None
    n_columns: int | None = None  # of the training file, labels included

    n_jobs = None  # threads that read large files
    width = None  # columns of matrices of features
    measured = "Prob"  # what MISC calls the numbers of --marginals

    @property
    def holds_features(self) -> bool:
        """Are features in the file, rather than columns to make them of?"""
        return self.format is not None and FORMATS[self.format].features

    @property
    def written(self) -> Callable[..., str] | None:
        """Writes a tagged sentence, in formats where labels are not a column more."""
        return self.format and FORMATS[self.format].part("written")

    @property
    def layout(self) -> Layout:
        return Layout(
            self.label_column,
            self.separator,
            self.encoding,
            self.comment,
            self.format,
            self.word_column,
        )

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

    def _read_columns(self, raw: RawText, expect=None) -> Columns:
        if self.format in (None, "columns"):
            layout = self.separator, self.encoding, self.comment
            return files.read_columns(raw, *layout, expect=expect, n_jobs=self.n_jobs)
        read = getattr(files, f"read_{self.format}")
        return read(raw, encoding=self.encoding, **self._separated())

    def _separated(self) -> dict[str, str]:
        """The separator for readers and writers, where it was given and can be."""
        fixed = FORMATS[self.format or "columns"].fixed
        return {} if fixed or self.separator is None else {"separator": self.separator}

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

    # writing --------------------------------------------------------------------------

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        """The file with columns added; for features and corpora, these columns alone.

        CoNLL-U has its ten columns: labels take the place of those that were there, and
        numbers go to MISC.
        """
        added, raw = [outputs], sample.more
        if self.written and chances is not None:
            raise ValueError(
                f"--marginals is not possible: the format {self.format} has no place for "
                "probabilities. Train on --format columns, or ask for --k-best."
            )
        if chances is not None:
            added.append([[f"{p:.4f}" for p in row] for row in chances])
        if self.format == "conllu" and raw is not None:
            misc = [[f"{self.measured}={p}" for p in row] for row in chain(*added[1:])]
            layout = self.label_column, self.encoding
            files.write_conllu(path, raw, outputs, *layout, misc=misc or None)
            return
        if self.written and raw is not None:
            words, write = (
                sample.X.strings(sample.X.meaning.word),
                getattr(files, f"write_{self.format}"),
            )
            write(path, words, outputs, encoding=self.encoding, **self._separated())
            return
        if not self.holds_features and raw is not None:
            layout = self.separator, self.encoding, self.comment
            filler = ("O", CERTAIN)[: len(added)]  # of lines that are no tokens
            files.tag_file(raw, path, outputs, *layout, filler=filler, more=added[1:])
            return
        sentences = zip(*added, strict=True)
        blocks = ["\n".join(map("\t".join, zip(*s, strict=True))) for s in sentences]
        write_text(path, "\n\n".join([*blocks, ""])[:-1], self.encoding)

    def write_ranked(self, path: str, sample: Sample, ranked) -> None:
        """Every sentence as often as it has labellings."""
        self._begins = self._rows = self._words = None
        if self.format == "conllu" and sample.more is not None:
            self._rows = sentences_of(self.layout.utf8(sample.more))
        elif self.written:
            self._words = sample.X.strings(sample.X.meaning.word)
        elif not self.holds_features and sample.more is not None:
            between = self.separator or " "
            columns = self._read_columns(sample.more)
            each = [columns.strings(k) for k in range(columns.n_columns)]
            self._begins = [
                [between.join(row) + between for row in zip(*s, strict=True)]
                for s in zip(*each, strict=True)
            ]
        super().write_ranked(path, sample, ranked)

    def lines(self, sample: Sample, i: int, output) -> list[str]:
        if self._rows:
            return [*with_labels(self._rows[i], output, self.label_column), ""]
        if self._words:
            return [
                self.written(self._words[i], output, *self._separated().values()),
                "",
            ]
        begins = self._begins[i] if self._begins else [""] * len(output)
        return [*map("".join, zip(begins, output, strict=True)), ""]


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
