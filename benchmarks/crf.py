"""Conditional random fields over five powers of ten of C, against python-crfsuite.

    python benchmarks/crf.py [--quick] [--data NAME ...] [--C C ...] [--alone]
        [--l1 L ... [--seen]]

Both tools train on the same features (those of our encoder), CRFsuite with L-BFGS, its
own stopping rule and c2 = 1 / (2 C), we until a gap of 1% is certified. Training times
exclude encoding. A tenth of a point of accuracy or F1 is a handful of tokens.

``--l1`` compares sparse weights instead, at C = 1: CRFsuite has c1 = l1 / C. With a weight
for every feature and label ("every pair") it minimises the same function as we do, which is
shown; its default is weights for pairs seen in training ("seen"), and its minimum is never
lower. Our tol is 0.01, and then the first of 0.001 and 0.0001 at which our objective is at
most that of every pair, which takes CRFsuite long on whole data sets: ``--seen`` leaves it
out.
"""

from __future__ import annotations

import argparse
import itertools
import os
import tempfile

from common import (
    BUSY,
    Clock,
    Targets,
    accuracy,
    data_file,
    fresh,
    header,
    load_letters,
    need_data,
    need_package,
    no_compiling,
    read_columns,
    span_f1,
    start,
    table,
    warm_tagger,
    worker,
)

CS = (0.01, 0.1, 1.0, 10.0, 100.0)
QUICK_CS = (0.1, 10.0)
QUICK = 800  # training sequences
MOST_SECONDS = 300.0  # for us
SHARE = 0.25  # of CRFsuite's time
SAME = 0.1  # points
SLACK = 1e-5  # of objectives, for rounding in single precision
COLUMNS = {
    "chunking": ("conll2000/train.txt.gz", "conll2000/test.txt.gz", 2, "chunking"),
    "names": (
        "conll2002_esp/esp.train.txt.gz",
        "conll2002_esp/esp.testb.txt.gz",
        1,
        "ner",
    ),
}
FILES = {
    "letters": ["ocr_letters/letters.npz"],
    "tags": ["wsj_sample_deps/wsj_sample.dp.gz"],
    "digits": [],
    **{name: list(entry[:2]) for name, entry in COLUMNS.items()},
}
SPANS = ("chunking", "names")  # scored by F1


def main() -> int:
    options = _options()
    need_package("python-crfsuite", "pycrfsuite")
    names = [name for name in options.data if all(map(data_file, FILES[name]))]
    if not names:
        need_data(*FILES[options.data[0]])
    header("Conditional random fields, gap 1%")
    if options.l1:
        return _sparse(names, options)
    limit = QUICK if options.quick else None
    rows, targets = [], Targets()
    for name in names:
        fresh(ours, name=name, C=1.0, limit=50)  # fills the cache of kernels
        for C in options.C:
            mine = fresh(ours, name=name, C=C, limit=limit)
            peer = (
                None if options.alone else fresh(crfsuite, name=name, C=C, limit=limit)
            )
            rows.append(_row(name, C, mine, peer))
            table(COLUMN_NAMES, rows[-1:])
            _judge(name, C, mine, peer, targets)
    table(COLUMN_NAMES, rows)
    targets.show()
    print(BUSY)
    return 0


def _options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small data, two C")
    parser.add_argument("--data", nargs="+", choices=FILES, default=list(FILES))
    parser.add_argument("--C", nargs="+", type=float)
    parser.add_argument("--alone", action="store_true", help="without CRFsuite")
    parser.add_argument("--l1", nargs="+", type=float, help="sparse weights instead")
    parser.add_argument(
        "--seen", action="store_true", help="l1: no CRFsuite of all pairs"
    )
    options = parser.parse_args()
    options.C = options.C or (QUICK_CS if options.quick else CS)
    return options


# data -------------------------------------------------------------------------


def _load(name: str, limit: int | None):
    """(training X, y, test X, y, feature set)."""
    if name in COLUMNS:
        train, test, columns, features = COLUMNS[name]
        parts = [
            part
            for path in need_data(train, test)
            for part in _split(read_columns(path), columns)
        ]
    elif name == "tags":
        (path,) = need_data(*FILES[name])
        rows = [[row for row in rows if row[0] != "#"] for rows in read_columns(path)]
        cut = len(rows) * 4 // 5
        parts = [*_split(rows[:cut], 1, 1), *_split(rows[cut:], 1, 1)]
        features = "pos"
    elif name == "letters":
        parts, features = [*load_letters(train=True), *load_letters(train=False)], None
    else:
        from maxmargin.tags.digits import digit_strings

        train, test = digit_strings(600), digit_strings(300, split="test")
        parts, features = [train.X, train.y, test.X, test.y], None
    return parts[0][:limit], parts[1][:limit], parts[2], parts[3], features


def _split(sentences, columns: int, label: int = -1):
    X = [[row[:columns] for row in rows] for rows in sentences]
    return X, [[row[label] for row in rows] for rows in sentences]


# workers ----------------------------------------------------------------------


@worker
def ours(
    name: str, C: float, limit: int | None, l1: float = 0.0, tol: float = 0.01
) -> dict:
    from maxmargin import SequenceTagger

    warm_tagger()
    X, y, test_X, test_y, features = _load(name, limit)
    model = SequenceTagger(
        C=C, objective="log", features=features, max_time=MOST_SECONDS, l1=l1, tol=tol
    )
    result = {}
    with no_compiling(result), Clock() as fit:
        model.fit(X, y)
    return {
        **result,
        "seconds": model.history_[-1]["seconds"] * fit.busy,
        "passes": model.n_iter_,
        "gap": model.certificate_.relative_gap,
        "objective": model.certificate_.primal,
        "weights": int((model._w != 0).sum()),
        "score": _score(name, test_y, model.predict(test_X)),
    }


@worker
def crfsuite(
    name: str, C: float, limit: int | None, l1: float = 0.0, every: bool = False
) -> dict:
    import pycrfsuite

    from maxmargin import SequenceTagger
    from maxmargin.tags.input import read_input

    X, y, test_X, test_y, features = _load(name, limit)
    columns = features is not None
    encoder = SequenceTagger(features=features)._structure().new_encoder()
    X = _items(encoder.fit_encode(read_input(X, columns)))
    test_X = _items(encoder.encode(read_input(test_X, columns)))
    settings = {"c1": l1 / C, "c2": 0.5 / C, "feature.possible_transitions": 1}
    if (
        features is None or every
    ):  # few features: the weights of every label, as we have them
        settings["feature.possible_states"] = 1
    trainer = pycrfsuite.Trainer("lbfgs", settings, verbose=False)
    for items, labels in zip(X, y, strict=True):
        trainer.append(items, [str(label) for label in labels])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        with Clock() as train:
            trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        predicted = [tagger.tag(items) for items in test_X]
        tagger.close()
    return {
        "seconds": train.cpu,
        "passes": trainer.logparser.last_iteration["num"],
        "objective": C * trainer.logparser.last_iteration["loss"],
        "weights": trainer.logparser.last_iteration["active_features"],
        "score": _score(name, test_y, predicted),
    }


def _items(tokens) -> list:
    """Encoded features as CRFsuite's items: numbers as names, with their values.

    Two more say which token is the first and which the last: we have weights for that.
    """
    sequences = []
    for i in range(len(tokens.start) - 1):
        sequence = []
        for t in range(tokens.start[i], tokens.start[i + 1]):
            at = slice(tokens.indptr[t], tokens.indptr[t + 1])
            pairs = zip(tokens.indices[at], tokens.values[at], strict=True)
            sequence.append({str(j): float(x) for j, x in pairs if x != 0})
        if sequence:
            sequence[0]["first"] = sequence[-1]["last"] = 1.0
        sequences.append(sequence)
    return sequences


def _score(name, truth, predicted) -> float:
    return (span_f1 if name in SPANS else accuracy)(truth, predicted)


# tables -----------------------------------------------------------------------

COLUMN_NAMES = [
    "data",
    "C",
    "s",
    "passes",
    "certified gap",
    "F1 or accuracy %",
    "CRFsuite s",
    "iterations",
    "its %",
    "ratio",
]


def _row(name, C, mine, peer) -> list:
    row = [name, C, mine["seconds"], mine["passes"], f"{mine['gap']:.4f}"]
    row.append(f"{mine['score']:.2f}")
    if peer is None:
        return [*row, None, None, None, None]
    ratio = mine["seconds"] / peer["seconds"]
    return [*row, peer["seconds"], peer["passes"], f"{peer['score']:.2f}", ratio]


def _judge(name, C, mine, peer, targets) -> None:
    what = f"{name}, C={C:g}"
    targets.at_most(f"{what}: certified gap", mine["gap"], 0.01)
    if peer is not None:
        ratio = mine["seconds"] / peer["seconds"]
        targets.at_most(f"{what}: time / CRFsuite", ratio, SHARE, "1/4")
        better = mine["score"] - peer["score"]
        targets.at_least(f"{what}: score - CRFsuite's", better, -SAME)


def _sparse(data: list[str], options) -> int:
    limit = QUICK if options.quick else None
    targets, rows = Targets(), []
    for name, l1 in itertools.product(data, options.l1):
        what, case = f"{name}, l1={l1:g}", {"name": name, "C": 1.0, "l1": l1}
        fresh(ours, **case, limit=50)
        found = {"maxmargin": fresh(ours, **case, limit=limit)}
        for kind in ("seen",) if options.seen else ("seen", "every pair"):
            every = kind == "every pair"
            peer = fresh(crfsuite, **case, limit=limit, every=every)
            found[f"CRFsuite, {kind}"] = peer
            mine = found["maxmargin"]
            for tol in (1e-3, 1e-4):
                if mine["objective"] > peer["objective"]:
                    mine = fresh(ours, **case, limit=limit, tol=tol)
                    found[f"maxmargin, tol={tol:g}"] = mine
            ratio = mine["seconds"] / peer["seconds"]
            targets.at_most(f"{what}: time / CRFsuite, {kind}", ratio, 1.0)
            excess = mine["objective"] / peer["objective"] - 1.0
            targets.at_most(f"{what}: objective / CRFsuite, {kind} - 1", excess, SLACK)
        for tool, r in found.items():
            objective, score = f"{r['objective']:.2f}", f"{r['score']:.2f}"
            row = [l1, r["seconds"], r["passes"], objective, r["weights"], score]
            rows.append([f"{name}, {tool}", *row])
        names = ["data, tool", "l1", "CPU s", "passes", "objective", "not zero"]
        table([*names, "score %"], rows)
    targets.show()
    return 0


if __name__ == "__main__":
    start(main)
