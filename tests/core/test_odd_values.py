"""Odd values as X and y, whole or somewhere inside: sentences, never foreign errors."""

import random
from collections import UserList

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.alignments import input as align
from maxmargin.alignments.homologs import input as homologs
from maxmargin.classes.taxonomy import Taxonomy, as_taxonomy
from maxmargin.classes.taxonomy.labels import as_sets, read_sets
from maxmargin.matchings import input as match
from maxmargin.matchings.metrics import alignment_scores
from maxmargin.trees import Tree, partial
from maxmargin.trees import input as parse
from maxmargin.trees.metrics import score_brackets


class Frame:
    """As a table of pandas: columns, a shape, and iteration over names of columns."""

    columns = ("a", "b")
    shape = (2, 2)
    ndim = 2

    def __iter__(self):
        return iter(self.columns)

    def __len__(self):
        return 2

    def __getitem__(self, key):
        return [1, 2]


class Sized:
    """It has a length and no more."""

    def __len__(self):
        return 2


ODD = [
    *(
        None,
        True,
        0,
        -1,
        10**30,
        1.5,
        float("nan"),
        1j,
        "",
        " ",
        "a",
        "a b",
        b"a",
        "é\0",
    ),
    *((), [], {}, set(), {"a"}, {1: 2}, {"pairs": 3}, {"pairs": [(0, 0)], "core": 3}),
    *(
        np.array(3),
        np.array("a"),
        np.array(None),
        np.zeros(0),
        np.zeros((2, 0)),
        np.eye(2),
    ),
    *(np.array([None, "a"], object), np.array([["a", "b"]], object), np.float32(2)),
    *(np.array(["a", "b"]), np.array([[[0, 1]]]), np.datetime64("2001")),
    *(sp.csr_array(np.eye(2)), sp.csr_matrix((2, 2)), sp.coo_array(np.ones(3))),
    *(object(), object, len, Ellipsis, NotImplemented, range(2), iter([1, 2]), Frame()),
    *(
        Sized(),
        UserList(["a", "b"]),
        Tree("A", ["b"]),
        [None],
        [[]],
        [[[]]],
        ((0,),),
        [1],
    ),
    *([("a",)], [(0, 1, 2)], [(0.0, 1.0)], [(True, False)], [("a", "b")], [["a"], 3]),
    *(
        memoryview(b"ab"),
        slice(1),
        ValueError("x"),
        {"pairs": np.array(1)},
        frozenset([0]),
    ),
]


def generators():
    """Made anew, as they can be used once."""
    yield (x for x in ())
    yield (x for x in [1, "a"])
    yield map(str, [1, 2])
    yield zip([1], [2], strict=True)


def replaced(value, rng):
    """The value with something odd in its place, or somewhere inside."""
    inside = isinstance(value, (list, tuple, dict)) and len(value)
    if not inside or rng.random() < 0.3:
        return rng.choice([*ODD, *generators()])
    if isinstance(value, dict):
        key = rng.choice(list(value))
        return {**value, key: replaced(value[key], rng)}
    k = rng.randrange(len(value))
    changed = [*value[:k], replaced(value[k], rng), *value[k + 1 :]]
    return changed if isinstance(value, list) else tuple(changed)


# what estimators do with X and y before all work ------------------------------------------


def parses(kind):
    def check(X, y):
        truths = partial.read_truths(y)
        sentences = parse.read_sentences(partial.words_of(X, truths), kind)
        partial.check_truths(sentences, truths, kind)
        parse.learnable(truths, sentences.words, None)

    return check


def alignments(X, y):
    from maxmargin import SequenceAligner

    targets, templates = align.check_sequences(X)
    align.check_alignments(y, targets, templates)
    if targets:
        SequenceAligner()._structure()._learn_terms(targets, templates)


def finders(X, y):
    checked = homologs.check_inputs(X)
    homologs.check_numbers(checked, y)
    homologs.check_truth(checked, y)
    homologs.number_sequences(checked, homologs.check_alphabet(None, checked))


def matchings(X, y):
    sample = match.check_pairs(X)
    links = match.check_alignments(y, sample.pairs)
    for pair, array in zip(sample.pairs, sample.arrays, strict=True):
        if array is not None:
            match.user_table(array, pair, "features")
    alignment_scores(links, [link.sure for link in links], 0)


def taxonomies(X, y):
    as_taxonomy(X)
    read_sets(y, 2, {"a": None, "b": "a"}, ".", None)
    as_sets(y, ["a", "b"])


def constructors(X, y):
    Taxonomy({"a": X})
    Taxonomy.from_edges(y)


def brackets(X, y):
    score_brackets(X, y)


TREES = [Tree.parse("(S (A a) (B b))"), Tree.parse("(S (A b))")]
CASES = {
    "tags": (parses("tags"), [["A", "B"], [("b", "A")]], TREES),
    "words": (parses("words"), [["a", "b"], ["b"]], TREES),
    "both": (parses("both"), [[("a", "A"), ("b", "B")], [("b", "A")]], TREES),
    "brackets": (brackets, TREES, [TREES[0], None]),
    "alignments": (
        alignments,
        [("ACD", "AD"), ({"a": "AC", "ss": [1, 2]}, {"a": "A", "ss": [3]})],
        [[(0, 0), (2, 1)], {"pairs": [(0, 0)], "core": [True]}],
    ),
    "rows": (
        alignments,
        [("ACD", "AD"), (list("AC"), list("A"))],
        [("ACD", "A-D"), [(0, 0)]],
    ),
    "finders": (
        finders,
        [("ACD", ["AD", "CC"]), ("AC", ["AC", "A"])],
        [(0, [(0, 0), (2, 1)]), (1, ("AC", "A-"))],
    ),
    "matchings": (
        matchings,
        [("a b", "c"), (["x"], ["y"], np.ones((1, 1)))],
        ["0-0 1-0", [(0, 0)]],
    ),
    "taxonomies": (taxonomies, {"a": None, "b": ["a"]}, [["a"], ["b", "a"]]),
    "edges": (constructors, ["a"], [("a", "b"), ("b", "c")]),
}


def complaint(check, X, y):
    try:
        check(X, y)
    except ValueError as error:
        said = str(error)
        if (
            type(error) is not ValueError
            or not said.endswith(".")
            or "setting an" in said
        ):
            return f"says {said!r}"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("name", CASES)
def test_odd_values_are_refused_with_sentences(name):
    check, X, y = CASES[name]
    for value in [*ODD, *generators()]:
        for pair in ((value, y), (X, value), (value, value)):
            assert complaint(check, *pair) is None, repr(pair)
    rng = random.Random(0)
    for k in range(600):
        pair = (replaced(X, rng), y) if k % 2 else (X, replaced(y, rng))
        assert complaint(check, *pair) is None, repr(pair)
