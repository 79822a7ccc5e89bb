"""GrammarParser as it comes, beside settings by hand and a grammar of relative frequencies.

The WSJ sample: documents 1-159 train, 160-199 test. nltk's ViterbiParser finds the trees of
PCFGParser, thousands of times slower (``benchmarks/parsing.py``).
"""

from __future__ import annotations

import numpy as np
from common import Clock
from parsing import FILES, TRAIN, WORDS, load_trees, warm

__all__ = ["DATA", "METRIC", "SETTINGS", "run", "warm"]

METRIC = "F1 of brackets"
DATA = {"WSJ, up to 10 words": [*FILES], "WSJ, up to 15 words": [*FILES]}
HAND = {
    "C=1": {"C": 1.0},
    "rules alone": {"features": None},
    "loss=hamming": {"loss": "hamming"},
    "objective=log": {"objective": "log"},
    "objective=log, viterbi": {"objective": "log", "decoding": "viterbi"},
    "features=spans": {"features": "spans"},
    "spans with words": WORDS,
}
SETTINGS = {"default": "default", **dict.fromkeys(HAND, "hand"), "PCFG": "peer"}
TEST = (160, 199)
QUICK = 100  # training sentences


def run(data: str, setting: str, quick: bool) -> dict:
    from maxmargin import GrammarParser, PCFGParser
    from maxmargin.trees.metrics import score_brackets

    longest = int(data.split()[-2])
    train, test = load_trees(TRAIN, longest), load_trees(TEST, longest)
    model = (
        PCFGParser() if setting == "PCFG" else GrammarParser(**HAND.get(setting, {}))
    )
    with Clock() as clock:
        found = model.fit(None, train[: QUICK if quick else None]).predict(test)
    report = score_brackets(test, found)
    rows = report.sentences  # independent; F1 is the share of these totals
    right = np.array([2 * row.correct for row in rows])
    total = np.array([row.truth + row.predicted for row in rows])
    spread = np.sqrt(((right - report.f1 * total) ** 2).sum()) / total.sum()
    return {"score": 100 * report.f1, "interval": 196.0 * spread, "cpu": clock.cpu}
