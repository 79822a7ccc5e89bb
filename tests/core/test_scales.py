"""A fit that ends early names the columns whose scale is another than that of the rest."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import GraphLabeler, MulticlassSVM, SequenceTagger, grid_graph

SCALES = np.array([1.0, 2.0, 0.5, 3000.0, 1.0])
LIMITS = {"max_iter": 1, "tol": 1e-6}


def said(model, X, y) -> str:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    found = [str(w.message) for w in caught if w.category is ConvergenceWarning]
    assert len(found) == 1
    return found[0]


def rows(n=60, scales=SCALES, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(scales)))
    y = (X @ rng.normal(size=(len(scales), 3)) + rng.normal(size=(n, 3))).argmax(1)
    return X * scales, y


def test_classes():
    X, y = rows()
    text = said(MulticlassSVM(**LIMITS), X, y)
    assert "column 3 (about 3" in text
    assert "e+03) have another scale" in text
    X, y = rows(scales=np.ones(5))
    assert "scale" not in said(MulticlassSVM(**LIMITS), X, y)


def test_names_of_columns():
    pandas = pytest.importorskip("pandas")
    X, y = rows()
    X = pandas.DataFrame(X, columns=["age", "size", "rate", "income", "height"])
    text = said(MulticlassSVM(**LIMITS), X, y)
    assert "column income (about" in text
    assert "age" not in text


def test_several_and_small_ones():
    scales = np.ones(9)
    scales[[1, 2, 4, 7]] = 1e-3, 1e4, 1e5, 1e6
    X, y = rows(scales=scales)
    text = said(MulticlassSVM(**LIMITS), X, y)
    places = [text.index(f"{column} (about") for column in (7, 4, 2)]
    assert places == sorted(places)
    assert "and 1 more" in text


def test_tags_with_dense_columns():
    X, y = rows(120)
    X, y = (
        [X[k : k + 6] for k in range(0, 120, 6)],
        [y[k : k + 6].tolist() for k in range(0, 120, 6)],
    )
    assert "In X, the values of column 3 (about 3" in said(
        SequenceTagger(**LIMITS), X, y
    )


def test_tags_with_rare_indicators_have_no_columns():
    X = [[[f"w{k}", "all"] for k in range(i, i + 5)] for i in range(20)]
    y = [[str((i + k) % 3) for k in range(5)] for i in range(20)]
    assert "column" not in said(SequenceTagger(**LIMITS), X, y)


def pictures(scales):
    X, y = rows(4 * 36, scales)
    X = X.reshape(4, 6, 6, len(scales))
    return [grid_graph(x) for x in X], list(y.reshape(4, 36))


def test_graphs():
    text = said(GraphLabeler(inference="expansion", **LIMITS), *pictures(SCALES))
    assert "In features of nodes, the values of column 3 (about 3" in text


def test_graphs_with_raw_colours():
    """All columns alike, but none as large as the constant and the edges."""
    X, y = pictures(np.full(3, 255.0))
    text = said(GraphLabeler(inference="expansion", **LIMITS), X, y)
    assert "column" not in text
    assert "largest values of the features lie between 1 and" in text
