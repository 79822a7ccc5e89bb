"""What the tasks of the command line share: outputs, models, time, Ctrl-C, warnings."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Collection, Iterator, Mapping
from importlib.util import find_spec
from typing import Any

from maxmargin import plots
from maxmargin.cli.language import spoken
from maxmargin.cli.structure import structure_class
from maxmargin.core.compile.compiling import announce, compile_seconds
from maxmargin.metrics.report import plain
from maxmargin.waiting import bar_is_drawn, stage

try:
    import resource
except ImportError:  # Windows does not tell how much memory was used
    resource = None  # type: ignore[assignment]

INTERRUPTED = 130  # as shells have it: 128 + SIGINT
PICTURES = (".pdf", ".png", ".svg")
ENDED = ("Training interrupted", "Training stopped by a callback")  # both by Ctrl-C


def say(text: str) -> None:
    """A remark beside the results: on standard error."""
    print(f"maxmargin: {text}", file=sys.stderr)


def print_json(values: dict[str, Any]) -> None:
    """Results for programs; what is not a finite number is null."""
    print(json.dumps(plain(values), indent=2, ensure_ascii=False))


# outputs -----------------------------------------------------------------------------


def check_output(path: str | None, what: str, endings: Collection[str] = ()) -> None:
    """Refuse a file that cannot be written, before hours of work for it."""
    if path is None:
        return
    if endings and os.path.splitext(path)[1].lower() not in endings:
        raise ValueError(f"{what} {path} must end in {' or '.join(endings)}.")
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.basename(path) or os.path.isdir(target):
        raise ValueError(f"{what} {path} is a folder: name a file in it.")
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"{what} {path} cannot be written: there is no folder "
            f"{os.path.dirname(path) or folder}; make it first."
        )
    if not os.access(folder, os.W_OK):
        raise PermissionError(
            f"{what} {path} cannot be written: you may not write to its folder."
        )


def check_picture(path: str | None) -> None:
    """As `check_output`, and matplotlib must be there."""
    check_output(path, "The picture", PICTURES)
    if path is not None and find_spec("matplotlib") is None:
        raise ImportError(
            f"{path} cannot be drawn without matplotlib: install it with "
            "pip install 'maxmargin[plot]'."
        )


def without_display() -> None:
    """Pictures go to files: do not open a window, nor look for a screen."""
    import matplotlib

    matplotlib.use("Agg")


def save_figure(figure, path: str) -> None:
    """Write a figure whole or not at all, and close it."""
    from matplotlib import pyplot

    from maxmargin.plots.cells import save_figure as write_figure

    write_figure(figure, path)
    pyplot.close(figure)


# waiting -----------------------------------------------------------------------------


def reading(path: str) -> contextlib.AbstractContextManager[None]:
    """Within, a bar says that a file is read."""
    return stage(
        f"reading {'standard input' if path == '-' else os.path.basename(path)}"
    )


def writing(path: str) -> contextlib.AbstractContextManager[None]:
    return stage(
        f"writing {'standard output' if path == '-' else os.path.basename(path)}"
    )


def predicting() -> contextlib.AbstractContextManager[None]:
    return stage("predicting")


# models ------------------------------------------------------------------------------


def load_model(path: str, tasks: Collection[str], structure: str | None = None):
    """The model in a file, and the task it was trained for.

    A structure of the user's own is imported because it is named, ``module:Class``, never
    because a file names it.
    """
    from maxmargin.files.model_file import load

    if path == "-":
        raise ValueError("a model is read from a file, not from standard input.")
    own = structure and structure_class(structure)
    try:
        model = load(path, structure=own) if own else load(path)
    except ValueError as error:
        said, mark, _ = str(error).partition(". Import that class")
        if not mark:
            raise
        raise ValueError(f"{said}: name it with --structure module:Class.") from None
    task = getattr(model, "notes", {}).get("task")
    if task is None:
        raise ValueError(
            f"{path} holds a {type(model).__name__} that was saved from Python, so how "
            "its files are written is not known: use it with maxmargin.load, or train "
            "one with maxmargin train."
        )
    if task not in tasks:
        raise ValueError(
            f"{path} holds a model of the task {task!r}, which this maxmargin does not "
            "know: upgrade it."
        )
    return model, task


def no_probabilities(model) -> str:
    """A sentence about a model that has none."""
    return (
        f"The model was trained with --objective {model.objective}, which ranks outputs "
        "and fits no probabilities."
    )


def draw_training(model, args, watch: Stopwatch) -> None:
    """If that is wanted."""
    if args.plot:
        without_display()
        save_figure(plots.plot_convergence(model), args.plot)
        watch("drawing")


def plain_notes(model) -> dict[str, Any]:
    """What a model notes, without vocabularies."""
    return {k: v for k, v in model.notes.items() if not isinstance(v, dict)}


# time, Ctrl-C, warnings --------------------------------------------------------------


def _compiled() -> float:
    """Seconds spent on compiling so far; nothing compiles before kernels are imported."""
    kernel = sys.modules.get("maxmargin.core.kernel")
    return getattr(kernel, "compile_seconds", float)()


class Stopwatch:
    """Seconds by name: ``watch("reading")`` gives the time since the last call a name.

    Compiling has a name of its own, whenever it happens.
    """

    def __init__(self):
        self.began = self._last = time.perf_counter()
        self._compiled = _compiled()
        self.seconds: dict[str, float] = {}

    def __call__(self, name: str) -> None:
        now, compiled = time.perf_counter(), _compiled()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self.move(name, "compiling", compiled - self._compiled)
        self._last, self._compiled = now, compiled

    def move(self, source: str, target: str, seconds: float) -> None:
        """Part of the time of one name belongs to another."""
        if seconds <= 0:
            return
        self.seconds[source] = max(self.seconds.get(source, 0.0) - seconds, 0.0)
        self.seconds[target] = self.seconds.get(target, 0.0) + seconds

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {s:.2f}" for name, s in self.seconds.items())
        total = time.perf_counter() - self.began
        return f"Seconds: {parts}; {total:.2f} in all."


class Interrupts:
    """Remembers Ctrl-C, which ends a fit but not the program.

    Within ``with Interrupts() as interrupts``, the fit that is running keeps its best
    weights; the callback ends the fits after it, and counts those that were begun before.
    """

    def __init__(self):
        self.seen = False
        self.fits_begun = 0

    def __enter__(self) -> Interrupts:
        self._before = None
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._handle)
            self._hook, sys.unraisablehook = sys.unraisablehook, self._unraisable
        return self

    def __exit__(self, *_) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            sys.unraisablehook = self._hook

    def exit_code(self, output: str) -> int:
        """How the program ends, after the model has been kept."""
        if not self.seen:
            return 0
        say(f"interrupted; the best model so far is in {output}.")
        return INTERRUPTED

    def _handle(self, *_):
        self.seen = True
        raise KeyboardInterrupt

    def _unraisable(self, what) -> None:
        """In a destructor or the compiler's callback, Python can only print it."""
        if not issubclass(what.exc_type, KeyboardInterrupt):
            self._hook(what)

    @property
    def callback(self):
        def stop(row) -> bool:  # no method: a clone of it would be of another object
            if row["iteration"] == 1 and not self.seen:
                self.fits_begun += 1
            return self.seen

        return stop


def took(seconds: float) -> str:
    """What a command took: its seconds, and those of all cores with ended processes."""
    used = os.times()
    cpu = used.user + used.system + used.children_user + used.children_system
    text = f"{seconds:.2f} s, {cpu:.2f} s of CPU"
    if resource is None:
        return f"{text}."
    unit = 1 if sys.platform == "darwin" else 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return f"{text}, {most / 1e6:,.0f} MB of memory at most."


@contextlib.contextmanager
def plain_warnings(options: Mapping[str, str]) -> Iterator[None]:
    """Warnings as remarks, without the places in the code where they arose."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        if not text.startswith(ENDED):  # whoever did it knows
            say(spoken(text, options, sys.argv[1:]))


@contextlib.contextmanager
def patience(quiet: bool, seconds: float = 5.0) -> Iterator[None]:
    """Say why nothing happens, if nothing happens for a while."""

    def still_encoding() -> None:
        # else there is a word about that, or a bar
        if compile_seconds() == 0.0 and not bar_is_drawn():
            say("encoding; large files take a while.")

    timer = threading.Timer(seconds, still_encoding)
    timer.daemon = True
    if not quiet:
        timer.start()
        announce(say)
    try:
        yield timer
    finally:
        timer.cancel()
        announce(None)
