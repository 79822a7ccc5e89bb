"""Columns of random words, and the layout of what is encoded."""

import numpy as np
from hypothesis import strategies as st

from maxmargin.tags.files.columns import Column, Columns

GAZETTEERS = {"g": {"a", "Bb"}}
MACROS = [
    "%x[{},{}]",
    "%X[{},{}]",
    "%p2[{},{}]",
    "%s1[{},{}]",
    "%shape[{},{}]",
    "%cap[{},{}]",
    "%g[{},{},g]",
    '%t[{},{},"b"]',
]


def columns_of(sentences, path=""):
    """Columns of lists of tokens, which are tuples of strings."""
    tokens = [token for sentence in sentences for token in sentence]
    start = np.cumsum([0, *map(len, sentences)])
    columns = []
    for cells in zip(*tokens, strict=True):
        words = list(dict.fromkeys(cells))
        ids = np.array([words.index(cell) for cell in cells], np.int32)
        columns.append(Column(ids, words))
    return Columns(start, columns, np.arange(1, len(tokens) + 1), path)


def check_layout(matrix):
    n = int(matrix.start[-1])
    assert matrix.indptr.dtype == np.int64
    assert matrix.indices.dtype == np.int32
    assert matrix.values.dtype == np.float32
    assert matrix.indptr.shape == (n + 1,)
    assert matrix.indptr[0] == 0
    assert matrix.indptr[-1] == len(matrix.indices) == len(matrix.values)
    if len(matrix.indices):
        assert matrix.indices.min() >= 0
        assert matrix.indices.max() < matrix.n_features


macro = st.builds(
    str.format, st.sampled_from(MACROS), st.integers(-3, 3), st.integers(0, 1)
)
line = st.builds(
    lambda name, macros: f"U{name}:" + "/".join(macros),
    st.sampled_from(["", "1", "2", "3"]),
    st.lists(macro, max_size=4),
)
