"""The column encoder against a slow one on strings."""

import json
from collections import Counter

import numpy as np
import pytest
from column_encoder_cases import GAZETTEERS, check_layout, columns_of, line
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from maxmargin.tags.features import ColumnEncoder, parse_template
from maxmargin.tags.features import plan as column_plan
from maxmargin.tags.features.views import values
from maxmargin.tags.files.columns import Column, Columns


def slow_features(template, sentences):
    """The feature strings of every token, made one by one."""
    out = []
    for sentence in sentences:
        for t in range(len(sentence)):
            token = Counter()
            for feature in template.features:
                text = feature.literals[0]
                for part, literal in zip(
                    feature.parts, feature.literals[1:], strict=True
                ):
                    p = t + part.row
                    if 0 <= p < len(sentence):
                        (value,) = values(
                            part.view, [sentence[p][part.column]], GAZETTEERS
                        )
                    elif part.view.is_flag:
                        value = None
                    else:
                        value = f"_B{p}" if p < 0 else f"_B+{p - len(sentence) + 1}"
                    if value is None:
                        break
                    text += value + literal
                else:
                    token[text] += 1
            out.append(token)
    return out


def rows(matrix, names):
    """The feature strings of every token of a matrix."""
    out = []
    for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        token = Counter()
        for k, value in zip(matrix.indices[a:b], matrix.values[a:b], strict=True):
            token[names[k]] += value
        out.append(token)
    return out


word = st.text("abB1", min_size=1, max_size=3)
corpus = st.lists(
    st.lists(st.tuples(word, st.sampled_from("NVb")), max_size=4),
    min_size=1,
    max_size=5,
).filter(any)
template_text = st.lists(line, min_size=1, max_size=6).map("\n".join).map("{}\n".format)


@given(corpus, corpus, template_text, st.integers(1, 2), st.sampled_from([62, 6, 3]))
def test_same_as_slow(train, test, text, min_count, bits):
    template = parse_template(text)
    encoder = ColumnEncoder(template, min_count, gazetteers=GAZETTEERS)
    slow = slow_features(template, train)
    counts = sum(slow, Counter())
    vocabulary = {f for f, n in counts.items() if n >= min_count}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_plan, "_KEY_LIMIT", 2**bits)
        if not vocabulary:
            with pytest.raises(ValueError, match="no feature"):
                encoder.fit_encode(columns_of(train))
            return
        fitted = encoder.fit_encode(columns_of(train))
        names = encoder.feature_names()
        arrays, state = encoder.get_state()
        loaded = ColumnEncoder.from_state(arrays, json.loads(json.dumps(state)))
        assert len(names) == encoder.n_features == fitted.n_features
        assert set(names) == vocabulary
        assert len(set(names)) == len(names)
        assert loaded.feature_names() == names
        for sentences in (train, test):
            encoded = encoder.encode(columns_of(sentences))
            check_layout(encoded)
            expected = [
                Counter({f: n for f, n in token.items() if f in vocabulary})
                for token in slow_features(template, sentences)
            ]
            assert rows(encoded, names) == expected
            again = loaded.encode(columns_of(sentences))
            for one, other in zip(encoded, again, strict=True):
                np.testing.assert_array_equal(one, other)
            if sentences is train:
                for one, other in zip(encoded, fitted, strict=True):
                    np.testing.assert_array_equal(one, other)


def test_lines_without_a_number_are_a_bag_of_words():
    data = columns_of([[("a", "b"), ("b", "a")]])
    encoder = ColumnEncoder("U:%x[-1,0]\nU:%x[0,0]\nU:%x[0,1]\nU1:%x[0,0]")
    matrix = encoder.fit_encode(data)
    assert sorted(encoder.feature_names()) == ["U1:a", "U1:b", "U:_B-1", "U:a", "U:b"]
    assert rows(matrix, encoder.feature_names()) == [
        {"U:_B-1": 1, "U:a": 1, "U:b": 1, "U1:a": 1},
        {"U:a": 2, "U:b": 1, "U1:b": 1},
    ]


def test_values_are_compared_one_by_one():
    # the strings of these two features are the same, the features are not
    data = columns_of([[("a/b", "c"), ("a", "b/c")]])
    matrix = ColumnEncoder("U:%x[0,0]/%x[0,1]").fit_encode(data)
    assert matrix.indices.tolist() == [0, 1]


def test_all_regular_when_nothing_is_dropped():
    data = columns_of([[("a", "N"), ("b", "V")], [], [("a", "N")]])
    matrix = ColumnEncoder("chunking").fit_encode(data)
    assert matrix.indptr.tolist() == [0, 19, 38, 57]
    assert matrix.start.tolist() == [0, 2, 2, 3]
    assert (matrix.values == 1).all()


def test_only_words_that_occur_count():
    whole = columns_of([[("a",), ("b",), ("c",)]])
    part = Columns(
        np.array([0, 1]),
        [Column(np.array([1], np.int32), whole.columns[0].words)],
        np.array([2]),
        "",
    )
    encoder = ColumnEncoder("U:%x[0,0]\n")
    encoder.fit_encode(part)
    assert encoder.feature_names() == ["U:b"]
    assert encoder.get_state()[0]["values0.text"].tobytes() == b"b"


def test_refitting_and_failed_fits():
    encoder = ColumnEncoder("ner", min_count=2)
    with pytest.raises(NotFittedError, match="not fitted"):
        encoder.encode(columns_of([[("a",)]]))
    encoder.fit_encode(columns_of([[("a",)] * 3]))
    names = encoder.feature_names()
    with pytest.raises(ValueError, match="seen 2 times"):
        encoder.fit_encode(columns_of([[("x", "y")]]))
    assert encoder.feature_names() == names
    encoder.fit_encode(columns_of([[("b", "N")] * 3]))
    assert "U37:N" in encoder.feature_names()


# Hashing ------------------------------------------------------------------------------


def test_hashing_does_not_depend_on_the_file():
    train = [[("a", "N"), ("b", "V")], [("b", "N"), ("ccc", "N"), ("a", "V")]]
    encoder = ColumnEncoder("chunking", hash_bits=18)
    matrix = encoder.fit_encode(columns_of(train))
    check_layout(matrix)
    assert matrix.n_features == encoder.n_features == 2**18
    turned = ColumnEncoder("chunking", hash_bits=18).fit_encode(columns_of(train[::-1]))
    by_token = matrix.indices.reshape(5, 19)
    np.testing.assert_array_equal(
        by_token[[2, 3, 4, 0, 1]], turned.indices.reshape(5, 19)
    )
    # no collisions here: as many numbers as features
    exact = ColumnEncoder("chunking")
    exact.fit_encode(columns_of(train))
    assert len(np.unique(by_token)) == exact.n_features
    # words never seen have features too, and a loaded encoder gives the same
    new = columns_of([[("zz", "N"), ("a", "X")]])
    arrays, state = encoder.get_state()
    assert arrays == {}
    loaded = ColumnEncoder.from_state(arrays, state)
    assert len(encoder.encode(new).indices) == 38
    np.testing.assert_array_equal(
        encoder.encode(new).indices, loaded.encode(new).indices
    )


def test_hashes_are_the_same_everywhere():
    data = columns_of([[("the", "DT"), ("é", "NN")]])
    matrix = ColumnEncoder(
        "U1:%x[0,0]/%x[1,1]\nU2:%s2[0,0]\nU3\n", hash_bits=30
    ).fit_encode(data)
    assert matrix.indptr.tolist() == [0, 3, 5]  # é has no suffix of two
    assert matrix.indices.tolist() == [
        830521541,
        637730142,
        580682040,
        571079827,
        580682040,
    ]


def test_few_hash_bits_make_collisions_that_add_up():
    data = columns_of([[(w, "N") for w in "abcdefgh"]])
    matrix = ColumnEncoder("chunking", hash_bits=1).fit_encode(data)
    assert len(matrix.indices) == 8 * 19
    assert set(matrix.indices.tolist()) == {0, 1}


# Dense --------------------------------------------------------------------------------


def test_word_vectors():
    vectors = {"a": [1.0, 0.5], "zz": np.array([0.0, -2.0], np.float32)}
    tags = {"N": [3]}
    encoder = ColumnEncoder("U:%x[0,0]\n", dense={1: tags, 0: vectors})
    matrix = encoder.fit_encode(columns_of([[("a", "N"), ("b", "V")], [("a", "V")]]))
    check_layout(matrix)
    names = ["U:a", "U:b", "dense1:0", "dense0:0", "dense0:1"]
    assert encoder.feature_names() == names
    assert matrix.indptr.tolist() == [0, 4, 5, 8]
    assert matrix.indices.tolist() == [0, 2, 3, 4, 1, 0, 3, 4]
    assert matrix.values.tolist() == [1, 3, 1, 0.5, 1, 1, 1, 0.5]
    new = columns_of([[("zz", "V"), ("q", "V")]])
    arrays, state = encoder.get_state()
    for one in (encoder, ColumnEncoder.from_state(arrays, state)):
        matrix = one.encode(new)
        assert matrix.indptr.tolist() == [0, 2, 2]
        assert matrix.indices.tolist() == [3, 4]
        assert matrix.values.tolist() == [0, -2]
        assert one.feature_names() == names


# Refusals -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"min_count": 0}, "min_count=0 must be from 1"),
        ({"min_count": 1.5}, "min_count=1.5 must be a whole number"),
        ({"hash_bits": 31}, "from 1 to 30"),
        ({"hash_bits": True}, "whole number"),
        ({"hash_bits": 8, "min_count": 2}, "give one of the two"),
        ({"gazetteers": [1]}, "gazetteers must be a dict"),
        ({"gazetteers": {"g": 3}}, "a set of strings"),
        ({"gazetteers": {"g": [3]}}, "has 3, not a string"),
        ({"gazetteers": {3: {"a"}}}, "must be a string"),
        ({"gazetteers": {"g": "no-such-file"}}, "no-such-file"),
        ({"dense": {"0": {}}}, "must be the number of a column"),
        ({"dense": {-1: {}}}, "0 or more"),
        ({"dense": {0: {}}}, "has no vectors"),
        ({"dense": {0: [1]}}, "must be a dict of words"),
        ({"dense": {0: {"a": [[1]]}}}, "['a'] must be a 1-D array"),
        ({"dense": {0: {"a": ["x"]}}}, "['a'] must be a 1-D array"),
        ({"dense": {0: {"a": [1], "b": [1, 2]}}}, "['b'] has length 2"),
        ({"dense": {0: {"a": [np.nan]}}}, "not finite"),
        ({"dense": {0: {"a": [1e30]}}}, "too large"),
        ({"dense": {0: {3: [1]}}}, "must be a string"),
    ],
)
def test_settings_that_are_refused(options, part):
    with pytest.raises(ValueError, match=r"\w") as caught:
        ColumnEncoder("words", **options)
    assert part in str(caught.value)


def test_data_that_are_refused():
    good = columns_of([[("a", "N"), ("b", "V")]], "train.txt")
    ids, words = good.columns[0]
    bad = [
        ("words", [["a"]], "expected Columns"),
        ("words", good._replace(start=np.array([0.0, 2.0])), "train.txt: start"),
        ("words", good._replace(start=np.array([0, 3, 2])), "never fall"),
        ("words", good._replace(start=np.array([1, 2])), "begin with 0"),
        ("words", good._replace(start=np.array([0, 3])), "has 2 tokens, but start"),
        ("words", good._replace(columns=[Column(ids + 1, words)]), "from 0 to 1"),
        ("words", good._replace(columns=[Column(ids - 1, words)]), "from 0 to 1"),
        ("words", good._replace(columns=[Column(ids * 1.0, words)]), "whole numbers"),
        ("words", good._replace(columns=[]), "needs data with a column"),
        ("U1:%x[0,2]", good, "line 1: U1 reads column 2, but the data have 2 columns"),
        ("U1:%g[0,0,city]", good, "gazetteer 'city'"),
    ]
    for template, data, part in bad:
        with pytest.raises(ValueError, match=r"\w") as caught:
            ColumnEncoder(template).fit_encode(data)
        assert part in str(caught.value)
    with pytest.raises(ValueError, match="no tokens"):
        ColumnEncoder("words").fit_encode(
            Columns(np.array([0]), [Column(ids[:0], [])], ids[:0], "")
        )
    with pytest.raises(ValueError, match="column 2, but the data have 2"):
        ColumnEncoder("words", dense={2: {"a": [1]}}).fit_encode(good)
    encoder = ColumnEncoder("chunking")
    encoder.fit_encode(good)
    with pytest.raises(ValueError, match="only column 0"):
        encoder.encode(good._replace(columns=good.columns[:1]))


def test_no_tokens_to_encode():
    encoder = ColumnEncoder("words")
    encoder.fit_encode(columns_of([[("a",)]]))
    none = Columns(
        np.array([0, 0]), [Column(np.zeros(0, np.int32), [])], np.zeros(0), ""
    )
    matrix = encoder.encode(none)
    check_layout(matrix)
    assert matrix.indptr.tolist() == [0]


def test_gazetteers_from_files_are_saved(tmp_path):
    path = tmp_path / "cities.txt"
    path.write_text("Oslo\n\n  Rome \n", encoding="utf-8")
    text = "U1:%g[0,0,city]\nU2:%x[0,0]\n"
    encoder = ColumnEncoder(text, gazetteers={"city": path, "unused": {"x"}})
    encoder.fit_encode(columns_of([[("Oslo",), ("is",)]]))
    path.unlink()
    loaded = ColumnEncoder.from_state(*encoder.get_state())
    matrix = loaded.encode(columns_of([[("Rome",), ("was",), ("is",)]]))
    assert rows(matrix, loaded.feature_names()) == [{"U1:city": 1}, {}, {"U2:is": 1}]
