"""Notes of a model file are believed as little as its weights."""

import json

import pytest

from maxmargin.classes.bag_of_words import BagOfWords
from maxmargin.cli.main import main
from maxmargin.files.model_file import load, save

FILES = {
    "classify": ("t.txt", "plus\tgood day\nminus\tbad day\n"),
    "kernel": ("t.csv", "h,w,kind\n1,2,a\n2,1,b\n1,3,a\n3,1,b\n"),
    "tag": ("t.txt", "the D\ndog N\n\na D\ncat N\n"),
}
FORGED = [
    ("classify", "samples", None),
    ("classify", "encoding", 7),
    ("classify", "between", ["x"]),
    ("classify", "bag", {"ngrams": 1}),
    ("classify", "file", {}),
    ("kernel", "columns", 3),
    ("kernel", "columns", {"n": 2, "names": 5, "label": "kind"}),
    ("kernel", "samples", "gone"),
    ("tag", "n_columns", None),
    ("tag", "label_column", 0.5),
    ("tag", "sentences", -1),
]


@pytest.mark.parametrize(("task", "name", "value"), FORGED)
def test_forged_notes_are_a_sentence(tmp_path, monkeypatch, capsys, task, name, value):
    monkeypatch.chdir(tmp_path)
    file, text = FILES[task]
    (tmp_path / file).write_text(text)
    more = ["--features", "words"] if task == "tag" else []
    assert main(["train", task, file, "-o", "m", "--quiet", *more]) == 0
    model = load("m")
    for forged in ({**model.notes, name: value}, _without(model.notes, name)):
        model.notes = forged
        save(model, "forged")
        capsys.readouterr()
        codes = {main(["predict", "forged", file]), main(["inspect", "forged"])}
        err = capsys.readouterr().err
        if json.dumps(forged.get(name)) == json.dumps(value):
            assert 2 in codes
        assert codes <= {0, 2}
        assert "Traceback" not in err


def _without(notes, name):
    return {key: value for key, value in notes.items() if key != name}


def test_runs_longer_than_a_text_take_no_time():
    bag = BagOfWords(ngrams=2**62).fit(["a b", "b c"])
    assert bag.words == ["a", "a b", "b", "b c", "c"]
