"""Files of SVM-hmm and CRFsuite: round trips, real data, and errors with their line."""

import gzip
import os

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.files import (
    RawText,
    data_file,
    read_columns,
    read_crfsuite,
    read_svmhmm,
    write_crfsuite,
    write_svmhmm,
)
from maxmargin.tags.features import TokenEncoder
from maxmargin.tags.files.svmhmm import _careful, _fast


def raw(text):
    return RawText(text.encode(), "some.dat")


def real(name):
    try:
        return data_file(name)
    except FileNotFoundError as error:
        pytest.skip(str(error))


def dense(X):
    return [x.toarray().tolist() for x in X]


# SVM-hmm -----------------------------------------------------------------------------

HMM = """\
# made by hand
1 qid:1 1:0.5 3:-2 # the
2 qid:1 2:1e-1

NN qid:4
1 qid:7 3:+.25#bark
"""


def test_svmhmm_is_read():
    X, y = read_svmhmm(raw(HMM))
    assert y == [["1", "2"], ["NN"], ["1"]]
    assert [x.shape for x in X] == [(2, 3), (1, 3), (1, 3)]
    assert all(sp.issparse(x) and x.format == "csr" for x in X)
    assert dense(X) == [[[0.5, 0, -2], [0, 0.1, 0]], [[0, 0, 0]], [[0, 0, 0.25]]]


@pytest.mark.parametrize(
    "text",
    [HMM.replace("\n", "\r\n"), HMM.replace(" ", " \t "), "\ufeff" + HMM, HMM + "\n\n"],
)
def test_svmhmm_spellings(text, tmp_path):
    X, y = read_svmhmm(raw(HMM))
    path = tmp_path / "x.dat"
    path.write_bytes(gzip.compress(text.encode()))
    again, tags = read_svmhmm(path)
    assert (dense(again), tags) == (dense(X), y)


def test_svmhmm_width():
    X, _ = read_svmhmm(raw(HMM), n_features=5)
    assert X[0].shape == (2, 5)
    with pytest.raises(ValueError, match="has a feature 3, but n_features=2 says"):
        read_svmhmm(raw(HMM), n_features=2)
    with pytest.raises(ValueError, match="n_features=0 is not possible"):
        read_svmhmm(raw(HMM), n_features=0)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("1", "after the tag '1' comes the end of the line, but it must be qid:"),
        ("1 2:3", "after the tag '1' comes '2:3', but it must be qid:"),
        ("1 qid:x 2:3", "comes 'qid:x'"),
        ("1 qid:-1", "comes 'qid:-1'"),
        ("1 qid:" + "9" * 30, "but it must be qid:"),
        ("1 qid:2", "qid:2 comes after qid:5; numbers must grow"),
        ("1 qid:4", "qid:4 comes after qid:5; it was used before"),
        ("1 qid:5 7", "'7' is not a feature; features are written as number:value"),
        ("1 qid:5 a:7", "'a:7' is not a feature"),
        ("1 qid:5 1:2 :7", "':7' is not a feature"),
        ("1 qid:5 +1:2", "'.1:2' is not a feature"),
        ("1 qid:5 1.5:2", "'1.5:2' is not a feature"),
        (
            "1 qid:5 0:7",
            "the feature '0' is out of range; features are numbered from 1",
        ),
        ("1 qid:5 99999999999:1", "the feature '99999999999' is out of range"),
        ("1 qid:5 1:", "'1:': '' is not a number"),
        ("1 qid:5 1:x", "'1:x': 'x' is not a number"),
        ("1 qid:5 1:1_0", "'1:1_0': '1_0' is not a number"),
        ("1 qid:5 1:2:3", "'1:2:3': '2:3' is not a number"),
        ("1 qid:5 12 1:2:3", "'12' is not a feature"),
        ("1 qid:5 1:--2", "'--2' is not a number"),
        ("1 qid:5 1:nan", "'1:nan' is not finite; values must be finite numbers"),
        ("1 qid:5 1:-Inf", "'1:-Inf' is not finite"),
        ("1 qid:5 1:1e999", "'1:1e999' is too large"),
        (
            "1 qid:5 3:1 2:1",
            "the feature 2 comes after 3; features must be in increasing",
        ),
        ("1 qid:5 3:1 3:1", "the feature 3 comes after 3"),
    ],
)
def test_svmhmm_errors(line, words):
    text = f"1 qid:4 1:1\n1 qid:5 1:1\n# a comment\n{line}\n1 qid:9 1:1\n"
    with pytest.raises(ValueError, match=rf"^some\.dat, line 4: .*{words}.*\.$"):
        read_svmhmm(raw(text))


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
def test_svmhmm_without_tokens(text):
    with pytest.raises(ValueError, match=r"some\.dat has no token"):
        read_svmhmm(raw(text))


word = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters="#"),
    min_size=1,
    max_size=4,
)
nonzero = st.floats(allow_nan=False, allow_infinity=False).filter(bool)
number = nonzero | st.just(0.0)


@st.composite
def numeric_sequences(draw):
    width = draw(st.integers(1, 5))
    lengths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    row = st.lists(number, min_size=width, max_size=width)
    X = [draw(st.lists(row, min_size=n, max_size=n)) for n in lengths]
    y = [draw(st.lists(word, min_size=n, max_size=n)) for n in lengths]
    return X, y, width


@given(numeric_sequences(), st.booleans())
def test_svmhmm_round_trip(tmp_path_factory, drawn, sparse):
    X, y, width = drawn
    path = tmp_path_factory.mktemp("hmm") / "x.dat"
    given_X = [sp.coo_array(np.array(x)) if sparse else np.array(x) for x in X]
    write_svmhmm(path, given_X, y)
    again, tags = read_svmhmm(path, n_features=width)
    assert tags == y
    assert dense(again) == X


@given(numeric_sequences())
def test_svmhmm_fast_and_careful_agree(tmp_path_factory, drawn):
    X, y, _ = drawn
    path = tmp_path_factory.mktemp("hmm") / "x.dat"
    write_svmhmm(path, X, y)
    fast, careful = _fast(path.read_bytes()), _careful(path.read_bytes(), "x")
    assert fast.tags == careful.tags
    for a, b in zip(fast[1:], careful[1:], strict=True):
        assert a.tolist() == b.tolist()


@given(st.text(st.sampled_from("1 :q\nid2.e-#\t"), max_size=60))
def test_svmhmm_never_fails_without_words(text):
    lines = [f"A qid:1 {line}" for line in text.split("\n")]
    for each in (text, "\n".join(lines)):
        try:
            X, y = read_svmhmm(raw(each))
        except ValueError as error:
            assert str(error).startswith("some.dat")  # noqa: PT017
        else:
            assert [x.shape[0] for x in X] == list(map(len, y))


def test_svmhmm_writes_integers_and_sums_duplicates(tmp_path):
    path = tmp_path / "x.dat"
    twice = sp.coo_array(([1.0, 2.0, 0.0], ([0, 0, 0], [1, 1, 0])), shape=(1, 3))
    write_svmhmm(path, [twice, np.array([[1, 0, 0.1]])], [[3], np.array([4])])
    assert path.read_text() == "3 qid:1 2:3\n4 qid:2 1:1 3:0.1\n"
    assert twice.nnz == 3  # the caller's matrix is as it was


@pytest.mark.parametrize(
    ("X", "y", "words"),
    [
        ([[[1.0]]], [], "X has 1 sequences, but y has 0"),
        ([], [], "There is no token to write"),
        ([[[1.0]]], [["a", "b"]], "sequence 0 has 1 tokens but 2 tags"),
        (
            [[[1.0]], [[1.0, 2.0]]],
            [["a"], ["b"]],
            "sequence 1 has 2 columns, but sequence",
        ),
        ([np.zeros((0, 2))], [[]], "sequence 0 is empty"),
        ([[[1.0], [np.nan]]], [["a", "b"]], "sequence 0, token 1: column 0 is nan"),
        ([[[1.0]]], [["a b"]], "The tag 'a b' cannot be written"),
        ([[[1.0]]], [["#"]], "The tag '#' cannot be written: .* starts a comment"),
        ([[[1.0]]], [[""]], "The tag '' cannot be written"),
        ([[[1.0]]], ["a"], "The labels of sequence 0 are of type str"),
        ([[1.0]], [["a"]], "sequence 0 is of type list, but it must be a table"),
        ([[["x"]]], [["a"]], "sequence 0 is of type list, but it must be a table"),
        ([None], [["a"]], "sequence 0 is None, but it must be a table"),
    ],
)
def test_svmhmm_what_cannot_be_written(tmp_path, X, y, words):
    with pytest.raises(ValueError, match=words):
        write_svmhmm(tmp_path / "x.dat", X, y)
    assert os.listdir(tmp_path) == []


def test_svmhmm_real_file():
    """Rankings are no sequences, but their files have the same lines."""
    X, y = read_svmhmm(real("ohsumed_letor3/S1.txt.gz"))
    assert len(X) == 21
    assert {x.shape[1] for x in X} == {45}
    assert {tag for tags in y for tag in tags} == {"0", "1", "2"}
    assert [x.shape[0] for x in X] == list(map(len, y))
    assert X[0].toarray()[0, :4].tolist() == [1.0, 1.0, 0.833333, 0.871264]


def test_svmhmm_is_what_the_tagger_takes():
    X, _ = read_svmhmm(raw("1 qid:1 1:1\n2 qid:1 2:.5\n2 qid:2 2:1\n"))
    tokens = TokenEncoder().fit_encode(X)
    assert tokens.start.tolist() == [0, 2, 3]
    assert tokens.indices.tolist() == [0, 1, 1]
    assert tokens.values.tolist() == [1.0, 0.5, 1.0]


# CRFsuite ----------------------------------------------------------------------------


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
