"""See why a word got its label.

``explain`` compares the label of every word with the best alternative. The score of a label
sequence is a sum over features, and so is the difference of two scores: each bar is what
one feature adds to it or subtracts from it. Together they make up the whole difference.
"""

import matplotlib.pyplot as plt

from maxmargin import SequenceTagger

SENTENCES = """
Ada/B-PER Byron/I-PER went/O to/O Paris/B-LOC
Paris/B-LOC is/O far/O
Paris/B-PER Hilton/I-PER saw/O Rome/B-LOC
Ada/B-PER saw/O London/B-LOC
we/O went/O to/O London/B-LOC
Grace/B-PER Hopper/I-PER went/O to/O Rome/B-LOC
Rome/B-LOC is/O far/O
we/O saw/O Grace/B-PER
""".strip().splitlines()

pairs = [[token.split("/") for token in line.split()] for line in SENTENCES]
X = [[(word,) for word, _ in sentence] for sentence in pairs]
y = [[label for _, label in sentence] for sentence in pairs]
template = "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%x[1,0]\nU3:%cap[0,0]\nB"
tagger = SequenceTagger(features=template, C=10, scheme="BIO").fit(X, y)

found = tagger.explain([("we",), ("went",), ("to",), ("Paris",)])
print("\n".join(str(found).splitlines()[:8]))  # of the first word

part = found.parts[-1]
features = part.features[:9][::-1]
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
values = [f.contribution for f in features]
colours = ["#0072B2" if value > 0 else "#D55E00" for value in values]
ax.barh([f.feature for f in features], values, color=colours)
ax.axvline(0, color="#333333", lw=0.8)
ax.set_xlabel("contribution to the difference of the scores")
title = f"Paris: {part.predicted} rather than {part.runner_up}"
ax.set_title(f"{title} ({part.difference:+.2f})", loc="left")
ax.spines[["top", "right"]].set_visible(False)
