"""Bad sequences: one ValueError each, that says where and what to do."""

import numpy as np
import pytest
from bad_input_cases import SEQUENCES, TAGS, refused

from maxmargin import SequenceTagger

# data of the tests ------------------------------------------------------------------


def replaced(rows, i, row):
    return [*rows[:i], row, *rows[i + 1 :]]


@pytest.fixture(scope="module")
def tagger():
    model = SequenceTagger().fit(SEQUENCES, TAGS)
    found = model.predict(SEQUENCES)
    yield model
    assert model.predict(SEQUENCES) == found


# sequences and their labels ---------------------------------------------------------

TOKENS = [[["a"], ["b"]], [["a"]]]
TAGGER_DATA = {
    "NaN": (
        replaced(SEQUENCES, 4, np.full((2, 2), np.nan)),
        TAGS,
        r"sequence 4, token 0.*column 0 is nan.*SimpleImputer",
    ),
    "infinity": (
        [[{"a": 1.0}, {"b": np.inf}], [{"c": 1}]],
        [["A", "B"], ["A"]],
        r"sequence 0, token 1.*'b' is inf.*finite",
    ),
    "ragged": ([[[1, 2], [3]]], [["A", "B"]], r"sequence 0.*token 1 has 1"),
    "widths": (
        replaced(SEQUENCES, 5, np.ones((3, 4))),
        TAGS,
        r"sequence 5 has 4 columns, sequence 0 has 2",
    ),
    "one table": (np.ones((3, 2)), [["A"], ["B"], ["A"]], r"one table.*wrap.*\[X\]"),
    "kinds": ([*TOKENS, np.ones((1, 2))], [["A", "B"], ["A"], ["B"]], r"one kind"),
    "plain strings": ([["a", "b"], ["a"]], [["A", "B"], ["A"]], r"token 0.*list of"),
    "more sequences": (SEQUENCES, TAGS[:-1], r"9 sequences.*8.*one label sequence"),
    "more labels": (
        SEQUENCES,
        replaced(TAGS, 2, ["A"]),
        r"sequence 2 has 3 tokens, but y\[2\] has 1.*one label per token",
    ),
    "no y": (SEQUENCES, None, r"y is missing"),
    "flat y": (SEQUENCES, list(range(9)), r"y\[0\] is 0.*list of label sequences"),
    "flat texts": (SEQUENCES, ["AB"] * 9, r"y\[0\] is 'AB'.*list of label sequences"),
    "one text": (SEQUENCES, "ABCABCABC", r"one string.*list of label sequences"),
    "one label": (SEQUENCES, [["A"] * len(t) for t in TAGS], r"one label only.*'A'"),
    "bools": (SEQUENCES, replaced(TAGS, 3, [True]), r"y\[3\] holds True"),
    "floats": (SEQUENCES, replaced(TAGS, 3, [0.5]), r"y\[3\] holds 0.5"),
    "tuples": (SEQUENCES, replaced(TAGS, 3, [("A", 1)]), r"y\[3\] holds \('A', 1\)"),
    "unhashable": (SEQUENCES, replaced(TAGS, 3, [["A"]]), r"y\[3\] holds \['A'\]"),
    "all empty": ([[], []], [[], []], r"label"),
}


@pytest.mark.parametrize("case", TAGGER_DATA)
def test_sequences(tagger, case):
    bad_X, bad_y, message = TAGGER_DATA[case]
    refused(tagger, message, bad_X, bad_y)


@pytest.mark.parametrize(
    ("bad_X", "bad_y", "message"),
    [
        ([], [], r"X has no sequences"),
        ([[], []], [[], []], r"all sequences are empty"),
        (None, TAGS, r"X.*None"),
        (SEQUENCES, replaced(TAGS, 3, [7]), r"y\[3\].*7"),
        (
            SEQUENCES,
            [np.full(len(t), 0.5 * len(t)) for t in TAGS],
            r"y\[0\] holds 0.5",
        ),
        (
            SEQUENCES,
            [np.full(len(t), len(t) > 1) for t in TAGS],
            r"y\[0\] holds False",
        ),
        (
            SEQUENCES,
            replaced(TAGS, 3, [(["A"],)]),
            r"y\[3\] holds",
        ),
    ],
)
def test_sequences_are_named(tagger, bad_X, bad_y, message):
    refused(tagger, message, bad_X, bad_y)


@pytest.mark.parametrize(
    ("forbidden", "message"),
    [
        ([("A",)], r"forbidden holds \('A',\).*pairs"),
        ([None], r"forbidden holds None.*pairs"),
        ([(None, None)], r"\(None, None\).*one label"),
        (3, r"forbidden"),
        ([(["A"], "B")], r"forbidden holds"),
    ],
)
def test_forbidden_transitions(forbidden, message):
    refused(SequenceTagger(forbidden=forbidden), message, SEQUENCES, TAGS)


def test_prediction_of_a_tagger(tagger):
    with pytest.raises(ValueError, match=r"sequence 1 has 3 columns.*fitted with 2"):
        tagger.predict([np.ones((1, 2)), np.ones((1, 3))])
    with pytest.raises(ValueError, match=r"sequence 0 is a list of tokens.*same form"):
        tagger.predict(TOKENS)
    with pytest.raises(ValueError, match=r"one table.*wrap.*\[X\]"):
        tagger.predict(np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"X has no sequences"):
        tagger.predict([])
    with pytest.raises(ValueError, match=r"sequence 1, token 0.*nan"):
        tagger.predict([np.ones((1, 2)), np.full((1, 2), np.nan)])


@pytest.mark.parametrize("k", [0, -1, 1.5, "a", None])
def test_number_of_best_sequences(tagger, k):
    with pytest.raises(ValueError, match=r"k=.*whole number >= 1"):
        tagger.predict_k_best(SEQUENCES, k)


def test_score_of_a_tagger(tagger):
    with pytest.raises(ValueError, match=r"9 sequences.*8"):
        tagger.score(SEQUENCES, TAGS[:-1])
    with pytest.raises(ValueError, match=r"y\[0\] is 1.*list of label sequences"):
        tagger.score(SEQUENCES, [1] * 9)
    with pytest.raises(ValueError, match=r"all sample weights are zero"):
        tagger.score(SEQUENCES, TAGS, sample_weight=np.zeros(9))


def test_score_of_a_tagger_with_more_labels_than_tokens(tagger):
    with pytest.raises(ValueError, match=r"sequence 2 has 3 tokens, but y\[2\] has 1"):
        tagger.score(SEQUENCES, replaced(TAGS, 2, ["A"]))
