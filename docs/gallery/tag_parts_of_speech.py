"""See which words and endings indicate which part of speech.

The features of a word are a dict: the word itself, its ending, whether it begins the
sentence. From a few hundred small sentences, the tagger learns a weight for every pair of
a feature and a label.

The picture shows the strongest weights. Unknown words are tagged by their endings and by
the labels around them.
"""

import numpy as np

from maxmargin import SequenceTagger, plots

WORDS = {
    "DET": ["the", "a", "every", "this"],
    "ADJ": ["careful", "hopeful", "famous", "nervous", "old", "small"],
    "NOUN": ["teacher", "painter", "station", "nation", "cat", "walk"],
    "VERB": ["walked", "opened", "painted", "visited", "saw", "walk"],
    "ADV": ["slowly", "quickly", "calmly", "again"],
}
PATTERNS = ["DET NOUN VERB", "DET ADJ NOUN VERB ADV", "DET NOUN VERB DET ADJ NOUN"]
rng = np.random.default_rng(0)


def features(words):
    return [
        {"word": word, "ending": word[-2:], "first": i == 0}
        for i, word in enumerate(words)
    ]


y = [PATTERNS[k].split() for k in rng.integers(3, size=300)]
sentences = [[str(rng.choice(WORDS[label])) for label in labels] for labels in y]
tagger = SequenceTagger(C=0.1).fit([features(words) for words in sentences], y)

for text in (
    "the singer whispered softly",
    "every joyous inventor visited this location",
):
    labels = tagger.predict([features(text.split())])[0]
    print(" ".join(f"{w}/{k}" for w, k in zip(text.split(), labels, strict=True)))
for text in ("the walk", "the cat walk"):  # one word, two parts of speech
    print(f"{text!r} ends with a", tagger.predict([features(text.split())])[0][-1])

plots.plot_top_features(tagger, n=6)
