"""Files of CRFsuite: round trips, real data, and errors with their line."""

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sequence_file_cases import nonzero, raw, real

from maxmargin.files import (
    read_columns,
    read_crfsuite,
    write_crfsuite,
)
from maxmargin.tags.features import TokenEncoder


def test_crfsuite_lists_when_all_values_are_one():
    text = "B-NP\tw=An\tpos=DT\nI-NP\tw=A\\:\\\\\\b\tx:1\ty:\n\n\nO\n"
    X, y = read_crfsuite(raw(text))
    assert X == [[["w=An", "pos=DT"], ["w=A:\\\\b", "x", "y"]], [[]]]
    assert y == [["B-NP", "I-NP"], ["O"]]


def test_crfsuite_dicts_when_there_are_values():
    X, y = read_crfsuite(raw("A\tlen:2.5\tb\tb\tc:-1e2\nB\tb\n"))
    assert X == [[{"len": 2.5, "b": 2.0, "c": -100.0}, {"b": 1.0}]]
    assert y == [["A", "B"]]


def test_crfsuite_weights():
    text = "@weight:2.5\nA\tx\n\nB\tx\n@weight:0\n\n@weight:3\tC\tx\n"
    X, y = read_crfsuite(raw(text))
    assert (X, y) == ([[["x"]]] * 3, [["A"], ["B"], ["C"]])
    assert read_crfsuite(raw(text), weights=True)[2] == [2.5, 0.0, 3.0]


@pytest.mark.parametrize("change", [("\n", "\r\n"), ("\t", "\t\t"), ("\n", "\t\n")])
def test_crfsuite_spellings(change):
    text = "A\tx\ty z\nB\tx\n\nA\ty\n"
    want = [[["x", "y z"], ["x"]], [["y"]]], [["A", "B"], ["A"]]
    assert read_crfsuite(raw(text)) == want
    assert read_crfsuite(raw("\ufeff" + text.replace(*change) + "  \n\n")) == want


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "A\tw:the",
            r"the attribute 'w:the' has the value 'the', which is not a finite",
        ),
        ("A\tw:nan", "the value 'nan', which is not a finite number"),
        ("A\tw:1e999", "the value '1e999', which is not a finite"),
        ("A\tw:1_0", "the value '1_0'"),
        ("A\tw:\u0663", "the value '\u0663'"),
        ("A\tw:1:2", r"'w:1:2' has more than one colon; .* are written as \\:"),
        ("A\t:2", "the attribute ':2' has no name before the colon"),
        ("B:x\tw", r"the label 'B:x' has a colon; in labels it is written as \\:"),
        ("B:\tw", "the label 'B:' has a colon"),
        (" \tw", "the label is blank"),
        ("@what:1", "'@what:1' is not known; .* there is only @weight:number"),
        ("@weight", "'@weight' is not known"),
        ("@weight:x", "@weight has the value 'x'"),
        ("@weight:-1", "'@weight:-1' is negative"),
        ("@weight:1\n", "no sequence follows @weight"),
    ],
)
def test_crfsuite_errors(line, words):
    text = f"A\tx:0.5\n\nB\tx\n\n{line}\n"
    with pytest.raises(ValueError, match=rf"^some\.dat, line 5: .*{words}.*\.$"):
        read_crfsuite(raw(text))
    with pytest.raises(ValueError, match=rf"^some\.dat, line 1: .*{words}.*\.$"):
        read_crfsuite(raw(line))


@pytest.mark.parametrize("text", ["", "\n\n", " \n\t\n"])
def test_crfsuite_without_tokens(text):
    with pytest.raises(ValueError, match=r"some\.dat has no token"):
        read_crfsuite(raw(text))


name = st.text(
    st.sampled_from("ab:\\ é\u00a0\v@#=")
    | st.characters(exclude_categories=["Cs"], exclude_characters="\t\r\n"),
    min_size=1,
    max_size=6,
)
label = name.filter(lambda text: text.strip(" ") and text[0] != "@")


@st.composite
def named_sequences(draw, token):
    lengths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    X = [draw(st.lists(token, min_size=n, max_size=n)) for n in lengths]
    y = [draw(st.lists(label, min_size=n, max_size=n)) for n in lengths]
    weights = draw(st.lists(st.floats(0, 9), min_size=len(X), max_size=len(X)))
    return X, y, weights


@given(named_sequences(st.lists(name, max_size=4)))
def test_crfsuite_round_trip_of_lists(tmp_path_factory, drawn):
    X, y, weights = drawn
    path = tmp_path_factory.mktemp("crf") / "x.txt.gz"
    write_crfsuite(path, X, y, weights)
    assert read_crfsuite(path, weights=True) == (X, y, weights)


@given(named_sequences(st.dictionaries(name, nonzero, max_size=4)))
def test_crfsuite_round_trip_of_dicts(tmp_path_factory, drawn):
    X, y, _ = drawn
    path = tmp_path_factory.mktemp("crf") / "x.txt"
    write_crfsuite(path, X, y)
    if all(value == 1.0 for x in X for token in x for value in token.values()):
        X = [[list(token) for token in x] for x in X]
    assert read_crfsuite(path) == (X, y)


@given(st.text(st.sampled_from("a1:\\\t\n@ "), max_size=40))
def test_crfsuite_never_fails_without_words(text):
    try:
        X, y = read_crfsuite(raw(text))
    except ValueError as error:
        assert str(error).startswith("some.dat")  # noqa: PT017
    else:
        assert list(map(len, X)) == list(map(len, y))


def test_crfsuite_writes_dicts_as_the_tagger_reads_them(tmp_path):
    path = tmp_path / "x.txt"
    token = {"w": "the", "first": True, "last": False, "n": 3, "in": ["a", "b"], "z": 0}
    write_crfsuite(path, [[token]], [[7]])
    assert path.read_text() == "7\tw\\:the\tfirst\tn:3\tin\\:a\tin\\:b\n"
    X, y = read_crfsuite(path)
    assert X == [[{"w:the": 1.0, "first": 1.0, "n": 3.0, "in:a": 1.0, "in:b": 1.0}]]
    assert y == [["7"]]
    encoders = TokenEncoder(), TokenEncoder()
    a, b = (e.fit_encode(x) for e, x in zip(encoders, (X, [[token]]), strict=True))
    assert encoders[0].feature_names() == encoders[1].feature_names()
    assert a.values.tolist() == b.values.tolist()


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[["a"]]], [], "X has 1 sequences, but y has 0"),
        ([], [], "There is no token to write"),
        ([[["a"]]], [["A", "B"]], "sequence 0 has 1 tokens but 2 labels"),
        ([[]], [[]], "sequence 0 is empty"),
        (
            [[["a", "b\tc"]]],
            [["A"]],
            r"sequence 0, token 0: the attribute 'b\\tc' cannot",
        ),
        ([[["a"], [""]]], [["A", "A"]], "token 1: the attribute '' cannot be written"),
        ([[{"a": np.inf}]], [["A"]], "token 0: a value is inf; values must be finite"),
        ([[{"a": None}]], [["A"]], "sequence 0, token 0: the value of 'a' is"),
        ([[{1: 2}]], [["A"]], "sequence 0, token 0: a key is"),
        ([[[1]]], [["A"]], "sequence 0, token 0: a feature is"),
        ([["abc"]], [["A"]], "sequence 0, token 0: the token is the plain string"),
        (
            ["abc"],
            [["A"]],
            "sequence 0 is of type str, but it must be a list of tokens",
        ),
        ([[["a"]]], [["@x"]], "The label '@x' cannot be written"),
        ([[["a"]]], [[" "]], "The label ' ' cannot be written"),
        ([[["a"]]], ["A"], "The labels of sequence 0 are of type str"),
        ([[["a"]]], [[2.5]], "A label is of type float"),
    ],
)
def test_crfsuite_what_cannot_be_written(tmp_path, X, y, words):
    with pytest.raises(ValueError, match=words):
        write_crfsuite(tmp_path / "x.txt", X, y)
    assert os.listdir(tmp_path) == []


def test_crfsuite_weights_that_cannot_be_written(tmp_path):
    X, y = [[["a"]]], [["A"]]
    with pytest.raises(ValueError, match="There are 2 weights for 1 sequences"):
        write_crfsuite(tmp_path / "x.txt", X, y, [1.0, 2.0])
    with pytest.raises(
        ValueError, match="The weight of sequence 0 is nan; it must be 0"
    ):
        write_crfsuite(tmp_path / "x.txt", X, y, [np.nan])


def test_crfsuite_real_tokens(tmp_path):
    columns = read_columns(real("conll2000/test.txt.gz"))
    words, tags, y = (columns.strings(k) for k in range(3))
    X = [
        [[f"w={a}", f"pos={b}"] for a, b in zip(*pair, strict=True)]
        for pair in zip(words, tags, strict=True)
    ]
    write_crfsuite(tmp_path / "x.txt", X, y)
    assert read_crfsuite(tmp_path / "x.txt") == (X, y)
