"""What a classifier is used for: ``maxmargin predict``, ``evaluate`` and ``inspect``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maxmargin.classes.command_files import Layout
from maxmargin.cli.common import (
    certificate_sentence,
    check_output,
    check_picture,
    check_top,
    save_figure,
    without_display,
)

if TYPE_CHECKING:
    from maxmargin import TaxonomySVM


def _remembered(model: TaxonomySVM):
    """The layout of files and the words that the model notes."""
    from maxmargin.classes.bag_of_words import BagOfWords

    fields = Layout.__dataclass_fields__
    layout = Layout(**{k: v for k, v in model.notes.items() if k in fields})
    bag = model.notes["bag"]
    return layout, None if bag is None else BagOfWords.from_state(bag)


def predict(model: TaxonomySVM, args) -> int:
    """A copy of a file with predicted labels."""
    from maxmargin.files.text_files import encode_text, write_raw

    if args.output != "-":
        check_output(args.output, "The output")
    layout, bag = _remembered(model)
    sample = layout.read_new(args.file, bag, model.coef_.shape[1], model.taxonomy_)
    predicted = model.predict(sample.X)
    if layout.multilabel:
        lowest = model.taxonomy_.lowest
        labels = [",".join(map(str, lowest(nodes))) for nodes in predicted]
    else:
        labels = [str(label) for label in predicted]
    text = layout.written(sample, labels)
    write_raw(args.output, encode_text(text, args.output, layout.encoding))
    return 0


def evaluate(model: TaxonomySVM, args) -> int:
    """Scores of predictions, with pictures of the errors."""
    check_picture(args.confusion)
    check_picture(args.plot)
    layout, bag = _remembered(model)
    if layout.multilabel and (args.confusion or args.plot):
        raise ValueError(
            "--confusion and --plot are for one label per line, not for sets of labels."
        )
    sample = layout.read(args.file, bag, model.coef_.shape[1])
    report = model.evaluate(sample.X, sample.y)
    if args.confusion or args.plot:
        from maxmargin.classes.taxonomy.plots import (
            plot_taxonomy_confusion,
            plot_taxonomy_errors,
        )

        without_display()
        tree = model.taxonomy_with(sample.y)
        predicted = model.predict(sample.X).tolist()
        for draw, path in (
            (plot_taxonomy_confusion, args.confusion),
            (plot_taxonomy_errors, args.plot),
        ):
            if path:
                save_figure(draw(tree, sample.y, predicted), path)
    print(_json(report) if args.json else report)
    return 0


def _json(report) -> str:
    import json
    from dataclasses import asdict

    return json.dumps(asdict(report), indent=2)


def inspect(model: TaxonomySVM, args) -> int:
    """How a model was trained, and the strongest features of every node."""
    check_top(args.top)
    parts = [_settings(model)]
    if args.top:
        parts.append("Strongest features\n\n" + _features(model, args.label, args.top))
    print("\n\n".join(parts))
    return 0


def _settings(model: TaxonomySVM) -> str:
    notes, tree = model.notes, model.taxonomy_
    bag = notes["bag"]
    words = "" if bag is None else f", {bag['weighting']}, runs of {bag['ngrams']}"
    kind = "tree" if tree.is_tree else "DAG"
    rows = [
        ("trained on", f"{notes['file']} ({notes['format']})"),
        ("samples", f"{notes['samples']:,}"),
        ("classes", str(len(model.classes_))),
        ("taxonomy", f"{kind}, {len(tree)} nodes, {int(tree.depth.max())} levels"),
        ("features", f"{model.coef_.shape[1]:,}{words}"),
        ("mode", "sets of nodes" if notes["multilabel"] else model.mode),
        ("loss", f"{model.loss}, {model.rescaling} rescaling"),
        ("C", f"{model.C:g}"),
        ("seconds", f"{model.history_[-1]['seconds']:.2f}"),
    ]
    lines = [f"{name:<11} {value}" for name, value in rows]
    return "\n".join([*lines, certificate_sentence(model)])


def _features(model: TaxonomySVM, labels, top: int) -> str:
    import numpy as np

    names = model.nodes_.tolist()
    for label in labels or ():
        if label not in names:
            raise ValueError(
                f"--label {label} is not a node with weights; there are, for example, "
                f"{', '.join(names[:5])}."
            )
    bag, tree = model.notes["bag"], model.taxonomy_
    lines = []
    for row, name in zip(model.coef_, names, strict=True):
        if labels and name not in labels:
            continue
        best = np.argsort(-np.abs(row), kind="stable")[:top]
        shown = [
            f"{row[j]:+.3f} {str(j + 1) if bag is None else bag['words'][j]}"
            for j in best
            if row[j] != 0
        ]
        indent = "  " * max(int(tree.depth[tree.position_of(name)]) - 1, 0)
        lines.append(f"{indent}{name}: {', '.join(shown) or 'no weights'}")
    return "\n".join(lines)
