"""Run a notebook in a kernel of this Python: run_notebook.py NOTEBOOK FOLDER.

The folder gets output.json, a list of cells with what they show, and their pictures. A cell
that fails ends it, and so does one that writes to standard error: a warning is an error.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import tempfile
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

SECONDS = 240  # for one cell
SETTINGS = (
    "IPYTHONDIR",
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_RUNTIME_DIR",
)  # none of the user's
INLINE = "module://matplotlib_inline.backend_inline"
SHOWN = "text/html", "image/svg+xml", "image/png", "text/plain"  # the first there is


class ThisPython(AsyncKernelManager):
    """Kernels of the interpreter that runs this, whatever others are installed."""

    @property
    def kernel_spec(self):
        launch = ["-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=[sys.executable, *launch], language="python")


def main(path: str, folder: str) -> None:
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as scratch, tempfile.TemporaryDirectory() as own:
        os.environ.update(dict.fromkeys(SETTINGS, own), MPLBACKEND=INLINE)
        client = NotebookClient(
            notebook,
            timeout=SECONDS,
            kernel_manager_class=ThisPython,
            resources={"metadata": {"path": scratch}},
        )
        client.execute()
    there = Path(folder)
    cells = [shown(cell, number, there) for number, cell in enumerate(notebook.cells)]
    with open(there / "output.json", "w", encoding="utf-8") as file:
        json.dump(cells, file)


def shown(cell, number: int, folder: Path) -> dict:
    """A cell with its outputs: {"html": ...}, {"picture": name} or {"text": ...} each."""
    outputs: list[dict[str, str]] = []
    for k, output in enumerate(cell.get("outputs", [])):
        if output.output_type == "stream":
            if output.name == "stderr":
                sys.exit(f"cell {number} writes to standard error: {output.text}")
            outputs.append({"text": output.text})
            continue
        kind = next(kind for kind in SHOWN if kind in output.data)
        data = output.data[kind]
        if kind == "image/png":
            name = f"{number}-{k}.png"
            (folder / name).write_bytes(base64.b64decode(data))
            outputs.append({"picture": name})
        else:
            outputs.append({"text" if kind == "text/plain" else "html": data})
    return {"kind": cell.cell_type, "source": cell.source, "outputs": outputs}


if __name__ == "__main__":
    main(*sys.argv[1:])
