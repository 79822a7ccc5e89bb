"""``maxmargin predict``: from inputs in a file to outputs in another."""

from __future__ import annotations

from maxmargin.cli.command import Command
from maxmargin.cli.common import (
    check_output,
    no_probabilities,
    predicting,
    reading,
    say,
    writing,
)
from maxmargin.cli.formats import form_of, write_table
from maxmargin.cli.task import TABLES
from maxmargin.report.facts import fits_probabilities


def predict(command: Command, model, args) -> int:
    """Outputs for the inputs of a file."""
    if args.k_best is not None and args.marginals:
        raise ValueError("--k-best and --marginals cannot be combined: choose one.")
    if args.output != "-":
        check_output(args.output, "The output")
    command.form = form = form_of(command, args)
    table = form in TABLES and form not in command.outputs
    with reading(args.file):
        sample = command.read(args.file, False)
    if args.k_best is not None:
        with predicting():
            ranked = command.k_best(model, sample, args.k_best)
        found = [
            [({"rank": k, "score": s}, y) for k, (y, s) in enumerate(best, 1)]
            for best in ranked
        ]
        with writing(args.output):
            if table:
                write_table(command, args.output, sample, found)
            else:
                command.write_ranked(args.output, sample, ranked)
        return 0
    with predicting():
        outputs = command.predict(model, sample)
    chances = None
    if args.marginals:
        with predicting():
            chances = command.chances(model, sample, outputs)
        if not fits_probabilities(model):
            say(f"{no_probabilities(model)} The numbers are shares in exp(score).")
    with writing(args.output):
        if table:
            found = [[({}, output)] for output in outputs]
            write_table(command, args.output, sample, found, chances)
        else:
            command.write(args.output, sample, outputs, chances)
    return 0
