"""``maxmargin report``: a model and its errors on a page for the browser."""

from __future__ import annotations

import os

from maxmargin.cli.command import Command
from maxmargin.cli.common import check_output, load_model, predicting, reading, say
from maxmargin.cli.notes import checked_notes
from maxmargin.cli.task import TASKS
from maxmargin.report.findings import Findings, Test, findings_of
from maxmargin.report.report import report_of

PAGES = (".html", ".htm")


def report(command: Command, model, args) -> int:
    """Write the page."""
    check_output(args.output, "The report", PAGES)
    if args.limit < 1:
        raise ValueError(f"--limit {args.limit} is not possible: it must be 1 or more.")
    names = [os.path.basename(args.model)]
    other = None
    if args.against is not None:
        if args.file == "-":
            raise ValueError(
                "with --against the test is read twice, which standard input cannot be: "
                "name a file."
            )
        other = _other(command, args)
        names.append(os.path.basename(args.against))
        if names[0] == names[1]:  # in different folders
            names = [args.model, args.against]
    findings, outputs, remarks = _predicted(command, model, args)
    page = report_of(
        findings,
        outputs,
        against=other and _predicted(*other, args)[:2],
        names=names,
        facts=command.rows(model),
        limit=args.limit,
    )
    page.save(args.output)
    print(f"{args.output}: {len(page.html) / 1e6:.2f} MB\n{page}")
    for text in remarks:
        say(text)
    return 0


def _other(command: Command, args) -> tuple:
    """(command, model): what --against names, which must be of the same task."""
    model, task = load_model(args.against, TASKS, args.structure)
    if task != command.name:
        raise ValueError(
            f"{args.against} is a model of the task {task!r}, but {args.model} of "
            f"{command.name!r}: only models of one task can be compared."
        )
    model.notes = checked_notes(type(command), model.notes)
    other = type(command).of(model)
    if args.encoding is not None:
        other.encoding = args.encoding
    return other, model


def _predicted(command: Command, model, args) -> tuple[Findings, list, list[str]]:
    """The test as this model reads it, what it predicts, and what is to be said."""
    with reading(args.file):
        sample = command.read(args.file, True)
    remark = command.check_truth(model, sample)
    columns = command.columns_of(sample)
    name = os.path.basename(sample.path)
    test = Test(sample.X, sample.y, name, sample.more, columns, sample.where)
    findings = findings_of(model, test)  # before any work: it may refuse the file
    with predicting():
        outputs = command.predict(model, sample)
    remarks = [remark, *command.remarks(model, sample)]
    return findings, outputs, [text for text in remarks if text]
