"""Data frames of pandas: tokens in, labels out."""

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("pandas")

import pandas as pd

from maxmargin import SequenceTagger
from maxmargin.files import columns_from, frame_column, read_frame

WORDS = [["the", "dog", "barks"], ["dogs", "bark"], ["the", "bark"]]
POS = [["d", "n", "v"], ["n", "v"], ["d", "n"]]
Y = [["D", "N", "V"], ["N", "V"], ["D", "N"]]
TEMPLATE = "U0:%x[0,word]\nU1:%x[-1,word]/%x[0,pos]\nB\n"


def table():
    rows = [
        (f"s{i}", word, tag, label)
        for i, cells in enumerate(zip(WORDS, POS, Y, strict=True))
        for word, tag, label in zip(*cells, strict=True)
    ]
    names = ["sentence", "word", "pos", "label"]
    return pd.DataFrame(rows, columns=names, index=range(90, 90 + len(rows)))


def frames():
    return [f[["word", "pos"]] for _, f in table().groupby("sentence")]


def test_a_table_is_read_and_gets_its_predictions_back():
    frame = table()
    X, y = read_frame(frame)
    assert (X.strings(0), X.strings("pos"), y) == (WORDS, POS, Y)
    tagger = SequenceTagger(C=10, features=TEMPLATE).fit(X, y)
    assert tagger.predict(X) == Y
    out = frame.assign(predicted=frame_column(frame, tagger.predict(X)))
    assert out["predicted"].equals(frame["label"].rename("predicted"))
    assert read_frame(out.drop(columns="label"), label="predicted")[1] == Y


def test_columns_are_chosen_by_name():
    frame = table().rename(columns={"sentence": "id", "label": "tag"})
    X, y = read_frame(frame, sentence="id", label="tag", columns=["pos"])
    assert (X.names, X.strings(0), y) == (("pos",), POS, Y)
    X, y = read_frame(frame, sentence="id", label=None)
    assert (X.names, y) == (("word", "pos", "tag"), None)


def test_ready_features_find_words_and_parts_of_speech():
    X, y = read_frame(table())
    plain = [list(zip(*cells, strict=True)) for cells in zip(WORDS, POS, strict=True)]
    a = SequenceTagger(C=10, features="chunking").fit(X, y)
    b = SequenceTagger(C=10, features="chunking").fit(columns_from(plain), y)
    assert (a.coef_ == b.coef_).all()


@pytest.mark.parametrize("dtype", ["category", "string", object])
def test_any_kind_of_texts(dtype):
    frame = table().astype({"word": dtype, "sentence": dtype, "label": dtype})
    X, y = read_frame(frame)
    assert (X.strings("word"), y) == (WORDS, Y)


def test_numbers_of_sentences_and_labels():
    frame = table()
    frame["sentence"] = np.repeat([5, 2, 9], [3, 2, 2])
    frame["label"] = np.arange(7)
    X, y = read_frame(frame)
    assert X.strings("word") == WORDS
    assert y == [[0, 1, 2], [3, 4], [5, 6]]
    assert type(y[0][0]) is int
    assert frame_column(frame, y).tolist() == list(range(7))


# frames as sequences -------------------------------------------------------------------


def test_a_list_of_frames_is_a_list_of_sentences():
    X, y = frames(), [pd.Series(row) for row in Y]
    tagger = SequenceTagger(C=10, features=TEMPLATE).fit(X, y)
    same = SequenceTagger(C=10, features=TEMPLATE).fit(read_frame(table())[0], Y)
    assert (tagger.coef_ == same.coef_).all()
    assert tagger.predict(X) == Y
    assert tagger.predict(X[:1]) == Y[:1]
    assert tagger.score(X, y) == tagger.score(tuple(X), Y) == 1.0
    assert "barks" in tagger.report(X, Y).html
    assert "barks" in repr(tagger.show(X[0]))


def test_their_columns_are_features_without_a_template():
    X = frames()
    dicts = [frame.to_dict("records") for frame in X]
    tagger = SequenceTagger(C=10).fit(X, Y)
    same = SequenceTagger(C=10).fit(dicts, Y)
    assert tagger.feature_names_ == same.feature_names_
    assert (tagger.coef_ == same.coef_).all()
    assert tagger.predict(X) == same.predict(dicts) == Y
    assert tagger.predict(X[1:2]) == Y[1:2]
    assert "word=barks" in tagger.report(X, Y).html


def test_frames_of_numbers_stay_tables():
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(len(y), 3)) for y in Y]
    X = [pd.DataFrame(t) for t in tables]
    tagger = SequenceTagger(C=10).fit(X, Y)
    assert (tagger.coef_ == SequenceTagger(C=10).fit(tables, Y).coef_).all()
    assert tagger.feature_names_ is None


# refused -------------------------------------------------------------------------------


def broken(**columns):
    return table().assign(**columns)


UNSORTED = ["a", "a", "b", "a", "b", "c", "c"]


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([1], {}, "frame is of type list: give a pandas.DataFrame"),
        (table().iloc[:0], {}, "the frame has no rows"),
        (table(), {"sentence": "id"}, "no column 'id'; it has sentence, word, pos, label"),
        (table(), {"label": "tag"}, "the frame has no column 'tag'"),
        (table(), {"columns": ["form"]}, "the frame has no column 'form'"),
        (table(), {"columns": []}, "columns=[] must be a list of names"),
        (table(), {"columns": "word"}, "columns='word' must be a list of names"),
        (broken(sentence=UNSORTED), {}, "row 3 is of sentence 'a' again, after others"),
        (broken(word=["a", None, "b", *"cdef"]), {}, "no value in row 1 of column 'word'"),
        (broken(sentence=["a", np.nan, *"bbbbb"]), {}, "ffill()"),
        (broken(label=[np.nan] * 7), {}, "no value in row 0 of column 'label'"),
        (pd.concat([table(), table()[["word"]]], axis=1), {}, "several columns called"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(given, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_frame(given, **options)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (Y[:2], "the frame has 3 sentences, but y has 2 label sequences"),
        ([*Y[:2], ["D"]], "sentence 2 of the frame has 2 tokens, but y[2] has 1 labels"),
        ("DNV", "y must be a list of label sequences"),
    ],
)  # fmt: skip
def test_columns_of_other_frames_are_named(y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        frame_column(table(), y)


@pytest.mark.parametrize("features", [None, TEMPLATE])
def test_frames_that_differ_are_named(features):
    tagger = SequenceTagger(C=10, features=features)
    a, b, c = frames()
    for X, message in (
        ([a, b.rename(columns={"pos": "tag"}), c], "sequence 1 has the columns word, tag"),
        ([a, [["dogs", "n"]], c], "sequence 1 is of type list, but others are data frames"),
        ([a, b.assign(word=None), c], "sequence 1 has no value in row 0 of column 'word'"),
        (a, "X is of type DataFrame, which must be read before"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=re.escape(message)):
            tagger.fit(X, Y)


CELLS = st.text(st.characters(exclude_categories=["Cs"]), max_size=3)
TOKENS = st.lists(st.tuples(CELLS, CELLS), min_size=1, max_size=4)


@given(st.lists(TOKENS, min_size=1, max_size=4), st.data())
def test_any_table_comes_back(sentences, data):
    rows = [(i, *row) for i, tokens in enumerate(sentences) for row in tokens]
    frame = pd.DataFrame(rows, columns=["id", "word", 7])
    X, y = read_frame(frame, sentence="id", label=7)
    assert X.strings("word") == [[word for word, _ in row] for row in sentences]
    assert y == [[label for _, label in row] for row in sentences]
    assert frame_column(frame, y, sentence="id").tolist() == frame[7].tolist()
    order = data.draw(st.permutations(range(len(rows))))
    numbers = [rows[t][0] for t in order]
    torn = sum(a != b for a, b in pairwise(numbers)) + 1 > len(set(numbers))
    mixed = frame.iloc[order]
    if torn:
        with pytest.raises(ValueError, match="again, after others"):
            read_frame(mixed, sentence="id", label=7)
    else:
        assert frame_column(mixed, read_frame(mixed, "id", 7)[1], "id").equals(mixed[7])
