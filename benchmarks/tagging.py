"""From raw file to saved model and tagged test file, against python-crfsuite.

    python benchmarks/tagging.py [--quick] [--repeat 3] [--choose-C]

CoNLL-2000 chunking and CoNLL-2002 Spanish names. A pipeline reads the training file, makes
features, trains, saves the model, loads it, reads the test file and writes it with one
more column; all of that counts, imports too. CRFsuite's features are made in Python, as
its users do. Then the conditional random field alone: time to CRFsuite's objective, with
one thread and with two. Last, tokens per second of prediction.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile

from common import (
    BUSY,
    Clock,
    Targets,
    chunk_features,
    fresh,
    header,
    median,
    need_data,
    need_package,
    read_columns,
    span_f1,
    start,
    table,
    worker,
)

TASKS = {
    "conll2000": {
        "files": ["conll2000/train.txt.gz", "conll2000/test.txt.gz"],
        "features": "chunking",
        "columns": [0, 1],
    },
    "conll2002": {
        "files": ["conll2002_esp/esp.train.txt.gz", "conll2002_esp/esp.testb.txt.gz"],
        "features": "ner",
        "columns": [0],
    },
}
C = 0.1
CS = (0.03, 0.1, 0.3, 1.0)
PEERS = {
    "ap": {"max_iterations": 10},
    "lbfgs": {"c1": 0.0, "c2": 1.0, "max_iterations": 100},
}
LOG_C = 0.5  # c2 = 1


def main() -> int:
    options = _options()
    need_package("python-crfsuite", "pycrfsuite")
    paths = {name: list(map(str, need_data(*t["files"]))) for name, t in TASKS.items()}
    header("Label sequences, from file to file")
    targets = Targets()
    for name in TASKS:
        fresh(ours, task=name, paths=paths[name])  # fills the cache of kernels
        _compare(name, paths[name], options, targets)
    _random_fields(paths["conll2000"], options, targets)
    targets.show()
    print(BUSY)
    if options.choose_C:
        _choose(paths)
    return 0


def _options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="leave out lbfgs")
    parser.add_argument("--repeat", type=int, default=3, help="runs of the fast rows")
    parser.add_argument(
        "--choose-C",
        action="store_true",
        help="F1 at the C that cross-validation picks",
    )
    return parser.parse_args()


# features of the peer, in Python ----------------------------------------------


def shape(word: str) -> str:
    letters = re.sub(r"[^\W\d_]", lambda m: "X" if m[0].isupper() else "x", word)
    return re.sub(r"\d", "d", letters)


def name_features(sentence) -> list[list[str]]:
    """Words nearby, affixes, shapes and flags, as the ready set "ner" has them."""
    words = [row[0] for row in sentence]
    padded = ["<s2>", "<s1>", *words, "</s1>", "</s2>"]
    low = [word.lower() for word in padded]
    shapes = [re.sub(r"(.)\1+", r"\1", shape(word)) for word in words]
    features = []
    for t, word in enumerate(words):
        a, b, c, d, e = low[t : t + 5]
        found = [f"w-2={a}", f"w-1={b}", f"w={c}", f"w+1={d}", f"w+2={e}"]
        found += [f"w-1|w={b}|{c}", f"w|w+1={c}|{d}", f"shape={shape(word)}"]
        for n in range(1, min(len(word), 4) + 1):
            found += [f"p{n}={word[:n]}", f"s{n}={word[-n:]}"]
        for k in (-1, 0, 1):
            if 0 <= t + k < len(words):
                near = words[t + k]
                found.append(f"short{k}={shapes[t + k]}")
                found += [f"{flag}{k}" for flag, test in FLAGS.items() if test(near)]
        if 0 < t < len(words) - 1:
            found.append("shorts=" + "|".join(shapes[t - 1 : t + 2]))
        features.append(found)
    return features


FLAGS = {
    "cap": lambda word: word[:1].isupper(),
    "upper": str.isupper,
    "digit": lambda word: any(map(str.isdigit, word)),
    "hyphen": lambda word: "-" in word,
    "punct": lambda word: not any(map(str.isalnum, word)),
}
MAKERS = {"conll2000": chunk_features, "conll2002": name_features}


# workers ----------------------------------------------------------------------


@worker
def ours(task: str, paths: list) -> dict:
    settings = TASKS[task]
    keep = [*settings["columns"], -1]
    with tempfile.TemporaryDirectory() as folder:
        with Clock() as total:
            from maxmargin import SequenceTagger, load, save
            from maxmargin.files import read_columns, tag_file

            train = read_columns(paths[0], columns=keep)
            y, train = train.strings(-1), _inputs(train)
            model = SequenceTagger(C=C, features=settings["features"])
            model.fit(train, y)
            save(model, os.path.join(folder, "model"))
            model = load(os.path.join(folder, "model"))
            test = read_columns(paths[1], columns=keep)
            truth = test.strings(-1)
            predicted = model.predict(_inputs(test))
            tag_file(paths[1], os.path.join(folder, "tagged"), predicted)
        with Clock() as raw:
            model.predict(_inputs(read_columns(paths[1], columns=keep)))
        encoded = model.structure_.encode(_inputs(test), model._w.dtype)
        speed = _decode_speed(model, encoded)
    return {
        "total": total.wall,
        "total_cpu": total.cpu,
        "train": model.history_[-1]["seconds"],
        "f1": span_f1(truth, predicted),
        "raw": test.n_tokens / raw.wall,
        "speed": speed,
    }


def _inputs(columns):
    return columns._replace(columns=columns.columns[:-1])


def _decode_speed(model, batch) -> float:
    from maxmargin.core.decode import decode

    with Clock() as clock:
        for _ in range(5):
            decode(batch, model._w, 1)
    return 5 * len(batch.y) / clock.wall


@worker
def crfsuite(task: str, paths: list, algorithm: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        with Clock() as total:
            import pycrfsuite

            sentences = read_columns(paths[0])
            X = list(map(MAKERS[task], sentences))
            trainer = pycrfsuite.Trainer(algorithm, PEERS[algorithm], verbose=False)
            for tokens, sentence in zip(X, sentences, strict=True):
                trainer.append(tokens, [row[-1] for row in sentence])
            with Clock() as train:
                trainer.train(os.path.join(folder, "model"))
            model = pycrfsuite.Tagger()
            model.open(os.path.join(folder, "model"))
            test = read_columns(paths[1])
            predicted = [model.tag(MAKERS[task](sentence)) for sentence in test]
            with open(os.path.join(folder, "tagged"), "w", encoding="utf-8") as file:
                for sentence, tags in zip(test, predicted, strict=True):
                    for row, tag in zip(sentence, tags, strict=True):
                        file.write(" ".join([*row, tag]) + "\n")
                    file.write("\n")
        truth = [[row[-1] for row in sentence] for sentence in test]
        tokens = sum(map(len, test))
        with Clock() as raw:
            for sentence in read_columns(paths[1]):
                model.tag(MAKERS[task](sentence))
        ready = [MAKERS[task](sentence) for sentence in test]
        items = [pycrfsuite.ItemSequence(features) for features in ready]
        with Clock() as encoded:
            for item in items:
                model.tag(item)
    return {
        "total": total.wall,
        "total_cpu": total.cpu,
        "train": train.wall,
        "f1": span_f1(truth, predicted),
        "raw": tokens / raw.wall,
        "speed": tokens / encoded.wall,
    }


@worker
def random_field(paths: list, tol: float, n_jobs: int) -> dict:
    """Our conditional random field on the strings of chunk_features."""
    from maxmargin import SequenceTagger

    if n_jobs > 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, range(os.cpu_count()))
    sentences = read_columns(paths[0])
    X = list(map(chunk_features, sentences))
    y = [[row[-1] for row in sentence] for sentence in sentences]
    small = SequenceTagger(objective="log", tol=1e-3, n_jobs=n_jobs)
    small.fit([[["a"], ["b"]], [["b"], ["a"]]], [["x", "y"], ["y", "x"]])
    model = SequenceTagger(objective="log", C=LOG_C, tol=tol, n_jobs=n_jobs).fit(X, y)
    return {
        "train": model.history_[-1]["seconds"],
        "objective": model.certificate_.primal / LOG_C,
        "lower": model.certificate_.dual / LOG_C,
        "gap": model.certificate_.relative_gap,
        "passes": model.n_iter_,
    }


@worker
def peer_field(paths: list, all_pairs: bool, iterations: int) -> dict:
    """CRFsuite's L-BFGS; with ``all_pairs`` it has the same weights as ours."""
    import pycrfsuite

    options = {"c1": 0.0, "c2": 0.5 / LOG_C, "max_iterations": iterations}
    if all_pairs:
        options |= {"feature.possible_states": 1, "feature.possible_transitions": 1}
    trainer = pycrfsuite.Trainer("lbfgs", options, verbose=False)
    for sentence in read_columns(paths[0]):
        tokens = chunk_features(sentence)
        if all_pairs:  # our first and last weights, as features
            tokens[0] = [*tokens[0], "first"]
            tokens[-1] = [*tokens[-1], "last"]
        trainer.append(tokens, [row[-1] for row in sentence])
    with tempfile.TemporaryDirectory() as folder, Clock() as clock:
        trainer.train(os.path.join(folder, "model"))
    last = trainer.logparser.last_iteration
    return {"train": clock.wall, "objective": last["loss"], "passes": last["num"]}


@worker
def choose(task: str, paths: list) -> dict:
    """Test F1 at the C that five-fold cross-validation on the training file picks."""
    import numpy as np

    from maxmargin import SequenceTagger
    from maxmargin.files import read_columns
    from maxmargin.metrics import span_scores

    settings = TASKS[task]
    keep = [*settings["columns"], -1]
    train, test = (read_columns(path, columns=keep) for path in paths)
    fold = np.random.default_rng(0).integers(0, 5, train.n_sentences)
    tagger = SequenceTagger(features=settings["features"])
    scores = np.zeros(len(CS))
    for k in range(5):
        inside, outside = train.select(fold != k), train.select(fold == k)
        models = tagger.path(_inputs(inside), inside.strings(-1), CS)
        for j, model in enumerate(models):
            found = model.predict(_inputs(outside))
            scores[j] += span_scores(outside.strings(-1), found).f1 / 5
    best = CS[int(scores.argmax())]
    model = SequenceTagger(C=best, features=settings["features"])
    model.fit(_inputs(train), train.strings(-1))
    f1 = span_f1(test.strings(-1), model.predict(_inputs(test)))
    return {"C": best, "f1": f1, "scores": scores.tolist()}


# tables -----------------------------------------------------------------------


def _compare(name, paths, options, targets) -> None:
    rows = {f"maxmargin SequenceTagger(C={C})": _repeat(options, ours, name, paths)}
    mine = next(iter(rows.values()))
    for algorithm in ("ap",) if options.quick else ("ap", "lbfgs"):
        once = argparse.Namespace(repeat=1) if algorithm == "lbfgs" else options
        results = _repeat(once, crfsuite, name, paths, algorithm=algorithm)
        rows[f"python-crfsuite {algorithm}"] = results
        limit, words = (1 / 2, "1/2") if algorithm == "ap" else (1 / 8, "1/8")
        ratio = median(mine, "total") / median(results, "total")
        targets.at_most(f"{name}: file to file / {algorithm}", ratio, limit, words)
        better = median(mine, "f1") - median(results, "f1")
        targets.at_least(f"{name}: F1 - F1 of {algorithm}", better, 0.0)
    ap = rows["python-crfsuite ap"]
    for key, factor in (("speed", 10.0), ("raw", 3.0)):
        what = "encoded features" if key == "speed" else "raw columns"
        ratio = median(mine, key) / median(ap, key)
        targets.at_least(f"{name}: tokens/s from {what} / ap", ratio, factor)
    print(f"\n{name}")
    columns = ["", "file to file s", "train s", "F1 %", "k tokens/s encoded", "raw"]
    table(
        columns,
        [
            [
                tool,
                median(results, "total"),
                median(results, "train"),
                f"{median(results, 'f1'):.2f}",
                median(results, "speed") / 1000,
                median(results, "raw") / 1000,
            ]
            for tool, results in rows.items()
        ],
    )


def _repeat(options, function, name, paths, **more) -> list[dict]:
    arguments = {"task": name, "paths": paths, **more}
    return [fresh(function, **arguments) for _ in range(options.repeat)]


def _random_fields(paths, options, targets) -> None:
    if options.quick:
        return
    peer = fresh(peer_field, paths=paths, all_pairs=False, iterations=100)
    same = fresh(peer_field, paths=paths, all_pairs=True, iterations=100)
    rows = [
        _field("crfsuite lbfgs, pairs seen in training", peer),
        _field("crfsuite lbfgs, all pairs, as ours", same),
    ]
    for n_jobs, limit, words in ((1, 1 / 4, "1/4"), (2, 1 / 6, "1/6")):
        mine = fresh(random_field, paths=paths, tol=5e-4, n_jobs=n_jobs)
        rows.append(
            _field(f"maxmargin log, {n_jobs} thread(s), gap {mine['gap']:.4f}", mine)
        )
        ratio = mine["train"] / peer["train"]
        targets.at_most(f"CRF, {n_jobs} thread(s): time / lbfgs", ratio, limit, words)
        excess = mine["objective"] / same["objective"] - 1.0
        targets.at_most("CRF: objective / lbfgs with all pairs - 1", excess, 1e-4)
    print("\nconditional random field, CoNLL-2000, c2 = 1")
    table(["", "train s", "passes", "objective"], rows)


def _field(name, row) -> list:
    return [name, row["train"], row["passes"], f"{row['objective']:.3f}"]


def _choose(paths) -> None:
    rows = []
    for name in TASKS:
        found = fresh(choose, task=name, paths=paths[name])
        curve = ", ".join(
            f"{c}: {s:.2f}" for c, s in zip(CS, found["scores"], strict=True)
        )
        rows.append([name, found["C"], f"{found['f1']:.2f}", curve])
    table(["C by 5-fold cross-validation", "C", "test F1 %", "validation F1 %"], rows)


if __name__ == "__main__":
    start(main)
