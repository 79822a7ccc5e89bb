"""This checkout beside another revision of the library: seconds, memory, results.

    python benchmarks/compare.py REVISION [--jobs chunking ocr ...] [--repeat 3]

Every job is one training and one prediction through the public names, in a process of its
own on one core; the two revisions take turns. Kernels are compiled before and come from
disk, which counts. Ratios are of the best of all turns: above 1.05 is a FAIL.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from common import (
    Targets,
    accuracy,
    header,
    load_chunks,
    load_letters,
    need_data,
    start,
    table,
)

HERE = Path(__file__).resolve().parents[1]
SLOWER = 1.05


def chunking():
    from maxmargin import SequenceTagger

    X, y = load_chunks("train")
    return SequenceTagger(C=0.1, tol=0.1), X, y, load_chunks("test")


def tagging():
    """From columns of a file, by a template."""
    from maxmargin import SequenceTagger
    from maxmargin.files import read_columns

    parts = []
    for name in ("train", "testb"):
        (path,) = need_data(f"conll2002_esp/esp.{name}.txt.gz")
        columns = read_columns(path)
        inputs = columns._replace(columns=columns.columns[:-1])
        parts.append((inputs, columns.strings(-1)))
    return SequenceTagger(C=0.1, tol=0.1, features="ner"), *parts[0], parts[1]


def crf():
    from maxmargin import SequenceTagger

    X, y = load_chunks("train")
    model = SequenceTagger(C=0.5, tol=0.01, objective="log", max_iter=100)
    return model, X, y, load_chunks("test")


def ocr():
    from maxmargin import SequenceTagger

    X, y = load_letters(train=True)
    return SequenceTagger(C=0.1, tol=0.01), X, y, load_letters(train=False)


def multiclass():
    import numpy as np

    from maxmargin import MulticlassSVM

    parts = [load_letters(train) for train in (True, False)]
    (X, y), test = [(np.vstack(X), np.concatenate(y)) for X, y in parts]
    return MulticlassSVM(C=0.1, tol=0.01), X, y, test


def parsing():
    import gzip

    from maxmargin import GrammarParser
    from maxmargin.files import read_trees

    trees, names = need_data(
        "wsj_sample_trees/wsj_sample.mrg.gz",
        "wsj_sample_trees/wsj_sample.docids.txt.gz",
    )
    with gzip.open(names, "rt") as lines:
        numbers = [int(name[-4:]) for name in lines.read().split()]
    read = zip(read_trees(trees), numbers, strict=True)
    short = [(t, n) for t, n in read if len(t.words()) <= 15]
    train = [t for t, n in short if n <= 150]
    test = [t for t, n in short if n > 150]
    return GrammarParser(C=1.0, tol=0.1), None, train, (test, test)


def alignment():
    from maxmargin import SequenceAligner
    from maxmargin.files import read_pair_table

    (path,) = need_data("balibase3/pairs_ss.tsv.gz")
    pairs = [p for p in read_pair_table(path) if p.family.startswith("RV11/")]
    X = [(p.a, p.b) for p in pairs]
    y = [p.pairs for p in pairs]
    return SequenceAligner(C=100.0, tol=0.02), X, y, (X[::4], y[::4])


JOBS = {
    job.__name__: job
    for job in (chunking, tagging, crf, ocr, multiclass, parsing, alignment)
}


def work(name: str) -> dict:
    """One job in this process; kernels are loaded from disk as they are needed."""
    import resource
    import warnings

    warnings.simplefilter("ignore")
    model, X, y, (test_X, test_y) = JOBS[name]()
    began = time.process_time()
    model.fit(X, y)
    fitted = time.process_time()
    found = model.predict(test_X)
    done = time.process_time()
    return {
        "train": model.history_[-1]["seconds"],
        "fit": fitted - began,
        "predict": done - fitted,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "gap": model.certificate_.relative_gap,
        "score": _score(model, found, test_X, test_y),
    }


def _score(model, found, X, y) -> float:
    if (
        isinstance(y[0], list)
        and isinstance(found[0], list)
        and isinstance(y[0][0], str)
    ):
        return accuracy(y, found)
    return 100.0 * float(model.score(X, y))


def run(tree: Path, name: str) -> dict:
    """A job with the library of one tree, in a new process."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, str(Path(__file__).resolve()), "--work", name]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{name} failed with {tree}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision", nargs="?", help="as git knows it")
    parser.add_argument("--jobs", nargs="+", choices=JOBS, default=list(JOBS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--work", choices=JOBS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        print(json.dumps(work(options.work)))
        return 0
    if not options.revision:
        parser.error("name a revision to compare with")
    header(f"this checkout against {options.revision}")
    with tempfile.TemporaryDirectory() as folder:
        other = Path(folder) / "other"
        git = ["git", "-C", str(HERE)]
        subprocess.run(
            [*git, "worktree", "add", "-q", other, options.revision], check=True
        )
        try:
            _compare(other, options)
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", other], check=True)
    return 0


def _compare(other: Path, options) -> None:
    targets, rows = Targets(), []
    for name in options.jobs:
        turns = {other: [], HERE: []}
        for tree in turns:
            run(tree, name)  # compiles
        for _ in range(options.repeat):
            for tree, found in turns.items():
                found.append(run(tree, name))
        best = {}
        for tree, found in turns.items():
            best[tree] = {key: min(f[key] for f in found) for key in found[0]}
            label = "now" if tree == HERE else "before"
            rows.append([f"{name}, {label}", *best[tree].values()])
        for key in ("train", "fit", "predict"):
            ratio = best[HERE][key] / max(best[other][key], 1e-3)
            targets.at_most(f"{name}: {key}, now over before", ratio, SLOWER)
    columns = "job|train s|fit CPU s|predict CPU s|peak MB|relative gap|score"
    table(columns.split("|"), rows)
    targets.show()


if __name__ == "__main__":
    start(main)
