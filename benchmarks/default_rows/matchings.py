"""WordAligner as it comes, beside settings by hand and IBM Model 1 in both directions.

Hansards: the first 100 pairs of the test set train, its last 200 are aligned. The
dictionary of all is from the sentences of trial and test set and 600 others.
"""

from __future__ import annotations

import numpy as np
from common import Clock, need_data

METRIC = "100 - AER"
FILES = [
    f"hansards_align/{name}.txt.gz" for name in ("trial", "test", "bitext_unaligned")
]
DATA = {"English-French": FILES, "French-English": FILES}
HAND = {
    "C=0.03": {"C": 0.03},
    "C=1": {"C": 1.0},
    "fertility=1": {"fertility": 1},
    "cost_missing=1": {"cost_missing": 1.0},
    "cost_missing=3": {"cost_missing": 3.0},
}
SETTINGS = {
    "default": "default",
    **dict.fromkeys(HAND, "hand"),
    "Model 1, intersection": "peer",
}
TRAIN, TEST, BITEXT = 100, 200, 600
QUICK = 20
PASSES = 5


def warm() -> None:
    from maxmargin.warmup import TASKS

    model, X = TASKS["match"]()
    model.predict(X)


def run(data: str, setting: str, quick: bool) -> dict:
    from maxmargin import WordAligner
    from maxmargin.matchings.metrics import alignment_scores

    bitext, X, y, test_X, test_y = load(data == "French-English", quick)
    with Clock() as clock:
        if setting == "Model 1, intersection":
            found = intersected(bitext, test_X)
        else:
            model = WordAligner(bitext=bitext, **HAND.get(setting, {}))
            found = model.fit(X, y).predict(test_X)
    report = alignment_scores(test_y, found, bootstrap=1000)
    low, high = report.interval
    interval = 50.0 * (high - low)
    return {
        "score": 100.0 * (1.0 - report.aer),
        "interval": interval,
        "cpu": clock.cpu,
    }


def load(swapped: bool, quick: bool):
    from maxmargin.matchings.bitext import read_aligned, read_bitext

    trial, test, more = need_data(*FILES)
    trial, test = read_aligned(trial, True), read_aligned(test, True)
    X, y = test.X, [(links.sure, links.possible) for links in test.y]
    bitext = [*trial.X, *X, *read_bitext(more)[:BITEXT]]
    if swapped:
        X, bitext = ([(b, a) for a, b in pairs] for pairs in (X, bitext))
        y = [tuple([(j, i) for i, j in links] for links in both) for both in y]
    size = QUICK if quick else TRAIN
    return bitext, X[:size], y[:size], X[-TEST:], y[-TEST:]


# the peer ------------------------------------------------------------------------------


def intersected(bitext, pairs) -> list:
    """Links that Model 1 of both directions has (Brown et al. 1993; Och & Ney 2003)."""
    forward = model1(bitext)
    backward = model1([(b, a) for a, b in bitext])
    found = []
    for source, target in pairs:
        there = _best(forward, source, target)
        back = _best(backward, target, source)
        found.append(sorted(there & {(i, j) for j, i in back}))
    return found


def model1(bitext) -> dict:
    """{(source word, target word): t(target | source)} by expectation maximisation."""
    words, pairs = {}, {}
    source, pair, token, tokens = [], [], [], 0
    for a, b in bitext:
        for other in b:
            for word in a:
                key = (word.lower(), other.lower())
                number = pairs.setdefault(key, len(pairs))
                if number == len(source):
                    source.append(words.setdefault(key[0], len(words)))
                pair.append(number)
                token.append(tokens)
            tokens += 1
    source, pair, token = map(np.array, (source, pair, token))
    t = np.ones(len(pairs))
    for _ in range(PASSES):
        share = t[pair] / np.bincount(token, t[pair])[token]
        count = np.bincount(pair, share)
        t = count / np.bincount(source, count)[source]
    return dict(zip(pairs, t.tolist(), strict=True))


def _best(t: dict, source, target) -> set:
    """Every target word with its likeliest source word."""
    return {
        (
            max(
                range(len(source)),
                key=lambda i: t.get((source[i].lower(), word.lower()), 0.0),
            ),
            j,
        )
        for j, word in enumerate(target)
    }
