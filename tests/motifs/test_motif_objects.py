"""DNA as Biopython and pandas hold it."""

import re

import pytest

pytest.importorskip("Bio")
pytest.importorskip("pandas")

import pandas as pd
from Bio.Seq import Seq
from Bio.SeqRecord import SeqRecord

from maxmargin import MotifFinder
from maxmargin.views import sites

TEXTS = ["ACTATAAGC", "GGCTATAAC", "TATAACCGA", "CCGACGTGC", "GGACCAGCA", "ACACGTCAG"]
Y = [True, True, True, False, False, False]


@pytest.fixture(scope="module")
def finder():
    return MotifFinder(width=5, order=0).fit(TEXTS, Y)


def record(text):
    return SeqRecord(Seq(text), id="r", description="")


@pytest.mark.parametrize(
    "wrap",
    [
        lambda texts: [Seq(x) for x in texts],
        lambda texts: [record(x.lower()) for x in texts],
        lambda texts: pd.Series(texts, index=range(9, 9 + len(texts))),
        lambda texts: pd.Series(texts, dtype="string"),
    ],
)
def test_sequences_are_their_letters(finder, wrap):
    X = wrap(TEXTS)
    model = MotifFinder(width=5, order=0).fit(X, pd.Series(Y))
    assert (model.coef_ == finder.coef_).all()
    assert model.predict_sites(X) == finder.predict_sites(TEXTS)
    assert model.predict(X).tolist() == finder.predict(TEXTS).tolist()
    text = X[0] if isinstance(X, list) else TEXTS[0]
    assert "tataa" in repr(sites([text], model.predict_sites([text]))).lower()
    assert "ctataag" in model.report(X, Y).html.lower().replace("</span>", "").replace(
        '<span class="site" style="--h:205">', ""
    )


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (Seq(None, 9), "X[1] is a Seq of 9 letters that are not known"),
        (SeqRecord(None), "X[1] is a SeqRecord without a sequence"),
        (Seq("ACGTA-GTA"), "X[1] has '-' at position 6"),
        (Seq("MKVLAAGGG"), "X[1] has 'M' at position 1"),
        (float("nan"), "X[1] is 'nan', not a text"),
    ],
)
def test_what_is_no_dna_is_named(finder, x, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        finder.predict([TEXTS[0], x])
    with pytest.raises(ValueError, match=re.escape(message)):
        finder.predict(pd.Series([TEXTS[0], x], dtype=object))


def test_one_sequence_is_no_list(finder):
    for x in (Seq(TEXTS[0]), record(TEXTS[0])):
        with pytest.raises(ValueError, match="X is 'ACTATAAGC': give a list of DNA"):
            finder.predict(x)
    with pytest.raises(ValueError, match="X is a data frame: give the column"):
        finder.predict(pd.DataFrame({"sequence": TEXTS}))
