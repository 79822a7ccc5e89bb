"""Run a script of the gallery in a process of its own: run_example.py SCRIPT FOLDER.

The folder gets what it printed (output.json) and the figures that are open at its end.
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


def main(script: str, folder: str) -> None:
    there, printed = Path(folder).resolve(), io.StringIO()
    path = str(Path(script).resolve())
    with tempfile.TemporaryDirectory() as scratch:  # scripts may write files
        os.chdir(scratch)
        with contextlib.redirect_stdout(printed):
            runpy.run_path(path, run_name="__main__")
        os.chdir(there)
    pictures, thumbnails = (
        figures(there) if "matplotlib.pyplot" in sys.modules else ([], [])
    )
    output = {
        "text": printed.getvalue(),
        "pictures": pictures,
        "thumbnails": thumbnails,
    }
    with open(there / "output.json", "w", encoding="utf-8") as file:
        json.dump(output, file)


def figures(folder: Path) -> tuple[list[str], list[str]]:
    """Names of the open figures' pictures, and of the first one's thumbnail."""
    plt = sys.modules["matplotlib.pyplot"]
    pictures, thumbnails = [], []
    for k in plt.get_fignums():
        figure = plt.figure(k)
        pictures.append(f"{k}.png")
        figure.savefig(folder / pictures[-1], dpi=110, bbox_inches="tight")
        if not thumbnails:
            thumbnails.append(f"{k}-small.png")
            dpi = 400 / figure.get_size_inches()[0]
            figure.savefig(folder / thumbnails[-1], dpi=dpi, bbox_inches="tight")
    return pictures, thumbnails


if __name__ == "__main__":
    main(*sys.argv[1:])
