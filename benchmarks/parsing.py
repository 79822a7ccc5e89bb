"""Parsing the WSJ sample: speed against nltk, training time, F1 of several parsers.

    python benchmarks/parsing.py [--quick] [--longest 20] [--parsers NAME ...]

Speed: the Viterbi parser of nltk and PCFGParser with one grammar, POS tags as input, whole
calls from Python to trees. Training: the exact search of the F1 loss, to a certified gap.
F1: documents 1-159 train, 180-199 test; intervals by drawing test sentences. "With words",
brackets are described by the words and tags around them, which a PCFG cannot have.
"CRF" is the log-loss of whole trees, which predicts the tree of least expected loss
("viterbi": the most probable one). ``--parsers`` prints the F1 of some parsers alone.
"""

from __future__ import annotations

import argparse
import gzip

from common import (
    BUSY,
    Clock,
    Targets,
    fresh,
    header,
    need_data,
    need_package,
    no_compiling,
    start,
    table,
    worker,
)

FILES = (
    "wsj_sample_trees/wsj_sample.mrg.gz",
    "wsj_sample_trees/wsj_sample.docids.txt.gz",
)
TRAIN, TEST = (1, 159), (180, 199)
LENGTHS = ((1, 10), (11, 15), (16, 25), (26, 40))
SHORT = 10
TOL = 0.1
OPTIONS = {"horizontal": 1, "tol": TOL, "features": None}  # rules, if not said else
WORDS = {"features": "spans", "input": "both"}
PARSERS = {  # C by cross-validation on the training documents, up to 20 words
    "PCFG": None,
    "zero-one loss": {"loss": "zero-one", "C": 10.0},
    "F1 loss": {"loss": "f1", "C": 0.1},
    "F1 loss, slack": {"loss": "f1", "rescaling": "slack", "C": 0.1},
    "F1 loss, span features": {"loss": "f1", "features": "spans", "C": 0.1},
    "zero-one, with words": {"loss": "zero-one", "C": 0.1, **WORDS},
    "F1 loss, with words": {"loss": "f1", "C": 0.03, **WORDS},
    "CRF": {"objective": "log"},
    "CRF, viterbi": {"objective": "log", "decoding": "viterbi"},
    "CRF, with words": {"objective": "log", **WORDS},
    "CRF, viterbi, with words": {
        "objective": "log",
        "decoding": "viterbi",
        **WORDS,
    },
}
QUICK = "PCFG", "zero-one loss", "F1 loss", "CRF"
PAIRS = (
    ("F1 loss", "PCFG"),
    ("F1 loss", "zero-one loss"),
    ("F1 loss, with words", "PCFG"),
    ("F1 loss, with words", "zero-one, with words"),
    ("CRF", "F1 loss"),
    ("CRF", "CRF, viterbi"),
    ("CRF, with words", "F1 loss, with words"),
)


def main() -> int:
    options = _options()
    need_data(*FILES)
    need_package("nltk", "nltk")
    header("WSJ sample, parsing tags")
    fresh(prepare)
    targets = Targets()
    if not options.parsers:
        _show_speed(targets, 2 if options.quick else 6)
        _show_training(targets)
    chosen = options.parsers or (QUICK if options.quick else PARSERS)
    _show_f1(targets, options.longest, ["PCFG", *(n for n in chosen if n != "PCFG")])
    targets.show()
    return 0


def _options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="fewer sentences for nltk, fewer parsers"
    )
    parser.add_argument(
        "--longest", type=int, default=20, help="words of the sentences of the F1 table"
    )
    parser.add_argument("--parsers", nargs="+", choices=PARSERS, help="only their F1")
    return parser.parse_args()


def load_trees(documents, longest=None, **options):
    from maxmargin.trees.treebank import read_trees

    trees, names = need_data(*FILES)
    with gzip.open(names, "rt") as lines:
        numbers = [int(name[-4:]) for name in lines.read().split()]
    first, last = documents
    return [
        tree
        for tree, number in zip(read_trees(trees, **options), numbers, strict=True)
        if first <= number <= last and (longest is None or len(tree.words()) <= longest)
    ]


def warm() -> None:
    """Load or compile what the parsers run, on two tiny trees."""
    from maxmargin import GrammarParser, PCFGParser
    from maxmargin.trees import Tree

    texts = ("(S (NP (D a) (N b)) (V c))", "(S (D a) (NP (N b) (V c)))")
    trees = [Tree.parse(text) for text in texts]
    PCFGParser().fit(None, trees).predict(trees)
    for objective in ("hinge", "log"):
        for features in (None, "spans"):
            model = GrammarParser(tol=0.1, features=features, objective=objective)
            model.fit(None, trees).predict(trees)


# workers ----------------------------------------------------------------------


@worker
def prepare() -> dict:
    warm()
    return {}


@worker
def speed(nltk_sentences: int) -> dict:
    """Sentences per CPU second of both, and whether their probabilities agree."""
    import math

    import nltk

    from maxmargin import PCFGParser
    from maxmargin.trees.binarize import collapse_unaries

    warm()
    train = [collapse_unaries(tree) for tree in load_trees((1, 180), root="TOP")]
    test = [
        [tag for _, tag in tree.tags()] for tree in load_trees((181, 199), root="TOP")
    ]
    model = PCFGParser(horizontal=2).fit(None, train)
    result: dict = {"grammar": repr(model.grammar_), "rows": []}
    with no_compiling(result):
        for low, high in LENGTHS:
            sentences = [tags for tags in test if low <= len(tags) <= high]
            repeats = max(1, 2000 // (sum(map(len, sentences)) * high // 10 + 1))
            with Clock() as clock:
                for _ in range(repeats):
                    model.predict(sentences)
            row = [low, high, len(sentences), repeats * len(sentences) / clock.cpu]
            result["rows"].append([*row, model.n_fallbacks_])
    short = [tags for tags in test if 3 <= len(tags) <= SHORT][:nltk_sentences]
    parser = _viterbi(nltk, model.to_nltk())
    with Clock() as clock:
        theirs = [next(iter(parser.parse(tags)), None) for tags in short]
    repeats = 50
    with Clock() as ours:
        for _ in range(repeats):
            model.predict(short)
    ranked = model.predict_k_best(short, 1)
    result["nltk"] = len(short) / clock.cpu
    result["same_sentences"] = repeats * len(short) / ours.cpu
    result["apart"] = max(
        abs(tree.logprob() * math.log(2) - best[0][1])
        for tree, best in zip(theirs, ranked, strict=True)
        if tree is not None
    )
    return result


def _viterbi(nltk, grammar):
    try:
        return nltk.ViterbiParser(
            grammar, max_time=None
        )  # recent nltk gives up after 5 s
    except TypeError:
        return nltk.ViterbiParser(grammar)


@worker
def training(longest: int) -> dict:
    from maxmargin import GrammarParser

    warm()
    trees = load_trees(TRAIN, longest)
    result: dict = {}
    with no_compiling(result), Clock() as clock:
        model = GrammarParser(**OPTIONS).fit(None, trees)
    last = model.history_[-1]
    result.update(
        sentences=len(trees),
        seconds=last["seconds"],
        total=clock.wall,
        cpu=clock.cpu,
        passes=model.n_iter_,
        gap=model.certificate_.relative_gap,
        calls=last["oracle_calls"] / last["seconds"],
    )
    return result


@worker
def parse(name: str, longest: int) -> dict:
    """Train one parser and return its test trees as texts."""
    from maxmargin import GrammarParser, PCFGParser

    warm()
    train, test = load_trees(TRAIN, longest), load_trees(TEST, longest)
    options = PARSERS[name]
    if options is None:
        model = PCFGParser(horizontal=OPTIONS["horizontal"])
    else:
        model = GrammarParser(**{**OPTIONS, **options})
    with Clock() as clock:
        model.fit(None, train)
    return {
        "trees": [repr(tree) for tree in model.predict(test)],
        "cpu": clock.cpu,
        "failed": model.n_fallbacks_,
        "gap": None if options is None else model.certificate_.relative_gap,
    }


# tables -----------------------------------------------------------------------


def _show_speed(targets, nltk_sentences) -> None:
    result = fresh(speed, nltk_sentences=nltk_sentences)
    print(f"\n{result['grammar']}")
    rows = [
        ["PCFGParser", f"{low}-{high}", n, speed, failed]
        for low, high, n, speed, failed in result["rows"]
    ]
    same = f"3-{SHORT}"
    rows.append(["PCFGParser", same, nltk_sentences, result["same_sentences"], None])
    rows.append(["nltk ViterbiParser", same, nltk_sentences, result["nltk"], None])
    table(["parser", "words", "sentences", "sentences/CPU s", "no tree"], rows)
    print(f"largest difference of log-probabilities: {result['apart']:.2g}")
    targets.at_least("sentences/s, up to 10 words", result["rows"][0][3], 1000)
    targets.at_least("sentences/s, 26-40 words", result["rows"][-1][3], 40)
    ratio = result["same_sentences"] / result["nltk"]
    targets.at_least("speed / nltk ViterbiParser", ratio, 2000)
    targets.at_most("difference of log-probabilities", result["apart"], 1e-6)


def _show_training(targets) -> None:
    r = fresh(training, longest=SHORT)
    columns = ["sentences", "train s", "with encoding s", "passes", "gap", "searches/s"]
    row = [r["sentences"], r["seconds"], r["total"], r["passes"], r["gap"], r["calls"]]
    table([*columns, "busy"], [[*row, f"{r['busy']:.2f}"]])
    print(BUSY)
    targets.at_most("training s, up to 10 words", r["seconds"], 60)
    targets.at_most("certified relative gap", r["gap"], TOL)


def _show_f1(targets, longest, names) -> None:
    from maxmargin.trees import Tree
    from maxmargin.trees.metrics import (
        bootstrap,
        bootstrap_difference,
        score_brackets,
    )

    gold = load_trees(TEST, longest)
    found, rows = {}, []
    for name in names:
        result = fresh(parse, name=name, longest=longest)
        found[name] = [Tree.parse(text) for text in result["trees"]]
        report = score_brackets(gold, found[name])
        span = bootstrap(gold, found[name])
        other = bootstrap_difference(gold, found["PCFG"], found[name])
        rows.append(
            [
                name,
                str(span),
                str(other),
                f"{100 * report.exact_match:.1f}",
                result["failed"],
                result["gap"],
                result["cpu"],
            ]
        )
    print(f"\n{len(gold)} test sentences of up to {longest} words")
    columns = [
        "parser",
        "F1 % [95%]",
        "minus PCFG",
        "exact %",
        "no tree",
        "gap",
        "train CPU s",
    ]
    table(columns, rows)
    f1 = {name: 100 * score_brackets(gold, found[name]).f1 for name in names}
    for ours, other in PAIRS:
        if ours in found and other in found:
            pair = bootstrap_difference(gold, found[other], found[ours])
            print(f"{ours} minus {other}: {pair}")
            targets.at_least(f"test F1 %: {ours}, {other}", f1[ours], f1[other])


if __name__ == "__main__":
    start(main)
