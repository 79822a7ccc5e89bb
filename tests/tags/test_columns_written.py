"""Files of columns: what is written, and what is added to a copy."""

import gzip
import io
import os
import stat
import sys

import numpy as np
import pytest
from columns_cases import ROWS, SMALL, cell, read, rows_of, tables, tagged
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.files import (
    columns_from,
    read_columns,
    read_raw,
    tag_file,
    write_columns,
)
from maxmargin.files.text_files import RawText

# in memory ---------------------------------------------------------------------------


def test_columns_from_rows():
    columns = columns_from([ROWS[0], [], ROWS[1]])
    assert columns.start.tolist() == [0, 2, 2, 3]
    assert rows_of(columns) == [ROWS[0], [], ROWS[1]]
    assert columns.where(0) == "sequence 0, token 0"
    assert columns.where(2) == "sequence 2, token 0"
    assert columns.where(-2) == "sequence 0, token 1"
    assert columns_from(ROWS, "here.txt").where(2) == "here.txt, line 4"
    assert type(columns_from([[(np.str_("a"),)]]).columns[0].words[0]) is str
    with pytest.raises(ValueError, match="there is no column 2; there are 2"):
        columns.strings(2)
    with pytest.raises(IndexError):
        columns.where(3)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "There is no token"),
        ([[], []], "There is no token"),
        (["ab"], "sequence 0 is of type str, but it must be a list of rows"),
        ([["ab"]], "sequence 0, token 0: the row is of type str"),
        (
            [[("a",)], [("b",), ("c", "d")]],
            "sequence 1, token 1: the row has 2 columns, ",
        ),
        ([[()]], "sequence 0, token 0: the row has no columns"),
        ([[("a", 1)]], "sequence 0, token 0: a cell is of type int"),
        ([[("a", None)]], "a cell is None"),
    ],
)
def test_rows_that_are_wrong(rows, words):
    with pytest.raises(ValueError, match=words):
        columns_from(rows)


@given(st.lists(st.integers(0, 5), max_size=8))
def test_select_is_reading_these_sentences_only(chosen):
    rows = [
        [(w, w.upper()) for w in s.split()] for s in ("a b", "c", "b a", "d a", "e")
    ]
    rows.append([("z", "A")])
    part = columns_from(rows, "x.txt").select(chosen)
    wanted = [rows[i] for i in chosen]
    assert rows_of(part) == wanted
    assert part.path == "x.txt"
    if wanted:
        fresh = columns_from(wanted)
        for a, b in zip(part.columns, fresh.columns, strict=True):
            assert a.words == b.words
            assert a.ids.tolist() == b.ids.tolist()
            assert a.ids.dtype == np.int32


def test_select_takes_masks_and_refuses_nonsense():
    columns = read("a\n\nb\n\nc\n")
    part = columns.select(np.array([False, True, True]))
    assert rows_of(part) == [[("b",)], [("c",)]]
    assert part.lines.tolist() == [3, 5]
    with pytest.raises(ValueError, match="There is no sentence 3: there are 3"):
        columns.select([0, 3])
    with pytest.raises(ValueError, match="There is no sentence -1"):
        columns.select([-1])
    for wrong in ([0.5], [True], [[0]], ["a"]):
        with pytest.raises(ValueError, match="must be a list of sentence numbers"):
            columns.select(wrong)


# writing -----------------------------------------------------------------------------


def test_written_text(tmp_path):
    path = tmp_path / "out.txt"
    write_columns(path, columns_from(ROWS), [[["x", "y"], ["z"]], [[1, 2], [3]]])
    assert path.read_bytes() == b"the D x 1\ndog N y 2\n\nbark V z 3\n"
    write_columns(path, columns_from([[("é", "")]]), separator="\t", encoding="latin-1")
    assert path.read_bytes() == b"\xe9\t\n"


@pytest.mark.parametrize(
    ("rows", "options", "words"),
    [
        (
            [[("a b",)]],
            {},
            "sequence 0, token 0, column 0: the cell 'a b' contains ' '",
        ),
        ([[("a",)], [("b\tc",)]], {}, r"sequence 1, token 0, column 0: .* '\\t'"),
        ([[("", "x")]], {}, "the cell is empty, which needs another separator"),
        ([[("a\nb",)]], {"separator": "\t"}, r"contains '\\n', which separates cells"),
        ([[("a|",)]], {"separator": "||"}, r"contains '\|'"),
        ([[(" ", "")]], {"separator": "\t"}, "token 0: all cells are empty"),
        ([[("a",)], []], {}, "sequence 1 is empty, and such a file has no way"),
        ([[("a",)]], {"separator": None}, "separator=None is for reading"),
        (
            [[("a",)]],
            {"added": [["B"]]},
            r"wrap a single column in a list: added=\[lab",
        ),
        ([[("a",)]], {"added": [[["B", "C"]]]}, "sequence 0 has 1 tokens but 2 labels"),
        ([[("a",)]], {"added": [[["B"], ["C"]]]}, "2 label lists for 1 sentences"),
        ([[("a",)]], {"added": [[[None]]]}, "A label is None, but labels must be str"),
        ([[("a",)]], {"added": [[["x y"]]]}, "column 1: the cell 'x y' contains ' '"),
        ([[("ő",)]], {"encoding": "latin-1"}, "the character 'ő' is not in latin-1"),
        ([[("\ud800",)]], {}, "is not in utf-8"),
    ],
)
def test_what_cannot_be_written(tmp_path, rows, options, words):
    path = tmp_path / "out.txt"
    path.write_text("old")
    with pytest.raises(ValueError, match=words):
        write_columns(path, columns_from(rows), **options)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_nothing_to_write(tmp_path):
    with pytest.raises(ValueError, match=r"There is no token to write to .*out\.txt"):
        write_columns(tmp_path / "out.txt", columns_from(ROWS).select([]))


def test_places_that_cannot_be_written(tmp_path):
    columns = columns_from(ROWS)
    with pytest.raises(ValueError, match="is a folder: name a file to write"):
        write_columns(tmp_path, columns)
    with pytest.raises(
        FileNotFoundError, match=r"there is no folder .*; make it first"
    ):
        write_columns(tmp_path / "no" / "out.txt", columns)


@pytest.mark.skipif(sys.platform == "win32", reason="links and modes of Unix")
def test_writing_keeps_links_modes_and_devices(tmp_path):
    columns = columns_from(ROWS)
    path, link = tmp_path / "out.txt", tmp_path / "link.txt"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_columns(link, columns)
    assert link.is_symlink()
    assert path.read_text() == SMALL
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    write_columns(os.devnull, columns)
    assert not os.path.isfile(os.devnull)


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "out.txt"
    path.write_text("old")

    def broken(*_):
        raise OSError("disk")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="disk"):
        write_columns(path, columns_from(ROWS))
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_standard_output(capfdbinary):
    write_columns("-", columns_from(ROWS))
    assert capfdbinary.readouterr().out == SMALL.encode()


def test_standard_output_without_bytes(capsys, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    write_columns("-", columns_from(ROWS))
    assert stream.getvalue() == SMALL


# tagging a copy ----------------------------------------------------------------------


def test_the_rest_of_the_text_stays(tmp_path):
    text = "\n# id\r\nthe D \r\n# #\n\n\n-DOCSTART- O\n\ndog\tN"
    copy = tagged(text, [["A", "B"], ["C"]], tmp_path, comment="#")
    assert copy == (b"\n# id\r\nthe D A\r\n# # B\n\n\n-DOCSTART- O O\n\ndog\tN C\n")
    options = {"comment": "#", "expect": 3}
    back = read_columns(tmp_path / "tagged.txt", **options)
    assert back.strings(2) == [["A", "B"], ["C"]]


def test_several_columns_are_added(tmp_path):
    text = "-DOCSTART- -X-\n\nthe D\ndog N\n"
    more = {"more": [[["0.9", 1]], [["x", "y"]]]}
    copy = tagged(text, [["A", "B"]], tmp_path, **more)
    assert copy == b"-DOCSTART- -X- O O O\n\nthe D A 0.9 x\ndog N B 1 y\n"
    with pytest.raises(ValueError, match="sequence 0 has 2 tokens but 1 labels"):
        tagged(text, [["A", "B"]], tmp_path, more=[[["x"]]])
    with pytest.raises(ValueError, match="must be a list of columns"):
        tagged(text, [["A", "B"]], tmp_path, more=[["x", "y"]])


def test_standard_output_may_take_parts(monkeypatch):
    class Raw(io.RawIOBase):  # as python -u has it
        data = b""

        def writable(self):
            return True

        def write(self, data):
            Raw.data += bytes(data[:3])
            return min(len(data), 3)

    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(Raw(), write_through=True))
    write_columns("-", columns_from([[("the", "D"), ("dog", "N")]]))
    assert Raw.data == b"the D\ndog N\n"


def test_the_new_column_is_set_off_like_the_others(tmp_path):
    assert tagged("a\tb\n", [["X"]], tmp_path) == b"a\tb\tX\n"
    assert tagged("a\t\n", [["X"]], tmp_path, separator="\t") == b"a\t\tX\n"
    assert tagged("a b\n", [["X"]], tmp_path, separator="|") == b"a b|X\n"
    assert tagged("a\n", [[7]], tmp_path) == b"a 7\n"
    assert tagged("a\r\n\r\nb", [["X"], ["Y"]], tmp_path) == b"a X\r\n\r\nb Y\r\n"
    kept = tagged("-DOCSTART- O\n", [["X"]], tmp_path, keep_docstart=True)
    assert kept == b"-DOCSTART- O X\n"


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-8-sig", "utf-16-le"])
def test_the_encoding_stays(tmp_path, encoding):
    data = "año N\n\nsí R\n".encode(encoding)
    copy = tagged(data, [["É"], ["B"]], tmp_path, encoding=encoding)
    assert copy == "año N É\n\nsí R B\n".encode(encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_the_byte_order_mark_stays(tmp_path, encoding):
    data = "\ufeffa N\n".encode(encoding)
    assert tagged(data, [["B"]], tmp_path, encoding=encoding) == (
        "\ufeffa N B\n".encode(encoding)
    )


@given(tables(cell, 2), st.sampled_from(["\n", "\r\n"]))
def test_tagging_equals_writing(tmp_path_factory, rows, end):
    folder = tmp_path_factory.mktemp("tag")
    columns = columns_from(rows)
    labels = [[f"L{len(row[1])}" for row in s] for s in rows]
    write_columns(folder / "a", columns)
    write_columns(folder / "b", columns, [labels])
    source = RawText((folder / "a").read_bytes().replace(b"\n", end.encode()), "a")
    tag_file(source, folder / "a", labels, keep_docstart=True)
    want = (folder / "b").read_bytes().replace(b"\n", end.encode())
    assert (folder / "a").read_bytes() == want


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([["A", "B"]], r"There are 1 label lists for 2 sentences \(some.txt\)"),
        ([["A", "B"], []], "some.txt, line 4: sequence 1 has 1 tokens but 0 labels"),
        ([["A", "B"], ["C D"]], "the label 'C D' contains ' '"),
        ([["A", "B"], [""]], "the label is empty"),
        ([["A", "B"], "C"], "The labels of sequence 1 are of type str"),
        ([["A", "B"], None], "The labels of sequence 1 are None"),
        ([["A", "B"], [1.5]], "A label is of type float"),
    ],
)
def test_labels_that_do_not_fit(tmp_path, labels, words):
    with pytest.raises(ValueError, match=words):
        tagged(SMALL, labels, tmp_path)
    assert os.listdir(tmp_path) == []


def test_read_raw_reads_standard_input_once(tmp_path, monkeypatch):
    data = gzip.compress(SMALL.encode(), mtime=0)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    raw = read_raw("-")
    labels = read_columns(raw).strings(1)
    tag_file(raw, tmp_path / "out.txt", labels)
    assert (tmp_path / "out.txt").read_text() == "the D D\ndog N N\n\nbark V V\n"
