"""The weights of a tagger as columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from maxmargin.tags.plots import chosen_labels, titles_of


def frame_columns(tagger: Any, labels: Sequence | None = None) -> dict[str, Any]:
    """Label, feature, name and weight of every weight that is not zero, largest first.

    ``feature`` says what it is, such as suffix(4)=raat, and ``name`` what the template
    calls it.
    """
    labels = chosen_labels(tagger, labels)
    known = tagger.classes_.tolist()
    table = np.asarray(tagger.coef_, float)[[known.index(label) for label in labels]]
    rows, columns = np.nonzero(table)
    weights = table[rows, columns]
    order = np.lexsort((columns, rows, -np.abs(weights)))
    rows, columns, weights = rows[order], columns[order], weights[order]
    width = table.shape[1]
    titles = titles_of(tagger, width)
    names = tagger.feature_names_ or titles
    return {
        "label": [labels[k] for k in rows.tolist()],
        "feature": [titles[j] for j in columns.tolist()],
        "name": [names[j] for j in columns.tolist()],
        "weight": weights,
    }
