"""Usual scores that training begins with, and completed references."""

import numpy as np
import pytest
from alignment_cases import enumerate_alignments, random_batch
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import SequenceAligner
from maxmargin.alignments.features import prior as priors
from maxmargin.alignments.features.prior import Prior, make_prior, with_usual_letters
from maxmargin.alignments.features.settings import make_model
from maxmargin.alignments.loops import complete_loops
from maxmargin.alignments.metrics import q_score
from maxmargin.core.decode import decode
from maxmargin.testing import check_solver, check_structure

MODELS = [
    {"model": "simple"},
    {"model": "sum", "gaps": "position"},
    {"model": ["residue/residue", "1/ss"], "gaps": "linear"},
    {"symmetric": True, "alphabet": {"residue": "ab", "ss": "HCE"}},
]
A = "MKVLAAGIVGLCAKAYQLEHPWTRDNF"
B = "MKILASGVGLLCSKAWQEHPYTRENF"


def batch_with_prior(seed, **settings):
    batch, model = random_batch(seed, **settings)
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=model.n_weights)
    prior = Prior(scores, rng.uniform(0.1, 2.0, size=model.n_weights))
    terms = batch.terms._replace(prior=prior.scores, scale=prior.scale)
    return batch._replace(terms=terms), model, prior


@given(
    seed=st.integers(0, 10**6),
    settings=st.sampled_from(MODELS),
    loss=st.sampled_from([0, "hamming"]),
)
def test_structure_with_a_prior_equals_enumeration(seed, settings, loss):
    batch, model, prior = batch_with_prior(seed, loss=loss, **settings)
    size = model.n_weights + 1
    check_structure(batch, size, enumerate_alignments, seed=seed, trials=1)
    w = np.random.default_rng(seed + 1).normal(size=size)
    none = batch.terms._replace(prior=np.zeros(0), scale=np.zeros(0))
    plain = batch._replace(terms=none)
    np.testing.assert_array_equal(decode(batch, w), decode(plain, prior.folded(w)))


def test_solvers_agree_with_a_prior():
    batch, model, _ = batch_with_prior(3, sizes=((4, 5), (3, 3), (5, 4)))
    size = model.n_weights + 1
    best = check_solver(batch, size, solver="block-coordinate", C=5.0)
    check_solver(batch, size, solver="one-slack", C=5.0, reference=best, tol=1e-4)


def test_the_table_is_blosum62():
    matrices = pytest.importorskip("Bio.Align.substitution_matrices")
    theirs = matrices.load("BLOSUM62")
    model = make_model(alphabet=priors.BLOSUM62_LETTERS)
    prior = make_prior(model)
    n = len(priors.BLOSUM62_LETTERS)
    ours = prior.scores[model.terms[0].places(n, n)]
    for i, a in enumerate(priors.BLOSUM62_LETTERS):
        for j, b in enumerate(priors.BLOSUM62_LETTERS):
            assert ours[i, j] == theirs[a, b]


def test_one_example_is_enough_for_letters_that_it_has_not():
    bio = pytest.importorskip("Bio.Align")
    from Bio.Align import substitution_matrices

    usual = bio.PairwiseAligner()
    usual.substitution_matrix = substitution_matrices.load("BLOSUM62")
    usual.open_gap_score, usual.extend_gap_score = -12.0, -1.0
    model = SequenceAligner().fit(
        [("GSHEALKVEE", "GSHELKVEE")], [("GSHEALKVEE", "GSHE-LKVEE")]
    )
    best = usual.align(A, B)[0]
    wanted = [
        (int(i) + k, int(j) + k)
        for (i, end), (j, _) in zip(*best.aligned, strict=True)
        for k in range(end - i)
    ]
    assert q_score(wanted, model.predict([(A, B)])[0]) > 0.9


def test_letters_that_are_usual_belong_to_the_alphabet():
    assert with_usual_letters(["A", "G"]) == ["A", "C", "G", "T"]
    assert with_usual_letters(["A", "U"]) == ["A", "C", "G", "U"]
    assert len(with_usual_letters(["E", "L", "U"])) == 22
    assert with_usual_letters(["a", "ch"]) == ["a", "ch"]
    plain = SequenceAligner(prior=False).fit([("GAT", "GT")], [[(0, 0), (2, 1)]])
    assert plain.alphabet_ == ("A", "G", "T")


def test_symbols_of_any_kind_begin_with_equality():
    X = [(["th", "e", "k"], ["th", "k"])]
    model = SequenceAligner().fit(X, [[(0, 0), (2, 1)]])
    assert model.predict([(["k", "e", "e", "th"], ["k", "th"])])[0] == [(0, 0), (3, 1)]


def test_symmetric_by_itself_where_sides_are_alike():
    assert make_model(alphabet="AC", symmetric="auto").symmetric
    sides = {"residue": {"target": "AC", "template": "ACG"}}
    assert not make_model(alphabet=sides, symmetric="auto").symmetric
    tracks = {"residue": "AC", "ss": "HC"}
    for terms, same in ((["residue/ss"], False), (["residue/ss", "ss/residue"], True)):
        model = make_model(terms, tracks, symmetric="auto")
        assert model.symmetric is same
    assert not make_model("profile", "AC", dense={"p": 2}, symmetric="auto").symmetric
    with pytest.raises(ValueError, match="symmetric='x' is not possible"):
        make_model(alphabet="AC", symmetric="x")


def test_loops_are_completed_by_the_prior():
    model = make_model(alphabet=list(priors.BLOSUM62_LETTERS))
    prior = make_prior(model)
    s, t = [{"residue": "WGAVKW"}], [{"residue": "WAVKDW"}]
    labels = np.array([0, -1, -1, -1, -1, 5], np.int32)

    def completed(labels, free=(0, 0)):
        counts = np.ones(6, bool)
        return complete_loops(model, prior, s, t, labels, counts, free)

    found, counts = completed(labels)
    assert (found[0], found[5]) == (0, 5)
    assert (found[1:5] >= 0).any()
    np.testing.assert_array_equal(counts, (labels >= 0) | (found < 0))
    middle = np.array(
        [-1, -1, 1, -1, -1, -1], np.int32
    )  # open letters at the ends only
    assert (completed(middle)[0][3:] >= 0).any()
    np.testing.assert_array_equal(completed(middle, (1, 1))[0], middle)
    empty = np.full(6, -1, np.int32)
    np.testing.assert_array_equal(completed(empty)[0], empty)


def test_only_forgiving_losses_complete_loops():
    X, y = [("WGAVKW", "WAVKDW")], [[(0, 0), (5, 5)]]
    for settings, expected in (
        ({}, True),
        ({"loss": "hamming"}, False),
        ({"objective": "log"}, False),
        ({"prior": False}, False),
    ):
        batch = SequenceAligner(**settings)._encode(X, y, None).batch
        assert ((batch.y >= 0).sum() > 2) == expected
        assert batch.counted[0] == 2
