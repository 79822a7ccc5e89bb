"""How long MotifFinder trains, over C.

    python benchmarks/motif_times.py [--C 0.01,0.1,1,10,100] [--starts 2]

Yeast's origins of replication against other features of the genome, half of them (that of
``default_rows/motifs.py``), and a donor site planted in other DNA. Printed for each C: CPU
seconds of a fit, passes and outer steps of the start that was kept, and how much of the
objective another step could gain at most: above 0.01, the fit ended with a warning.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from common import Clock, fresh, header, start, table, worker
from default_rows import motifs

DATA = ("origins, repeats", "planted")
COLUMNS = ["data", "C", "CPU s", "passes", "steps", "objective", "bound"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--C", default="0.01,0.1,1,10,100")
    parser.add_argument("--starts", type=int, default=2)
    options = parser.parse_args()
    header("Motifs: time over C")
    rows = []
    for data in DATA:
        for C in map(float, options.C.split(",")):
            found = fresh(fit, data=data, C=C, starts=options.starts)
            rows.append([data, f"{C:g}", *(found[name] for name in COLUMNS[2:])])
    table(COLUMNS, rows)
    return 0


@worker
def fit(data: str, C: float, starts: int) -> dict:
    from sklearn.exceptions import ConvergenceWarning

    from maxmargin import MotifFinder

    motifs.warm()
    X, y = motifs.LOAD[data]()
    train = np.random.default_rng(3).permutation(len(X))[: len(X) // 2]
    model = MotifFinder(C=C, n_restarts=starts)
    warnings.simplefilter("ignore", ConvergenceWarning)
    with Clock() as clock:
        model.fit([X[i] for i in train], y[train])
    point = model.certificate_
    return {
        "CPU s": clock.cpu,
        "passes": len(model.history_),
        "steps": model.n_outer_,
        "objective": point.objective,
        "bound": point.bound / point.objective,
    }


if __name__ == "__main__":
    start(main)
