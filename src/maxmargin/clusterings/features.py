"""Features of pairs of mentions, made from raw documents.

A *template* is a few fields of a pair, such as the forms of both mentions and how many
sentences lie between them; every combination of their values is one feature, with value 1.
All fields have few values, so that the place of a feature is known beforehand and nothing
but the types of entities is learned from data. Templates are in three groups (what both
mentions are; how far apart; which words they share), each a group of patterns of
``pairs.py``: pairs whose fields agree share a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from scipy.sparse import csr_matrix

from maxmargin.clusterings import mentions as m
from maxmargin.clusterings.documents import MentionDocument
from maxmargin.clusterings.pairs import ALL, windowed_pairs
from maxmargin.clusterings.titles import title_of

SENTENCES = (0, 1, 2, 3, 5, 10, 20)  # upper ends of buckets
MENTIONS = (1, 2, 3, 5, 10, 20, 50)
TOKENS = (2, 5, 10, 20, 50, 100, 200)
BETWEEN = (0, 1, 2, 5, 10)
YES = ("no", "yes")
CHUNK = 512  # mentions whose words are compared at a time


def _buckets(ends) -> tuple[str, ...]:
    return (*(f"<={end}" for end in ends), f">{ends[-1]}")


# groups of templates: fields, joined by spaces
GROUPS = (
    (
        "form1 form2",
        "form1 form2 types",
        "form1 form2 types type2",
        "form1 form2 gender1 gender2",
        "form1 form2 number1 number2",
        "lemma1 lemma2",
        "lemma1 lemma2 quoted1 quoted2",
        "person1 quoted1 person2 quoted2",
        "form1 form2 determiner1",
        "form1 form2 determiner2",
        "lemma2 gender1 type1",
        "lemma1 gender2 type2",
    ),
    (
        "form1 form2 nested",
        "form1 form2 pronouns sentences",
        "form1 form2 pronouns mentions",
        "form1 form2 pronouns tokens",
        "form1 form2 pronouns between",
    ),
    (
        "form1 form2 text",
        "form1 form2 head",
        "form1 form2 within",
        "form1 form2 shared",
        "form1 form2 text head within shared",
        "form1 form2 text head distance",
        "form1 form2 head determiner2 text",
    ),
)


class PairFeatures:
    """Templates over the entity types that training has seen."""

    def __init__(self, types: Iterable[str]):
        self.types = ("", *types)
        sides = {
            "form": m.FORMS,
            "type": (*self.types, "other"),
            "gender": m.GENDERS,
            "number": m.NUMBERS,
            "person": m.PERSONS,
            "lemma": m.LEMMAS,
            "determiner": m.DETERMINERS,
            "quoted": ("text", "speech"),
        }
        self.fields = {f"{k}{side}": v for k, v in sides.items() for side in (1, 2)}
        self.fields |= {
            "types": ("unknown", "differ", "agree"),
            "nested": YES,
            "pronouns": ("none", "differ", "agree"),
            "sentences": _buckets(SENTENCES),
            "mentions": _buckets(MENTIONS),
            "tokens": _buckets(TOKENS),
            "between": ("incompatible", *_buckets(BETWEEN)),
            "text": YES,
            "head": YES,
            "within": YES,
            "shared": ("none", "some", "subset"),
            "distance": ("same sentence", "near", "far"),
        }
        self.offsets: list[list[int]] = []
        total = 0
        for group in GROUPS:
            self.offsets.append([])
            for template in group:
                self.offsets[-1].append(total)
                total += int(np.prod(self._sizes(template.split())))
        self.n_features = total

    def _sizes(self, names) -> list[int]:
        return [len(self.fields[name]) for name in names]

    def names(self) -> list[str]:
        """Of all features, such as "form1=PROP form2=PRON nested=no"."""
        return [" ".join(f"{f}={v}" for f, v in row.items()) for row in self._rows()]

    def titles(self) -> list[str]:
        """The same in words: "1st a name; 2nd a pronoun; not nested"."""
        return list(map(title_of, self._rows()))

    def _rows(self) -> Iterator[dict[str, str]]:
        """The fields of every feature with their values."""
        for template in (t for group in GROUPS for t in group):
            names = template.split()
            for values in np.ndindex(*self._sizes(names)):
                parts = zip(names, values, strict=True)
                yield {f: self.fields[f][v] for f, v in parts}

    def encode(self, document: MentionDocument, window: int = ALL):
        """(codes of all pairs, CSR patterns) of one document, for ``pair_table``."""
        cues = m.mention_cues(document)
        a, b = windowed_pairs(len(cues), window)
        fields = self._mention_fields(cues, a, b)
        between, strings = _distances(cues, fields, a, b), _strings(cues, a, b)
        columns = fields | between | strings
        columns["distance"] = _small(np.digitize(columns["sentences"], (1, 5)))
        codes, rows = [], []
        shift = 0
        for group, offsets in zip(GROUPS, self.offsets, strict=True):
            code, patterns = self._patterns(group, offsets, columns)
            codes.append(code + shift)
            rows.append(patterns)
            shift += len(patterns)
        widths = np.concatenate([np.full(len(r), r.shape[1]) for r in rows])
        indices = np.concatenate([r.ravel() for r in rows])
        indptr = np.concatenate([[0], np.cumsum(widths)])
        return np.column_stack(codes).astype(np.int32), (
            indptr,
            indices.astype(np.int32),
            np.ones(len(indices)),
        )

    def _patterns(self, group, offsets, columns):
        """(pattern of every pair, features of every pattern) of one group."""
        names = list(dict.fromkeys(" ".join(group).split()))
        keys = np.zeros(len(columns[names[0]]), np.int64)
        for name, size in zip(names, self._sizes(names), strict=True):
            keys *= size  # as numpy.ravel_multi_index, without copies of all columns
            keys += columns[name]
        found, codes = np.unique(keys, return_inverse=True)
        codes = codes.astype(np.int32)
        values = dict(
            zip(names, np.unravel_index(found, self._sizes(names)), strict=True)
        )
        places = []
        for template, offset in zip(group, offsets, strict=True):
            parts = template.split()
            sizes = self._sizes(parts)
            places.append(
                offset + np.ravel_multi_index([values[f] for f in parts], sizes)
            )
        return codes.reshape(-1), np.column_stack(places)

    def _mention_fields(self, cues, a, b) -> dict[str, np.ndarray]:
        """What each of both mentions is."""
        fields = {}
        for name in ("form", "gender", "number", "person", "lemma", "determiner"):
            values = {v: k for k, v in enumerate(self.fields[f"{name}1"])}
            codes = np.array([values[getattr(c, name)] for c in cues], np.uint8)
            fields |= {f"{name}1": codes[a], f"{name}2": codes[b]}
        types = {v: k for k, v in enumerate(self.types)}
        codes = np.array([types.get(c.type, len(types)) for c in cues], np.uint8)
        fields |= {"type1": codes[a], "type2": codes[b]}
        codes = np.array([c.quoted for c in cues], np.uint8)
        fields |= {"quoted1": codes[a], "quoted2": codes[b]}
        one, two = fields["type1"], fields["type2"]
        fields["types"] = _agreement(one, two)
        one, two = fields["lemma1"], fields["lemma2"]
        fields["pronouns"] = _agreement(one, two)
        return fields


def _distances(cues, fields, a, b) -> dict[str, np.ndarray]:
    sentence, token, end = (
        np.array([getattr(c, name) for c in cues], np.int32)
        for name in ("sentence", "token", "end")
    )
    inside = (token[b] >= token[a]) & (end[b] <= end[a])
    around = (token[a] >= token[b]) & (end[a] <= end[b])
    # how many mentions between both would also suit the second one
    suits = (fields["types"] != 1) & ~_conflict(fields, "gender")
    suits &= ~_conflict(fields, "number")
    table = np.zeros((len(cues), int((b - a).max(initial=0)) + 1), bool)
    table[b, b - a] = suits
    later = np.cumsum(table, axis=1, dtype=np.int32)  # of b: those from a on
    count = later[b, b - a] - suits
    return {
        "nested": _small(inside | around),
        "sentences": _bucket(abs(sentence[b] - sentence[a]), SENTENCES),
        "mentions": _bucket(b - a, MENTIONS),
        "tokens": _bucket(abs(token[b] - token[a]), TOKENS),
        "between": suits * (1 + _bucket(count, BETWEEN)),
    }


def _small(values) -> np.ndarray:
    """A byte per pair: fields have few values, and long documents millions of pairs."""
    return values.astype(np.uint8)


def _bucket(values, ends) -> np.ndarray:
    return _small(np.digitize(values, ends, right=True))


def _agreement(one, two) -> np.ndarray:
    """0 where one is not known, 1 where they differ, 2 where they agree."""
    return _small(((one != 0) & (two != 0)) * (np.uint8(1) + (one == two)))


def _conflict(fields, name: str) -> np.ndarray:
    """Whether both are known (not 0) and differ."""
    one, two = fields[f"{name}1"], fields[f"{name}2"]
    return (one != 0) & (two != 0) & (one != two)


def _strings(cues, a, b) -> dict[str, np.ndarray]:
    """Which words are shared; pronouns share nothing but themselves."""
    words: dict[str, int] = {}
    plain = np.array([c.form != "PRON" for c in cues], bool)
    has, heads = [], []
    for v, c in enumerate(cues):
        if plain[v]:
            has += [(v, words.setdefault(w, len(words))) for w in sorted(c.content)]
            heads.append((v, words.setdefault(c.head, len(words))))
    shape = len(cues), len(words)
    has, heads = _incidence(has, shape), _incidence(heads, shape)
    size = np.asarray(has.sum(axis=1)).ravel()
    common = _products(has, has, a, b)
    within = (_products(heads, has, a, b) > 0) | (_products(has, heads, a, b) > 0)
    shared = common > 0
    subset = shared & (common >= np.minimum(size[a], size[b]))
    text, head = (
        np.unique([getattr(c, name) for c in cues] or [""], return_inverse=True)[1]
        for name in ("text", "head")
    )
    both = plain[a] & plain[b]
    return {
        "text": _small(text[a] == text[b]),
        "head": _small(both & (head[a] == head[b])),
        "within": _small(within),
        "shared": _small(shared) + subset,
    }


def _products(left, right, a, b) -> np.ndarray:
    """<left_a, right_b> of all pairs, with a in rising order; some a at a time."""
    found = np.zeros(len(a), np.int32)
    for first in range(0, left.shape[0], CHUNK):
        here = slice(*np.searchsorted(a, (first, first + CHUNK)))
        end = int(b[here].max(initial=0)) + 1
        some = (left[first : first + CHUNK] @ right[first:end].T).toarray()
        found[here] = some[a[here] - first, b[here] - first]
    return found


def _incidence(places, shape) -> csr_matrix:
    rows, columns = np.array(places, np.int64).reshape(-1, 2).T
    return csr_matrix((np.ones(len(rows), np.int32), (rows, columns)), shape)
