"""Files without a truth are not evaluated, and a truth must not contradict itself."""

import json

import pytest

from maxmargin import LinkClusterer
from maxmargin.cli.main import main
from maxmargin.files import read_conll2012, read_mentions

TEXTS = ["good film", "a good day", "so good", "bad film", "a bad day", "so bad"]
LABELS = ["plus"] * 3 + ["minus"] * 3


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def train(capsys, *words):
    assert main(["train", *words, "-o", "m", "--quiet"]) == 0
    capsys.readouterr()


def evaluated(capsys, path, code):
    assert main(["evaluate", "m", path]) == code
    out, err = capsys.readouterr()
    assert code == 0 or not out
    return err


@pytest.mark.parametrize("task", ["classify", "multilabel"])
@pytest.mark.parametrize("between", [" ", "\t"])
def test_texts_without_labels(here, capsys, task, between):
    rows = [f"{z}{between}{x}" for z, x in zip(LABELS, TEXTS, strict=True)]
    (here / "t.txt").write_text("\n".join(rows))
    train(capsys, task, "t.txt")
    assert evaluated(capsys, "t.txt", 0) == ""
    (here / "new.txt").write_text("\n".join(TEXTS))
    err = evaluated(capsys, "new.txt", 2)
    if between == " ":
        assert "new.txt: 6 of 6 labels are not known to the model" in err
        assert "'good' (new.txt, line 1)" in err
    (here / "one.txt").write_text("\n".join([*rows, f"other{between}new thing"]))
    if task == "classify":
        err = evaluated(capsys, "one.txt", 0)
        assert "1 of 7 labels are not known to the model, such as 'other'" in err
    else:
        assert "the label 'other'" in evaluated(capsys, "one.txt", 2)


FILES = {  # what to train on, and another file of the same shape
    "tag": ("the DT D\ndog NN N\n\na DT D\ncat NN N\n", "the DT x1\ndog NN x2\n"),
    "kernel": ("1,2,a\n2,1,b\n1,3,a\n3,1,b\n", "1,2,7\n2,1,8\n"),
    "classify": ("a.b good\na.c bad\na.b so good\na.c so bad\n", "good day\nso bad\n"),
    "multilabel": ("a,b good\nc bad\na so good\nc so bad\n", "good day\nso bad\n"),
}


@pytest.mark.parametrize("task", FILES)
def test_files_to_choose_on_are_checked_before_training(here, capsys, task):
    names = ("t.csv", "d.csv") if task == "kernel" else ("t.txt", "d.txt")
    for name, text in zip(names, FILES[task], strict=True):
        (here / name).write_text(text)
    words = [task, names[0], *(["--features", "words"] if task == "tag" else [])]
    assert main(["train", *words, "--dev", names[1], "-o", "m"]) == 2
    out, err = capsys.readouterr()
    assert not out
    assert f"{names[1]}: 2 of 2 labels are not known to the model" in err
    assert not (here / "m").exists()
    train(capsys, *words, "--dev", names[0])


def test_files_to_choose_on_may_have_some_other_labels(here, capsys):
    (here / "t.txt").write_text("a.b good\na.c bad\na.b so good\na.c so bad\n")
    (here / "d.txt").write_text("a.b good\na so\na.c bad\na.d good\n")
    assert main(["train", "classify", "t.txt", "--dev", "d.txt", "-o", "m"]) == 0
    err = capsys.readouterr().err
    assert "d.txt: 1 of 4 labels are not known to the model, such as 'a.d'" in err


def test_grades_to_choose_on_are_checked(here, capsys):
    rows = [f"{k % 2} qid:{k // 4} 1:{k % 2}.5 2:{k % 3}" for k in range(12)]
    (here / "t.txt").write_text("\n".join(rows))
    (here / "d.txt").write_text("\n".join("0" + row[1:] for row in rows))
    assert main(["train", "rank", "t.txt", "--dev", "d.txt", "-o", "m"]) == 2
    assert "d.txt has no relevant document" in capsys.readouterr().err


def test_tags_without_labels(here, capsys):
    (here / "t.txt").write_text("the DT D\ndog NN N\n\na DT D\ncat NN N\n")
    train(capsys, "tag", "t.txt", "--features", "words")
    (here / "new.txt").write_text("the DT x1\ndog NN x2\n")  # another third column
    err = evaluated(capsys, "new.txt", 2)
    assert "new.txt: 2 of 2 labels are not known to the model, such as 'x1'" in err
    assert "line 1" in err


def test_vectors_without_labels(here, capsys):
    (here / "t.csv").write_text("1,2,a\n2,1,b\n1,3,a\n3,1,b\n")
    train(capsys, "kernel", "t.csv")
    (here / "new.csv").write_text("1,2,7\n2,1,8\n")
    assert "2 of 2 labels are not known" in evaluated(capsys, "new.csv", 2)


def test_documents_without_grades(here, capsys):
    rows = [f"{k % 2} qid:{k // 4} 1:{k % 2}.5 2:{k % 3}" for k in range(12)]
    (here / "t.txt").write_text("\n".join(rows))
    train(capsys, "rank", "t.txt")
    (here / "new.txt").write_text("\n".join("0" + row[1:] for row in rows))
    assert "has no relevant document" in evaluated(capsys, "new.txt", 2)


def test_graphs_without_labels(here, capsys):
    rows = [
        {"nodes": [[k % 2, 1.0], [1.0, k % 3]], "edges": [[0, 1]], "labels": ["a", "b"]}
        for k in range(4)
    ]
    (here / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    train(capsys, "graph", "t.jsonl")
    strange = [{**row, "labels": ["x", "y"]} for row in rows]
    (here / "new.jsonl").write_text("\n".join(map(json.dumps, strange)))
    assert "8 of 8 labels are not known" in evaluated(capsys, "new.jsonl", 2)


# a span has one cluster ------------------------------------------------------------------

DOCUMENT = {
    "doc": "emma",
    "sentences": [["Emma", "saw", "her", "friend"]],
    "mentions": [[0, 0, 0, 1], [0, 2, 3, 2], [0, 2, 3, 1]],
}
CONLL = """#begin document (emma); part 000
emma 0 0 Emma - (1)
emma 0 1 saw - -
emma 0 2 her - (2|(1
emma 0 3 friend - 1)|2)

#end document
"""


def test_spans_in_two_clusters_of_files(here):
    (here / "x.jsonl").write_text("\n" + json.dumps(DOCUMENT))
    (here / "x.conll").write_text(CONLL)
    with pytest.raises(
        ValueError, match=r"x.jsonl, line 2 .*\[0, 2, 3\] \('her friend'\)"
    ):
        read_mentions("x.jsonl")
    with pytest.raises(ValueError, match=r"x.conll, line 5: .*\[0, 2, 3\] .*1 and 2"):
        read_conll2012("x.conll")
    assert len(read_mentions("x.jsonl", truth=False).X[0].mentions) == 3
    groups = {**DOCUMENT, "clusters": [[0, 1], [2]]}
    (here / "x.jsonl").write_text(json.dumps(groups))
    with pytest.raises(ValueError, match="is in two clusters"):
        read_mentions("x.jsonl")


def test_spans_in_two_clusters_in_python():
    with pytest.raises(ValueError, match=r"y\[0\]: the span \[0, 2, 3\]"):
        LinkClusterer().fit([DOCUMENT], [[1, 2, 1]])
    model = LinkClusterer().fit([DOCUMENT], [[1, 2, 2]])
    with pytest.raises(ValueError, match=r"y\[0\]: the span \[0, 2, 3\]"):
        model.evaluate([DOCUMENT], [[0, 1, 2]])


# files to choose C on, and labels that mean nothing ---------------------------------------

DEV = [
    ("classify", "t.txt", "plus\tgood\nminus\tbad\n", "x\tgood\ny\tbad\n"),
    ("multilabel", "t.txt", "plus\tgood\nminus\tbad\n", "\tgood\n\tbad\n"),
    ("kernel", "t.csv", "1,2,a\n2,1,b\n1,3,a\n3,1,b\n", "1,2,7\n2,1,8\n"),
    ("tag", "t.txt", "the D\ndog N\n\na D\ncat N\n", "the x\ndog y\n"),
    ("rank", "t.txt", "1 qid:1 1:1\n0 qid:1 1:2\n", "0 qid:1 1:1\n0 qid:1 1:2\n"),
]


@pytest.mark.parametrize(("task", "name", "train_text", "dev_text"), DEV)
def test_nothing_is_chosen_by_a_file_without_truth(
    here, capsys, task, name, train_text, dev_text
):
    (here / name).write_text(train_text)
    (here / f"dev-{name}").write_text(dev_text)
    words = ["train", task, name, "-o", "m", "--path", "0.1,1", "--dev", f"dev-{name}"]
    more = ["--features", "words"] if task == "tag" else []
    assert main([*words, *more]) == 2
    err = capsys.readouterr().err
    assert "nothing to compare with" in err
    assert "pass " not in err  # before any training
    (here / f"dev-{name}").write_text(train_text)
    assert main([*words, *more, "--quiet"]) == 0


def test_sets_that_are_all_empty(here, capsys):
    rows = [f"{z}\t{x}" for z, x in zip(LABELS, TEXTS, strict=True)]
    (here / "t.txt").write_text("\n".join(rows))
    train(capsys, "multilabel", "t.txt")
    (here / "new.txt").write_text("\n".join(f"\t{x}" for x in TEXTS))
    assert "has no known label" in evaluated(capsys, "new.txt", 2)
    (here / "some.txt").write_text("\n".join([*rows, "\tgood"]))
    assert evaluated(capsys, "some.txt", 0) == ""


def sequences(values):
    sites = ["TTGACATTACGTAGC", "ACGTCCATGGATCCA"]
    return "".join(f">s{k} kind={v}\n{sites[k % 2]}\n" for k, v in enumerate(values))


def test_sequences_that_say_what_training_never_saw(here, capsys):
    (here / "t.fa").write_text(sequences(["bound", "free"] * 4))
    train(capsys, "motif", "t.fa", "--label", "kind", "--positive", "bound")
    assert evaluated(capsys, "t.fa", 0) == ""
    (here / "new.fa").write_text(sequences(["Bound", "Free"]))
    err = evaluated(capsys, "new.fa", 2)
    assert "2 of 2 sequences say what none of the training file said" in err
    assert "'kind=Bound' (line 1); it had 'bound', 'free'" in err
    (here / "more.fa").write_text(sequences(["bound", "free", "bound", "gene"]))
    assert "such as 'kind=gene' (line 7). They count" in evaluated(capsys, "more.fa", 0)
    (here / "bare.fa").write_text(">s\nTTGACATTACGTAGC\n")
    err = evaluated(capsys, "bare.fa", 2)
    assert (
        "'kind=VALUE': write what it is after its name." in err
    )  # no options of train


def test_a_key_that_stands_twice_has_no_value(here):
    text = json.dumps(DOCUMENT)
    (here / "x.jsonl").write_text(text[:-1] + ', "mentions": []}')
    with pytest.raises(ValueError, match=r"line 1 .*'mentions' stands twice"):
        read_mentions("x.jsonl")
