"""Scores of label sequences: against conlleval's printed results and slow references."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.metrics import (
    Counts,
    SpanReport,
    TokenReport,
    confusion,
    scores,
    sequence_accuracy,
    span_scores,
    token_accuracy,
    token_scores,
)
from maxmargin.tags.schemes import spans

TAGS = ["O", "B-X", "I-X", "B-Y", "I-Y", "E-Y", "S-X"]


def rows(*lines):
    return [line.split() for line in lines]


# conlleval ---------------------------------------------------------------------------


def test_layout_is_that_of_conlleval():
    """The output that the page of the CoNLL-2000 shared task shows."""
    types = {
        "ADJP": Counts(6, 1, 0),
        "ADVP": Counts(8, 11, 5),
        "NP": Counts(262, 317, 206),
        "PP": Counts(90, 107, 89),
        "SBAR": Counts(6, 3, 2),
        "VP": Counts(87, 100, 69),
    }
    tokens = TokenReport(961, 838, 40, 10)
    assert str(SpanReport(Counts(459, 539, 371), types, tokens)) == (
        "processed 961 tokens with 459 phrases; found: 539 phrases; correct: 371.\n"
        "accuracy:  87.20%; precision:  68.83%; recall:  80.83%; FB1:  74.35\n"
        "             ADJP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n"
        "             ADVP: precision:  45.45%; recall:  62.50%; FB1:  52.63  11\n"
        "               NP: precision:  64.98%; recall:  78.63%; FB1:  71.16  317\n"
        "               PP: precision:  83.18%; recall:  98.89%; FB1:  90.36  107\n"
        "             SBAR: precision:  66.67%; recall:  33.33%; FB1:  44.44  3\n"
        "               VP: precision:  69.00%; recall:  79.31%; FB1:  73.80  100"
    )


def test_a_small_case_counted_by_hand():
    truth = rows("B-PER I-PER O B-LOC", "O B-ORG I-ORG", "B-LOC O")
    # found: PER right, LOC as ORG; ORG one short; I-LOC after O opens a span
    guess = rows("B-PER I-PER O B-ORG", "O B-ORG O", "B-LOC I-LOC")
    report = span_scores(truth, guess)
    assert report.overall == Counts(truth=4, predicted=4, correct=1)
    assert report.types == {
        "LOC": Counts(2, 1, 0),
        "ORG": Counts(1, 2, 0),
        "PER": Counts(1, 1, 1),
    }
    assert (report.precision, report.recall, report.f1) == (0.25, 0.25, 0.25)
    assert report.token_accuracy == 6 / 9
    assert report.sequence_accuracy == 0
    assert str(report) == (
        "processed 9 tokens with 4 phrases; found: 4 phrases; correct: 1.\n"
        "accuracy:  66.67%; precision:  25.00%; recall:  25.00%; FB1:  25.00\n"
        "              LOC: precision:   0.00%; recall:   0.00%; FB1:   0.00  1\n"
        "              ORG: precision:   0.00%; recall:   0.00%; FB1:   0.00  2\n"
        "              PER: precision: 100.00%; recall: 100.00%; FB1: 100.00  1"
    )


def test_predicted_labels_that_break_the_scheme():
    """I- after O or another type opens a span, as in conlleval."""
    truth = rows("O B-X I-X", "B-X B-Y", "B-X I-X")
    guess = rows("O I-X I-X", "I-X I-Y", "B-X I-Y")
    report = span_scores(truth, guess)
    assert report.overall == Counts(4, 5, 3)


def test_nothing_to_count():
    report = span_scores([], [])
    assert (report.precision, report.recall, report.f1) == (0, 0, 0)
    assert report.token_accuracy == report.sequence_accuracy == 1
    assert (
        str(report)
        == "processed 0 tokens with 0 phrases; found: 0 phrases; correct: 0."
    )
    assert span_scores([[]], [[]]).sequence_accuracy == 1
    report = span_scores([["O"]], [["O"]])
    assert report.f1 == 0
    assert "accuracy: 100.00%; precision:   0.00%; recall:   0.00%" in str(report)


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from(TAGS), st.sampled_from(TAGS)), max_size=8),
        max_size=5,
    )
)
def test_scores_are_those_of_the_definition(pairs):
    truth = [[a for a, _ in row] for row in pairs]
    guess = [[b for _, b in row] for row in pairs]
    there = {(i, *span) for i, row in enumerate(truth) for span in spans(row)}
    found = {(i, *span) for i, row in enumerate(guess) for span in spans(row)}
    report = span_scores(truth, guess)
    assert report.overall == (len(there), len(found), len(there & found))
    assert set(report.types) == {span[-1] for span in there | found}
    for kind, counts in report.types.items():
        assert counts == tuple(
            sum(span[-1] == kind for span in some)
            for some in (there, found, there & found)
        )
        p, r = counts.precision, counts.recall
        assert counts.f1 == pytest.approx(2 * p * r / (p + r) if p + r else 0)
    flat = [pair for row in pairs for pair in row]
    right = sum(a == b for a, b in flat)
    assert report.token_accuracy == (right / len(flat) if flat else 1)
    assert report.token_accuracy == token_accuracy(truth, guess)
    same = sum(a == b for a, b in zip(truth, guess, strict=True))
    assert sequence_accuracy(truth, guess) == (same / len(pairs) if pairs else 1)
    labels, table = confusion(truth, guess)
    assert labels == sorted({z for pair in flat for z in pair})
    for i, a in enumerate(labels):
        assert table[i].tolist() == [flat.count((a, b)) for b in labels]


def test_schemes_are_checked():
    truth, guess = rows("B-X E-X", "O"), rows("B-X E-X", "S-X")
    assert span_scores(truth, guess, "BIOES").overall == (1, 2, 1)
    with pytest.raises(ValueError, match=r"truth\[0\]: label 'E-X' does not fit.*BIO,"):
        span_scores(truth, guess, "BIO")
    with pytest.raises(ValueError, match=r"predicted\[1\]: label 'NN'.*token_scores"):
        span_scores(truth, rows("B-X E-X", "NN"))


def test_a_test_set_is_scored_quickly(data_home):
    import gzip

    from maxmargin.files import data_file

    with gzip.open(data_file("conll2000/test.txt.gz"), "rt") as file:
        blocks = file.read().strip().split("\n\n")
    truth = [[line.split()[-1] for line in block.splitlines()] for block in blocks]
    rng = np.random.default_rng(0)
    labels = sorted({z for row in truth for z in row})
    guess = [
        [rng.choice(labels) if rng.random() < 0.05 else z for z in row] for row in truth
    ]
    assert str(span_scores(truth, truth)).startswith(
        "processed 47377 tokens with 23852 phrases; found: 23852 phrases; "
        "correct: 23852.\naccuracy: 100.00%; precision: 100.00%; recall: 100.00%; "
        "FB1: 100.00\n"
    )
    began = time.process_time()
    report = span_scores(truth, guess)
    assert time.process_time() - began < 0.5  # a fifth of it on an idle machine
    assert 0.8 < report.f1 < 0.95


# tokens ------------------------------------------------------------------------------


def test_token_report():
    truth, guess = rows("D N V", "N V"), rows("D N N", "N V")
    report = token_scores(truth, guess)
    assert report.token_accuracy == 0.8
    assert report.sequence_accuracy == 0.5
    assert report.labels == {
        "D": Counts(1, 1, 1),
        "N": Counts(2, 3, 2),
        "V": Counts(2, 1, 1),
    }
    assert str(report) == (
        "processed 5 tokens in 2 sequences; correct: 4 tokens, 1 sequences.\n"
        "accuracy:  80.00%; sequence accuracy:  50.00%\n"
        "                D: precision: 100.00%; recall: 100.00%; FB1: 100.00  1\n"
        "                N: precision:  66.67%; recall: 100.00%; FB1:  80.00  3\n"
        "                V: precision: 100.00%; recall:  50.00%; FB1:  66.67  1"
    )


def test_the_report_fits_the_labels():
    assert isinstance(scores(rows("B-X O"), rows("B-X O")), SpanReport)
    assert isinstance(scores(rows("N V"), rows("N V")), TokenReport)
    assert isinstance(scores(rows("B-X O"), rows("B-X N")), TokenReport)
    assert isinstance(scores(rows("B-X O"), rows("B-X O"), scheme=None), TokenReport)
    assert isinstance(scores([[1, 2]], [[1, 1]]), TokenReport)
    with pytest.raises(ValueError, match="does not fit the scheme BIO"):
        scores(rows("N V"), rows("N V"), scheme="BIO")


def test_arrays_and_integers():
    truth = [np.array([3, 1]), np.array([], int)]
    labels, table = confusion(truth, [[3, 3], []])
    assert labels == [1, 3]
    assert table.tolist() == [[0, 1], [0, 1]]
    assert token_accuracy(np.array([["B-X", "O"]]), [["B-X", "B-X"]]) == 0.5
    assert span_scores(np.array([["B-X", "O"]]), (("B-X", "O"),)).f1 == 1
    assert confusion([["a", 1]], [["a", "a"]])[0] == [1, "a"]


# bad input ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "score",
    [span_scores, token_scores, scores, token_accuracy, sequence_accuracy, confusion],
)
@pytest.mark.parametrize(
    ("truth", "guess", "message"),
    [
        ([["O"]], [], "truth has 1 sequences, but predicted has 0"),
        (
            [["O"], ["O", "O"]],
            [["O"], ["O"]],
            r"truth\[1\] has 2 labels.*predicted\[1\]",
        ),
        ("O", [["O"]], "truth is 'O'"),
        ([["O"]], None, "predicted is None"),
        (["O"], [["O"]], r"truth\[0\] is 'O', not a sequence"),
        ([["O"]], [3], r"predicted\[0\] is 3"),
        ([["O"]], [[["O"]]], r"predicted\[0\] holds lists"),
    ],
)
def test_bad_input(score, truth, guess, message):
    with pytest.raises(ValueError, match=message):
        score(truth, guess)
