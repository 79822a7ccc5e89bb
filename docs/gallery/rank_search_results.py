"""Put the best search results first, with an interval for the score.

To a search engine, every document of a query is a row of numbers. Its grade is 2, 1 or 0.
The ranker learns the weights by which documents are sorted; ``qid`` tells which documents
belong to the same query.

The score NDCG@5 considers the first five places. It varies between queries, so the interval
comes from resampling whole queries.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import MulticlassSVM, TopKRanker
from maxmargin.metrics import ndcg_at_k

rng = np.random.default_rng(0)
taste = np.array([1.0, -0.5, 0.8, 0.0, 0.0])


def queries(n, size=20):
    """Some queries have better documents in all than others: only the order matters."""
    level = np.repeat(rng.normal(0, 2.0, n), size)
    X = rng.normal(size=(n * size, 5)) + level[:, None] * [1, 0, 1, 0, 0]
    gain = (X - level[:, None] * [1, 0, 1, 0, 0]) @ taste + rng.normal(0, 1.0, n * size)
    return X, np.digitize(gain, [1.5, 2.5]), np.repeat(np.arange(n), size)


def by_query(y, scores, qid, k):
    return np.array([ndcg_at_k(y[qid == q], scores[qid == q], qid[qid == q], k)
                     for q in np.unique(qid)])  # fmt: skip


X, y, qid = queries(40)
X_test, y_test, qid_test = queries(80)
ranker = TopKRanker().fit(X, y, qid)
classes = MulticlassSVM().fit(X, y)  # grades as classes: it does not know of queries
scores = {
    "ranker": ranker.predict(X_test),
    "classes": classes.decision_function(X_test) @ [-1.0, 0.0, 1.0],
    "first column": X_test[:, 0],
}

figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
places = range(1, 11)
draws = rng.integers(80, size=(1000, 80))
for (name, values), style in zip(scores.items(), ("o-", "s--", "^:"), strict=True):
    table = np.array([by_query(y_test, values, qid_test, k) for k in places])
    low, high = np.quantile(table[:, draws].mean(axis=2), [0.025, 0.975], axis=1)
    mean = table.mean(axis=1)
    print(
        f"{name}: NDCG@5 {mean[4]:.3f}, 95% of the draws in {low[4]:.3f}-{high[4]:.3f}"
    )
    (line,) = ax.plot(places, mean, style, label=name)
    ax.fill_between(places, low, high, color=line.get_color(), alpha=0.15, lw=0)
ax.set(xlabel="places that count (k)", ylabel="NDCG@k", xticks=places, ylim=(0, 1))
ax.set_title("How good are the first k results? (80 queries, with 95% intervals)")
ax.legend(frameon=False, loc="lower right")
