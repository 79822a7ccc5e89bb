"""Find the names of people and places in sentences.

A name may have several words, so labels mark where it begins (B-PER), where it continues
(I-PER) and what is outside any name (O). With ``scheme="BIO"``, impossible sequences, such
as a name that continues before it began, are never predicted.

Features come from the columns of a file, here only words, by a built-in template.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SequenceTagger, metrics

FRAMES = ["PER went to LOC", "yesterday PER saw LOC", "we saw PER in LOC", "LOC is far",
          "PER is tall", "we saw LOC", "we like PER", "we like LOC"]  # fmt: skip
rng = np.random.default_rng(1)


def new_name(slot):
    """An invented name of one word or two; some endings say what it is, some do not."""
    ends = {"PER": ["son", "na", "ka", "lo"], "LOC": ["via", "ton", "ka", "lo"]}[slot]
    stems = rng.choice(["mi", "ren", "sta", "vel", "do", "bur"], size=2)
    words = [stem.title() + str(rng.choice(ends)) for stem in stems]
    return words[: rng.integers(1, 3)]


def sentence():
    words, labels = [], []
    for slot in str(rng.choice(FRAMES)).split():
        name = new_name(slot) if slot.isupper() else None
        words += name or [slot]
        labels += [f"B-{slot}", f"I-{slot}"][: len(name)] if name else ["O"]
    return [(word,) for word in words], labels  # a row of columns for every word


X, y = zip(*[sentence() for _ in range(200)], strict=True)
tagger = SequenceTagger(features="ner", scheme="BIO").fit(X, y)

X_new, y_new = zip(*[sentence() for _ in range(200)], strict=True)
found = tagger.predict(X_new)
print(metrics.span_scores(y_new, found))

colours = {"PER": "#F2B38F", "LOC": "#9CC9E6"}
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
wrong = [i for i in range(200) if found[i] != y_new[i]]
for row, i in enumerate([*wrong[:2], *range(5)]):
    x = 0.0
    for (word,), label, truth in zip(X_new[i], found[i], y_new[i], strict=True):
        colour = colours.get(label[2:], "none")
        edge = "none" if label == truth else "#D55E00"
        box = {"boxstyle": "round,pad=0.2", "fc": colour, "ec": edge, "lw": 2}
        ax.text(x, -row, word, bbox=box, fontsize=11, family="monospace")
        x += len(word) + 1.3
ax.set(xlim=(-1, 44), ylim=(-6.8, 0.8), title="Names in sentences never seen before")
ax.set_axis_off()
for name, colour in (("person", "#F2B38F"), ("place", "#9CC9E6")):
    ax.scatter([], [], marker="s", s=90, color=colour, label=name)
ax.scatter([], [], marker="s", s=90, fc="none", ec="#D55E00", lw=2, label="wrong")
ax.legend(loc="lower right", frameon=False)
