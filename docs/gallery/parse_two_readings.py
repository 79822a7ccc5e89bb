"""Show both readings of a sentence, each with its probability.

"They saw dogs with men": did the men help to see, or were they with the dogs? The
annotators of the training sentences disagreed, and most of them chose the latter.

A parser trained for probabilities (``objective="log"``) reflects this: every tree has a
probability, and those of all trees of a sentence add up to 1.
"""

import matplotlib.pyplot as plt
import numpy as np

from maxmargin import GrammarParser, Tree, plots

SEEN_WITH = "(S (NP (N they)) (VP (V saw) (NP (N dogs)) (PP (P with) (NP (N men)))))"
THEIR_OWN = (
    "(S (NP (N they)) (VP (V saw) (NP (NP (N dogs)) (PP (P with) (NP (N men))))))"
)
PLAIN = "(S (NP (N men)) (VP (V saw) (NP (N dogs))))"
LONG = "(S (NP (NP (N dogs)) (PP (P with) (NP (N men)))) (VP (V saw) (NP (N men))))"
texts = [SEEN_WITH] * 4 + [THEIR_OWN] * 8 + [PLAIN] * 4 + [LONG] * 2
trees = [Tree.parse(text) for text in texts]
parser = GrammarParser(objective="log", C=3.0, input="words").fit(None, trees)

sentence = ["they", "saw", "dogs", "with", "men"]
(ranked,) = parser.predict_k_best([sentence], 1000)  # there are fewer: these are all
scores = np.array([score for _, score in ranked])
chances = np.exp(scores - scores.max()) / np.exp(scores - scores.max()).sum()
print(f"{len(ranked)} trees; the two best have {chances[:2].sum():.1%} together")
for (tree, _), chance in zip(ranked[:3], chances, strict=False):
    print(f"{chance:.3f}  {tree}")
(brackets,) = parser.predict_marginals([sentence])
print(f"'dogs with men' is one phrase with probability {brackets['NP', 2, 5]:.3f}")

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, (tree, _), chance in zip(axes, ranked, chances, strict=False):
    plots.plot_tree(tree, ax=ax, title=f"probability {chance:.2f}")
