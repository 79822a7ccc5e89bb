"""Find out which words of two languages correspond.

From a few pairs of sentences with linked words, and some more without links, the aligner
learns to link the words of new pairs. A word may have two partners: *not* corresponds to
*ne* and to *pas*.

Squares are links drawn by a person, dots those of the model (hollow if wrong), and the
shade is its score for a pair of words.
"""

import matplotlib.pyplot as plt

from maxmargin import WordAligner, plots

LINKED = """
the dog sleeps | le chien dort | 0-0 1-1 2-2
a red dog eats | un chien rouge mange | 0-0 1-2 2-1 3-3
the cat does not eat | le chat ne mange pas | 0-0 1-1 3-2 3-4 4-3
the red house | la maison rouge | 0-0 1-2 2-1
he does not sleep | il ne dort pas | 0-0 2-1 2-3 3-2
a white cat sleeps | un chat blanc dort | 0-0 1-2 2-1 3-3
the dog does not sleep | le chien ne dort pas | 0-0 1-1 3-2 3-4 4-3
"""
PLAIN = """
the cat sleeps | le chat dort
a house | une maison
the white house | la maison blanche
he eats | il mange
the dog eats | le chien mange
a red cat | un chat rouge
she sleeps | elle dort
she does not eat | elle ne mange pas
"""


def cells(text):
    lines = text.strip().split("\n")
    return [tuple(part.strip() for part in line.split("|")) for line in lines]


*train, test = cells(LINKED + "the white cat does not eat | le chat blanc ne mange pas | "
                     "0-0 1-2 2-1 4-3 4-5 5-4")  # fmt: skip
model = WordAligner(bitext=cells(PLAIN)).fit([row[:2] for row in train],
                                             [row[2] for row in train])  # fmt: skip
new = [*cells(PLAIN)[-1:], test[:2]]
for (english, french), links in zip(new, model.predict(new), strict=True):
    E, F = english.split(), french.split()
    print(", ".join(f"{E[i]} - {F[j]}" for i, j in links))

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
(found,), (scores,) = model.predict([test[:2]]), model.predict_scores([test[:2]])
plots.plot_links(test[:2], found, test[2], scores, "Which words belong together", ax)
