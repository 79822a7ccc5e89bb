"""Where the program ``maxmargin`` begins: Ctrl-C has an answer from here on.

Imports take most of the first second of a command, and an interrupt among them would end in
a traceback. So a handler is there before they begin, which ends the program: nothing has
been done yet. The package installs it (`answer`) if it is imported to be run, before it
imports anything else; hence this module imports only what the interpreter has loaded. The
command itself handles Ctrl-C on its own (`cli/main.py`), and when it is over nothing is
left to interrupt.
"""

import _signal  # `signal` would import more
import os
import sys

INTERRUPTED = 130  # as shells have it: 128 + SIGINT
FEW_COLLECTIONS = 500_000  # new objects for each: imports make many that stay


def is_program() -> bool:
    """Is Python about to run the command, as ``maxmargin`` or ``python -m maxmargin``?"""
    first = sys.argv[0] if getattr(sys, "argv", None) else ""
    if first == "-m":
        after = (
            sys.orig_argv[sys.orig_argv.index("-m") :] if "-m" in sys.orig_argv else []
        )
        return after[1:2] == ["maxmargin"]
    return os.path.basename(first) in ("maxmargin", "maxmargin.exe")


def answer() -> None:
    """End the program at Ctrl-C, unless that is ignored, as under nohup."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _leave)


def hand_over() -> None:
    """From here on Ctrl-C is KeyboardInterrupt, which the command handles."""
    if _signal.getsignal(_signal.SIGINT) is _leave:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def main() -> int:
    """Run the command of ``sys.argv``; returns its exit code."""
    answer()
    import gc

    gc.set_threshold(FEW_COLLECTIONS)
    from maxmargin.cli.postponed import postpone

    postpone()
    from maxmargin.cli.main import main as command

    ours = _signal.getsignal(_signal.SIGINT) is _leave
    code = INTERRUPTED
    try:
        code = command()
    except KeyboardInterrupt:  # between two lines of ours
        _leave()
    finally:
        if ours:
            _signal.signal(_signal.SIGINT, _signal.SIG_IGN)
    if code == INTERRUPTED:
        _end()
    gc.freeze()  # or Python would look for cycles in all that was imported, at its end
    return code


def _end() -> None:
    """Exit with our code: after an interrupt within exec, Python has another one."""
    import atexit

    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    atexit._run_exitfuncs()
    os._exit(INTERRUPTED)


def _leave(*_) -> None:
    os.write(2, b"maxmargin: interrupted; nothing was written.\n")
    os._exit(INTERRUPTED)
