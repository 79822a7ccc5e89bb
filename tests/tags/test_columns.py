"""Files of columns: what is read, and what is said when it is wrong."""

import gzip
import io
import re
import subprocess
import sys
import time

import numpy as np
import pytest
from columns_cases import ROWS, SMALL, cell, read, rows_of, tables
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.files import (
    columns_from,
    data_file,
    read_columns,
    tag_file,
    write_columns,
)


def says(text, **options):
    with pytest.raises(
        ValueError, match=r"some\.txt|model|separator|comment|enc"
    ) as caught:
        read(text, **options)
    return str(caught.value)


def real(name):
    try:
        return data_file(name)
    except FileNotFoundError as error:
        pytest.skip(str(error))


# reading -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        SMALL,
        SMALL.rstrip("\n"),
        "\n\n \t\n" + SMALL.replace("\n\n", "\n \n\t\n\n") + "\n\n",
        SMALL.replace("\n", "\r\n"),
        SMALL.replace("\n", "\r"),
        "\ufeff" + SMALL,
        SMALL.replace(" ", "\t"),
        "  the   D \ndog \t N\t\n\nbark\t\tV\n",
        gzip.compress(SMALL.encode(), mtime=0),
        gzip.compress(SMALL.encode()[:9], mtime=0)
        + gzip.compress(SMALL.encode()[9:], mtime=0),
    ],
)
def test_every_spelling_of_the_same_sentences(text, tmp_path):
    path = tmp_path / "some.txt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert rows_of(read_columns(path)) == ROWS


def test_columns_are_interned_in_the_order_first_seen():
    columns = read("b x\na x\n\n\nb y\n")
    assert columns.start.tolist() == [0, 2, 3]
    assert columns.columns[0].ids.tolist() == [0, 1, 0]
    assert columns.columns[0].ids.dtype == np.int32
    assert columns.columns[0].words == ["b", "a"]
    assert columns.columns[1].words == ["x", "y"]
    assert columns.lines.tolist() == [1, 2, 5]
    assert (columns.n_sentences, columns.n_tokens, columns.n_columns) == (2, 3, 2)
    assert columns.where(2) == columns.where(-1) == "some.txt, line 5"


def test_only_spaces_and_tabs_are_white_space():
    odd = "a\u00a0b c\vd\ne\u2028f \x1cg\n\nh\x85\fi \u3000\n"
    want = [[("a\u00a0b", "c\vd"), ("e\u2028f", "\x1cg")], [("h\x85\fi", "\u3000")]]
    assert rows_of(read(odd)) == want


def test_an_exact_separator_keeps_spaces_and_empty_cells():
    text = "New York\t\tB\n of\tx\t\n\t\t\nend\t \t\n"
    want = [[("New York", "", "B"), (" of", "x", "")], [("end", " ", "")]]
    assert rows_of(read(text, separator="\t")) == want
    assert rows_of(read("a||b\n||\n|||c\n", separator="||")) == [
        [("a", "b")],
        [("", "|c")],
    ]
    assert rows_of(read("a·b\n\nc·d", separator="·")) == [[("a", "b")], [("c", "d")]]


def test_encodings():
    text = "año N\n\nœuvre N\n"
    want = [[("año", "N")], [("œuvre", "N")]]
    assert rows_of(read(text)) == want
    for encoding in ("utf-16", "utf-8-sig", "utf-16-le", "iso8859-15"):
        assert rows_of(read(text.encode(encoding), encoding=encoding)) == want
    assert rows_of(read("año".encode("latin-1"), encoding="latin-1")) == [[("año",)]]


def test_comments_are_left_out_where_a_sentence_may_start():
    text = "# id = 1\n# text\nthe D\n# #\ndog N\n\n# id = 2\nbark V\n# X\n"
    want = [[("the", "D"), ("#", "#"), ("dog", "N")], [("bark", "V"), ("#", "X")]]
    columns = read(text, comment="#")
    assert rows_of(columns) == want
    assert columns.lines.tolist() == [3, 4, 5, 8, 9]
    assert rows_of(read("# a\n# b\n")) == [[("#", "a"), ("#", "b")]]


def test_document_starts_are_left_out_and_end_a_sentence():
    text = "-DOCSTART- -X- O O\n\nthe D\n-DOCSTART-\ndog N\n-DOCSTART-s N\n"
    columns = read(text)
    assert rows_of(columns) == [[("the", "D")], [("dog", "N"), ("-DOCSTART-s", "N")]]
    assert columns.lines.tolist() == [3, 5, 6]
    kept = read("-DOCSTART- O\n\nthe D\n", keep_docstart=True)
    assert rows_of(kept) == [[("-DOCSTART-", "O")], [("the", "D")]]
    with_tabs = read("-DOCSTART-\tO\n# x\na b\tc\n", separator="\t", comment="#")
    assert rows_of(with_tabs) == [[("a b", "c")]]


def test_some_columns_only():
    text = "a b c\nd e f\n"
    assert rows_of(read(text, columns=[-1, 0])) == [[("c", "a"), ("f", "d")]]
    assert read(text, columns=1).columns[0].words == ["b", "e"]
    assert "has 3 columns, numbered 0 to 2, or -3 to -1" in says(text, columns=[3])
    with pytest.raises(ValueError, match="keep one column at least"):
        read(text, columns=[])


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SMALL.encode())))
    columns = read_columns("-")
    assert rows_of(columns) == ROWS
    assert columns.where(0) == "standard input, line 1"


free = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="|\r\n"))


@given(st.integers(1, 3).flatmap(lambda k: tables(cell, k)), st.booleans())
def test_round_trip(tmp_path_factory, rows, with_labels):
    path = tmp_path_factory.mktemp("round") / "x.txt"
    columns = columns_from(rows)
    if with_labels:
        labels = [[str(len(token[0])) for token in s] for s in rows]
        write_columns(path, columns, [labels])
        rows = [[(*t, str(len(t[0]))) for t in s] for s in rows]
    else:
        write_columns(path, columns)
    back = read_columns(path, keep_docstart=True)
    assert rows_of(back) == rows
    assert back.lines.tolist() == columns.lines.tolist()
    assert rows_of(read_columns(path, separator=" ", keep_docstart=True)) == rows


@given(st.integers(1, 3).flatmap(lambda k: tables(free, k)))
def test_round_trip_with_empty_cells(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("round") / "x.txt.gz"
    if any(not "".join(row).strip(" \t") for s in rows for row in s):
        with pytest.raises(ValueError, match="all cells are empty"):
            write_columns(path, columns_from(rows), separator="|")
        return
    write_columns(path, columns_from(rows), separator="|")
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    assert rows_of(read_columns(path, separator="|", keep_docstart=True)) == rows


def slow_reader(text, comment):
    """What the rules say, one line after the other."""
    sentences, tokens = [], []
    for line in re.split("\r\n|\r|\n", text):
        cells = [c for c in re.split("[ \t]+", line) if c]
        if cells and not tokens and comment and line.startswith(comment):
            cells = []
        if cells and cells[0] != "-DOCSTART-":
            tokens.append(tuple(cells))
        elif tokens:
            sentences.append(tokens)
            tokens = []
    return [*sentences, tokens] if tokens else sentences


@given(
    st.lists(
        st.sampled_from(
            ["a b", "b\ta", "", " ", "# c", "-DOCSTART- x", "\v \f", "é é"]
        ),
        max_size=12,
    ),
    st.lists(st.sampled_from(["\n", "\r\n", "\r"]), min_size=12, max_size=12),
    st.sampled_from([None, "#"]),
)
def test_same_as_line_by_line(lines, ends, comment):
    text = "".join(a + b for a, b in zip(lines, ends, strict=False))
    want = slow_reader(text, comment)
    if want:
        assert rows_of(read(text, comment=comment)) == want
    else:
        assert "has no token" in says(text, comment=comment)


# what is wrong -----------------------------------------------------------------------


def test_another_number_of_columns():
    assert says("\na b\nc d\n\ne\n") == (
        "some.txt, line 5: 1 column, but the first token (line 2) has 2: 'e'."
    )
    assert says("a b\nc d e f\n").startswith(
        "some.txt, line 2: 4 columns, but the first token (line 1) has 2: 'c d e f'."
    )
    assert "mixed" not in says("a b\nc d e f\n")
    assert says("the\tD\nNew York\tN\n").endswith(
        "Tabs and spaces are mixed, which may be the cause: if only tabs separate "
        "columns, say separator='\\t'."
    )
    assert "separated by '\\t' and nothing else" in says("a\tb\nc d\n", separator="\t")
    assert "line 3: 1 column" in says("# c\r\na b\r\nc\r\n", comment="#")
    assert len(says("a b\n" + "x" * 100_000)) < 300


def test_bytes_that_are_not_text():
    text = "uno Z\ndos a\u00f1o\n".encode("latin-1")
    assert says(text) == (
        "some.txt, line 2: byte 6 of the line, 0xf1, is not valid utf-8. If it is in "
        "Latin-1, say encoding='latin-1'."
    )
    assert "say encoding='utf-16'" in says("a b\n".encode("utf-16"))
    assert "encoding='no-such' is not known" in says("a", encoding="no-such")
    assert "encoding=None is not known" in says("a", encoding=None)
    assert "cannot be read with encoding='rot13'" in says("a", encoding="rot13")


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n", "# only\n", "-DOCSTART- O\n\n"])
def test_no_token(text):
    message = says(text, comment="#")
    assert message.startswith("some.txt has no token: ")
    assert message.endswith(
        "it is empty." if not text else "all of its lines are blank or comments."
    )


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"There is no file .*nowhere\.txt: check"
    ):
        read_columns(tmp_path / "nowhere.txt")
    with pytest.raises(ValueError, match="is a folder, not a file: name a file in it"):
        read_columns(tmp_path)
    with pytest.raises(TypeError):
        read_columns(None)


def test_damaged_gzip(tmp_path):
    whole = gzip.compress(SMALL.encode() * 50, mtime=0)
    path = tmp_path / "cut.gz"
    for n in range(2, len(whole)):
        path.write_bytes(whole[:n])
        with pytest.raises(
            ValueError, match=r"cut\.gz is cut off: its gzip data end too"
        ):
            read_columns(path)
    for n in (12, len(whole) - 6):
        path.write_bytes(whole[:n] + bytes([whole[n] ^ 0xFF]) + whole[n + 1 :])
        with pytest.raises(
            ValueError, match=r"cut\.gz is (damaged: gzip says|cut off)"
        ):
            read_columns(path)


def test_expected_columns():
    assert read("a b\n", expect=2).n_columns == 2
    assert read("a b\n", expect=(3, 2)).n_columns == 2
    assert says("a b\n", expect=3).startswith(
        "The model was trained with 3 columns, but some.txt has 2: give it the same"
    )
    assert "trained with 3 or 4 columns" in says("a b\n", expect=(4, 3))
    assert "trained with 1 column," in says("a b\n", expect=1)


def test_options_that_are_not_possible():
    assert "separator='' is not possible" in says("a", separator="")
    assert "separator='\\n' is not possible" in says("a", separator="\n")
    assert "separator=3 is not possible" in says("a", separator=3)
    assert "comment='' is not possible" in says("a", comment="")


# real files --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sentences", "tokens", "labels"),
    [
        ("conll2000/train.txt.gz", 8936, 211_727, 22),
        ("conll2000/test.txt.gz", 2012, 47_377, None),
        ("conll2002_esp/esp.train.txt.gz", 8323, 264_715, 9),
        ("conll2002_esp/esp.testb.txt.gz", 1517, 51_533, None),
    ],
)
def test_real_files(name, sentences, tokens, labels, tmp_path):
    path = real(name)
    columns = read_columns(path, expect=3)
    assert (columns.n_sentences, columns.n_tokens) == (sentences, tokens)
    assert labels is None or len(columns.columns[2].words) == labels
    lines = gzip.decompress(path.read_bytes()).decode().split("\n")
    for t in (0, tokens // 2, tokens - 1):
        words = [column.words[column.ids[t]] for column in columns.columns]
        assert lines[columns.lines[t] - 1] == " ".join(words)
    write_columns(tmp_path / "again.txt", columns)
    tag_file(path, tmp_path / "tagged.txt", columns.strings(2))
    again = read_columns(tmp_path / "tagged.txt", expect=4)
    assert np.array_equal(again.start, columns.start)
    assert np.array_equal(again.columns[3].ids, columns.columns[2].ids)
    tagged = (tmp_path / "tagged.txt").read_text("utf-8")
    assert re.sub(r" \S+$", "", tagged, flags=re.MULTILINE).strip() == (
        (tmp_path / "again.txt").read_text("utf-8").strip()
    )


def test_real_file_with_comments():
    path = real("wsj_sample_deps/wsj_sample.dp.gz")
    columns = read_columns(path, separator="\t", comment="#", expect=3)
    assert (columns.n_sentences, columns.n_tokens) == (3914, 94_084)


def test_reading_is_fast():
    path = real("conll2000/train.txt.gz")
    seconds = []
    for _ in range(3):
        before = time.process_time()
        read_columns(path)
        seconds.append(time.process_time() - before)
    assert min(seconds) < 0.5  # about 0.1 on an idle machine


def test_importing_is_cheap():
    code = (
        "import sys, maxmargin.files; "
        "print([m for m in ('scipy', 'numba', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
