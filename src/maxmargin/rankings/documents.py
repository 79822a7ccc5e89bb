"""What rankings share: documents as CSR rows, and weighted sums of them.

Every output y of a query has a joint feature vector sum_d c_d(y) x_d over its documents d,
so theta_d = w.x_d is all that a search needs, and a structure says what the c_d are.
"""

from __future__ import annotations

import numpy as np

from maxmargin.core import contract
from maxmargin.core.cutting import cut_by
from maxmargin.core.kernel import implements, inlined

DOCUMENTS = cut_by(  # how the fields are cut that all rankings have
    start="example",
    y="start",
    first="example",
    indptr="first",
    indices="indptr",
    values="indptr",
)


def row_fields(rows, first, n_features: int) -> dict:
    """Fields of a batch whose query i has the documents first[i] .. first[i + 1]."""
    indptr, indices, values = rows
    longest = int(np.diff(indptr[first]).max(initial=0))
    return {
        "first": first,
        "indptr": indptr,
        "indices": indices,
        "values": np.ascontiguousarray(values, np.float64),
        "n_features": n_features,
        "widest": int(np.diff(first).max(initial=1)),
        "entries": min(longest, n_features),
    }


def of_documents(batch_class: type) -> type:
    """Class decorator: the functions that batches with these fields have in common."""
    for function, body in (
        (contract.shape, shape),
        (contract.capacity, capacity),
        (contract.score, score),
    ):
        implements(function, batch_class)(body)
    return batch_class


def shape(batch):
    return 1, batch.widest


def capacity(batch):
    return batch.entries


def score(batch, i, w, theta):
    first = batch.first[i]
    for d in range(batch.first[i + 1] - first):
        total = 0.0
        for j in range(batch.indptr[first + d], batch.indptr[first + d + 1]):
            total += batch.values[j] * w[batch.indices[j]]
        theta[0, d] = total


@inlined
def append_sum(batch, i, c, index, values, m):
    """Append the entries of sum_d c_d x_d after position m; returns the end.

    Each feature once, where there are fewer of them than entries in the documents.
    """
    first, last = batch.first[i], batch.first[i + 1]
    dense = batch.indptr[last] - batch.indptr[first] > batch.n_features
    if dense:
        for f in range(batch.n_features):
            index[m + f] = f
            values[m + f] = 0.0
    end = m
    for d in range(last - first):
        if c[d] != 0.0:
            for j in range(batch.indptr[first + d], batch.indptr[first + d + 1]):
                if dense:
                    values[m + batch.indices[j]] += c[d] * batch.values[j]
                else:
                    index[end] = batch.indices[j]
                    values[end] = c[d] * batch.values[j]
                    end += 1
    return m + batch.n_features if dense else end
