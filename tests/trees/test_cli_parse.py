"""The task parse on the command line: treebanks to models to trees; what it says."""

import gzip
import io
import json
import sys

import numpy as np
import pytest

from maxmargin import Tree, load
from maxmargin.cli.main import main
from maxmargin.files import read_trees, write_trees

NOUNS, VERBS = ["cat", "dog", "man"], ["saw", "met"]


def treebank(n, seed=0):
    """Small sentences; prepositional phrases belong to nouns, or to verbs with dogs."""
    rng = np.random.default_rng(seed)

    def noun_phrase(noun):
        return f"(NP-SBJ (DT {rng.choice(['the', 'a'])}) (NN {noun}))"

    out = []
    for _ in range(n):
        noun = rng.choice(NOUNS)
        inner = noun_phrase(noun)
        if rng.random() < 0.5:
            with_ = f"(PP (IN with) {noun_phrase(rng.choice(NOUNS))})"
            inner = f"{inner} {with_}" if noun == "dog" else f"(NP {inner} {with_})"
        verb = f"(VP (VBD {rng.choice(VERBS)}) {inner})"
        out.append(f"( (S {noun_phrase(rng.choice(NOUNS))} {verb} (. .)) )")
    return out


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.mrg").write_text("\n".join(treebank(25)) + "\n")
    (tmp_path / "test.mrg").write_text("\n".join(treebank(10, seed=1)) + "\n")
    (tmp_path / "new.txt").write_text("the_DT cat_NN saw_VBD a_DT dog_NN ._.\n")
    return tmp_path


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Model files that tests may read: by margins on tags, a PCFG on words."""
    folder = tmp_path_factory.mktemp("trained")
    train = folder / "train.mrg"
    train.write_text("\n".join(treebank(25)) + "\n")
    margin, pcfg = str(folder / "m.model"), str(folder / "pcfg.model")
    assert main(["train", "parse", str(train), "-o", margin, "--quiet"]) == 0
    command = ["train", "parse", str(train), "--method", "pcfg", "--input", "words"]
    assert main([*command, "-o", pcfg, "--quiet"]) == 0
    return {"margin": margin, "pcfg": pcfg}


def failure(capsys, *command):
    """What an impossible command says."""
    assert main(list(command)) == 2
    said = capsys.readouterr().err
    assert said.startswith("maxmargin: error: ")
    assert said.count("\n") == 1
    return said


def test_train_predict_evaluate(here, capsys):
    command = ["train", "parse", "train.mrg", "-o", "m.model", "--C", "5"]
    assert main([*command, "--loss", "f1", "--plot", "c.png"]) == 0
    out = capsys.readouterr().out
    assert "Trained on train.mrg: 25 trees" in out
    assert "(proved)" in out
    assert "Saved to m.model" in out
    assert (here / "c.png").exists()

    assert main(["predict", "m.model", "new.txt", "-o", "out.mrg"]) == 0
    (tree,) = read_trees("out.mrg")
    assert tree.words() == ["the", "cat", "saw", "a", "dog", "."]
    assert [tag for _, tag in tree.tags()] == ["DT", "NN", "VBD", "DT", "NN", "."]
    assert ("VP", 2, 5) in tree.spans()

    assert main(["evaluate", "m.model", "test.mrg", "--plot", "worst.png"]) == 0
    out = capsys.readouterr().out
    assert "bracket F1 %" in out
    assert (here / "worst.png").exists()
    assert main(["evaluate", "m.model", "test.mrg", "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["n_sentences"] == 10
    assert 0.5 < numbers["f1"] <= 1.0
    assert numbers["tagging_accuracy"] == 1.0
    assert set(numbers["labels"]) == {"NP", "PP", "S", "VP"}


def test_options_reach_the_parser(here):
    command = ["train", "parse", "train.mrg", "-o", "m.model", "--quiet", "--C", "2"]
    command += ["--direction", "left", "--horizontal", "all", "--parent", "1"]
    command += ["--max-length", "9", "--fallback", "right", "--tol", "0.5"]
    assert main([*command, "--keep-functions", "--root", "TOP"]) == 0
    model = load("m.model")
    assert (model.C, model.direction, model.horizontal) == (2.0, "left", None)
    assert (model.parent, model.max_length, model.fallback) == (1, 9, "right")
    assert model.notes["root"] == "TOP"
    labels = {name.partition("^")[0] for name in model.grammar_.symbols}
    assert {"TOP", "NP-SBJ"} <= labels
    assert main(["predict", "m.model", "new.txt", "-o", "out.mrg"]) == 0
    assert (here / "out.mrg").read_text().startswith("(TOP (S (NP-SBJ (DT the)")


def test_sentences_that_are_too_long_are_counted(here, capsys):
    command = ["train", "parse", "train.mrg", "--method", "pcfg", "-o", "m.model"]
    assert main([*command, "--max-length", "6"]) == 0
    n = sum(len(tree.words()) > 6 for tree in read_trees("train.mrg"))
    assert f"({n} trees left out)" in capsys.readouterr().out


def test_blank_lines_and_standard_streams(here, trained, capsys, monkeypatch):
    text = b"the cat met a dog .\n\nthe ( saw a zebra .\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(text))))
    assert main(["predict", trained["pcfg"], "-"]) == 0
    lines = capsys.readouterr().out.split("\n")
    assert lines[1] == "(())"
    assert Tree.parse(lines[0]).words() == ["the", "cat", "met", "a", "dog", "."]
    assert Tree.parse(lines[2]).words() == ["the", "-LRB-", "saw", "a", "zebra", "."]


def test_tags_alone_and_k_best(here, trained, capsys):
    (here / "tags.txt").write_text("DT NN VBD DT NN IN DT NN .\n")
    assert main(["predict", trained["margin"], "tags.txt", "--k-best", "2"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("# 1 ")
    trees = read_trees(out.split("\n"))
    assert len(trees) == 2
    assert trees[0] != trees[1]
    assert trees[0].words() == ["DT", "NN", "VBD", "DT", "NN", "IN", "DT", "NN", "."]
    scores = [float(z.split()[2]) for z in out.split("\n") if z.startswith("#")]
    assert scores[0] >= scores[1]


def test_marginals_are_comments_behind_trees(here, trained, capsys):
    for kind, text in (
        ("margin", "the_DT cat_NN saw_VBD a_DT dog_NN ._.\n\n"),
        ("pcfg", "the cat met a dog .\n\nthe dog .\n"),
    ):
        (here / "new.txt").write_text(text)
        assert main(["predict", trained[kind], "new.txt", "--marginals"]) == 0
        out = capsys.readouterr().out
        assert main(["predict", trained[kind], "new.txt"]) == 0
        plain = capsys.readouterr().out
        lines = out.splitlines()
        assert [z for z in lines if not z.startswith("#")] == plain.splitlines()
        trees = read_trees([z for z in lines if z != "(())"])
        first = lines[1 : 1 + len(trees[0].spans())]
        found = {(*z.split()[2:],): float(z.split()[1]) for z in first}
        assert set(found) == {(a, str(b), str(c)) for a, b, c in trees[0].spans()}
        assert all(0 < chance <= 1 for chance in found.values())
        assert found["S", "0", str(len(trees[0].words()))] > 0.99


def test_C_is_chosen_and_said_in_json(here, capsys):
    command = ["train", "parse", "train.mrg", "-o", "m.model", "--json", "--quiet"]
    assert main([*command, "--path", "0.01,1", "--cv", "2"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["C"] for row in found["choice"]] == [0.01, 1.0]
    assert all("bracket F1" in row["measures"] for row in found["choice"])
    assert found["C"] == load("m.model").C
    assert main([*command, "--path", "0.01,1", "--dev", "test.mrg"]) == 0
    found = json.loads(capsys.readouterr().out)
    best = max(row["measures"]["bracket F1"] for row in found["choice"])
    assert found["dev"]["f1"] == best
    assert main(["inspect", "m.model", "--json", "--top", "2"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert len(shown["weights"]) == 4
    assert shown["settings"]["method"] == "max-margin"
    assert shown["certificate"]["primal"] >= shown["certificate"]["dual"]


def test_inspection(here, trained, capsys):
    for kind in ("margin", "pcfg"):
        command = ["inspect", trained[kind], "--top", "3", "--export", "g.txt"]
        assert main(command) == 0
        out = capsys.readouterr().out
        assert "trained on  train.mrg" in out
        assert "Strongest rules" in out
        rows = [line.split("\t") for line in (here / "g.txt").read_text().splitlines()]
        weights = [float(weight) for weight, _ in rows]
        assert weights == sorted(weights, reverse=True)
        assert "VP -> VBD NP" in [rule for _, rule in rows]
        assert (max(weights) <= 0) == (kind == "pcfg")
    assert main(["inspect", trained["margin"], "--top", "0"]) == 0
    assert "Strongest" not in capsys.readouterr().out


def test_bad_files(here, trained, capsys):
    (here / "bad.mrg").write_text("(S (A b))\n(S (A b)\n")
    said = failure(capsys, "train", "parse", "bad.mrg", "-o", "m.model")
    assert "bad.mrg, line 2" in said
    (here / "empty.mrg").write_text("\n")
    assert "no trees" in failure(capsys, "train", "parse", "empty.mrg", "-o", "m.model")
    assert not (here / "m.model").exists()
    assert "line 2" in failure(capsys, "evaluate", trained["margin"], "bad.mrg")
    (here / "words.txt").write_text("the_DT cat_NN\nthe_DT cat\n")
    said = failure(capsys, "predict", trained["margin"], "words.txt")
    assert "words.txt, line 2: the token 'cat' has no tag" in said
    (here / "blank.txt").write_text("\n\n")
    assert "no sentence" in failure(capsys, "predict", trained["margin"], "blank.txt")
    assert "There is no file" in failure(capsys, "predict", trained["margin"], "none")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--method", "pcfg", "--C", "1"], "--C belongs to --method max-margin"),
        (["--method", "pcfg", "--max-time", "1"], "--max-time belongs to"),
        (["--method", "pcfg", "--cv", "2"], "--cv belongs to --method max-margin"),
        (["--smoothing", "1"], "--smoothing belongs to --method pcfg"),
        (["--horizontal", "few"], "must be a number, 0 or more, or all"),
        (["--loss", "best"], "invalid choice"),
        (["--C", "-1"], "--C -1"),
        (["--root", "A B"], "cannot be a label"),
        (["--encoding", "none"], "--encoding none is not known"),
        (["--plot", "picture.txt"], "must end in"),
        (["--features", "magic"], "magic"),
    ],
)
def test_bad_options(here, capsys, options, says):
    said = failure(capsys, "train", "parse", "train.mrg", "-o", "m.model", *options)
    assert says in said
    assert not (here / "m.model").exists()


def test_options_of_other_tasks_are_refused(here, trained, capsys):
    for command in (
        ("evaluate", trained["margin"], "test.mrg", "--confusion", "x.png"),
        ("inspect", trained["margin"], "--transitions"),
    ):
        assert "means nothing for a model of the task 'parse'" in failure(
            capsys, *command
        )


def test_a_treebank_is_read_as_the_sentences_of_its_trees(here, trained, capsys):
    gold = read_trees("test.mrg")
    lines = [" ".join(f"{w}_{t}" for w, t in tree.tags()) for tree in gold]
    (here / "sentences.txt").write_text("\n".join(lines) + "\n")
    (here / "words.txt").write_text("\n".join(" ".join(t.words()) for t in gold) + "\n")
    bank = "# the test\n(())\n" + (here / "test.mrg").read_text()
    (here / "bank.mrg").write_text(bank)
    for kind, sentences in (("margin", "sentences.txt"), ("pcfg", "words.txt")):
        assert main(["predict", trained[kind], sentences]) == 0
        expected = capsys.readouterr().out
        assert main(["predict", trained[kind], "bank.mrg"]) == 0
        assert capsys.readouterr().out == "(())\n" + expected
    (here / "cut.mrg").write_text(bank.rstrip()[:-4])
    assert "cut.mrg, line 12" in failure(capsys, "predict", trained["pcfg"], "cut.mrg")
    (here / "said.txt").write_text("( he saw a dog )\n")  # words, two of them brackets
    assert main(["predict", trained["pcfg"], "said.txt"]) == 0
    (said,) = read_trees(capsys.readouterr().out.splitlines())
    assert said.words() == ["-LRB-", "he", "saw", "a", "dog", "-RRB-"]


def test_what_predict_writes_evaluates_perfectly(here, trained, capsys):
    """Evaluating on the parser's own trees: reading and writing lose nothing."""
    gold = read_trees("test.mrg")
    lines = [" ".join(f"{w}_{t}" for w, t in tree.tags()) for tree in gold]
    (here / "sentences.txt").write_text("\n".join(lines) + "\n")
    assert main(["predict", trained["margin"], "sentences.txt", "-o", "out.gz"]) == 0
    write_trees("again.mrg", read_trees("out.gz"), width=60, outer=True)
    assert main(["evaluate", trained["margin"], "again.mrg", "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers["f1"] == numbers["exact_match"] == 1.0
