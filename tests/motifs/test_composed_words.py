"""Words of whole sequences, against counts by hand."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from maxmargin.motifs.composition import SIZES, composition
from maxmargin.motifs.input import encode_sequences

TURNED = str.maketrans("ACGT", "TGCA")


def shares(text, strands, scale):
    """{place of a word: its share}: counts of each length, as a vector of one norm."""
    found, offset = {}, 0
    for size in SIZES:
        words = ["".join(letters) for letters in product("ACGT", repeat=size)]
        place = {word: offset + k for k, word in enumerate(words)}
        seen = Counter()
        for t in range(len(text) - size + 1):
            word = text[t : t + size]
            if "N" not in word:
                turned = word.translate(TURNED)[::-1]
                seen[min(word, turned) if strands == 2 else word] += 1
        norm = np.sqrt(sum(count**2 for count in seen.values()) * len(SIZES))
        found |= {place[word]: scale * n / norm for word, n in seen.items()}
        offset += 4**size
    return found


@pytest.mark.parametrize("strands", [1, 2])
def test_words_of_sequences_are_counted(strands):
    texts = ["AAAAAAACGTACGTAC", "ACGTNACGGGTTTACN", "TTTTTTTTTTTTTTGC"]
    codes, first = encode_sequences(texts, "skip", 4)
    table = composition(codes, first, strands, 100, 3.0)
    for i, text in enumerate(texts):
        here = slice(table.start[i], table.start[i + 1])
        listed = dict(zip(table.word[here] - 100, table.share[here], strict=True))
        assert listed == pytest.approx(shares(text, strands, 3.0))
