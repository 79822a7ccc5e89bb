"""Objects of other libraries, known by their classes: none of them is imported here."""

from __future__ import annotations

from typing import Any


def is_class_of(cls: type, package: str, *names: str) -> bool:
    """Whether a class is one of these names in this package, or is derived from one."""
    return any(
        base.__name__ in names and base.__module__.partition(".")[0] == package
        for base in cls.__mro__
    )


def is_from(value: Any, package: str, *names: str) -> bool:
    """Whether the value is of a class of these names in this package, or of a subclass."""
    return is_class_of(type(value), package, *names)


def is_frame(value: Any) -> bool:
    """Whether the value is a ``pandas.DataFrame``."""
    return is_from(value, "pandas", "DataFrame")


def rows_of(values: Any) -> Any:
    """The rows of a ``pandas.DataFrame`` as tuples; all else as it is."""
    if not is_frame(values):
        return values
    return list(values.itertuples(index=False, name=None))


def letters_of(sequence: Any, where: str) -> Any:
    """A ``Seq`` or ``SeqRecord`` of Biopython as text; all else as it is."""
    if type(sequence) is str:
        return sequence
    if is_from(sequence, "Bio", "SeqRecord"):
        sequence = sequence.seq
        if sequence is None:
            raise ValueError(f"{where} is a SeqRecord without a sequence: set its seq.")
    if not is_from(sequence, "Bio", "Seq", "MutableSeq"):
        return sequence
    try:
        return str(sequence)
    except ValueError:  # UndefinedSequenceError: only the length is known
        raise ValueError(
            f"{where} is a Seq of {len(sequence)} letters that are not known: give one "
            "with its letters."
        ) from None
