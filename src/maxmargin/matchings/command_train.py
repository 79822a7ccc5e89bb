"""``maxmargin train match``: from links to a model file."""

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
)
from maxmargin.cli.train_options import check_outputs, values_of_C

if TYPE_CHECKING:
    from maxmargin import WordAligner

USUAL = (0.003, 0.01, 0.03, 0.1, 0.3)  # values of C, if none are named


def train(args) -> int:
    """From links to a model file."""
    watch = Stopwatch()
    Cs = _check_options(args)
    fertility = _fertility(args.fertility)

    from maxmargin import WordAligner
    from maxmargin.matchings.bitext import read_aligned

    watch("importing")
    text = read_aligned(args.train, True, args.encoding)
    dev = read_aligned(args.dev, True, args.encoding) if args.dev else None
    if args.cv is not None and args.cv > len(text.X):
        raise ValueError(
            f"--cv {args.cv} is more than the {len(text.X)} sentence pairs of {text.path}."
        )
    bitext = [
        pair
        for path in args.bitext or ()
        for pair in read_aligned(path, False, args.encoding).X
    ]
    watch("reading")
    aligner = WordAligner(
        **fertility,
        **_lists(args, "forms", "features"),
        **_given(args, "C", "cost_missing", "cost_extra", "tol", "max_time", "n_jobs"),
        random_state=args.seed,
        verbose=int(not args.quiet),
    )
    aligner._settings()  # says what is wrong with them before the dictionary is learned
    interrupts = Interrupts()
    with plain_warnings(), patience(args.quiet) as timer, interrupts:
        # once for all values of C and all folds; no links are read
        aligner.set_params(bitext=bitext + (dev.X if dev else []))
        aligner.set_params(bitext=aligner.learn_dictionary(text.X))
        watch("dictionary")
        aligner.set_params(callbacks=[interrupts.callback, lambda _: timer.cancel()])
        aligner, chosen = _fit(aligner, text, dev, Cs, args.cv, interrupts)
    watch("training")
    aligner.set_params(verbose=0, callbacks=None)
    aligner.notes = {
        "task": "match",
        "encoding": args.encoding,
        "file": os.path.basename(text.path),
        "pairs": len(text.X),
        "links": sum(len(links.sure) for links in text.y),
    }
    keep(aligner, args, watch)
    if not args.quiet:
        for C, aer in chosen:
            print(f"C={C:<8g} AER {100 * aer:.2f}%")
        print(_summary(aligner, watch, args.output))
        if dev is not None:
            print(f"On {dev.path}: {aligner.evaluate(dev.X, dev.y)}")
    return interrupts.exit_code(args.output)


def _fit(aligner: WordAligner, text, dev, Cs, folds, interrupts):
    """The fitted aligner, and (C, AER) of the values of C that it was chosen from."""
    if not Cs:
        return aligner.fit(text.X, text.y), []
    if dev is not None:
        models = aligner.path(text.X, text.y, Cs)
        scored = [(m.C, 1.0 - m.score(dev.X, dev.y)) for m in models]
        best = min(range(len(scored)), key=lambda k: scored[k][1])
        return models[best], scored
    scored = _cross_validate(aligner, text, Cs, folds, interrupts)
    if scored:
        aligner.set_params(C=min(scored, key=lambda pair: pair[1])[0])
    return aligner.fit(text.X, text.y), scored


def _cross_validate(aligner: WordAligner, text, Cs, folds, interrupts):
    """(C, AER over all folds together); none if it was interrupted."""
    from maxmargin.matchings.metrics import alignment_scores

    verbose, n = aligner.verbose, len(text.X)
    aligner.set_params(verbose=0)
    predicted: dict[float, dict] = {C: {} for C in Cs}
    for fold in range(folds):
        inside = [k for k in range(n) if k % folds != fold]
        outside = [k for k in range(n) if k % folds == fold]
        models = aligner.path(
            [text.X[k] for k in inside], [text.y[k] for k in inside], Cs
        )
        if interrupts.seen:
            break
        for model in models:
            links = model.predict([text.X[k] for k in outside])
            predicted[model.C] |= dict(zip(outside, links, strict=True))
    aligner.set_params(verbose=verbose)
    if interrupts.seen:
        return []
    return [
        (C, alignment_scores(text.y, [links[k] for k in range(n)]).aer)
        for C, links in predicted.items()
    ]


def _check_options(args) -> list[float]:
    """All that can be said before reading; returns the values of C to choose from."""
    check_outputs(args)
    if args.cv is not None and args.cv < 2:
        raise ValueError(f"--cv {args.cv} is not possible: two folds are the least.")
    return values_of_C(args, USUAL)


def _fertility(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        both = [None if part == "none" else int(part) for part in text.split(",")]
        if len(both) > 2:
            raise ValueError
    except ValueError:
        raise ValueError(
            f"--fertility {text} is not possible: it must be a number such as 1, none, or "
            "two of these, such as 1,3."
        ) from None
    return {"fertility": both[0] if len(both) == 1 else tuple(both)}


def _lists(args, *names: str) -> dict[str, list[str]]:
    given = {name: getattr(args, name) for name in names}
    return {name: text.split(",") for name, text in given.items() if text is not None}


def _given(args, *names: str) -> dict[str, Any]:
    """Options that were given; the estimator knows the defaults of the others."""
    return {n: getattr(args, n) for n in names if getattr(args, n) is not None}


def _summary(aligner: WordAligner, watch: Stopwatch, path: str) -> str:
    notes, size = aligner.notes, os.path.getsize(path) / 1e6
    return "\n".join(
        [
            f"Trained on {notes['file']}: {notes['pairs']:,} sentence pairs, "
            f"{notes['links']:,} sure links, {len(aligner.coef_)} features, a dictionary "
            f"from {aligner.statistics_.n_pairs_:,} pairs; C={aligner.C:g}.",
            certificate_sentence(aligner),
            str(watch),
            f"Saved to {path} ({size:.1f} MB).",
        ]
    )
