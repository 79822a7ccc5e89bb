"""JSON lines and CoNLL-2012, and the task ``cluster`` that reads and writes them."""

import gzip
import json

import pytest

from maxmargin.cli.main import main
from maxmargin.files import (
    read_conll2012,
    read_mentions,
    write_conll2012,
    write_mentions,
)

CONLL = """#begin document (emma); part 000
emma 0 0 Emma NNP * (1)
emma 0 1 saw VBD * -
emma 0 2 her PRP$ * (1)|(2
emma 0 3 friend NN * 2)

emma 0 0 He PRP * (2)
#end document
#begin document (emma); part 001
emma 1 0 Nobody NN * -

#end document
"""
EMMA = {
    "doc": "emma",
    "sentences": [["Emma", "saw", "her", "friend"], ["He", "greeted", "Emma"]],
    "mentions": [
        [0, 0, 0, 1, "PER", "PROP"],
        [0, 2, 2, 1, "PER", "PRON"],
        [0, 2, 3, 2, "PER", "NOM"],
        [1, 0, 0, 2, "PER", "PRON"],
        [1, 2, 2, 1, "PER", "PROP"],
    ],
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.jsonl").write_text(f"{json.dumps(EMMA)}\n\n{json.dumps(EMMA)}\n")
    (tmp_path / "train.conll").write_text(CONLL)
    return tmp_path


def test_json_lines_come_back(here):
    found = read_mentions("train.jsonl")
    assert found.y == [[0, 0, 1, 1, 0]] * 2
    assert found.X[0].mentions[1] == (0, 2, 2, "PER", "PRON")
    write_mentions("again.jsonl.gz", found.X, found.y)
    again = read_mentions("again.jsonl.gz")
    assert (again.X, again.y) == (found.X, found.y)
    packed = (here / "again.jsonl.gz").read_bytes()
    assert gzip.decompress(packed).count(b"\n") == 2
    write_mentions("new.jsonl", found.X)
    assert read_mentions("new.jsonl", truth=False).X == found.X
    with pytest.raises(
        ValueError, match=r"line 1 \(document emma\): mention 0 has no cl"
    ):
        read_mentions("new.jsonl")


def test_clusters_may_be_groups_of_mentions(here):
    value = EMMA | {"clusters": [[0, 1, 4], [2]]}
    (here / "groups.jsonl").write_text(json.dumps(value))
    assert read_mentions("groups.jsonl").y == [[0, 0, 1, 2, 0]]
    value["clusters"] = [[0, 9]]
    (here / "groups.jsonl").write_text(f"\n{json.dumps(value)}")
    with pytest.raises(
        ValueError, match=r"line 2 \(document emma\): cluster 0 names the mention 9"
    ):
        read_mentions("groups.jsonl")


def test_conll_comes_back(here):
    found = read_conll2012("train.conll")
    assert [x.name for x in found.X] == ["emma; part 000", "emma; part 001"]
    places = [m[:3] for m in found.X[0].mentions]
    assert places == [(0, 0, 0), (0, 2, 3), (0, 2, 2), (1, 0, 0)]
    assert found.y == [[0, 1, 0, 1], []]
    write_conll2012("again.conll", found.X, found.y)
    again = read_conll2012("again.conll")
    assert (again.X, again.y) == (found.X, found.y)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("(2\n", "(x\n", "line 4: '.1.|.x' does not say"),
        ("2)\n", "-\n", "line 6: the sentence ends before the mention .2 is closed"),
        ("* (2)", "* 2)", "line 7: 2. closes a mention that was not opened"),
        ("#begin document (emma); part 000\n", "", "line 1: there is no #begin"),
        ("#end document\n#b", "#b", "line 8: the last document has no #end"),
        ("emma 0 1 saw VBD * -", "saw -", "line 3 has 2 columns"),
    ],
)
def test_malformed_conll_is_refused(here, old, new, sentence):
    (here / "bad.conll").write_text(CONLL.replace(old, new, 1))
    with pytest.raises(ValueError, match=sentence):
        read_conll2012("bad.conll")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "line 1 is not JSON"),
        ("[]", "line 1 is not a JSON object"),
        ("", "has no documents"),
        ("[" * 100_000, "line 1 is not JSON"),
        ('{"sentences": [["a"]], "mentions": [[0, 0, 1, 0]]}', "1 words in sentence 0"),
        ('{"sentences": [["a"]], "mentions": 3}', "its mentions are of type int"),
        ('{"sentences": [["a"]], "mentions": [[0, 0, 0, 0, 7]]}', "has type 7"),
        ('{"sentences": [[1]], "mentions": []}', "sentence 0 is not a list of words"),
        (
            '{"sentences": [["a"]], "mentions": [], "clusters": {}}',
            "not a list of lists",
        ),
    ],
)
def test_malformed_json_is_refused(here, text, sentence):
    (here / "bad.jsonl").write_text(text)
    with pytest.raises(ValueError, match=sentence):
        read_mentions("bad.jsonl")


def test_the_task_from_file_to_file(here, capsys):
    train = ["train", "cluster", "train.jsonl", "--C", "10", "--r", "0.5", "-o", "m"]
    assert main(train) == 0
    assert "2 documents, 10 mentions" in capsys.readouterr().out
    assert main(["predict", "m", "train.jsonl", "-o", "out.jsonl"]) == 0
    assert read_mentions("out.jsonl").y == read_mentions("train.jsonl").y
    capsys.readouterr()
    assert main(["evaluate", "m", "train.jsonl", "--json", "--plot", "worst.png"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["conll"] == found["muc"]["f1"] == 1.0
    assert (here / "worst.png").stat().st_size > 1000
    assert main(["inspect", "m", "--top", "5"]) == 0
    shown = capsys.readouterr().out
    assert "forest, r=0.5, C=10" in shown
    assert "form1=" in shown


def test_the_task_reads_conll(here):
    train = ["train", "cluster", "train.conll", "--format", "conll2012", "-o", "m"]
    assert main([*train, "--method", "correlation", "--quiet"]) == 0
    assert main(["predict", "m", "train.conll", "-o", "out.conll"]) == 0
    assert read_conll2012("out.conll").X == read_conll2012("train.conll").X


def test_litbank_is_read(data_home):
    found = read_mentions(data_home / "litbank_coref" / "litbank_coref.jsonl.gz")
    assert len(found.X) == 100
    assert sum(len(x.mentions) for x in found.X) == 29103
    assert sum(len(set(y)) for y in found.y) == 7927
