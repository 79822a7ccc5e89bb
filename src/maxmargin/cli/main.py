"""The parser of the command line, and the one place where errors become sentences."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from maxmargin import __version__
from maxmargin.cli import warmup
from maxmargin.cli.common import INTERRUPTED, load_model
from maxmargin.families import places

TASKS = dict(sorted(places("commands").items()))

# Options that only some tasks know: each says which in its USES.
OPTIONS = {
    "predict": ("k_best", "marginals", "jobs"),
    "evaluate": (
        *("json", "confusion", "page", "plot", "jobs"),
        *("truth", "predicted", "separator", "encoding", "comment"),
    ),
    "inspect": ("label", "transitions", "plot", "export"),
}

BAD_INPUT = 2
CLOSED = 1


class _Parser(argparse.ArgumentParser):
    """Mistakes in a command are reported as all others are; examples keep their lines."""

    def __init__(self, *args, **options):
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, allow_abbrev=False, **options)

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}; see {self.prog} --help.")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code: 0, 2 for bad input, 130 for Ctrl-C."""
    try:
        args, extra = _parser().parse_known_args(argv)
        if extra and args.command == "evaluate" and args.file is None:
            # argparse stops looking for optional names at the first option
            args.file = extra.pop(0) if not extra[0].startswith("--") else None
        if extra:
            raise ValueError(f"unknown arguments: {' '.join(extra)}; see --help.")
        code = args.run(args)
        sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        print("maxmargin: interrupted; nothing was written.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output, such as `head`, has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED
    except (ValueError, OSError, ImportError, MemoryError) as error:
        print(f"maxmargin: error: {_sentence(error)}", file=sys.stderr)
        return BAD_INPUT


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        name = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        text = f"{name}{error.strerror}"
    else:
        text = str(error) or type(error).__name__
    text = " ".join(text.split())
    return text if text.endswith((".", "?", "!")) else f"{text}."


# the parser --------------------------------------------------------------------------


def _parser() -> _Parser:
    parser = _Parser(
        prog="maxmargin",
        description="Learn to predict structured objects, from files.",
        epilog="""example:
  maxmargin train tag train.txt --features ner -o ner.model
  maxmargin predict ner.model new.txt -o tagged.txt
  maxmargin evaluate ner.model test.txt
  maxmargin inspect ner.model --top 5

Exit codes: 0 done, 2 bad input, 130 ended by Ctrl-C.""",
    )
    parser.add_argument(
        "--version", action="version", version=f"%(prog)s {__version__}"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_train(commands)
    _add_predict(commands)
    _add_evaluate(commands)
    _add_inspect(commands)
    warmup.add_parser(commands)
    return parser


def _add_train(commands) -> None:
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
        module = _module(name)
        parser = tasks.add_parser(
            name, help=module.ABOUT, description=module.ABOUT, epilog=module.EXAMPLE
        )
        module.add_train_options(parser)
        parser.set_defaults(run=module.train)


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
    parser.add_argument("model", metavar="MODEL", help="what `maxmargin train` wrote")
    parser.add_argument("file", metavar="FILE", help="- is standard input")
    parser.add_argument(
        "-o", "--output", metavar="OUT", default="-", help="default: standard output"
    )
    parser.add_argument(
        "--k-best",
        type=int,
        metavar="K",
        help="write the K best outputs of every sentence, one after the other, each "
        "after a line '# RANK SCORE'",
    )
    parser.add_argument(
        "--marginals",
        action="store_true",
        help="write probabilities beside the outputs",
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="threads (default: 1)")
    parser.set_defaults(run=lambda args: _with_model("predict", args))


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
    parser.add_argument("model", metavar="MODEL", help="what `maxmargin train` wrote")
    parser.add_argument("file", metavar="FILE", nargs="?", help="- is standard input")
    parser.add_argument(
        "--json", action="store_true", help="print the numbers as JSON, from 0 to 1"
    )
    parser.add_argument(
        "--confusion", metavar="FILE.png", help="draw which labels are confused"
    )
    parser.add_argument(
        "--page",
        metavar="FILE.html",
        help="write the sentences with colours and errors",
    )
    parser.add_argument(
        "--plot", metavar="FILE.png", help="draw the prediction beside the truth"
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="threads (default: 1)")
    alone = parser.add_argument_group("without a model")
    alone.add_argument("--truth", type=int, metavar="N", help="column (default: -2)")
    alone.add_argument(
        "--predicted", type=int, metavar="N", help="column (default: -1)"
    )
    alone.add_argument("--separator", help="as in train (default: spaces and tabs)")
    alone.add_argument("--encoding", help="of the file (default: utf-8)")
    alone.add_argument(
        "--comment", metavar="MARK", help="leave out lines that start so"
    )
    parser.set_defaults(run=_evaluate)


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
    parser.add_argument("model", metavar="MODEL", help="what `maxmargin train` wrote")
    parser.add_argument(
        "--top",
        type=int,
        default=10,
        metavar="N",
        help="the N strongest weights (default: 10), for tags of every label; 0 for none",
    )
    parser.add_argument(
        "--label", action="append", metavar="L", help="only of this label; repeatable"
    )
    parser.add_argument(
        "--transitions", action="store_true", help="print the weights of transitions"
    )
    parser.add_argument(
        "--plot", metavar="FILE.png", help="draw what was learned, such as transitions"
    )
    parser.add_argument(
        "--export", metavar="FILE", help="write it as text for other programs"
    )
    parser.set_defaults(run=lambda args: _with_model("inspect", args))


# running -----------------------------------------------------------------------------


def _module(task: str):
    return importlib.import_module(TASKS[task])


def _with_model(command: str, args) -> int:
    model, task = load_model(args.model, TASKS)
    module = _module(task)
    _check_options(command, task, module, args)
    return getattr(module, command)(model, args)


def _check_options(command: str, task: str, module, args) -> None:
    """Refuse options that mean nothing for this task, rather than ignore them."""
    for name in OPTIONS[command]:
        if (
            getattr(args, name) not in (None, False)
            and name not in module.USES[command]
        ):
            raise ValueError(
                f"--{name.replace('_', '-')} means nothing for a model of the task "
                f"{task!r}: leave it out."
            )


def _evaluate(args) -> int:
    if args.file is not None:
        return _with_model("evaluate", args)
    args.file, args.model = args.model, None
    return _module("tag").evaluate(None, args)
