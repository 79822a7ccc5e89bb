"""What the command line says of a task, without importing what the task needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

from maxmargin.families import places

TASKS = {**places("commands"), "structure": "maxmargin.cli.structure"}
TASKS = dict(sorted(TASKS.items()))

K_BEST = """
--k-best N  write the N best outputs of every sample, one after the other, each after a
    line '# RANK SCORE'
"""
MARGINALS = """
--marginals  write probabilities with the outputs
"""


class Output(NamedTuple):
    """A format of predictions: endings of names, and what else has a place in it."""

    endings: tuple[str, ...] = ()
    k_best: bool = True
    marginals: bool = True


TABLES = {  # which all tasks write
    "csv": Output((".csv",)),
    "tsv": Output((".tsv",)),
    "json": Output((".json",)),
    "jsonl": Output((".jsonl", ".ndjson")),
}


class Task:
    """A task; a family overrides what is its own, and has the rest in ``run.py``."""

    name: ClassVar[str]  # maxmargin train NAME
    about: ClassVar[str]
    example: ClassVar[str]
    file: ClassVar[str] = "TRAIN"  # what the help calls the file to learn from
    items: ClassVar[str] = "samples"  # what there are many of in it
    # {choice: public name of an estimator}; the first is the default of --CHOOSER
    estimators: ClassVar[Mapping[str, str]]
    chooser: ClassVar[str] = ""
    # of train, as `maxmargin.cli.options.declared` reads them
    options: ClassVar[str] = ""
    # those of them that --help shows; --help-all has the others
    essential: ClassVar[str] = ""
    hidden: ClassVar[frozenset[str]] = frozenset()  # parameters that are no options
    usual: ClassVar[tuple[float, ...]] = (0.01, 0.1, 1.0, 10.0, 100.0)  # C, for --cv
    smaller: ClassVar[bool] = False  # is the better measure the smaller one?
    predict_options: ClassVar[str] = ""
    # formats of predictions besides TABLES; the first is written if nothing else is said
    outputs: ClassVar[Mapping[str, Output]] = {"text": Output()}
    numbered: ClassVar[str] = ""  # what samples are numbered as in tables, if they are
    draws: ClassVar[bool] = True  # --plot of evaluate
    evaluate_options: ClassVar[str] = ""  # files of these are drawn by `draw`
    inspect_options: ClassVar[str] = ""
    # options of evaluate for a file with predictions, without a model (`read_pair`)
    alone: ClassVar[tuple[str, ...]] = ()


def task_of(name: str) -> type[Task]:
    return import_module(TASKS[name]).COMMAND


def command_of(name: str) -> Any:
    """How the task runs: in the module ``run`` beside that of the task."""
    return import_module(re.sub(r"\bcommand$", "run", TASKS[name])).RUN
