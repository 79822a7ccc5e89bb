"""What a tagger is used for: ``maxmargin predict``, ``evaluate`` and ``inspect``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from maxmargin.cli.common import (
    certificate_sentence,
    check_output,
    check_picture,
    without_display,
)
from maxmargin.tags.command_files import Layout, Sample, separator_of, words_of

if TYPE_CHECKING:
    from maxmargin import SequenceTagger

# prediction --------------------------------------------------------------------------


def predict(model: SequenceTagger, args) -> int:
    """A copy of a file with labels."""
    layout, sample = _open(model, args)
    if args.output != "-":
        check_output(args.output, "The output")
    if args.k_best is not None:
        if args.marginals:
            raise ValueError("--k-best and --marginals cannot be combined: choose one.")
        layout.write_ranked(
            args.output, sample, model.predict_k_best(sample.X, args.k_best)
        )
        return 0
    added = [model.predict(sample.X)]
    if args.marginals:
        added.append(
            [[f"{p:.4f}" for p in row] for row in _chances(model, sample, added[0])]
        )
    layout.write_labels(args.output, sample, added)
    return 0


def _open(model: SequenceTagger, args, with_labels: bool = False):
    """The layout that the model remembers, and the file read by it."""
    layout = Layout(
        **{k: v for k, v in model.notes.items() if k in Layout.__dataclass_fields__}
    )
    if args.jobs is not None:
        model.set_params(n_jobs=args.jobs)
    return layout, layout.read(args.file, model.coef_.shape[1], with_labels)


def _chances(model: SequenceTagger, sample: Sample, labels) -> list[list[float]]:
    """The probability of every label that was predicted."""
    number = {label: k for k, label in enumerate(model.classes_.tolist())}
    return [
        table[range(len(row)), [number[label] for label in row]].tolist()
        for table, row in zip(model.predict_marginals(sample.X), labels, strict=True)
    ]


# evaluation --------------------------------------------------------------------------


def evaluate(model: SequenceTagger | None, args) -> int:
    """Scores of predictions, with pictures of the errors."""
    from maxmargin.metrics import scores

    check_picture(args.confusion)
    check_output(args.page, "The page", (".html", ".htm"))
    chances = None
    if model is None:
        name, words, truth, predicted = _read_pair(args)
    else:
        for option in ("truth", "predicted", "separator", "encoding", "comment"):
            if getattr(args, option) is not None:
                raise ValueError(
                    f"--{option} is for files without a model; a model remembers it."
                )
        _, sample = _open(model, args, True)
        name, words, truth = sample.raw.path, words_of(sample), sample.y
        predicted = model.predict(sample.X)
        if args.page:
            chances = _chances(model, sample, predicted)
    report = scores(truth, predicted)
    if args.confusion:
        from maxmargin.plots import plot_confusion

        without_display()
        plot_confusion(truth, predicted, path=args.confusion)
    if args.page:
        from maxmargin.plots import tagged_page

        title = f"Tagged sentences of {os.path.basename(name)}"
        tagged_page(words, predicted, args.page, truth, chances, title=title)
    print(_json(report) if args.json else report)
    return 0


def _read_pair(args):
    """Truth and prediction from two columns of a file."""
    from maxmargin.files import read_columns, read_raw

    raw = read_raw(args.file)
    if b'{"__metadata__":{"maxmargin"' in raw.data[:64]:
        raise ValueError(f"{raw.path} is a model: name a file to evaluate it on, too.")
    columns = read_columns(
        raw, separator_of(args.separator), args.encoding or "utf-8", args.comment
    )
    n = columns.n_columns
    if n < 2:
        raise ValueError(
            f"{columns.where(0)}: there is only one column, but truth and prediction are "
            "two. Name the model first if the file is not tagged yet."
        )
    chosen = []
    for option, given, usual in (
        ("truth", args.truth, -2),
        ("predicted", args.predicted, -1),
    ):
        column = usual if given is None else given
        if not -n <= column < n:
            raise ValueError(
                f"{columns.where(0)}: there is no column {column} (--{option}); there "
                f"are {n}, numbered 0 to {n - 1}, or -{n} to -1."
            )
        chosen.append(columns.strings(column))
    return raw.path, columns.strings(0), *chosen


def _json(report) -> str:
    import json

    def quotients(counts) -> dict[str, float]:
        return {
            "precision": counts.precision,
            "recall": counts.recall,
            "f1": counts.f1,
            "truth": counts.truth,
            "predicted": counts.predicted,
            "correct": counts.correct,
        }

    tokens = getattr(report, "tokens", report)
    out = {
        "tokens": tokens.n_tokens,
        "sequences": tokens.n_sequences,
        "token_accuracy": tokens.token_accuracy,
        "sequence_accuracy": tokens.sequence_accuracy,
    }
    if tokens is not report:
        out |= {"spans": quotients(report.overall)}
        out |= {"types": {z: quotients(c) for z, c in report.types.items()}}
    out |= {"labels": {str(z): quotients(c) for z, c in tokens.labels.items()}}
    return json.dumps(out, indent=2, ensure_ascii=False)


# inspection --------------------------------------------------------------------------


def inspect(model: SequenceTagger, args) -> int:
    """How a model was trained, and what it has learned."""
    from maxmargin.plots import feature_table, plot_transitions, transition_table

    check_picture(args.plot)
    parts = [_settings(model)]
    if args.top != 0:
        parts.append(
            "Strongest features\n\n" + feature_table(model, args.label, args.top)
        )
    if args.transitions:
        parts.append("Transitions: from row to column\n\n" + transition_table(model))
    if args.plot:
        without_display()
        plot_transitions(model, path=args.plot)
    print("\n\n".join(parts))
    return 0


def _settings(model: SequenceTagger) -> str:
    import numpy as np

    notes, coef = model.notes, model.coef_
    used = int(np.count_nonzero(np.abs(coef).max(axis=0, initial=0)))
    rows = [
        ("trained on", f"{notes['file']} ({notes['format']})"),
        ("sentences", f"{notes['sentences']:,}, with {notes['tokens']:,} tokens"),
        ("labels", f"{len(model.classes_)}: {' '.join(map(str, model.classes_))}"),
        ("features", f"{coef.shape[1]:,} ({used:,} with weights), {_source(model)}"),
        ("objective", f"{model.objective}, C={model.C:g}"),
        ("scheme", str(model.scheme or "none")),
        ("order", str(model.order)),
        ("seconds", f"{model.history_[-1]['seconds']:.2f}"),
    ]
    if notes["format"] == "columns":
        label, n = notes["label_column"], notes["n_columns"]
        rows.insert(1, ("columns", f"{n}, the labels in column {label}"))
    if model.l1:
        rows.append(("l1", f"{model.l1:g}"))
    lines = [f"{name:<11} {value}" for name, value in rows]
    return "\n".join([*lines, certificate_sentence(model)])


def _source(model: SequenceTagger) -> str:
    if model.notes["features"] is None:
        return "from the file"
    seen = "" if model.min_count == 1 else f", seen {model.min_count} times or more"
    return f"by {model.notes['features']}{seen}"
