"""Sites of a motif: searches equal enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin.core.completion import complete_all, complete_randomly
from maxmargin.core.decode import decode
from maxmargin.motifs.hidden_sites import make_batch, n_weights, with_composition
from maxmargin.motifs.input import encode_sequences
from maxmargin.motifs.sites import best_sites, count_letters
from maxmargin.testing import check_structure

TURNED = dict(zip("ACGTN", "TGCAN", strict=True))


def batch_of(X, labels, width, order, strands, scale=0.0):
    codes, first = encode_sequences(X, "skip", width)
    batch = make_batch(codes, first, labels, width, order, strands)
    return with_composition(batch, order, scale) if scale else batch


def outputs(batch, i):
    starts = batch.first[i + 1] - batch.first[i] - batch.width + 1
    return [[k] for k in range(1 + batch.strands * starts)]


def background(x, t, order):
    """The weight of letter t, from its definition: None if some letter is not known."""
    run = x[max(t - order, 0) : t + 1]
    if "N" in run:
        return None
    number = 0
    for letter in run:
        number = 4 * number + "ACGT".index(letter)
    return sum(4**k for k in range(1, len(run))) + number


def site_score(x, start, strand, w, width, order):
    site = x[start : start + width]
    if strand:
        site = "".join(TURNED[letter] for letter in reversed(site))
    total = sum(w[4 * j + "ACGT".index(a)] for j, a in enumerate(site) if a != "N")
    for t in range(start, start + width):
        b = background(x, t, order)
        total -= 0.0 if b is None else w[4 * width + b]
    return total


def words_score(x, strands, v, scale):
    """The score of the composition, from its definition; v are the weights of words."""
    total, before = 0.0, 0
    for size in (4, 6):
        counts = {}
        for t in range(len(x) - size + 1):
            word = x[t : t + size]
            if strands == 2:
                word = min(word, "".join(TURNED[a] for a in reversed(word)))
            if "N" not in word:
                counts[word] = counts.get(word, 0) + 1
        norm = np.sqrt(sum(c * c for c in counts.values()))
        for word, count in counts.items():
            number = sum(
                "ACGT".index(a) * 4 ** (size - 1 - k) for k, a in enumerate(word)
            )
            total += v[before + number] * count / norm
        before += 4**size
    return scale * total / np.sqrt(2)


@st.composite
def problems(draw):
    width, order = draw(st.integers(1, 6)), draw(st.integers(0, 3))
    letters = draw(st.sampled_from(["ACGT", "ACGTN"]))
    X = draw(
        st.lists(st.text(letters, min_size=width, max_size=12), min_size=1, max_size=4)
    )
    labels = [draw(st.integers(0, 1)) for _ in X]
    strands, seed = draw(st.integers(1, 2)), draw(st.integers(0, 99))
    return X, labels, width, order, strands, draw(st.sampled_from([0.0, 3.0])), seed


@settings(max_examples=40, deadline=None)
@given(problems())
def test_all_searches_equal_enumeration(problem):
    X, labels, width, order, strands, scale, seed = problem
    batch = batch_of(X, labels, width, order, strands, scale)
    w = np.random.default_rng(seed).normal(size=n_weights(width, order, scale > 0))
    predicted, completed = decode(batch, w), complete_all(batch, w)
    scores, places = best_sites(batch, w)
    for i, x in enumerate(X):
        starts = len(x) - width + 1
        every = [
            site_score(x, h % starts, h >= starts, w, width, order)
            for h in range(strands * starts)
        ]
        if scale:
            whole = words_score(x, strands, w[n_weights(width, order) :], scale)
            every = [site + whole for site in every]
        assert scores[i] == pytest.approx(max(every))
        assert every[places[i]] == pytest.approx(max(every))
        if abs(max(every)) > 1e-9:
            assert (predicted[i] > 0) == (max(every) > 0)
        if predicted[i]:
            assert every[predicted[i] - 1] == pytest.approx(max(every))
        assert (completed[i] > 0) == labels[i]
        if labels[i]:
            assert every[completed[i] - 1] == pytest.approx(max(every))


@pytest.mark.parametrize("scale", [0.0, 2.0])
@pytest.mark.parametrize("strands", [1, 2])
def test_structure_keeps_the_contract(strands, scale):
    X = ["ACGTACGTT", "GGNATTACA", "TTTAAAC", "CCCC"]
    batch = batch_of(X, [1, 1, 0, 0], 4, 2, strands, scale)
    size = n_weights(4, 2, scale > 0)
    check_structure(batch, size, outputs)
    check_structure(batch, size, outputs, trials=1, compiled=False)


def test_random_starts_are_anywhere():
    batch = batch_of(["ACGTACGT"] * 400 + ["AAAA"], [1] * 400 + [0], 3, 0, 2)
    found = complete_randomly(batch, 16, np.random.default_rng(0))
    assert found[-1] == 0
    share = np.bincount(found[:-1], minlength=13)[1:] / 400
    assert share.min() > 0.03
    assert share.max() < 0.16


def test_letters_at_sites_are_counted_as_the_motif_reads_them():
    batch = batch_of(["AACGN", "GGGTT"], [1, 1], 3, 0, 2)
    counts = count_letters(batch, np.array([2, 1 + 3 + 1]))  # ACG; GGT turned is ACC
    assert counts.tolist() == [[2, 0, 0, 0], [0, 2, 0, 0], [0, 1, 1, 0]]
