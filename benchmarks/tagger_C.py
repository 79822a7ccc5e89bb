"""Which C should be the default: test scores and seconds over C, data nobody tuned on.

    python benchmarks/tagger_C.py [--quick] [--data NAME ...]

Taggers, with the hinge and with the log-loss, otherwise as they come. The mean rank of a
C over all rows, and its largest loss against the best C of a row, are what decides.
"""

from __future__ import annotations

import argparse

from common import data_file, fresh, header, start, table, worker
from crf import FILES, _load, _score

CS = (0.03, 0.1, 0.3, 1.0, 3.0)
OBJECTIVES = ("hinge", "log")
QUICK = 800  # training sequences
MOST_SECONDS = 120.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small data")
    names = [name for name in FILES if all(map(data_file, FILES[name]))]
    parser.add_argument("--data", nargs="+", choices=FILES, default=names)
    options = parser.parse_args()
    header("Default C of taggers")
    rows, scores = [], []
    for name in options.data:
        fresh(fit, name=name, objective="log", C=1.0, limit=50)  # fills the cache
        for objective in OBJECTIVES:
            limit = QUICK if options.quick else None
            found = [
                fresh(fit, name=name, objective=objective, C=C, limit=limit) for C in CS
            ]
            scores.append([each["score"] for each in found])
            cells = [f"{each['score']:.2f} ({each['seconds']:.1f} s)" for each in found]
            rows.append([name, objective, *cells])
    table(["data", "objective", *(f"C={C:g}" for C in CS)], rows)
    _judge(scores)
    return 0


def _judge(scores) -> None:
    ranks = [[sum(b > a for b in row) + 1 for a in row] for row in scores]
    mean = [sum(column) / len(ranks) for column in zip(*ranks, strict=True)]
    worst = [max(max(row) - row[j] for row in scores) for j in range(len(CS))]
    table(
        ["", *(f"C={C:g}" for C in CS)],
        [["mean rank", *mean], ["largest loss against the best, points", *worst]],
    )


@worker
def fit(name: str, objective: str, C: float, limit: int | None) -> dict:
    from maxmargin import SequenceTagger

    X, y, test_X, test_y, features = _load(name, limit)
    model = SequenceTagger(
        C=C, objective=objective, features=features, max_time=MOST_SECONDS
    )
    model.fit(X, y)
    return {
        "seconds": model.history_[-1]["seconds"],
        "score": _score(name, test_y, model.predict(test_X)),
    }


if __name__ == "__main__":
    start(main)
