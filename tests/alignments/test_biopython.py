"""Objects of Biopython and pandas in, alignments of Biopython out."""

import re

import numpy as np
import pytest

pytest.importorskip("Bio")
pytest.importorskip("pandas")

import pandas as pd
from Bio import Align, SeqIO
from Bio.Align import Alignment, MultipleSeqAlignment
from Bio.Seq import MutableSeq, Seq
from Bio.SeqRecord import SeqRecord

from maxmargin import HomologFinder, SequenceAligner
from maxmargin.alignments.homologs.invented import make_homologs
from maxmargin.alignments.view import alignment, shown
from maxmargin.files import biopython_alignments, gapped, ungapped

ROWS = [
    ("HEAGAWGHE-E", "P---AW-HEAE"),
    ("GATTAWGHEE", "GA--AWGHEE"),
    ("HEAGATTAW", "HEAG---AW"),
]
TEXTS = [ungapped(*pair)[:2] for pair in ROWS]
PAIRS = [ungapped(*pair)[2] for pair in ROWS]
NUCLEOTIDES = [("acgtACgtta", "acgtgtta"), ("ttacgc", "tacggc")]


@pytest.fixture(scope="module")
def aligner():
    return SequenceAligner(C=100).fit(TEXTS, ROWS)


def record(text, name="r"):
    return SeqRecord(Seq(text), id=name, description="")


def as_alignment(rows):
    lines = [row.encode() for row in rows]
    letters, corners = Alignment.parse_printed_alignment(lines)
    return Alignment([Seq(x) for x in letters], corners)


def as_many(rows):
    return MultipleSeqAlignment([record(row, f"r{k}") for k, row in enumerate(rows)])


@pytest.mark.parametrize("wrap", [Seq, MutableSeq, record, lambda x: {"seq": x}])
def test_sequences_of_biopython_are_their_letters(aligner, wrap):
    X = [(wrap(a), wrap(b)) for a, b in TEXTS]
    if isinstance(X[0][0], dict):
        X = [({"residue": a}, {"residue": b}) for a, b in TEXTS]
    model = SequenceAligner(C=100).fit(X, ROWS)
    assert (model.coef_ == aligner.coef_).all()
    assert model.predict(X) == aligner.predict(TEXTS)
    assert model.score(X, ROWS) == aligner.score(TEXTS, ROWS)


@pytest.mark.parametrize("form", [as_alignment, as_many])
def test_alignments_of_biopython_are_truths_and_pairs_of_sequences(aligner, form):
    y = [form(rows) for rows in ROWS]
    for X in (TEXTS, y):
        model = SequenceAligner(C=100).fit(X, y)
        assert (model.coef_ == aligner.coef_).all()
        assert str(model.evaluate(X, y)) == str(aligner.evaluate(TEXTS, ROWS))
    assert "Q" in model.report(y, y).html


def test_local_alignments_keep_their_place(aligner):
    local = Align.PairwiseAligner(mode="local", match_score=2, mismatch_score=-3)
    found = local.align("HHHGATTAWPP", "EGATTAW")[0]
    model = SequenceAligner(C=10).fit([found], [found])
    same = SequenceAligner(C=10).fit(
        [("HHHGATTAWPP", "EGATTAW")], [[(3 + k, 1 + k) for k in range(6)]]
    )
    assert (model.coef_ == same.coef_).all()


def test_a_frame_of_two_columns_holds_pairs(aligner):
    frame = pd.DataFrame(TEXTS, columns=["target", "template"])
    y = pd.Series(PAIRS, index=[7, 3, 9])
    model = SequenceAligner(C=100).fit(frame, y)
    assert (model.coef_ == aligner.coef_).all()
    assert model.predict(frame) == aligner.predict(TEXTS)
    found = biopython_alignments(frame, PAIRS)
    assert list(map(tuple, found)) == [gapped(*x, p) for x, p in zip(TEXTS, PAIRS)]  # noqa: B905
    wide = frame.assign(name="x")
    with pytest.raises(ValueError, match="sample 0 of X is not a pair"):
        aligner.predict(wide)
    frame.loc[1, "template"] = None
    with pytest.raises(ValueError, match=r"sample 1: the template is (empty|of type)"):
        aligner.predict(frame)


def test_lower_case_nucleotides_stay_as_they_are():
    X = [tuple(map(Seq, pair)) for pair in NUCLEOTIDES]
    y = [[(0, 0), (1, 1), (2, 2), (3, 3)], [(1, 0), (2, 1), (3, 2)]]
    a = SequenceAligner(C=10).fit(X, y)
    b = SequenceAligner(C=10).fit(NUCLEOTIDES, y)
    assert a.alphabet_ == b.alphabet_
    assert (a.coef_ == b.coef_).all()


# given back ---------------------------------------------------------------------------


def test_what_is_given_back_is_read_as_what_was_predicted(aligner):
    y = aligner.predict(TEXTS)
    X = [(record(a, "a"), record(b, "b")) for a, b in TEXTS]
    found = biopython_alignments(X, y)
    for (a, b), pairs, one in zip(TEXTS, y, found, strict=True):
        assert tuple(one) == gapped(a, b, pairs)
        assert [s.id for s in one.sequences] == ["a", "b"]
        assert ">a\n" in format(one, "fasta")
    for forms in (TEXTS, found, [tuple(map(Seq, pair)) for pair in TEXTS]):
        again = biopython_alignments(forms, y)
        assert list(map(tuple, again)) == list(map(tuple, found))
    assert aligner.score(found, found) == 1.0


def test_all_alignments_come_back():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n, m = rng.integers(1, 7, size=2)
        k = rng.integers(0, min(n, m) + 1)
        left = np.sort(rng.choice(n, k, replace=False)).tolist()
        right = np.sort(rng.choice(m, k, replace=False)).tolist()
        pairs = list(zip(left, right, strict=True))
        (one,) = biopython_alignments([("A" * n, "C" * m)], [pairs])
        a, b = one.indices
        both = (a >= 0) & (b >= 0)
        assert list(zip(a[both], b[both], strict=True)) == pairs
        assert sorted(a[a >= 0]) == list(range(n))


def test_views_show_them(aligner):
    one = as_alignment(ROWS[0])
    expected = repr(shown(TEXTS[0], PAIRS[0], PAIRS[0]))
    assert repr(shown(one, PAIRS[0], one)) == expected
    assert repr(aligner.show(one, one)) == repr(aligner.show(TEXTS[0], ROWS[0]))
    assert repr(alignment(Seq("HEAG"), record("HEG"), [(0, 0)])).startswith("HEAG")


# refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (TEXTS[:1], [as_many(["HE-", "H-E", "HEE"])], "of two rows, but it has 3"),
        (
            TEXTS[:1],
            [as_alignment(["HE-", "H-E", "HEE"])],
            "sample 0 of y must be an alignment of two rows, but it has 3: of a larger",
        ),
        ([as_many(["HE"])], ROWS[:1], "sample 0 of X must be an alignment of two rows"),
        (
            [("HEAG", "HEG")],
            [as_alignment(["HEAG", "HEW-"])],
            "sample 0 of y is an Alignment whose second sequence is not that of X",
        ),
        ([("HEAG", "HEG")], [as_many(["HEAG", "HEW-"])], "does not spell its sequence"),
        ([(Seq(None, 5), "HEG")], ROWS[:1], "the target is a Seq of 5 letters that are"),
        ([(SeqRecord(None), "HEG")], ROWS[:1], "the target is a SeqRecord without"),
        ([(Seq(""), "HEG")], [[]], "the target is empty"),
        ([(Seq("HE-G"), "HEG")], ROWS[:1], "has a gap '-' at position 2"),
        ([Seq("HE")], ROWS[:1], "sample 0 of X is not a pair"),
        ([record("HE")], ROWS[:1], "sample 0 of X is not a pair"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_named(X, y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        SequenceAligner().fit(X, y)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (TEXTS, PAIRS[:1], "X has 3 samples, but y has 1"),
        ([("HE", "HE")], [[(0, 5)]], "y[0]: pair 0 is (0, 5), but the sequences have"),
        ([("HE", "HE")], [3], "y[0]: "),
        (["HEG"], [[]], "X[0] is not a pair"),
        ([(["ala", "gly"], ["gly"])], [[]], "X[0] has symbols of several letters"),
    ],
)
def test_what_cannot_be_given_back_is_named(X, y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        biopython_alignments(X, y)


# homologs -----------------------------------------------------------------------------


def test_homologs_as_records(tmp_path):
    X, y = make_homologs(12, random_state=0)
    model = HomologFinder(C=0.1).fit(X, y)
    records = [(record(x), [Seq(z) for z in others]) for x, others in X]
    truths = []
    for (native, others), (number, pairs) in zip(records, y, strict=True):
        pair = (native, others[number])
        truths.append((number, *biopython_alignments([pair], [pairs])))
    same = HomologFinder(C=0.1).fit(records, truths)
    assert (same.substitution_matrix_ == model.substitution_matrix_).all()
    assert same.predict(records).tolist() == model.predict(X).tolist()
    assert same.align(*TEXTS[0]) == same.align(*map(Seq, TEXTS[0]))
    assert X[0][0][:9] in same.report(records, truths).html
    frames = [(x, pd.Series(others)) for x, others in X]
    assert same.predict(frames).tolist() == model.predict(X).tolist()


def test_what_sequence_files_of_biopython_hold(tmp_path, aligner):
    path = tmp_path / "pairs.fasta"
    SeqIO.write([record(x, f"s{k}") for k, x in enumerate(TEXTS[0])], path, "fasta")
    with path.open() as file:
        pair = tuple(SeqIO.parse(file, "fasta"))
    assert aligner.predict([pair]) == aligner.predict(TEXTS[:1])


def test_letters_beyond_ascii_keep_their_place():
    (one,) = biopython_alignments([("a\u00e9b", "\u00e9b")], [[(1, 0), (2, 1)]])
    assert tuple(one) == ("a\u00e9b", "-\u00e9b")
