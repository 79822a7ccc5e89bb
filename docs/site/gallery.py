"""The gallery: every script of docs/gallery runs once, and is shown with what it made.

A script begins with a docstring, whose first line is its title; its name begins with its
subject. What it prints and the figures that are open at its end are kept in a cache under a
key of the script and the library, so that an unchanged gallery is not run again. Pages of
tasks show the thumbnails of their subject.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from html import escape
from os.path import relpath
from pathlib import Path

import kept

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SCRIPTS = ROOT / "docs" / "gallery"
RUNNER = HERE / "run_example.py"
SUBJECTS = {  # {how scripts are called: (heading, page that shows them)}
    "tag": ("Label sequences", "tagging.md"),
    "class": ("Classes", "classify.md"),
    "multilabel": ("Sets of labels", "multilabel.md"),
    "kernel": ("Kernels", "kernels.md"),
    "rank": ("Rankings", "ranking.md"),
    "parse": ("Trees", "parsing.md"),
    "depend": ("Dependencies", "dependencies.md"),
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
        raise kept.BrokenExample(
            f"{path}: it must begin with a docstring, its title first."
        )
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


def run(path: Path, store: Path | None = None) -> Path:
    """The folder with what a script made: output.json and pictures."""
    store = store or kept.cache_folder() / "gallery"
    return kept.run(path, RUNNER, store, "-W", "error")


def build(folder: Path = SCRIPTS, store: Path | None = None) -> dict[str, str | bytes]:
    """{path below docs: content} of the gallery: pages and pictures."""
    every = examples(folder)
    subjects = {each.path: each.subject for each in every}
    results = kept.run_all(
        list(subjects), subjects.__getitem__, lambda path: run(path, store)
    )
    made: dict[str, str | bytes] = {}
    cards: dict[tuple[str, str], list[str]] = {}
    for example in every:
        result = results[example.path]
        output = json.loads((result / "output.json").read_text(encoding="utf-8"))
        for picture in output["pictures"] + output["thumbnails"]:
            name = f"gallery/images/{example.name}-{picture}"
            made[name] = (result / picture).read_bytes()
        made[f"gallery/{example.name}.md"] = page(example, output)
        shown = card(example, output)
        made[f"{CARDS}{example.name}"] = shown
        cards.setdefault(example.subject, []).append(shown)
    parts = [INDEX]
    for (heading, place), shown in cards.items():
        parts.append(f"## {heading}\n\n{grid(shown)}")
        if place:
            made[f"{CARDS}{place}"] = grid(shown)
    made["gallery/index.md"] = "\n".join(parts).replace(UP, "")
    return made


INDEX = """# Gallery

Every example is a short script, run when this site was built. Choose a picture to see the
script and what it prints.
"""
CARDS = "cards/"  # no page: what another page shows
# On a page: names of examples whose thumbnails it shows.
ASKED = re.compile(r"^<!-- gallery: ([\w ]+) -->$", re.MULTILINE)
UP = "{gallery}"  # where the gallery is, as seen from the page


def grid(cards: list[str]) -> str:
    return f'<div class="gallery">\n{chr(10).join(cards)}\n</div>\n'


def with_cards(markdown: str, page: str, cards: dict[str, str]) -> str:
    """A page with thumbnails: where it asks for some, and below its introduction."""

    def asked(match: re.Match) -> str:
        names = match[1].split()
        for name in names:
            if name not in cards:
                raise kept.BrokenExample(f"{page}: there is no example {name!r}.")
        return grid([cards[name] for name in names])

    markdown = ASKED.sub(asked, markdown)
    if page in cards:
        first, mark, rest = markdown.partition("\n## ")
        markdown = f"{first}\n{cards[page]}{mark}{rest}"
    return markdown.replace(UP, relpath("gallery", start=str(Path(page).parent)) + "/")


def card(example: Example, output: dict) -> str:
    """A thumbnail that leads to the example's page."""
    page, title = f"{UP}{example.name}.html", escape(example.title)
    if output["thumbnails"]:
        source = f"{UP}images/{example.name}-{output['thumbnails'][0]}"
        shown = f'<img src="{source}" alt="{title}" loading="lazy">'
    else:
        lines = output["text"].splitlines()[:12]
        shown = f"<pre>{escape(chr(10).join(line[:48] for line in lines))}</pre>"
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
