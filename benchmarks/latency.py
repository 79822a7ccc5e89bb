"""How long the first fit waits for the compiler: CPU seconds, by estimator.

    python benchmarks/latency.py [TASK ...]
    python benchmarks/latency.py --single

Each task (``maxmargin.warmup.TASKS``: a fit on a few invented examples and a prediction)
runs in a fresh process, three times: on an empty cache; on a cache that has seen another
task (tag after match, all others after tag), where solvers may be compiled already; and
on its own cache, from disk. Imports are not counted. Then, without names of tasks,
``maxmargin warmup`` of all of them on an empty cache, with its imports. Exits with 1 if a
target is missed.

``--single`` prints how long the prediction of one sentence takes instead: CPU microseconds
a call, the median of the test sentences of CoNLL-2000, beside python-crfsuite. Features
are made before (lists of strings), or by the tagger, of words and tags (``features=``).
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time

from common import chunk_features, need_data, need_package, read_columns, table

from maxmargin.warmup import TASKS

# empty cache: the target; after another task: half of what it took before solvers were
# compiled once for all structures
EMPTY = {task: 10 for task in TASKS}
EMPTY |= dict.fromkeys(("classify", "taxonomy", "kernel", "tag", "tag-arrays"), 5)
AFTER = {"classify": 6, "tag": 23, "tag-arrays": 23, "parse": 59}
FROM_DISK = 1.0
WARMUP = 60  # all tasks

PROGRAM = """
import sys, time, warnings
warnings.simplefilter("ignore")
import importlib
import maxmargin.core.decode, maxmargin.solvers.driver
import maxmargin.solvers.by_label.hard_margin, maxmargin.solvers.handover
from maxmargin.families import places
for module in places("public").values():
    importlib.import_module(module)
from maxmargin.warmup import TASKS
began = time.process_time()
model, X = TASKS[sys.argv[1]]()
fitted = time.process_time()
model.predict(X)
print(fitted - began, time.process_time() - fitted)
"""


def run(cache: str, *arguments: str) -> str:
    """What a new Python process with that cache prints."""
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stdout


def seconds(task: str, cache: str) -> tuple[float, float]:
    """(CPU seconds of the fit, of the prediction) in a new process."""
    fit, predict = map(float, run(cache, "-c", PROGRAM, task).split())
    return fit, predict


def warmup(cache: str) -> float:
    """CPU seconds of ``maxmargin warmup``, its processes included."""
    before = os.times()
    run(cache, "-m", "maxmargin", "warmup")
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


def main(tasks) -> int:
    missed = 0

    def cell(pair, target) -> str:
        nonlocal missed
        total = sum(pair)
        late = target is not None and total > target
        missed += late
        verdict = (
            "" if target is None else f"{'FAIL' if late else 'pass'} <= {target:g}"
        )
        return f"{pair[0]:6.1f} {pair[1]:5.1f} {verdict:<11}"

    print("CPU seconds of the first fit and prediction")
    print(f"{'':<9}  {'empty cache':<24} {'after another task':<24} from disk")
    with tempfile.TemporaryDirectory() as folder:
        for first in ("tag", "match"):
            seconds(first, f"{folder}/after-{first}")
        for task in tasks or TASKS:
            own, other = f"{folder}/{task}", "match" if task == "tag" else "tag"
            cold = cell(seconds(task, own), EMPTY.get(task))
            after = cell(seconds(task, f"{folder}/after-{other}"), AFTER.get(task))
            print(f"{task:<9}  {cold} {after} {cell(seconds(task, own), FROM_DISK)}")
        if not tasks:
            took = warmup(f"{folder}/warmup")
            missed += took > WARMUP
            verdict = "FAIL" if took > WARMUP else "pass"
            print(f"maxmargin warmup: {took:.1f} {verdict} <= {WARMUP}")
    return int(missed > 0)


# one sentence at a time ---------------------------------------------------------------

SHORT = 10  # tokens
TRAINED_ON = 2000  # sentences
READY_TARGET, NER_TARGET = 50, 150  # microseconds, for short sentences


def microseconds(tag, sentences) -> float:
    """The median of CPU time a call."""
    spent = []
    for x in sentences[:50]:
        tag(x)
    for x in sentences:
        began = time.process_time_ns()
        for _ in range(5):
            tag(x)
        spent.append((time.process_time_ns() - began) / 5e3)
    return statistics.median(spent)


def _crfsuite(X, y):
    import pycrfsuite

    trainer = pycrfsuite.Trainer("ap", {"max_iterations": 3}, verbose=False)
    for tokens, labels in zip(X, y, strict=True):
        trainer.append(tokens, labels)
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(f"{folder}/model")
        tagger = pycrfsuite.Tagger()
        tagger.open(f"{folder}/model")
        return tagger.tag


def one_at_a_time() -> int:
    from maxmargin import SequenceTagger

    need_package("python-crfsuite", "pycrfsuite")
    files = need_data("conll2000/train.txt.gz", "conll2000/test.txt.gz")
    train, test = map(read_columns, files)
    train = train[:TRAINED_ON]
    y = [[row[-1] for row in sentence] for sentence in train]
    ready, rows = (
        [[make(sentence) for sentence in part] for part in (train, test)]
        for make in (chunk_features, lambda sentence: [row[:2] for row in sentence])
    )
    settings = {"objective": "perceptron", "max_iter": 3}

    def trained(data, **more):
        return SequenceTagger(**settings, **more).fit(data[0], y).predict_single

    lines = []
    for what, data, tag, target in (
        ("python-crfsuite, strings", ready, _crfsuite(ready[0], y), None),
        ("maxmargin, strings", ready, trained(ready), READY_TARGET),
        ('maxmargin, "chunking"', rows, trained(rows, features="chunking"), NER_TARGET),
        ('maxmargin, "ner"', rows, trained(rows, features="ner"), NER_TARGET),
    ):
        short = microseconds(tag, [x for x in data[1] if len(x) <= SHORT])
        verdict = ""
        if target is not None:
            verdict = f"{'pass' if short <= target else 'FAIL'} <= {target}"
        lines.append([what, short, verdict, microseconds(tag, data[1])])
    print("one sentence at a time, CPU microseconds a call")
    table(["", f"up to {SHORT} tokens", "", "all test sentences"], lines)
    return int(any("FAIL" in line[2] for line in lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=", ".join(TASKS))
    parser.add_argument("--single", action="store_true", help="predict one by one")
    options = parser.parse_args()
    if options.single:
        sys.exit(one_at_a_time())
    chosen = options.tasks
    for name in chosen:
        if name not in TASKS:
            parser.error(f"there is no task {name}; there are {', '.join(TASKS)}")
    sys.exit(main(chosen))
