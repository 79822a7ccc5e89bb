"""OCR letters as words: certified training against python-crfsuite's L-BFGS.

    python benchmarks/ocr.py [--repeat 3]

Folds 1-9 train, fold 0 tests. Training times exclude encoding on both sides.
"""

from __future__ import annotations

import argparse
import os
import tempfile

from common import (
    BUSY,
    Clock,
    Targets,
    accuracy,
    fresh,
    header,
    load_letters,
    median,
    need_data,
    need_package,
    no_compiling,
    start,
    table,
    warm_tagger,
    worker,
)

C = 0.1
TOLS = (0.1, 0.01, 0.001)
PEER = {
    "c1": 0.0,
    "c2": 1.0,
    "max_iterations": 200,
    "feature.possible_states": 1,
    "feature.possible_transitions": 1,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3, help="runs of the fast rows")
    repeat = parser.parse_args().repeat
    need_data("ocr_letters/letters.npz")
    need_package("python-crfsuite", "pycrfsuite")
    header("OCR letters, 6251 words to train, 626 to test")
    fresh(prepare)
    ours = {tol: [fresh(tagger, tol=tol) for _ in range(repeat)] for tol in TOLS}
    peer = fresh(crfsuite)
    _show(ours, peer)
    return 0


@worker
def prepare() -> dict:
    warm_tagger(dense=True)
    return {}


@worker
def tagger(tol: float) -> dict:
    """Fit on dense 0/1 arrays, one per word."""
    from maxmargin import SequenceTagger

    warm_tagger(dense=True)
    X, y = load_letters(train=True)
    test_X, test_y = load_letters(train=False)
    result = {}
    with no_compiling(result), Clock() as fit:
        model = SequenceTagger(C=C, tol=tol).fit(X, y)
    certificate = model.certificate_
    result.update(
        train=model.history_[-1]["seconds"],
        train_cpu=model.history_[-1]["seconds"] * fit.busy,
        total=fit.wall,
        passes=model.n_iter_,
        primal=certificate.primal,
        dual=certificate.dual,
        gap=certificate.relative_gap,
        accuracy=accuracy(test_y, model.predict(test_X)),
    )
    return result


@worker
def crfsuite() -> dict:
    """Pixels that are on, as attributes; every attribute with every label."""
    import numpy as np
    import pycrfsuite

    names = np.array([f"p{j}" for j in range(128)])

    def strings(words):
        return [[names[row > 0].tolist() for row in word] for word in words]

    X, y = load_letters(train=True)
    test_X, test_y = load_letters(train=False)
    X, test_X = strings(X), strings(test_X)
    trainer = pycrfsuite.Trainer("lbfgs", PEER, verbose=False)
    with Clock() as append:
        for word, labels in zip(X, y, strict=True):
            trainer.append(word, [str(label) for label in labels])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        with Clock() as train:
            trainer.train(path)
        model = pycrfsuite.Tagger()
        model.open(path)
        predicted = [model.tag(word) for word in test_X]
        iterations = trainer.logparser.last_iteration["num"]
        model.close()
    return {
        "train": train.wall,
        "train_cpu": train.cpu,
        "total": append.wall + train.wall,
        "passes": iterations,
        "accuracy": accuracy(test_y, predicted),
    }


def _show(ours, peer) -> None:
    rows = []
    for tol, results in ours.items():
        row = {key: median(results, key) for key in results[0]}
        rows.append(_row(f"SequenceTagger(C={C}, tol={tol:g})", len(results), row))
    rows.append(_row("python-crfsuite lbfgs, c2=1", 1, peer))
    columns = "tool|runs|train s|CPU s|encode+train s|passes|primal|dual|relative gap"
    table([*columns.split("|"), "letters right %", "peak MB", "busy"], rows)
    print(BUSY)
    targets = Targets()
    results = ours[0.01]
    targets.at_most("certified relative gap", max(r["gap"] for r in results), 0.01)
    ratio = median(results, "train_cpu") / peer["train_cpu"]
    targets.at_most("training time / crfsuite lbfgs", ratio, 0.1, "1/10")
    targets.show()


def _row(name, runs, row) -> list:
    proved = [None, None, None]
    if "gap" in row:
        proved = [f"{row['primal']:.2f}", f"{row['dual']:.2f}", f"{row['gap']:.2%}"]
    return [
        name,
        runs,
        row["train"],
        row["train_cpu"],
        row["total"],
        int(row["passes"]),
        *proved,
        f"{row['accuracy']:.2f}",
        f"{row['peak_mb']:.0f}",
        f"{row['busy']:.2f}",
    ]


if __name__ == "__main__":
    start(main)
