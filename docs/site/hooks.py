"""The hooks of mkdocs.yml: pages that are made, and links that lead out of docs/."""

from __future__ import annotations

from pathlib import Path

import docstrings  # noqa: F401 - griffe finds what it imports
import gallery
import notebooks
import outside
import reference
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

HERE = Path(__file__).resolve().parent
ASSETS = HERE / "assets"
cards: dict[str, str] = {}  # {page: thumbnails that it shows, example: its own}
shown: dict[str, str] = {}  # {page and number: HTML that a cell of a notebook shows}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Pages that are made join their sections; of the others none is left out."""
    config.theme.static_templates.discard("404.html")  # it can only link from the root
    sections = {title: pages for entry in config.nav for title, pages in entry.items()}
    sections["Gallery"] += gallery.titles()
    sections["Notebooks"] += notebooks.titles()
    sections["Reference"] += reference.titles()
    named = set(_leaves(config.nav)) | set(outside.INCLUDED.values())
    docs = Path(config.docs_dir)
    pages = sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))
    sections["Guides"] += [page for page in pages if page not in named]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add what is made: included files, reference, gallery, sources that are linked to."""
    named = set(_leaves(config.nav))
    made = outside.included() | reference.pages()
    there = {f.src_uri: f.content_string for f in files.documentation_pages()}
    for file in outside.sources(there | made):
        made[outside.page_of(file)] = outside.source_page(file)
    for page, markdown in made.items():
        hidden = page.startswith("source/") or page not in named
        level = InclusionLevel.NOT_IN_NAV if hidden else InclusionLevel.UNDEFINED
        files.append(File.generated(config, page, content=markdown, inclusion=level))
    for path in sorted(ASSETS.iterdir()):
        name = f"assets/{path.name}"
        files.append(File.generated(config, name, abs_src_path=str(path)))
    for name, content in (gallery.build() | notebooks.build()).items():
        if name.startswith(gallery.CARDS):
            cards[name.removeprefix(gallery.CARDS)] = content
            continue
        if name.startswith(notebooks.HTML):
            shown[name.removeprefix(notebooks.HTML)] = content
            continue
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Page, config, files) -> str:
    name = page.file.src_uri
    return outside.mended(gallery.with_cards(markdown, name, cards), name)


def on_page_content(html: str, *, page: Page, config, files) -> str:
    return notebooks.with_html(html, page.file.src_uri, shown)


def _leaves(nav) -> list[str]:
    """Pages that a navigation names."""
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [page for part in parts for page in _leaves(part)]
