"""The parser of the command line, and the one place where errors become sentences."""

from __future__ import annotations

import os
import sys
import textwrap
import time
import traceback
from collections.abc import Sequence
from importlib import import_module

from maxmargin import __version__, start
from maxmargin.cli import cluster, shard, warmup
from maxmargin.cli.common import INTERRUPTED, load_model, say, took
from maxmargin.cli.language import options_of, spoken
from maxmargin.cli.model_commands import COMMANDS, MODEL, SHARED, STRUCTURE
from maxmargin.cli.notes import checked_notes
from maxmargin.cli.options import (
    ESSENTIAL,
    add_options,
    add_train_options,
    declared,
    flag,
)
from maxmargin.cli.outputs import held
from maxmargin.cli.parser import HELP, Parser
from maxmargin.cli.task import TABLES, TASKS, Task, command_of, task_of
from maxmargin.core.jobs import effective_jobs
from maxmargin.engine.interrupts import was_ctrl_c
from maxmargin.engine.lost import EngineLost
from maxmargin.files.model_values import Refused
from maxmargin.fitting.parameters import Shared
from maxmargin.waiting import watched

ENDED = (
    "Ctrl-C ends training; the best weights so far are saved, and the exit code is 130."
)

THREADS = Shared.declared["n_jobs"]
GONE = (
    "--page is gone: a page with sentences, errors and training is written by "
    "maxmargin report MODEL FILE -o PAGE.html."
)
BAD_INPUT = 2
BAD = (ValueError, OSError, ImportError, NotImplementedError, EngineLost)
CLOSED = 1


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code: 0, 2 for bad input, 130 for Ctrl-C."""
    began, options = time.perf_counter(), dict[str, str]()
    argv = sys.argv[1:] if argv is None else list(argv)
    try:
        start.hand_over()
        args, extra = _parser(argv).parse_known_args(argv)
        options = getattr(args, "spoken", {})
        if extra and args.command == "evaluate" and args.file is None:
            # argparse stops looking for optional names at the first option
            args.file = extra.pop(0) if not extra[0].startswith("--") else None
        if extra:
            gone = any(word.partition("=")[0] == "--page" for word in extra)
            unknown = f"unknown arguments: {' '.join(extra)}; see --help."
            raise ValueError(GONE if gone and args.command == "evaluate" else unknown)
        if getattr(args, "n_jobs", None) is not None:
            effective_jobs(args.n_jobs)  # refuses what is no number of threads
        with held(args), watched(not getattr(args, "quiet", False)):
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


def _parser(argv: Sequence[str]) -> Parser:
    parser = Parser(
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
    _add_model_commands(commands, _task_asked(argv))
    shard.add_parser(commands)
    warmup.add_parser(commands)
    return parser


def _task_asked(argv: Sequence[str]) -> type[Task] | None:
    """The task of the model that is named in a question for help, from its header."""
    if argv[:1] and argv[0] in COMMANDS and not HELP.isdisjoint(argv):
        for path in filter(os.path.isfile, argv[1:]):
            try:
                # which takes longer to import than all other help
                header = import_module("maxmargin.files.model_format").peek(path)
                return task_of(header["notes"]["task"])
            except (*BAD, Refused, KeyError, TypeError):
                continue  # other commands say what is wrong with it
    return None


def _ready(parser: Parser, run, parameters=None) -> None:
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
            _ready(parser, _train, parameters)
            shown = {*ESSENTIAL, *task.essential.split()}
            parser.rare |= {a.dest for a in parser._actions if a.option_strings} - shown


def _add_model_commands(commands, asked: type[Task] | None) -> None:
    """Those that read a model; help is wanted of those of the ``asked`` task."""
    tasks = [asked] if asked else [task_of(name) for name in TASKS]
    for name, command in COMMANDS.items():
        parser = commands.add_parser(
            name,
            help=command.about,
            description=command.description,
            epilog=command.example,
            usage=command.usage,
        )
        parser.add_argument("model", metavar="MODEL", help=MODEL)
        if command.file is not None:
            what = "- is standard input"
            parser.add_argument("file", metavar="FILE", help=what, **command.file)
            add_options(parser, SHARED, {"n_jobs": THREADS})
            add_options(parser, cluster.OPTIONS)
        idle = {"plot"} if asked and name == "evaluate" and not asked.draws else set()
        own = {} if asked is None else asked.outputs
        formats = [*own, *(form for form in TABLES if form not in own)]
        formats += [] if asked else ["one of the task's own"]
        text = command.options.replace("FORMATS", ", ".join(formats))
        done = add_options(parser, text, done=idle)
        if asked:
            done |= {*asked.alone}  # a model remembers these
        for task in tasks:
            text = textwrap.dedent(getattr(task, command.own, ""))
            done = add_options(parser, text, done=done)
        if not asked or asked.name == "structure":
            add_options(parser, STRUCTURE)
        _ready(parser, _with_model)
        parser.rare |= {"cluster", "workers"}
        if not asked:
            own = set().union(
                *(_own(task, command.own) - {*task.alone} for task in tasks)
            )
            parser.rare |= {"structure", *own} - {"k_best", "marginals"}
            parser.hint = f"maxmargin {name} MODEL --help shows what its task takes."


def _own(kind: type[Task], which: str) -> set[str]:
    return {name for name, _ in declared(getattr(kind, which, "")) if name}


# running -----------------------------------------------------------------------------


def _train(args) -> int:
    # what it needs takes time, and help does not ask for it
    return import_module("maxmargin.cli.train").train(command_of(args.task), args)


def _with_model(args) -> int:
    """A command that reads a model, in the module of its name."""
    run = getattr(import_module(f"maxmargin.cli.{args.command}"), args.command)
    if args.command == "evaluate" and args.file is None:
        args.file, args.model = args.model, None
        name = next(name for name in TASKS if task_of(name).alone)
        return run(command_of(name)(), None, args)
    model, task = load_model(args.model, TASKS, args.structure)
    kind, which = command_of(task), COMMANDS[args.command].own
    model.notes = checked_notes(kind, model.notes)
    for name in sorted(set().union(*(_own(task_of(other), which) for other in TASKS))):
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
