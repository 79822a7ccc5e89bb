"""Dependency trees of the WSJ sample: speed, training time, UAS and LAS of settings.

    python benchmarks/dependencies.py [--quick] [--parsers NAME ...] [--choose-C]

Documents 1-159 train, 180-199 test; labels are derived from the phrases of the same
sentences (``dependency_data.py``); the tags are those of the treebank. The peer is a greedy
transition-based parser with an averaged perceptron (``transition_parser.py``). Intervals
are those of drawing test sentences. ``--choose-C`` prints scores over C on two folds of the
training documents instead.

On the whole Penn Treebank, second-order margins (McDonald & Pereira 2006) are better than
first-order ones (McDonald, Crammer & Pereira 2005), and these better than the
transition-based parser of Yamada & Matsumoto (2003): that order is to be expected here.
"""

from __future__ import annotations

import argparse

from common import (
    BUSY,
    Clock,
    Targets,
    fresh,
    header,
    need_data,
    no_compiling,
    start,
    table,
    worker,
)
from dependency_data import FILES, TEST, TRAIN, load

PEER = "transitions, perceptron"
FIRST, SECOND = "margins", "margins, order 2"
PARSERS: dict = {
    FIRST: {},
    "margins, not projective": {"projective": False},
    "log": {"objective": "log"},
    "log, not projective": {"objective": "log", "projective": False},
    SECOND: {"order": 2},
    PEER: None,
}
QUICK = FIRST, SECOND
FOLDS = (1, 53), (54, 106), (107, 159)
CHOICES = {"hinge": (0.01, 0.03, 0.1), "log": (0.1, 0.3, 1.0)}
LONGEST = 300  # seconds of a fit of --choose-C
DRAWS = 1000


def main() -> int:
    options = _options()
    need_data(*FILES)
    header("WSJ sample, dependency trees")
    fresh(prepare)
    if options.choose_C:
        _show_C(options.choose_C)
        return 0
    targets = Targets()
    _show_scores(targets, options.parsers or (QUICK if options.quick else PARSERS))
    targets.show()
    return 0


def _options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="margins alone")
    parser.add_argument("--parsers", nargs="+", choices=PARSERS, help="only these")
    parser.add_argument("--choose-C", nargs="*", choices=CHOICES, help="of objectives")
    options = parser.parse_args()
    if options.choose_C == []:
        options.choose_C = list(CHOICES)
    return options


def warm() -> None:
    """Load or compile what the parsers run, on two tiny sentences."""
    from maxmargin import DependencyParser

    X = [[("the", "DT"), ("dog", "NN")], [("dogs", "NNS"), ("bark", "VBP")]]
    y = [[(2, "det"), (0, "root")], [(2, "subj"), (0, "root")]]
    for options in PARSERS.values():
        if options is not None:
            DependencyParser(**options).fit(X, y).predict(X)


# workers ----------------------------------------------------------------------


@worker
def prepare() -> dict:
    warm()
    return {}


@worker
def parse(name: str) -> dict:
    """Train one parser and return what it predicts."""
    (X, y), (X_test, _) = load(TRAIN, TEST)
    options, result = PARSERS[name], {}
    words = sum(map(len, X_test))
    if options is None:
        from transition_parser import TransitionParser

        model = TransitionParser()
    else:
        from maxmargin import DependencyParser

        warm()
        model = DependencyParser(**options)
    with no_compiling(result), Clock() as clock:
        model.fit(X, y)
    found = model.predict(X_test)
    repeats = 1 if options is None else 3
    with Clock() as parsing:
        for _ in range(repeats):
            model.predict(X_test)
    certificate = getattr(model, "certificate_", None)
    return result | {
        "found": found,
        "wall": clock.wall,
        "cpu": clock.cpu,
        "speed": repeats * words / parsing.cpu,
        "gap": certificate and certificate.relative_gap,
    }


@worker
def fold(k: int, C: float, objective: str) -> dict:
    """Scores on one fold of the training documents."""
    from maxmargin import DependencyParser

    warm()
    parts = load(*FOLDS)
    train = [p for j, p in enumerate(parts) if j != k]
    X, y = ([row for p in train for row in p[side]] for side in (0, 1))
    model = DependencyParser(C=C, objective=objective, max_time=LONGEST)
    with Clock() as clock:
        model.fit(X, y)
    report = model.evaluate(*parts[k])
    gap = model.certificate_.relative_gap
    return {"uas": report.uas, "las": report.las, "cpu": clock.cpu, "gap": gap}


# tables -----------------------------------------------------------------------


def _show_C(objectives) -> None:
    rows = []
    for objective in objectives:
        for C in CHOICES[objective]:
            found = [fresh(fold, k=k, C=C, objective=objective) for k in (0, 2)]
            scores = [f"{100 * r[name]:.2f}" for r in found for name in ("uas", "las")]
            cpu, gap = (max(r[name] for r in found) for name in ("cpu", "gap"))
            rows.append([objective, C, *scores, cpu, gap])
    columns = ["objective", "C", "UAS", "LAS", "UAS", "LAS", "CPU s", "gap"]
    table(columns, rows)


def _show_scores(targets, names) -> None:
    from maxmargin.dependencies.metrics import attachment_scores

    ((X, y),) = load(TEST)
    reports, results, rows = {}, {}, []
    for name in names:
        r = results[name] = fresh(parse, name=name)
        found = [[(h, label) for h, label in row] for row in r.pop("found")]
        report = reports[name] = attachment_scores(X, y, found)
        scores = (report.uas, report.las, report.plain_uas, report.plain_las)
        rows.append(
            [
                name,
                *(f"{100 * x:.2f}" for x in scores),
                f"{100 * report.plain_complete:.1f}",
                r["gap"],
                r["cpu"],
                r["speed"],
                f"{r['busy']:.2f}",
            ]
        )
    columns = ["parser", "UAS", "LAS", "UAS, no punct.", "LAS", "complete %", "gap"]
    table([*columns, "train CPU s", "words/CPU s", "busy"], rows)
    print(BUSY)
    for ours in names:
        if PEER in reports and ours != PEER:
            low, middle, high = _difference(reports[PEER], reports[ours])
            print(f"{ours} minus {PEER}: LAS {middle:+.2f} [{low:+.2f}, {high:+.2f}]")
    if FIRST in names:
        targets.at_least("words/s, order 1", results[FIRST]["speed"], 10_000)
        targets.at_most("training CPU s, order 1", results[FIRST]["cpu"], 120)
    if SECOND in names:
        targets.at_least("words/s, order 2", results[SECOND]["speed"], 3_000)
        targets.at_most("training CPU s, order 2", results[SECOND]["cpu"], 120)
    if FIRST in names and PEER in names:
        mine, peer = (100 * reports[name].plain_uas for name in (FIRST, PEER))
        targets.at_least("UAS without punctuation: margins, transitions", mine, peer)
    if FIRST in names and SECOND in names:
        second, first = (100 * reports[name].plain_uas for name in (SECOND, FIRST))
        targets.at_least("UAS without punctuation: order 2, order 1", second, first)


def _difference(a, b) -> tuple[float, float, float]:
    """LAS of b minus that of a, in per cent: 2.5%, all, 97.5% over draws of sentences."""
    import numpy as np

    words = np.array([row.words for row in a.sentences])
    more = np.array(
        [s.both - r.both for r, s in zip(a.sentences, b.sentences, strict=True)]
    )
    draws = np.random.default_rng(0).integers(len(words), size=(DRAWS, len(words)))
    found = 100 * more[draws].sum(axis=1) / words[draws].sum(axis=1)
    low, high = np.percentile(found, (2.5, 97.5))
    return float(low), 100 * float(more.sum() / words.sum()), float(high)


if __name__ == "__main__":
    start(main)
