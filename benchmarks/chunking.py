"""CoNLL-2000 chunking: SequenceTagger against python-crfsuite on the same strings.

    python benchmarks/chunking.py [--quick] [--repeat 3]

Training times exclude features and encoding on both sides; encoding (ours) and
``Trainer.append`` (theirs) are compared on their own. Last comes the curve of test F1
against the certified relative gap, which is what the default ``tol`` rests on.
"""

from __future__ import annotations

import argparse
import os
import tempfile

from common import (
    BUSY,
    Clock,
    Targets,
    fresh,
    header,
    load_chunks,
    median,
    need_data,
    need_package,
    no_compiling,
    span_f1,
    start,
    table,
    warm_tagger,
    worker,
)

C = 0.1
TOLS = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01)
QUICK_TOLS = (0.5, 0.3, 0.2, 0.1)
PEERS = {
    "ap": {"max_iterations": 10},
    "lbfgs": {"c1": 0.0, "c2": 1.0, "max_iterations": 100},
}


def main() -> int:
    options = _options()
    need_data("conll2000/train.txt.gz", "conll2000/test.txt.gz")
    need_package("python-crfsuite", "pycrfsuite")
    header("CoNLL-2000 chunking, 19 string features per token")
    fresh(prepare)  # fills the cache on disk, so that no compiler is in our peak memory
    ours = [fresh(tagger, tol=0.1) for _ in range(options.repeat)]
    peers = {"ap": [fresh(crfsuite, algorithm="ap") for _ in range(options.repeat)]}
    if not options.quick:
        peers["lbfgs"] = [fresh(crfsuite, algorithm="lbfgs")]
    _show_tools(ours, peers)
    encode = _show_encoding(options.repeat, median(peers["ap"], "append_cpu"))
    _show_targets(ours, peers, encode)
    _show_curve(QUICK_TOLS if options.quick else TOLS)
    return 0


def _options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="leave out lbfgs and the small tolerances"
    )
    parser.add_argument(
        "--repeat", type=int, default=3, help="runs of the fast rows, for the median"
    )
    return parser.parse_args()


# workers ----------------------------------------------------------------------


@worker
def prepare() -> dict:
    warm_tagger()
    return {}


@worker
def tagger(tol: float) -> dict:
    """Features, fit and prediction, as a user would run them."""
    from maxmargin import SequenceTagger

    warm_tagger()
    X, y = load_chunks("train")
    test_X, test_y = load_chunks("test")
    result = {}
    with no_compiling(result):
        with Clock() as fit:
            model = SequenceTagger(C=C, tol=tol).fit(X, y)
        with Clock() as predict:
            predicted = model.predict(test_X)
    result.update(
        train=model.history_[-1]["seconds"],
        train_cpu=model.history_[-1]["seconds"] * fit.busy,
        passes=model.n_iter_,
        gap=model.certificate_.relative_gap,
        total=fit.wall,
        total_cpu=fit.cpu,
        f1=span_f1(test_y, predicted),
        speed=sum(map(len, test_y)) / predict.wall,
    )
    return result


@worker
def crfsuite(algorithm: str) -> dict:
    """The same with python-crfsuite."""
    import pycrfsuite

    X, y = load_chunks("train")
    test_X, test_y = load_chunks("test")
    trainer = pycrfsuite.Trainer(algorithm, PEERS[algorithm], verbose=False)
    with Clock() as append:
        for tokens, labels in zip(X, y, strict=True):
            trainer.append(tokens, labels)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        with Clock() as train:
            trainer.train(path)
        model = pycrfsuite.Tagger()
        model.open(path)
        with Clock() as predict:
            predicted = [model.tag(tokens) for tokens in test_X]
        model.close()
    return {
        "append_cpu": append.cpu,
        "train": train.wall,
        "train_cpu": train.cpu,
        "passes": PEERS[algorithm]["max_iterations"],
        "total": append.wall + train.wall,
        "total_cpu": append.cpu + train.cpu,
        "f1": span_f1(test_y, predicted),
        "speed": sum(map(len, test_y)) / predict.wall,
    }


@worker
def encoding() -> dict:
    """Strings to arrays, without training."""
    from maxmargin.tags.features import TokenEncoder

    X, _ = load_chunks("train")
    with Clock() as clock:
        tokens = TokenEncoder().fit_encode(X)
    return {"encode_cpu": clock.cpu, "features": tokens.n_features}


@worker
def curve(tols: list) -> dict:
    """One fit from scratch per tolerance, on the same features."""
    from maxmargin import SequenceTagger

    warm_tagger()
    X, y = load_chunks("train")
    test_X, test_y = load_chunks("test")
    rows, result = [], {}
    with no_compiling(result):
        for tol in tols:
            model = SequenceTagger(C=C, tol=tol).fit(X, y)
            gap, last = model.certificate_.relative_gap, model.history_[-1]
            f1 = span_f1(test_y, model.predict(test_X))
            rows.append([tol, gap, last["seconds"], model.n_iter_, f1])
    result["rows"] = rows
    return result


# tables -----------------------------------------------------------------------


def _show_tools(ours, peers) -> None:
    tools = {f"maxmargin SequenceTagger(C={C})": ours}
    for algorithm, results in peers.items():
        tools[f"python-crfsuite {algorithm}"] = results
    rows = []
    for name, results in tools.items():
        numbers = {key: median(results, key) for key in results[0] if key != "rows"}
        rows.append(
            [
                name,
                len(results),
                numbers["train"],
                numbers["train_cpu"],
                numbers["total"],
                numbers["total_cpu"],
                int(numbers["passes"]),
                f"{numbers['f1']:.2f}",
                f"{numbers['speed'] / 1000:.0f}",
                f"{numbers['peak_mb']:.0f}",
                f"{numbers['busy']:.2f}",
            ]
        )
    columns = "tool|runs|train s|CPU s|encode+train s|CPU s|passes|F1 %|k tokens/s"
    table([*columns.split("|"), "peak MB", "busy"], rows)
    print(BUSY)


def _show_encoding(repeat, append) -> float:
    """Prints both times and returns their ratio."""
    results = [fresh(encoding) for _ in range(repeat)]
    print(
        f"\nencoding {results[0]['features']} distinct strings alone: "
        f"{median(results, 'encode_cpu'):.2f} CPU s (TokenEncoder().fit_encode); "
        f"Trainer.append: {append:.2f} CPU s"
    )
    return median(results, "encode_cpu") / append


def _show_targets(ours, peers, encode) -> None:
    train, memory = median(ours, "train_cpu"), median(ours, "peak_mb")
    targets = Targets()
    targets.at_most(
        "training time / crfsuite ap, 10 passes",
        train / median(peers["ap"], "train_cpu"),
        1 / 3,
        "1/3",
    )
    if "lbfgs" in peers:
        targets.at_most(
            "training time / crfsuite lbfgs, 100 iterations",
            train / median(peers["lbfgs"], "train_cpu"),
            1 / 30,
            "1/30",
        )
    targets.at_most("encoding time / crfsuite append", encode, 0.5, "1/2")
    targets.at_least("test F1 %", median(ours, "f1"), 93.7)
    for algorithm, results in peers.items():
        targets.at_most(
            f"peak memory / crfsuite {algorithm}",
            memory / median(results, "peak_mb"),
            1.0,
        )
    targets.show()


def _show_curve(tols) -> None:
    rows = [
        [f"{tol:g}", f"{gap:.4f}", seconds, passes, f"{f1:.2f}"]
        for tol, gap, seconds, passes, f1 in fresh(curve, tols=list(tols))["rows"]
    ]
    table(["tol", "certified relative gap", "train s", "passes", "test F1 %"], rows)


if __name__ == "__main__":
    start(main)
