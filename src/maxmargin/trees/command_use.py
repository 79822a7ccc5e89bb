"""What a parser is used for: ``maxmargin predict``, ``evaluate`` and ``inspect``."""

from __future__ import annotations

import os

from maxmargin.cli.common import (
    certificate_sentence,
    check_output,
    check_picture,
    save_figure,
    say,
    without_display,
)
from maxmargin.trees.command_files import Layout, read_sentences
from maxmargin.trees.command_train import left_out

# prediction --------------------------------------------------------------------------


def predict(model, args) -> int:
    """A tree per line, for a sentence per line."""
    from maxmargin.files import write_trees

    if args.output != "-":
        check_output(args.output, "The output")
    layout = _layout(model, args)
    lines = read_sentences(args.file, model.input, layout.encoding)
    X = [line for line in lines if line]  # blank lines have no tree
    if args.k_best is not None:
        ranked = iter(model.predict_k_best(X, args.k_best))
        _write_ranked(
            args.output,
            [next(ranked) if line else [] for line in lines],
            layout.encoding,
        )
        return 0
    found = iter(model.predict(X))
    trees = [next(found) if line else None for line in lines]
    write_trees(args.output, trees, encoding=layout.encoding)
    return 0


def _write_ranked(path: str, ranked: list, encoding: str) -> None:
    """The best trees of every sentence, each after '# RANK SCORE'."""
    from maxmargin.files.text_files import write_text
    from maxmargin.trees.treebank import MISSING

    lines = []
    for trees in ranked:
        for rank, (tree, score) in enumerate(trees, 1):
            lines += [f"# {rank} {score:.6g}", str(tree)]
        lines += [""] if trees else [MISSING, ""]
    write_text(path, "\n".join(lines), encoding)


def _layout(model, args) -> Layout:
    """The layout that the model remembers."""
    if args.jobs is not None:
        model.set_params(n_jobs=args.jobs)
    return Layout(**{name: model.notes[name] for name in Layout._fields})


# evaluation --------------------------------------------------------------------------


def evaluate(model, args) -> int:
    """Scores of brackets, with a picture of the worst tree."""
    from maxmargin.trees.metrics import score_brackets

    check_picture(args.plot)
    # a label above itself stays, as for evalb: all that is in the file counts
    gold = _layout(model, args).read_trees(args.file, collapse_same=False)
    found = model.predict(gold)
    report = score_brackets(gold, found)
    print(_json(report) if args.json else report)
    if model.n_fallbacks_:
        say(
            f"the grammar has no tree for {model.n_fallbacks_} of {len(gold)} sentences "
            f"(fallback: {model.fallback})."
        )
    if args.plot:
        _plot_worst(gold, found, report, args.plot)
    return 0


def _plot_worst(gold, found, report, path: str) -> None:
    """The sentence with the most errors, the true tree above the predicted one."""
    from maxmargin.plots import plot_tree_errors

    rows = report.sentences
    drawn = [k for k, row in enumerate(rows) if row.status == "valid"]
    if not drawn:
        raise ValueError("no sentence has a predicted tree: there is nothing to draw.")
    errors = {k: rows[k].truth + rows[k].predicted - 2 * rows[k].correct for k in drawn}
    worst = max(drawn, key=lambda k: (errors[k], -rows[k].length))
    without_display()
    save_figure(plot_tree_errors(gold[worst], found[worst]), path)


def _json(report) -> str:
    import json

    labels = {
        label: {
            "precision": counts.precision,
            "recall": counts.recall,
            "f1": counts.f1,
            **counts._asdict(),
        }
        for label, counts in report.labels.items()
    }
    out = {**report.as_dict(), **report.counts._asdict(), "labels": labels}
    return json.dumps(out, indent=2, ensure_ascii=False)


# inspection --------------------------------------------------------------------------


def inspect(model, args) -> int:
    """How a parser was trained, and the weights of its rules."""
    from maxmargin.files.text_files import write_text

    check_output(args.export, "The grammar")
    names, weights = _rules(model)
    parts = [_settings(model)]
    if args.top != 0:
        parts.append(_strongest(names, weights, args.top))
    if args.export:
        order = sorted(range(len(names)), key=lambda k: (-weights[k], names[k]))
        lines = [f"{weights[k]:.6g}\t{names[k]}" for k in order]
        write_text(args.export, "\n".join(lines) + "\n", "utf-8")
    print("\n\n".join(parts))
    return 0


def _rules(model) -> tuple[list[str], list[float]]:
    """Rules as texts, and what the parser thinks of them."""
    grammar = model.grammar_
    if hasattr(model, "coef_"):
        weights = model.coef_
    else:
        logs = grammar.log_probabilities(model.smoothing)
        weights = [*logs.binary, *logs.unary]
    return grammar.rule_names(), [float(weight) for weight in weights]


def _strongest(names: list[str], weights: list[float], top: int) -> str:
    if top < 0:
        raise ValueError(f"--top {top} is not possible: it must be 0 or more.")
    order = sorted(range(len(names)), key=lambda k: -weights[k])
    best, worst = order[:top], order[::-1][:top][::-1]
    lines = [f"{weights[k]:>10.4f}  {names[k]}" for k in best]
    if len(order) > 2 * top:
        lines += [f"{'...':>10}"]
        lines += [f"{weights[k]:>10.4f}  {names[k]}" for k in worst]
    return "\n".join(["Strongest rules", "", *lines])


def _settings(model) -> str:
    notes, grammar = model.notes, model.grammar_
    horizontal = "all" if model.horizontal is None else model.horizontal
    rows = [
        ("trained on", os.path.basename(notes["file"])),
        (
            "trees",
            f"{notes['sentences']:,}, with {notes['words']:,} words{left_out(notes)}",
        ),
        ("input", model.input),
        ("grammar", repr(grammar)[10:-1]),
        (
            "binarised",
            f"{model.direction}, {horizontal} siblings, parent={model.parent}",
        ),
        ("fallback", str(model.fallback)),
        ("method", notes["method"]),
    ]
    if hasattr(model, "certificate_"):
        rows += [
            ("loss", f"{model.loss}, {model.rescaling} rescaling, C={model.C:g}"),
            ("features", str(model.features or "none")),
            ("seconds", f"{model.history_[-1]['seconds']:.2f}"),
        ]
    lines = [f"{name:<11} {value}" for name, value in rows]
    if hasattr(model, "certificate_"):
        lines.append(certificate_sentence(model))
    return "\n".join(lines)
