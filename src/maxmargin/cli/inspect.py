"""``maxmargin inspect``: what a model has learned, and how it was trained."""

from __future__ import annotations

from maxmargin.cli.command import Command
from maxmargin.cli.common import (
    check_output,
    check_picture,
    plain_notes,
    print_json,
    save_figure,
    without_display,
)
from maxmargin.report.facts import certificate_sentence


def inspect(command: Command, model, args) -> int:
    """How a model was trained, and its strongest weights."""
    if args.top < 0:
        raise ValueError(f"--top {args.top} is not possible: it must be 0 or more.")
    check_picture(args.plot)
    if args.export != "-":
        check_output(args.export, "The export")
    rows = command.rows(model)
    proved = hasattr(model, "certificate_")
    if args.json:
        out = {"notes": plain_notes(model), "settings": dict(rows)}
        if proved:
            out["certificate"] = model.certificate_
        names = ("group", "name", "weight")
        found = command.weights(model, args) if args.top else []
        out["weights"] = [dict(zip(names, row, strict=True)) for row in found]
        print_json(out)
    else:
        lines = [f"{name:<11} {value}" for name, value in rows]
        if proved:
            lines.append(certificate_sentence(model))
        parts = ["\n".join(lines)]
        if args.top:
            parts.append(command.strongest(model, args))
        print("\n\n".join(parts + command.sections(model, args)))
    if args.plot:
        without_display()
        save_figure(command.draw_model(model, args), args.plot)
    if args.export:
        command.export(args.export, model)
    return 0
