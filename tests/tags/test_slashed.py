"""Text with a label after every word: reading, writing, the command line."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxmargin
from maxmargin.cli.main import main
from maxmargin.files import RawText, read_slashed, write_slashed
from maxmargin.tags.files.layout import Layout
from maxmargin.tags.formats import FORMATS

TEXT = "The/at dog/nn barks/vbz ./.\n\nDogs/nns bark/vb 1/2/cd\n"
WORDS = [["The", "dog", "barks", "."], ["Dogs", "bark", "1/2"]]
TAGS = [["at", "nn", "vbz", "."], ["nns", "vb", "cd"]]


def raw(text):
    return RawText(text.encode(), "text.pos")


def test_words_and_labels():
    for text in (TEXT, TEXT.replace("\n", "\r\n"), "\ufeff" + TEXT, TEXT.rstrip()):
        columns = read_slashed(raw(text))
        assert columns.strings(0) == WORDS
        assert columns.strings(1) == TAGS
        assert columns.lines.tolist() == [1] * 4 + [3] * 3
    assert columns.where(4) == "text.pos, line 3"
    columns = read_slashed(raw("a_b_C d_E\n"), separator="_")
    assert columns.strings(0) == [["a_b", "d"]]
    assert columns.strings(1) == [["C", "E"]]


def test_text_without_labels_has_one_column():
    columns = read_slashed(raw("The dog\n\n barks\t.\n"))
    assert columns.n_columns == 1
    assert columns.strings(0) == [["The", "dog"], ["barks", "."]]


word = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1).filter(
    lambda text: text.split() == [text]
)
label = word.filter(lambda text: "/" not in text)


@given(st.lists(st.lists(st.tuples(word, label), min_size=1), min_size=1))
def test_what_is_written_is_read_back(tmp_path_factory, sentences):
    path = tmp_path_factory.mktemp("slashed") / "text.pos.gz"
    X, y = ([[pair[k] for pair in s] for s in sentences] for k in (0, 1))
    write_slashed(path, X, y)
    columns = read_slashed(path)
    assert (columns.strings(0), columns.strings(1)) == (X, y)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a/B c/D\n\ne/F g\n",
            "text.pos, line 3: 'g' is no word with a label after '/'",
        ),
        ("a/B\n/D\n", "text.pos, line 2: '/D' is no word"),
        ("a/B\nc/\n", "text.pos, line 2: 'c/' is no word"),
        ("\n \n", "text.pos has no word"),
        ("", "text.pos has no word"),
    ],
)
def test_what_is_no_such_file_is_refused_with_its_line(text, message):
    with pytest.raises(ValueError, match=message):
        read_slashed(raw(text))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([["a"]], [["x/y"]], "sentence 0, token 0: the label 'x/y' contains '/'"),
        ([["a"]], [["x y"]], "the label 'x y' is empty or has a space"),
        ([["a"], ["b c"]], [["x"], ["y"]], "sentence 1, token 0: the word 'b c'"),
        ([["a"]], [["x", "y"]], "sentence 0 has 1 words but 2 labels"),
        ([["a"]], [], "X has 1 sentences, but y has 0"),
        ([["a"], []], [["x"], []], "sentence 1 is empty"),
        ([["a"]], [[""]], "is empty or has a space"),
    ],
)
def test_what_cannot_be_read_back_is_not_written(X, y, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        write_slashed(tmp_path / "out.pos", X, y)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("separator", ["", " ", "a b", "\n", 3])
def test_separators_have_no_spaces(separator, tmp_path):
    with pytest.raises(ValueError, match="separator="):
        read_slashed(raw(TEXT), separator=separator)
    with pytest.raises(ValueError, match="separator="):
        write_slashed(tmp_path / "out.pos", WORDS, TAGS, separator=separator)


def test_pieces_of_a_file_are_read_as_the_whole():
    layout = Layout(format="slashed").checked()
    piece = raw("Dogs/nns\n")._replace(above=7)
    assert layout.read(piece).lines.tolist() == [8]
    assert layout.read(raw("\n\n")) is None
    with pytest.raises(ValueError, match="no comments"):
        Layout(format="slashed", comment="#").read(raw(TEXT))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_slashed("train.pos", WORDS * 4, TAGS * 4)
    return tmp_path


def train(*options):
    command = [
        "train",
        "tag",
        "train.pos",
        "--format",
        "slashed",
        "--features",
        "words",
    ]
    return main([*command, "-o", "m", "--quiet", *options])


def test_from_file_to_file_on_the_command_line(folder, capsys):
    assert train("--C", "10") == 0
    (folder / "new.pos").write_text("The dog barks .\nDogs bark 1/2\n")
    assert main(["predict", "m", "train.pos", "-o", "again.pos"]) == 0
    assert (folder / "again.pos").read_text() == (folder / "train.pos").read_text()
    (folder / "new.pos").write_text("The dog barks .\n")
    assert main(["predict", "m", "new.pos", "-o", "out.pos"]) == 0
    assert (folder / "out.pos").read_text() == "The/at dog/nn barks/vbz ./.\n"
    capsys.readouterr()
    assert main(["evaluate", "m", "train.pos", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["token_accuracy"] == 1.0
    assert main(["predict", "m", "new.pos", "--k-best", "2"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("# 1 ")
    assert out[1] == "The/at dog/nn barks/vbz ./."
    assert len([line for line in out if line.startswith("The/")]) == 2


def test_another_separator_is_remembered(folder):
    write_slashed("train.pos", WORDS * 4, TAGS * 4, separator="_")
    assert train("--separator", "_") == 0
    assert main(["predict", "m", "train.pos", "-o", "again.pos"]) == 0
    assert (folder / "again.pos").read_text() == (folder / "train.pos").read_text()
    assert maxmargin.load("m").classes_.tolist() == sorted({*TAGS[0], *TAGS[1]})


def test_a_corpus_of_such_text(folder):
    assert train("--shards", "corpus", "--tol", "1e-5") == 0
    weights = maxmargin.load("m").coef_
    assert train("--tol", "1e-5") == 0
    np.testing.assert_allclose(weights, maxmargin.load("m").coef_, atol=1e-2)


def test_probabilities_have_no_place(folder, capsys):
    assert train("--objective", "log") == 0
    assert main(["predict", "m", "train.pos", "-o", "out.pos", "--marginals"]) == 2
    assert "slashed has no place for probabilities" in capsys.readouterr().err
    assert not (folder / "out.pos").exists()


def test_every_format_brings_what_its_record_promises():
    for name, record in FORMATS.items():
        if not record.module:
            assert callable(record.part(f"read_{name}"))
            assert callable(record.part(f"write_{name}"))
        if not record.features:
            assert callable(record.part("read_piece"))
