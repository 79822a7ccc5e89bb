"""What a parser is given: sentences of words, tags or both, and trees; checked."""

from __future__ import annotations

from typing import NamedTuple

from maxmargin.core.listed import listed
from maxmargin.core.objects import is_from
from maxmargin.core.warn import warn
from maxmargin.trees.brackets import escape, unescape
from maxmargin.trees.grammar import Grammar
from maxmargin.trees.tree import Tree, own_tree

RARE = (
    2  # words that occur up to so many times may have tags that they were not seen with
)
OPEN_SHARE = 0.01  # of the rare words: tags with fewer of them do not take new words


class Sentences(NamedTuple):
    """Words and tags of every sentence; for input="tags" words may be the tags again."""

    words: list[list[str]]
    tags: list[list[str]]  # empty lists if they are not given

    def chosen(self, numbers) -> Sentences:
        """The sentences with these numbers."""
        return Sentences(*([part[i] for i in numbers] for part in self))

    def channels(self, kind: str) -> list[list[list[str]]]:
        """Per sentence, the lists that describe its words to span features."""
        if kind == "words":
            return [[words] for words in self.words]
        if kind == "tags":
            return [[tags] for tags in self.tags]
        return [[w, t] for w, t in zip(self.words, self.tags, strict=True)]


def read_sentences(X, kind: str) -> Sentences:
    """X, checked: a list of sentences, each a list of tokens as ``kind`` has them."""
    if is_from(X, "nltk", "Tree"):  # it is a list of its children
        raise ValueError("X is one Tree: give a list of sentences, also for one.")
    sentences = listed(
        X,
        f"X is of type {type(X).__name__}: give a list of sentences, each a list of "
        f"{_wanted(kind)}.",
    )
    words, tags = [], []
    for i, sentence in enumerate(sentences):
        sentence = own_tree(sentence, f"X[{i}]")
        if isinstance(sentence, Tree):
            sentence = sentence.words() if kind == "words" else sentence.tags()
        tokens = listed(
            sentence,
            f"X[{i}] is {sentence!r}, not a list of {_wanted(kind)}: split the sentence "
            "first.",
        )
        pairs = [_token(token, kind, i, t) for t, token in enumerate(tokens)]
        words.append([word for word, _ in pairs])
        tags.append([tag for _, tag in pairs if tag is not None])
    return Sentences(words, tags)


def _wanted(kind: str) -> str:
    names = {"tags": "tags", "words": "words", "both": "(word, tag) pairs"}
    return names[kind]


def _token(token, kind: str, i: int, t: int) -> tuple[str, str | None]:
    pair = isinstance(token, (tuple, list)) and len(token) == 2
    parts = list(token) if pair and kind != "words" else [token]
    if not all(isinstance(part, str) and part and not part.isspace() for part in parts):
        raise ValueError(
            f"X[{i}][{t}] is {token!r}, but with input={kind!r} a sentence is a list of "
            f"{_wanted(kind)}, texts that are not empty."
        )
    if any(letter.isspace() for part in parts for letter in part):
        raise ValueError(
            f"X[{i}][{t}] is {token!r}, with a space in it: a token is one word."
        )
    parts = [str(part) for part in parts]  # numpy's strings are no plain ones
    if kind == "words":
        return parts[0], None
    if len(parts) == 2:
        return parts[0], parts[1]
    if kind == "both":
        raise ValueError(
            f"X[{i}][{t}] is {token!r}, but with input='both' a sentence is a list of "
            "(word, tag) pairs."
        )
    return parts[0], parts[0]


def read_trees_of(y, others: tuple = ()) -> list:
    """y as a list of trees, or of these other types."""
    if y is None:
        raise ValueError("y is missing: give one tree per sentence.")
    wanted = "y must be a list of trees, also for one."
    if is_from(y, "nltk", "Tree"):  # it is a list of its children
        raise ValueError(wanted)
    y = [own_tree(tree, f"y[{i}]") for i, tree in enumerate(listed(y, wanted))]
    for i, tree in enumerate(y):
        if not isinstance(tree, Tree) and type(tree) not in others:
            hint = " (Tree.parse reads brackets)" if isinstance(tree, str) else ""
            raise ValueError(
                f"y[{i}] is of type {type(tree).__name__}, but it must be a Tree{hint}."
            )
    if not y:
        raise ValueError("there are no trees: at least one is needed.")
    return y


def loop_of(tree: Tree) -> str | None:
    """The labels from a phrase to itself over the same words, "S -> NP -> S", if any."""
    stack = [tree]
    while stack:
        node, labels = stack.pop(), {}  # labels in order, with their places
        while not node.is_preterminal and len(node.children) == 1:
            labels[node.label] = len(labels)
            node = node.children[0]
            if not node.is_preterminal and node.label in labels:
                loop = list(labels)[labels[node.label] :]
                return " -> ".join([*loop, node.label])
        if not node.is_preterminal:
            stack += node.children
    return None


def learnable(trees: list, words: list, max_length: int | None) -> list[bool]:
    """Which trees to learn from: short ones in which no phrase is above itself alone.

    A loop S -> NP -> S over the same words would make trees without end; as trees that
    have one are few, they are left out with a warning.
    """
    short = [max_length is None or len(sentence) <= max_length for sentence in words]
    if not any(short):
        raise ValueError(
            f"all sentences have more than max_length={max_length} words: nothing is left "
            "to learn from."
        )
    loops = [
        loop_of(tree) if keep and isinstance(tree, Tree) else None
        for tree, keep in zip(trees, short, strict=True)
    ]
    found = [i for i, loop in enumerate(loops) if loop]
    if found:
        i = found[0]
        label = loops[i].partition(" ")[0]
        where = f"y[{i}] has {label} above itself over the same words ({loops[i]})"
        if len(found) == sum(short):
            raise ValueError(
                f"{where}, and so have all trees: leave out one of the two (read_trees "
                "does for a label directly above itself)."
            )
        warn(
            f"{len(found)} of {len(trees)} trees are left out of training, because a "
            f"label is above itself: {where}.",
        )
    return [keep and not loop for keep, loop in zip(short, loops, strict=True)]


def check_same_words(sentences: Sentences, trees: list[Tree], kind: str) -> None:
    """Sentences and trees must be as many and have the same words or tags."""
    if len(sentences.words) != len(trees):
        raise ValueError(
            f"X has {len(sentences.words)} sentences, but y has {len(trees)} trees: give "
            "one tree per sentence."
        )
    for i, tree in enumerate(trees):
        if not sentences.words[i]:
            raise ValueError(
                f"X[{i}] is an empty sentence: leave it out, with its tree."
            )
        if not isinstance(tree, Tree):  # only partly known: partial.py
            continue
        pairs = tree.tags()
        for name, given, true in (
            ("words", sentences.words[i], [word for word, _ in pairs]),
            ("tags", sentences.tags[i], [tag for _, tag in pairs]),
        ):
            if kind not in (name, "both"):
                continue
            if len(given) != len(true):
                raise ValueError(
                    f"X[{i}] has {len(given)} {name}, but y[{i}] has {len(true)}: they "
                    "must be those of the tree."
                )
            for t, (a, b) in enumerate(zip(given, true, strict=True)):
                if a != b:
                    raise ValueError(
                        f"X[{i}][{t}] is {a!r}, but y[{i}] has {b!r} there: {name} must be "
                        "those of the tree."
                    )


def known_words(grammar: Grammar, sentences: Sentences) -> Sentences:
    """Sentences in the treebank's spelling: ( is -LRB- where only that word is known."""
    known = grammar.lexicon
    spelled: dict[str, str] = {}
    for words in sentences.words:
        for word in words:
            if word not in spelled:
                forms = (word, escape(word), unescape(word))
                spelled[word] = next((form for form in forms if form in known), word)
    return sentences._replace(
        words=[[spelled[word] for word in words] for words in sentences.words]
    )


def tag_choices(grammar: Grammar, sentences: Sentences, kind: str) -> list:
    """Per sentence and word, the numbers of the tags that it may have.

    A given tag is the only choice, and none if the grammar does not have it. A word that
    is known well has the tags that it was seen with; others may have all tags that rare
    words have.
    """
    number = grammar.tag_number
    if kind != "words":
        return [
            [[number[tag]] if tag in number else [] for tag in tags]
            for tags in sentences.tags
        ]
    open_tags = _open_tags(grammar)
    choices: dict[str, list[int]] = {}
    for words in sentences.words:
        for word in words:
            if word not in choices:
                counts = grammar.lexicon.get(word, {})
                seen = {number[tag] for tag in counts}
                few = sum(counts.values()) <= RARE
                choices[word] = sorted(seen | open_tags if few else seen)
    return [[choices[word] for word in words] for words in sentences.words]


def _open_tags(grammar: Grammar) -> set[int]:
    found = [0.0] * grammar.n_tags
    for counts in grammar.lexicon.values():
        if sum(counts.values()) <= RARE:
            for tag in counts:
                found[grammar.tag_number[tag]] += 1
    total = sum(found)
    chosen = {k for k, n in enumerate(found) if n and n >= OPEN_SHARE * total}
    return chosen or set(range(grammar.n_tags))
