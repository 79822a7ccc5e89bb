"""Large files are read by compiled loops and threads: nothing else may change by that."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.files.text_files import RawText
from maxmargin.tags.files import reader
from maxmargin.tags.files.reader import read_columns

CELL = st.text("ab\u00e9\v\f#-", min_size=1, max_size=3)
GAP = st.sampled_from([" ", "\t", "  ", " \t"])


@st.composite
def texts(draw):
    """Lines of two cells, blank lines among them, with or without a last line end."""
    lines = []
    for kind in draw(st.lists(st.integers(0, 3), max_size=40)):
        if kind == 0:
            lines.append(draw(st.sampled_from(["", " ", "\t "])))
        else:
            lines.append(draw(CELL) + draw(GAP) + draw(CELL) + draw(st.just("") | GAP))
    return ("\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))).encode()


def outcome(text, **settings):
    """What reading gives, as something that can be compared."""
    try:
        found = read_columns(RawText(text, "a file"), **settings)
    except ValueError as error:
        return str(error)
    columns = [(ids.tolist(), words) for ids, words in found.columns]
    return found.start.tolist(), found.lines.tolist(), columns


def both_ways(monkeypatch, text, **settings):
    """The outcomes in one piece, without compiled loops, and in many, with threads."""
    whole = outcome(text, **settings)
    with monkeypatch.context() as patch:
        patch.setattr(reader, "PIECE", 5)
        patch.setattr(reader, "LARGE", 0)
        cut = [outcome(text, n_jobs=n, **settings) for n in (1, 2, 7)]
    return whole, cut


@settings(max_examples=150, deadline=None)
@given(texts(), st.sampled_from([None, "#"]))
def test_pieces_and_threads_read_the_same(text, comment):
    with pytest.MonkeyPatch.context() as patch:
        whole, cut = both_ways(patch, text, comment=comment)
    assert cut == [whole] * 3


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\n\n \n",
        b"a b\n" * 9 + b"a\n" + b"c d\n",  # a line with another number of cells
        b"a b\n" * 9 + b"c d e",
        b"a\tb\n" * 9 + b"c d\te\n",
    ],
)
def test_broken_files_are_refused_in_the_same_words(monkeypatch, text):
    whole, cut = both_ways(monkeypatch, text)
    assert isinstance(whole, str)
    assert cut == [whole] * 3


def test_more_words_than_the_first_table_holds(monkeypatch):
    rng = np.random.default_rng(0)
    words = rng.integers(0, 60_000, 80_000).tolist()
    text = "\n".join(f"w{w} t{w % 7}" for w in words).encode()
    whole, cut = both_ways(monkeypatch, text, columns=[1, 0])
    assert len(whole[2][1][1]) > 2**15
    assert cut == [whole] * 3


@pytest.mark.parametrize("n_jobs", [0, 1.5, True])
def test_numbers_of_threads_that_are_none(n_jobs):
    with pytest.raises(ValueError, match="n_jobs"):
        read_columns(RawText(b"a b\n", "a file"), n_jobs=n_jobs)
