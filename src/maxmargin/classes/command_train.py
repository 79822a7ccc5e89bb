"""``maxmargin train classify``: from a file to a model file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from maxmargin.classes.command_files import Layout, Sample, check_labels
from maxmargin.cli.common import (
    Interrupts,
    Stopwatch,
    certificate_sentence,
    keep,
    patience,
    plain_warnings,
    say,
)
from maxmargin.cli.train_options import check_outputs, values_of_C

if TYPE_CHECKING:
    from maxmargin import TaxonomySVM


def train(args) -> int:
    """From a file to a model file."""
    watch = Stopwatch()
    Cs = _check_options(args)

    from maxmargin import TaxonomySVM
    from maxmargin.classes import command_choice as classify_choice

    watch("importing")
    layout, sample, dev, bag, tree = _read(args)
    watch("reading")
    interrupts = Interrupts()
    names = ("C", "mode", "loss", "rescaling", "penalty", "tol", "max_time", "n_jobs")
    model = TaxonomySVM(
        tree,
        multilabel=args.multilabel,
        separator=args.separator,
        random_state=args.seed,
        verbose=int(not args.quiet),
        **{n: getattr(args, n) for n in names if getattr(args, n) is not None},
    )
    model, chosen = _fit(args, model, sample, dev, Cs, interrupts, watch)
    model.set_params(verbose=0, callbacks=None)
    model.notes = {
        "task": "classify",
        **layout.notes(),
        "file": os.path.basename(sample.path),
        "samples": sample.n,
        "bag": None if bag is None else bag.state(),
    }
    keep(model, args, watch)
    if not args.quiet:
        if chosen:
            print(classify_choice.table(chosen))
        print(_summary(model, watch, args.output))
        if dev is not None:
            print(f"On {dev.path}:\n{model.evaluate(dev.X, dev.y)}")
    return interrupts.exit_code(args.output)


def _read(args):
    """The layout, the training file, the other file, the words and the taxonomy."""
    from maxmargin.classes.bag_of_words import BagOfWords
    from maxmargin.classes.taxonomy.file import read_taxonomy

    tree = None
    if args.taxonomy:
        tree = read_taxonomy(args.taxonomy, args.separator, args.encoding)
    bag = None
    if args.format == "text":
        bag = BagOfWords(
            ngrams=1 if args.ngrams is None else args.ngrams,
            weighting=args.weighting or "tfidf",
            min_count=1 if args.min_count is None else args.min_count,
        )
    layout = Layout(args.format, args.encoding, args.multilabel)
    layout, sample = layout.read_training(args.train, bag)
    check_labels(sample, tree, args.separator)
    dev = None
    if args.dev:
        dev = layout.read(args.dev, bag, sample.X.shape[1])
        check_labels(dev, tree, args.separator)
    if tree is None and not args.quiet:
        _remark_on_separator(args, sample)
    return layout, sample, dev, bag, tree


def _remark_on_separator(args, sample: Sample) -> None:
    """Labels without the separator are classes without a hierarchy: perhaps a mistake."""
    given = {z for y in sample.y for z in (y if isinstance(y, list) else [y])}
    if any(args.separator in label for label in given):
        return
    for other in ".:/|":
        hits = sorted(label for label in given if other in label.strip(other))
        if len(hits) > len(given) / 2:
            say(
                f"no label has a {args.separator!r}, so there is no hierarchy; with "
                f"--separator '{other}' labels like {hits[0]!r} would be paths."
            )
            return


def _fit(args, model, sample: Sample, dev, Cs, interrupts, watch):
    """The fitted model, and the scores of the values of C it was chosen from."""
    from maxmargin.classes import command_choice as classify_choice

    chosen = []
    with plain_warnings(), patience(args.quiet) as timer, interrupts:
        model.set_params(callbacks=[interrupts.callback, lambda _: timer.cancel()])
        if Cs and dev is not None:
            model, chosen = classify_choice.best_on(model, sample, dev, Cs, interrupts)
            seconds = sum(score.seconds for score in chosen)
        else:
            if Cs:
                model.set_params(verbose=0)
                chosen = classify_choice.cross_validate(
                    model, sample, Cs, args.cv, interrupts, args.quiet
                )
                watch("choosing C")
                C = chosen[classify_choice.best_of(chosen)].C
                model.set_params(C=C, verbose=int(not args.quiet))
            model.fit(sample.X, sample.y)
            seconds = model.history_[-1]["seconds"]
    watch("encoding")
    watch.move("encoding", "training", seconds)
    return model, chosen


def _check_options(args) -> list[float]:
    """All that can be said before reading; returns the values of C to choose from."""
    from maxmargin.classes.command_choice import USUAL

    check_outputs(args)
    if not args.separator:
        raise ValueError("--separator is empty: give a text such as . or /.")
    if args.format != "text":
        for name in ("ngrams", "weighting", "min_count"):
            if getattr(args, name) is not None:
                raise ValueError(
                    f"--{name.replace('_', '-')} is for texts: files of vectors hold "
                    "their features."
                )
    if args.multilabel and args.mode == "flat":
        raise ValueError("--mode flat is for one label per line: leave it out.")
    if args.multilabel and args.loss not in (None, "tree"):
        raise ValueError(f"--loss {args.loss} is for one label per line: leave it out.")
    return values_of_C(args, USUAL)


def _summary(model: TaxonomySVM, watch: Stopwatch, path: str) -> str:
    notes = model.notes
    size = os.path.getsize(path) / 1e6
    return "\n".join(
        [
            f"Trained on {notes['file']}: {notes['samples']:,} samples, "
            f"{len(model.classes_)} classes, {len(model.taxonomy_)} nodes, "
            f"{model.coef_.shape[1]:,} features; C={model.C:g}.",
            certificate_sentence(model),
            str(watch),
            f"Saved to {path} ({size:.1f} MB).",
        ]
    )
