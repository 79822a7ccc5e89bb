"""Files of trees: the Penn Treebank's ways, the whole sample, bad files."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tree_cases import trees

from maxmargin import Tree
from maxmargin.files import iter_trees, read_trees, write_trees

RAW = {"strip_functions": False, "strip_empty": False, "collapse_same": False}
PENN = """
( (S
    (NP-SBJ-1 (DT The) (NN company) )
    (VP (VBD said)
      (SBAR (-NONE- 0)
        (S
          (NP-SBJ=2 (-NONE- *-1) )
          (VP (VBD sold) (-LRB- -LRB-) (JJ|NN it) ))))
    (. .) ))
"""


def test_penn_brackets():
    (tree,) = read_trees(PENN.split("\n"))
    assert repr(tree) == (
        "(S (NP (DT The) (NN company)) (VP (VBD said) (SBAR (S (VP (VBD sold) "
        "(-LRB- -LRB-) (JJ it))))) (. .))"
    )
    (tree,) = read_trees(PENN.split("\n"), **RAW)
    labels = {node.label for node in tree.subtrees()}
    assert {"NP-SBJ-1", "NP-SBJ=2", "-NONE-", "JJ|NN", "-LRB-"} <= labels
    (tree,) = read_trees(PENN.split("\n"), strip_empty=False)
    assert "-NONE-" in [tag for _, tag in tree.tags()]


def test_phrases_over_themselves():
    lines = ["(S (NP (NP (NN dogs)) (SBAR (-NONE- *T*))) (VP (VBP bark)))"]
    assert repr(read_trees(lines)[0].children[0]) == "(NP (NN dogs))"
    kept = read_trees(lines, collapse_same=False)[0].children[0]
    assert repr(kept) == "(NP (NP (NN dogs)))"
    (tag,) = read_trees(["(X (X x))"])  # a tag is no phrase, whatever its name
    assert repr(tag) == "(X (X x))"


@pytest.mark.parametrize(
    ("line", "without", "top"),
    [
        ("( (S (A b)) )", "(S (A b))", "(TOP (S (A b)))"),
        ("(S (A b))", "(S (A b))", "(TOP (S (A b)))"),
        ("(ROOT (S (A b)))", "(S (A b))", "(TOP (S (A b)))"),
        ("( (S1 (S (A b))) )", "(S (A b))", "(TOP (S (A b)))"),
        ("(TOP (A b) (C d))", "(TOP (A b) (C d))", "(TOP (A b) (C d))"),
        ("(TOP yes)", "(TOP yes)", "(TOP (TOP yes))"),
    ],
)
def test_roots(line, without, top):
    assert repr(read_trees([line])[0]) == without
    assert repr(read_trees([line], root="TOP")[0]) == top


def test_several_children_of_a_bracket_without_a_label():
    line = "( (S (A b)) (. .) )"
    with pytest.raises(ValueError, match=r"line 1: .* 2 children.*root='TOP'"):
        read_trees([line])
    assert read_trees([line], root="TOP")[0].label == "TOP"
    with pytest.raises(ValueError, match="cannot be a label"):
        read_trees([line], root="A B")


def test_comments_stand_between_trees_only():
    lines = ["# 1 tree (", "*x*x*", "(S (A b)", "# c)", "# 2", "(S (A", "*))"]
    lines[2:4] = ["(S (A b))", "#", "(S (X", "#))"]
    assert [t.words() for t in read_trees(lines)] == [["b"], ["#"], ["*"]]


def test_sentences_without_a_tree(tmp_path):
    tree = Tree.parse("(S (A b))")
    file = tmp_path / "some.txt"
    write_trees(file, [tree, None, tree])
    assert file.read_text().split("\n")[1] == "(())"
    assert read_trees(file, missing=True) == [tree, None, tree]
    with pytest.raises(ValueError, match=r"some.txt, line 2: the tree has no words"):
        read_trees(file)
    assert read_trees(["()", "(S (-NONE- *))"], missing=True) == [None, None]


@given(st.lists(trees(labels=("S", "A|B", "X-1", "日")), min_size=1, max_size=4))
def test_what_is_written_is_read(tmp_path_factory, some):
    folder = tmp_path_factory.mktemp("trees")
    for k, options in enumerate(({}, {"outer": True}, {"width": 20})):
        for name in (f"{k}.txt", f"{k}.gz"):
            write_trees(folder / name, some, **options)
            assert read_trees(folder / name, **RAW) == some
    assert (folder / "0.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_encodings_and_line_ends(tmp_path):
    file = tmp_path / "latin.txt"
    file.write_bytes("(S (A é))\r\n(S (A b))\r\n".encode("latin-1"))
    assert read_trees(file, encoding="latin-1")[0].words() == ["é"]
    with pytest.raises(ValueError, match=r"line 1: .*latin-1"):
        read_trees(file)
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_trees(tmp_path / "none.txt")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(S (A b))\n\n(S\n (A b)\n", r"bad.txt, line 3: .*1 bracket is not closed"),
        ("(S (A b))\n(S (A b)))\n", r"bad.txt, line 2: a bracket closes"),
        ("(S (A b))\nhello\n", r"line 2: 'hello' stands outside"),
        ("(S\n (A b)\n ((B c)))", r"line 3: a bracket has no label"),
        ("(S\n (NP))", r"line 2: \(NP\) holds no word"),
        ("(S\n (NP the cat))", r"line 2: the word 'cat' stands beside"),
        ("(S\n () (A b))", r"line 2: a bracket has no label"),
        ("((A b)\n ())", r"line 2: a bracket has no label"),
        ("(()\n x)", r"line 2: the word 'x' stands beside"),
        ("( word )", r"line 1: \(word\) holds no word"),
    ],
)
def test_bad_files_are_refused(tmp_path, text, words):
    file = tmp_path / "bad.txt"
    file.write_text(text)
    with pytest.raises(ValueError, match=words):
        read_trees(file)


def test_bad_sources_are_refused():
    for source in (3, b"(S (A b))", [b"(S (A b))"]):
        with pytest.raises(ValueError, match=r"lines|a text"):
            read_trees(source)
    with pytest.raises(ValueError, match=r"trees\[0\] is of type str"):
        write_trees("unused.txt", ["(S (A b))"])
    with pytest.raises(ValueError, match="no tree to write"):
        write_trees("unused.txt", [])


def test_reading_goes_on_up_to_the_error():
    some = iter_trees(["(S (A b))", "(S (A b)"])
    assert next(some) == Tree.parse("(S (A b))")
    with pytest.raises(ValueError, match="line 2"):
        next(some)


@given(st.text(alphabet="() \nab#*-=|NONE", max_size=40))
def test_any_text_gives_trees_or_a_sentence(text):
    found, said = [], "the lines, line 1: nothing."
    try:
        found = read_trees(text.split("\n"), missing=True)
    except ValueError as error:
        said = str(error)
    assert all(tree is None or tree.words() for tree in found)
    assert said.startswith("the lines, line ")
    assert said.endswith(".")


@pytest.mark.slow
def test_the_whole_sample(data_home, tmp_path):
    file = data_home / "wsj_sample_trees" / "wsj_sample.mrg.gz"
    raw = read_trees(file, **RAW)
    assert len(raw) == 3914
    assert sum(len(tree.words()) for tree in raw) == 100_676
    text = gzip.decompress(file.read_bytes()).decode()
    assert [f"( {tree})" for tree in raw] == text.splitlines()
    write_trees(tmp_path / "again.gz", raw, width=80)
    assert read_trees(tmp_path / "again.gz", **RAW) == raw

    clean = read_trees(file)
    assert sum(len(tree.words()) for tree in clean) == 94_084
    labels = {node.label for tree in clean for node in tree.subtrees()}
    assert not {z for z in labels if z[0] != "-" and set(z) & set("-=|")}
    assert "-NONE-" not in labels
