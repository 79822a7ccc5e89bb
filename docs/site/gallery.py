"""The gallery: every script of docs/gallery runs once, and is shown with what it made.

A script begins with a docstring, whose first line is its title; its name begins with its
subject. What it prints and the figures that are open at its end are kept in a cache under a
key of the script and the library, so that an unchanged gallery is not run again. Pages of
tasks show the thumbnails of their subject.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCRIPTS = ROOT / "docs" / "gallery"
RUNNER = HERE / "run_example.py"
JOBS = os.cpu_count() or 1  # scripts at a time
SECONDS = 300  # for one script
SUBJECTS = {  # {how scripts are called: (heading, page that shows them)}
    "tag": ("Label sequences", "tagging.md"),
    "class": ("Classes", "classify.md"),
    "multilabel": ("Sets of labels", "multilabel.md"),
    "kernel": ("Kernels", "kernels.md"),
    "rank": ("Rankings", "ranking.md"),
    "parse": ("Trees", "parsing.md"),
    "align": ("Alignments", "alignment.md"),
    "match": ("Matchings", "matching.md"),
    "cluster": ("Clusters", "clustering.md"),
    "motif": ("Motifs", "motifs.md"),
    "graph": ("Graphs and images", "graphs.md"),
    "latent": ("Hidden parts", "latent.md"),
    "train": ("Training", "scaling.md"),
    "own": ("Your own problem", "hypergraphs.md"),
}
OTHERS = "More", ""


class BrokenExample(Exception):
    """A script of the gallery that does not run: the site is not built."""


@dataclass(frozen=True)
class Example:
    """A script and its words."""

    path: Path
    title: str
    text: str
    code: str

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def subject(self) -> tuple[str, str]:
        """Heading, and the page that shows it."""
        return SUBJECTS.get(self.name.partition("_")[0], OTHERS)


def read(path: Path) -> Example:
    source = path.read_text(encoding="utf-8")
    words = ast.get_docstring(ast.parse(source))
    if not words:
        raise BrokenExample(f"{path}: it must begin with a docstring, its title first.")
    title, _, text = words.partition("\n")
    end = ast.parse(source).body[0].end_lineno
    code = "\n".join(source.splitlines()[end:]).strip()
    return Example(path, title.strip().rstrip("."), text.strip(), code)


def examples(folder: Path = SCRIPTS) -> list[Example]:
    """All examples, by subject and name."""
    order = [*SUBJECTS.values(), OTHERS]
    found = [read(path) for path in sorted(folder.glob("*.py"))]
    return sorted(found, key=lambda each: order.index(each.subject))


def titles(folder: Path = SCRIPTS) -> list[dict[str, list]]:
    """What the navigation says of these pages, by subject."""
    sections: dict[str, list] = {}
    for each in examples(folder):
        pages = sections.setdefault(each.subject[0], [])
        pages.append({each.title: f"gallery/{each.name}.md"})
    return [{heading: pages} for heading, pages in sections.items()]


# running ------------------------------------------------------------------------------


@cache
def library_key() -> str:
    """A digest of everything that an example's output depends on, itself left out."""
    digest = hashlib.sha256()
    for path in (RUNNER, *sorted((ROOT / "src").rglob("*.py"))):
        digest.update(path.relative_to(ROOT).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def cache_folder() -> Path:
    return Path(os.environ.get("MAXMARGIN_DOCS_CACHE") or ROOT / ".docs_cache")


def run(example: Example, store: Path) -> Path:
    """The folder with what the script made: output.json and pictures."""
    key = hashlib.sha256((library_key() + example.path.read_text("utf-8")).encode())
    folder = store / f"{example.name}-{key.hexdigest()[:24]}"
    if (folder / "output.json").is_file():
        return folder
    for old in store.glob(f"{example.name}-*"):
        if len(old.name) == len(folder.name):
            shutil.rmtree(old)
    folder.mkdir(parents=True)
    environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONHASHSEED": "0"}
    source = str(ROOT / "src")
    environment["PYTHONPATH"] = os.pathsep.join(
        [source, *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    try:
        done = subprocess.run(
            [
                sys.executable,
                "-W",
                "error",
                str(RUNNER),
                str(example.path),
                str(folder),
            ],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=SECONDS,
            env=environment,
            check=False,
        )
        trouble = done.stderr.strip() if done.returncode else ""
    except subprocess.TimeoutExpired:
        trouble = f"it ran longer than {SECONDS} seconds."
    if trouble:
        shutil.rmtree(folder)
        raise BrokenExample(f"{example.path}: {trouble}")
    return folder


def by_turns(every: list[Example]) -> list[Example]:
    """One of each subject first: the others find its kernels compiled."""
    seen: Counter = Counter()
    turns = []
    for each in every:
        turns.append((seen[each.subject], each))
        seen[each.subject] += 1
    return [each for _, each in sorted(turns, key=lambda turn: turn[0])]


# pages --------------------------------------------------------------------------------


def build(folder: Path = SCRIPTS, store: Path | None = None) -> dict[str, str | bytes]:
    """{path below docs: content} of the gallery: pages and pictures."""
    every = examples(folder)
    store = store or cache_folder() / "gallery"
    turns = by_turns(every)
    with ThreadPoolExecutor(JOBS) as pool:
        results = dict(
            zip(turns, pool.map(lambda e: run(e, store), turns), strict=True)
        )
    made: dict[str, str | bytes] = {}
    cards: dict[tuple[str, str], list[str]] = {}
    for example in every:
        result = results[example]
        output = json.loads((result / "output.json").read_text(encoding="utf-8"))
        for picture in output["pictures"] + output["thumbnails"]:
            name = f"gallery/images/{example.name}-{picture}"
            made[name] = (result / picture).read_bytes()
        made[f"gallery/{example.name}.md"] = page(example, output)
        cards.setdefault(example.subject, []).append(card(example, output))
    parts = [INDEX]
    for (heading, place), shown in cards.items():
        parts.append(f"## {heading}\n\n{grid(shown)}")
        if place:
            made[f"{CARDS}{place}"] = grid(shown).replace(UP, "gallery/")
    made["gallery/index.md"] = "\n".join(parts).replace(UP, "")
    return made


INDEX = """# Gallery

Every example is a short script, run when this site was built. Choose a picture to see the
script and what it prints.
"""
CARDS = "cards/"  # no page: what another page shows
UP = "{gallery}"  # where the gallery is, as seen from the page


def grid(cards: list[str]) -> str:
    return f'<div class="gallery">\n{chr(10).join(cards)}\n</div>\n'


def with_cards(markdown: str, cards: str) -> str:
    """A page with thumbnails below its introduction."""
    first, mark, rest = markdown.partition("\n## ")
    return f"{first}\n{cards}{mark}{rest}"


def card(example: Example, output: dict) -> str:
    """A thumbnail that leads to the example's page."""
    if output["thumbnails"]:
        source = f"{UP}images/{example.name}-{output['thumbnails'][0]}"
        shown = f'<img src="{source}" alt="" loading="lazy">'
    else:
        lines = output["text"].splitlines()[:12]
        shown = f"<pre>{escape(chr(10).join(line[:48] for line in lines))}</pre>"
    page, title = f"{UP}{example.name}.html", escape(example.title)
    return f'<a class="example" href="{page}">{shown}<span>{title}</span></a>'


def page(example: Example, output: dict) -> str:
    parts = [f"# {example.title}", example.text]
    parts += [
        f"![{example.title}](images/{example.name}-{picture}){{ .figure }}"
        for picture in output["pictures"]
    ]
    parts.append(f"```python\n{example.code}\n```")
    if output["text"].strip():
        parts.append(f"It prints:\n\n```text\n{output['text'].rstrip()}\n```")
    return "\n\n".join(part for part in parts if part) + "\n"
