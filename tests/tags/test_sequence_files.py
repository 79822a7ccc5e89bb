"""Files of SVM-hmm: round trips, real data, and errors with their line."""

import gzip
import os

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sequence_file_cases import nonzero, raw, real

from maxmargin.files import (
    number_pairs,
    read_svmhmm,
    write_svmhmm,
)
from maxmargin.tags.features import TokenEncoder


def dense(X):
    return [x.toarray().tolist() for x in X]


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
def test_svmhmm_at_once_and_by_line_agree(tmp_path_factory, drawn):
    X, y, _ = drawn
    path = tmp_path_factory.mktemp("hmm") / "x.dat"
    write_svmhmm(path, X, y)
    at_once = read_svmhmm(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(number_pairs, "all_pairs", lambda text, indptr: None)
        by_line = read_svmhmm(path)
    assert dense(at_once[0]) == dense(by_line[0])
    assert at_once[1] == by_line[1]


def test_svmhmm_names_the_first_line_that_is_wrong():
    with pytest.raises(ValueError, match="line 2: '1:bad'"):
        read_svmhmm(raw("A qid:1 1:2\nA qid:1 1:bad\nA 1:2\n"))


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
