"""Data sets of Hugging Face: columns in, predictions out."""

import re

import numpy as np
import pytest

pytest.importorskip("datasets")

from datasets import ClassLabel, Dataset, DatasetDict, Features, Value
from datasets import Sequence as ListOf
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.pipeline import make_pipeline

from maxmargin import MulticlassSVM, SequenceTagger
from maxmargin.files import dataset_column, read_dataset

WORDS = [["Ada", "lives", "here"], ["New", "York", "is", "large"], ["nobody"]]
POS = [["N", "V", "A"], ["N", "N", "V", "A"], ["N"]]
NAMES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]
TAGS = [["B-PER", "O", "O"], ["B-LOC", "I-LOC", "O", "O"], ["O"]]
NUMBERS = [[NAMES.index(z) for z in row] for row in TAGS]
TEXTS = ["good film", "bad film", "good book"]


@pytest.fixture(scope="module")
def data():
    columns = {
        "tokens": (WORDS, ListOf(Value("string"))),
        "pos": (POS, ListOf(Value("string"))),
        "ner_tags": (NUMBERS, ListOf(ClassLabel(names=NAMES))),
        "text": (TEXTS, Value("string")),
        "label": ([1, 0, 1], ClassLabel(names=["neg", "pos"])),
        "stars": ([5, 1, 4], Value("int64")),
    }
    return Dataset.from_dict(
        {name: values for name, (values, _) in columns.items()},
        features=Features({name: kind for name, (_, kind) in columns.items()}),
    )


def test_tokens_and_tags(data):
    X, y = read_dataset(data, "tokens", "ner_tags")
    assert y == TAGS
    assert X[2] == [("nobody",)]
    X, y = read_dataset(data, ["tokens", "pos"], "ner_tags")
    assert X[0] == [("Ada", "N"), ("lives", "V"), ("here", "A")]
    tagger = SequenceTagger(C=10, features="ner").fit(X, y)
    found = tagger.predict(X)
    assert found == TAGS
    column = dataset_column(data, found, "ner_tags")
    assert column == NUMBERS
    more = data.add_column("predicted", column, feature=data.features["ner_tags"])
    assert read_dataset(more, "tokens", "predicted")[1] == TAGS
    assert data.add_column("plain", found)[0]["plain"] == TAGS[0]


def test_texts_and_classes(data):
    X, y = read_dataset(data)
    assert (X, y) == (TEXTS, ["pos", "neg", "pos"])
    model = make_pipeline(CountVectorizer(), MulticlassSVM(C=10)).fit(X, y)
    found = model.predict(X)
    assert dataset_column(data, found) == [1, 0, 1]
    assert dataset_column(data, np.array([5, 1, 4]), "stars") == [5, 1, 4]
    assert read_dataset(data, "stars", None) == ([5, 1, 4], None)


def test_streams_of_rows(data):
    stream = data.to_iterable_dataset()
    expected = read_dataset(data, "tokens", "ner_tags")
    assert read_dataset(stream, "tokens", "ner_tags") == expected
    assert dataset_column(stream, TAGS, "ner_tags") == NUMBERS


def test_hidden_labels_are_not_known(data):
    hidden = data.remove_columns("label").add_column(
        "label", [-1, -1, -1], feature=data.features["label"]
    )
    assert read_dataset(hidden)[1] == [None] * 3
    assert dataset_column(data, [None, "neg", "pos"]) == [-1, 0, 1]


@pytest.mark.parametrize(
    ("inputs", "labels", "message"),
    [
        ("words", "label", "no column 'words'; it has tokens, pos, ner_tags"),
        ("text", "class", "the data set has no column 'class'"),
        (["text", "stars"], "label", "must hold lists of tokens, but 'text' does not"),
        ([], "label", "inputs is empty: name a column"),
        (
            ["tokens", "text"],
            None,
            "row 0 of the data set: column 'text' is of type str",
        ),
    ],
)
def test_what_cannot_be_read_is_named(data, inputs, labels, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_dataset(data, inputs, labels)


def test_damaged_rows_are_named(data):
    for cells, message in (
        (
            [["a"], ["b"], ["c"]],
            "row 0 of the data set: 'tokens' has 3 tokens, but 'm'",
        ),
        (
            [[None, "a", "b"], ["b"] * 4, ["c"]],
            "row 0 of the data set: token 0 of 'm' is",
        ),
    ):
        more = data.add_column("m", cells)
        with pytest.raises(ValueError, match=re.escape(message)):
            read_dataset(more, ["tokens", "m"], "ner_tags")
    more = data.add_column("tags", [[0] * 3, [0] * 5, [0]])
    with pytest.raises(
        ValueError, match=r"row 1 .*: 'tokens' has 4 tokens, but 'tags' has 5"
    ):
        read_dataset(more, "tokens", "tags")
    with pytest.raises(ValueError, match="no rows"):
        read_dataset(data.select([]))


@pytest.mark.parametrize(
    ("y", "labels", "message"),
    [
        (TAGS[:2], "ner_tags", "the data set has 3 rows, but y has 2"),
        ([["X"], ["O"], ["O"]], "ner_tags", "y holds 'X', which is no label of column"),
        (TAGS, "class", "the data set has no column 'class'"),
    ],
)
def test_what_does_not_fit_is_named(data, y, labels, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        dataset_column(data, y, labels)


def test_other_objects_are_named(data):
    with pytest.raises(
        ValueError, match=r"DatasetDict with train: choose one.*'train'"
    ):
        read_dataset(DatasetDict({"train": data}))
    with pytest.raises(ValueError, match="of type list without features"):
        read_dataset([{"text": "a"}])
    with pytest.raises(ValueError, match="X is of type Dataset, which must be read"):
        SequenceTagger().fit(data, TAGS)
