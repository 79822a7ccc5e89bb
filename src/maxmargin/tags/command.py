"""The task ``tag``: label every token of a file. What it can do, and its options."""

from __future__ import annotations

import argparse

from maxmargin.cli.train_options import add_choice_options, add_run_options
from maxmargin.tags.command_files import FORMATS
from maxmargin.tags.command_train import train
from maxmargin.tags.command_use import evaluate, inspect, predict

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

ABOUT = "Label every token: a file with one token per line, its label in a column."
EXAMPLE = """example:
  maxmargin train tag train.txt --features chunking --C 0.1 -o chunks.model
  maxmargin train tag train.txt --template my.template --scheme BIO -o ner.model
  maxmargin train tag train.txt --features ner --path 0.03,0.1,0.3 --cv 5 -o ner.model

Ctrl-C ends training; the best weights so far are saved, and the exit code is 130.
Files may be compressed with gzip. How to write templates: docs/features.md."""

USES = {
    "predict": {"k_best", "marginals", "jobs"},
    "evaluate": {"json", "confusion", "page", "jobs"}
    | {"truth", "predicted", "separator", "encoding", "comment"},
    "inspect": {"label", "transitions", "plot"},
}


def add_train_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("train", metavar="TRAIN", help="the file to learn from; - is standard input")
    add(
        "-o", "--output", metavar="MODEL", required=True, help="the model file to write"
    )
    add("--quiet", action="store_true", help="no progress, no summary")

    file = parser.add_argument_group("the file").add_argument
    file("--format", choices=FORMATS, default="columns", help="default: columns")
    file(
        "--label-column",
        type=int,
        default=-1,
        metavar="N",
        help="from 0, or from the end with -1, the default. Templates number the "
        "columns without it",
    )
    file(
        "--separator", help="exactly this, such as , or \\t (default: spaces and tabs)"
    )
    file("--encoding", default="utf-8", help="default: utf-8")
    file(
        "--comment", metavar="MARK", help="leave out lines that start so before tokens"
    )

    features = parser.add_argument_group("features, one of").add_argument
    features("--template", metavar="FILE", help="a template as of CRF++ or Wapiti")
    features(
        "--features", metavar="NAME", help="a ready set: chunking, ner, pos, words"
    )
    features("--min-count", type=int, metavar="N", help="leave out rarer ones")

    model = parser.add_argument_group("the model").add_argument
    model(
        "--objective",
        default="hinge",
        metavar="NAME",
        help="hinge (default), hinge-per-output, log (CRF), marginal, exponential, "
        "boosting, perceptron, passive-aggressive",
    )
    model("--C", type=float, metavar="C", help="weight of the data (default: 1)")
    model("--l1", type=float, metavar="L", help="L1 penalty, for sparse weights")
    model("--order", type=int, metavar="N", help="of transitions: 0, 1 (default) or 2")
    model(
        "--scheme",
        metavar="NAME",
        help="BIO, IOB1, BIOES, BILOU, IO or auto: make labels that break it impossible",
    )
    model(
        "--repair",
        action="store_true",
        help="correct training labels that break the scheme, read as conlleval reads them",
    )

    add_choice_options(parser)
    add_run_options(parser, several=True)
