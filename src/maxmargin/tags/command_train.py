"""``maxmargin train tag``: from a file to a model file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

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
from maxmargin.tags.command_files import Layout, Sample, separator_of

if TYPE_CHECKING:
    from maxmargin import SequenceTagger

NOT_COLUMNS = "{} belongs to --format columns: files of features hold the features."


def train(args) -> int:
    """From a file to a model file."""
    watch = Stopwatch()
    Cs = _check_options(args)

    from maxmargin import SequenceTagger
    from maxmargin.metrics import scores
    from maxmargin.tags import command_choice as tag_choice

    watch("importing")
    features = _features(args)
    layout, sample = _layout(args).read_training(args.train)
    _check_template(features, sample, layout)
    dev = layout.read(args.dev, sample.width, True) if args.dev else None
    scheme, sample = _check_scheme(args, sample)
    watch("reading")

    interrupts = Interrupts()
    tagger = SequenceTagger(
        objective=args.objective,
        features=_as_parameter(features),
        scheme=scheme,
        random_state=args.seed,
        verbose=int(not args.quiet),
        **_given(args, "C", "l1", "order", "min_count", "tol", "max_time", "n_jobs"),
    )
    tagger, chosen = _fit(args, tagger, sample, dev, Cs, interrupts, watch)
    tagger.set_params(verbose=0, callbacks=None)
    tagger.notes = _notes(args, layout, sample)
    keep(tagger, args, watch)
    if not args.quiet:
        if chosen:
            print(tag_choice.table(chosen))
        print(_summary(tagger, watch, args.output))
        if dev is not None:
            print(f"On {dev.raw.path}:\n{scores(dev.y, tagger.predict(dev.X))}")
    return interrupts.exit_code(args.output)


def _fit(args, tagger, sample: Sample, dev, Cs, interrupts, watch):
    """The fitted tagger, and the scores of the values of C it was chosen from."""
    from maxmargin.tags import command_choice as tag_choice

    chosen = []
    with plain_warnings(), patience(args.quiet) as timer, interrupts:
        tagger.set_params(callbacks=[interrupts.callback, lambda _: timer.cancel()])
        if Cs and dev is not None:
            tagger, chosen = tag_choice.best_on(tagger, sample, dev, Cs, interrupts)
            seconds = sum(score.seconds for score in chosen)
        else:
            if Cs:
                quiet = tagger.set_params(verbose=0)
                chosen = tag_choice.cross_validate(
                    quiet, sample, Cs, args.cv, interrupts, args.quiet
                )
                watch("choosing C")
                C = chosen[tag_choice.best_of(chosen)].C
                tagger.set_params(C=C, verbose=int(not args.quiet))
            tagger.fit(sample.X, sample.y, sample_weight=sample.weights)
            seconds = tagger.history_[-1]["seconds"]
    watch("encoding")
    watch.move("encoding", "training", seconds)
    return tagger, chosen


def _layout(args) -> Layout:
    return Layout(
        format=args.format,
        separator=separator_of(args.separator),
        encoding=args.encoding,
        comment=args.comment,
        label_column=args.label_column,
    )


def _notes(args, layout: Layout, sample: Sample) -> dict[str, Any]:
    """What the other commands have to know."""
    template = args.template and os.path.basename(args.template)
    return {
        "task": "tag",
        **layout.notes(),
        "file": os.path.basename(sample.raw.path),
        "features": args.features or template,
        "sentences": sample.n_sentences,
        "tokens": sum(map(len, sample.y)),
    }


def _check_options(args) -> list[float]:
    """All that can be said before reading; returns the values of C to choose from."""
    from maxmargin.tags.command_choice import USUAL

    check_outputs(args)
    return values_of_C(args, USUAL)


def _features(args):
    """A template, the name of a ready set, or None for files that hold features."""
    from maxmargin.tags.features.ready import READY_NAMES
    from maxmargin.tags.features.templates import parse_template

    named = {"--template": args.template, "--features": args.features}
    if args.format != "columns":
        named["--min-count"] = args.min_count
        for option, value in named.items():
            if value is not None:
                raise ValueError(NOT_COLUMNS.format(option))
        return None
    if (args.template is None) == (args.features is None):
        raise ValueError(
            "say what the features are: --template FILE, or --features with one of "
            f"{', '.join(READY_NAMES)}."
        )
    if args.features is not None:
        if args.features not in READY_NAMES:
            raise ValueError(
                f"--features {args.features} is not known; there are "
                f"{', '.join(READY_NAMES)}. A file is given by --template."
            )
        return args.features
    if not os.path.isfile(args.template):
        raise FileNotFoundError(
            f"There is no template file {args.template}: check its name and its folder."
        )
    from pathlib import Path

    template = parse_template(Path(args.template))
    if not args.quiet:
        for note in template.notes:
            say(f"{args.template}, {note}")
    return template


def _as_parameter(features):
    """The text of a template, so that the model needs no other file."""
    if features is None or isinstance(features, str):
        return features
    return features.text + "\n"  # without a line break it might look like a path


def _check_template(features, sample: Sample, layout: Layout) -> None:
    """What a template asks for must be there."""
    if features is None or isinstance(features, str):
        return
    try:
        features.check_columns(layout.n_columns - 1)
    except ValueError as error:
        raise ValueError(
            f"{str(error).rstrip('.')} without that of the labels ({sample.raw.path})."
        ) from None
    for feature in features.features:
        if any(part.view.macro == "g" for part in feature.parts):
            raise ValueError(
                f"{features.path}, line {feature.line}: {feature.name} reads a gazetteer, "
                "which only Python can give (maxmargin.tags.features.ColumnEncoder)."
            )


def _check_scheme(args, sample: Sample) -> tuple[str | None, Sample]:
    """The scheme, and the labels as it wants them."""
    if args.scheme is None:
        if args.repair:
            raise ValueError("--repair needs a scheme, such as --scheme BIO.")
        return None, sample
    from maxmargin.tags.schemes import check_scheme, convert, guess_scheme

    scheme = args.scheme
    if scheme == "auto":
        scheme = guess_scheme(sample.y) or scheme
    if args.repair and scheme != "auto":
        y = [convert(labels, scheme, scheme) for labels in sample.y]
        repaired = sum(a != b for a, b in zip(y, sample.y, strict=True))
        if repaired and not args.quiet:
            say(f"{sample.raw.path}: {repaired} sentences broke the scheme; repaired.")
        sample = sample._replace(y=y)
    try:
        check_scheme(sample.y, scheme, sample.where)
    except ValueError as error:
        here = str(error).replace(
            "repair it with maxmargin.tags.schemes.convert", "--repair"
        )
        raise ValueError(here) from None
    return scheme, sample


def _given(args, *names: str) -> dict[str, Any]:
    """Options that were given; the estimator knows the defaults of the others."""
    return {n: getattr(args, n) for n in names if getattr(args, n) is not None}


def _summary(tagger: SequenceTagger, watch: Stopwatch, path: str) -> str:
    notes = tagger.notes
    size = os.path.getsize(path) / 1e6
    return "\n".join(
        [
            f"Trained on {notes['file']}: {notes['sentences']:,} sentences, "
            f"{notes['tokens']:,} tokens, {len(tagger.classes_)} labels, "
            f"{tagger.coef_.shape[1]:,} features; C={tagger.C:g}.",
            certificate_sentence(tagger),
            str(watch),
            f"Saved to {path} ({size:.1f} MB).",
        ]
    )
