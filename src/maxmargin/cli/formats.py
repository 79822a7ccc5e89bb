"""How predictions are written: by --format, or as the ending of a file's name says.

Every task writes tables and JSON, of the records that its command makes of outputs
(`Command.record`); what formats it has besides, its `Task` says under ``outputs``.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from maxmargin.cli.command import Command, Sample
from maxmargin.cli.options import flag
from maxmargin.cli.task import TASKS, task_of
from maxmargin.files.text_files import encode_text, write_raw
from maxmargin.metrics.report import plain

# what is neither text nor a format of any task: it would hold something else
FOREIGN = {
    *(
        ".pdf",
        ".png",
        ".jpg",
        ".jpeg",
        ".gif",
        ".html",
        ".htm",
        ".xml",
        ".yaml",
        ".yml",
    ),
    *(".xlsx", ".xls", ".ods", ".docx", ".parquet", ".feather", ".arrow", ".sqlite"),
    *(".npy", ".pkl", ".pickle", ".joblib", ".h5", ".hdf5", ".model", ".safetensors"),
    *(".zip", ".tar", ".tgz", ".bz2", ".xz", ".zst", ".7z"),
}


def form_of(command: Command, args) -> str:
    """The format that --format or the name of the output asks for.

    It is "" for what the task writes anyway, also under names that say nothing. Those
    that say another thing, such as a format of other tasks, are refused.
    """
    known, chosen = command.formats(), args.format
    if not known:
        if chosen is not None:
            raise ValueError(
                "--format means nothing for a structure that has its own write: leave it "
                "out."
            )
        return ""
    if chosen is None:
        name = args.output.lower().removesuffix(".gz")
        ending = os.path.splitext(name)[1]
        chosen = next((f for f in known if ending in known[f].endings), None)
        if chosen is None:
            others = [o for task in TASKS for o in task_of(task).outputs.values()]
            if ending not in FOREIGN.union(*(other.endings for other in others)):
                return ""
            raise ValueError(
                f"{args.output} ends in {ending}, but predictions of the task "
                f"{command.name!r} are no such file: choose a name that ends in "
                f"{_either(e for o in known.values() for e in o.endings[:1])}, or .txt."
            )
    elif chosen not in known:
        raise ValueError(
            f"--format {chosen} is not possible for a model of the task {command.name!r}: "
            f"choose {_either(known)}."
        )
    for option in ("k_best", "marginals"):
        if getattr(args, option) not in (None, False) and not getattr(
            known[chosen], option
        ):
            able = [form for form in known if getattr(known[form], option)]
            raise ValueError(
                f"{flag(option)} cannot be written as {chosen}: choose {_either(able)} "
                "with --format, or a name that says so."
            )
    return "" if chosen == command.native else chosen


def _either(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def write_table(
    command: Command, path: str, sample: Sample, found, chances=None
) -> None:
    """Write records; ``found`` has pairs (what is said of an output, it) per sample."""
    form = command.form
    records = _records(command, sample, found, chances)
    if form == "jsonl":
        command.write_lines(path, map(_json, records))
    elif form == "json":
        command.write_lines(path, ["[", ",\n".join(map(_json, records)), "]"])
    else:
        text = io.StringIO()
        between = "\t" if form == "tsv" else ","
        writer = csv.writer(text, delimiter=between, lineterminator="\n")
        head = None
        for row in (row for record in records for row in command.cells(record)):
            if head is None:
                writer.writerow(head := row.keys())
            writer.writerow(map(_cell, row.values()))
        write_raw(path, encode_text(text.getvalue(), path, command.encoding))


def _records(command, sample, found, chances) -> Iterator[dict[str, Any]]:
    for i, (x, best) in enumerate(zip(command.inputs(sample), found, strict=True)):
        chance = None if chances is None else chances[i]
        number = {command.numbered: i + 1} if command.numbered else {}
        for said, output in best:
            yield number | said | command.record(x, output, chance)


def _json(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False, default=str)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else _json(value)
