"""The task ``classify``: texts or vectors into the classes of a taxonomy. Its options."""

from __future__ import annotations

import argparse

from maxmargin.classes.command_train import train
from maxmargin.classes.command_use import evaluate, inspect, predict
from maxmargin.cli.train_options import add_choice_options, add_run_options

__all__ = [
    "ABOUT",
    "EXAMPLE",
    "USES",
    "add_train_options",
    "evaluate",
    "inspect",
    "predict",
    "train",
]

ABOUT = "Classify texts or vectors, one per line, into the classes of a tree or DAG."
EXAMPLE = """example:
  maxmargin train classify train.txt -o news.model
  maxmargin train classify questions.txt --separator : --ngrams 2 -o trec.model
  maxmargin train classify train.svm --format svmlight --taxonomy tree.txt -o m.model
  maxmargin train classify train.txt --multilabel --path 0.1,1,10 --cv 5 -o m.model

Lines are a label, a tab and a text; see docs/classify.md. Files may be compressed with
gzip. Ctrl-C ends training; the best weights so far are saved, and the exit code is 130."""

USES = {
    "predict": set(),
    "evaluate": {"json", "confusion", "plot"},
    "inspect": {"label"},
}


def add_train_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("train", metavar="TRAIN", help="the file to learn from; - is standard input")
    add(
        "-o", "--output", metavar="MODEL", required=True, help="the model file to write"
    )
    add("--quiet", action="store_true", help="no progress, no summary")

    file = parser.add_argument_group("the file").add_argument
    file(
        "--format",
        choices=("text", "svmlight"),
        default="text",
        help="text (default): a label and a text per line; svmlight: LABEL 3:0.5 7:1 ...",
    )
    file("--encoding", default="utf-8", help="default: utf-8")
    file(
        "--multilabel",
        action="store_true",
        help="labels are sets: a,b,c; with a node, its ancestors are predicted too",
    )

    tree = parser.add_argument_group("the taxonomy").add_argument
    tree(
        "--taxonomy",
        metavar="FILE",
        help="'parent child' or one path per line (default: the labels are paths)",
    )
    tree("--separator", default=".", help="of paths such as rec.autos (default: .)")

    words = parser.add_argument_group("features of texts").add_argument
    words("--ngrams", type=int, metavar="N", help="runs of up to N words (default: 1)")
    words(
        "--weighting",
        choices=("tfidf", "binary", "count"),
        help="of words (default: tfidf)",
    )
    words("--min-count", type=int, metavar="N", help="leave out words of fewer texts")

    model = parser.add_argument_group("the model").add_argument
    model(
        "--mode",
        choices=("hierarchical", "flat"),
        help="whether classes share the weights of their ancestors (default: they do)",
    )
    model(
        "--loss",
        choices=("tree", "tree-height", "tree-distance", "zero-one"),
        help="what a wrong class costs (default: tree, the height of the common ancestor)",
    )
    model("--rescaling", choices=("margin", "slack"), help="default: margin")
    model("--penalty", choices=("linear", "quadratic"), help="default: linear")
    model("--C", type=float, metavar="C", help="weight of the data (default: 1)")

    add_choice_options(parser)
    add_run_options(parser, several=True)
