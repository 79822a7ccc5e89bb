"""``maxmargin warmup``: compile ahead, so that the first training waits for nothing."""

from __future__ import annotations

from maxmargin.warmup import TASKS, warm_up


def add_parser(commands) -> None:
    parser = commands.add_parser(
        "warmup",
        help="compile the kernels of tasks ahead of time",
        description="Compile the inner loops of tasks, once for this machine.",
        epilog="""example:
  maxmargin warmup
  maxmargin warmup tag parse

Every task is trained on a few invented examples. Without this, the first training on a
machine compiles, which takes from five seconds to half a minute.""",
    )
    parser.add_argument(
        "tasks", nargs="*", metavar="TASK", help=f"{', '.join(TASKS)} (default: all)"
    )
    parser.set_defaults(run=run)


def run(args) -> int:
    for task, seconds in warm_up(args.tasks):
        took = f"compiled in {seconds:.0f} s" if seconds > 0.5 else "was ready"
        print(f"{task:<9} {took}", flush=True)
    return 0
