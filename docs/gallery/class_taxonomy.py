"""Sort articles into related topics.

Topics form a tree: chess and tennis are kinds of sport, sport is a part of life. In a
taxonomy, related topics share what they learn (every inner node has weights of its own),
and a near miss can cost less than a blunder.

With five articles per topic, as here, this helps; with many, it would gain little. The
picture shows the tree with the share of errors at every node.
"""

import numpy as np

from maxmargin import MulticlassSVM, Taxonomy, TaxonomySVM, plots

TOPICS = ["life.food.bread", "life.food.soup", "life.sport.chess", "life.sport.tennis",
          "science.physics.light", "science.physics.sound",
          "science.biology.birds", "science.biology.fish"]  # fmt: skip
rng = np.random.default_rng(0)
taxonomy = Taxonomy.from_paths(TOPICS)
typical = {node: rng.choice(400, size=20) for node in taxonomy.nodes}  # words of a node


def articles(n):
    """Bags of words: some of the topic, some of the nodes above it, most of no use."""
    y = [TOPICS[k] for k in rng.integers(len(TOPICS), size=n)]
    X = rng.poisson(0.05, size=(n, 400)).astype(float)
    for x, topic in zip(X, y, strict=True):
        parts = topic.split(".")
        for depth in range(1, len(parts) + 1):
            x[rng.choice(typical[".".join(parts[:depth])], size=5)] += 1
    return X, y


X_train, y_train = articles(40)
X_test, y_test = articles(1000)

flat = MulticlassSVM(C=1).fit(X_train, y_train)
tree = TaxonomySVM(taxonomy, C=1, loss="tree").fit(X_train, y_train)
for name, model in (("without the tree", flat), ("with the tree", tree)):
    found = list(model.predict(X_test))
    branch = [a.rsplit(".", 1)[0] == b.rsplit(".", 1)[0]
              for a, b in zip(found, y_test, strict=True)]  # fmt: skip
    right = np.mean(np.array(found) == np.array(y_test))
    print(f"{name}: topic right {right:.1%}, branch right {np.mean(branch):.1%}")

plots.plot_taxonomy_errors(taxonomy, y_test, tree.predict(X_test).tolist())
