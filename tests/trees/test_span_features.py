"""Descriptions of spans: their cells, edges and classes of length; shapes of words."""

import numpy as np

from maxmargin.trees.span_features import (
    PAIRS,
    SpanFeatures,
    WordFeatures,
    cells,
    describe_word,
    word_shape,
)


def test_lengths_fall_into_classes():
    """1 | 2 | 3 | 4 | 5 | 6-7 | 8-10 | 11-15 | 16-20 | 21-30 | 31 and more."""
    begin, end = cells(40)
    spans = SpanFeatures().fit([[["a"] * 40]], [range(len(begin))])
    indptr, indices, _ = spans.encode([[["a"] * 40]])
    alone = PAIRS.index(("length", "length"))
    size = 1 + 10  # numbers of classes, more than of words
    found = {}
    for cell, row in enumerate(np.split(indices, indptr[1:-1])):
        keys = spans.keys[row]
        (key,) = keys[keys // size**2 == alone]
        found.setdefault(int(end[cell] - begin[cell]), set()).add(int(key))
    assert all(len(keys) == 1 for keys in found.values())
    starts = [n for n in range(2, 41) if found[n] != found[n - 1]]
    assert starts == [2, 3, 4, 5, 6, 8, 11, 16, 21, 31]
    assert len(set().union(*found.values())) == 11


def test_what_is_at_the_edges():
    """Two spans share a feature exactly if they agree in one of the descriptions."""
    words = ["a", "b", "a", "c", "b"]
    begin, end = cells(5)
    spans = SpanFeatures().fit([[words]], [range(len(begin))])
    indptr, indices, _ = spans.encode([[words]])
    rows = [set(row.tolist()) for row in np.split(indices, indptr[1:-1])]
    padded = ["", *words, ""]
    for k, m in np.ndindex(len(rows), len(rows)):
        one, other = (
            {
                "before": padded[b],
                "first": padded[b + 1],
                "last": padded[e],
                "after": padded[e + 1],
                "length": e - b,
            }
            for b, e in zip(begin[[k, m]], end[[k, m]], strict=True)
        )
        same = sum(one[a] == other[a] and one[b] == other[b] for a, b in PAIRS)
        assert len(rows[k] & rows[m]) == same
    unseen = SpanFeatures().fit([[words]], [[0]]).encode([[["z"] * 5]])
    assert unseen[0][-1] < len(rows) * len(PAIRS)


def test_cells_by_end_then_begin():
    begin, end = cells(3)
    assert list(zip(begin, end, strict=True)) == [
        *((0, 1), (0, 2), (1, 2), (0, 3), (1, 3), (2, 3))
    ]


def test_words():
    assert word_shape("McDonald's") == "AaAaa'a"
    assert word_shape("1,234.56") == "0,00.00"
    assert describe_word("A", True) == ["w=A", "l=a", "shape=A", "first capital"]
    found = describe_word("Mid-1990s", False)
    assert {"p1=m", "p3=mid", "s1=s", "s4=990s", "capital", "digit", "hyphen"} <= {
        *found
    }
    words = WordFeatures().fit([["the", "The"]])
    indptr, indices, n = words.encode([["the", "zzz"]])
    assert (indptr[0], n) == (0, len(words.names))
    names = list(words.names)
    assert [names[k] for k in indices[: indptr[1]]] == describe_word("the", True)
    assert [names[k] for k in indices[indptr[1] :]] == ["shape=aa"]
