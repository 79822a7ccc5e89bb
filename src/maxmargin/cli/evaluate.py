"""``maxmargin evaluate``: predictions beside the truth."""

from __future__ import annotations

from maxmargin.cli.command import Command
from maxmargin.cli.common import (
    check_output,
    check_picture,
    print_json,
    save_figure,
    say,
    without_display,
)
from maxmargin.cli.options import declared

PAGES = (".html", ".htm")


def evaluate(command: Command, model, args) -> int:
    """Scores of predictions, with pictures of the errors.

    Without a model, predictions are in the file.
    """
    wanted = {"plot": args.plot}
    for name, options in declared(command.evaluate_options):
        if options.get("metavar", "").startswith("FILE."):
            wanted[name] = getattr(args, name)
    for name, path in wanted.items():
        if name == "page":
            check_output(path, "The page", PAGES)
        else:
            check_picture(path)
    if model is None:
        sample, outputs = command.read_pair(args)
    else:
        sample = command.read(args.file, True)
        outputs = command.predict(model, sample)
    report = command.report(model, sample, outputs)
    for name, path in wanted.items():
        if path is None:
            continue
        without_display()
        figure = command.draw(name, path, model, sample, outputs, report)
        if figure is not None:
            save_figure(figure, path)
    if args.json:
        print_json(command.numbers(report))
    else:
        print(report)
    for remark in command.remarks(model, sample):
        say(remark)
    return 0
