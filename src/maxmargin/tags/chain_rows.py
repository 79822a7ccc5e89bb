"""What a sentence adds to w, row by row: for threads that step on one w.

Rows of transitions and ends come first, then those of the features of the sentence, each
once, in the order in which they are first seen there.
"""

import numpy as np

from maxmargin.core import contract
from maxmargin.core.kernel import implements
from maxmargin.tags.chain_batch import ChainBatch


@implements(contract.most_rows, ChainBatch)
def most_rows(batch):
    most = min(batch.n_features, batch.widest) + batch.n_labels + 2
    return most, len(batch.indices)


@implements(contract.slot_rows, ChainBatch)
def slot_rows(batch, lo, hi, slots):
    at = np.zeros(batch.n_features, np.int32)
    found = np.zeros(min(batch.n_features, batch.widest), np.int32)
    for i in range(lo, hi):
        count = 0
        for j in range(batch.indptr[batch.start[i]], batch.indptr[batch.start[i + 1]]):
            feature = batch.indices[j]
            slot = at[feature]
            if slot >= count or found[slot] != feature:
                slot = count
                at[feature] = slot
                found[slot] = feature
                count += 1
            slots[j] = batch.n_labels + 2 + slot


@implements(contract.spread_rows, ChainBatch)
def spread_rows(batch, i, mu, change):
    indptr, indices, values = batch.indptr, batch.indices, batch.values
    slots, number, table = change
    first, count = batch.start[i], batch.n_labels + 2
    for j in range(count):
        row, source = table[j], mu[j]
        number[j] = batch.n_features + j
        for k in range(len(row)):
            row[k] = source[k]
    token = np.empty(batch.width, table.dtype)
    for t in range(batch.start[i + 1] - first):
        source = mu[batch.n_labels + 2 + t]
        for k in range(len(token)):
            token[k] = source[k]
        for j in range(indptr[first + t], indptr[first + t + 1]):
            x, slot = values[j], slots[j]
            row = table[slot]
            if slot == count:
                number[slot] = indices[j]
                count += 1
                for k in range(len(row)):
                    row[k] = x * token[k]
            else:
                for k in range(len(row)):
                    row[k] += x * token[k]
    return count
