"""Docs of spaCy: tokens and annotations in, entities and tags out."""

import re

import pytest

pytest.importorskip("spacy")

import spacy
from spacy.tokens import Doc, DocBin

from maxmargin import HMMTagger, SequenceTagger
from maxmargin.files import annotate_docs, columns_from, read_docs

NLP = spacy.blank("en")
WORDS = [
    ["Ada", "lives", "in", "New", "York"],
    ["New", "York", "is", "large"],
    ["Ada", "is", "in", "London"],
    ["nobody", "lives", "here"],
]
TAGS = [list("NVPNN"), list("NNVA"), list("NVPN"), list("NVA")]
ENTS = [
    ["B-PER", "O", "O", "B-LOC", "I-LOC"],
    ["B-LOC", "I-LOC", "O", "O"],
    ["B-PER", "O", "O", "B-LOC"],
    ["O", "O", "O"],
]


def docs(**annotations):
    rows = [
        dict(zip(annotations, row, strict=True))
        for row in zip(*annotations.values(), strict=True)
    ] or [{}] * len(WORDS)
    return [Doc(NLP.vocab, words=w, **r) for w, r in zip(WORDS, rows, strict=True)]


def annotated():
    return docs(tags=TAGS, ents=ENTS)


def test_entities_and_tags_are_read():
    X, y = read_docs(annotated())
    assert (X.names, X.strings(0), y) == (("text",), WORDS, ENTS)
    X, y = read_docs(annotated(), label="tag", columns=["lower", "shape"])
    assert (X.names, y) == (("lower", "shape"), TAGS)
    assert X.strings("shape")[0] == ["Xxx", "xxxx", "xx", "Xxx", "Xxxx"]
    X, y = read_docs(docs(), label=None, columns=["text", "is_title"])
    assert y is None
    assert X.strings("is_title")[3] == ["False"] * 3


def test_a_bin_of_docs_is_read_with_its_vocab():
    kept = DocBin(docs=annotated())
    assert read_docs(kept, vocab=NLP.vocab)[1] == ENTS
    with pytest.raises(ValueError, match=r"a DocBin is read with a vocab.*nlp\.vocab"):
        read_docs(kept)


def test_what_is_predicted_becomes_entities_and_tags():
    X, y = read_docs(annotated(), columns=["text", "tag"])
    tagger = SequenceTagger(C=10, features="ner", scheme="BIO").fit(X, y)
    new = docs(tags=TAGS)
    X, _ = read_docs(new, label=None, columns=["text", "tag"])
    assert annotate_docs(new, tagger.predict(X)) == new
    assert read_docs(new)[1] == ENTS
    found = [(span.text, span.label_) for span in new[0].ents]
    assert found == [("Ada", "PER"), ("New York", "LOC")]
    annotate_docs(new, [*ENTS[:3], ["O", "B-PER", "O"]])
    assert [span.text for span in new[3].ents] == ["lives"]
    again = DocBin(docs=annotate_docs(docs(), TAGS, "tag"))
    assert read_docs(again, "tag", vocab=NLP.vocab)[1] == TAGS


def test_other_schemes_become_entities_too():
    (doc,) = annotate_docs([docs()[0]], [["S-PER", "O", "O", "B-LOC", "E-LOC"]])
    assert read_docs([doc])[1] == ENTS[:1]


def test_docs_are_sequences_of_their_words():
    rows = [[(word,) for word in words] for words in WORDS]
    for features in (None, "words"):
        X = columns_from(rows) if features else rows
        tagger = SequenceTagger(C=10, features=features).fit(docs(), TAGS)
        same = SequenceTagger(C=10, features=features).fit(X, TAGS)
        assert (tagger.coef_ == same.coef_).all()
        assert tagger.predict(docs()) == same.predict(X)
        assert tagger.predict(docs()[:1]) == same.predict(rows[:1])
        assert tagger.score(docs(), TAGS) == same.score(X, TAGS)
        assert "London" in tagger.report(docs(), TAGS).html
        assert "London" in repr(tagger.show(docs()[2]))
    assert HMMTagger().fit(docs(), TAGS).predict(docs())[0] == TAGS[0]


def test_entities_that_are_not_known_are_none():
    doc = docs()[0]
    doc.set_ents([], missing=[doc[3:5]], default="outside")
    assert read_docs([doc])[1] == [["O", "O", "O", None, None]]


def test_docs_without_tokens_are_empty_sequences():
    X, y = read_docs([*annotated(), Doc(NLP.vocab, words=[])])
    assert (X.n_sentences, y[-1]) == (5, [])


# refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([], {}, "there are no docs"),
        (docs()[0], {}, "docs is one Doc: give a list of docs"),
        (["Ada lives"], {}, "docs[0] is of type str, not a Doc: nlp(text) makes a Doc"),
        ([docs()[0][1:3]], {}, "docs[0] is of type Span, not a Doc: span.as_doc()"),
        ({}, {}, "docs is of type dict: give a list of Doc, or a DocBin"),
        (docs(), {}, "docs[0] has no entities, and does not say that there are none"),
        (docs(), {"label": "tag"}, "docs[0]: token 0 ('Ada') has no 'tag': annotate"),
        (docs(), {"label": "colour"}, "'colour' is no attribute of tokens"),
        (docs(), {"label": None, "columns": ["check_flag"]}, "'check_flag' is no attrib"),
        (annotated(), {"columns": "text"}, "columns='text' must be a list"),
        (annotated(), {"columns": []}, "columns=[] must be a list"),
        ([Doc(NLP.vocab, words=[])], {}, "There is no token"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_named(given, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        read_docs(given, **options)


@pytest.mark.parametrize(
    ("y", "label", "message"),
    [
        (ENTS[:1], "ents", "there are 4 docs, but y has 1 label sequences"),
        ([*ENTS[:3], ["O"]], "ents", "docs[3] has 3 tokens, but y[3] has 1 labels"),
        ([*ENTS[:3], [0, 1, 2]], "ents", "y[3] holds 0: labels of docs are texts"),
        (
            TAGS,
            "shape",
            "label='shape' cannot be set: choose 'ents' or one of tag, pos",
        ),
        (TAGS, "ents", "'N'"),
        (TAGS, "pos", "[E1021]"),
    ],
)
def test_what_cannot_be_written_is_named(y, label, message):
    new = docs()
    with pytest.raises(ValueError, match=re.escape(message)):
        annotate_docs(new, y, label)


def test_what_has_to_be_read_before_is_said():
    tagger = SequenceTagger(C=10)
    for X, y, message in (
        (docs()[0], TAGS, "X is one Doc: give a list of docs"),
        (DocBin(), TAGS, "X is of type DocBin, which must be read before"),
        (docs(), annotated(), 'y[0] is a Doc: X, y = maxmargin.files.read_docs(docs'),
        ([docs()[0], ["a"]], TAGS[:2], "docs[1] is of type list, not a Doc"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=re.escape(message)):
            tagger.fit(X, y)
