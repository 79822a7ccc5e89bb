"""See the strongest transitions of a tagger.

A tagger learns a weight for every pair of neighbouring labels. The largest weights show
what it expects: a noun after a determiner, a verb after a noun.
"""

import matplotlib.pyplot as plt

from maxmargin import SequenceTagger
from maxmargin.plots import plot_transitions

sentences = ["the dog barks", "a cat sleeps", "dogs bark", "the old cat sleeps"]
X = [[[f"word={w}", f"end={w[-2:]}"] for w in s.split()] for s in sentences]
y = [["D", "N", "V"], ["D", "N", "V"], ["N", "V"], ["D", "A", "N", "V"]]

tagger = SequenceTagger(C=10).fit(X, y)
print(tagger.predict(X[:1]))
print(f"The gap is {tagger.certificate_.relative_gap:.1%}.")

fig, ax = plt.subplots()
plot_transitions(tagger, ax=ax)
