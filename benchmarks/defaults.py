"""Defaults beside the best setting chosen by hand and beside the peer, per family.

    python benchmarks/defaults.py [--families NAME ...] [--quick]

A file of ``benchmarks/default_rows/`` is a family. It says

* ``DATA``: names of data sets, with the files below MAXMARGIN_DATA that each needs;
* ``METRIC``: what its scores are, in points; more is better;
* ``SETTINGS``: names of settings, each "default", "hand" (what a user could have chosen
  without tuning) or "peer" (what a user could have installed instead);
* ``warm()``: load or compile what the fits run, on a tiny problem;
* ``run(data, setting, quick)``: train on the training part and score the test part:
  ``score``, ``interval`` (half of its 95% interval, 0 if not known) and ``cpu`` (seconds
  of training and predicting), or None where a setting does not apply to these data.

A default passes if it is at most 0.5 points, or its interval, below the best row, and
takes at most 1.5 times that row's CPU time (differences below 0.1 s do not count).
"""

from __future__ import annotations

import argparse
import importlib
from pathlib import Path

from common import data_file, fresh, header, start, table, worker

POINTS = 0.5
TIMES = 1.5
SECONDS = 0.1  # of CPU: less is noise
FAMILIES = sorted(
    path.stem
    for path in (Path(__file__).parent / "default_rows").glob("*.py")
    if path.stem != "__init__"
)
COLUMNS = ["data", "setting", "", "score", "+-", "CPU s"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=FAMILIES)
    parser.add_argument("--quick", action="store_true", help="small data")
    options = parser.parse_args()
    header("Defaults")
    verdicts = []
    for family in options.families:
        rows = importlib.import_module(f"default_rows.{family}")
        fresh(warm_up, family=family)
        for data, files in rows.DATA.items():
            if not all(map(data_file, files)):
                print(f"skipped: {family}, {data}: {', '.join(files)} not found.")
                continue
            verdicts.append(_compare(family, rows, data, options.quick))
    table(
        ["family", "data", "metric", "default", "best", "of", "CPU", "of best", ""],
        verdicts,
    )
    return int(any(row[-1] == "FAIL" for row in verdicts))


def _compare(family: str, rows, data: str, quick: bool) -> list:
    found = {}
    for setting in rows.SETTINGS:
        result = fresh(run_row, family=family, data=data, setting=setting, quick=quick)
        if "score" in result:
            found[setting] = result
    print(f"\n{family}, {data}: {rows.METRIC}")
    table(
        COLUMNS,
        [
            [
                data,
                name,
                rows.SETTINGS[name],
                f"{r['score']:.2f}",
                r["interval"],
                r["cpu"],
            ]
            for name, r in found.items()
        ],
    )
    default = next(r for n, r in found.items() if rows.SETTINGS[n] == "default")
    best = max(found, key=lambda name: found[name]["score"])
    return _verdict(family, data, rows.METRIC, default, best, found[best])


def _verdict(family, data, metric, default, name, best) -> list:
    slower = default["cpu"] - max(TIMES * best["cpu"], best["cpu"] + SECONDS)
    behind = best["score"] - default["score"] - max(POINTS, default["interval"])
    return [
        family,
        data,
        metric,
        f"{default['score']:.2f}",
        f"{best['score']:.2f}",
        name,
        default["cpu"],
        default["cpu"] / max(best["cpu"], 1e-9),
        "PASS" if slower <= 0 and behind <= 0 else "FAIL",
    ]


@worker
def warm_up(family: str) -> dict:
    importlib.import_module(f"default_rows.{family}").warm()
    return {}


@worker
def run_row(family: str, data: str, setting: str, quick: bool) -> dict:
    rows = importlib.import_module(f"default_rows.{family}")
    rows.warm()
    return rows.run(data, setting, quick) or {}


if __name__ == "__main__":
    start(main)
