"""Run a script of the gallery in a process of its own: run_example.py SCRIPT FOLDER.

The folder gets the figures that are open at its end, and output.json: what it printed, what
is wrong with the figures, files that it left.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import runpy
import sys
import tempfile
from pathlib import Path

from figure_faults import faults_of


def main(script: str, folder: str) -> None:
    there, printed = Path(folder).resolve(), io.StringIO()
    path = str(Path(script).resolve())
    with tempfile.TemporaryDirectory() as scratch:  # scripts may write files
        os.chdir(scratch)
        with contextlib.redirect_stdout(printed):
            runpy.run_path(path, run_name="__main__")
        left = sorted(os.listdir())
        os.chdir(there)
    output = {"text": printed.getvalue(), "left": left, **figures(there)}
    with open(there / "output.json", "w", encoding="utf-8") as file:
        json.dump(output, file)


def figures(folder: Path) -> dict[str, list[str]]:
    """Names of the open figures' pictures, of the first one's thumbnail; their faults."""
    made: dict[str, list[str]] = {"pictures": [], "thumbnails": [], "faults": []}
    plt = sys.modules.get("matplotlib.pyplot")
    for k in plt.get_fignums() if plt else ():
        figure = plt.figure(k)
        made["faults"] += faults_of(figure)
        made["pictures"].append(f"{k}.png")
        figure.savefig(folder / f"{k}.png", dpi=110, bbox_inches="tight")
        if not made["thumbnails"]:
            made["thumbnails"].append(f"{k}-small.png")
            dpi = 400 / figure.get_size_inches()[0]
            figure.savefig(folder / f"{k}-small.png", dpi=dpi, bbox_inches="tight")
    return made


if __name__ == "__main__":
    main(*sys.argv[1:])
