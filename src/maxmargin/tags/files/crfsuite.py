"""Sequences in the format of CRFsuite: a label and named attributes per line.

    LABEL <tab> attribute <tab> attribute:0.5 ...

An attribute without a value has the value 1. In names, ``\\:`` is a colon and ``\\\\`` a
backslash. A blank line ends a sequence; a line ``@weight:2`` gives the weight of its
sequence.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from math import isfinite
from typing import Any

from maxmargin.files.messages import kind_of, short
from maxmargin.files.number_pairs import number_text
from maxmargin.files.text_files import RawText, read_text, write_text
from maxmargin.tags.features import tokens as rules
from maxmargin.tags.files.writers import check_row, plain_labels

# A name: anything but a colon, and pairs of a backslash and what follows.
_FIELD = re.compile(r"((?:[^\\:]|\\.|\\$)*)(?::([^:]*))?", re.DOTALL)
_ESCAPE = re.compile(r"\\([\\:])")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


class _Refused(Exception):
    """Why a line cannot be read."""


class _HasValues(Exception):
    """An attribute has a value other than 1, so tokens must be dicts."""


def read_crfsuite(
    path: str | os.PathLike | RawText,
    encoding: str = "utf-8",
    weights: bool = False,
) -> tuple:
    """Read a file of CRFsuite: X, y, and with `weights=True` also the sequence weights.

    X is a list of sequences for `SequenceTagger`. If all values in the file are 1, a
    token is the list of its attributes, otherwise a dict {attribute: value}, in which an
    attribute that is named twice has the sum. y is a list of label lists.

    `@weight` lines are read, and are returned if asked for: a list of floats, 1.0 where
    there is no such line. gzip is fine; "-" is standard input. Errors are ValueErrors
    that name the file and the line.
    """
    data, name = read_text(path, encoding)
    lines = data.decode().split("\n")
    try:
        X, y, found = _read(lines, name, _Names())
    except _HasValues:
        X, y, found = _read(lines, name, _Pairs())
    if not X:
        raise ValueError(f"{name} has no token: all of its lines are blank.")
    return (X, y, found) if weights else (X, y)


class _Names(dict):
    """From the text of an attribute to its name, if its value is 1; parsed once each."""

    def __missing__(self, field: str) -> str:
        name, value = _parse(field)
        if value != 1.0:
            raise _HasValues
        self[field] = name
        return name

    def token(self, fields: list[str]) -> list[str]:
        return list(map(self.__getitem__, fields))


class _Pairs(dict):
    """From the text of an attribute to its name and value."""

    def __missing__(self, field: str) -> tuple[str, float]:
        self[field] = pair = _parse(field)
        return pair

    def token(self, fields: list[str]) -> dict[str, float]:
        pairs = list(map(self.__getitem__, fields))
        token = dict(pairs)
        if len(token) < len(pairs):
            token = dict.fromkeys(token, 0.0)
            for name, value in pairs:
                token[name] += value
        return token


def _read(lines: list[str], path: str, attributes: _Names | _Pairs) -> tuple:
    X: list[list] = []
    y: list[list[str]] = []
    weights: list[float] = []
    tokens: list = []
    labels: list[str] = []
    weight, weight_line = 1.0, 0
    known: dict[str, str] = {}  # labels by their text
    make: Callable = attributes.token
    for i, line in enumerate([*lines, ""], 1):
        fields = line.split("\t")
        if not line or line[0] == "\t" or line[-1] == "\t" or "\t\t" in line:
            fields = [field for field in fields if field]  # as if there was one tab
        try:
            if fields and fields[0].startswith("@"):
                weight, weight_line = _weight(fields.pop(0)), i
                if not fields:
                    continue
            if fields and (fields[0][0] != " " or "".join(fields).strip(" ")):
                label = known.get(fields[0])
                if label is None:
                    label = known[fields[0]] = _label(fields[0])
                labels.append(label)
                tokens.append(make(fields[1:]))
                continue
        except _Refused as reason:
            raise ValueError(f"{path}, line {i}: {reason}.") from None
        if tokens:
            X.append(tokens)
            y.append(labels)
            weights.append(weight)
        elif weight_line:
            raise ValueError(
                f"{path}, line {weight_line}: no sequence follows @weight."
            )
        tokens, labels = [], []
        weight, weight_line = 1.0, 0
    return X, y, weights


def _parse(field: str) -> tuple[str, float]:
    """The name and the value of an attribute."""
    if ":" not in field and "\\" not in field:
        return field, 1.0
    match = _FIELD.fullmatch(field)
    if match is None:
        raise _Refused(
            f"the attribute {short(field)} has more than one colon; those that belong "
            f"to its name are written as \\:"
        )
    name, number = match.groups()
    if not name:
        raise _Refused(f"the attribute {short(field)} has no name before the colon")
    name = _ESCAPE.sub(r"\1", name)
    if not number:
        return name, 1.0
    return name, _value(number, f"the attribute {short(field)}")


def _value(number: str, what: str) -> float:
    value = float(number) if _NUMBER.fullmatch(number) else float("nan")
    if not isfinite(value):
        raise _Refused(
            f"{what} has the value {short(number)}, which is not a finite number; a "
            f"colon that belongs to a name is written as \\:"
        )
    return value


def _label(field: str) -> str:
    if not field.strip(" "):
        raise _Refused("the label is blank")
    match = _FIELD.fullmatch(field)
    if match is None or match[2] is not None:
        raise _Refused(
            f"the label {short(field)} has a colon; in labels it is written as \\:"
        )
    return _ESCAPE.sub(r"\1", field)


def _weight(field: str) -> float:
    name, colon, number = field.partition(":")
    if name != "@weight" or not colon:
        raise _Refused(
            f"{short(field)} is not known; of the lines that begin with @ there is "
            f"only @weight:number"
        )
    value = _value(number, name)
    if value < 0:
        raise _Refused(f"{short(field)} is negative; weights must be 0 or more")
    return value


def write_crfsuite(
    path: str | os.PathLike,
    X: Sequence[Sequence[Any]],
    y: Sequence[Sequence[Any]],
    sample_weight: Sequence[float] | None = None,
    encoding: str = "utf-8",
) -> None:
    """Write sequences of tokens, lists of strings or dicts, and their labels.

    Dicts mean the same features as for `SequenceTagger`: {"w": "the"} is written as the
    attribute w:the (with its colon escaped), {"length": 3} as length with the value 3,
    zeros are left out. Values are written so that they are read back exactly. A path
    that ends in .gz is compressed, "-" is standard output.
    """
    sequences, labels = list(X), list(y)
    if len(sequences) != len(labels):
        raise ValueError(f"X has {len(sequences)} sequences, but y has {len(labels)}.")
    weights = _check_weights(sample_weight, len(sequences))
    known = {text: _write_label(text) for text in dict.fromkeys(plain_labels(labels))}
    names = _Escaped()
    rows: list[str] = []
    for i, (tokens, own) in enumerate(zip(sequences, labels, strict=True)):
        if isinstance(tokens, (str, dict)) or not hasattr(tokens, "__len__"):
            raise ValueError(
                f"sequence {i} is {kind_of(tokens)}, but it must be a list of tokens."
            )
        check_row(f"sequence {i}", len(tokens), len(own))
        if weights and weights[i] != 1.0:
            rows.append(f"@weight:{number_text(weights[i])}")
        for t, (token, label) in enumerate(zip(tokens, own, strict=True)):
            try:
                if type(token) is list and set(map(type, token)) <= {str}:
                    fields: Iterable[str] = map(names.__getitem__, token)
                else:
                    fields = (
                        names[name] if value == 1.0 else names[name] + _scaled(value)
                        for name, value in rules._pairs(token)
                    )
                rows.append("\t".join([known[str(label)], *fields]))
            except (_Refused, rules._Refused) as reason:
                raise ValueError(f"sequence {i}, token {t}: {reason}.") from None
        rows.append("")
    write_text(path, "\n".join(rows), encoding)


class _Escaped(dict):
    """From the name of an attribute to its text; checked once each."""

    def __missing__(self, name: str) -> str:
        if not name or re.search(r"[\t\r\n]", name):
            raise _Refused(
                f"the attribute {short(name)} cannot be written: names must not be "
                f"empty and must not contain tabs or line ends"
            )
        self[name] = text = _escape(name)
        return text


def _escape(name: str) -> str:
    return name.replace("\\", "\\\\").replace(":", "\\:")


def _write_label(label: str) -> str:
    if not label.strip(" ") or label[0] == "@" or re.search(r"[\t\r\n]", label):
        raise ValueError(
            f"The label {label!r} cannot be written: labels must not be blank, begin "
            f"with @, or contain tabs or line ends."
        )
    return _escape(label)


def _scaled(value: float) -> str:
    if not isfinite(value):
        raise _Refused(f"a value is {value}; values must be finite")
    return ":" + number_text(value)


def _check_weights(sample_weight, n: int) -> list[float]:
    if sample_weight is None:
        return []
    weights = [float(weight) for weight in sample_weight]
    if len(weights) != n:
        raise ValueError(f"There are {len(weights)} weights for {n} sequences.")
    for i, weight in enumerate(weights):
        if not isfinite(weight) or weight < 0:
            raise ValueError(
                f"The weight of sequence {i} is {weight}; it must be 0 or more."
            )
    return weights
