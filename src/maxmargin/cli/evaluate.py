"""``maxmargin evaluate``: predictions beside the truth."""

from __future__ import annotations

from maxmargin.cli.command import Command, Sample
from maxmargin.cli.common import (
    check_picture,
    predicting,
    print_json,
    reading,
    save_figure,
    say,
    without_display,
)
from maxmargin.cli.options import declared


def evaluate(command: Command, model, args) -> int:
    """Scores of predictions, with pictures of the errors.

    Without a model, predictions are in the file.
    """
    wanted = {"plot": args.plot}
    for name, options in declared(command.evaluate_options):
        if options.get("metavar", "").startswith("FILE."):
            wanted[name] = getattr(args, name)
    for path in wanted.values():
        check_picture(path)
    remark = ""
    if model is None:
        with reading(args.file):
            sample, outputs = command.read_pair(args)
    else:
        with reading(args.file):
            sample = command.read(args.file, True)
        remark = command.check_truth(model, sample)
        with predicting():
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
        print_json(report.as_dict())
    else:
        print(report)
    for text in filter(None, [remark, *command.remarks(model, sample)]):
        say(text)
    return 0


def check_labels(labels, known, sample: Sample) -> str:
    """Refuse a truth that is none: most of its labels are not known to the model.

    Then what is no label was read as one: the first word of a text, another column.
    Returns what to say where some are not known.
    """
    total, strange = 0, []
    for label, place in labels:
        total += 1
        if label not in known:
            strange.append((label, place))
    if not total:
        raise ValueError(
            f"{sample.path} has no known label, so there is nothing to compare with."
        )
    if not strange:
        return ""
    label, place = strange[0]
    where = f" ({sample.where(*place)})" if sample.where is not None else ""
    said = (
        f"{sample.path}: {len(strange):,} of {total:,} labels are not known to the model, "
        f"such as {label!r}{where}"
    )
    if 2 * len(strange) > total:
        some = ", ".join(map(repr, sorted(map(str, known))[:3]))
        raise ValueError(
            f"{said}; it knows {some}{', ...' if len(known) > 3 else ''}. Without the true "
            "labels in their place there is nothing to compare with."
        )
    return f"{said}. It cannot predict them: they count as errors."
