"""Learnt scores in other programs: they must align as we say they would."""

import itertools
import re

import numpy as np
import pytest

from maxmargin.alignments.export import (
    Scoring,
    biopython_aligner,
    biopython_matrix,
    matrix_text,
    parasail_matrix,
    read_matrix,
    scoring_of,
    write_matrix,
)

LETTERS = "ARND"


def random_scoring(seed, symmetric=False, scope="global"):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(4, 4)).round(2) + 1.5 * np.eye(4)
    if symmetric:
        matrix = (matrix + matrix.T) / 2
    return Scoring(LETTERS, matrix, -0.7, -0.2, scope)


def best_score(scoring, a, b):
    """Over all sets of matched pairs, by enumeration."""
    best = 0.0 if scoring.scope == "local" else -np.inf
    for k in range(min(len(a), len(b)) + 1):
        for i in itertools.combinations(range(len(a)), k):
            for j in itertools.combinations(range(len(b)), k):
                best = max(best, score(scoring, a, b, list(zip(i, j, strict=True))))
    return best


def score(scoring, a, b, pairs):
    if scoring.scope == "local" and not pairs:
        return 0.0
    at = scoring.letters.index
    total = sum(scoring.matrix[at(a[i]), at(b[j])] for i, j in pairs)
    points = list(pairs)
    if scoring.scope == "global":
        points = [(-1, -1), *pairs, (len(a), len(b))]
    for (i, j), (u, v) in itertools.pairwise(points):
        for run in (u - i - 1, v - j - 1):
            total += (run > 0) * scoring.gap_open + run * scoring.gap_extend
    return total


@pytest.mark.parametrize("scope", ["global", "local"])
def test_biopython_finds_the_same_scores(scope):
    pytest.importorskip("Bio")
    rng = np.random.default_rng(1)
    for seed in range(5):
        scoring = random_scoring(seed, scope=scope)
        aligner = biopython_aligner(scoring)
        for _ in range(4):
            a, b = ("".join(rng.choice(list(LETTERS), n)) for n in (5, 4))
            # local alignments of Biopython need a positive score
            found = aligner.score(a, b)
            assert found == pytest.approx(best_score(scoring, a, b), abs=1e-5)
    matrix = biopython_matrix(scoring)
    assert matrix["A", "R"] == scoring.matrix[0, 1]
    assert matrix["R", "A"] == scoring.matrix[1, 0]


@pytest.mark.parametrize("scope", ["global", "local"])
def test_parasail_finds_the_same_scores(scope):
    parasail = pytest.importorskip("parasail")
    rng = np.random.default_rng(2)
    names = ("nw", "nw_scan_32") if scope == "global" else ("sw", "sw_scan_32")
    for seed in range(5):
        scoring = random_scoring(seed, True, scope)
        made = parasail_matrix(scoring, largest=10000)
        a, b = ("".join(rng.choice(list(LETTERS), n)) for n in (5, 4))
        best = best_score(scoring, a, b)
        for name in names:
            found = getattr(parasail, name)(a, b, made.open, made.extend, made.matrix)
            assert found.score / made.scale == pytest.approx(best, abs=0.01)


def test_what_parasail_cannot_use():
    pytest.importorskip("parasail")
    lopsided = random_scoring(0)
    with pytest.raises(ValueError, match="not symmetric"):
        parasail_matrix(lopsided)
    half = (lopsided.matrix + lopsided.matrix.T) / 2
    made = parasail_matrix(lopsided, symmetric=True)
    assert np.abs(made.matrix.matrix[:4, :4] / made.scale - half).max() < 0.01
    assert np.abs(made.matrix.matrix).max() <= 1000
    with pytest.raises(ValueError, match="can only cost"):
        parasail_matrix(random_scoring(0, True)._replace(gap_extend=0.1))
    with pytest.raises(ValueError, match="largest=0"):
        parasail_matrix(random_scoring(0, True), largest=0)
    zeros = Scoring(LETTERS, np.zeros((4, 4)), 0.0, 0.0)
    assert parasail_matrix(zeros).open == 0


def test_models_without_a_matrix_are_refused():
    class Fitted:
        substitution_matrix_ = np.eye(4)
        alphabet_ = "ARND"

    assert scoring_of(Fitted()).letters == "ARND"
    with pytest.raises(ValueError, match="costs of gaps are not known"):
        biopython_aligner(Fitted())
    with pytest.raises(ValueError, match="int has no substitution matrix"):
        scoring_of(3)
    Fitted.alphabet_ = "AR"
    with pytest.raises(
        ValueError, match=r"has shape \(4, 4\), but there are 2 letters"
    ):
        scoring_of(Fitted())


# text --------------------------------------------------------------------------------


def test_files_are_read_back(tmp_path):
    path = tmp_path / "matrix.txt"
    scoring = random_scoring(3)
    write_matrix(path, scoring)
    again = read_matrix(path)
    assert again.letters == LETTERS
    assert np.allclose(again.matrix, scoring.matrix, rtol=1e-5)
    assert "open = -0.7, extend = -0.2" in path.read_text()
    write_matrix(path, scoring, largest=20)
    whole = read_matrix(path).matrix
    assert np.abs(whole).max() == 20
    assert np.array_equal(whole, np.rint(whole))


def test_biopython_reads_our_files_and_we_read_blosum(tmp_path):
    pytest.importorskip("Bio")
    from Bio.Align import substitution_matrices

    path = tmp_path / "matrix.txt"
    scoring = random_scoring(4)
    write_matrix(path, scoring)
    array = substitution_matrices.read(path)
    assert array.alphabet == LETTERS
    assert np.allclose(np.array(array), scoring.matrix, rtol=1e-5)
    blosum = substitution_matrices.load("BLOSUM62")
    path.write_text(str(blosum))
    again = read_matrix(path)
    assert again.letters == blosum.alphabet
    assert np.array_equal(again.matrix, np.array(blosum))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no substitution matrix"),
        ("# only a remark\n", "has no substitution matrix"),
        ("A RN\n", "line 1: 'RN' is not one letter"),
        ("A A\n", "line 1: the column 'A' is named twice"),
        ("A R\nA 1 2\n", "is cut off: there is no row of 'R'"),
        ("A R\nA 1 2\nA 1 2\n", "line 3: there are two rows 'A'"),
        ("A R\nA 1\n", "line 2: there are 1 numbers in 2 columns"),
        ("A R\nA 1 x\n", "line 2: 'x' is not a number"),
        ("A R\nA 1 nan\n", "line 2: 'nan' is not finite"),
        ("A R\nN 1 2\n", "line 2: 'N' is not a letter of the columns"),
    ],
)
def test_damaged_matrices(text, said, tmp_path):
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        read_matrix(path)
    assert str(path) in str(caught.value)


def test_what_a_file_cannot_hold():
    with pytest.raises(ValueError, match="not finite"):
        matrix_text(Scoring("A", np.array([[np.nan]])))
    with pytest.raises(ValueError, match="cannot be written"):
        matrix_text(Scoring("#", np.array([[1.0]])))


@pytest.mark.parametrize("scope", ["global", "local"])
def test_biopython_scores_as_a_fitted_aligner_does(scope):
    pytest.importorskip("Bio")
    from maxmargin import SequenceAligner

    rows = [("HEAGAWGHE-E", "P---AW-HEAE"), ("GATTAWGHEE", "GA--AWGHEE")]
    X = [tuple(row.replace("-", "") for row in pair) for pair in rows]
    model = SequenceAligner(C=100, scope=scope).fit(X, rows)
    scores = model.decision_function(X)
    for (a, b), score in zip(X, scores, strict=True):
        found = biopython_aligner(model).score(a, b)
        assert found == pytest.approx(score * (len(a) + len(b)), abs=1e-4)
    with pytest.raises(ValueError, match="free_ends"):
        biopython_aligner(model.set_params(free_ends="target"))


def test_gaps_by_position_cannot_be_exported():
    pytest.importorskip("Bio")
    from maxmargin import SequenceAligner

    model = SequenceAligner(C=10, gaps="position", max_iter=1000)
    model.fit([("ACAC", "AAC")], [[(0, 0), (2, 1), (3, 2)]])
    assert scoring_of(model).letters == "ACGT"
    with pytest.raises(ValueError, match="depend on the position"):
        biopython_aligner(model)
