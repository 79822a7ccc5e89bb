"""Align old spellings with new ones, letter by letter.

From two dozen pairs of words aligned by hand, the aligner learns which letters correspond:
that u was written for v, y for i, and that many a final e has gone.

Then it aligns new pairs. Dashes are letters without a partner; letters that correspond to
different ones are blue.
"""

from string import ascii_lowercase

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import SequenceAligner
from maxmargin.files import gapped, ungapped

ROWS = """
vpon upon, vnto unto, haue have, loue love, euer ever, kynge king-, thynge thing-,
wyth with, olde old-, goode good-, tyme time, lyfe life, wyfe wife, vs us, wyne wine,
gyue give, ouer over, shyppe ship--, he-uen heaven, seruaunt serva-nt, downe down-,
towne town-, yeare year-, dayes day-s, wordes word-s, diuers divers, vntyl until
"""
rows = [tuple(pair.split()) for pair in ROWS.split(",")]
X = [ungapped(*pair)[:2] for pair in rows]
aligner = SequenceAligner(
    C=100, prior=False, symmetric=False, alphabet=ascii_lowercase
).fit(X, rows)

table = aligner.substitution_matrix_ - np.median(aligner.substitution_matrix_)
letters = aligner.alphabet_
for i, j in zip(*np.nonzero(table > 0.5), strict=True):
    if i != j:
        print(f"{letters[i]} for {letters[j]}: {table[i, j]:.2f} above unlike letters")

new = [("vnder", "under"), ("seuen", "seven"), ("myne", "mine"), ("deuylles", "devils"),
       ("beleue", "believe"), ("kynde", "kind")]  # fmt: skip
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
for k, (pair, links) in enumerate(zip(new, aligner.predict(new), strict=True)):
    both = gapped(*pair, links)
    print(*both)
    for t, (a, b) in enumerate(zip(*both, strict=True)):
        colour = "#EEEEEE" if a == b else "#F2B38F" if "-" in (a, b) else "#9CC9E6"
        x, y = t + k % 2 * 11, -(k // 2) * 3.2
        ax.add_patch(plt.Rectangle((x - 0.45, y - 1.5), 0.9, 2, color=colour))
        for letter, up in ((a, 0), (b, 1)):
            ax.text(x, y - up, letter, ha="center", va="center", fontsize=14)
ax.set(xlim=(-1, 19), ylim=(-8.2, 0.8), title="Old spellings above those of today")
ax.set_axis_off()
