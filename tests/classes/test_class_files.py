"""Files of texts and of vectors: places in messages, widths, labels; depths of nodes."""

import numpy as np
import pytest

from maxmargin.classes.taxonomy import Taxonomy
from maxmargin.classes.texts import read_new_texts
from maxmargin.files import RawText, read_svmlight, read_texts


def raw(text):
    return RawText(text.encode(), "file")


def test_labels_everywhere_or_nowhere():
    with pytest.raises(
        ValueError, match="line 3: some lines have a tab and this one has none;"
    ):
        read_new_texts(raw("a\tx\nb\ty\nno tab\nb\tz\n"), "\t", bool)
    with pytest.raises(
        ValueError, match="line 3: some lines have no tab and this one has one;"
    ):
        read_new_texts(raw("none\n\nb\ty\nno tab\n"), "\t", bool)
    assert read_new_texts(raw("a x\nb\n"), " ", {"a", "b"}.__contains__).labels is None
    known = read_new_texts(raw("a x\nb  y z\n"), " ", {"a", "b"}.__contains__)
    assert (known.labels, known.texts) == (["a", "b"], ["x", "y z"])


def test_the_first_line_says_what_is_between():
    assert read_texts(raw("a b\tx\n")).labels == ["a b"]
    assert read_texts(raw("a b\nc d\te\n")).labels == ["a", "c"]
    with pytest.raises(ValueError, match="file, line 2: there is no tab"):
        read_texts(raw("a\tx\nb y\n"))


def test_features_beyond_the_model():
    text = "a 1:1 3:1\nb 1:2\n\nc 5:1 9:1\nd 2:1\n"
    vectors = read_svmlight(raw(text))
    assert vectors.X.shape == (4, 9)
    assert vectors.X[2].toarray().nonzero()[1].tolist() == [4, 8]
    assert (vectors.labels, vectors.lines) == (["a", "b", "c", "d"], [1, 2, 4, 5])
    assert read_svmlight(raw(text), 12).X.shape == (4, 12)
    for last in ("9:1", "1:1 9:1"):  # at the beginning of a row, and within it
        with pytest.raises(ValueError, match="file, line 2: there is a feature 9"):
            read_svmlight(raw(f"a 1:1\nb {last}\nc 2:1\n"), 8)


def test_depths_and_heights():
    """An only root has depth 0, several have 1; the longest way counts."""
    one = Taxonomy({"r": None, "a": "r", "b": ["r", "a"], "c": "b"})
    assert dict(zip(one.nodes, one.depth, strict=True)) == {
        "r": 0,
        "a": 1,
        "b": 2,
        "c": 3,
    }
    assert dict(zip(one.nodes, one.height, strict=True)) == {
        "r": 3,
        "a": 2,
        "b": 1,
        "c": 0,
    }
    two = Taxonomy({"r": None, "s": None, "a": "r"})
    assert [two.depth[two.position_of(name)] for name in "rsa"] == [1, 1, 2]
    assert np.all(two.height == [1, 0, 0])
    assert two.lowest(["r", "a", "s"]) == [n for n in two.nodes if n != "r"]
    assert two.closure(["a"]) == {"r", "a"}
