"""Options of ``maxmargin train`` that tasks share, and what they say about C."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from maxmargin.cli.common import check_output, check_picture


def add_choice_options(parser: argparse.ArgumentParser, dev: str = "a file") -> None:
    """How C is chosen; ``dev`` is what the help calls the other file."""
    choice = parser.add_argument_group("choosing C").add_argument
    choice("--path", metavar="C,C,...", help="values of C to choose from")
    choice("--dev", metavar="FILE", help=f"{dev} to choose C on, or to report on")
    choice("--cv", type=int, metavar="K", help="choose C by K-fold cross-validation")


def add_run_options(parser: argparse.ArgumentParser, several: bool = False) -> None:
    """How long a training runs, in how many threads; ``several`` trains for each C."""
    of = "seconds of training" + ", for each C" * several
    run = parser.add_argument_group("training").add_argument
    run("--tol", type=float, metavar="T", help="relative gap to stop at")
    run("--max-time", type=float, metavar="S", help=of)
    run(
        "--jobs",
        dest="n_jobs",
        type=int,
        metavar="N",
        help="threads; -1: one per core (default: 1)",
    )
    run("--seed", type=int, metavar="N", help="for the order of visits (default: 0)")
    run("--plot", metavar="FILE.png", help="draw the convergence of the training")


def check_outputs(args) -> None:
    """Refuse a model or a picture that cannot be written, before any work."""
    if args.output == "-":
        raise ValueError("a model cannot be written to standard output: name a file.")
    check_output(args.output, "The model")
    check_picture(args.plot)


def values_of_C(args, usual: Sequence[float]) -> list[float]:
    """The values of C to choose from; none if there is nothing to choose.

    ``usual`` are tried if only ``--cv`` is given.
    """
    if args.path is None and args.cv is None:
        return []
    if args.cv is not None and args.dev is not None:
        raise ValueError("choose C with --dev or with --cv, not with both.")
    if args.C is not None:
        raise ValueError("give one --C, or several with --path or --cv, not both.")
    if args.path is None:
        return list(usual)
    if args.cv is None and args.dev is None:
        raise ValueError(
            "--path needs a way to choose among its values: --dev FILE or --cv 5."
        )
    try:
        return sorted({float(C) for C in args.path.split(",")})
    except ValueError:
        raise ValueError(
            f"--path {args.path} is not a list of numbers, such as 0.01,0.1,1."
        ) from None
