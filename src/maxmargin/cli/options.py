"""Options of ``maxmargin train TASK``, which are the parameters of its estimator.

Parameters are declared in the ``parameters`` of a family, which are light: an estimator
takes a second to import. What else a family says of an option is in its `Task`.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import maxmargin
from maxmargin.cli import cluster
from maxmargin.cli.common import check_output, check_picture
from maxmargin.solvers.checkpoints.checkpoint import Checkpoint

if TYPE_CHECKING:
    from maxmargin.cli.task import Task
    from maxmargin.fitting.parameters import Declared

KEPT = """
--checkpoint-every TIME  interval between checkpoints: 30s, 2m or 1h (default: 1m)
"""
ALL = """
--quiet  no progress, no summary
--json  print the summary as JSON
"""
CHOICE = """
choosing C
  --path C,C,...  values of C to choose from
  --dev FILE  a file to choose C on, or only to evaluate on
  --cv N  choose C by N-fold cross-validation
"""
WATCH = """
--plot FILE.png  draw the convergence of the training
--log FILE  append one line of JSON per pass to a file, even while C is chosen
"""
_OPTION = re.compile(r"(?:(-\w), )?--([\w-]+)(?: (\S+))?(?:  (.*))?")
# What --help shows in all tasks.
ESSENTIAL = {"help", argparse.SUPPRESS, "output", "C", "n_jobs", "max_time"}
ESSENTIAL |= {"path", "dev", "cv"}
# Options of the pipeline that need an estimator with this parameter.
NEEDS = {"path": "C", "cv": "C", "plot": "callbacks", "log": "callbacks"}
NEEDS["checkpoint_every"] = "checkpoint"
NEEDS |= {"cluster": "engine", "workers": "engine"}


def parameters_of(name: str) -> dict[str, Declared]:
    """The parameters of a public estimator, without importing it."""
    family = ".".join(maxmargin._WHERE[name].split(".")[:2])
    module = importlib.import_module(f"{family}.parameters")
    return getattr(module, f"{name}Parameters").declared


def flag(name: str, parameter: Declared | None = None) -> str:
    """The option of that name."""
    own = "" if parameter is None else parameter.flag
    return own or "--" + name.replace("_", "-")


# declaring ---------------------------------------------------------------------------


def declared(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, keywords of add_argument) of options that a text describes, one per line.

        --columns N=-1  an option with a value: N is a whole number, X a number, others
            texts; behind = is its default. Help goes on in lines that are further in
        -k, --kind a|b|c=a  a choice, under a short name too
        --file FILE+  may be given several times
        --loss  a parameter, which tells its type and default; else a switch

    Other lines are titles, under the name "".
    """
    lines = re.sub(r"\n {4,}(?=[^-\s])", " ", textwrap.dedent(text)).split("\n")
    for line in filter(str.strip, lines):
        match = _OPTION.fullmatch(line.strip())
        if match is None:
            yield "", {"title": line.strip()}
            continue
        short, name, value, about = match.groups()
        options: dict[str, Any] = {"help": (about or "").replace("%", "%%")}
        if short is not None:
            options["short"] = short
        if value is not None:
            value, _, default = value.partition("=")
            kind = {"N": int, "X": float}.get(value, str)
            options |= {"type": kind, "default": kind(default) if default else None}
            if "|" in value:
                options["choices"] = value.split("|")
            else:
                options["metavar"] = value.removesuffix("+")
            if value.endswith("+"):
                options["action"] = "append"
        yield name.replace("-", "_"), options


def add_options(parser, text: str, parameters=None, done=frozenset()) -> set[str]:
    """Options that a text describes, but those ``done``; returns their names.

    Of ``parameters`` of an estimator, by name, types and defaults are known.
    """
    group, done, parameters = parser, set(done), parameters or {}
    for name, options in declared(text):
        if not name:
            group = parser.add_argument_group(**options)
            continue
        if name in done:
            continue
        done.add(name)
        parameter = parameters.get(name)
        if parameter is not None:
            _complete(options, parameter)
        elif "default" not in options:
            options["action"] = "store_true"
        short = [options.pop("short")] if "short" in options else []
        group.add_argument(*short, flag(name, parameter), dest=name, **options)
    return done


def _complete(options: dict[str, Any], parameter: Declared) -> None:
    """What a parameter tells of its option; its default stays its own."""
    default, kind = parameter.default, parameter.kind
    if isinstance(default, bool):
        options["action"] = argparse.BooleanOptionalAction if default else "store_true"
    elif kind is bool:
        options["action"] = argparse.BooleanOptionalAction
    elif "default" not in options:
        kind = kind or (str if default is None else type(default))
        usual = {int: "N", float: "X"}.get(kind, "NAME")
        options |= {"type": kind, "metavar": parameter.metavar or usual}
    if "choices" in options and isinstance(default, int):
        options |= {"type": int, "choices": [*map(int, options["choices"])]}
    options.setdefault("default", None)
    options["help"] = options["help"] or parameter.help
    if default not in (None, False) and "default:" not in options["help"]:
        shown = f"{default:g}" if isinstance(default, float) else default
        options["help"] = f"{options['help']} (default: {shown})".strip()


def add_train_options(
    parser: argparse.ArgumentParser, command: type[Task]
) -> Iterable[str]:
    """All options of a task: its own, how C is chosen, parameters of its estimator.

    Returns the names of the latter.
    """
    what = "the file to learn from; - is standard input"
    parser.add_argument("train", metavar=command.file, help=what)
    what = "the model file to write"
    parser.add_argument("-o", "--output", metavar="MODEL", required=True, help=what)
    parameters: dict[str, Declared] = {}
    for name in reversed(command.estimators.values()):
        parameters |= parameters_of(name)
    done = add_options(
        parser, ALL + textwrap.dedent(command.options) + CHOICE, parameters
    )
    left = [n for n, each in parameters.items() if each.option and n not in done]
    lines = [f"--{name}" for name in left if name not in command.hidden]
    last = KEPT + WATCH if "checkpoint" in parameters else WATCH
    last += cluster.OPTIONS if "engine" in parameters else ""
    add_options(parser, "\n".join(["training", *lines, last]), parameters)
    return parameters


# reading -----------------------------------------------------------------------------


def chosen_estimator(command: type[Task], args) -> tuple[str, dict[str, Any]]:
    """The name of the estimator, and those of its parameters that were given."""
    kinds = command.estimators
    kind = getattr(args, command.chooser) if command.chooser else next(iter(kinds))
    parameters = parameters_of(kinds[kind])
    for other, name in kinds.items():
        foreign = [p for p in parameters_of(name) if p not in parameters]
        foreign += [o for o, needed in NEEDS.items() if needed in foreign]
        for option in foreign:
            if getattr(args, option, None) is not None:
                own = flag(option, parameters_of(name).get(option))
                raise ValueError(
                    f"{own} belongs to --{command.chooser} {other}: leave it out."
                )
    given = {name: getattr(args, name, None) for name in parameters}
    if getattr(args, "checkpoint_every", None) is not None:
        every = seconds_of(args.checkpoint_every)
        if given["checkpoint"] is None:
            raise ValueError(
                "--checkpoint-every says how often a checkpoint is written, but there is "
                "none: give --checkpoint FOLDER too."
            )
        given["checkpoint"] = Checkpoint(given["checkpoint"], every)
    return kinds[kind], {k: v for k, v in given.items() if v is not None}


def seconds_of(text: str) -> float:
    """An interval such as 10, 10s, 2m or 1h."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text.strip(), re.ASCII)
    if match is None:
        raise ValueError(
            f"--checkpoint-every {text!r} is not possible: give seconds, minutes or "
            "hours, such as 30s, 2m or 1h; 0 writes after every pass."
        )
    return float(match[1]) * {"": 1, "s": 1, "m": 60, "h": 3600}[match[2]]


def check_outputs(args) -> None:
    """Refuse a model or a picture that cannot be written, before any work."""
    if args.output == "-":
        raise ValueError("a model cannot be written to standard output: name a file.")
    if args.train == args.dev == "-":
        raise ValueError("standard input holds one file: name another one for --dev.")
    check_output(args.output, "The model")
    if os.path.exists(args.output) and not os.path.isfile(args.output):
        raise ValueError(
            f"The model {args.output} is no regular file: name another one."
        )
    check_output(args.log, "The log")
    check_picture(args.plot)


def values_of_C(args, usual: tuple[float, ...]) -> list[float]:
    """The values of C to choose from; none if there is nothing to choose.

    ``usual`` are tried if only ``--cv`` is given.
    """
    if args.path is None and args.cv is None:
        return []
    if args.cv is not None and args.dev is not None:
        raise ValueError("choose C with --dev or with --cv, not with both.")
    if args.cv is not None and args.cv < 2:
        raise ValueError(f"--cv {args.cv} is not possible: two folds are the least.")
    if args.C is not None:
        raise ValueError("give one --C, or several with --path or --cv, not both.")
    if args.path is None:
        return list(usual)
    if args.cv is None and args.dev is None:
        raise ValueError(
            "--path needs a way to choose among its values: --dev FILE or --cv 5."
        )
    try:
        return sorted({float(C) for C in args.path.split(",")})
    except ValueError:
        raise ValueError(
            f"--path {args.path} is not a list of numbers, such as 0.01,0.1,1."
        ) from None
