"""The task ``align``: align pairs of sequences. What it can do, and its options."""

from __future__ import annotations

import argparse

from maxmargin.alignments.command_files import FORMATS
from maxmargin.alignments.command_train import train
from maxmargin.alignments.command_use import evaluate, inspect, predict
from maxmargin.cli.train_options import add_run_options

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

ABOUT = "Align pairs of sequences: learn substitution and gap scores from alignments."
EXAMPLE = """example:
  maxmargin train align pairs.tsv --C 100 -o aligner.model
  maxmargin train align family.sto --tracks residue,ss --model window -o aligner.model
  maxmargin predict aligner.model new.fasta -o aligned.fasta

Ctrl-C ends training; the best weights so far are saved, and the exit code is 130.
Files may be compressed with gzip. What they look like: docs/alignment.md."""
USES = {
    "predict": {"jobs"},
    "evaluate": {"json", "plot", "jobs"},
    "inspect": {"top", "plot", "export"},
}


def add_train_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "train",
        metavar="PAIRS",
        help="aligned pairs to learn from; - is standard input",
    )
    add(
        "-o", "--output", metavar="MODEL", required=True, help="the model file to write"
    )
    add("--quiet", action="store_true", help="no progress, no summary")
    add("--dev", metavar="FILE", help="a file to report on")

    file = parser.add_argument_group("the file").add_argument
    file("--format", choices=FORMATS, default="auto", help="default: as it begins")
    file(
        "--rows",
        choices=("pairs", "all"),
        default="pairs",
        help="FASTA: records 1 and 2, 3 and 4, ... are aligned (default), or all with all",
    )
    file(
        "--tracks",
        metavar="NAME,...",
        default="residue",
        help="what is known of a position: residue (default), or residue,ss and others "
        "that the file has",
    )
    file(
        "--all-columns",
        action="store_true",
        help="count all pairs, also those that the file does not mark as core",
    )
    file(
        "--unknown",
        metavar="LETTER",
        help="what letters that are not in the training file are read as, such as X",
    )
    file("--encoding", default="utf-8", help="default: utf-8")

    model = parser.add_argument_group("the model").add_argument
    model(
        "--model",
        metavar="NAME",
        help="simple (default), anova2, tensor, sum, window",
    )
    model("--gaps", metavar="KIND", help="affine (default), linear or position")
    model("--scope", metavar="KIND", help="global (default) or local")
    model(
        "--free-ends",
        metavar="SIDE",
        help="target or template: its ends may stay unmatched at no cost",
    )
    model("--loss", metavar="NAME", help="q (default), q4 (or another shift), hamming")
    model(
        "--symmetric",
        action="store_true",
        default=None,
        help="one weight for (a, b) and (b, a)",
    )
    model("--rescaling", metavar="KIND", help="margin (default) or slack")
    model("--C", type=float, metavar="C", help="weight of the data (default: 100)")

    add_run_options(parser)
