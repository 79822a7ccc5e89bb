"""How a file of tokens is written: its format, its columns, and which are which."""

from __future__ import annotations

from typing import NamedTuple

from maxmargin.files.text_files import RawText, codec_name, newlines, utf8
from maxmargin.tags.files import conllu
from maxmargin.tags.files.columns import Columns, Meaning
from maxmargin.tags.files.reader import check_separator
from maxmargin.tags.formats import FORMATS


class Layout(NamedTuple):
    """Columns by number, from 0 or from the end, or by name where they have names."""

    label_column: int | str | None = None  # None: UPOS in CoNLL-U, else the last one
    separator: str | None = None
    encoding: str = "utf-8"
    comment: str | None = None
    format: str | None = None  # one of columns; None: what a file looks like
    word_column: int | str | None = None  # None: FORM in CoNLL-U, else the first one

    def checked(self) -> Layout:
        """The same, if it is one; how many columns there are is not known yet."""
        for name in ("label_column", "word_column"):
            value = getattr(self, name)
            good = value is None or isinstance(value, (int, str))
            if not good or isinstance(value, bool):
                raise ValueError(
                    f"{name}={value!r} must be the number or the name of a column."
                )
        known = [name for name, record in FORMATS.items() if not record.features]
        if self.format not in (None, *known):
            raise ValueError(
                f"format={self.format!r} is not known; choose one of {', '.join(known)}."
            )
        check_separator(self.separator)
        codec_name(self.encoding)
        record = FORMATS[self.format or "columns"]
        if record.fixed:
            given = ("separator", self.separator), ("comment", self.comment)
            for (name, value), usual in zip(given, record.usual, strict=True):
                if value not in (None, usual):
                    raise ValueError(
                        f"{name}={value!r} is not possible: {record.fixed}."
                    )
        return self

    def known(self, beginning: RawText) -> Layout:
        """The same with its format, which the beginning of a file may show."""
        if self.format is not None:
            return self.checked()
        own = self.separator in (None, "\t") and self.comment in (None, "#")
        found = own and conllu.is_conllu(beginning)
        return self._replace(format="conllu" if found else "columns").checked()

    def read(self, piece: RawText) -> Columns | None:
        """The columns of a piece of a file in UTF-8; None if there is no token in it."""
        read_piece = FORMATS[self.format or "columns"].part("read_piece")
        return read_piece(piece, self.separator, self.comment)

    def utf8(self, raw: RawText) -> RawText:
        """A whole file as `read` wants it."""
        return raw._replace(data=newlines(utf8(raw, self.encoding)[0]))

    def places(self, n: int) -> tuple[int, int]:
        """(the column of the labels, that of the words) of n columns, from 0."""
        names = conllu.NAMES if self.format == "conllu" else ()
        usual = conllu.LABEL if names else -1
        label = usual if self.label_column is None else self.label_column
        meaning = Meaning(names)
        k = meaning.number(label, n, "label_column")
        if names:
            conllu.meaning_for(k)  # refuses what cannot be a label
        if self.word_column is None:
            return k, conllu.FORM if names else int(k == 0)
        word = meaning.number(self.word_column, n, "word_column")
        if word == k:
            raise ValueError(
                f"Column {self.word_column} cannot hold the words and the labels: "
                "word_column and label_column must differ."
            )
        return k, word

    def meaning(self, n: int) -> Meaning:
        """What the columns are without that of the labels."""
        label, word = self.places(n)
        whole = Meaning(word=word)
        if self.format == "conllu":
            whole = conllu.meaning_for(label)._replace(word=word)
        return whole.without(label)
