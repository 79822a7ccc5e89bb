"""What a word aligner is used for: ``maxmargin predict``, ``evaluate`` and ``inspect``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maxmargin.cli.common import (
    certificate_sentence,
    check_output,
    check_picture,
    check_top,
    save_figure,
    without_display,
)

if TYPE_CHECKING:
    from maxmargin import WordAligner


def predict(model: WordAligner, args) -> int:
    """Links of the sentence pairs of a file, one pair per line."""
    from maxmargin.files.text_files import write_raw
    from maxmargin.matchings.bitext import links_text, write_pharaoh

    text = _open(model, args, False)
    if args.output != "-":
        check_output(args.output, "The output")
    if args.k_best is None:
        write_pharaoh(args.output, model.predict(text.X))
        return 0
    lines = []
    for best in model.predict_k_best(text.X, args.k_best):
        for rank, (links, score) in enumerate(best, 1):
            lines += [f"# {rank} {score:.6g}", links_text(links)]
    write_raw(args.output, "".join(f"{line}\n" for line in lines).encode())
    return 0


def _open(model: WordAligner, args, links: bool):
    from maxmargin.matchings.bitext import read_aligned

    if args.jobs is not None:
        model.set_params(n_jobs=args.jobs)
    return read_aligned(args.file, links, model.notes["encoding"])


def evaluate(model: WordAligner, args) -> int:
    """AER, precision and recall; and a picture of the sentence with most errors."""
    from maxmargin.matchings.metrics import alignment_scores

    check_picture(args.plot)
    text = _open(model, args, True)
    predicted = model.predict(text.X)
    report = alignment_scores(text.y, predicted, bootstrap=1000)
    if args.plot:
        _draw_worst(model, text, predicted, args.plot)
    if args.json:
        import json

        print(json.dumps(report._asdict(), indent=2))
    else:
        print(report)
    return 0


def _draw_worst(model: WordAligner, text, predicted, path: str) -> None:
    from maxmargin.matchings.plots import plot_links

    def errors(k: int) -> int:
        sure, found = set(text.y[k].sure), set(predicted[k])
        return len(found - sure - set(text.y[k].possible)) + len(sure - found)

    worst = max(range(len(text.X)), key=errors)
    name = text.ids[worst] if text.ids else f"line {worst + 1}"
    title = f"{name}: {errors(worst)} errors, the most"
    scores = model.predict_scores(text.X[worst : worst + 1])[0]
    without_display()
    pair, truth = text.X[worst], text.y[worst]
    save_figure(plot_links(pair, predicted[worst], truth, scores, title), path)


def inspect(model: WordAligner, args) -> int:
    """How a model was trained, and the weights of its features."""
    import numpy as np

    from maxmargin.files.text_files import write_raw

    check_top(args.top)
    if args.export not in (None, "-"):
        check_output(args.export, "The table")
    notes, words = model.notes, model.statistics_
    rows = [
        ("trained on", notes["file"]),
        ("pairs", f"{notes['pairs']:,}, with {notes['links']:,} sure links"),
        ("dictionary", f"{words.n_pairs_:,} pairs; forms {', '.join(words.forms)}"),
        ("fertility", str(model.fertility)),
        ("costs", f"extra {model.cost_extra:g}, missing {model.cost_missing:g}"),
        ("objective", f"{model.rescaling} rescaling, C={model.C:g}"),
        ("seconds", f"{model.history_[-1]['seconds']:.2f}"),
    ]
    parts = ["\n".join(f"{name:<11} {value}" for name, value in rows)]
    parts[0] += "\n" + certificate_sentence(model)
    order = np.argsort(-np.abs(model.coef_), kind="stable").tolist()
    table = [(model.coef_[k], model.feature_names_[k]) for k in order]
    if args.top:
        lines = [f"{weight:+9.4f}  {name}" for weight, name in table[: args.top]]
        parts.append("\n".join(["Strongest features", "", *lines]))
    print("\n\n".join(parts))
    if args.export is not None:
        text = "".join(f"{name}\t{weight:.9g}\n" for weight, name in table)
        write_raw(args.export, text.encode())
    return 0
