"""Guess the language of a word from its groups of letters.

A string kernel compares two words by the groups of letters that they share:
``spectrum(3, shorter=True)`` counts single letters, pairs and triples. You define no
features, and words may have any length.

The picture shows the similarity of all words, sorted by language.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_predict

from maxmargin import KernelSVM, kernels

WORDS = {
    "Finnish": "kissa koira talo lumi järvi metsä kaupunki ystävä sauna joulu ikkuna "
    "kirja poika tyttö äiti vesi kukka lintu karhu suomi yö päivä aurinko taivas",
    "Italian": "gatto cane casa neve lago foresta città amico bagno natale finestra "
    "libro ragazzo ragazza madre acqua fiore uccello orso italia notte giorno sole cielo",
    "German": "katze hund haus schnee see wald stadt freund bad weihnacht fenster buch "
    "junge mädchen mutter wasser blume vogel bär deutsch nacht tag sonne himmel",
}
words = [word for text in WORDS.values() for word in text.split()]
y = np.array([name for name, text in WORDS.items() for _ in text.split()])

kernel = kernels.normalized(kernels.spectrum(3, shorter=True))
print("the kernel:", kernel)
model = KernelSVM(kernel=kernel, C=10)
found = cross_val_predict(model, words, y, cv=8)
print(f"{np.mean(found == y):.0%} of {len(words)} words are right when left out")
model.fit(words, y)
for word in ("gelato", "schule", "hyvää", "piazza"):
    print(f"{word}: {model.predict([word])[0]}")

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
image = ax.imshow(kernel(words), cmap="Blues", vmax=0.6)
middles = [np.mean(np.flatnonzero(y == name)) for name in WORDS]
ax.set_xticks(middles, WORDS)
ax.set_yticks(middles, WORDS, rotation=90, va="center")
for k in (24, 48):
    ax.axhline(k - 0.5, color="white", lw=2)
    ax.axvline(k - 0.5, color="white", lw=2)
ax.set(title="Which words look alike", xlabel="word", ylabel="word")
figure.colorbar(image, label="likeness, from 0 to 1 (darkest: 0.6 and more)")
