"""Documents with mentions, and their clusters, as users write them."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.clusterings.markup import marked_text
from maxmargin.core.checks import is_whole
from maxmargin.files.messages import kind_of, short
from maxmargin.views.view import View

FORMS = ("PROP", "NOM", "PRON")  # names, common nouns, pronouns


class Mention(NamedTuple):
    """Words ``first`` to ``last``, inclusive, of a sentence; all count from 0."""

    sentence: int
    first: int
    last: int
    type: str = ""  # of the entity, such as PER
    form: str = ""  # PROP, NOM or PRON; guessed from the words if it is not given


class MentionDocument(NamedTuple):
    """A text and the mentions in it that are to be clustered, in their order."""

    name: str
    sentences: list[list[str]]
    mentions: list[Mention]

    def _repr_html_(self) -> str:
        """In a notebook: the text with numbered mentions."""
        return View(marked_text(self.sentences, self.mentions))._repr_html_()


def as_document(value: Any, where: str) -> MentionDocument:
    """A MentionDocument, or a dict with its fields, checked; ``where`` is for messages."""
    if isinstance(value, dict):
        missing = {"sentences", "mentions"} - set(value)
        if missing:
            raise ValueError(
                f"{where} has no {' and no '.join(sorted(missing))}: a document is a dict "
                "of sentences (lists of words) and mentions."
            )
        name = value.get("doc", value.get("name", ""))
        value = MentionDocument(str(name), value["sentences"], value["mentions"])
    if not isinstance(value, MentionDocument):
        raise ValueError(
            f"{where} is {kind_of(value)}: give a MentionDocument, a dict with sentences "
            "and mentions, or a table of features with a row per pair of mentions."
        )
    sentences = _sentences(value.sentences, where)
    if not isinstance(value.mentions, (list, tuple)):
        raise ValueError(f"{where}: its mentions are {kind_of(value.mentions)}.")
    mentions = [_mention(m, k, sentences, where) for k, m in enumerate(value.mentions)]
    return MentionDocument(value.name, sentences, mentions)


def _sentences(sentences, where) -> list[list[str]]:
    if not isinstance(sentences, (list, tuple)):
        raise ValueError(f"{where}: its sentences are {kind_of(sentences)}.")
    for s, words in enumerate(sentences):
        if not isinstance(words, (list, tuple)) or not all(
            isinstance(word, str) for word in words
        ):
            raise ValueError(f"{where}: sentence {s} is not a list of words.")
    return list(map(list, sentences))


def _mention(m, k: int, sentences, where) -> Mention:
    """From a Mention or a list [sentence, first, last, ..., type, form]."""
    if not isinstance(m, (list, tuple)) or len(m) < 3:
        raise ValueError(
            f"{where}: mention {k} is {short(str(m))}, not [sentence, first word, last "
            "word, ...]."
        )
    more = list(m[3:]) if isinstance(m, Mention) else list(m[4:])  # m[3] is a cluster
    place = m[:3]
    if not all(map(is_whole, place)):
        raise ValueError(
            f"{where}: mention {k} is at {short(str(list(place)))}, which are not three "
            "whole numbers (sentence, first word, last word)."
        )
    s, first, last = map(int, place)
    if not (0 <= s < len(sentences) and 0 <= first <= last < len(sentences[s])):
        size = f"{len(sentences)} sentences"
        if 0 <= s < len(sentences):
            size = f"{len(sentences[s])} words in sentence {s}"
        raise ValueError(
            f"{where}: mention {k} is at {[s, first, last]}, but there are {size}, all "
            "counted from 0."
        )
    kind, form = (*more, "", "")[:2]
    kind, form = kind or "", form or ""
    if not isinstance(kind, str) or form not in ("", *FORMS):
        raise ValueError(
            f"{where}: mention {k} has type {kind!r} and form {form!r}: types are texts, "
            f"forms are {', '.join(FORMS)} or not given."
        )
    return Mention(s, first, last, kind, form)


# clusters --------------------------------------------------------------------------------


def known_clusters(clusters: Any, n: int | None, where: str):
    """(first mentions, which clusters are known), where None says that one is not.

    ``n`` is the number of mentions; None where there are no pairs: 0 or 1.
    """
    if clusters is None:
        clusters = [None] * (1 if n is None else n)
    found = first_mentions(clusters, n, where, unknown=True)
    if n is None and len(found) > 1:
        raise ValueError(
            f"{where} has {len(found)} mentions, but the document has no pairs, and so one "
            "mention at most: give every pair a row."
        )
    ids = clusters.tolist() if isinstance(clusters, np.ndarray) else clusters
    known = np.ones(len(found), bool)
    if len(ids) == len(found):  # else they are groups
        known[:] = [cluster is not None for cluster in ids]
    return found, known


def first_mentions(
    clusters: Any, n: int | None, where: str, unknown: bool = False
) -> np.ndarray:
    """The first mention of each mention's cluster, from either way to write clusters.

    ``clusters`` has an id per mention, or groups (lists or sets) of mentions; mentions
    that no group names are alone. ``n`` is the number of mentions, if it is known. An
    ``unknown`` id may be None; the mention counts as alone.
    """
    if isinstance(clusters, np.ndarray):
        clusters = clusters.tolist()
    if not isinstance(clusters, (list, tuple)):
        raise ValueError(
            f"{where} is {kind_of(clusters)}: give an id per mention, or groups of "
            "mentions."
        )
    if clusters and all(isinstance(c, (list, tuple, set, frozenset)) for c in clusters):
        clusters = _ids(clusters, n, where)
    if n is not None and len(clusters) != n:
        raise ValueError(
            f"{where} has {len(clusters)} cluster ids, but the document has {n} mentions: "
            "give one per mention."
        )
    first: dict[Any, int] = {}
    found = np.empty(len(clusters), np.int32)
    for v, cluster in enumerate(clusters):
        if unknown and cluster is None:
            found[v] = v
            continue
        whole = isinstance(cluster, (str, numbers.Integral))
        if not whole or isinstance(cluster, bool):
            raise ValueError(
                f"{where}: the cluster of mention {v} is {cluster!r}: give every mention "
                "a text or a whole number."
            )
        found[v] = first.setdefault(cluster, v)
    return found


def check_spans(document: Any, clusters: Any, where: str) -> None:
    """Refuse a span that is in two clusters; ``clusters`` has an id per mention or None."""
    seen: dict[tuple, Any] = {}
    for m, cluster in zip(document.mentions, clusters, strict=True):
        span = tuple(m[:3])
        if cluster is not None and seen.setdefault(span, cluster) != cluster:
            words = " ".join(document.sentences[m.sentence][m.first : m.last + 1])
            raise ValueError(
                f"{where}: the span {list(span)} ({short(words)}) is in two clusters: a "
                "span of words has one."
            )


def _ids(groups: Sequence, n: int | None, where: str) -> list[int]:
    """An id per mention, from groups of mentions."""
    known = [v for group in groups for v in group if isinstance(v, numbers.Integral)]
    size = max(map(int, known), default=-1) + 1 if n is None else n
    ids = [-1] * size
    for c, group in enumerate(groups):
        for v in group:
            if not is_whole(v) or not 0 <= v < size:
                raise ValueError(
                    f"{where}: cluster {c} names the mention {v!r}, but there are mentions "
                    f"0 to {size - 1} only."
                    if size
                    else f"{where}: cluster {c} names the mention {v!r}, but the document "
                    "has no mentions."
                )
            if ids[v] >= 0:
                raise ValueError(
                    f"{where}: mention {v} is in cluster {ids[v]} and in cluster {c}: a "
                    "mention has one cluster."
                )
            ids[v] = c
    for v in range(size):
        if ids[v] < 0:
            ids[v] = len(groups) + v
    return ids


def numbered(firsts) -> list[int]:
    """Cluster ids 0, 1, ... in the order in which clusters begin."""
    ids: dict[int, int] = {}
    return [ids.setdefault(first, len(ids)) for first in firsts]
