"""The weights of a tagger as a table of pandas."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.tags.plots import chosen_labels, titles_of

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped, unused-ignore]


def weights_frame(tagger: Any, labels: Sequence | None = None) -> pd.DataFrame:
    """A row per weight that is not zero: label, feature, name, weight; largest first.

    ``feature`` says what it is, such as suffix(4)=raat, and ``name`` what the template
    calls it. Needs pandas.
    """
    labels = chosen_labels(tagger, labels)
    try:
        pandas = importlib.import_module("pandas")
    except ImportError:
        raise ImportError(
            "A DataFrame needs pandas: install it with  pip install pandas"
        ) from None
    known = tagger.classes_.tolist()
    table = np.asarray(tagger.coef_, float)[[known.index(label) for label in labels]]
    rows, columns = np.nonzero(table)
    weights = table[rows, columns]
    order = np.lexsort((columns, rows, -np.abs(weights)))
    rows, columns, weights = rows[order], columns[order], weights[order]
    width = table.shape[1]
    titles = titles_of(tagger, width)
    names = tagger.feature_names_ or titles
    return pandas.DataFrame(
        {
            "label": [labels[k] for k in rows.tolist()],
            "feature": [titles[j] for j in columns.tolist()],
            "name": [names[j] for j in columns.tolist()],
            "weight": weights,
        }
    )
