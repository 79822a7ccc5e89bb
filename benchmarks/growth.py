"""Cost of a pass and memory as data grow: more sentences, and longer sequences.

    python benchmarks/growth.py [--passes 5] [--repeat 3]

CoNLL-2000, string features. First 1/8, 1/4, 1/2 and all of the sentences; then all
tokens, in sequences of 1, 2, 4 and 8 sentences joined. ``to linear`` is the growth
against proportional growth: 1 is linear, below 1 is better. Memory is what the process
had at its peak above what it had before it read the data.
"""

from __future__ import annotations

import argparse

from common import (
    Clock,
    fresh,
    header,
    load_chunks,
    median,
    need_data,
    no_compiling,
    peak_mb,
    start,
    table,
    warm_tagger,
    worker,
)

STEPS = (1, 2, 4, 8)
TOL = 1e-4  # never reached in a few passes; below it the library doubles its precision


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--passes", type=int, default=5, help="passes to average over")
    parser.add_argument("--repeat", type=int, default=3, help="runs, for the median")
    options = parser.parse_args()
    passes, repeat = options.passes, options.repeat
    need_data("conll2000/train.txt.gz")
    header(f"CoNLL-2000, SequenceTagger(C=0.1), {passes} passes")
    fresh(prepare)
    more = [_median_of(repeat, share=s / 8, join=1, passes=passes) for s in STEPS]
    _show("sentences", more, STEPS)
    longer = [_median_of(repeat, share=1.0, join=s, passes=passes) for s in STEPS]
    _show("length", longer, [1] * len(STEPS))
    print(
        "A pass is a pass of the solver over the examples, with its cached passes and "
        "its share\nof one certificate. busy: CPU time over wall time; below 0.95 the "
        "machine was shared;\ngrowth is that of CPU seconds."
    )
    return 0


def _median_of(repeat: int, **arguments) -> dict:
    """Every number as the median over fresh processes."""
    results = [fresh(measure, **arguments) for _ in range(repeat)]
    return {key: median(results, key) for key in results[0]}


@worker
def prepare() -> dict:
    warm_tagger()
    return {}


@worker
def measure(share: float, join: int, passes: int) -> dict:
    from maxmargin import SequenceTagger

    warm_tagger()
    empty = peak_mb()
    X, y = load_chunks("train", share)
    X, y = _joined(X, join), _joined(y, join)
    held = peak_mb()
    result = {}
    with no_compiling(result), Clock() as fit:
        model = SequenceTagger(C=0.1, tol=TOL, max_iter=passes).fit(X, y)
    last = model.history_[-1]
    result.update(
        sequences=len(X),
        tokens=sum(map(len, X)),
        per_pass=last["seconds"] / model.n_iter_,
        cpu_per_pass=last["seconds"] * fit.busy / model.n_iter_,
        calls=last["oracle_calls"],
        fit=fit.wall,
        input_mb=held - empty,
        fit_mb=peak_mb() - held,
    )
    return result


def _joined(sequences, join) -> list:
    """Every ``join`` neighbours as one sequence."""
    return [
        [token for sequence in sequences[i : i + join] for token in sequence]
        for i in range(0, len(sequences), join)
    ]


def _show(what, results, sizes) -> None:
    first = results[0]
    rows = []
    for step, size, row in zip(STEPS, sizes, results, strict=True):
        memory, before = (r["input_mb"] + r["fit_mb"] for r in (row, first))
        rows.append(
            [
                f"{step}x {what}",
                int(row["sequences"]),
                int(row["tokens"]),
                row["per_pass"],
                row["cpu_per_pass"],
                row["cpu_per_pass"] / first["cpu_per_pass"] / size,
                f"{row['peak_mb']:.0f}",
                f"{row['input_mb']:.0f}",
                f"{row['fit_mb']:.0f}",
                memory / before / size,
                f"{row['busy']:.2f}",
            ]
        )
    columns = "|sequences|tokens|s per pass|CPU s|to linear|peak MB|strings MB|fit MB"
    table([*columns.split("|"), "to linear", "busy"], rows)


if __name__ == "__main__":
    start(main)
