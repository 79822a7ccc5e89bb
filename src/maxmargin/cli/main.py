"""The parser of the command line, and the one place where errors become sentences."""

from __future__ import annotations

import argparse
import os
import re
import sys
import textwrap
import time
import traceback
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

from maxmargin import __version__, start
from maxmargin.cli import cluster, shard, warmup
from maxmargin.cli.command import Command
from maxmargin.cli.common import INTERRUPTED, load_model, say, took
from maxmargin.cli.evaluate import GONE, evaluate
from maxmargin.cli.inspect import inspect
from maxmargin.cli.language import options_of, spoken
from maxmargin.cli.notes import checked_notes
from maxmargin.cli.options import add_options, add_train_options, declared, flag
from maxmargin.cli.outputs import held
from maxmargin.cli.predict import predict
from maxmargin.cli.task import Task
from maxmargin.cli.train import train as train_model
from maxmargin.core.jobs import effective_jobs
from maxmargin.engine.interrupts import was_ctrl_c
from maxmargin.engine.lost import EngineLost
from maxmargin.families import places

TASKS = {**places("commands"), "structure": "maxmargin.cli.structure"}
TASKS = dict(sorted(TASKS.items()))
ENDED = (
    "Ctrl-C ends training; the best weights so far are saved, and the exit code is 130."
)

MODEL = "what `maxmargin train` wrote"
EVERYWHERE = """
--traceback  after an error, show where in the code it came from
--resources  say at the end what the command took: seconds, CPU seconds, memory
"""
BAD_INPUT = 2
BAD = (ValueError, OSError, ImportError, NotImplementedError, EngineLost)
CLOSED = 1


class _Parser(argparse.ArgumentParser):
    """Mistakes in a command are reported as all others are; examples keep their lines."""

    def __init__(self, *args, **options):
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, allow_abbrev=False, **options)
        add_options(self, EVERYWHERE)

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}; see {self.prog} --help.")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code: 0, 2 for bad input, 130 for Ctrl-C."""
    began, options = time.perf_counter(), dict[str, str]()
    argv = sys.argv[1:] if argv is None else list(argv)
    try:
        start.hand_over()
        args, extra = _parser(argv).parse_known_args(argv)
        options = getattr(args, "spoken", {})
        if args.command == "evaluate" and any(
            word.partition("=")[0] == "--page" for word in extra
        ):
            raise ValueError(GONE)
        if extra and args.command == "evaluate" and args.file is None:
            # argparse stops looking for optional names at the first option
            args.file = extra.pop(0) if not extra[0].startswith("--") else None
        if extra:
            raise ValueError(f"unknown arguments: {' '.join(extra)}; see --help.")
        if getattr(args, "n_jobs", None) is not None:
            effective_jobs(args.n_jobs)  # refuses what is no number of threads
        with held(args):
            code = args.run(args)
        sys.stdout.flush()
        return code
    except (KeyboardInterrupt, SystemError) as error:
        if not was_ctrl_c(error):
            raise
        print("maxmargin: interrupted; nothing was written.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED
    except (*BAD, MemoryError) as error:
        if "--traceback" in argv:
            traceback.print_exc()
        said = spoken(_sentence(error), options, argv)
        print(f"maxmargin: error: {said}", file=sys.stderr)
        return BAD_INPUT
    finally:
        if "--resources" in argv:
            say(took(time.perf_counter() - began))


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        name = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        text = f"{name}{error.strerror}"
    else:
        text = str(error) or type(error).__name__
    text = " ".join(text.split())
    return text if text.endswith((".", "?", "!")) else f"{text}."


# the parser --------------------------------------------------------------------------


def _parser(argv: Sequence[str]) -> _Parser:
    parser = _Parser(
        prog="maxmargin",
        description="Learn to predict structured objects, from files.",
        epilog="""example:
  maxmargin train tag train.txt --features ner -o ner.model
  maxmargin predict ner.model new.txt -o tagged.txt
  maxmargin evaluate ner.model test.txt
  maxmargin report ner.model test.txt -o report.html
  maxmargin inspect ner.model --top 5

Exit codes: 0 done, 2 bad input, 130 ended by Ctrl-C.""",
    )
    parser.add_argument(
        "--version", action="version", version=f"%(prog)s {__version__}"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_train(commands, argv)
    _add_predict(commands)
    _add_evaluate(commands)
    _add_report(commands)
    _add_inspect(commands)
    shard.add_parser(commands)
    warmup.add_parser(commands)
    return parser


def _ready(parser: _Parser, run, parameters=None) -> None:
    """The last word of a parser: what it runs, and what its options are called."""
    parser.set_defaults(run=run, spoken=options_of(parser, parameters))


def _add_train(commands, argv: Sequence[str]) -> None:
    train = commands.add_parser(
        "train",
        help="learn a model from a file",
        description="Learn a model from a file.",
        epilog="""example:
  maxmargin train tag train.txt --features ner -o ner.model
  maxmargin train tag --help""",
    )
    tasks = train.add_subparsers(dest="task", required=True, metavar="TASK")
    for name in TASKS:
        task = task_of(name)
        about = task.about
        end = f"{task.example}\n{ENDED}"
        parser = tasks.add_parser(name, help=about, description=about, epilog=end)
        if name in argv[:2]:  # the options of others take time, and are not asked for
            parameters = add_train_options(parser, task)
            run = lambda args: train_model(command_of(args.task), args)  # noqa: E731
            _ready(parser, run, parameters)


def _add_predict(commands) -> None:
    parser = commands.add_parser(
        "predict",
        help="predict the outputs of a file",
        description="Predict the outputs of a file with a model.",
        epilog="""example:
  maxmargin predict ner.model new.txt -o tagged.txt
  maxmargin predict ner.model new.txt --marginals | less

The model remembers its task and how its files are written: the page of the task in
docs/ says what goes in and what comes out. A file appears whole or not at all.""",
    )
    _add_files(parser)
    what = "default: standard output"
    parser.add_argument("-o", "--output", metavar="OUT", default="-", help=what)
    add_options(
        parser,
        """
        --k-best N  write the N best outputs of every sentence, one after the other, each
            after a line '# RANK SCORE'
        --marginals  write probabilities beside the outputs
        --encoding NAME  of FILE and OUT (default: that of the training file)
        """,
    )
    _ready(parser, lambda args: _with_model(predict, "", args))


def _add_evaluate(commands) -> None:
    parser = commands.add_parser(
        "evaluate",
        help="compare predictions with the truth",
        description="Compare predictions with the truth, in the measures of the task.",
        usage="%(prog)s [options] [MODEL] FILE",
        epilog="""example:
  maxmargin evaluate ner.model test.txt --confusion errors.png
  maxmargin evaluate parser.model test.mrg --plot worst.png
  maxmargin evaluate tagged.txt

Without a model, the file has tokens, one per line, and its last two columns are the
truth and the prediction.""",
    )
    _add_files(parser, nargs="?")
    add_options(
        parser,
        """
        --json  print the numbers as JSON, from 0 to 1
        --plot FILE.png  draw the predictions beside the truth
        --encoding NAME  of FILE (default: that of the training file, or utf-8)
        """,
    )
    _add_own(parser, "evaluate_options")
    _ready(parser, _evaluate)


def _add_report(commands) -> None:
    parser = commands.add_parser(
        "report",
        help="write a page about a model and its errors",
        description="Write a page about a model and its errors on a test file: one file "
        "of HTML that needs no network.",
        epilog="""example:
  maxmargin report ner.model test.txt -o report.html
  maxmargin report ner.model test.txt --against old.model -o both.html""",
    )
    _add_files(parser)
    what = "the page (default: report.html)"
    parser.add_argument(
        "-o", "--output", metavar="PAGE.html", default="report.html", help=what
    )
    add_options(
        parser,
        """
        --against MODEL  another model of the same task, to compare with
        --limit N=150  the most examples with errors that are drawn (default: 150)
        --encoding NAME  of FILE (default: that of the training file)
        """,
    )
    # what it needs takes time, and the other commands do not ask for it
    run = lambda *given: import_module("maxmargin.cli.report").report(*given)  # noqa: E731
    _ready(parser, lambda args: _with_model(run, "", args))


def _add_inspect(commands) -> None:
    parser = commands.add_parser(
        "inspect",
        help="show what a model has learned",
        description="Show what a model has learned, and how it was trained.",
        epilog="""example:
  maxmargin inspect ner.model --top 5 --label B-PER
  maxmargin inspect ner.model --transitions --plot transitions.png
  maxmargin inspect aligner.model --export costs.txt""",
    )
    _add_model(parser)
    add_options(
        parser,
        """
        --top N=10  the N strongest weights (default: 10), for tags of every label; 0 for
            none
        --json  print it as JSON
        --plot FILE.png  draw what was learned, such as transitions
        --export FILE  write it as text for other programs
        """,
    )
    _add_own(parser, "inspect_options")
    _ready(parser, lambda args: _with_model(inspect, "inspect_options", args))


def _add_files(parser: _Parser, **options) -> None:
    _add_model(parser)
    parser.add_argument("file", metavar="FILE", help="- is standard input", **options)
    what = "threads (default: 1)"
    parser.add_argument("--jobs", dest="n_jobs", type=int, metavar="N", help=what)
    add_options(parser, cluster.OPTIONS)


def _add_model(parser: _Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help=MODEL)
    what = "the class of a structure of your own, as in train"
    parser.add_argument("--structure", metavar="MODULE:CLASS", help=what)


def _add_own(parser: _Parser, which: str) -> None:
    """Options that only some tasks know."""
    done: set[str] = set()
    for task in TASKS:
        text = textwrap.dedent(getattr(task_of(task), which))
        done |= add_options(parser, text, done=done)


def _own(kind: type[Task], which: str) -> set[str]:
    return {name for name, _ in declared(getattr(kind, which)) if name}


# running -----------------------------------------------------------------------------


def task_of(name: str) -> type[Task]:
    return import_module(TASKS[name]).COMMAND


def command_of(name: str) -> type[Command]:
    """How the task runs: in the module ``run`` beside that of the task."""
    return import_module(re.sub(r"\bcommand$", "run", TASKS[name])).RUN


def _with_model(run, which: str, args) -> int:
    model, task = load_model(args.model, TASKS, args.structure)
    kind = command_of(task)
    model.notes = checked_notes(kind, model.notes)
    others = map(task_of, TASKS if which else ())
    for name in sorted(set().union(*(_own(other, which) for other in others))):
        # refuse options that mean nothing for this task, rather than ignore them
        given = getattr(args, name) not in (None, False)
        if given and name not in _own(kind, which):
            raise ValueError(
                f"{flag(name)} means nothing for a model of the task {task!r}: leave it "
                "out."
            )
        if given and which == "evaluate_options" and name in kind.alone:
            raise ValueError(
                f"{flag(name)} is for files without a model; a model remembers it."
            )
    if getattr(args, "n_jobs", None) is not None:
        model.set_params(n_jobs=args.n_jobs)
    with cluster.cluster(args) as client:
        if client is not None and "engine" in model.get_params(deep=False):
            model.set_params(engine=client)
        command = kind.of(model)
        if getattr(args, "encoding", None) is not None:
            command.encoding = args.encoding
        return run(command, model, args)


def _evaluate(args) -> int:
    if args.file is not None:
        return _with_model(evaluate, "evaluate_options", args)
    args.file, args.model = args.model, None
    name = next(name for name in TASKS if task_of(name).alone)
    return evaluate(command_of(name)(), None, args)
