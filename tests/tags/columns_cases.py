"""Small texts of columns, and what is read from them."""

from hypothesis import strategies as st

from maxmargin.files import (
    read_columns,
    tag_file,
)
from maxmargin.files.text_files import RawText


def read(text, **options):
    data = text if isinstance(text, bytes) else text.encode()
    return read_columns(RawText(data, "some.txt"), **options)


def rows_of(columns):
    """Sentences of tuples, the plain form of everything."""
    each = [columns.strings(k) for k in range(columns.n_columns)]
    return [list(zip(*s, strict=True)) for s in zip(*each, strict=True)]


SMALL = "the D\ndog N\n\nbark V\n"
ROWS = [[("the", "D"), ("dog", "N")], [("bark", "V")]]


cell = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n"), min_size=1
)


def tables(cells, width):
    row = st.tuples(*[cells] * width)
    return st.lists(st.lists(row, min_size=1, max_size=4), min_size=1, max_size=5)


def tagged(text, labels, tmp_path, **options):
    target = tmp_path / "tagged.txt"
    data = text if isinstance(text, bytes) else text.encode()
    tag_file(RawText(data, "some.txt"), target, labels, **options)
    return target.read_bytes()
