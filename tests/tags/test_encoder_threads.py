"""Features of columns are numbered by threads: nothing may depend on how many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import SequenceTagger
from maxmargin.core.vectors import by_frequency
from maxmargin.engine import threads
from maxmargin.tags.features import ColumnEncoder
from maxmargin.tags.features import plan as column_plan
from maxmargin.tags.files.columns import columns_from

TEMPLATE = "U0:%x[0,0]\nU0:%x[1,0]\nU1:%x[-1,0]/%x[0,1]\nU2:%s2[0,0]\nU3:%x[-2,1]\n"
SENTENCES = st.lists(
    st.lists(st.tuples(st.text("ab", min_size=1, max_size=3), st.sampled_from("NV"))),
    min_size=1,
    max_size=12,
).filter(any)


@pytest.fixture(autouse=True, scope="module")
def small_work_is_shared_too():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(column_plan, "LONG", 0)
        patch.setattr(threads, "LONG", 0)
        patch.setattr(threads, "WORTH", 1e-12)
        yield


@settings(max_examples=60, deadline=None)
@given(SENTENCES, SENTENCES, st.integers(1, 2), st.sampled_from([None, 4]))
def test_features_have_the_same_numbers(train, test, min_count, hash_bits):
    found = []
    for n_jobs in (1, 2, 7):
        encoder = ColumnEncoder(TEMPLATE, 1 if hash_bits else min_count, hash_bits)
        try:
            fitted = encoder.fit_encode(columns_from(train), n_jobs)
        except ValueError as error:
            found.append(str(error))
            continue
        new = encoder.encode(columns_from(test), n_jobs)
        arrays = [
            encoder.get_state()[0][name] for name in sorted(encoder.get_state()[0])
        ]
        found.append([a.tolist() for a in (*fitted[:4], *new[:4], *arrays)])
    assert found[1] == found[2] == found[0]


def test_frequent_features_come_first_for_any_number_of_threads(monkeypatch):
    monkeypatch.setattr("maxmargin.core.vectors.LARGE_TABLE", 1)
    data = columns_from([[(w, "N") for w in "abcabca"], [("d", "V"), ("a", "N")]])
    tokens = ColumnEncoder(TEMPLATE).fit_encode(data)
    found = [by_frequency(tokens, 8, n_jobs) for n_jobs in (1, 2, 7)]
    for renumbered, order in found:
        np.testing.assert_array_equal(order[renumbered.indices], tokens.indices)
        np.testing.assert_array_equal(order, found[0][1])
    counts = np.bincount(found[0][0].indices)
    assert (np.diff(counts) <= 0).all()


def test_predictions_are_the_same():
    X = [[(w, t) for w, t in zip("abcd" * k, "NVNV" * k, strict=True)] for k in (1, 3)]
    y = [["x" if w == "a" else "y" for w, _ in row] for row in X]
    tagger = SequenceTagger(features=TEMPLATE, n_jobs=7).fit(X * 9, y * 9)
    found = [tagger.set_params(n_jobs=n).predict(X * 40) for n in (1, 2, 7)]
    assert found[0] == found[1] == found[2] == y * 40
