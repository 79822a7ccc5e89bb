"""Treebanks in files, and the command ``depend``."""

import json
import random
import re

import pytest
from mutations import disguise, mutate

from maxmargin.cli.main import main
from maxmargin.files import RawText, read_dependencies, write_dependencies

TREEBANK = """# text = dogs don't bark
1\tdogs\tdog\tNOUN\tNNS\t_\t4\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t4\taux\t_\tA=b
3\tn't\tnot\tPART\tRB\t_\t4\tadvmod\t_\t_
4\tbark\tbark\tVERB\tVB\t_\t0\troot\t_\t_
4.1\tx\t_\t_\t_\t_\t_\t_\t_\t_

1\tcats\tcat\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tsee\tsee\tVERB\tVBP\t_\t0\troot\t_\t_
3\tdogs\tdog\tNOUN\tNNS\t_\t2\tobj\t_\t_

"""
Y = [
    [(4, "nsubj"), (4, "aux"), (4, "advmod"), (0, "root")],
    [(2, "nsubj"), (0, "root"), (2, "obj")],
]


def raw(text: str) -> RawText:
    return RawText(text.encode(), "bank")


@pytest.fixture
def treebank(tmp_path):
    path = tmp_path / "bank.conllu"
    path.write_text(TREEBANK)
    return path


def test_reading(treebank):
    X, y = read_dependencies(treebank)
    assert X[1] == [("cats", "NNS"), ("see", "VBP"), ("dogs", "NNS")]
    assert y == Y
    assert read_dependencies(treebank, "UPOS")[0][1][0] == ("cats", "NOUN")
    with pytest.raises(ValueError, match="tags='LEMMA' is not known"):
        read_dependencies(treebank, "LEMMA")


def test_conll_x_without_fine_tags():
    rows = "1\ta\t_\tN\t_\t_\t2\tx\t_\t_\n2\tb\t_\tV\t_\t_\t0\ty\t_\t_\n"
    assert read_dependencies(raw(rows)) == (
        [[("a", "N"), ("b", "V")]],
        [[(2, "x"), (0, "y")]],
    )


def test_heads_and_labels_that_are_not_there():
    rows = "1\ta\t_\tN\t_\t_\t_\t_\t_\t_\n2\tb\t_\tV\t_\t_\t0\t_\t_\t_\n"
    assert read_dependencies(raw(rows))[1] == [[None, 0]]


def test_copies_keep_all_else(treebank, tmp_path):
    X, y = read_dependencies(treebank)
    other = [[(h, label.upper()) for h, label in row] for row in y]
    write_dependencies(tmp_path / "new.conllu", X, other, treebank)
    text = (tmp_path / "new.conllu").read_text()
    assert text.lower() == TREEBANK.lower()
    assert "\t4\tNSUBJ\t" in text
    write_dependencies(
        tmp_path / "b.conllu", X, y, treebank, misc=[["P=1"] * 4, ["P=2"] * 3]
    )
    assert "\tA=b|P=1\n" in (tmp_path / "b.conllu").read_text()
    write_dependencies(tmp_path / "c.conllu", X, y)
    assert read_dependencies(tmp_path / "c.conllu") == (X, y)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\t4\tnsubj", "\tx\tnsubj", "bank, line 2: the head 'x' is no number"),
        (
            "\t4\tnsubj",
            "\t5\tnsubj",
            "bank, line 2: the head is 5, but the sentence has 4",
        ),
        (
            "\t0\troot\t_\t_\n4.1",
            "\t1\troot\t_\t_\n4.1",
            "bank, line 2: no word has the root",
        ),
        ("2\tobj", "0\tobj", "bank, line 9: the words 2 and 3 both have the root"),
        ("1\tcats", "7\tcats", "bank, line 9: the ID"),
    ],
)
def test_damaged_treebanks(old, new, message):
    assert old in TREEBANK
    with pytest.raises(ValueError, match=message):
        read_dependencies(raw(TREEBANK.replace(old, new, 1)))


def test_files_damaged_at_random_are_read_or_refused():
    rng, said = random.Random(0), []
    for _ in range(300):
        data = TREEBANK.encode()
        for _ in range(rng.choice([1, 1, 2, 4])):
            data = mutate(data, rng)
        try:
            read_dependencies(RawText(disguise(data, rng), "bank"))
        except ValueError as error:
            said.append(str(error))
    places = re.compile(r"bank(, line \d+:|:| (is|has|cannot) )")
    assert [text for text in said if not places.match(text)] == []
    assert len(said) > 100


def test_the_command(treebank, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model = ["d.model"]
    assert main(["train", "depend", str(treebank), "--C", "1", "-o", *model]) == 0
    assert main(["predict", *model, str(treebank), "-o", "out.conllu"]) == 0
    assert (tmp_path / "out.conllu").read_text() == TREEBANK
    assert (
        main(["predict", *model, str(treebank), "-o", "p.conllu", "--marginals"]) == 0
    )
    assert "|Prob=0." in (tmp_path / "p.conllu").read_text()
    assert (
        main(["predict", *model, str(treebank), "-o", "k.conllu", "--k-best", "2"]) == 0
    )
    assert "# 2 " in (tmp_path / "k.conllu").read_text()
    assert main(["predict", *model, str(treebank), "-o", "a.svg"]) == 0
    assert (tmp_path / "a.svg").read_text().count("<svg") == 3
    assert main(["predict", *model, str(treebank), "-o", "a.jsonl"]) == 0
    first = json.loads((tmp_path / "a.jsonl").read_text().splitlines()[0])
    assert first["heads"] == [4, 4, 4, 0]
    assert first["labels"][0] == "nsubj"
    assert main(["predict", *model, str(treebank), "-o", "a.csv"]) == 0
    assert "dogs,NNS,4,nsubj" in (tmp_path / "a.csv").read_text()
    capsys.readouterr()
    assert main(["evaluate", *model, str(treebank)]) == 0
    assert "100.00%" in capsys.readouterr().out
    assert main(["inspect", *model]) == 0
    assert "nsubj" in capsys.readouterr().out
    (tmp_path / "lines.txt").write_text("cats_NNS see_VBP dogs_NNS\n")
    assert main(["predict", *model, "lines.txt"]) == 0
    assert "1\tcats\t_\t_\tNNS\t_\t2\tnsubj\t_\t_" in capsys.readouterr().out
    (tmp_path / "lines.txt").write_text("cats see\n")
    assert main(["predict", *model, "lines.txt"]) != 0
    assert "the token 'cats' has no tag" in capsys.readouterr().err


def test_trees_without_a_restriction(treebank, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arguments = ["--C", "1", "--not-projective", "--tags", "UPOS", "-o", "d.model"]
    assert main(["train", "depend", str(treebank), *arguments]) == 0
    assert main(["evaluate", "d.model", str(treebank), "--plot", "worst.png"]) == 0
    assert (tmp_path / "worst.png").stat().st_size > 1000
    assert main(["inspect", "d.model"]) == 0
    assert "any trees" in capsys.readouterr().out
