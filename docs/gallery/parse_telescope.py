"""Learn who has the telescope in a sentence.

"She saw a star with a telescope": one can see with a telescope, but a star does not have
one. From a few dozen sentences with their trees, a parser learns a small grammar, and which
words go with which phrases.

Counting how often each rule was used (the usual baseline) only considers the shapes of
trees, and gives both sentences the same shape. The parser trained with margins considers
the words.
"""

import numpy as np

from maxmargin import GrammarParser, PCFGParser, Tree, plots

rng = np.random.default_rng(0)
TOOLS, SEEN = ["telescope", "lens", "camera"], ["star", "bird", "moon"]
PARTS, WHOLES = ["tail", "ring", "spot"], ["bird", "planet", "dog"]
WITH_TOOL = "(VP (V saw) (NP (D a) (N {})) (PP (I with) (NP (D a) (N {}))))"
WITH_PART = "(VP (V saw) (NP (NP (D a) (N {})) (PP (I with) (NP (D a) (N {})))))"


def sentence():
    kinds = [(WITH_TOOL, SEEN, TOOLS), (WITH_PART, WHOLES, PARTS)]
    phrase, things, others = kinds[rng.integers(2)]
    phrase = phrase.format(rng.choice(things), rng.choice(others))
    return Tree.parse(f"(S (NP (P {rng.choice(['she', 'he'])})) {phrase})")


train, test = [sentence() for _ in range(60)], [sentence() for _ in range(100)]
parser = GrammarParser(C=1.0, input="words").fit(None, train)
counts = PCFGParser(input="words").fit(None, train)
for name, model in (("counted rules", counts), ("margins and words", parser)):
    trees = model.predict(test)
    same = np.mean([a == b for a, b in zip(trees, test, strict=True)])
    print(
        f"{name}: {same:.0%} of the trees are right, F1 {model.score(None, test):.3f}"
    )

(mistake, *_) = [i for i, t in enumerate(counts.predict(test)) if t != test[i]]
plots.plot_tree_errors(
    test[mistake],
    counts.predict([test[mistake]])[0],
    title="Counted rules take the part for a tool",
)
