"""Links of the site: those that leave docs/ are mended, and wrong ones are found."""

import pytest
from site_tools import tool


def mended(text, page="scaling.md"):
    return tool("outside").mended(text, page)


@pytest.mark.parametrize(
    ("link", "page", "expected"),
    [
        ("../README.md#saving", "scaling.md", "index.md#saving"),
        ("docs/tagging.md", "index.md", "tagging.md"),
        ("docs/gallery", "index.md", "gallery/index.md"),
        ("notebooks", "pictures.md", "notebooks/index.md"),
        ("../../CONTRIBUTING.md", "contributing/new-solver.md", "../contributing.md"),
        ("new-family.md", "contributing/new-solver.md", "new-family.md"),
        ("../mkdocs.yml", "scaling.md", "source/mkdocs.yml.md"),
        ("https://example.org/a.md", "scaling.md", "https://example.org/a.md"),
        ("../nowhere.py", "scaling.md", "../nowhere.py"),
        ("../benchmarks/", "scaling.md", "benchmarks.md"),
        ("#here", "scaling.md", "#here"),
    ],
)
def test_links_that_leave_docs(link, page, expected):
    assert mended(f"See [it]({link}).", page) == f"See [it]({expected})."


def test_links_in_html():
    mended = tool("outside").mended
    picture = '<a href="docs/tagging.md"><img alt="" src="docs/a.png"></a>'
    assert mended(picture, "index.md") == (
        '<a href="tagging.html"><img alt="" src="a.png"></a>'
    )


def test_code_stays_as_it_is():
    block = "```\n[it](../README.md)\n```\n"
    assert mended(block) == block


def test_linked_sources_are_pages():
    outside = tool("outside")
    assert outside.sources({"a.md": "[it](../mkdocs.yml)"}) == {"mkdocs.yml"}
    page = outside.source_page("mkdocs.yml")
    assert "\n# mkdocs.yml\n" in page
    assert "site_name: maxmargin" in page


PAGE = """<html><head>{head}</head><body>
<h1 id="top">A</h1><a href="b.html#place">B</a> <img src="a.png"> {body}
</body></html>"""


@pytest.fixture
def site(tmp_path):
    (tmp_path / "a.png").write_bytes(b"")
    (tmp_path / "b.html").write_text('<h2 id="place">B</h2><a href="a.html#top">A</a>')

    def write(head="", body="", css=""):
        (tmp_path / "a.html").write_text(PAGE.format(head=head, body=body))
        (tmp_path / "a.css").write_text(css)
        return tool("check_links").check(tmp_path)

    return write


def test_a_site_without_faults(site):
    assert (
        site(body='<a href="https://example.org">far</a> <a href="#top">up</a>') == []
    )


@pytest.mark.parametrize(
    ("planted", "sentence"),
    [
        ({"body": '<a href="c.html">'}, "leads to no file"),
        ({"body": '<a href="../etc">'}, "leads to no file"),
        ({"body": '<a href="b.html#away">'}, "leads to no place on that page"),
        ({"body": '<img src="b.png">'}, "leads to no file"),
        ({"body": '<a href="/b.html">'}, "begins at the root"),
        ({"body": '<img src="https://example.org/a.png">'}, "another host"),
        ({"head": '<script src="//example.org/a.js"></script>'}, "another host"),
        ({"head": '<link rel="stylesheet" href="http://x.org/a.css">'}, "another host"),
        ({"head": "<style>@import 'https://x.org/a.css'</style>"}, "another host"),
        ({"css": "a { background: url(https://x.org/a.png) }"}, "another host"),
    ],
)
def test_faults_are_found(site, planted, sentence):
    (wrong,) = site(**planted)
    assert sentence in wrong


def test_a_site_that_is_not_there(tmp_path):
    (wrong,) = tool("check_links").check(tmp_path)
    assert "build the site first" in wrong
