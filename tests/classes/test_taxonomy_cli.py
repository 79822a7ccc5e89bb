"""The task classify: files, words, commands, pictures, and what is said of mistakes."""

import gzip
import io
import json
import re

import matplotlib as mpl
import numpy as np
import pytest

from maxmargin import Taxonomy, load
from maxmargin.classes.bag_of_words import BagOfWords
from maxmargin.classes.svmlight import read_svmlight
from maxmargin.classes.taxonomy.file import read_taxonomy
from maxmargin.classes.taxonomy.plots import (
    plot_taxonomy_confusion,
    plot_taxonomy_errors,
)
from maxmargin.classes.texts import read_new_texts, read_texts
from maxmargin.cli.main import main
from maxmargin.files import RawText

mpl.use("Agg")

WORDS = {
    "rec.autos": "engine wheel car",
    "rec.sport.hockey": "team ice puck",
    "rec.sport.baseball": "team bat base",
    "sci.med": "doctor pill rash",
}


def lines(n, seed=0, between="\t", separator="."):
    rng = np.random.default_rng(seed)
    out = []
    for i in range(n):
        label = list(WORDS)[i % 4]
        words = [*rng.choice(WORDS[label].split(), 2).tolist(), "the", "Of"]
        label = label.replace(".", separator)
        out.append(f"{label}{between}{' '.join(rng.permutation(words))}\n")
    return "".join(out)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.txt").write_text(lines(40))
    (tmp_path / "test.txt").write_text(lines(12, seed=1))
    return tmp_path


def run(*words):
    return main([*map(str, words)])


def train(*more):
    return run("train", "classify", "train.txt", "-o", "m.model", "--quiet", *more)


# commands ----------------------------------------------------------------------------


def test_train_predict_evaluate_inspect(here, capsys):
    assert run("train", "classify", "train.txt", "-o", "m.model") == 0
    out = capsys.readouterr().out
    assert "40 samples, 4 classes, 7 nodes, 13 features" in out
    assert "proved" in out
    assert run("evaluate", "m.model", "test.txt") == 0
    assert "tree loss" in capsys.readouterr().out
    assert run("evaluate", "m.model", "test.txt", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["accuracy"] > 0.8
    assert [level["depth"] for level in report["levels"]] == [1, 2, 3]
    (here / "new.txt").write_text("ice and puck\n\nmy doctor\n")
    assert run("predict", "m.model", "new.txt", "-o", "out.txt") == 0
    wanted = "rec.sport.hockey\tice and puck\nsci.med\tmy doctor\n"
    assert (here / "out.txt").read_text() == wanted
    assert run("predict", "m.model", "out.txt") == 0  # labels are replaced
    assert capsys.readouterr().out == wanted
    assert run("inspect", "m.model", "--top", 2, "--label", "rec.sport") == 0
    out = capsys.readouterr().out
    assert "taxonomy    tree, 7 nodes, 3 levels" in out
    assert "  rec.sport: +" in out
    assert "sci.med:" not in out
    assert run("inspect", "m.model", "--label", "zebra") == 2
    assert "--label zebra is not a node" in capsys.readouterr().err


def test_pictures(here):
    assert train("--plot", "fit.png", "--C", 10) == 0
    options = ("--plot", "tree.svg", "--confusion", "c.png")
    assert run("evaluate", "m.model", "test.txt", *options) == 0
    assert "sport" in (here / "tree.svg").read_text()
    assert (here / "c.png").stat().st_size > 1000
    assert (here / "fit.png").stat().st_size > 1000


def test_labels_before_spaces(here, capsys):
    (here / "train.txt").write_text(lines(40, between=" ", separator=":"))
    assert run("train", "classify", "train.txt", "-o", "m.model", "--C", 2) == 0
    assert "--separator ':'" in capsys.readouterr().err
    assert train("--separator", ":", "--ngrams", 2, "--weighting", "binary") == 0
    assert len(load("m.model").taxonomy_) == 7
    (here / "new.txt").write_text("ice puck\nsci:med old pill\n")
    assert run("predict", "m.model", "new.txt") == 0  # not all lines have labels
    first, second = capsys.readouterr().out.splitlines()
    assert first == "rec:sport:hockey ice puck"
    assert second == "sci:med sci:med old pill"


def test_weights_as_texts_and_pictures(here, capsys):
    assert train() == 0
    assert run("inspect", "m.model", "--export", "w.txt", "--plot", "w.svg") == 0
    rows = [line.split("\t") for line in (here / "w.txt").read_text().splitlines()]
    model = load("m.model")
    assert len(rows) == np.count_nonzero(model.coef_)
    node, word, weight = rows[0]
    column = model.notes["bag"]["words"].index(word)
    row = model.coef_[model.nodes_.tolist().index(node)]
    assert float(weight) == pytest.approx(row[column])
    assert "rec.autos: " in (here / "w.svg").read_text()
    capsys.readouterr()
    assert run("inspect", "m.model", "--json", "--label", "sci.med") == 0
    weights = json.loads(capsys.readouterr().out)["weights"]
    assert {row["group"] for row in weights} == {"sci.med"}


def test_choice_of_C(here, capsys):
    command = ("train", "classify", "train.txt", "-o", "m.model")
    assert run(*command, "--path", "0.01,1", "--dev", "test.txt") == 0
    assert "<- best" in capsys.readouterr().out
    assert load("m.model").C in (0.01, 1.0)
    assert run(*command, "--path", "0.01,1", "--cv", 2) == 0
    captured = capsys.readouterr()
    assert "<- best" in captured.out
    assert "fold 2 of 2" in captured.err


def test_many_labels(here, capsys):
    text = "sci.med,rec.autos\tcar pill\n\tnothing here\nrec.autos\tengine\n" * 8
    (here / "train.txt").write_text(text)
    assert train("--multilabel", "--C", 10) == 0
    (here / "new.txt").write_text("a car pill\nthe nothing here\n")
    assert run("predict", "m.model", "new.txt") == 0
    out = capsys.readouterr().out.split("\n")
    assert out[0] == "rec.autos,sci.med\ta car pill"
    assert out[1] == "\tthe nothing here"
    assert run("evaluate", "m.model", "train.txt") == 0
    assert "exactly right     100.00 %" in capsys.readouterr().out
    assert run("evaluate", "m.model", "train.txt", "--plot", "t.png") == 2
    assert "for one label per line" in capsys.readouterr().err
    assert run("inspect", "m.model") == 0
    assert "sets of nodes" in capsys.readouterr().out


def test_vectors_and_a_taxonomy_file(here, capsys):
    text = "a 1:1 3:0.5\nb 2:1\nc 3:1 # comment\n" * 6
    (here / "train.txt").write_bytes(gzip.compress(text.encode()))
    (here / "tree.txt").write_text("# parent child\ntop a\ntop b\n\nother c\n")
    options = ("--format", "svmlight", "--taxonomy", "tree.txt", "--mode", "flat")
    assert train(*options, "--loss", "tree-distance", "--rescaling", "slack") == 0
    (here / "new.txt").write_text("0 1:1\n? 2:1\n3:1\n")
    assert run("predict", "m.model", "new.txt") == 0
    assert capsys.readouterr().out == "a\nb\nc\n"
    (here / "new.txt").write_text("a 1:1\nb 9:1\n")
    assert run("evaluate", "m.model", "new.txt") == 2
    assert "new.txt, line 2: there is a feature 9" in capsys.readouterr().err
    (here / "new.txt").write_text("a 1:1\nz 2:1\n")
    assert run("evaluate", "m.model", "new.txt") == 2
    assert "'z', which is not in the taxonomy" in capsys.readouterr().err


def test_new_classes_in_a_test_file_count_as_wrong(here, capsys):
    assert train() == 0
    (here / "new.txt").write_text("rec.sport.chess\tbat base\nsci.med\tdoctor pill\n")
    assert run("evaluate", "m.model", "new.txt", "--json", "--plot", "t.png") == 0
    report = json.loads(capsys.readouterr().out)
    assert report["accuracy"] == 0.5
    assert report["tree_height"] == 0.5


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("train classify no.txt -o m", "There is no file no.txt"),
        ("train classify train.txt -o -", "standard output"),
        ("train classify train.txt -o m --path 1,2", "--path needs a way"),
        ("train classify train.txt -o m --path 1,x --cv 2", "not a list of numbers"),
        ("train classify train.txt -o m --cv 2 --C 1", "not both"),
        ("train classify train.txt -o m --cv 2 --dev test.txt", "not with both"),
        ("train classify train.txt -o m --cv 99", "--cv 99 is not possible"),
        ("train classify train.txt -o m --ngrams 0", "--ngrams 0 is not possible"),
        ("train classify train.txt -o m --min-count 999", "no words are left"),
        ("train classify train.txt -o m --format svmlight", "train.txt, line 1"),
        ("train classify train.txt -o m --format svmlight --ngrams 2", "is for texts"),
        ("train classify train.txt -o m --taxonomy tree.txt", "line 1: the label"),
        ("train classify train.txt -o m --taxonomy loop.txt", "loop.txt: .* a cycle"),
        ("train classify train.txt -o m --multilabel --mode flat", "leave it out"),
        ("train classify train.txt -o m --multilabel --loss zero-one", "leave it out"),
        ("train classify bad.txt -o m", "bad.txt, line 2: the label, 'a..b', has"),
        ("train classify bad.txt -o m --separator=", "--separator is empty"),
        ("train classify one.txt -o m", r"one class only \('a'\)"),
        ("train classify wide.svm -o m --format svmlight", "2,147,483,647 features"),
        (
            "train classify wide.svm -o m --format svmlight --multilabel",
            "2,147,483,647 features",
        ),
    ],
)
def test_mistakes(here, capsys, command, words):
    (here / "tree.txt").write_text("a.b\na.c\n")
    (here / "loop.txt").write_text("a b\nb a\n")
    (here / "bad.txt").write_text("a\tx\na..b\ty\n")
    (here / "one.txt").write_text("a\tx\na\ty\n")
    (here / "wide.svm").write_text("a 1:1\nb 2147483647:1\n")
    assert main(command.split()) == 2
    error = capsys.readouterr().err
    assert re.search(words, error), error
    assert error.startswith("maxmargin: error:")
    assert not (here / "m").exists()


# readers -----------------------------------------------------------------------------


def raw(text):
    return RawText(text if isinstance(text, bytes) else text.encode(), "f")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "f has no texts"),
        ("a\tx\nb y\n", "f, line 2: there is no tab"),
        ("a\tx\n\ty\n", "f, line 2: the label is empty"),
        ("a\tx\n\nb\t \n", "f, line 3: there is no text behind the label 'b'"),
        ("a x\nb\n", "f, line 2: there is no text"),
        (b"a\t\xff\n", "line 1: byte 3 .* not valid utf-8"),
    ],
)
def test_bad_texts(text, words):
    with pytest.raises(ValueError, match=words):
        read_texts(raw(text))


def test_texts():
    found = read_texts(raw("\ufeffa b\tx  y\r\n\r\nc\tz\r\n"))
    assert found.labels == ["a b", "c"]
    assert found.texts == ["x  y", "z"]
    assert found.lines == [1, 3]
    with pytest.raises(ValueError, match="f, line 2: some lines have a tab"):
        read_new_texts(raw("a\tx\ny\n"), "\t", lambda label: True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# only\n\n", "f has no vectors"),
        ("a\nb\n", "no features at all"),
        ("a 1:1\n2:1\n", "f, line 2: it begins with the feature '2:1'"),
        ("a 1:1\nb 0:1\n", "f, line 2: the feature '0' is out of range"),
        ("a 2:1 1:1\n", "f, line 1: the feature 1 comes after 2"),
        ("a 1:1 1:1\n", "f, line 1: the feature 1 comes after 1"),
        ("a 1:nan\n", "f, line 1: '1:nan' is not finite"),
        ("a 1:1e999\n", "too large"),
        ("a 1:x\n", "'x' is not a number"),
        ("a 1\n", "'1' is not a feature"),
        ("a 99999999999:1\n", "out of range"),
    ],
)
def test_bad_vectors(text, words):
    with pytest.raises(ValueError, match=words):
        read_svmlight(raw(text))


def test_vectors():
    found = read_svmlight(raw("a/b qid:3 1:1 3:-2e1 # x\n\nc\n"), n_features=4)
    assert found.X.toarray().tolist() == [[1, 0, -20, 0], [0, 0, 0, 0]]
    assert found.labels == ["a/b", "c"]
    assert found.lines == [1, 3]
    assert read_svmlight(raw("1:1\na 2:1\n"), empty_labels=True).labels == ["", "a"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n# x\n", "f has no nodes"),
        ("a b\nc\n", "f, line 2: 1 column, where 2 columns should be"),
        ("a b c\n", "f, line 1: 3 columns, where one or two"),
        ("a b\na b\n", "f, line 2: it repeats line 1"),
        ("a\tb\na\t\n", "f, line 2"),
        ("a a\n", "f: 'a' is its own parent"),
        ("a.b\na..c\n", "f, line 2: the path, 'a..c', has an empty name"),
    ],
)
def test_bad_taxonomy_files(text, words):
    with pytest.raises(ValueError, match=words):
        read_taxonomy(raw(text))


def test_taxonomy_files():
    assert read_taxonomy(raw("a/b\na/c\n"), "/") == Taxonomy.from_paths(
        ["a/b", "a/c"], "/"
    )
    edges = read_taxonomy(raw("my root\tthe child\n# x\nmy root\tother\n"))
    assert edges.ancestors("the child") == ["my root", "the child"]


# words -------------------------------------------------------------------------------


def test_bag_of_words():
    bag = BagOfWords(ngrams=2, weighting="count").fit(["New York, new", "york"])
    assert bag.words == ["new", "new york", "york", "york new"]
    rows = bag.transform(["new NEW york", "", "other"]).toarray()
    np.testing.assert_allclose(rows[0], np.array([2, 1, 1, 0]) / np.sqrt(6))
    assert not rows[1:].any()
    again = BagOfWords.from_state(bag.state())
    np.testing.assert_array_equal(again.transform(["new"]).toarray(), [[1, 0, 0, 0]])
    tfidf = BagOfWords().fit(["a b", "a c"]).transform(["a b"]).toarray()[0]
    ratio = 1.0 / (1.0 + np.log(3 / 2))
    assert tfidf[0] / tfidf[1] == pytest.approx(ratio)
    with pytest.raises(ValueError, match="weighting='x'"):
        BagOfWords(weighting="x")
    with pytest.raises(ValueError, match="min_count=True"):
        BagOfWords(min_count=True)
    with pytest.raises(ValueError, match="do not fit together"):
        BagOfWords.from_state({**bag.state(), "rarity": [1.0]})


# pictures ----------------------------------------------------------------------------


def texts_of(figure):
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg")
    return [t.get_text() for ax in figure.axes for t in ax.texts]


def test_tree_picture():
    t = Taxonomy.from_paths(list(WORDS))
    truth = ["rec.autos", "rec.autos", "rec.sport.hockey", "sci.med"]
    found = ["rec.autos", "sci.med", "rec.sport.baseball", "sci.med"]
    shown = texts_of(plot_taxonomy_errors(t, truth, found))
    assert "rec  33%" in shown
    assert "autos  50%" in shown
    assert "hockey  100%" in shown
    assert "sci  0%" in shown
    assert not any("baseball" in text for text in shown)  # no sample
    assert plot_taxonomy_confusion(t, truth, found).axes
    with pytest.raises(ValueError, match="2 true classes and 1 predictions"):
        plot_taxonomy_errors(t, truth[:2], found[:1])


def test_large_trees_are_cut():
    t = Taxonomy.from_paths([f"{a}.{b}" for a in range(30) for b in range(10)])
    truth = t.leaves
    shown = texts_of(plot_taxonomy_errors(t, truth, truth[::-1]))
    assert len(shown) == 30
    assert (
        plot_taxonomy_confusion(t, truth, truth[::-1]).axes[0].get_yticks().size == 60
    )
