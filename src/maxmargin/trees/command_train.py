"""``maxmargin train parse``: from a treebank to a model file."""

from __future__ import annotations

import os
from typing import Any

from maxmargin.cli.common import (
    Interrupts,
    Stopwatch,
    certificate_sentence,
    keep,
    patience,
    plain_warnings,
)
from maxmargin.cli.train_options import check_outputs
from maxmargin.trees.command_files import Layout

LONGEST = 20  # words: beyond, the exact search for violated trees takes its time
GRAMMAR = ("input", "direction", "parent", "max_length", "fallback")
ONLY_PCFG = ("smoothing",)
ONLY_MARGIN = ("features", "loss", "rescaling", "C", "tol", "max_time", "seed", "plot")


def train(args) -> int:
    """From a treebank to a model file."""
    watch = Stopwatch()
    _check_options(args)
    settings = _settings(args)

    from maxmargin import GrammarParser, PCFGParser

    watch("importing")
    layout = Layout(args.encoding, not args.keep_functions, args.root)
    trees = layout.read_trees(args.train)
    watch("reading")
    interrupts = Interrupts()
    if args.method == "pcfg":
        with plain_warnings():
            model = PCFGParser(**settings).fit(None, trees)
        watch("counting")
    else:
        model = GrammarParser(
            random_state=args.seed, verbose=int(not args.quiet), **settings
        )
        with plain_warnings(), patience(args.quiet) as timer, interrupts:
            model.set_params(callbacks=[interrupts.callback, lambda _: timer.cancel()])
            model.fit(None, trees)
        watch("encoding")
        watch.move("encoding", "training", model.history_[-1]["seconds"])
        model.set_params(verbose=0, callbacks=None)
    model.notes = {
        "task": "parse",
        **layout._asdict(),
        "method": args.method,
        "file": os.path.basename(args.train),
        "sentences": len(trees),
        "words": sum(len(tree.words()) for tree in trees),
        "left_out": model.n_left_out_,
    }
    keep(model, args, watch)
    if not args.quiet:
        print(_summary(model, watch, args.output))
    return interrupts.exit_code(args.output)


def _check_options(args) -> None:
    """All that can be said before reading."""
    check_outputs(args)
    foreign = ONLY_MARGIN if args.method == "pcfg" else ONLY_PCFG
    for name in foreign:
        if getattr(args, name) is not None:
            other = "max-margin" if args.method == "pcfg" else "pcfg"
            raise ValueError(
                f"--{name.replace('_', '-')} belongs to --method {other}: leave it out."
            )


def _settings(args) -> dict[str, Any]:
    """Options that were given; the estimator knows the defaults of the others."""
    own = ONLY_PCFG if args.method == "pcfg" else ONLY_MARGIN
    names = (*GRAMMAR, *(name for name in own if name not in ("seed", "plot")))
    settings = {name: getattr(args, name) for name in (*names, "n_jobs")}
    settings = {name: value for name, value in settings.items() if value is not None}
    if args.method != "pcfg":
        settings.setdefault("max_length", LONGEST)
    if args.horizontal is not None:
        settings["horizontal"] = _horizontal(args.horizontal)
    if "features" in settings:
        settings["features"] = args.features.split(",")
    return settings


def _horizontal(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isdecimal():
        raise ValueError(f"--horizontal {text} must be a number, 0 or more, or all.")
    return int(text)


def _summary(model, watch: Stopwatch, path: str) -> str:
    notes = model.notes
    lines = [
        f"Trained on {notes['file']}: {notes['sentences']:,} trees, {notes['words']:,} "
        f"words{left_out(notes)}; {str(model.grammar_)[1:-1]}."
    ]
    if hasattr(model, "certificate_"):
        lines.append(certificate_sentence(model))
    size = os.path.getsize(path) / 1e6
    return "\n".join([*lines, str(watch), f"Saved to {path} ({size:.1f} MB)."])


def left_out(notes: dict[str, Any]) -> str:
    """How many trees were too long, or had a loop, if any."""
    return f" ({notes['left_out']:,} trees left out)" if notes["left_out"] else ""
