"""OCR letters as words: pixels as linear features against a kernel of the letters.

    python benchmarks/kernel_tags.py [--components 1000 2000] [--methods nystroem ...]

Folds 1-9 train, fold 0 tests. `encode s` is the time to find a basis and the coordinates
of all letters in it, `train s` that of training on them, `CPU s` the same where the core
is shared.
"""

from __future__ import annotations

import argparse

from common import (
    BUSY,
    Clock,
    Targets,
    accuracy,
    fresh,
    header,
    load_letters,
    need_data,
    no_compiling,
    start,
    table,
    warm_tagger,
    worker,
)

LINEAR = {"C": 0.1}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--components", type=int, nargs="+", default=[1000, 2000])
    methods = ["nystroem", "subspace-pursuit"]
    parser.add_argument("--methods", nargs="+", default=methods)
    parser.add_argument("--C", type=float, default=10.0, help="of the kernel machines")
    parser.add_argument("--gamma", type=float, default=0.05)
    options = parser.parse_args()
    need_data("ocr_letters/letters.npz")
    header("OCR letters, 6251 words to train, 626 to test")
    fresh(prepare)
    rows = [("linear", fresh(tagger, settings=LINEAR))]
    for k in options.components:
        for method in options.methods:
            settings = {"kernel": "rbf", "gamma": options.gamma, "C": options.C}
            settings |= {"method": method, "n_components": k}
            name = f"rbf({options.gamma:g}), {method}, {k:,}"
            rows.append((name, fresh(tagger, settings=settings)))
    _show(rows)
    return 0


@worker
def prepare() -> dict:
    warm_tagger(dense=True)
    return {}


@worker
def tagger(settings: dict) -> dict:
    from maxmargin import SequenceTagger

    warm_tagger(dense=True)
    X, y = load_letters(train=True)
    test_X, test_y = load_letters(train=False)
    result = {"C": settings["C"]}
    with no_compiling(result), Clock() as fit:
        model = SequenceTagger(**settings).fit(X, y)
    seconds = model.history_[-1]["seconds"]
    with Clock() as predict:
        predicted = model.predict(test_X)
    result.update(
        train=seconds,
        train_cpu=seconds * fit.busy,
        encode=fit.wall - seconds,
        predict=predict.wall,
        passes=model.n_iter_,
        gap=model.certificate_.relative_gap,
        error=100.0 - accuracy(test_y, predicted),
    )
    return result


def _show(rows) -> None:
    columns = "emissions|C|encode s|train s|CPU s|predict s|passes|relative gap"
    columns += "|letters wrong %"
    table(
        [*columns.split("|"), "peak MB", "busy"],
        [
            [
                name,
                f"{row['C']:g}",
                row["encode"],
                row["train"],
                row["train_cpu"],
                row["predict"],
                int(row["passes"]),
                f"{row['gap']:.2%}",
                f"{row['error']:.2f}",
                f"{row['peak_mb']:.0f}",
                f"{row['busy']:.2f}",
            ]
            for name, row in rows
        ],
    )
    print(BUSY)
    targets = Targets()
    best = min(row["error"] for _, row in rows[1:])
    targets.at_most("letters wrong / linear", best / rows[0][1]["error"], 0.5, "1/2")
    targets.show()


if __name__ == "__main__":
    start(main)
