"""The notebooks: each of docs/notebooks runs once, and is a page with what its cells show.

They are stored without outputs. What they show is kept like that of the gallery (``kept``).
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import kept

HERE = Path(__file__).resolve().parent
FOLDER = kept.ROOT / "docs" / "notebooks"
RUNNER = HERE / "run_notebook.py"
ENDING = re.compile(r"[ \t]+$", re.MULTILINE)
HTML = "html/"  # no page: what a cell shows
MARK = '<div class="shown" data-html="{}"></div>'
INDEX = """# Notebooks

One for each kind of data, run when this site was built. The files, for you to run,
have no outputs.

"""


def paths() -> list[Path]:
    return sorted(FOLDER.glob("*.ipynb"))


def run(path: Path, store: Path | None = None) -> Path:
    """The folder with what a notebook made: output.json and pictures."""
    return kept.run(path, RUNNER, store or kept.cache_folder() / "notebooks")


def title_of(path: Path) -> str:
    first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]
    return "".join(first["source"]).partition("\n")[0].lstrip("# ")


def summary_of(path: Path) -> str:
    """The first paragraph below the title."""
    first = json.loads(path.read_text(encoding="utf-8"))["cells"][0]
    return "".join(first["source"]).split("\n\n")[1].replace("\n", " ")


def titles() -> list[dict[str, str]]:
    """What the navigation says of these pages."""
    return [{title_of(path): f"notebooks/{path.stem}.md"} for path in paths()]


def build(store: Path | None = None) -> dict[str, str | bytes]:
    """{path below docs: content} of the notebooks: pages, pictures, pieces of HTML.

    HTML that cells show is put into pages when Markdown has been read: ``with_html``.
    """
    results = kept.run_all(paths(), lambda path: 0, lambda path: run(path, store))
    made: dict[str, str | bytes] = {}
    index = [INDEX]
    for path in paths():
        folder = results[path]
        cells = json.loads((folder / "output.json").read_text(encoding="utf-8"))
        for picture in folder.glob("*.png"):
            made[f"notebooks/images/{path.stem}-{picture.name}"] = picture.read_bytes()
        page = f"notebooks/{path.stem}.md"
        parts, html = [], []
        for cell in cells:
            parts += _cell(cell, path.stem, html)
        made[page] = "\n\n".join(parts) + "\n"
        made |= {f"{HTML}{page}#{k}": text for k, text in enumerate(html)}
        link = f"[{title_of(path)}]({path.stem}.md) ([file]({path.name}))"
        index.append(f"* {link}: {summary_of(path)}\n")
    made["notebooks/index.md"] = "".join(index)
    return made


def _cell(cell: dict, name: str, html: list[str]) -> list[str]:
    """A cell as Markdown; its HTML goes to the list, and a mark stands in its place."""
    if cell["kind"] == "markdown":
        return [cell["source"]]
    parts = [f"```python\n{cell['source']}\n```"]
    for output in cell["outputs"]:
        if "html" in output:
            parts.append(MARK.format(len(html)))
            html.append(ENDING.sub("", output["html"]))
        elif "picture" in output:
            parts.append(f"![Figure](images/{name}-{output['picture']}){{ .figure }}")
        else:
            parts.append(f"```text\n{output['text'].rstrip()}\n```")
    return parts


def with_html(content: str, page: str, pieces: dict[str, str]) -> str:
    """The HTML of a page with what its cells show."""
    for key, html in pieces.items():
        name, _, number = key.partition("#")
        if name == page:
            mark = MARK.format(number)
            content = content.replace(mark, f'<div class="shown">{html}</div>')
    return content
