"""Handwritten page numbers: a small reading task in which neighbours help."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from maxmargin.core.checks import whole

# The labels of the scanned digits repeat the text of one form, which the writers filled
# in one after the other. The tenth of fourteen forms starts at this image.
FIRST_TEST_IMAGE = 1157
SPLITS = ("train", "test")


class DigitStrings(NamedTuple):
    """Inputs, true labels and pictures of the same strings, in the same order."""

    X: list[np.ndarray]
    y: list[list[int]]
    images: list[np.ndarray]


def digit_strings(
    n: int = 300,
    length: int = 8,
    split: str = "train",
    missing: float = 0.2,
    random_state: int = 0,
) -> DigitStrings:
    """Last digits of the page numbers of a notebook that has lost some pages.

    **What is real.** Every picture is a scanned handwritten digit, unchanged, of the
    1,797 that come with scikit-learn (``load_digits``: 8 x 8 pixels; no download).

    **What is composed.** Which digits stand side by side. A notebook has numbered
    pages, each of which is lost with probability ``missing``; a string holds the last
    digits of the numbers on ``length`` pages that follow each other among those left,
    starting anywhere: 6 7 8 0 1 ... For each digit, a picture of that digit is drawn
    at random from those of its split. So a digit is mostly, but not always, followed
    by the next one, which a model of sequences can learn and a reader of single digits
    cannot use. Pictures are reused within a split (there are about 116 of each digit
    for training), and one string mixes several hands.

    **Training and test** share no picture: the first 1,157 are for training and the
    last 640 for testing. The order of the labels shows that writers filled in copies of
    one form, one after the other, and the cut lies between the ninth and the tenth of
    the fourteen forms: no form is on both sides. Who wrote which form is not recorded;
    the data set names thirteen writers, so at most one hand can be on both sides.

    Parameters
    ----------
    n : int
        How many strings.
    length : int
        Digits per string.
    split : {"train", "test"}
        Which pictures to use. The strings of the two are drawn independently.
    missing : float in [0, 1)
        Probability that a page is lost.
    random_state : int
        Equal seeds give equal strings.

    Returns
    -------
    X : list of n arrays (length, 64), the pixels as numbers from 0 to 1
    y : list of n lists of ``length`` integers
    images : list of n arrays (length, 8, 8), the same pixels as pictures

    Examples
    --------
    >>> from maxmargin.files import digit_strings
    >>> X, y, images = digit_strings(n=2, length=5)
    >>> len(X), X[0].shape, images[0].shape
    (2, (5, 64), (5, 8, 8))
    """
    _check(n, length, split, missing)
    from sklearn.datasets import load_digits

    part = SPLITS.index(split)
    pixels, digits = load_digits(return_X_y=True)
    here = (np.arange(len(digits)) >= FIRST_TEST_IMAGE) == bool(part)
    pools = [np.flatnonzero(here & (digits == k)) for k in range(10)]
    random = np.random.default_rng([random_state, part])

    steps = random.geometric(1.0 - missing, size=(n, length))
    steps[:, :1] = random.integers(10, size=(n, 1))
    labels = steps.cumsum(axis=1) % 10
    chosen = np.empty((n, length), dtype=np.intp)
    for k, pool in enumerate(pools):
        chosen[labels == k] = random.choice(pool, size=np.count_nonzero(labels == k))
    X = list(pixels[chosen] / 16.0)
    return DigitStrings(X, labels.tolist(), [x.reshape(-1, 8, 8) for x in X])


def _check(n, length, split, missing) -> None:
    for name, value in (("n", n), ("length", length)):
        whole(name, value)
    if split not in SPLITS:
        raise ValueError(f"split={split!r} is not known; choose 'train' or 'test'.")
    if not 0 <= missing < 1:
        raise ValueError(
            f"missing={missing!r} is not possible: it must be from 0 to below 1."
        )
