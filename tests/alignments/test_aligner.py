"""SequenceAligner: what it learns, how it refuses bad input, saving, feature counts."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from maxmargin import SequenceAligner, load, save
from maxmargin.alignments.features.models import MODELS, model_terms, thesis_model
from maxmargin.alignments.features.settings import make_model
from maxmargin.files import data_file

X = [("HEAGAWGHEE", "PAWHEAE"), ("GACTACA", "GCATGCA"), ("WDEPGAW", "WEPGCAW")]
Y = [
    ("HEAGAWGHE-E", "--P-AW-HEAE"),
    ("G-ACTACA", "GCA-TGCA"),
    ("WDEPG-AW", "W-EPGCAW"),
]
THESIS = {
    "simple": 1020,
    "anova2": 49634,
    "tensor": 203280,
    "sum": 253934,
    "window": 447016,
    "profile": 448642,
}


@pytest.fixture(scope="module")
def fitted():
    return SequenceAligner(C=100).fit(X, Y)


def related(rng, n=25):
    """A sequence, a noisy copy with losses and gains, and their alignment."""
    letters = np.array(list("ACDEFGHIKL"))
    a = rng.integers(len(letters), size=n)
    b, pairs = [], []
    for i, letter in enumerate(a):
        if rng.random() < 0.1:
            b += list(rng.integers(len(letters), size=rng.integers(1, 4)))
        if rng.random() < 0.9:
            pairs.append((i, len(b)))
            b.append(rng.integers(len(letters)) if rng.random() < 0.3 else letter)
    return ("".join(letters[a]), "".join(letters[b])), pairs


# learning ----------------------------------------------------------------------------


def test_fits_its_training_alignments(fitted):
    assert fitted.score(X, Y) == 1.0
    assert fitted.predict(X)[1] == [(0, 0), (1, 2), (3, 3), (4, 4), (5, 5), (6, 6)]
    assert fitted.certificate_.relative_gap <= fitted.tol
    assert fitted.substitution_matrix_.shape == (len(fitted.alphabet_),) * 2
    assert fitted.gap_open_ + fitted.gap_extend_ < 0
    np.testing.assert_allclose(
        fitted.decision_function(X), fitted.decision_function(X, Y)
    )


def test_learns_to_align_noisy_copies():
    rng = np.random.default_rng(0)
    pairs, truth = zip(*[related(rng) for _ in range(60)], strict=True)
    settings = {"C": 100, "symmetric": True, "prior": False}
    model = SequenceAligner(**settings).fit(pairs[:40], truth[:40])
    assert model.score(pairs[40:], truth[40:]) > 0.8
    matrix = model.substitution_matrix_
    np.testing.assert_array_equal(matrix, matrix.T)
    assert np.diag(matrix).min() > matrix[~np.eye(10, dtype=bool)].max() - 1e-9


def test_score_and_forms_of_alignments_agree(fitted):
    as_pairs = fitted.predict(X)
    as_objects = [{"pairs": p, "core": [True] * len(p)} for p in as_pairs]
    assert fitted.score(X, as_pairs) == fitted.score(X, as_objects) == 1.0
    half = [{"pairs": p[::-1][:1], "core": [True]} for p in as_pairs]
    assert fitted.score(X, half) == 1.0
    wrong = [[(0, 6)], [(0, 6)], [(0, 0)]]
    assert fitted.score(X, wrong) == pytest.approx(1 / 3)
    assert fitted.score(X, wrong, sample_weight=[0, 0, 2]) == 1.0


def test_core_pairs_alone_count_in_training():
    truth = [{"pairs": [(0, 0), (1, 1)], "core": [True, False]}]
    model = SequenceAligner(C=100).fit([("AB", "AC")], truth)
    assert (0, 0) in model.predict([("AB", "AC")])[0]


def test_probabilities_favour_the_prediction(fitted):
    for p, pairs in zip(
        fitted.predict_marginals(X, 100.0), fitted.predict(X), strict=True
    ):
        assert p.shape[0] in (10, 7)
        assert (p.sum(axis=0) <= 1 + 1e-9).all()
        assert np.mean([p[i, j] for i, j in pairs]) > 0.5


def test_sharpness_is_checked(fitted):
    for bad in (0, -1.0, np.inf, "1"):
        with pytest.raises(ValueError, match="sharpness="):
            fitted.predict_marginals(X, bad)


def test_k_best_begin_with_the_prediction(fitted):
    best = fitted.predict_k_best(X, 3)
    assert [ranked[0][0] for ranked in best] == fitted.predict(X)
    np.testing.assert_allclose(
        [ranked[0][1] for ranked in best], fitted.decision_function(X)
    )
    for (a, b), ranked in zip(X, best, strict=True):
        scores = fitted.decision_function([(a, b)] * 3, [pairs for pairs, _ in ranked])
        np.testing.assert_allclose(scores, [score for _, score in ranked])
    with pytest.raises(ValueError, match="k=0 is not possible"):
        fitted.predict_k_best(X, 0)


def test_local_and_free_ends():
    pairs = [("WWWGATTACAWWW", "GATTACA")]
    truth = [[(i + 3, i) for i in range(7)]]
    for settings in ({"scope": "local"}, {"free_ends": "target"}):
        model = SequenceAligner(C=100, **settings).fit(pairs, truth)
        assert model.predict(pairs) == truth


def test_tracks_and_terms():
    pairs = [({"residue": "ABBA", "ss": "HHCC"}, {"residue": "ABA", "ss": "HHC"})]
    truth = [[(0, 0), (1, 1), (3, 2)]]
    model = SequenceAligner("window", gaps="position", C=100, prior=False)
    assert model.fit(pairs, truth).predict(pairs) == truth
    assert not hasattr(model, "substitution_matrix_")
    assert model.term_weights("residue.ss/residue.ss").shape == (4, 4)
    with pytest.raises(ValueError, match="has no term 'x'"):
        model.term_weights("x")


def test_loss_of_shifted_pairs_forgives():
    batch = SequenceAligner(loss="q4")._encode(X, Y, None).batch
    assert batch.shift == 4
    assert SequenceAligner(loss="q12")._encode(X, Y, None).batch.shift == 12
    assert SequenceAligner(loss="hamming")._encode(X, Y, None).batch.hamming == 1


def test_grid_search_clone_and_warm_start(fitted):
    plain = SequenceAligner(tol=0.1, alphabet="ACDEGHPTW")
    search = GridSearchCV(plain, {"C": [1.0, 10.0]}, cv=3)
    search.fit(X, Y)
    assert 0 <= search.best_score_ <= 1
    assert clone(fitted).get_params() == fitted.get_params()
    model = SequenceAligner(warm_start=True).fit(X, Y)
    assert model.fit(X, Y).n_iter_ <= 2


def test_saving(fitted, tmp_path):
    save(fitted, tmp_path / "model")
    again = load(tmp_path / "model")
    assert again.predict(X) == fitted.predict(X)
    np.testing.assert_array_equal(again.coef_, fitted.coef_)
    np.testing.assert_array_equal(
        again.substitution_matrix_, fitted.substitution_matrix_
    )
    assert again.certificate_ == fitted.certificate_


# feature counts ----------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_models_have_the_sizes_of_the_thesis(name):
    assert thesis_model(name).n_features == THESIS[name]


def test_one_alphabet_makes_a_substitution_matrix():
    assert make_model("simple", "ACGT").n_features == 16
    assert make_model("simple", "ACGT", symmetric=True).n_features == 10
    assert make_model("simple", "ACGT").n_gap_features == 2
    assert make_model("simple", "ACGT", gaps="linear").n_gap_features == 1
    assert model_terms("sum", ["residue", "ss"])[-1] == "residue.ss/residue.ss"


# bad input ---------------------------------------------------------------------------

BAD = [
    (dict(model="best"), "model='best' is not known"),
    (dict(model=["residue"]), "LEFT/RIGHT"),
    (dict(model=["residue/ss"]), "asks for the track 'ss'"),
    (dict(model=["residue[2]/residue"]), "odd number"),
    (dict(model=["residue/residue"] * 2), "twice"),
    (dict(model=[]), "give one of simple"),
    (dict(model="anova2"), "joins tracks"),
    (dict(model="profile"), "needs a track of vectors"),
    (dict(gaps="none"), "gaps='none' is not known"),
    (dict(scope="half"), "scope='half' is not known"),
    (dict(free_ends="s"), "free_ends='s' is not known"),
    (dict(free_ends=[1]), "is not known"),
    (dict(loss="f1"), "loss='f1' is not known"),
    (dict(alphabet="AA"), "twice"),
    (dict(alphabet=""), "empty"),
    (dict(alphabet="ACDE"), "sample 0: the target has 'H' at position 0"),
    (dict(alphabet=5), "give a text of letters"),
    (dict(alphabet={"residue": {"target": "A"}}), "both 'target' and 'template'"),
    (dict(unknown="?", alphabet="ACDEGHPTW"), "not in its alphabet"),
    (dict(unknown={"ss": "C"}), "unknown names the track 'ss'"),
    (dict(groups={"residue": ["AC"]}, model="window"), "leave out"),
    (dict(C=0), "C=0 is not possible"),
]


@pytest.mark.parametrize(("settings", "message"), BAD)
def test_settings_are_checked(settings, message):
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        SequenceAligner(**settings).fit(X, Y)


PAIR = [("ABC", "AC")]
BAD_DATA = [
    (None, None, "both X and y are needed"),
    ([], [], "X is empty"),
    ("ABC", [[]], "X must be a list of pairs"),
    (["ABC"], [[]], "sample 0 of X is not a pair"),
    ([("ABC",)], [[]], "sample 0 of X is not a pair"),
    ([("", "A")], [[]], "sample 0: the target is empty"),
    ([("A-B", "A")], [[]], "has a gap '-' at position 1"),
    ([("A" * 20_000, "A" * 20_000)], [[]], "sample 0 has 20000 x 20000 positions"),
    ([(1, "A")], [[]], "sample 0: the target is of type int"),
    ([({}, "A")], [[]], "sample 0: the target has no tracks"),
    ([({"residue": "AB", "ss": "H"}, "A")], [[]], "'ss' has 1 positions"),
    ([({"residue": "AB", "ss": 3}, "A")], [[]], "track 'ss' is 3"),
    ([({"residue": "AB", "ss": "HH"}, "A")], [[]], "the template has no track 'ss'"),
    ([({"residue": [1, 2]}, "A")], [[]], "which is not a text"),
    (PAIR, [], "X has 1 samples, but y has 0"),
    (PAIR, ["AB"], "sample 0 of y must be a list"),
    (PAIR, [None], "y holds no known label"),
    (PAIR, [[(0, 0), 3]], "entry 1 is 3"),
    (PAIR, [[(0, 0.5)]], "not a pair"),
    (PAIR, [[(0, 0), (1, 0)]], "must grow"),
    (PAIR, [[(0, 2)]], "outside the sequences"),
    (PAIR, [[(-1, 0)]], "outside the sequences"),
    (PAIR, [[(10**30, 0)]], "outside the sequences"),
    (PAIR, [("ABC", "A-")], "equally long"),
    (PAIR, [("ABX", "A-C")], "at position 2 it has 'X', the sequence 'C'"),
    (PAIR, [("AB-", "A-C")], "at position 2 it has 'its end'"),
    (PAIR, [{"core": []}], "without 'pairs'"),
    (PAIR, [{"pairs": [(0, 0)], "core": []}], "has 1 matched pairs"),
]


@pytest.mark.parametrize(("inputs", "outputs", "message"), BAD_DATA)
def test_data_are_checked(inputs, outputs, message):
    model = SequenceAligner()
    with pytest.raises(ValueError, match=message):
        model.fit(inputs, outputs)
    assert not hasattr(model, "coef_")


def test_vectors_are_checked():
    def pair(left, right):
        return [({"residue": "AB", "p": left}, {"residue": "B", "p": right})]

    good = np.ones((2, 3)), np.ones((1, 3))
    model = SequenceAligner("profile")
    for bad, message in [
        (pair(good[0] * np.nan, good[1]), "NaN or infinity"),
        (pair(good[0], np.ones((1, 2))), r"array \(positions, 3\)"),
        ([({"residue": "AB", "p": good[0]}, "B")], r"array \(positions, 3\)"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.fit(bad, [[(1, 0)]])
    with pytest.raises(ValueError, match="not possible with vectors"):
        SequenceAligner("profile", symmetric=True).fit(pair(*good), [[(1, 0)]])


def test_a_failed_fit_changes_nothing(fitted):
    before = dict(vars(fitted))
    with pytest.raises(ValueError, match="must grow"):
        fitted.fit(PAIR, [[(1, 0), (0, 1)]])
    assert vars(fitted) == before


@pytest.mark.parametrize("unknown", [None, "é"])
def test_texts_are_encoded_as_lists_of_their_letters(unknown):
    """Any letters: beyond the alphabet's last, lone halves of a surrogate pair, emoji."""
    pairs, rows = [("aéß🙂a", "🙂aé"), ("ßaa", "é\ud800")], [[(0, 1)], [(1, 1)]]
    model = SequenceAligner(prior=None, unknown=unknown).fit(pairs, rows)
    again = SequenceAligner(prior=None, unknown=unknown)
    again.fit([tuple(map(list, pair)) for pair in pairs], rows)
    assert model.coef_.tolist() == again.coef_.tolist()
    for letter in "z\U0010ffff":
        strange = "a" + letter
        if unknown:
            found = model.decision_function([(strange, "ßaé"), ("aé", "ßaé")])
            assert found[0] == found[1]
        else:
            with pytest.raises(ValueError, match="at position 1 of track 'residue'"):
                model.predict([(strange, "ßa")])


def test_unseen_letters_at_prediction(fitted):
    with pytest.raises(
        ValueError, match="sample 1: the template has 'Z' at position 2"
    ):
        fitted.predict([("HE", "EA"), ("HE", "EAZ")])
    with pytest.raises(NotFittedError):
        SequenceAligner().predict(X)
    model = SequenceAligner(C=100, unknown="X").fit(X, Y)
    assert model.predict([("HEZ", "HEX")])[0][:2] == [(0, 0), (1, 1)]
    assert fitted.predict([]) == []


def test_words_are_letters_too():
    pairs = [(["the", "cat", "sat"], ["the", "black", "cat", "sat"])]
    truth = [[(0, 0), (1, 2), (2, 3)]]
    assert SequenceAligner(C=100).fit(pairs, truth).predict(pairs) == truth


def test_missing_tracks_need_a_symbol():
    pairs = [({"residue": "AB", "ss": "HC"}, {"residue": "AB"})]
    model = SequenceAligner(unknown={"ss": "C"}, C=100).fit(pairs, [[(0, 0), (1, 1)]])
    assert model.predict([("AB", "AB")]) == [[(0, 0), (1, 1)]]


def test_real_pairs_with_structure(data_home):
    from maxmargin.alignments.files.pair_table import read_pair_table

    def known(pair):
        return "ss" in pair.tracks_a and "ss" in pair.tracks_b

    found = read_pair_table(data_file("balibase3/pairs_ss.tsv.gz"))
    found = [p for p in found if p.family.startswith("RV11/") and known(p)][:12]
    inputs = [
        ({"residue": p.a, **p.tracks_a}, {"residue": p.b, **p.tracks_b}) for p in found
    ]
    model = SequenceAligner(**thesis_model("window").settings, C=10)
    model.fit(inputs, found)
    assert model.n_features_ == 447016
    assert model.certificate_.relative_gap <= 0.01
    assert model.score(inputs, [p.pairs for p in found]) > 0.7


def test_no_warning_is_raised_by_a_large_mass():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SequenceAligner(C=1e6, tol=0.05, normalize=False).fit(X, Y)


def test_a_set_of_pairs_needs_no_order(fitted):
    pairs = [[(4, 1), (5, 2), (0, 0)], [(6, 6), (0, 0)], [(2, 1), (0, 0)]]
    ordered = SequenceAligner(C=100).fit(X, [sorted(p) for p in pairs])
    unordered = SequenceAligner(C=100).fit(X, [set(p) for p in pairs])
    assert np.array_equal(ordered.coef_, unordered.coef_)
    with pytest.raises(ValueError, match=r"sample 0 of y: .* both positions must grow"):
        SequenceAligner().fit(X, [{(0, 1), (1, 0)}, *pairs[1:]])
