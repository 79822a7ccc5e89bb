"""Tagged files: as the file that is tagged, as CoNLL-U, or as records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from maxmargin import files
from maxmargin.cli.command import Command, Sample
from maxmargin.cli.task import Output
from maxmargin.files.text_files import RawText, encode_text, write_text
from maxmargin.tags.files.conllu import NAMES, UPOS, sentences_of, with_labels
from maxmargin.tags.files.layout import Layout
from maxmargin.tags.formats import FORMATS

if TYPE_CHECKING:
    from maxmargin.files import Columns

CERTAIN = "1.0000"
SHARES = {"Prob": "probabilities", "Share": "shares"}
SINGULAR = {"words": "word", "labels": "label", "probabilities": "probability"}
SINGULAR["shares"] = "share"


@dataclass
class TagOutputs(Command):
    """How a file is written."""

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

    def formats(self) -> dict[str, Output]:
        found = super().formats()
        if self.holds_features:  # which have no words
            del found["conllu"]
        return found

    @property
    def native(self) -> str:
        if self.format == "conllu":
            return "conllu"
        return {",": "csv", "\t": "tsv"}.get(self.separator or "", "same")

    def inputs(self, sample: Sample) -> list[list[str] | None]:
        """The words of every sentence, where there are some."""
        if not hasattr(sample.X, "strings"):
            return [None] * len(sample)
        return sample.X.strings(sample.X.meaning.word)

    def record(self, x, output, chance=None) -> dict[str, Any]:
        found = {} if x is None else {"words": x}
        found["labels"] = output
        return found if chance is None else found | {SHARES[self.measured]: chance}

    def cells(self, record):
        """A token per row."""
        lists = {k: v for k, v in record.items() if isinstance(v, list)}
        rest = {k: v for k, v in record.items() if k not in lists}
        names = [SINGULAR[name] for name in lists]
        for values in zip(*lists.values(), strict=True):
            yield rest | dict(zip(names, values, strict=True))

    def _conllu(self, sample: Sample) -> tuple[TagOutputs, Sample]:
        """The words of the sample as CoNLL-U without labels, and who writes them."""
        if not hasattr(sample.X, "strings"):
            raise ValueError(
                f"{sample.path} has features and no words, which CoNLL-U needs: write "
                "another format."
            )
        lines = []
        for words in self.inputs(sample):
            for t, word in enumerate(words, 1):
                lines.append(
                    "\t".join([str(t), word or "_", *["_"] * (len(NAMES) - 2)])
                )
            lines.append("")
        data = encode_text("\n".join([*lines, ""]), sample.path, self.encoding)
        other = replace(self, format="conllu", label_column=UPOS)
        other.measured = self.measured
        return other, replace(sample, more=RawText(data, sample.path))

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        """The file with columns added; for features and corpora, these columns alone.

        CoNLL-U has its ten columns: labels take the place of those that were there, and
        numbers go to MISC.
        """
        if self.form == "conllu" and self.format != "conllu":
            other, words = self._conllu(sample)
            other.write(path, words, outputs, chances)
            return
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
        if self.form == "conllu" and self.format != "conllu":
            other, words = self._conllu(sample)
            other.write_ranked(path, words, ranked)
            return
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
