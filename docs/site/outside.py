"""Pages that are files elsewhere in the repository, and links that lead out of docs/.

README, CHANGELOG and the like become pages. A source file that some page links to is shown
as it is, on a page of its own. So no link of the site leaves it for a place unknown.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath

ROOT = Path(__file__).resolve().parents[2]
INCLUDED = {  # {file of the repository: page of the site}
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "benchmarks.md",
    "reproduction/README.md": "reproduction.md",
}
MADE = "docs/gallery", "docs/notebooks"  # folders that have a page
NO_SEARCH = "---\nsearch:\n  exclude: true\n---\n\n"
LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#]+)((?:#[^)\s]*)?(?:\s\"[^\"]*\")?\))")
HTML = re.compile(r"""(<[^>]*?\s(?:src|srcset|href)=")([^"#]+)((?:#[^"]*)?")""")
FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2 *$", re.MULTILINE | re.DOTALL)


def origin(page: str) -> str:
    """The file of the repository that a page of the site is made of."""
    for file, included in INCLUDED.items():
        if page == included:
            return file
    return f"docs/{page}"


def page_of(file: str) -> str | None:
    """The page, or the picture, of the site that a file of the repository is."""
    if file in INCLUDED:
        return INCLUDED[file]
    if f"{file}/README.md" in INCLUDED:
        return INCLUDED[f"{file}/README.md"]
    if file in MADE:
        return f"{file.removeprefix('docs/')}/index.md"
    if file.startswith("docs/") and not file.endswith(".py"):
        return file.removeprefix("docs/")
    return f"source/{file}.md" if (ROOT / file).is_file() else None


def mended(markdown: str, page: str) -> str:
    """Links of a page as they are in the site."""
    source = origin(page)

    def mend(match: re.Match) -> str:
        file = leads_to(match[2], source)
        to = page_of(file) if file else None
        if to is None:
            return match[0]
        if match.re is HTML:  # which nobody translates
            to = re.sub(r"\.md$", ".html", to)
        start = str(PurePosixPath(page).parent)
        return f"{match[1]}{relpath(to, start)}{match[3]}"

    return _outside_of_code(HTML, mend, _outside_of_code(LINK, mend, markdown))


def leads_to(link: str, source: str) -> str | None:
    """The file of the repository behind a link of one of its files."""
    if "://" in link or link.startswith(("mailto:", "/", "#")):
        return None
    file = normpath((PurePosixPath(source).parent / link).as_posix())
    return None if file.startswith("..") else file


def sources(docs: dict[str, str]) -> set[str]:
    """Files that pages ({page: Markdown}) link to and that are no pages themselves."""
    found = set()
    for page, markdown in docs.items():
        for match in LINK.finditer(FENCE.sub("", markdown)):
            file = leads_to(match[2], origin(page))
            to = page_of(file) if file else None
            if to and to.startswith("source/"):
                found.add(file)
    return found


def source_page(file: str) -> str:
    """A page that shows a source file."""
    text = (ROOT / file).read_text(encoding="utf-8").rstrip()
    kind = {".py": "python", ".sh": "sh", ".toml": "toml"}.get(Path(file).suffix, "")
    return f"{NO_SEARCH}# {file}\n\n`````{kind}\n{text}\n`````\n"


def included() -> dict[str, str]:
    """{page: Markdown} of the files elsewhere that are pages."""
    return {
        page: (ROOT / file).read_text(encoding="utf-8")
        for file, page in INCLUDED.items()
    }


def _outside_of_code(pattern: re.Pattern, replace, markdown: str) -> str:
    parts, at = [], 0
    for block in FENCE.finditer(markdown):
        parts += [pattern.sub(replace, markdown[at : block.start()]), block[0]]
        at = block.end()
    return "".join([*parts, pattern.sub(replace, markdown[at:])])
