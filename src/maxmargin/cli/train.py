"""``maxmargin train TASK``: from a file to a model file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import maxmargin
from maxmargin.cli import selection
from maxmargin.cli.cluster import cluster
from maxmargin.cli.common import (
    Interrupts,
    Stopwatch,
    draw_training,
    patience,
    plain_notes,
    plain_warnings,
    predicting,
    print_json,
    reading,
    say,
)
from maxmargin.cli.options import check_outputs, chosen_estimator, values_of_C
from maxmargin.engine.interrupts import undisturbed
from maxmargin.files.locks import Changed
from maxmargin.report.facts import certificate_sentence

if TYPE_CHECKING:
    from maxmargin.cli.command import Command, Sample


def train(kind: type[Command], args) -> int:
    """From a file to a model file."""
    with cluster(args) as client:
        return _train(kind, args, client)


def _train(kind: type[Command], args, client) -> int:
    watch = Stopwatch()
    name, given = chosen_estimator(kind, args)
    check_outputs(args)
    Cs = values_of_C(args, kind.usual)
    command = kind.from_args(args)
    command.check(args)

    estimator = getattr(maxmargin, name)
    watch("importing")
    with reading(args.train):
        sample = command.learn(args.train, args)
    selection.check_folds(args.cv, sample, command.items)
    dev = None
    if args.dev:
        with reading(args.dev):
            dev = command.read(args.dev, True)
    model = estimator(**command.settings(args, given, sample, dev))
    remark = "" if dev is None else command.check_truth(model, dev, sample)
    if remark and not args.quiet:
        say(remark)
    if client is not None:
        model.set_params(engine=client)
    watch("reading")
    interrupts = Interrupts()
    model, scores = _fit(command, model, sample, dev, Cs, args, interrupts, watch)
    model.notes = {"task": kind.name, **command.notes(model, sample)}
    with undisturbed(raising=False) as late:  # now that there is a model, it is kept
        args.output = _save(model, args.output)
    interrupts.seen |= late.came
    watch("saving")
    try:
        draw_training(model, args, watch)
        _tell(command, model, dev, scores, args, watch)
    except KeyboardInterrupt:  # the model is there: that has to be said
        interrupts.seen = True
    return interrupts.exit_code(args.output)


def _save(model, path: str) -> str:
    """Where the model is kept: under another name if somebody else took this one.

    What was learned in hours must not be lost to that.
    """
    from maxmargin.files.model_file import save

    try:
        save(model, path)
    except Changed:
        taken, path = path, f"{path}.{os.getpid()}"
        save(model, path)
        say(f"somebody else wrote {taken} meanwhile; the model is in {path}.")
    return path


def _tell(command, model, dev, scores, args, watch) -> None:
    """The summary, and how good the model is on another file."""
    if args.json:
        print_json(_numbers(command, model, dev, scores, args, watch))
    elif not args.quiet:
        if scores:
            print(selection.table(scores, command.smaller))
        print(_summary(command, model, args.output, watch))
        if dev is not None:
            print(f"On {dev.path}:\n{_on(command, model, dev)}")


def _fit(command, model, sample: Sample, dev, Cs, args, interrupts, watch):
    """The fitted model, and the scores of the values of C it was chosen from."""
    from maxmargin.callbacks import JsonLines

    scores: list[selection.Score] = []
    seconds, params = 0.0, model.get_params(deep=False)
    quiet = args.quiet or getattr(model, "_long_passes", False)
    with plain_warnings(args.spoken), patience(quiet) as timer, interrupts:
        command.prepare(model, sample, dev, watch)
        if "callbacks" in params:  # it is not from counts alone
            watchers = [interrupts.callback, lambda _: timer.cancel()]
            if args.log:
                watchers.append(JsonLines(args.log))
            model.set_params(callbacks=watchers, verbose=int(not args.quiet))
        others = command.others(model, sample) if Cs else []
        if Cs and dev is not None:
            model, scores = selection.best_on(
                command, model, sample, dev, Cs, interrupts, others
            )
            seconds = sum(score.seconds for score in scores)
        else:
            if Cs:
                scores = selection.cross_validate(
                    command, model, sample, Cs, args.cv, interrupts, args.quiet, others
                )
                watch("choosing C")
                best = scores[selection.best_of(scores, command.smaller)]
                model.set_params(C=best.C, **best.settings)
            selection.fit(model, sample, dev)
            if hasattr(
                model, "history_"
            ):  # a search before the last solver counts, too
                seconds = getattr(model, "seconds_", model.history_[-1]["seconds"])
    if "callbacks" in params:
        model.set_params(verbose=0, callbacks=None)
        watch("encoding")
        watch.move("encoding", "training", seconds)
    else:
        watch("counting")
    return model, scores


def _on(command: Command, model, dev: Sample):
    with predicting():
        outputs = command.predict(model, dev)
    return command.report(model, dev, outputs)


def _summary(command: Command, model, path: str, watch: Stopwatch) -> str:
    lines = [f"Trained on {model.notes['file']}: {command.summary(model)}."]
    if hasattr(model, "certificate_"):
        lines.append(certificate_sentence(model))
    size = os.path.getsize(path) / 1e6
    return "\n".join([*lines, str(watch), f"Saved to {path} ({size:.1f} MB)."])


def _numbers(command, model, dev, scores, args, watch: Stopwatch) -> dict[str, Any]:
    """The summary for programs."""
    out: dict[str, Any] = {"model": args.output, "notes": plain_notes(model)}
    if hasattr(model, "certificate_"):
        out |= {"C": model.C_, "passes": model.n_iter_, "converged": model.converged_}
        out["certificate"] = model.certificate_
    if scores:
        out["choice"] = scores
    if dev is not None:
        out["dev"] = {"file": dev.path} | _on(command, model, dev).as_dict()
    return out | {"seconds": watch.seconds}
