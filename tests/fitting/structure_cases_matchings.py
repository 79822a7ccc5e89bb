"""Word alignments as the tests of families' structures want them."""

from maxmargin import WordAligner

PAIRS = [
    ("the house sleeps", "la maison dort"),
    ("he sleeps", "il dort"),
    ("the red house", "la maison rouge"),
    ("he eats the house", "il mange la maison"),
]
LINKS = ["0-0 1-1 2-2", "0-0 1-1", "0-0 1-2 2-1", "0-0 1-1 2-2 2?3 3-3"]
PARTLY = [[(0, 0), (1, None)], [(0, 0), (1, 1)], None, [(0, 0), (1, 1), (2, None)]]


def sentences():
    return PAIRS, LINKS, PAIRS


def partly_linked():
    return PAIRS, PARTLY, PAIRS


CASES = {
    "matchings": (WordAligner(tol=1e-3), sentences),
    "one-to-one": (WordAligner(fertility=1, bitext=PAIRS, tol=1e-3), sentences),
    "partly linked": (WordAligner(tol=1e-3), partly_linked),
}
