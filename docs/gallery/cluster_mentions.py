"""Tell who is meant by "she" in a story.

"The queen met a boy. She greeted him." Nouns and pronouns are mentions of people, and the
mentions of one person form a cluster. From two dozen little stories with known clusters,
the model learns what links one mention to another: equal words, agreement, distance.

The picture shows a new story: one line for each person, and the predicted links.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import LinkClusterer, Mention, MentionDocument, plots

rng = np.random.default_rng(0)
SHE = ["the queen", "the girl", "the mother", "the woman"]
HE = ["the king", "the boy", "the father", "the man"]
PLOT = [
    "A met B .", "PA greeted OB .", "B smiled .", "PB liked OA .", "A waved .",
    "PA called OB .", "B went home .", "PA missed OB .",
]  # fmt: skip


def story(name):
    """Sentences about a woman and a man, and who every mention is."""
    people = {"A": (str(rng.choice(SHE)), "she", "her"),
              "B": (str(rng.choice(HE)), "he", "him")}  # fmt: skip
    sentences, places, clusters = [], [], []
    for s, line in enumerate([PLOT[0], *rng.permutation(PLOT[1:])[:5]]):
        words = []
        for word in line.split():
            who = people.get(word[-1], word)
            more = who if who is word else who[" PO".index(word[:-1] or " ")]
            if who is not word:
                clusters.append("AB".index(word[-1]))
                places.append((s, len(words), len(words) + len(more.split()) - 1))
            words += more.split()
        words[0] = words[0].capitalize()
        sentences.append(words)
    return MentionDocument(name, sentences, [Mention(*p) for p in places]), clusters


X, y = zip(*[story(f"story {k}") for k in range(24)], strict=True)
X_test, y_test = zip(*[story(f"new story {k}") for k in range(50)], strict=True)
model = LinkClusterer().fit(X, y)
print(model.evaluate(X_test, y_test))
print("\n" + " ".join(" ".join(words) for words in X_test[0].sentences))
weights = dict(zip(model.feature_names_, model.coef_, strict=True))
print("strongest weights for a link, and against:")
for name in [
    *sorted(weights, key=weights.get)[-2:],
    *sorted(weights, key=weights.get)[:2],
]:
    print(f"{weights[name]:+.2f}  {name}")

figure, ax = plt.subplots(figsize=(9, 2.8), layout="constrained")
plots.plot_clusters(
    X_test[0], model.predict(X_test[:1])[0], model.predict_links(X_test[:1])[0],
    truth=y_test[0], ax=ax,
)  # fmt: skip
