"""What notebooks show: balanced HTML, escaped texts, right counts."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from maxmargin import (
    GraphLabeler,
    LinkClusterer,
    Mention,
    MentionDocument,
    SequenceAligner,
    SequenceTagger,
    Tree,
    WordAligner,
    grid_graph,
    views,
)
from maxmargin.clusterings.view import clusters
from maxmargin.files import MultipleAlignment, PairAlignment
from maxmargin.graphs.view import layout
from maxmargin.motifs.estimator import Site

EVIL = '<script>alert("1")</script>&\0'
TREE = Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog))))")
FLAT = Tree.parse("(S (DT the) (JJ cat) (VBD saw) (NP (DT a) (NN dog)))")
NODES = np.zeros((3, 1)), [(0, 1), (1, 2)]


def document(*words):
    places = [Mention(0, k, k) for k in range(len(words))]
    return MentionDocument(words[0], [list(words)], places)


class Checked(HTMLParser):
    """Tags must be balanced, and only those of views may occur."""

    KNOWN = {"style", "div", "p", "span", "small", "pre", "table", "tr", "th", "td"}
    KNOWN |= {"svg", "g", "path", "rect", "line", "circle", "text", "title"}

    def __init__(self, page):
        super().__init__()
        self.open, self.said = [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        assert tag in self.KNOWN
        assert not any(
            name.startswith("on") or "://" in str(v) for name, v in attrs[1:]
        )
        self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert tag in self.KNOWN

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] != ["style"]:
            self.said.append(data)

    @property
    def text(self):
        return " ".join("".join(self.said).split())


def read(view):
    return Checked(view._repr_html_()).text


EVIL_VIEWS = {
    "tags": lambda: views.tags([EVIL, "a"], [EVIL, "O"], ["X", EVIL]),
    "spans": lambda: views.tags([EVIL], [f"B-{EVIL}"], ["O"]),
    "tree": lambda: views.tree(Tree("S", [Tree("A<b>", [EVIL])])),
    "trees": lambda: views.tree(
        Tree("S", [Tree("A<b>", [EVIL])]), Tree("S", [Tree("B", [EVIL])])
    ),
    "alignment": lambda: views.alignment(
        "AC<", "A<", [(0, 0), (2, 1)], [], (EVIL, EVIL)
    ),
    "clusters": lambda: views.clusters(document(EVIL, "b"), [0, 0], [0, 1]),
    "links": lambda: views.links(([EVIL], ["b", EVIL]), [(0, 1)], [(0, 0)]),
    "graph": lambda: views.graph(NODES, [EVIL, "a", "a"], ["a", EVIL, None]),
    "ranking": lambda: views.ranking([1.0, 2.0], [EVIL] * 2, [0, 1], [EVIL, "b"]),
    "sites": lambda: views.sites([EVIL], [Site(0, 3, "+", 1.0)]),
    "classes": lambda: views.classes([1.0, 0.5], [EVIL, "b"], EVIL, ["b", EVIL]),
    "taxonomy": lambda: views.taxonomy({EVIL: None, "b": EVIL}, EVIL, "b"),
    "homologs": lambda: views.homologs((EVIL, [EVIL, "A"]), [1, 2], [(0, 0)], 0),
    "document": lambda: document(EVIL, "b"),
    "pair": lambda: PairAlignment(EVIL, "b", "AC", "AG", [(0, 0)]),
    "rows": lambda: MultipleAlignment("m", [EVIL, "b"], ["A-C", "AAC"], [{}, {}], {}),
    "one tree": lambda: Tree("S", [Tree("A<b>", [EVIL])]),
}


@pytest.mark.parametrize("name", EVIL_VIEWS)
def test_texts_stay_texts(name):
    page = EVIL_VIEWS[name]()._repr_html_()
    said = Checked(page).text
    assert "<script" not in page
    assert "\0" not in page
    if name not in ("alignment", "sites", "pair", "rows"):  # names and letters are cut
        assert "<script>" in said or "alert(" in said


def test_views_are_shown_saved_and_printed(tmp_path):
    view = views.tags(["a", "b"], ["X", "Y"])
    assert isinstance(view, views.View)
    assert repr(view) == "a/X b/Y"
    view.save(tmp_path / "view.html", title="<t>")
    page = (tmp_path / "view.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "<title>&lt;t&gt;</title>" in page
    assert view.html in page


def test_views_follow_the_colours_around_them():
    """Readable on black and on white: no text has a colour of its own but in boxes."""
    for name in EVIL_VIEWS:
        page = EVIL_VIEWS[name]()._repr_html_()
        for colour in re.findall(r"[^-]color:\s*([^;}\"]+)", page):
            assert colour in ("inherit",), name


# by family ---------------------------------------------------------------------------


def test_tags_in_spans_with_the_truth():
    words = ["Ada", "Byron", "vive"]
    view = views.tags(words, ["B-PER", "I-PER", "O"], ["B-PER", "O", "O"])
    assert view.html.count('class="mark"') == 1
    assert read(view) == (
        "Ada Byron\N{THIN SPACE}(true: O)PER vive1 of 3 labels are wrong: underlined, "
        "with the true label behind."
    ).replace("\N{THIN SPACE}", " ")
    assert view.html.count('class="wrong"') == 1


def test_tags_of_several_sentences_and_tokens_of_many_kinds():
    rows = [[{"n": 1, "word": "a"}, ["b", "NN"], [0.5, 1.0]], []]
    view = views.tags(rows, [["X", "Y", "X"], []])
    assert repr(view) == "a/X b/Y 2/X\n"
    many = views.tags([["a"]] * 300, [["X"]] * 300)
    assert "The first 200 of 300 sentences" in read(many)
    assert repr(views.tags(["a"], [np.int64(3)])) == "a/3"
    with pytest.raises(ValueError, match="2 tokens, but 1 labels"):
        views.tags(["a", "b"], ["X"])
    with pytest.raises(ValueError, match="1 sentences, but labels of 2"):
        views.tags([["a"]], [["X"], ["Y"]])


def test_trees_mark_what_differs():
    view = views.tree(FLAT, TREE)
    assert "0 phrases and 1 tags are wrong" in read(view)
    assert "2 phrases were not found" in read(view)
    assert view.html.count("stroke-dasharray") == 3  # two phrases and a tag
    assert view.html.count("<rect") == 4
    same = views.tree(TREE, TREE)
    assert "<rect" not in same.html
    assert repr(same) == TREE.draw()
    for word in TREE.words():
        assert f">{word}</text>" in TREE._repr_html_()
    with pytest.raises(ValueError, match="truth is of type str, not a Tree"):
        views.tree(TREE, "S")


def test_alignments_in_blocks():
    view = views.alignment("HEAGAW", "HEGCW", [(0, 0), (1, 1), (3, 2), (4, 3), (5, 4)])
    assert repr(view).split("\n") == ["HEAGAW", "|| |:|", "HE-GCW"]
    one = views.alignment("A" * 130, "A" * 130, [(k, k) for k in range(130)], width=50)
    lines = [x for x in Checked(one.html).said[-1].split("\n") if x.strip()]
    numbers = [re.findall(r"\d+", line) for line in lines if "A" in line]
    assert numbers[::2] == [["1", "50"], ["51", "100"], ["101", "130"]]
    gaps = PairAlignment("a", "b", "ACGT", "AT", [(0, 0), (3, 1)])._repr_html_()
    lines = [line.split() for line in Checked(gaps).said[-1].split("\n") if line]
    assert lines == [["a", "1", "ACGT", "4"], ["|", "|"], ["b", "1", "A--T", "2"]]
    differ = views.alignment("HEAG", "HEG", [(0, 0), (2, 1)], [(0, 0), (1, 1), (3, 2)])
    assert "1 of 3 true pairs found; 1 of 2 predicted are wrong" in read(differ)
    with pytest.raises(ValueError, match="pair 0"):
        views.alignment("A", "A", [(3, 0)])
    with pytest.raises(ValueError, match="give its letters"):
        views.alignment(3, "A", [])


def test_clusters_that_are_nested_and_that_cross():
    words = [["a", "b", "c", "d"]]
    mentions = [Mention(0, 0, 2), Mention(0, 1, 1), Mention(0, 1, 3)]
    view = clusters(MentionDocument("", words, mentions), [0, 0, 1])
    assert "3 mentions, 1 clusters of several, 1 of one" in read(view)
    assert view.html.count('class="mark"') == 3
    strange = clusters(MentionDocument("", words, mentions), [0, 0, 0], [0, 1, 1])
    assert strange.html.count('class="mark wrong"') == 1


def test_links_by_kind():
    pair = ("the dog", "le chien noir")
    view = views.links(pair, "0-0 1-2", "0-0 1-1 1?2")
    assert "2 right (blue), 0 wrong (dashed), 1 missed (dotted)" in read(view)
    assert view.html.count("<line") == 3
    less = views.links(
        pair, "0-0", "0-0 1-1 1?2"
    )  # what is only possible is not missed
    assert "1 right (blue), 0 wrong (dashed), 1 missed (dotted)" in read(less)
    with pytest.raises(ValueError, match="leads outside"):
        views.links(pair, [(5, 0)])


def test_graphs_as_grids_and_as_nodes():
    image = np.array([[0, 0, 1], [0, 1, 1]])
    graph = grid_graph(image)
    view = views.graph(graph, image, 1 - image, shape=(2, 3))
    assert view.html.count("<rect") == 4  # runs of equal cells
    assert "6 of 6 labels are wrong" in read(view)
    nodes = views.graph(NODES, ["wet", "dry", "wet"], ["wet", "wet", None])
    assert nodes.html.count("<circle") == 3
    assert nodes.html.count("stroke-dasharray") == 1
    assert "1 of 2 labels are wrong" in read(nodes)
    assert "3 nodes" in read(views.graph(NODES, [1, None, "a"]))
    with pytest.raises(ValueError, match="shape=3 is not possible"):
        views.graph(graph, image, shape=3)
    with pytest.raises(ValueError, match="does not fit 6 nodes"):
        views.graph(graph, image, shape=(2, 2))
    with pytest.raises(ValueError, match="3 nodes, but 1 labels"):
        views.graph(NODES, ["a"])
    large = np.zeros((200, 1)), [(0, 1)]
    cut = views.graph(large, [0] * 200, [0] * 190 + [1] * 10)
    assert cut.html.count("<circle") == 150
    assert "150 of 200 nodes are drawn, those near the first wrong one" in read(cut)
    chain = np.zeros((400, 1)), [(k, k + 1) for k in range(399)]
    near = views.graph(chain, range(400), [*range(300), 1, *range(301, 400)])
    assert "<title>node 300: 300, true 1</title>" in near.html
    assert near.html.count("<line") == 149  # what is drawn hangs together


def test_layouts_keep_nodes_apart():
    place = layout(6, [(k, (k + 1) % 6) for k in range(6)])
    far = np.sqrt(((place[:, None] - place) ** 2).sum(2)) + np.eye(6)
    assert far.min() > 0.2
    assert place.min() >= 0
    assert place.max() <= 1
    assert layout(0, []).shape == (0, 2)
    assert np.isfinite(layout(1, [])).all()


def test_rankings_by_query():
    view = views.ranking([1.0, 3, 2, 5], ["a", "b", "a", "b"], [0, 1, 2, 0], top=1)
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", view.html)
    assert cells == ["1", "2", "2", "2", "1", "3", "5", "0"]
    assert "The first 20 of 30 queries" in read(views.ranking([0.0] * 30, range(30)))


def test_sites_are_filled():
    view = views.sites(["ACTATAAG", "GG"], [Site(2, 6, "+", 1.5), Site(0, 1, "-", -1)])
    assert repr(view) == "TATA at 2 (+)\nG at 0 (-)"
    assert ">TATA</span>AG" in view.html
    with pytest.raises(ValueError, match="site 0 is None"):
        views.sites(["A"], [None])
    with pytest.raises(ValueError, match="2 sequences, but 1 sites"):
        views.sites(["A", "C"], [Site(0, 1, "+", 0.0)])


# of fitted models --------------------------------------------------------------------


def test_models_show_what_they_predict():
    X, y = [["the", "dog"], ["dogs"]], [["DT", "NN"], ["NN"]]
    tagger = SequenceTagger(C=10).fit([[[w] for w in x] for x in X], y)
    assert repr(tagger.show([["the"], ["dog"]], ["DT", "NN"])) == "the/DT dog/NN"
    rows = [("HEAGAW", "HE-GAW"), ("GAW", "GAW")]
    pairs = [("HEAGAW", "HEGAW"), ("GAW", "GAW")]
    aligner = SequenceAligner(C=100).fit(pairs, rows)
    assert "5 true pairs found" in read(aligner.show(pairs[0], rows[0]))
    words = WordAligner().fit([("the dog", "le chien")], ["0-0 1-1"])
    assert "right" in read(words.show(("the dog", "le chien"), "0-0 1-1"))
    text = document("Emma", "Emma", "dog")
    clusterer = LinkClusterer(C=10).fit([text], [[0, 0, 1]])
    assert "3 mentions" in read(clusterer.show(text, [0, 0, 1]))
    truth = np.array([[0, 0, 1], [0, 1, 1]])
    labeler = GraphLabeler(C=1).fit([grid_graph(truth)], [truth])
    assert "of 6 labels are wrong" in read(labeler.show(grid_graph(truth), truth))
