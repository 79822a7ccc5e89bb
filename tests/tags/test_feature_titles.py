"""Features are called what they are where people read them."""

import sys

import numpy as np
import pytest

import maxmargin
from maxmargin import SequenceTagger
from maxmargin.files import columns_from
from maxmargin.plots import (
    feature_table,
    plot_top_features,
    top_features,
    weights_frame,
)
from maxmargin.tags.features import ColumnEncoder
from maxmargin.tags.features.ready import READY_NAMES, ready_columns, ready_template

ROWS = [[("the", "DT"), ("Dog", "NN"), ("barks", "VB")], [("%s=", "X")]]


def titles(template, rows=ROWS, names=(), **options):
    encoder = ColumnEncoder(template, **options)
    data = columns_from(rows)
    encoder.fit_encode(data._replace(meaning=data.meaning._replace(names=names)))
    both = encoder.feature_names(), encoder.feature_names(titles=True)
    assert len(both[0]) == len(both[1])
    return dict(zip(*both, strict=True))


@pytest.mark.parametrize(
    ("line", "name", "title"),
    [
        ("U14:%s4[0,0]", "U14:arks", "suffix(4)=arks"),
        ("U01:%x[-1,0]", "U01:the", "word[-1]=the"),
        ("U01:%x[1,0]", "U01:_B+1", "word[+1]=(end of sentence)"),
        ("U01:%X[0,0]", "U01:dog", "lowercase=dog"),
        ("U01:%P2[0,0]", "U01:do", "lowercase prefix(2)=do"),
        ("U01:%x[-1,0]/%x[0,0]", "U01:the/Dog", "word[-1]/word=the/Dog"),
        ("U01:%x[0,1]", "U01:NN", "column 1=NN"),
        ("U01:%s1[0,1]", "U01:N", "suffix(1) of column 1=N"),
        ("U01:%cap[0,0]", "U01:cap", "capitalised"),
        ("U01:%cap[-1,0]/%x[0,0]", "U01:cap/barks", "capitalised[-1]/word=cap/barks"),
        ("U01:%short[0,0]", "U01:Xx", "short shape=Xx"),
        (
            "U01:%x[-1,0]/%x[0,0]/%x[1,0]",
            "U01:the/Dog/barks",
            "word[-1..+1]=the/Dog/barks",
        ),
        ("U:%x[-1,0]\nU:%x[1,0]", "U:Dog", "word[-1,+1]=Dog"),
        (
            "U01:%x[-2,0]/%x[0,0]/%x[2,0]",
            "U01:the/barks/_B+2",
            "word[-2]/word/word[+2]=the/barks/(2 after the end)",
        ),
        ("U00\nU01:%x[0,0]", "U00", "every token"),
        ('U01:%m[0,0,"^D.g"]', "U01:Dog", "match(^D.g)=Dog"),
        ('U01:%t[0,0,"^\\u"]', "U01:true", "word matches ^\\u"),
        ('U01:%t[-1,1,"%.$"]', "U01:false", "column 1[-1] does not match %.$"),
        ('U01:%t[-1,0,"e$"]', "U01:_B-1", "word[-1] (start of sentence) e$"),
        (
            'U01:%t[0,0,"^D"]/%x[0,0]',
            "U01:true/Dog",
            "test(^D)/word=matches/Dog",
        ),
        ("U01:%x[0,0]", "U01:%s=", "word=%s="),  # values are not patterns
        ('U01:%m[0,0,"%s"]/%x[0,0]', "U01:%s/%s=", "match(%s)/word=%s/%s="),
        # what has a name of its own, or differs from line to line, keeps it
        ("Uending:%s3[0,0]", "Uending:Dog", "Uending:Dog"),
        ("U01:w=%x[0,0]", "U01:w=Dog", "U01:w=Dog"),
        ("U01:%x[0,0]!", "U01:Dog!", "U01:Dog!"),
        ("U:%x[0,0]\nU:%X[0,0]", "U:Dog", "U:Dog"),
    ],
)
def test_titles_of_lines(line, name, title):
    assert titles(line)[name] == title


def test_titles_with_named_columns():
    found = titles("U00:%x[0,LEMMA]\nU01:%s2[-1,FORM]", names=("FORM", "LEMMA"))
    assert found["U00:NN"] == "lemma=NN"
    assert found["U01:og"] == "suffix(2)[-1]=og"


@pytest.mark.parametrize("name", READY_NAMES)
@pytest.mark.parametrize(("n", "word", "tag"), [(2, 0, 1), (4, 3, 1), (1, 0, None)])
def test_ready_sets_know_their_columns(name, n, word, tag):
    template = ready_template(name, n, word, tag)
    found = ready_columns(template.text)
    assert found[word] == "word"
    assert set(found.values()) <= {"word", "tag"}
    if "tag" in found.values():
        assert found[tag] == "tag"


def test_ready_sets_say_what_tags_are():
    found = titles("chunking")
    assert found["U09:NN"] == "tag=NN"
    assert found["U01:the"] == "word[-1]=the"
    assert set(titles("words", hash_bits=4).values()) == {
        f"hash:{k}" for k in range(16)
    }


@pytest.fixture(scope="module")
def tagger():
    y = [["D", "N", "V"], ["X"]]
    return SequenceTagger(features="U00:%s1[0,0]", C=10).fit(columns_from(ROWS), y)


def test_people_read_titles_and_files_keep_names(tagger, tmp_path):
    assert "suffix(1)=g" in dict(top_features(tagger, "N"))
    assert "suffix(1)=s" in feature_table(tagger)
    assert "U00" not in feature_table(tagger)
    shown = [t.get_text() for t in plot_top_features(tagger).axes[0].get_yticklabels()]
    assert all(text.startswith("suffix(1)=") for text in shown)
    assert tagger.feature_names_[0] == "U00:e"
    maxmargin.save(tagger, tmp_path / "m")
    again = maxmargin.load(tmp_path / "m")
    assert again.feature_names_ == tagger.feature_names_
    assert again.feature_titles_ == tagger.feature_titles_


def test_tokens_without_a_template_keep_their_strings():
    model = SequenceTagger(C=10).fit([[["U00:a"], ["b"]]], [["X", "Y"]])
    assert model.feature_titles_ == model.feature_names_ == ["U00:a", "b"]
    table = SequenceTagger(C=10).fit([np.eye(2)], [["X", "Y"]])
    assert table.feature_titles_ is None
    assert {name for name, _ in top_features(table, "X")} <= {"feature 0", "feature 1"}


def test_weights_as_a_data_frame(tagger):
    pytest.importorskip("pandas")
    frame = weights_frame(tagger)
    assert list(frame.columns) == ["label", "feature", "name", "weight"]
    assert len(frame) == np.count_nonzero(tagger.coef_)
    assert (np.diff(frame.weight.abs()) <= 0).all()
    one = weights_frame(tagger, ["N"])
    assert set(one.label) == {"N"}
    row = one[one.name == "U00:g"].iloc[0]
    assert row.feature == "suffix(1)=g"
    at = tagger.feature_names_.index("U00:g")
    assert row.weight == tagger.coef_[list(tagger.classes_).index("N"), at]
    with pytest.raises(ValueError, match="label='Z' is not known"):
        weights_frame(tagger, ["Z"])


def test_without_pandas_says_what_to_install(tagger, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        weights_frame(tagger)
