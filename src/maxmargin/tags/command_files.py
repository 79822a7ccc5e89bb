"""Files of label sequences as a model remembers them: how they are read and tagged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from maxmargin.files import Columns, RawText

FORMATS = ("columns", "svmhmm", "crfsuite")
MOST_LABELS = 1000  # more are a wrong column, and would take for ever


class Sample(NamedTuple):
    """The sentences of a file."""

    X: Any  # as a tagger wants them
    y: list[list[str]] | None  # None if the file has no labels
    where: Callable[[int, int], str]  # the place of a token, for messages
    raw: RawText
    weights: list[float] | None = None  # of sentences

    @property
    def n_sentences(self) -> int:
        return len(self.X.start) - 1 if hasattr(self.X, "start") else len(self.X)

    @property
    def width(self) -> int | None:
        """Columns of matrices; None if tokens are not rows of a matrix."""
        return (
            self.X[0].shape[1]
            if isinstance(self.X, list) and hasattr(self.X[0], "shape")
            else None
        )

    def select(self, chosen: list[int]) -> Sample:
        """Some of the sentences."""
        few = self.X.select(chosen) if hasattr(self.X, "select") else None
        return self._replace(
            X=[self.X[i] for i in chosen] if few is None else few,
            y=[self.y[i] for i in chosen],
            weights=self.weights and [self.weights[i] for i in chosen],
        )


@dataclass(frozen=True)
class Layout:
    """How a file is written; the model notes it, so that predicting needs no options."""

    format: str = "columns"
    separator: str | None = None
    encoding: str = "utf-8"
    comment: str | None = None
    label_column: int = -1  # from 0 once a file was read
    n_columns: int | None = None  # of the training file, labels included

    def notes(self) -> dict[str, Any]:
        return asdict(self)

    # reading --------------------------------------------------------------------------

    def read_training(self, path: str) -> tuple[Layout, Sample]:
        """A file with labels, and the layout with the places of its columns."""
        from maxmargin.files import read_raw

        raw = read_raw(path)
        if self.format != "columns":
            sample = self._read_features(raw)
            check_labels(sample, raw.path)
            return self, sample
        columns = self._read_columns(raw)
        n = columns.n_columns
        first = f"{raw.path}, line {columns.lines[0]}"
        if not -n <= self.label_column < n:
            raise ValueError(
                f"{first}: there is no column {self.label_column} for the labels; there "
                f"are {n}, numbered 0 to {n - 1}, or -{n} to -1."
            )
        if n == 1:
            raise ValueError(
                f"{first}: there is only one column, that of the labels. Tokens need one "
                "more; is the separator right?"
            )
        layout = replace(self, n_columns=n, label_column=self.label_column % n)
        sample = layout._split(columns, raw)
        check_labels(sample, f"{raw.path}, column {layout.label_column}")
        return layout, sample

    def read(
        self, path: str, n_features: int | None, with_labels: bool = False
    ) -> Sample:
        """A file for a model with this layout, with or without labels."""
        from maxmargin.files import read_raw

        raw = read_raw(path)
        if self.format != "columns":
            return self._read_features(raw, n_features)
        n = self.n_columns
        columns = self._read_columns(raw, (n - 1, n))
        if with_labels and columns.n_columns < n:
            raise ValueError(
                f"{raw.path} has {n - 1} columns where the training file had {n}: the "
                "labels are missing, and there is nothing to compare with."
            )
        return self._split(columns, raw)

    def _read_columns(self, raw: RawText, expect=None) -> Columns:
        from maxmargin.files import read_columns

        return read_columns(
            raw, self.separator, self.encoding, self.comment, expect=expect
        )

    def _split(self, columns: Columns, raw: RawText) -> Sample:
        """The label column apart from the others, which are numbered without it."""
        features, labels = list(columns.columns), None
        if columns.n_columns == self.n_columns:
            del features[self.label_column]
            labels = columns.strings(self.label_column)
        start = columns.start
        return Sample(
            columns._replace(columns=features),
            labels,
            lambda i, t: columns.where(int(start[i]) + t),
            raw,
        )

    def _read_features(self, raw: RawText, n_features: int | None = None) -> Sample:
        from maxmargin.files import read_crfsuite, read_svmhmm

        weights = None
        if self.format == "svmhmm":
            X, y = read_svmhmm(raw, encoding=self.encoding)
            if n_features is not None:
                X = _with_width(X, n_features)
        else:
            X, y, weights = read_crfsuite(raw, self.encoding, weights=True)
            if set(weights) == {1.0}:
                weights = None

        def where(i, t):
            return f"{raw.path}, sequence {i + 1}, token {t + 1}"

        return Sample(X, y, where, raw, weights)

    # writing --------------------------------------------------------------------------

    def write_labels(self, target: str, sample: Sample, added: list) -> None:
        """The file with columns added; for files of features, these columns alone."""
        from maxmargin.files import tag_file
        from maxmargin.files.text_files import write_text

        if self.format == "columns":
            tag_file(
                sample.raw,
                target,
                added[0],
                self.separator,
                self.encoding,
                self.comment,
                more=added[1:],
            )
            return
        sentences = zip(*added, strict=True)
        blocks = ["\n".join(map("\t".join, zip(*s, strict=True))) for s in sentences]
        write_text(target, "\n\n".join([*blocks, ""])[:-1], self.encoding)

    def write_ranked(self, target: str, sample: Sample, ranked: list) -> None:
        """Every sentence as often as it has labellings, each after '# RANK SCORE'."""
        from maxmargin.files.text_files import write_text

        between = self.separator or " "
        rows = None
        if self.format == "columns":
            columns = self._read_columns(sample.raw)
            each = [columns.strings(k) for k in range(columns.n_columns)]
            rows = [
                [between.join(row) + between for row in zip(*s, strict=True)]
                for s in zip(*each, strict=True)
            ]
        lines = []
        for i, labellings in enumerate(ranked):
            for rank, (labels, score) in enumerate(labellings, 1):
                lines.append(f"# {rank} {score:.6g}")
                begins = rows[i] if rows else [""] * len(labels)
                lines += map("".join, zip(begins, labels, strict=True))
                lines.append("")
        write_text(target, "\n".join(lines) + "\n", self.encoding)


def separator_of(text: str | None) -> str | None:
    """A tab is hard to type: \\t stands for it."""
    return text and text.replace("\\t", "\t")


def words_of(sample: Sample) -> list[list[str]]:
    """What to show of the tokens: first columns, first attributes, or numbers."""
    X = sample.X
    if hasattr(X, "strings"):
        return X.strings(0)
    if hasattr(X[0], "shape"):
        return [list(map(str, range(1, x.shape[0] + 1))) for x in X]
    return [[next(iter(token), "_") for token in x] for x in X]


def _with_width(X: list, width: int) -> list:
    """Matrices with as many columns as those of training; new features are left out."""
    import scipy.sparse as sp

    if X[0].shape[1] > width:
        return [x[:, :width] for x in X]
    return [
        sp.csr_array((x.data, x.indices, x.indptr), shape=(x.shape[0], width))
        for x in X
    ]


def check_labels(sample: Sample, place: str) -> None:
    """Refuse labels that nothing can be learned from."""
    from itertools import chain

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
