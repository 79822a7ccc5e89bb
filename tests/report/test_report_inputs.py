"""``model.report`` takes what ``fit`` takes, in whatever it is kept."""

import re

import numpy as np
import pandas as pd
import pytest
from report_cases import GRADES, QUERIES, VECTORS, cases, fitted, unfitted
from scipy import sparse

from maxmargin import KernelSVM, MulticlassSVM, TopKRanker
from maxmargin.kernels import spectrum

TABLES = ("KernelSVM", "MulticlassSVM", "MultilabelSVM", "TaxonomySVM", "TopKRanker")


def frame(X):
    """A DataFrame whose rows have labels that are no places."""
    X = np.asarray(X)
    names = [f"length {k}" for k in range(X.shape[1])]
    return pd.DataFrame(X, columns=names, index=np.arange(len(X)) + 100)


def objects(values):
    out = np.empty(len(values), object)
    out[:] = values
    return out


def series(values):
    return pd.Series(list(values), index=np.arange(len(values)) + 50)


TABLE = {
    "array": np.asarray,
    "list": lambda X: np.asarray(X).tolist(),
    "tuple": lambda X: tuple(map(tuple, np.asarray(X))),
    "csr": sparse.csr_matrix,
    "coo": sparse.coo_matrix,
    "csc": sparse.csc_array,
}
LISTS = {"list": list, "tuple": tuple, "generator": iter, "series": series}


def scores(report):
    return {name: found.value for name, found in report.measures.items()}


@pytest.mark.parametrize("name", cases())
def test_every_kind_of_input(name):
    model, X, y, more = fitted(name)
    expected = scores(model.report(X, y, **more))
    for kind, make in (TABLE if name in TABLES else LISTS).items():
        assert scores(model.report(make(X), y, **more)) == expected, kind


@pytest.mark.parametrize("name", cases())
def test_every_kind_of_output(name):
    model, X, y, more = fitted(name)
    expected = scores(model.report(X, y, **more))
    for kind, make in LISTS.items():
        assert scores(model.report(X, make(y), **more)) == expected, kind


@pytest.mark.parametrize("name", TABLES)
def test_data_frames(name):
    model, X, y = unfitted(name)
    more = {"qid": QUERIES} if name == "TopKRanker" else {}
    expected = scores(model.fit(X, y, **more).report(X, y, **more))
    report = model.fit(frame(X), y, **more).report(frame(X), y, **more)
    assert scores(report) == expected
    if name != "KernelSVM":
        assert "length 0" in report.html
        assert "feature 1" not in report.html


def test_tables_of_labels_in_data_frames():
    model, X, _ = unfitted("MultilabelSVM")
    y = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
    model.set_params(objective="log").fit(X, y)
    for table in (pd.DataFrame(y), sparse.coo_matrix(y)):
        report = model.report(X, table)
        assert scores(report) == scores(model.report(X, y))
        assert 'id="calibration"' in report.html


def test_columns_have_the_names_of_training():
    """Also where the test is an array, or a file has no names."""
    y = np.repeat(["cod", "eel", "ray"], 8)
    model = MulticlassSVM().fit(frame(VECTORS), y)
    with pytest.warns(UserWarning, match="valid feature names"):
        html = model.report(VECTORS, y).html
    assert "<td>length 0</td>" in html
    assert re.search("length [012] = ", html)


def test_columns_without_names_have_numbers_from_one():
    y = np.repeat(["cod", "eel", "ray"], 8)
    html = MulticlassSVM().fit(VECTORS, y).report(VECTORS, y).html
    assert set(re.findall(r'class="chip">(\d+) = ', html)) == {"1", "2", "3"}


def test_only_rows_without_negative_numbers_are_images():
    X = np.random.default_rng(0).normal(size=(24, 16))
    y = np.repeat(["cod", "eel", "ray"], 8)
    for rows, images in ((X, False), (np.abs(X), True)):
        html = MulticlassSVM().fit(rows, y).report(rows, y).html
        assert ("as an image" in html) == images


def test_texts_of_a_kernel():
    texts = ["acac", "caca", "gtgt", "tgtg", "acca", "gttg"]
    y = ["a", "a", "b", "b", "a", "b"]
    model = KernelSVM(kernel=spectrum(2), method="exact").fit(texts, y)
    for given in (texts, objects(texts), series(texts)):
        assert '<p class="text">gtgt</p>' in model.report(given, y).html


def test_queries_beside_and_in_the_table():
    table = frame(VECTORS)
    model = TopKRanker().fit(table, GRADES, qid=QUERIES)
    expected = scores(model.report(table, GRADES, QUERIES))
    found = model.evaluate(table, GRADES, QUERIES).mean_average_precision
    assert expected["MAP"] == pytest.approx(found)
    with_queries = table.assign(qid=QUERIES)
    assert scores(model.report(with_queries, series(GRADES))) == expected
    other = TopKRanker(C=0.01).fit(table, GRADES, qid=QUERIES)
    both = model.report(with_queries, GRADES, against=other)
    assert set(both.differences) == set(expected)
    with pytest.raises(ValueError, match="qid is missing: give the query"):
        model.report(table, GRADES)
    with pytest.raises(ValueError, match="qid has shape"):
        model.report(table, GRADES, QUERIES[:5])


@pytest.mark.parametrize("name", ["KernelSVM", "MulticlassSVM", "SequenceTagger"])
@pytest.mark.parametrize("method", ["temperature", "isotonic"])
def test_calibrated_margins_have_a_reliability_curve(name, method):
    model, X, y = unfitted(name)
    X, y = list(X) * 8, list(y) * 8
    assert 'id="calibration"' not in model.fit(X, y).report(X, y).html
    html = model.calibrate(X, y, method=method).report(X, y).html
    assert 'id="calibration"' in html
    assert ("all of it is right" in html) == (method == "isotonic")


def test_sentence_pairs_as_texts_are_drawn_by_words():
    model, X, y, _ = fitted("WordAligner")
    html = model.report(X, y).html
    assert '<th scope="row">house</th>' in html
    words = [(a.split(), b.split()) for a, b in X]
    assert scores(model.report(words, y)) == scores(model.report(X, y))
    assert model.report([(*pair, np.zeros((3, 3, 0))) for pair in X[:1]], y[:1])
