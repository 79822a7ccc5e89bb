"""Kernels of strings against loops over all pairs of words."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import kernels
from maxmargin.kernels.strings import common_neighbours

texts = st.lists(st.text("abc", max_size=9), min_size=1, max_size=6)


def words(x, k):
    return [x[i : i + k] for i in range(len(x) - k + 1)]


def table(f, X, Y):
    return np.array([[f(x, y) for y in Y] for x in X], float).reshape(len(X), len(Y))


def same_everywhere(k, f, X, Y):
    np.testing.assert_allclose(k(X, Y), table(f, X, Y), rtol=1e-12)
    np.testing.assert_allclose(k(X), table(f, X, X), rtol=1e-12)
    np.testing.assert_allclose(k.diagonal(X), table(f, X, X).diagonal(), rtol=1e-12)
    kernels.check(k, X)
    assert kernels.from_state(k.state()) == k


@given(texts, texts, st.integers(1, 4))
def test_spectrum(X, Y, k):
    def common(x, y, k=k):
        return sum(a == b for a in words(x, k) for b in words(y, k))

    def shorter(x, y):
        return sum(common(x, y, j) for j in range(1, k + 1))

    same_everywhere(kernels.spectrum(k), common, X, Y)
    same_everywhere(kernels.spectrum(k, shorter=True), shorter, X, Y)
    tokens = [[ord(c) * 1000 for c in x] for x in X]
    np.testing.assert_array_equal(kernels.spectrum(k)(tokens), kernels.spectrum(k)(X))


def test_spectrum_of_long_words_and_many_letters():
    rng = np.random.default_rng(0)
    x = "".join(map(chr, rng.integers(0x4E00, 0x9000, size=200)))
    X = [x, x[50:120], x[60:]]
    k = kernels.spectrum(30)
    assert k(X).tolist() == [[171, 41, 111], [41, 41, 31], [111, 31, 111]]


def test_words_too_many_for_64_bits():
    """256 letters: in 64 bits a word of 9 would lose the first of them."""
    letters = "".join(map(chr, range(256)))
    X = ["a" + letters[:8], "b" + letters[:8], letters]
    assert kernels.spectrum(9)(X).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 248]]


@given(texts, texts, st.sampled_from([(1, 0), (2, 1), (3, 1), (3, 2), (4, 2)]))
def test_mismatch(X, Y, km):
    """By the definition: count for each word over the alphabet its neighbours in x."""
    k, m = km
    everything = list(itertools.product("abcd", repeat=k))

    def features(x):
        far = [
            [sum(p != q for p, q in zip(a, b, strict=True)) for a in words(x, k)]
            for b in everything
        ]
        return np.array([sum(h <= m for h in row) for row in far])

    def f(x, y):
        return features(x) @ features(y)

    same_everywhere(kernels.mismatch(k, m, "abcd"), f, X[:3], Y[:2])


def test_mismatch_leaves_out_what_is_not_in_its_alphabet():
    k = kernels.mismatch(2, 1, "ACGT")
    assert k(["ACNGT"], ["ACGT"]) == k(["AC"], ["ACGT"]) + k(["GT"], ["ACGT"])
    assert k(["NN"]) == 0


def test_an_alphabet_of_one_letter():
    assert kernels.mismatch(3, 2, "a")(["aaaa"], ["aaa"]) == 2


def test_mismatch_reads_its_alphabet():
    k = kernels.mismatch(2, 1)
    with pytest.raises(ValueError, match="does not know its alphabet"):
        k(["ab"])
    assert k.fitted(["ab", "cab"]) == kernels.mismatch(2, 1, "cba")
    whole = kernels.as_kernel(k.of("s") + 1, X={"s": ["ab", "cab"]})
    assert whole({"s": ["ab"]}) == kernels.mismatch(2, 1, "abc")(["ab"]) + 1
    kernels.check(k, ["ab", "cab"])


def test_common_neighbours():
    for size, k, m in itertools.product((1, 2, 3), (1, 2, 3), (0, 1, 2)):
        everything = list(itertools.product(range(size), repeat=k))
        for h in range(k + 1 if size > 1 else 1):
            a, b = (0,) * k, (1,) * h + (0,) * (k - h)
            truth = sum(
                sum(p != q for p, q in zip(a, c, strict=True)) <= m
                and sum(p != q for p, q in zip(b, c, strict=True)) <= m
                for c in everything
            )
            assert common_neighbours(k, m, size, h) == truth


@given(
    st.integers(0, 7).flatmap(
        lambda n: st.lists(
            st.text("ab", min_size=n, max_size=n), min_size=1, max_size=5
        )
    ),
    st.integers(1, 4),
)
def test_weighted_degree(X, D):
    def f(x, y):
        return sum(
            2 * (D - d + 1) / (D * (D + 1)) * (a == b)
            for d in range(1, D + 1)
            for a, b in zip(words(x, d), words(y, d), strict=True)
        )

    same_everywhere(kernels.weighted_degree(D), f, X, X[::-1])


def test_strings_in_the_algebra():
    X = ["banana", "bandana", "cabana", ""]
    k = kernels.normalized(kernels.spectrum(2) + kernels.spectrum(3)) ** 2
    kernels.check(k, X)
    assert k.diagonal(X).tolist() == pytest.approx([1, 1, 1, 0])
    assert not k.differentiable
    features = kernels.linear().after(lambda X: [[x.count("a")] for x in X])
    assert features(X)[0, 1] == 9
    np.testing.assert_array_equal(
        kernels.spectrum(2)(np.array(X)), kernels.spectrum(2)(X)
    )
