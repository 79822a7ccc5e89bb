"""What an aligner is used for: ``maxmargin predict``, ``evaluate`` and ``inspect``."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from maxmargin.alignments.command_files import inputs, read_aligned, read_sequences
from maxmargin.cli.common import (
    certificate_sentence,
    check_output,
    check_picture,
    check_top,
    without_display,
)

if TYPE_CHECKING:
    from maxmargin import SequenceAligner
    from maxmargin.alignments.metrics import AlignmentReport
    from maxmargin.files import PairAlignment


# prediction --------------------------------------------------------------------------


def predict(model: SequenceAligner, args) -> int:
    """Aligned FASTA: two rows for every pair of the file."""
    from maxmargin.files import gapped, write_fasta

    if args.output != "-":
        check_output(args.output, "The output")
    pairs = read_sequences(args.file, model.notes["format"], model.notes["encoding"])
    records = []
    aligned = _predict(model, pairs, args.file, args.jobs)
    for pair, found in zip(pairs, aligned, strict=True):
        rows = gapped(pair.a, pair.b, found)
        records += zip((pair.name_a, pair.name_b), rows, strict=True)
    write_fasta(args.output, records)
    return 0


def _predict(model, pairs: list[PairAlignment], path: str, jobs: int | None) -> list:
    if jobs is not None:
        model.set_params(n_jobs=jobs)
    try:
        return model.predict(inputs(pairs, model.notes["tracks"]))
    except ValueError as error:
        # the estimator counts samples: say which pair of the file that is
        words = str(error).split()
        number = words[1].rstrip(":") if words[:1] == ["sample"] else ""
        if number.isdigit() and int(number) < len(pairs):
            pair = pairs[int(number)]
            names = f"{pair.name_a} and {pair.name_b}"
            raise ValueError(f"{path}, {names}: {error}") from None
        raise


# evaluation --------------------------------------------------------------------------


def evaluate(model: SequenceAligner, args) -> int:
    """Q, Q4 and precision, with a picture of the worst alignment."""
    check_picture(args.plot)
    notes = model.notes
    pairs = read_aligned(args.file, notes["format"], notes["rows"], notes["encoding"])
    report, predicted = report_of(model, pairs, args.file, args.jobs)
    if args.plot:
        import numpy as np

        from maxmargin.plots import plot_alignment

        without_display()
        worst = int(np.nanargmin(report.each[:, 0]))
        pair = pairs[worst]
        q, near, right = (f"{value:.0%}" for value in report.each[worst])
        counted = "" if notes["all_columns"] or pair.core is None else " (core columns)"
        plot_alignment(
            pair.a,
            pair.b,
            predicted[worst],
            pair.pairs,
            (pair.name_a, pair.name_b),
            f"Worst of {len(pairs)}: Q {q}, Q4 {near}, f_M {right}{counted}",
            path=args.plot,
        )
    print(_json(report) if args.json else report)
    return 0


def report_of(
    model: SequenceAligner,
    pairs: list[PairAlignment],
    path: str,
    jobs: int | None = None,
) -> tuple[AlignmentReport, list]:
    """Scores of the model on the aligned pairs of a file, and its alignments."""
    from maxmargin.alignments.metrics import alignment_report

    predicted = _predict(model, pairs, path, jobs)
    families = [pair.family for pair in pairs]
    cores = None if model.notes["all_columns"] else [pair.core for pair in pairs]
    report = alignment_report(
        [pair.pairs for pair in pairs],
        predicted,
        cores,
        families if all(families) else None,
    )
    return report, predicted


def _json(report: AlignmentReport) -> str:
    import json
    import math

    def numbers(scores) -> dict:
        made = {"alignments": scores.n}
        for name in ("q", "q_shift", "f_m"):
            mean, error = getattr(scores, name)
            known = None if math.isnan(error) else error
            key = f"q{report.shift}" if name == "q_shift" else name
            made[key] = {"mean": mean, "standard_error": known}
        return made

    out = {"overall": numbers(report.overall)}
    if report.by_family is not None:
        by_family = numbers(report.by_family)
        by_family["families"] = by_family.pop("alignments")
        out["by_family"] = by_family
        out["families"] = {name: numbers(s) for name, s in report.families.items()}
    return json.dumps(out, indent=2, ensure_ascii=False)


# inspection --------------------------------------------------------------------------


def inspect(model: SequenceAligner, args) -> int:
    """How a model was trained, its gap scores and its strongest weights."""
    check_top(args.top)
    check_picture(args.plot)
    check_output(args.export, "The matrix")
    parts = [_settings(model)]
    if args.top:
        parts.append(f"Strongest weights\n\n{_strongest(model, args.top)}")
    if args.plot:
        from maxmargin.plots import plot_substitutions

        without_display()
        plot_substitutions(model, path=args.plot)
    if args.export:
        from maxmargin.plots import write_matrix

        write_matrix(args.export, model)
    print("\n\n".join(parts))
    return 0


def _settings(model: SequenceAligner) -> str:
    notes = model.notes
    gaps = "by position"
    if hasattr(model, "gap_open_"):
        gaps = f"open {model.gap_open_:.4g}, extend {model.gap_extend_:.4g} per letter"
    of = f" of {notes['families']:,} families" if notes["families"] else ""
    rows = [
        ("trained on", f"{notes['file']}: {notes['pairs']:,} pairs{of}"),
        ("tracks", ", ".join(notes["tracks"])),
        ("letters", " ".join(model.alphabet_)),
        ("model", f"{_name(model.model)}, {len(model.coef_):,} weights"),
        ("gaps", f"{model.gaps}: {gaps}"),
        ("alignments", f"{model.scope}, loss {model.loss}, C={model.C:g}"),
        ("seconds", f"{model.history_[-1]['seconds']:.2f}"),
    ]
    if notes["masked"]:
        rows.append(("core", f"{notes['masked']:,} pairs count core columns only"))
    lines = [f"{name:<11} {value}" for name, value in rows]
    return "\n".join([*lines, certificate_sentence(model)])


def _name(model) -> str:
    return model if isinstance(model, str) else " ".join(model)


def _strongest(model: SequenceAligner, n: int) -> str:
    """The largest and the smallest weights of terms whose symbols have names."""
    named = []
    for name, term in zip(model.model_.names, model.model_.terms, strict=True):
        sides = [_symbols(model.model_, view, k) for k, view in enumerate(term[:2])]
        if None in sides:
            continue
        table = model.term_weights(name)
        for (i, a), (j, b) in itertools.product(*map(enumerate, sides)):
            if not (term.tied and j > i) and table[i, j] != 0:
                named.append((float(table[i, j]), f"{a} {b}", name))
    if not named:
        return "(no weight has a name: windows are not listed)"
    named.sort(key=lambda row: -row[0])
    several = len({name for _, _, name in named}) > 1
    halves = named[:n], named[-n:][::-1]
    lines = [f"{'favoured':<34}avoided".rstrip()]
    for left, right in itertools.zip_longest(*halves):
        cells = [
            "" if row is None else f"{row[0]:9.4f}  {row[1]}" + f"  {row[2]}" * several
            for row in (left, right)
        ]
        lines.append(f"{cells[0]:<34}{cells[1]}".rstrip())
    return "\n".join(lines)


def _symbols(model, view, side: int) -> list[str] | None:
    """Names of the symbols of a view; None for windows and vectors."""
    if view.width > 1 or model.is_dense(view):
        return None
    alphabets = [model.alphabets[t][side] if t != "1" else ("",) for t in view.tracks]
    return ["".join(symbols) for symbols in itertools.product(*alphabets)]
