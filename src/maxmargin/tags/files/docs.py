"""``Doc`` and ``DocBin`` of spaCy: tokens and annotations in, predictions out.

A ``Doc`` is a sequence. Its entities are labels of the scheme BIO.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from maxmargin.core.listed import listed
from maxmargin.core.objects import is_from
from maxmargin.files.messages import kind_of
from maxmargin.tags.files.columns import Columns, columns_from
from maxmargin.tags.files.frames import fitting_labels, named
from maxmargin.tags.schemes import spans

ENTITIES = "ents"
SET = ("tag", "pos", "lemma", "dep", "norm")  # attributes that take a text


def read_docs(
    docs: Any,
    label: str | None = ENTITIES,
    columns: Sequence[str] = ("text",),
    vocab: Any = None,
) -> tuple[Columns, list[list] | None]:
    """(X, y) of a list of ``Doc``, or of a ``DocBin``.

    Parameters
    ----------
    docs : list of spacy.tokens.Doc, or spacy.tokens.DocBin
    label : "ents", an attribute of tokens such as "tag" or "pos", or None: then y is None
        Entities become labels B-PERSON, I-PERSON, O; None where spaCy says that it is not
        known whether there is one.
    columns : names of attributes of tokens: "text", "lower", "shape", "tag", "pos", ...
        What templates read: the words first, then parts of speech if there are some.
    vocab : spacy.vocab.Vocab, or None
        Needed for a ``DocBin``: ``nlp.vocab``.
    """
    docs = doc_list(docs, vocab)
    if isinstance(columns, str) or not len(columns):
        raise ValueError(
            f"columns={columns!r} must be a list of attributes of tokens, such as "
            '("text", "tag").'
        )
    rows = []
    for i, doc in enumerate(docs):
        cells = [_attribute(doc, name, f"docs[{i}]") for name in columns]
        rows.append(list(zip(*cells, strict=True)))
    X = columns_from(rows)._replace(meaning=named(columns))
    if label is None:
        return X, None
    if label == ENTITIES:
        return X, [_entities(doc, f"docs[{i}]") for i, doc in enumerate(docs)]
    return X, [_attribute(doc, label, f"docs[{i}]") for i, doc in enumerate(docs)]


def annotate_docs(
    docs: Iterable, y: Sequence[Sequence[str]], label: str = ENTITIES
) -> list:
    """Write label sequences into the docs: as entities, or as an attribute of tokens.

    Entities that a doc has had before are replaced. Returns the docs.
    """
    docs = doc_list(docs)
    sizes = list(map(len, docs))
    y = fitting_labels(y, sizes, f"there are {len(docs)} docs", "docs[{}]")
    if label != ENTITIES and label not in SET:
        raise ValueError(
            f"label={label!r} cannot be set: choose {ENTITIES!r} or one of "
            f"{', '.join(SET)}."
        )
    for i, labels in enumerate(y):
        for z in labels:
            if not isinstance(z, str):
                raise ValueError(f"y[{i}] holds {z!r}: labels of docs are texts.")
    if label == ENTITIES:
        found = [
            # a slice of a doc is a Span, whose class makes one with a label
            [type(doc[a:b])(doc, a, b, label=kind) for a, b, kind in spans(labels)]
            for doc, labels in zip(docs, y, strict=True)
        ]
        for doc, entities in zip(docs, found, strict=True):
            doc.ents = entities
        return docs
    for doc, labels in zip(docs, y, strict=True):
        for token, z in zip(doc, labels, strict=True):
            setattr(token, f"{label}_", z)
    return docs


def words_of_docs(docs: Sequence) -> list[list[tuple[str]]]:
    """Docs as rows of one column, their words."""
    return [[(token.text,) for token in doc] for doc in doc_list(docs)]


def doc_list(docs: Any, vocab: Any = None) -> list:
    """Docs as a list; a ``DocBin`` needs a vocab to be read."""
    if is_from(docs, "spacy", "DocBin"):
        if vocab is None:
            raise ValueError(
                "a DocBin is read with a vocab: give vocab=nlp.vocab, that of the "
                "pipeline that made it."
            )
        docs = docs.get_docs(vocab)
    if is_from(docs, "spacy", "Doc"):
        raise ValueError("docs is one Doc: give a list of docs, also for one.")
    docs = listed(docs, f"docs is {kind_of(docs)}: give a list of Doc, or a DocBin.")
    for i, doc in enumerate(docs):
        if not is_from(doc, "spacy", "Doc"):
            hint = ": nlp(text) makes a Doc" if isinstance(doc, str) else ""
            hint = ": span.as_doc() is one" if is_from(doc, "spacy", "Span") else hint
            raise ValueError(f"docs[{i}] is {kind_of(doc)}, not a Doc{hint}.")
    if not docs:
        raise ValueError("there are no docs: at least one is needed.")
    return docs


def _entities(doc: Any, where: str) -> list[str | None]:
    if len(doc) and not doc.has_annotation("ENT_IOB"):
        raise ValueError(
            f"{where} has no entities, and does not say that there are none: set doc.ents, "
            "which may be [], or leave the doc out."
        )
    found: list[str | None] = []
    for token in doc:
        letter, kind = token.ent_iob_, token.ent_type_
        found.append(f"{letter}-{kind}" if kind else letter or None)
    return found


def _attribute(doc: Any, name: str, where: str) -> list[str]:
    found = []
    for t, token in enumerate(doc):
        value = getattr(token, f"{name}_", None)
        if value is None:
            value = getattr(token, name, None)
        if value is None or callable(value):
            raise ValueError(f"{name!r} is no attribute of tokens that spaCy knows.")
        if value == "":
            raise ValueError(
                f"{where}: token {t} ({token.text!r}) has no {name!r}: annotate the doc, "
                f"or leave {name!r} out."
            )
        found.append(str(value))
    return found
