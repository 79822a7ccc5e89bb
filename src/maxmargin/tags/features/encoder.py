"""From columns of words to features, by templates, on integers.

Views turn the distinct words of each column into value numbers (`_maps`), the plan packs
the values of a template line into one key per token and numbers the keys
(`plan.py`), and what is left is put into CSR arrays (`_finish`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import NotFittedError

from maxmargin.engine.threads import over_ranges
from maxmargin.tags.features import state as column_state
from maxmargin.tags.features.input import (
    Data,
    check_columns,
    check_mapping,
    embedding,
    gazetteer,
    warn_of_numbers,
    whole_number,
)
from maxmargin.tags.features.kernels import Table, append_block, count_found, gather
from maxmargin.tags.features.plan import (
    MAX_FEATURES,
    Numbers,
    Run,
    drop_rare,
    make_plan,
    names,
    stages,
)
from maxmargin.tags.features.ready import READY_NAMES, ready_template
from maxmargin.tags.features.templates import Template, parse_template
from maxmargin.tags.features.titles import title_pattern, titled_values
from maxmargin.tags.features.tokens import TokenMatrix
from maxmargin.tags.features.views import values

if TYPE_CHECKING:
    from maxmargin.tags.files.columns import Columns

__all__ = ["ColumnEncoder"]

_MAX_HASH_BITS = 30  # int32 indexes fewer than 2**31 features


class ColumnEncoder:
    """Encode sentences of tokens with columns by a feature template.

    Parameters
    ----------
    template : Template, str or path-like
        A template, its text, the path of its file, or the name of a ready-made set
        ("chunking", "ner", "pos", "words"), which is fitted to the number of columns.
    min_count : int, default 1
        Features seen fewer times in training are dropped.
    hash_bits : int or None
        Number features by a hash of their strings, in 2**hash_bits numbers, and keep no
        vocabulary. Features that collide share a weight.
    gazetteers : dict of str to (set of str, or path of a file with one entry a line)
        Word lists for ``%g[row,column,name]``.
    dense : dict of int to (dict of str to 1-D array)
        Word vectors by column: the vector of the word in that column becomes features
        with values, after all others. Words without a vector get none.

    Examples
    --------
    >>> from maxmargin.tags.files.columns import Column, Columns
    >>> words = Column(np.array([0, 1, 0], np.int32), ["the", "dog"])
    >>> data = Columns(np.array([0, 2, 3]), [words], np.array([1, 2, 4]), "")
    >>> encoder = ColumnEncoder("U00:%x[0,0]\\nU01:%x[-1,0]/%x[0,0]")
    >>> encoder.fit_encode(data).indices
    array([0, 2, 1, 3, 0, 2], dtype=int32)
    >>> encoder.feature_names()
    ['U00:the', 'U00:dog', 'U01:_B-1/the', 'U01:the/dog']
    """

    kind = "columns"

    def __init__(
        self,
        template: Template | str,
        min_count: int = 1,
        hash_bits: int | None = None,
        gazetteers: Mapping[str, Any] | None = None,
        dense: Mapping[int, Mapping[str, Any]] | None = None,
    ):
        ready = isinstance(template, str) and template in READY_NAMES
        if not ready and not isinstance(template, Template):
            template = parse_template(template)
        self.template = template
        self.min_count = whole_number("min_count", min_count, 1, 2**31)
        self.hash_bits = hash_bits
        if hash_bits is not None:
            self.hash_bits = whole_number("hash_bits", hash_bits, 1, _MAX_HASH_BITS)
            if self.min_count > 1:
                raise ValueError(
                    "min_count needs a vocabulary to count in, and hash_bits keeps none: "
                    "give one of the two."
                )
        check_mapping("gazetteers", gazetteers)
        check_mapping("dense", dense)
        self._gazetteers = {k: gazetteer(k, v) for k, v in (gazetteers or {}).items()}
        self._dense = {k: embedding(k, v) for k, v in (dense or {}).items()}
        self._fitted: Template | None = None

    # using it -------------------------------------------------------------------------

    @property
    def n_features(self) -> int:
        """Number of features, those of word vectors included."""
        self._check_fitted()
        return self._n_sparse + sum(v.shape[1] for _, v in self._dense.values())

    def fit_encode(self, columns: Columns, n_jobs: int = 1) -> TokenMatrix:
        """Learn the features of these sentences and encode them.

        Features are numbered by template line, and within a line as they first appear,
        whatever the number of threads. If the columns are refused, the encoder stays as it
        was.
        """
        data = check_columns(columns)
        template = self.template_for(data)
        if not data.n_tokens:
            raise ValueError(f"{data.name} has no tokens; fitting needs at least one.")
        groups, domains = make_plan(template)
        indexes = [{} for _ in domains]
        tables = [[] for _ in groups]
        maps = self._maps(data, domains, indexes, True)
        run = Run(template, data, groups, domains, indexes, maps)
        if self.hash_bits is None:
            found = run.number(tables, True, n_jobs)
            found = drop_rare(found, tables, self.min_count)
        else:
            found = run.hash(self.hash_bits)
            indexes = [{} for _ in domains]
        self._know(template, groups, domains, indexes, tables, found.total)
        return self._finish(data, found, n_jobs)

    def encode(self, columns: Columns, n_jobs: int = 1) -> TokenMatrix:
        """Encode sentences; features not seen in training are left out."""
        self._check_fitted()
        template, domains = self._fitted, self._domains
        data = check_columns(columns)
        self._check(data, template)
        self._check_names(data)
        hashed = self.hash_bits is not None
        # hashing needs numbers for the values of this call only
        indexes = [{} for _ in domains] if hashed else self._indexes
        maps = self._maps(data, domains, indexes, hashed)
        run = Run(template, data, self._groups, domains, indexes, maps)
        if hashed:
            found = run.hash(self.hash_bits)
        else:
            found = run.number(self._tables, False, n_jobs)
        return self._finish(data, found, n_jobs)

    def feature_names(self, titles: bool = False) -> list[str]:
        """Every feature as its line reads with the macros filled in, by number.

        As ``titles``, what they are: suffix(4)=raat, not U14:raat (``titles.py``).
        """
        self._check_fitted()
        listed = []
        if self.hash_bits is not None:
            listed = [f"hash:{k}" for k in range(self._n_sparse)]
        else:
            strings = [list(index) for index in self._indexes]
            if titles:
                both = zip(self._domains, strings, strict=True)
                strings = [titled_values(domain, values) for domain, values in both]
            for group, tables in zip(self._groups, self._tables, strict=True):
                pattern = title_pattern(group, self._fitted) if titles else None
                listed += names(group, tables, strings, pattern)
        for column, (_, vectors) in self._dense.items():
            listed += [f"dense{column}:{k}" for k in range(vectors.shape[1])]
        return listed

    # saving ---------------------------------------------------------------------------

    def get_state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Arrays and plain values from which :meth:`from_state` makes the encoder."""
        self._check_fitted()
        return column_state.to_arrays(
            self._fitted,
            self.min_count,
            self.hash_bits,
            {name: self._gazetteers[name] for name in self._fitted.gazetteers},
            self._dense,
            self._indexes if self.hash_bits is None else [],
            self._tables if self.hash_bits is None else [],
        )

    @classmethod
    def from_state(
        cls, arrays: Mapping[str, np.ndarray], state: Mapping[str, Any]
    ) -> ColumnEncoder:
        """The encoder that gave these arrays and values; ValueError if none can have."""
        reader = column_state.Reader(arrays, state)
        encoder = cls(
            reader.template(), reader.value("min_count"), reader.value("hash_bits")
        )
        encoder._gazetteers = reader.gazetteers(encoder.template.gazetteers)
        encoder._dense = reader.dense()
        groups, domains = make_plan(encoder.template)
        indexes, tables = [{} for _ in domains], [[] for _ in groups]
        n_sparse = 2 ** (encoder.hash_bits or 0)
        if encoder.hash_bits is None:
            indexes = [reader.index(k, d.markers()) for k, d in enumerate(domains)]
            n_sparse = 0
            for g, group in enumerate(groups):
                radices = [len(indexes[d]) for d in group.domains]
                for stage in stages(radices, tables[g]):
                    keys = reader.keys(g, len(tables[g]), stage.space)
                    table = Table(stage.space, keys)
                    if (k := table.build()) >= 0:
                        reader.refuse(
                            f"a feature of line group {g} is there twice ({k})"
                        )
                    tables[g].append(table)
                n_sparse += len(tables[g][-1])
        encoder._know(encoder.template, groups, domains, indexes, tables, n_sparse)
        return encoder

    # parts of the work ----------------------------------------------------------------

    def _check_fitted(self) -> None:
        if self._fitted is None:
            raise NotFittedError("this ColumnEncoder is not fitted; call fit_encode.")

    def _know(self, template, groups, domains, indexes, tables, n_sparse: int) -> None:
        """Be fitted: with these features of a template."""
        self._check_size(n_sparse)
        self._fitted, self._n_sparse = template, n_sparse
        self._groups, self._domains = groups, domains
        self._indexes, self._tables = indexes, tables

    def _check_size(self, n_sparse: int) -> None:
        total = n_sparse + sum(v.shape[1] for _, v in self._dense.values())
        if total > MAX_FEATURES:
            raise ValueError(
                f"there are {total} features, but int32 can index {MAX_FEATURES}: use "
                "fewer template lines, a larger min_count or hash_bits."
            )
        if not total:
            raise ValueError(
                f"no feature is seen {self.min_count} times; use a smaller min_count."
            )

    def template_for(self, data: Data) -> Template:
        """The template to learn from these data, whose columns it finds."""
        template, meaning = self.template, data.meaning
        if isinstance(template, str):
            n = len(data.ids)
            template = ready_template(template, n, meaning.word, meaning.tag)
        template = template.resolved(meaning.names)
        self._check(data, template)
        warn_of_numbers(data, template)
        return template

    def _check(self, data: Data, template: Template) -> None:
        """Refuse data without the columns, and settings without the lists, it needs."""
        template.check_columns(len(data.ids))
        for name in template.gazetteers:
            if name not in self._gazetteers:
                raise ValueError(
                    f"the template reads a gazetteer {name!r}, but none of that name was "
                    f"given: pass gazetteers={{{name!r}: a set of words}}."
                )
        for column in self._dense:
            if column >= len(data.ids):
                raise ValueError(
                    f"dense has vectors for column {column}, but the data have "
                    f"{len(data.ids)}, counted from 0."
                )

    def _check_names(self, data: Data) -> None:
        """Data with other columns than those of training are read in wrong places."""
        known, found = self._fitted.names, data.meaning.names
        if found and known != found:
            fitted = ", ".join(known) or "columns without names"
            raise ValueError(
                f"{data.name} has the columns {', '.join(found)}, but the template was "
                f"fitted to {fitted}: give the same ones in the same order."
            )

    def blanked(self, columns: Columns) -> list[int]:
        """Columns that are read, had values in training, and now are _ throughout."""
        self._check_fitted()
        blank = [
            k for k, (_, words) in enumerate(columns.columns) if set(words) == {"_"}
        ]
        found = set()
        for domain, index in zip(self._domains, self._indexes, strict=True):
            known = len(index) > len(domain.markers()) + 1
            found |= {c for c, _ in domain.sources if known and c in blank}
        return sorted(found)

    def _maps(self, data: Data, domains, indexes, learn: bool) -> dict:
        """For each column and view, the value number of every word number, or -1."""
        maps = {}
        for domain, index in zip(domains, indexes, strict=True):
            if learn:
                index.update((m, k) for k, m in enumerate(domain.markers()))
            for column, view in domain.sources:
                words, used = data.used(column)
                found = values(view, words, self._gazetteers)
                if learn:
                    add = index.setdefault
                    found = [-1 if v is None else add(v, len(index)) for v in found]
                else:
                    found = [index.get(v, -1) for v in found]
                table = np.full(max(1, data.n_words[column]), -1, np.int32)
                table[used] = found
                maps[column, view] = table
        return maps

    def _finish(self, data: Data, found: Numbers, n_jobs: int = 1) -> TokenMatrix:
        """Features line by line as a CSR matrix."""
        start, numbers = data.start, (found.lines, found.base, found.renumber)
        indptr = np.zeros(data.n_tokens + 1, np.int64)

        def count(lo, hi):
            count_found(*numbers, start[lo], start[hi], indptr)

        def put(lo, hi):
            gather(*numbers, start[lo], start[hi], indptr, indices)

        over_ranges(count, start, n_jobs)
        np.cumsum(indptr, out=indptr)
        indices = np.empty(indptr[-1], np.int32)
        over_ranges(put, start, n_jobs)
        entries = np.ones(len(indices), np.float32)
        base = self._n_sparse
        for column, (index, vectors) in self._dense.items():
            words, used = data.used(column)
            table = np.full(max(1, data.n_words[column]), -1, np.int32)
            table[used] = [index.get(word, -1) for word in words]
            rows = table[data.ids[column]]
            indptr, indices, entries = append_block(
                indptr, indices, entries, rows, vectors, base
            )
            base += vectors.shape[1]
        return TokenMatrix(indptr, indices, entries, data.start, base)
