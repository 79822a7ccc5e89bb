"""Random trees for several test files."""

from hypothesis import strategies as st

from maxmargin import Tree

# signs of the notations that the library uses, brackets of all kinds, other scripts
LABELS = [
    "S",
    "NP",
    "X",
    "A|B",
    "A^B",
    "|<",
    "A\\",
    "<",
    ">",
    ";",
    "^<S>",
    "-LRB-",
    "é",
]
WORDS = ["the", "cat", ".", "|", "-LRB-", "日本", "a+b", "*", "#"]


def trees(labels=tuple(LABELS), words=tuple(WORDS), max_children=5, max_leaves=12):
    preterminals = st.builds(
        lambda tag, word: Tree(tag, [word]),
        st.sampled_from(labels),
        st.sampled_from(words),
    )
    return st.recursive(
        preterminals,
        lambda below: st.builds(
            Tree,
            st.sampled_from(labels),
            st.lists(below, min_size=1, max_size=max_children),
        ),
        max_leaves=max_leaves,
    )


def deep_tree(levels):
    """A tree that any recursion would choke on."""
    tree = Tree("A", ["w"])
    for k in range(levels):
        tree = Tree("AB"[k % 2], [Tree("T", ["v"]), tree] if k % 3 else [tree])
    return tree
