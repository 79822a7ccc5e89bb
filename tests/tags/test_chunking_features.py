"""The features for chunking on CoNLL-2000, against a slow reading of them."""

import gzip

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.files import data_file
from maxmargin.tags.features import ColumnEncoder, TokenEncoder
from maxmargin.tags.files.columns import Column, Columns


@pytest.fixture(scope="module")
def conll():
    try:
        path = data_file("conll2000/train.txt.gz")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    with gzip.open(path, "rt", encoding="utf-8") as file:
        blocks = file.read().strip().split("\n\n")
    return [[line.split()[:2] for line in block.splitlines()] for block in blocks]


def fast_columns(sentences):
    flat = [token for sentence in sentences for token in sentence]
    columns = []
    for cells in zip(*flat, strict=True):
        numbers = {}
        ids = [numbers.setdefault(cell, len(numbers)) for cell in cells]
        columns.append(Column(np.array(ids, np.int32), list(numbers)))
    start = np.cumsum([0, *map(len, sentences)])
    return Columns(start, columns, np.arange(len(flat)), "train")


def chunk_strings(sentence):
    """The features of the chunking set, written out."""
    n = len(sentence)

    def at(column, *places):
        out = []
        for p in places:
            outside = f"<{p}>" if p < 0 else f"<+{p - n}>"
            out.append(sentence[p][column] if 0 <= p < n else outside)
        return "\t".join(out)

    grams = [(0, k, 1) for k in range(-2, 3)] + [(0, -1, 2), (0, 0, 2)]
    grams += [(1, k, 1) for k in range(-2, 3)] + [(1, k, 2) for k in range(-2, 2)]
    grams += [(1, k, 3) for k in range(-2, 1)]
    return [
        [f"{c},{k},{m}=" + at(c, *range(t + k, t + k + m)) for c, k, m in grams]
        for t in range(n)
    ]


def test_chunking_set_on_conll2000(conll):
    encoder = ColumnEncoder("chunking")
    matrix = encoder.fit_encode(fast_columns(conll))
    assert matrix.n_features == 338_551
    assert len(matrix.indices) == 19 * 211_727
    arrays, state = encoder.get_state()
    loaded = ColumnEncoder.from_state(arrays, state)
    assert loaded.n_features == 338_551


def test_chunking_set_is_the_same_on_strings(conll):
    train, test = conll[:400], conll[400:500]
    strings, encoder = TokenEncoder(), ColumnEncoder("chunking")
    pairs = [
        (
            strings.fit_encode([chunk_strings(s) for s in train]),
            encoder.fit_encode(fast_columns(train)),
        ),
        (
            strings.encode([chunk_strings(s) for s in test]),
            encoder.encode(fast_columns(test)),
        ),
    ]
    for a, b in pairs:
        assert a.n_features == b.n_features
        np.testing.assert_array_equal(a.start, b.start)
        np.testing.assert_array_equal(a.indptr, b.indptr)
        grams = []
        for m in (a, b):
            shape = (len(m.indptr) - 1, m.n_features)
            table = sp.csr_array((m.values, m.indices, m.indptr), shape=shape)
            grams.append((table[:300] @ table.T).toarray())
        np.testing.assert_array_equal(*grams)
