"""The task ``match``: align the words of sentence pairs. What it can do, its options."""

from __future__ import annotations

import argparse

from maxmargin.cli.train_options import add_choice_options, add_run_options
from maxmargin.matchings.command_train import train
from maxmargin.matchings.command_use import evaluate, inspect, predict

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

ABOUT = "Align words: a file of sentence pairs with links between their words."
EXAMPLE = """example:
  maxmargin train match links.tsv --bitext more.tsv --bitext new.tsv -o words.model
  maxmargin train match links.tsv --path 0.01,0.03,0.1 --cv 5 -o words.model
  maxmargin predict words.model new.tsv -o new.links

A line is: source TAB target TAB links, perhaps with an id and a tab before it. Links
are i-j (sure) or i?j (possible), with words counted from 0: docs/matching.md.
Ctrl-C ends training; the best weights so far are saved, and the exit code is 130."""
USES = {
    "predict": {"k_best", "jobs"},
    "evaluate": {"json", "plot", "jobs"},
    "inspect": {"export"},
}


def add_train_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("train", metavar="LINKS", help="the file to learn from; - is standard input")
    add(
        "-o", "--output", metavar="MODEL", required=True, help="the model file to write"
    )
    add("--quiet", action="store_true", help="no progress, no summary")
    add("--encoding", default="utf-8", help="of all files (default: utf-8)")

    words = parser.add_argument_group("the dictionary").add_argument
    words(
        "--bitext",
        action="append",
        metavar="FILE",
        help="sentence pairs to learn a dictionary from, besides LINKS; repeatable. "
        "Links in it are not read. The pairs that you want to align belong here, too",
    )
    words(
        "--forms",
        metavar="F,F,...",
        help="what stands for a word: word, or stem and a number of letters (default: "
        "word,stem3,stem4)",
    )

    model = parser.add_argument_group("the model").add_argument
    model("--C", type=float, metavar="C", help="weight of the data (default: 0.03)")
    model(
        "--fertility",
        metavar="K",
        help="the largest number of links of a word, or two, for source and target words "
        "(1,3); none for no bound (default: 2)",
    )
    model(
        "--cost-missing",
        type=float,
        metavar="X",
        help="of a sure link that is missing (default: 3)",
    )
    model(
        "--cost-extra",
        type=float,
        metavar="X",
        help="of a link that is not even possible (default: 1)",
    )
    model(
        "--features",
        metavar="G,G,...",
        help="groups of features: bias, dictionary, neighbours, position, spelling, "
        "frequency, competition (default: all)",
    )

    add_choice_options(parser, "links")
    add_run_options(parser, several=True)
