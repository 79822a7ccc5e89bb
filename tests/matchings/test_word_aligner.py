"""WordAligner: what it learns, bad input, saving, a picture."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV

from maxmargin import WordAligner, load, save
from maxmargin.matchings.bitext_statistics import BitextStatistics

WORDS = {
    **{"dog": "chien", "cat": "chat", "house": "maison", "red": "rouge"},
    **{"sleeps": "dort", "eats": "mange", "big": "grand", "small": "petit"},
    **{"the": "le", "a": "un", "garden": "jardin", "not": "ne pas"},
}


def toy(n, seed=0):
    """Invented sentences: translated word by word, with some neighbours exchanged."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        source = rng.choice(
            list(WORDS), size=rng.integers(2, 7), replace=False
        ).tolist()
        order = list(range(len(source)))
        for k in range(len(order) - 1):
            if rng.random() < 0.3:
                order[k], order[k + 1] = order[k + 1], order[k]
        target, links = [], []
        for i in order:
            for word in WORDS[source[i]].split():
                links.append((i, len(target)))
                target.append(word)
        X.append((source, target))
        y.append(links)
    return X, y


@pytest.fixture(scope="module")
def data():
    X, y = toy(40)
    return X, y, [pair for pair, _ in zip(*toy(120, 1), strict=True)]


@pytest.fixture(scope="module")
def model(data):
    X, y, bitext = data
    return WordAligner(bitext=bitext).fit(X, y)


# the aligner -------------------------------------------------------------------------


def test_learns_to_align(model):
    X, y = toy(30, 7)
    assert model.score(X, y) > 0.95
    report = model.evaluate(X, y, bootstrap=100)
    assert report.aer == pytest.approx(1 - model.score(X, y))
    assert report.interval[0] <= report.aer <= report.interval[1]
    assert model.converged_
    assert model.certificate_.relative_gap <= model.tol
    assert model.certificate_.exact
    assert len(model.coef_) == len(model.feature_names_)
    assert len(set(model.feature_names_)) == len(model.feature_names_)


def test_links_are_sorted_and_bounded(data, model):
    X, y, _ = data
    for fertility, most in ((1, (1, 1)), ((2, 1), (2, 1)), ((1, None), (1, 99))):
        other = clone(model).set_params(bitext=model.statistics_, fertility=fertility)
        for links in other.fit(X, y).predict(X[:10]):
            assert links == sorted(set(links))
            for side in (0, 1):
                words = [link[side] for link in links]
                assert all(words.count(word) <= most[side] for word in words)


def test_predictions_maximise_the_scores(model):
    X, _ = toy(10, 3)
    for scores, links, best in zip(
        model.predict_scores(X),
        model.predict(X),
        model.predict_k_best(X, 3),
        strict=True,
    ):
        value = sum(scores[link] for link in links)
        assert value == pytest.approx(best[0][1])
        assert links == best[0][0]
        values = [found for _, found in best]
        assert values == sorted(values, reverse=True)


def test_truth_beyond_the_bound_is_cut_to_the_best(data):
    X, y, bitext = data
    batch = WordAligner(bitext=bitext, fertility=1)._encode(X, y, None).batch
    from maxmargin.core import contract
    from maxmargin.matchings.links import to_links

    exceeding = 0
    for i, links in enumerate(y):
        target = batch.y[batch.start[i] : batch.start[i + 1]]
        kept = to_links(target, batch.source_most)
        assert set(kept) <= set(links)
        assert len(kept) == len({i for i, _ in links})  # "ne pas" loses one of its two
        exceeding += len(kept) < len(links)
        assert contract.loss(batch, i, target) == 0.0
    assert exceeding > 5


def test_possible_links_are_free():
    X = [("a b", "x y")] * 3
    batch = WordAligner()._encode(X, ["0-0 1?1"] * 3, None).batch
    assert batch.kind[:4].tolist() == [2, 0, 0, 1]


def test_texts_lists_and_weights_are_the_same(data, model):
    X, y, _ = data
    texts = [(" ".join(a), " ".join(b)) for a, b in X]
    written = [" ".join(f"{i}-{j}" for i, j in links) for links in y]
    other = clone(model).set_params(bitext=model.statistics_)
    again = other.fit(texts, written, sample_weight=np.ones(len(X)))
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert again.predict(texts[:3]) == model.predict(X[:3])


def test_bitext_helps_and_may_come_from_a_file(data, tmp_path):
    X, y, bitext = data
    path = tmp_path / "bitext.tsv"
    path.write_text("".join(f"{' '.join(a)}\t{' '.join(b)}\n" for a, b in bitext))
    few = X[:3], y[:3]
    a = WordAligner(bitext=str(path)).fit(*few)
    b = WordAligner(bitext=bitext).fit(*few)
    np.testing.assert_array_equal(a.coef_, b.coef_)
    assert a.statistics_.n_pairs_ == 123  # with the training pairs
    assert WordAligner(bitext=bitext + X[:3]).fit(*few).statistics_.n_pairs_ == 123
    test = toy(20, 9)
    assert a.score(*test) > WordAligner().fit(*few).score(*test)


def test_user_features(data, model):
    X, y, _ = data

    def lengths(source, target):
        return [[abs(len(s) - len(t)) / 10 for t in target] for s in source]

    own = WordAligner(bitext=model.statistics_, features=["bias", "spelling", lengths])
    own.fit(X, y)
    assert own.feature_names_[-1] == "lengths 0"
    with pytest.raises(ValueError, match="'features'"):
        save(own, "nowhere")
    triples = [(a, b, np.ones((len(a), len(b), 2))) for a, b in X]
    arrays = WordAligner(bitext=model.statistics_).fit(triples, y)
    assert arrays.feature_names_[-2:] == ["array 0", "array 1"]
    assert arrays.predict(triples[:2])
    with pytest.raises(ValueError, match="trained with"):
        arrays.predict(X)
    with pytest.raises(ValueError, match=r"X\[1\] has"):
        WordAligner(bitext=model.statistics_).fit([triples[0], X[1]], y[:2])


def test_saved_and_loaded(data, model, tmp_path):
    X, _, _ = data
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.predict(X) == model.predict(X)
    assert again.feature_names_ == model.feature_names_
    assert again.certificate_ == model.certificate_
    assert again.get_params() == {**model.get_params(), "bitext": None}


def test_path_grid_search_and_clone(data, model):
    X, y, _ = data
    base = WordAligner(bitext=model.statistics_, tol=0.1)
    assert [m.C for m in base.path(X, y, [0.1, 0.01])] == [0.1, 0.01]
    search = GridSearchCV(base, {"C": [0.01, 0.1]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.9
    assert clone(model).get_params()["C"] == model.C


def test_equal_seeds_give_equal_weights_and_threads_the_same_but_for_rounding(
    data, model
):
    X, y, _ = data
    again = clone(model).set_params(bitext=model.statistics_)
    np.testing.assert_array_equal(again.fit(X, y).coef_, model.coef_)
    several = clone(again).set_params(n_jobs=2, tol=1e-6).fit(X, y)
    one = clone(again).set_params(tol=1e-6).fit(X, y)
    assert several.certificate_.primal == pytest.approx(
        one.certificate_.primal, rel=2e-6
    )
    assert several.predict(X) == one.predict(X)


# bad input ---------------------------------------------------------------------------

GOOD = [("a b", "x y")]


@pytest.mark.parametrize(
    ("X", "y", "sentence"),
    [
        ([], [], "X is empty"),
        ("a b", ["0-0"], "give a list of pairs"),
        (["a b"], ["0-0"], r"X\[0\] is 'a b', not a pair"),
        ([("a",)], ["0-0"], r"X\[0\] has 1 parts"),
        ([("a", " ")], [""], r"the target of X\[0\] has no words"),
        ([([], ["x"])], [""], r"the source of X\[0\] has no words"),
        ([(["a", 3], ["x"])], [""], r"the source of X\[0\] holds 3"),
        ([(None, ["x"])], [""], r"the source of X\[0\] is None"),
        (GOOD, None, "y is None"),
        (GOOD, ["0-0", "1-1"], "1 sentence pairs, but y has 2"),
        (GOOD, ["0-2"], r"y\[0\]: the link 0-2 names word 2 of the target"),
        (GOOD, [[(2, 0)]], r"y\[0\]: the link 2-0 names word 2 of the source"),
        (GOOD, ["0-0 0-0"], r"y\[0\]: the link 0-0 is there twice"),
        (GOOD, [None], "y holds no known label"),
        ([("a", "x", [[np.nan]])], ["0-0"], "hold NaN"),
        ([("a", "x", [[1.0, 2.0]])], ["0-0"], r"shape \(1, 2, 1\)"),
        ([("a", "x", "text")], ["0-0"], "not an array of numbers"),
    ],
)
def test_bad_samples(X, y, sentence):
    aligner = WordAligner()
    with pytest.raises(ValueError, match=sentence):
        aligner.fit(X, y)
    assert not hasattr(aligner, "coef_")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"fertility": 0}, "fertility=0"),
        ({"fertility": (1, 2, 3)}, "fertility="),
        ({"fertility": "2"}, "fertility='2'"),
        ({"cost_extra": -1}, "cost_extra=-1"),
        ({"cost_missing": np.nan}, "cost_missing=nan"),
        ({"cost_extra": 0, "cost_missing": 0}, "both zero"),
        ({"features": ["words"]}, "'words' is not known"),
        ({"features": "bias"}, "give a list"),
        ({"features": []}, "no features"),
        ({"forms": ["stem"]}, "'stem' is not known"),
        ({"forms": []}, "forms is empty"),
        ({"forms": "word"}, "forms='word'"),
        ({"bitext": BitextStatistics()}, "not fitted"),
        ({"bitext": [("a",)]}, r"bitext\[0\]"),
        ({"bitext": "no such file"}, "no such file"),
        ({"C": -1}, "C=-1"),
    ],
)
def test_bad_settings(settings, sentence):
    with pytest.raises((ValueError, FileNotFoundError), match=sentence):
        WordAligner(**settings).fit(GOOD, ["0-0"])


def test_not_fitted():
    for method in ("predict", "predict_scores"):
        with pytest.raises(NotFittedError):
            getattr(WordAligner(), method)(GOOD)
    with pytest.raises(NotFittedError):
        WordAligner().score(GOOD, ["0-0"])


def test_unseen_words_and_single_words(model):
    links = model.predict([("zebra", "qqq"), ("dog", "chien"), ("Dog !", "! Chien")])
    assert links[1] == [(0, 0)]
    assert len(links) == 3
    assert model.predict([]) == []
    long = (["dog"] * 60, ["chien"] * 70)  # longer than the bitext's sentences
    assert len(model.predict([long])) == 1


def test_sentences_without_links(data, model):
    X, y, _ = data
    base = clone(model).set_params(bitext=model.statistics_)
    assert base.fit(X[:4], ["", "", "", y[3]]).predict(X[:1]) is not None


def test_picture(tmp_path, model):
    pytest.importorskip("matplotlib").use("Agg")
    from maxmargin.matchings.plots import plot_links

    X, y = toy(1, 5)
    scores = model.predict_scores(X)[0]
    figure = plot_links(
        X[0], model.predict(X)[0], y[0], scores, path=tmp_path / "a.png"
    )
    assert (tmp_path / "a.png").stat().st_size > 3000
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == X[0][0]
    with pytest.raises(ValueError, match="leads outside"):
        plot_links(("a", "b"), [(0, 1)])
    with pytest.raises(ValueError, match="scores have shape"):
        plot_links(("a", "b"), scores=np.zeros((2, 2)))


def test_a_bitext_that_is_gone_after_one_fit_is_refused(data):
    X, y, bitext = data
    with pytest.raises(ValueError, match="bitext can be read only once"):
        WordAligner(bitext=iter(bitext)).fit(X, y)


def test_sentences_that_are_none(data):
    X, y, _ = data
    with pytest.raises(ValueError, match=r"the source of X\[0\] has 1001 words"):
        WordAligner().fit([(["a"] * 1001, "b"), *X[1:]], y)


def test_rows_of_the_history_keep_what_was_certified():
    """Where searches only bound, a later certificate may be higher than an earlier one."""
    rows = []
    model = WordAligner(
        rescaling="slack", max_iter=40, callbacks=[lambda row: rows.append({**row})]
    )
    X = ["the house sleeps", "he sleeps", "the dog", "he barks"]
    Y = ["la maison dort", "il dort", "le chien", "il aboie"]
    links = ["0-0 1-1 2-2", "0-0 1-1", "0-0 1-1", "0-0 1?1"]
    with pytest.warns(ConvergenceWarning):  # the bounds of the search stay apart
        model.fit(list(zip(X, Y, strict=True)), links)
    primals = [row["primal"] for row in model.history_[:-1]]
    assert primals == [row["primal"] for row in rows[:-1]]
    assert min(primals) < model.certificate_.primal
