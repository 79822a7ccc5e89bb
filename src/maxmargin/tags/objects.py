"""Objects of other libraries as the sequences of a tagger: data frames, docs of spaCy."""

from __future__ import annotations

from typing import Any

from maxmargin.core.objects import is_class_of, is_from
from maxmargin.tags.files.columns import Columns, columns_from
from maxmargin.tags.files.docs import words_of_docs
from maxmargin.tags.files.frames import columns_of, tokens_of


def refuse_containers(X: Any) -> None:
    """A sentence for one object that holds many sequences, or is one of them."""
    if is_from(X, "spacy", "Doc"):
        raise ValueError("X is one Doc: give a list of docs, also for one.")
    for package, name, reader in (
        ("pandas", "DataFrame", 'read_frame(frame, sentence="...", label="...")'),
        ("spacy", "DocBin", "read_docs(docbin, vocab=nlp.vocab)"),
        ("datasets", "Dataset", 'read_dataset(dataset, "tokens", "ner_tags")'),
        ("datasets", "IterableDataset", 'read_dataset(dataset, "tokens", "ner_tags")'),
    ):
        if is_from(X, package, name):
            raise ValueError(
                f"X is of type {name}, which must be read before: X, y = "
                f"maxmargin.files.{reader}."
            )


def refuse_docs_as_labels(labels: Any, i: int) -> None:
    """Docs have many annotations: which one is learnt has to be said."""
    if is_from(labels, "spacy", "Doc"):
        raise ValueError(
            f'y[{i}] is a Doc: X, y = maxmargin.files.read_docs(docs, label="ents") (or '
            '"tag", "pos") gives its labels.'
        )


def sequences_from(X: Any) -> Any:
    """A list of data frames or docs as lists of tokens; all else as it is."""
    if _holds(X, "pandas", "DataFrame"):
        return tokens_of(X)
    return words_of_docs(X) if _holds(X, "spacy", "Doc") else X


def as_columns(X: Any) -> Columns:
    """X for templates."""
    if isinstance(X, Columns):
        return X
    refuse_containers(X)
    if _holds(X, "pandas", "DataFrame"):
        return columns_of(X)
    return columns_from(words_of_docs(X) if _holds(X, "spacy", "Doc") else X)


def _holds(X: Any, package: str, name: str) -> bool:
    """Whether a list has an object of this class in it."""
    kinds = set(map(type, X)) if isinstance(X, (list, tuple)) else ()
    return any(is_class_of(kind, package, name) for kind in kinds)
