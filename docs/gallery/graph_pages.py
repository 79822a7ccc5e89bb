"""Find out what a page is about from almost no labelled pages.

Pages and their words are nodes of two types, each with its own labels. Words are easy to
label; labelling whole pages is work, and most of them have no label in training: they are
``None``, and training fills them in.

A page has no features at all. The model only knows the words it is linked to, and labels
each of them at the same time.
"""

import numpy as np

from maxmargin import GraphLabeler, plots

TOPICS = {"sport": [0.5, 0.1, 0.1, 0.3], "music": [0.1, 0.5, 0.1, 0.3],
          "cooking": [0.1, 0.1, 0.5, 0.3]}  # fmt: skip
WORDS = ["athlete", "instrument", "dish", "other"]  # kinds of words
rng = np.random.default_rng(0)


def page(n=12):
    """A page of some topic; a word is seen through noise, in four measurements."""
    topic = str(rng.choice(list(TOPICS)))
    kinds = rng.choice(4, size=n, p=TOPICS[topic])
    seen = np.eye(4)[kinds] + rng.normal(0, 0.7, (n, 4))
    graph = {
        "nodes": {"word": seen, "page": np.zeros((1, 0))},
        "edges": {("word", "page"): [(word, 0) for word in range(n)]},
    }
    return graph, {"word": [WORDS[k] for k in kinds], "page": [topic]}


X, y = zip(*[page() for _ in range(200)], strict=True)
X_test, y_test = zip(*[page() for _ in range(300)], strict=True)
few = [labels if k < 10 else {**labels, "page": [None]} for k, labels in enumerate(y)]
for name, size, labels in (
    ("10 pages, all labelled", 10, y),
    ("and 190 without a label", 200, few),
    ("200 pages, all labelled", 200, y),
):
    model = GraphLabeler(C=0.1).fit(X[:size], labels[:size])
    pairs = zip(model.predict(X_test), y_test, strict=True)
    right = np.mean([found["page"][0] == truth["page"][0] for found, truth in pairs])
    print(f"{name}: {right:.1%} of new pages are right")

plots.plot_edge_weights(model)
