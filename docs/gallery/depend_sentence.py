"""Draw which word depends on which.

From a dozen short sentences whose trees are known, the parser learns that determiners
depend on nouns, subjects on verbs, and where prepositions belong. The picture shows a
sentence that it has not seen, with the labels of its arcs.
"""

from maxmargin import DependencyParser, plots

TREEBANK = """
the/DT/2/det dog/NN/3/subj barks/VBZ/0/root
a/DT/2/det girl/NN/3/subj sees/VBZ/0/root the/DT/5/det moon/NN/3/obj
the/DT/3/det old/JJ/3/mod king/NN/4/subj sleeps/VBZ/0/root
the/DT/2/det boy/NN/3/subj eats/VBZ/0/root a/DT/6/det red/JJ/6/mod apple/NN/3/obj
the/DT/2/det cat/NN/3/subj waits/VBZ/0/root in/IN/3/prep the/DT/6/det garden/NN/4/pobj
a/DT/2/det man/NN/6/subj with/IN/2/prep a/DT/5/det hat/NN/3/pobj laughs/VBZ/0/root
the/DT/2/det queen/NN/3/subj reads/VBZ/0/root a/DT/5/det book/NN/3/obj at/IN/3/prep \
night/NN/6/pobj
"""


def parsed(line):
    rows = [token.split("/") for token in line.split()]
    sentence = [(word, tag) for word, tag, _, _ in rows]
    return sentence, [(int(head), label) for _, _, head, label in rows]


X, y = zip(*map(parsed, TREEBANK.strip().splitlines()), strict=True)
parser = DependencyParser(C=1).fit(X, y)

text = "the/DT young/JJ girl/NN with/IN a/DT hat/NN sees/VBZ the/DT red/JJ moon/NN"
sentence = [tuple(token.split("/")) for token in text.split()]
(tree,) = parser.predict([sentence])
for (word, _), (head, label) in zip(sentence, tree, strict=True):
    print(f"{word:6} {label:5} {sentence[head - 1][0] if head else '-'}")

plots.plot_dependencies(sentence, tree, title="A sentence that was not in training")
