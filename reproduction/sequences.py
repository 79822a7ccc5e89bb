"""Label sequence learning: the methods of the survey side by side, by cross-validation.

    python reproduction/sequences.py [--sentences 300] [--folds 5] [--task ner pos]
        [--methods HMM CRF ...]

Named entities on a Spanish sub-corpus of CoNLL-2002 and parts of speech on the Wall Street
Journal sample, as in Altun, Hofmann & Tsochantaridis's survey of label sequence learning.
The numbers of its tables did not survive in the copy that this project works from, so
only ours are printed: errors per label in per cent, with the standard error over folds.
C is chosen in every fold on a fifth of its training sentences. The corpora are not those
of the paper (its sentences were drawn at random, and are not listed).
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings

import numpy as np

from maxmargin import HMMTagger, SequenceTagger, kernels
from maxmargin.files import data_file, read_columns
from maxmargin.metrics import scores

CS = (0.01, 0.1, 1.0, 10.0)
TASKS = {
    "ner": {
        "title": "named entities, CoNLL-2002 Spanish",
        "file": "conll2002_esp/esp.train.txt.gz",
        "read": {"columns": [0, -1]},
        "features": "ner",
    },
    "pos": {
        "title": "parts of speech, Wall Street Journal sample",
        "file": "wsj_sample_deps/wsj_sample.dp.gz",
        "read": {"columns": [0, 1], "separator": "\t", "comment": "#"},
        "features": "pos",
    },
}
WORD = "U00:%x[0,0]"
# Pairs of features, exactly: with as many words as tokens, no few tokens stand for all.
# Divided, because a token of 20 features has k(x, x) = 441.
KERNEL = kernels.polynomial(2) / 100


def methods(features: str) -> dict:
    """Name: (estimator, whether C is to be chosen)."""

    def tagger(**settings):
        return SequenceTagger(features=features, **settings)

    return {
        "HMM": (HMMTagger(features=WORD), False),
        "HMM, overlapping features": (HMMTagger(features=features), False),
        "CRF (log)": (tagger(objective="log"), True),
        "marginal": (tagger(objective="marginal", tol=0.05, max_iter=200), True),
        "exponential": (tagger(objective="exponential", tol=0.05, max_iter=200), True),
        "boosting, 300 rounds": (tagger(objective="boosting", max_iter=300), False),
        "perceptron, averaged": (tagger(objective="perceptron"), False),
        "HM-SVM, margin rescaling": (tagger(tol=0.01), True),
        "HM-SVM, slack rescaling": (tagger(rescaling="slack", tol=0.05), True),
        "HM-SVM, polynomial kernel": (tagger(tol=0.05, kernel=KERNEL), True),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=300)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--task", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument(
        "--methods", nargs="+", help="rows whose names begin so, such as HMM HM-SVM"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in options.task:
        try:
            _task(TASKS[name], options)
        except FileNotFoundError as error:
            print(f"skipped: {error}")
    return 0


def _task(task, options) -> None:
    columns = read_columns(data_file(task["file"]), **task["read"])
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.permutation(columns.n_sentences)[: options.sentences])
    columns = columns.select(chosen)
    fold = rng.permutation(columns.n_sentences) % options.folds
    print(
        f"\n{task['title']}: {columns.n_sentences} sentences, {columns.n_tokens} tokens, "
        f"{options.folds} folds\n"
    )
    spans = task["features"] == "ner"
    head = f"{'':28s}{'error %':>16s}"
    print(head + f"{'span F1 %':>16s}" * spans + f"{'C':>16s}{'seconds':>9s}")
    wanted = tuple(options.methods or [""])
    for name, (tagger, tune) in methods(task["features"]).items():
        if not name.startswith(wanted):
            continue
        _row(name, tagger, tune, columns, fold, spans)


def _row(name, tagger, tune, columns, fold, spans) -> None:
    began = time.perf_counter()
    errors, f1s, chosen = [], [], []
    for k in range(fold.max() + 1):
        train, test = columns.select(fold != k), columns.select(fold == k)
        if tune:
            tagger = tagger.set_params(C=_choose(tagger, train))
            chosen.append(tagger.C)
        model = tagger.fit(_inputs(train), train.strings(-1))
        report = scores(test.strings(-1), model.predict(_inputs(test)))
        errors.append(100.0 - 100.0 * report.token_accuracy)
        f1s.append(100.0 * report.f1 if spans else 0.0)
    cells = [_mean(errors)] + [_mean(f1s)] * spans
    picked = ", ".join(f"{C:g}" for C in sorted(set(chosen))) or "-"
    text = "".join(f"{cell:>16s}" for cell in [*cells, picked])
    print(f"{name:28s}{text}{time.perf_counter() - began:9.1f}", flush=True)


def _choose(tagger, train) -> float:
    """The C with the fewest errors on a fifth of the training sentences."""
    held = np.arange(train.n_sentences) % 5 == 0
    inside, outside = train.select(~held), train.select(held)
    models = tagger.path(_inputs(inside), inside.strings(-1), CS)
    right = [m.score(_inputs(outside), outside.strings(-1)) for m in models]
    return CS[int(np.argmax(right))]


def _inputs(columns):
    return columns._replace(columns=columns.columns[:-1])


def _mean(values) -> str:
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0
    return f"{np.mean(values):.2f} ± {error:.2f}"


if __name__ == "__main__":
    sys.exit(main())
