"""Objects are known by their classes, without the libraries that they are of."""

import subprocess
import sys

import pytest

from maxmargin.core.objects import is_from, letters_of, rows_of

# scikit-learn imports pandas itself, where it is installed
OPTIONAL = (
    "spacy",
    "datasets",
    "networkx",
    "Bio",
    "nltk",
    "matplotlib",
    "torch",
)
FITS = """
import sys
from maxmargin import GrammarParser, GraphLabeler, MotifFinder, SequenceAligner
from maxmargin import SequenceTagger, Tree, files

SequenceTagger(C=10).fit([[["a"], ["b"]]], [["A", "B"]]).predict([[["a"]]])
for name in ("read_frame", "read_docs", "read_dataset", "read_networkx"):
    getattr(files, name)
print(*sorted(set(sys.argv[1:]) & set(sys.modules)))
"""


def test_nothing_optional_is_imported():
    done = subprocess.run(
        [sys.executable, "-c", FITS, *OPTIONAL],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == ""


def test_names_and_packages_must_both_fit():
    class Seq:  # of this module, not of Biopython
        pass

    assert not is_from(Seq(), "Bio", "Seq")
    assert letters_of(Seq, "x") is Seq
    other = type("Seq", (), {"__module__": "Bioplus.Seq"})()
    assert not is_from(other, "Bio", "Seq")
    assert is_from(other, "Bioplus", "Seq")
    assert is_from(type("Mine", (type(other),), {})(), "Bioplus", "Seq", "Other")


def test_rows_of_frames():
    pandas = pytest.importorskip("pandas")
    assert rows_of(pandas.DataFrame({"a": [1, 2], "b": ["x", "y"]})) == [
        (1, "x"),
        (2, "y"),
    ]
    assert rows_of("ab") == "ab"
