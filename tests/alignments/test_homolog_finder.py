"""HomologFinder, its data generator and its log-odds baseline."""

import doctest
import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from maxmargin import HomologFinder, load, save
from maxmargin.alignments.export import scoring_of
from maxmargin.alignments.homologs import estimator as homolog_module
from maxmargin.alignments.homologs import invented as homolog_data
from maxmargin.alignments.homologs.invented import AMINO_ACIDS, make_homologs
from maxmargin.alignments.homologs.log_odds import LogOddsFinder, log_odds
from maxmargin.files import gapped


@pytest.fixture(scope="module")
def homologs():
    return make_homologs(15, n_decoys=5, random_state=0)


@pytest.fixture(scope="module")
def finder(homologs):
    return HomologFinder(C=0.1).fit(*homologs)


def test_docstrings_run():
    assert doctest.testmod(homolog_module).failed == 0
    assert doctest.testmod(homolog_data).failed == 0


# the generator -----------------------------------------------------------------------


@given(st.integers(0, 10**6), st.sampled_from(["random", "homologs"]))
def test_homologs_are_what_their_alignments_say(seed, decoys):
    X, y = make_homologs(
        3, 2, length=12, operations=8, decoys=decoys, alphabet="ACGT", random_state=seed
    )
    for (native, candidates), (homolog, pairs) in zip(X, y, strict=True):
        assert {len(native), *map(len, candidates)} == {12}
        assert len(candidates) == 3
        gapped(native, candidates[homolog], pairs)  # checks that they are an alignment
        assert 1 <= len(pairs) <= 8
        for p, q in pairs:
            step = "ACGT".index(candidates[homolog][q]) - "ACGT".index(native[p])
            assert step % 4 in (0, 1)  # a copy or the next letter


def test_rates_are_obeyed():
    X, y = make_homologs(400, 1, random_state=1)
    copies = matched = 0
    for (native, candidates), (homolog, pairs) in zip(X, y, strict=True):
        copies += sum(native[p] == candidates[homolog][q] for p, q in pairs)
        matched += len(pairs)
    assert matched / (400 * 30) == pytest.approx(0.6, abs=0.02)
    assert copies / matched == pytest.approx(1 / 3, abs=0.02)
    assert make_homologs(3, random_state=5) == make_homologs(3, random_state=5)
    assert make_homologs(3, random_state=5) != make_homologs(3, random_state=6)


def test_a_table_of_substitutions():
    table = np.zeros((2, 2))
    table[:, 0] = 1.0
    X, y = make_homologs(
        5, 1, match=0, substitution=1, insertion=0, deletion=0, alphabet="AB",
        substitutions=table, random_state=0,
    )  # fmt: skip
    for (_, candidates), (homolog, pairs) in zip(X, y, strict=True):
        assert {candidates[homolog][q] for _, q in pairs} == {"A"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n_samples": 0}, "n_samples=0 is not possible"),
        ({"n_decoys": 1.5}, "n_decoys=1.5 is not possible"),
        ({"operations": 51}, "there are only 50 letters"),
        ({"match": 0.5}, "add up to 1"),
        ({"match": -0.2, "deletion": 0.6}, "zero or more"),
        ({"match": 0, "substitution": 0, "deletion": 0.8}, "both are 0"),
        ({"decoys": "other"}, "decoys='other' is not known"),
        ({"alphabet": "AA"}, "all different"),
        ({"substitutions": np.eye(3)}, "20 rows and columns"),
        ({"substitutions": np.eye(20) / 2}, "row 0 of substitutions adds up to 0.5"),
    ],
)
def test_impossible_data(options, said):
    with pytest.raises(ValueError, match=said):
        make_homologs(**options)


# learning ----------------------------------------------------------------------------


def test_finds_homologs(homologs, finder):
    assert finder.score(*homologs) == 1.0
    test = make_homologs(60, n_decoys=5, random_state=1)
    assert finder.score(*test) > 0.75  # 1 in 6 by chance
    proof = finder.certificate_
    assert finder.converged_
    assert proof.relative_gap <= finder.tol
    assert finder.alphabet_ == AMINO_ACIDS
    assert finder.gap_open_ == 0.0
    assert finder.n_constraints_ is None


def test_scores_alignments_and_predictions_agree(homologs, finder):
    X = homologs.X
    scores = finder.decision_function(X)
    assert finder.predict(X).tolist() == [s.argmax() for s in scores]
    for (native, candidates), row in itertools.islice(zip(X, scores, strict=True), 5):
        for candidate, score in zip(candidates, row, strict=True):
            pairs = finder.align(native, candidate)
            gapped(native, candidate, pairs)
            assert score_of(finder, native, candidate, pairs) == pytest.approx(score)


def score_of(finder, x, z, pairs):
    at = finder.alphabet_.index
    total = sum(finder.substitution_matrix_[at(x[p]), at(z[q])] for p, q in pairs)
    for (p, q), (u, v) in itertools.pairwise(pairs):
        for run in (u - p - 1, v - q - 1):
            total += run * finder.gap_extend_ + (run > 0) * finder.gap_open_
    return total


def test_the_objective_is_the_papers(homologs, finder):
    """1/2 |w|^2 + C sum_i max(0, 1 + best decoy - given alignment of the homolog)."""
    X, y = homologs
    total = 0.0
    for (native, candidates), (homolog, pairs), scores in zip(
        X, y, finder.decision_function(X), strict=True
    ):
        own = score_of(finder, native, candidates[homolog], pairs)
        total += max(0.0, 1.0 + np.delete(scores, homolog).max() - own)
    squared = np.sum(finder.substitution_matrix_**2) + finder.gap_extend_**2
    primal = 0.5 * squared + finder.C * total
    assert finder.certificate_.primal == pytest.approx(primal, rel=1e-5)


def test_affine_gaps_and_counting(homologs):
    model = HomologFinder(C=0.1, gaps="affine", solver="n-slack", tol=0.1)
    model.fit(*homologs)
    assert model.gap_open_ != 0.0
    assert model.score(*homologs) == 1.0
    # every sample has some constraints, and no more than one per round
    assert len(homologs.X) <= model.n_constraints_
    assert model.n_constraints_ <= 3 * model.n_iter_ * len(homologs.X)
    assert not hasattr(model, "_counting")
    first = [s[0] for s in model.decision_function(homologs.X)]
    (native, candidates), pairs = homologs.X[0], None
    pairs = model.align(native, candidates[0])
    assert score_of(model, native, candidates[0], pairs) == pytest.approx(first[0])


def test_rows_with_gaps_and_weights(homologs):
    X, y = homologs
    rows = [
        (h, gapped(native, candidates[h], pairs))
        for (native, candidates), (h, pairs) in zip(X, y, strict=True)
    ]
    once = HomologFinder(C=0.1, tol=0.1).fit(X, y)
    again = HomologFinder(C=0.1, tol=0.1).fit(X, rows)
    assert np.array_equal(once.substitution_matrix_, again.substitution_matrix_)
    weights = [1.0] + [0.0] * (len(X) - 1)
    alone = HomologFinder(C=0.1, tol=0.02, alphabet=AMINO_ACIDS).fit(X, y, weights)
    first = HomologFinder(C=0.1, tol=0.02, alphabet=AMINO_ACIDS).fit(X[:1], y[:1])
    assert alone.certificate_.primal == pytest.approx(
        first.certificate_.primal, rel=0.03
    )


def test_path_and_warm_start(homologs):
    models = HomologFinder(tol=0.1, solver="n-slack").path(*homologs, [0.01, 0.1])
    assert [m.C for m in models] == [0.01, 0.1]
    assert all(m.converged_ and m.n_constraints_ > 0 for m in models)
    warm = HomologFinder(C=0.01, tol=0.1, warm_start=True).fit(*homologs)
    before = warm.certificate_.primal
    warm.set_params(C=0.02).fit(*homologs)
    assert warm.certificate_.primal > before


def test_scikit_learn_conventions(homologs, finder):
    assert clone(finder).get_params() == finder.get_params()
    with pytest.raises(NotFittedError):
        HomologFinder().predict(homologs.X)
    again = pickle.loads(pickle.dumps(finder))
    assert np.array_equal(again.predict(homologs.X), finder.predict(homologs.X))
    assert finder.set_params(n_jobs=2).score(*homologs) == 1.0
    finder.set_params(n_jobs=1)


def test_grid_search_and_hard_margin(homologs):
    search = GridSearchCV(HomologFinder(tol=0.1), {"C": [0.001, 0.1]}, cv=3)
    assert search.fit(*homologs).best_score_ > 0.3
    hard = HomologFinder(C=np.inf, tol=0.1).fit(*homologs)
    assert hard.score(*homologs) == 1.0
    assert np.isfinite(hard.certificate_.primal)


def test_models_are_saved(tmp_path, homologs, finder):
    path = tmp_path / "finder.model"
    save(finder, path)
    again = load(path)
    for a, b in zip(
        again.decision_function(homologs.X),
        finder.decision_function(homologs.X),
        strict=True,
    ):
        assert np.array_equal(a, b)
    assert again.get_params() == finder.get_params()
    assert again.certificate_ == finder.certificate_
    assert again.n_constraints_ is None


def test_export(finder):
    scoring = scoring_of(finder)
    assert scoring.letters == AMINO_ACIDS
    assert scoring.scope == "local"
    assert scoring.gap_extend == finder.gap_extend_ < 0


# bad input ---------------------------------------------------------------------------

GOOD_X = [("ACG", ["ACG", "TTT"])]
GOOD_Y = [(0, [(0, 0), (1, 1)])]


@pytest.mark.parametrize(
    ("X", "y", "said"),
    [
        (3, GOOD_Y, "X is of type int, but it must be a list"),
        ([], [], "X is empty"),
        (["ACG"], GOOD_Y, r"X\[0\] is of type str, but it must be a pair"),
        ([("ACG", "ACG")], GOOD_Y, r"X\[0\]: the candidates are of type str"),
        ([("", ["A", "C"])], GOOD_Y, r"X\[0\]: the native sequence is empty"),
        ([("A", ["A", ""])], GOOD_Y, r"X\[0\]: candidate 1 is empty"),
        ([("A", ["A", None])], GOOD_Y, r"X\[0\]: candidate 1 is None"),
        ([(1.5, ["A", "A"])], GOOD_Y, "the native sequence is of type float"),
        ([("ACG", ["ACG"])], GOOD_Y, "needs a homolog and at least one decoy"),
        (GOOD_X, [], "X has 1 samples, but y has 0"),
        (GOOD_X, [0], r"y\[0\] is of type int, but it must be a pair"),
        (
            GOOD_X,
            [(2, [(0, 0)])],
            r"y\[0\]: the homolog is candidate 2, but there are 2",
        ),
        (GOOD_X, [(-1, [(0, 0)])], r"the homolog is candidate -1"),
        (GOOD_X, [(0.0, [(0, 0)])], r"y\[0\]: the homolog is 0.0"),
        (GOOD_X, [(True, [(0, 0)])], "the homolog is True"),
        (GOOD_X, [(0, [])], r"y\[0\]: the alignment is empty"),
        (GOOD_X, [(0, [(0, 5)])], r"y\[0\]: pair 0 is \(0, 5\)"),
        (GOOD_X, [(0, "ACG")], r"y\[0\]: the alignment is of type str"),
        (GOOD_X, [(0, ("ACG", "AC-"))], "the second row of the alignment is 'AC'"),
        (GOOD_X, [(0, ("ATG", "ACG"))], "they differ at letter 1"),
    ],
)
def test_bad_samples(X, y, said):
    with pytest.raises(ValueError, match=said):
        HomologFinder().fit(X, y)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"gaps": "free"}, "gaps='free' is not known"),
        ({"alphabet": ""}, "alphabet='' is not possible"),
        ({"alphabet": "ACGTA"}, "'A' is in it twice"),
        ({"alphabet": "ACG"}, r"X\[0\]: candidate 1 has 'T' at position 0"),
        ({"alphabet": 5}, "alphabet=5 is not possible"),
        ({"C": -1}, "C=-1"),
    ],
)
def test_bad_settings(options, said):
    with pytest.raises(ValueError, match=said):
        HomologFinder(**options).fit(GOOD_X, GOOD_Y)


def test_a_failed_fit_changes_nothing(homologs, finder):
    before = dict(finder.__dict__)
    with pytest.raises(ValueError, match="pair 0"):
        finder.fit(GOOD_X, [(0, [(9, 9)])])
    assert finder.__dict__.keys() == before.keys()
    assert finder.substitution_matrix_ is before["substitution_matrix_"]
    with pytest.raises(ValueError, match=r"candidate 0 has '#' at position 1"):
        finder.predict([("ACD", ["A#"])])
    with pytest.raises(ValueError, match=r"X\[0\] has 0 candidates"):
        finder.predict([("ACD", [])])


# the baseline ------------------------------------------------------------------------


def test_log_odds_by_hand():
    X = [("AB", ["AA", "BB"])]
    matrix = log_odds(X, [(0, [(0, 0), (1, 1)])], "AB")
    # pairs: AA and BA once, all counts + 1; natives A B, candidates A A B B
    pairs = np.array([[2, 1], [2, 1]]) / 6
    assert np.allclose(matrix, np.log(pairs / np.outer([0.5, 0.5], [0.5, 0.5])))


def test_log_odds_baseline(homologs):
    model = LogOddsFinder().fit(*homologs)
    assert model.score(*homologs) > 0.9
    assert model.gap_extend_ < 0
    fixed = LogOddsFinder(gap=-1.0).fit(*homologs)
    assert fixed.gap_extend_ == -1.0
    assert np.array_equal(fixed.substitution_matrix_, model.substitution_matrix_)
    assert model.align("ACDEF", "ACDEF")
    with pytest.raises(ValueError, match="pseudocount=0"):
        LogOddsFinder(pseudocount=0).fit(*homologs)


def test_arrays_of_candidates_and_sets_of_pairs(homologs, finder):
    X, y = homologs
    arrays = [(native, np.array(candidates)) for native, candidates in X]
    assert np.array_equal(finder.predict(arrays), finder.predict(X))
    sets = [(homolog, set(pairs)) for homolog, pairs in y]
    again = HomologFinder(C=0.1).fit(arrays, sets)
    assert np.array_equal(again.substitution_matrix_, finder.substitution_matrix_)


def test_no_samples(finder):
    found = finder.predict([])
    assert (len(found), found.dtype.kind) == (0, "i")
    assert finder.decision_function([]) == []
    with pytest.raises(ValueError, match="no score without samples"):
        finder.score([], [])
