"""What a bitext says about word pairs, and the features made of it."""

import itertools

import numpy as np
import pytest
from far_cases import chain_sums, check_sums
from scipy.special import digamma

from maxmargin.engine.threads import ALONE
from maxmargin.matchings import bitext_training
from maxmargin.matchings.bitext_kernels import hmm_posteriors
from maxmargin.matchings.bitext_statistics import BitextStatistics, likelihood_ratio
from maxmargin.matchings.bitext_training import P_NULL, Corpus
from maxmargin.matchings.word_pairs import GROUPS, edit_distance, pair_features, plain

PAIRS = [
    ("the dog sleeps", "le chien dort"),
    ("the dog eats", "le chien mange"),
    ("a red dog", "un chien rouge"),
    ("the red house", "la maison rouge"),
    ("a big house", "une grande maison"),
    ("the house sleeps", "la maison dort"),
]


@pytest.fixture
def bitext():
    return [(a.split(), b.split()) for a, b in PAIRS]


def all_paths(emit, null, jump, p0):
    """Posteriors and likelihood of the HMM by adding up every path."""
    ng, no = emit.shape
    middle = len(jump) // 2
    total, link = 0.0, np.zeros((ng, no))
    for path in itertools.product(range(-1, ng), repeat=no):  # -1: from null
        place, mass = -1, 1.0
        for h, g in enumerate(path):
            if g < 0:
                mass *= p0 * null[h]
                continue
            row = jump[middle - place : middle - place + ng]
            mass *= (1 - p0) * row[g] / row.sum() * emit[g, h]
            place = g
        total += mass
        for h, g in enumerate(path):
            if g >= 0:
                link[g, h] += mass
    return link / total, np.log(total)


@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (3, 2), (3, 4)])
def test_hmm_posteriors_by_enumeration(shape):
    rng = np.random.default_rng(sum(shape))
    emit, null, jump = rng.random(shape), rng.random(shape[1]), rng.random(11)
    link, moved = np.empty(shape), np.zeros(11)
    likelihood = hmm_posteriors(emit, null, jump, 0.3, link, moved)
    want, expected = all_paths(emit, null, jump, 0.3)
    np.testing.assert_allclose(link, want, rtol=1e-10)
    assert likelihood == pytest.approx(expected)
    assert moved.sum() == pytest.approx(want.sum())  # every link is one jump


@pytest.mark.parametrize("seed", range(10))
def test_hmm_posteriors_of_long_sentences(seed):
    """Probabilities of any size that statistics have, against plain log-sums."""
    rng = np.random.default_rng(seed)
    ng, no = int(rng.integers(1, 12)), 60
    emit, null = np.exp(-16 * rng.random((ng, no))), np.exp(-16 * rng.random(no))
    jump = np.exp(-12 * rng.random(2 * ng + 3))
    emit[0] = 1.0  # one word explains everything, but the way back to it is rare
    at = len(jump) // 2 - np.arange(-1, ng)[:, None] + np.arange(ng)
    move = jump[at] / jump[at].sum(axis=1, keepdims=True)
    # states: place -1 .. ng - 1, each from a word or from null
    steps = np.full((2 * ng + 1, 2 * ng + 1), -np.inf)
    for g in range(-1, ng):
        states = [2 * ng] if g < 0 else [g, ng + g]
        for s in states:
            steps[s, :ng] = np.log(0.7 * move[g + 1])
            steps[s, states[-1]] = np.log(0.3)
    nodes = np.empty((no, 2 * ng + 1))
    nodes[:, :ng], nodes[:, ng:] = np.log(emit.T), np.log(null)[:, None]
    nodes[0] += steps[2 * ng]
    total, p, _ = chain_sums(nodes, np.array([steps] * (no - 1)))
    link = np.empty((ng, no))
    found = hmm_posteriors(emit, null, jump, 0.3, link, np.zeros(len(jump)))
    check_sums((found, link), (total, p[:, :ng].T))


@pytest.mark.parametrize("d", [0, 1])
def test_model_1_by_hand(bitext, d):
    """Each generated word comes from null, or from any word of its sentence."""
    corpus = Corpus(bitext, [str])
    prior = np.linspace(0.3, 0.7, len(corpus.keys))
    found = corpus._model1(prior, ALONE)
    both = enumerate(zip(*(row.tolist() for row in corpus.of), strict=True))
    number = {pair: p for p, pair in both}
    (gen,), (out,) = corpus.vocabularies[d], corpus.vocabularies[1 - d]
    of = corpus.of[d]
    t, null = prior / np.bincount(of, prior)[of], np.full(len(out), 1 / len(out))
    for _ in range(bitext_training.MODEL1_PASSES):
        counts, nulls = prior.copy(), np.full(len(out), 1e-3)
        for pair in bitext:
            for word in pair[1 - d]:
                h = out[word]
                links = [(gen[g], h)[:: 1 - 2 * d] for g in pair[d]]
                places = [number[link] for link in links]
                shares = (1 - P_NULL) / len(places) * t[places]
                mass = P_NULL * null[h] + shares.sum()
                np.add.at(counts, places, shares / mass)
                nulls[h] += P_NULL * null[h] / mass
        t = np.exp(digamma(counts) - digamma(np.bincount(of, counts))[of])
        null = nulls / nulls.sum()
    np.testing.assert_allclose(found.t[d], t, rtol=1e-9)
    np.testing.assert_allclose(found.nulls[d], null, rtol=1e-9)


def test_statistics_find_translations(bitext):
    statistics = BitextStatistics().fit(bitext)
    known = statistics.describe((["Dog", "house"], ["maison", "chien"]))
    for name in ("hmm_forward", "hmm_backward", "stem3 hmm_forward", "word dice"):
        assert known[name].shape == (2, 2)
        assert known[name][0, 1] > 0.5 > known[name][0, 0], name
        assert known[name][1, 0] > 0.5 > known[name][1, 1], name
    for d in ("forward", "backward"):
        axis = 0 if d == "forward" else 1
        assert (known[f"hmm_{d}"].sum(axis=axis) <= 1 + 1e-9).all()


def test_likelihood_ratio_by_hand():
    # 2x2 table 10, 5, 2, 83 of 100
    observed = np.array([[10.0, 5.0], [2.0, 83.0]])
    expected = np.outer(observed.sum(1), observed.sum(0)) / 100
    want = 2 * (observed * np.log(observed / expected)).sum()
    assert likelihood_ratio(10.0, 15.0, 12.0, 100) == pytest.approx(want)
    assert likelihood_ratio(0.0, 50.0, 50.0, 100) < 0


def test_statistics_survive_and_refuse_damage(bitext):
    first = BitextStatistics(("word", "stem2")).fit(bitext)
    arrays, state = first.get_state()
    again = BitextStatistics.from_state(arrays, state)
    pair = (["dog", "?", "red"], ["chien", "zzz"])
    for name, table in first.describe(pair).items():
        np.testing.assert_array_equal(table, again.describe(pair)[name])
    with pytest.raises(ValueError, match="not fit"):
        BitextStatistics.from_state({**arrays, "keys": arrays["keys"][:-1]}, state)


def test_empty_bitext():
    with pytest.raises(ValueError, match="bitext is empty"):
        BitextStatistics().fit([([], ["a"])])


def test_feature_groups(bitext):
    statistics = BitextStatistics().fit(bitext)
    names, values = pair_features(
        ["dog", "12", ","], ["Dog", "12"], statistics, list(GROUPS)
    )
    assert values.shape == (3, 2, len(names))
    assert values.dtype == np.float32
    assert np.isfinite(values).all()
    assert np.abs(values).max() <= 3.0
    column = {name: values[:, :, k] for k, name in enumerate(names)}
    assert column["identical"].tolist() == [[0, 0], [0, 1], [0, 0]]
    assert column["identical, any case"].tolist() == [[1, 0], [0, 1], [0, 0]]
    assert column["numbers, equal"].tolist() == [[0, 0], [0, 1], [0, 0]]
    assert column["one punctuation"].tolist() == [[0, 0], [0, 0], [1, 1]]


def test_spelling():
    assert plain("Été") == "ete"
    assert edit_distance("kitten", "sitting") == 3
    assert edit_distance("", "abc") == edit_distance("abc", "") == 3


def test_threads_count_the_same(monkeypatch):
    """Counts of ranges of sentences add up to those of all of them."""
    rng = np.random.default_rng(0)
    words = [f"w{k}" for k in range(12)]
    lines = [rng.choice(words, rng.integers(1, 7)).tolist() for _ in range(60)]
    pairs = list(zip(lines[:30], lines[30:], strict=True))
    one = BitextStatistics().fit(pairs)
    monkeypatch.setattr(bitext_training, "CELLS", 20)
    asked = []
    run = bitext_training.Team.run

    def look(team, function, parts, threads):
        asked.append((threads, len(parts)))
        return run(team, function, parts, threads)

    monkeypatch.setattr(bitext_training.Team, "run", look)
    five = BitextStatistics().fit(pairs, n_jobs=5)
    # ranges of sentences, forms of words, directions
    assert set(asked) == {(5, 5), (3, 3), (2, 2)}
    assert np.array_equal(one.keys_, five.keys_)
    np.testing.assert_array_equal(one.tables_[:3], five.tables_[:3])  # before the HMMs
    np.testing.assert_allclose(one.tables_, five.tables_, rtol=1e-5, atol=1e-9)
    for mine, others in zip(one.jumps_, five.jumps_, strict=True):
        np.testing.assert_allclose(np.array(mine), np.array(others), rtol=1e-9)
    for mine, others in zip(one.nulls_, five.nulls_, strict=True):
        np.testing.assert_allclose(mine[0], others[0], rtol=1e-9)
    with pytest.raises(ValueError, match="n_jobs"):
        BitextStatistics().fit(pairs, n_jobs=0)
