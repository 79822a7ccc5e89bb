"""Files of sentence pairs and links, and the alignment error rate."""

import gzip
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.files import RawText, data_file
from maxmargin.matchings.bitext import (
    Links,
    links_text,
    parse_links,
    read_aligned,
    read_bitext,
    read_naacl,
    read_pharaoh,
    write_aligned,
    write_pharaoh,
)
from maxmargin.matchings.metrics import alignment_scores, as_links


@pytest.fixture
def put(tmp_path):
    def write(text, name="file.tsv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


# links -------------------------------------------------------------------------------

pairs = st.tuples(st.integers(0, 20), st.integers(0, 20))


@given(st.sets(pairs), st.sets(pairs))
def test_links_survive_their_text(sure, possible):
    links = Links(sorted(sure), sorted(possible - sure))
    assert parse_links(str(links)) == links
    assert as_links((sure, possible), "y") == links


def test_kinds_of_links():
    assert parse_links(" 2-0  0?1 1p1 3P0 ") == ([(2, 0)], [(0, 1), (1, 1), (3, 0)])
    assert parse_links("") == ([], [])
    assert links_text([(1, 2), (0, 0)]) == "0-0 1-2"


@pytest.mark.parametrize(
    ("value", "sure", "possible"),
    [
        ("0-0 1?1", [(0, 0)], [(1, 1)]),
        ([(1, 1), (0, 0)], [(0, 0), (1, 1)], []),
        (((0, 0), (1, 1)), [(0, 0), (1, 1)], []),
        ({(3, 4)}, [(3, 4)], []),
        (({(3, 4)}, [(0, 0)]), [(3, 4)], [(0, 0)]),
        (([], []), [], []),
        ([], [], []),
        (np.array([[0, 1], [2, 3]]), [(0, 1), (2, 3)], []),
        ([[(0, 1)], [(0, 1), (2, 2)]], [(0, 1)], [(2, 2)]),
    ],
)
def test_alignments_as_users_write_them(value, sure, possible):
    links = as_links(value, "y[0]")
    assert links == (sure, possible)
    assert all(type(k) is int for link in links.sure for k in link)


@pytest.mark.parametrize(
    "value", [None, 3, [1, 2], [(0, -1)], [(0, 0.5)], [(0, 0, 0)], {"a": 1}, [True]]
)
def test_no_alignments(value):
    with pytest.raises(ValueError, match=r"y\[0\]"):
        as_links(value, "y[0]")


# files -------------------------------------------------------------------------------


def test_four_three_and_two_columns(put):
    four = read_aligned(put("7\the sleeps\til dort\t0-0 1-1\n8\ta\tb c\t0?1\n"))
    assert four.X == [(["he", "sleeps"], ["il", "dort"]), (["a"], ["b", "c"])]
    assert four.y == [([(0, 0), (1, 1)], []), ([], [(0, 1)])]
    assert four.ids == ["7", "8"]
    three = read_aligned(put("a b\tc\t\r\n"), True)
    assert three.y == [([], [])]
    assert three.ids is None
    two = read_aligned(put("a\tb"))
    assert two.y is None
    assert two.X == [(["a"], ["b"])]
    assert read_bitext(put("a\tb\tnonsense that is not read\n")) == [(["a"], ["b"])]


def test_gzip_marks_and_spaces_that_belong_to_words(put):
    path = put(gzip.compress("\ufeffa\u00a0b  c\td\t0-0".encode()))
    assert read_aligned(path).X == [(["a\u00a0b", "c"], ["d"])]


def test_two_files(put):
    source, target = put("a b\nc\n", "s"), put("d\ne f\n", "t")
    assert read_bitext(source, target) == [(["a", "b"], ["d"]), (["c"], ["e", "f"])]
    with pytest.raises(ValueError, match=r"has 2 lines, but .* has 1"):
        read_bitext(source, put("d\n", "t"))
    with pytest.raises(ValueError, match="line 2: the target side has no words"):
        read_bitext(source, put("d\n\n", "t"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        ("one column\n", "line 1: there is 1 column"),
        ("a\tb\n", "line 1: there are no links"),
        ("a\tb\t0-0\tc\td\n", "line 1: there are 5 columns"),
        ("a\tb\t0-0\na\tb\n", "line 2: there are 2 columns, but line 1 has 3"),
        ("a\tb\t0-0\n\n", "line 2: there is 1 column"),
        ("a\tb\t0-0\n \tb\t\n", "line 2: the source side has no words"),
        ("a\tb\t0-1\n", "line 1: the link 0-1 names word 1 of the target"),
        ("a\tb\t3?0\n", "line 1: the link 3-0 names word 3 of the source"),
        ("a\tb\t0-0 0?0\n", "line 1: the link 0-0 is there twice"),
        ("a\tb\t0-0 0-0\n", "there twice"),
        ("a\tb\t0:0\n", "line 1: '0:0' is not a link"),
        ("a\tb\t-1-0\n", "not a link"),
        ("a\tb\t0-99999999999999999999\n", "not a link"),
        (b"a\tb\t0-0\nc\xff\td\t0-0\n", "line 2: byte 2 of the line, 0xff"),
    ],
)
def test_errors_name_file_and_line(put, text, sentence):
    path = put(text)
    with pytest.raises(ValueError, match=re.escape(sentence)) as error:
        read_aligned(path, True)
    assert str(path) in str(error.value)


def test_pharaoh_and_back(put, tmp_path):
    links = read_pharaoh(put("0-0 1?2\n\n2-1\n"))
    assert links == [([(0, 0)], [(1, 2)]), ([], []), ([(2, 1)], [])]
    write_pharaoh(tmp_path / "out", links)
    assert (tmp_path / "out").read_text() == "0-0 1?2\n\n2-1\n"
    write_pharaoh(tmp_path / "out", [[(1, 1), (0, 0)], set()])
    assert (tmp_path / "out").read_text() == "0-0 1-1\n\n"


def test_naacl_style(put):
    found = read_naacl(put("0001 1 1 S\n0001 2 1 P\n\n18 3 4\n18 1 1 P 0.5\n"))
    assert found == {
        "0001": ([(0, 0)], [(1, 0)]),
        "18": ([(2, 3)], [(0, 0)]),
    }
    for line in ("1 0 1", "1 2", "1 a b", "1 1 1 S 1 1"):
        with pytest.raises(ValueError, match="line 1"):
            read_naacl(put(line))
    with pytest.raises(ValueError, match=r"line 2: .* twice"):
        read_naacl(put("1 1 1 S\n1 1 1 P\n"))


def test_aligned_text_survives(tmp_path):
    X = [(["a", "b"], ["c"]), (["$", "ü"], ["\u00a0"])]
    y = [Links([(0, 0)], [(1, 0)]), Links([], [])]
    write_aligned(tmp_path / "x.gz", X, y, ids=[1, 2])
    again = read_aligned(tmp_path / "x.gz")
    assert again.X == X
    assert again.y == y
    assert again.ids == ["1", "2"]
    with pytest.raises(ValueError, match="sample 0: the word 'a b'"):
        write_aligned(tmp_path / "y", [(["a b"], ["c"])], [[]])
    assert not (tmp_path / "y").exists()


def test_hansards(data_home):
    try:
        path = data_file("hansards_align/test.txt.gz")
    except FileNotFoundError as reason:
        pytest.skip(str(reason))
    text = read_aligned(path, True)
    assert len(text.X) == 447
    assert sum(len(links.sure) for links in text.y) == 4038
    assert sum(len(links.possible) for links in text.y) == 13400


# alignment error rate ----------------------------------------------------------------


def test_by_hand():
    truth = [([(0, 0), (1, 1)], [(2, 1)]), ([(0, 0)], [])]
    report = alignment_scores(truth, [[(0, 0), (2, 1), (3, 3)], []])
    # |A| = 3, |S| = 3, |A & S| = 1, |A & P| = 2
    assert report.aer == pytest.approx(1 - 3 / 6)
    assert report.precision == pytest.approx(2 / 3)
    assert report.recall == pytest.approx(1 / 3)
    weighted = alignment_scores(truth, [[(0, 0)], []], sample_weight=[1, 0])
    assert weighted.aer == pytest.approx(1 - 2 / 3)


def test_perfect_empty_and_interval():
    truth = [[(0, 0)], [(0, 1)], [(1, 1)]]
    report = alignment_scores(truth, truth, bootstrap=50)
    assert report.aer == 0.0
    assert report.interval == (0.0, 0.0)
    assert alignment_scores([[]], [[]]).aer == 0.0
    worst = alignment_scores(truth, [[], [], []])
    assert worst.aer == 1.0
    assert worst.recall == 0.0
    half = alignment_scores(truth, [[(0, 0)], [(0, 1)], [(0, 0)]], bootstrap=200)
    assert half.interval[0] < half.aer < half.interval[1]
    assert "95% interval" in str(half)


def test_lengths_must_match():
    with pytest.raises(ValueError, match="2 true alignments, but 1"):
        alignment_scores([[], []], [[]])
    with pytest.raises(ValueError, match="no alignments"):
        alignment_scores([], [])


def test_the_longest_sentence():
    for n, good in ((1000, True), (1001, False)):
        raw = RawText((" ".join(["a"] * n) + "\tb\n").encode(), "file")
        if good:
            assert len(read_aligned(raw).X[0][0]) == n
        else:
            with pytest.raises(ValueError, match=r"file, line 1: .* 1001 words"):
                read_aligned(raw)
