"""The gallery: scripts run once, what they print and draw is shown, failures end it."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from site_tools import tool

DRAWS = '''"""A line.

It goes <up>.
"""

import matplotlib.pyplot as plt

print("a < b")
open("left.txt", "w").close()
plt.plot([0, 1])
'''
PRINTS = '"""Words alone."""\nprint("<b>only words</b>")\n'


@pytest.fixture
def scripts(tmp_path):
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "a_line.py").write_text(DRAWS)
    (folder / "words.py").write_text(PRINTS)
    return folder


def test_output_and_figures_are_shown(scripts, tmp_path):
    pytest.importorskip("matplotlib")
    made = tool("gallery").build(scripts, tmp_path / "store")
    page = made["gallery/a_line.md"]
    assert page.startswith(
        "# A line\n\nIt goes <up>.\n\n![A line](images/a_line-1.png)"
    )
    assert "a < b" in page
    assert "left.txt" in page
    assert made["gallery/images/a_line-1.png"].startswith(b"\x89PNG")
    index = made["gallery/index.md"]
    assert 'href="a_line.html"><img src="images/a_line-1-small.png"' in index
    assert "&lt;b&gt;only words&lt;/b&gt;" in index  # a card of text
    assert "```text\n<b>only words</b>\n```" in made["gallery/words.md"]
    assert not list(scripts.glob("*.txt"))


def test_pages_of_tasks_show_thumbnails(scripts, tmp_path):
    gallery = tool("gallery")
    (scripts / "a_line.py").unlink()
    (scripts / "words.py").rename(scripts / "tag_words.py")
    made = gallery.build(scripts, tmp_path / "store")
    assert "## Label sequences" in made["gallery/index.md"]
    cards = {n.removeprefix("cards/"): text for n, text in made.items()}
    text = "# Tag\n\nWords.\n\n## Files\n"
    page = gallery.with_cards(text, "tagging.md", cards)
    assert 'href="gallery/tag_words.html"' in page
    assert page.index("Words.") < page.index("tag_words") < page.index("## Files")
    with pytest.raises(tool("kept").BrokenExample, match="no example 'tag_other'"):
        gallery.with_cards("<!-- gallery: tag_other -->", "tagging.md", cards)
    told = "Write `<!-- gallery: NAME -->`."
    assert gallery.with_cards(told, "contributing.md", cards) == told
    asks = f"{text}<!-- gallery: tag_words -->\n"
    page = gallery.with_cards(asks, "contributing/new.md", cards)
    assert page.index("## Files") < page.index('href="../gallery/tag_words.html"')


def test_only_what_changed_runs_again(scripts, tmp_path, monkeypatch):
    gallery, kept, ran = tool("gallery"), tool("kept"), []
    (scripts / "a_line.py").write_text(PRINTS)
    process = kept.subprocess.run
    monkeypatch.setattr(
        kept.subprocess,
        "run",
        lambda *a, **k: ran.append(a[0][4]) or process(*a, **k),
    )
    store = tmp_path / "store"
    gallery.build(scripts, store)
    assert len(ran) == 2
    gallery.build(scripts, store)
    assert len(ran) == 2
    (scripts / "words.py").write_text(PRINTS.replace("only", "other"))
    made = gallery.build(scripts, store)
    assert len(ran) == 3
    assert "other words" in made["gallery/words.md"]
    assert len(list(store.iterdir())) == 2  # what is old has gone


def test_a_script_that_fails_ends_the_build(scripts, tmp_path):
    gallery = tool("gallery")
    (scripts / "words.py").write_text(
        '"""Words."""\nimport warnings\nwarnings.warn("w")\n'
    )
    with pytest.raises(
        tool("kept").BrokenExample, match=r"words\.py: (?s:.)*UserWarning: w"
    ):
        gallery.build(scripts, tmp_path / "store")
    (scripts / "words.py").write_text("print(1)\n")
    with pytest.raises(tool("kept").BrokenExample, match="begin with a docstring"):
        gallery.build(scripts, tmp_path / "store")


def test_processes_that_run_the_same_script_share_what_it_makes(scripts, tmp_path):
    path, store = scripts / "words.py", tmp_path / "store"
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(tool("gallery").run, [path, path], [store, store])
    assert one == other
    assert list(store.iterdir()) == [one]
