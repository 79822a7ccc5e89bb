"""The task ``parse``: the constituency tree of every sentence. Its options."""

from __future__ import annotations

import argparse

from maxmargin.cli.train_options import add_run_options
from maxmargin.trees.command_train import train
from maxmargin.trees.command_use import evaluate, inspect, predict

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

ABOUT = "Parse sentences: a file of bracketed trees, as of the Penn Treebank."
EXAMPLE = """example:
  maxmargin train parse train.mrg --input both --features spans -o parser.model
  maxmargin train parse train.mrg --method pcfg --input words -o pcfg.model
  echo 'the_DT cat_NN sat_VBD' | maxmargin predict parser.model -
  maxmargin evaluate parser.model test.mrg --plot worst.png

Function tags and empty elements are left out. Files may be compressed with gzip.
Ctrl-C ends training; the best weights so far are saved, and the exit code is 130."""

USES = {
    "predict": {"k_best", "jobs"},
    "evaluate": {"json", "plot", "jobs"},
    "inspect": {"export"},
}


def add_train_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("train", metavar="TREES", help="the file to learn from; - is standard input")
    add(
        "-o", "--output", metavar="MODEL", required=True, help="the model file to write"
    )
    add("--quiet", action="store_true", help="no progress, no summary")

    file = parser.add_argument_group("the file").add_argument
    file("--encoding", default="utf-8", help="default: utf-8")
    file(
        "--keep-functions",
        action="store_true",
        help="labels with their function tags, such as NP-SBJ",
    )
    file("--root", metavar="LABEL", help="a root over every tree, such as TOP")

    grammar = parser.add_argument_group("the grammar").add_argument
    grammar(
        "--input",
        choices=("tags", "words", "both"),
        help="what a sentence is: tags (the default), words, or words with tags",
    )
    grammar(
        "--direction",
        choices=("right", "left"),
        help="of the nodes that binarisation adds",
    )
    grammar(
        "--horizontal",
        metavar="N",
        help="siblings that these nodes remember: a number or all",
    )
    grammar(
        "--parent", type=int, choices=(0, 1), help="1: phrases remember the one above"
    )
    grammar(
        "--max-length",
        type=int,
        metavar="N",
        help="learn from sentences of up to N words (default: 20, where the search for "
        "violated trees is quick; all with pcfg)",
    )
    grammar(
        "--fallback",
        choices=("flat", "right", "none", "error"),
        help="what to predict where the grammar has no tree",
    )

    model = parser.add_argument_group("the model").add_argument
    model(
        "--method",
        choices=("max-margin", "pcfg"),
        default="max-margin",
        help="default: max-margin. pcfg has relative frequencies and no settings below, "
        "but --smoothing",
    )
    model(
        "--features",
        metavar="NAME,NAME",
        help="beside rules: spans; lexical is always there with --input words",
    )
    model("--loss", choices=("f1", "hamming", "zero-one"), help="default: f1")
    model("--rescaling", choices=("margin", "slack"), help="default: margin")
    model("--C", type=float, metavar="C", help="weight of the data (default: 0.1)")
    model("--smoothing", type=float, metavar="S", help="added to counts of a pcfg")

    add_run_options(parser)
