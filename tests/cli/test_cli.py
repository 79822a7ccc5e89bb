"""The command line: from files to models to tagged files, and what it says of mistakes."""

import gzip
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from cli_cases import here, refusal, sentences, text_of, train_command, trained  # noqa: F401

import maxmargin
from maxmargin.cli.main import main
from maxmargin.files import data_file, read_columns, write_crfsuite, write_svmhmm
from maxmargin.metrics import span_scores

# ruff: noqa: F811  (what is imported so is a fixture)


def labels_of(path, column=-1):
    return read_columns(path).strings(column)


# from files to files -----------------------------------------------------------------


def test_train_predict_evaluate(here, capsys):
    command = ["train", "tag", "train.txt", "--template", "t.template", "-o", "m.model"]
    assert main([*command, "--scheme", "BIO", "--C", "1", "--plot", "c.png"]) == 0
    out, err = capsys.readouterr()
    assert "40 sentences" in out
    assert "4 labels" in out
    assert "(proved)" in out
    for part in ("reading", "encoding", "training", "saving", "in all"):
        assert part in out
    assert "pass    1" in err  # progress
    assert (here / "c.png").read_bytes().startswith(b"\x89PNG")

    for source in ("test.txt", "new.txt"):  # with and without the label column
        assert main(["predict", "m.model", source, "-o", "out.txt"]) == 0
        text = (here / "out.txt").read_text()
        plain = (here / source).read_text()
        cut = [line.rpartition(" ")[0] for line in text.splitlines()]
        assert cut == plain.splitlines()
        assert labels_of("out.txt") == labels_of("test.txt")

    capsys.readouterr()
    assert main(["evaluate", "m.model", "test.txt"]) == 0
    report = capsys.readouterr().out
    truth = labels_of("test.txt")
    assert report == f"{span_scores(truth, truth)}\n"
    assert "FB1: 100.00" in report
    main(["predict", "m.model", "test.txt", "-o", "out.txt"])
    assert main(["evaluate", "out.txt"]) == 0
    assert capsys.readouterr().out == report
    assert sorted(os.listdir(here)) == sorted(
        [
            "train.txt",
            "test.txt",
            "new.txt",
            "t.template",
            "m.model",
            "c.png",
            "out.txt",
        ]
    )


def test_quiet_is_quiet(here, capsys):
    assert main(train_command()) == 0
    assert capsys.readouterr() == ("", "")


def test_the_model_remembers_how_files_are_written(here):
    rows = [[(w.replace("Cleo", "Chloé"), *r) for w, *r in s] for s in sentences(40)]
    swapped = text_of(rows, (2, 0, 1), "\t").replace("\n\n", "\n\n#c\n")
    (here / "train.txt").write_bytes(swapped.encode("latin-1"))
    options = ["--label-column", "0", "--separator", "\\t", "--encoding", "latin-1"]
    command = ["--template", "t.template", *options, "--comment", "#"]
    assert main(train_command("train.txt", "m.model", *command)) == 0
    notes = maxmargin.load("m.model").notes
    assert notes["task"] == "tag"
    assert (notes["n_columns"], notes["label_column"]) == (3, 0)
    assert (notes["separator"], notes["encoding"]) == ("\t", "latin-1")
    assert notes["comment"] == "#"
    (here / "t.template").unlink()  # the model has it

    assert main(["predict", "m.model", "train.txt", "-o", "out.txt"]) == 0
    data = (here / "out.txt").read_bytes().decode("latin-1")
    assert "Chloé" in data
    assert "#c\n" in data
    for line in data.splitlines():
        cells = line.split("\t")
        assert len(cells) in (1, 4)
        assert len(cells) == 1 or cells[0] == cells[-1]


def test_standard_streams_and_gzip(here, trained, capsysbinary, monkeypatch):
    data = (here / "new.txt").read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(data))))
    assert main(["predict", trained, "-"]) == 0
    out = capsysbinary.readouterr().out
    assert main(["predict", trained, "new.txt", "-o", "out.gz"]) == 0
    assert gzip.decompress((here / "out.gz").read_bytes()) == out
    assert out.splitlines()[0].split()[-1] == b"B-PER"


def test_marginals_and_k_best(here, trained, capsys):
    assert main(["predict", trained, "new.txt", "--marginals", "-o", "out.txt"]) == 0
    columns = read_columns("out.txt", expect=4)
    chances = np.array([float(p) for row in columns.strings(3) for p in row])
    assert ((chances > 0) & (chances <= 1)).all()
    model = maxmargin.load(trained)
    X = read_columns("new.txt")
    assert columns.strings(2) == model.predict(X)
    assert np.allclose(
        chances, [t.max() for s in model.predict_marginals(X) for t in s], atol=0.02
    )
    main(["evaluate", "out.txt", "--truth", "2", "--predicted", "-2", "--json"])
    assert json.loads(capsys.readouterr().out)["token_accuracy"] == 1.0
    says = refusal(capsys, ["evaluate", "out.txt"])  # would compare labels and numbers
    assert "as predict --marginals writes them" in says

    assert main(["predict", trained, "new.txt", "--k-best", "3", "-o", "k.txt"]) == 0
    blocks = (here / "k.txt").read_text().split("\n\n")
    assert blocks.pop() == ""
    ranked = model.predict_k_best(X, 3)
    assert len(blocks) == 3 * X.n_sentences
    for k, block in enumerate(blocks):
        head, *lines = block.split("\n")
        labels, score = ranked[k // 3][k % 3]
        assert head == f"# {k % 3 + 1} {score:.6g}"
        assert [line.split(" ")[-1] for line in lines] == labels
    assert read_columns("k.txt", comment="#").n_sentences == len(blocks)


def test_evaluation_in_other_forms(here, trained, capsys):
    command = ["evaluate", trained, "--json", "test.txt"]  # an option in between
    assert main([*command, "--confusion", "c.png"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["spans"]["f1"] == found["types"]["PER"]["f1"] == 1.0
    assert found["tokens"] == read_columns("test.txt").n_tokens
    assert found["labels"]["O"]["recall"] == 1.0
    assert (here / "c.png").read_bytes().startswith(b"\x89PNG")


def test_labels_that_are_no_spans(here, capsys):
    (here / "pos.txt").write_text(text_of(sentences(20), (0, 1)))
    assert main(train_command("pos.txt", "p.model", "--dev", "pos.txt")) == 0
    assert main(["evaluate", "p.model", "pos.txt"]) == 0
    out = capsys.readouterr().out
    assert "sequence accuracy: 100.00%" in out
    assert "phrases" not in out


def test_inspection(here, trained, capsys):
    command = ["inspect", trained, "--top", "2", "--label", "B-LOC"]
    assert main([*command, "--transitions", "--plot", "t.png"]) == 0
    out = capsys.readouterr().out
    for part in (
        "train.txt (columns)",
        "3, the labels in column 2",
        "hinge, C=1",
        "40, with",
        "by ner",
        "4: B-LOC B-PER I-PER O",
        "(proved)",
        "(start)",
    ):
        assert part in out
    features = out.partition("Strongest features\n\nB-LOC\n")[2].split("\n\n")[0]
    assert len(features.splitlines()) == 2
    assert (here / "t.png").read_bytes().startswith(b"\x89PNG")
    assert main(["inspect", trained, "--top", "0"]) == 0
    assert "Strongest" not in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["svmhmm", "crfsuite"])
def test_files_of_features(here, kind, capsys):
    rows = sentences(30)
    y = [[row[2] for row in s] for s in rows]
    if kind == "crfsuite":
        X = [[[f"w={row[0]}", f"t={row[1]}"] for row in s] for s in rows]
        write_crfsuite("train.dat", X, y, sample_weight=[1.0, 2.0] * 15)
        write_crfsuite("test.dat", [[["w=Bob", "new"], ["t=V"]]], [["O", "O"]])
    else:
        words = sorted({row[0] for s in rows for row in s})
        X = [np.array([[float(row[0] == w) for w in words] for row in s]) for s in rows]
        write_svmhmm("train.dat", X, y)
        more = np.zeros((2, len(words) + 5))
        more[0, words.index("Bob")] = more[1, words.index("in")] = more[0, -1] = 1.0
        write_svmhmm("test.dat", [more], [["O", "O"]])
    command = train_command("train.dat", "m.model", "--format", kind, "--C", "1")
    assert main([*command, "--dev", "train.dat"]) == 0
    assert main(["evaluate", "m.model", "train.dat"]) == 0
    assert "FB1:" in capsys.readouterr().out
    assert main(["report", "m.model", "train.dat", "-o", "p.html"]) == 0
    assert "span F1" in capsys.readouterr().out
    assert main(["predict", "m.model", "test.dat"]) == 0
    assert capsys.readouterr().out.split() == ["B-PER", "O"]
    assert main(["predict", "m.model", "test.dat", "--k-best", "2"]) == 0
    assert capsys.readouterr().out.count("# ") == 2
    assert main(["predict", "m.model", "train.dat", "-o", "o.txt", "--marginals"]) == 0
    assert read_columns("o.txt").n_columns == 2
    assert read_columns("o.txt").n_sentences == 30


def test_labels_that_break_the_scheme_are_repaired(here, capsys):
    rows = sentences(20)
    broken = [[(*row[:2], row[2].replace("B-L", "I-L")) for row in s] for s in rows[:2]]
    (here / "train.txt").write_text(text_of(broken + rows[2:]))
    command = train_command("train.txt", "m.model", "--scheme", "BIO")
    assert "line 5: I-LOC follows O" in refusal(capsys, command)
    command.remove("--quiet")
    assert main([*command, "--repair"]) == 0
    assert "train.txt: 2 sentences broke the scheme" in capsys.readouterr().err
    assert "I-LOC" not in maxmargin.load("m.model").classes_


# choosing C --------------------------------------------------------------------------


def test_C_is_chosen_on_a_file(here, capsys):
    command = ["train", "tag", "train.txt", "--features", "words", "-o", "m.model"]
    assert main([*command, "--path", "1e-6,1,0.1", "--dev", "test.txt"]) == 0
    out = capsys.readouterr().out
    lines = [line for line in out.splitlines() if line[:10].strip()[:1].isdigit()]
    assert [float(line.split()[0]) for line in lines] == [1e-6, 0.1, 1.0]
    assert [line.endswith("<- best") for line in lines] == [False, True, False]
    assert float(lines[0].split()[1]) < 100.0 == float(lines[1].split()[1])
    assert "span F1" in out
    assert "On test.txt:\nprocessed" in out
    assert maxmargin.load("m.model").C == 0.1


def test_C_is_chosen_by_cross_validation(here, capsys):
    command = train_command("train.txt", "m.model", "--path", "1e-6,0.1", "--cv", "3")
    command.remove("--quiet")
    assert main(command) == 0
    out, err = capsys.readouterr()
    assert "<- best" in out
    assert "fold 3 of 3" in err
    assert maxmargin.load("m.model").C == 0.1
    assert main(train_command("train.txt", "m.model", "--cv", "2")) == 0  # usual values


def test_options_reach_the_tagger(here):
    options = "--objective log --C 0.5 --tol 0.05 --min-count 2 --scheme auto --seed 3"
    command = train_command("train.txt", "m.model", *options.split())
    assert main([*command, "--jobs", "2", "--max-time", "60", "--order", "1"]) == 0
    model = maxmargin.load("m.model")
    assert (model.objective, model.C, model.tol) == ("log", 0.5, 0.05)
    assert (model.min_count, model.scheme, model.random_state) == (2, "BIO", 3)
    # what spends resources is not taken from files
    assert (model.n_jobs, model.max_time, model.verbose) == (1, None, 0)


# limits and progress -----------------------------------------------------------------


def test_progress_in_a_file(here, capsys):
    command = train_command("train.txt", "m.model", "--log", "fit.jsonl")
    assert main(command) == 0
    rows = [json.loads(line) for line in (here / "fit.jsonl").read_text().splitlines()]
    model = maxmargin.load("m.model")
    names = set(model.history_[0])
    assert [{name: row[name] for name in names} for row in rows] == model.history_
    assert main([*command, "--path", "0.1,1", "--cv", "2"]) == 0
    more = [json.loads(line) for line in (here / "fit.jsonl").read_text().splitlines()]
    assert more[: len(rows)] == rows
    assert {row["fit"] for row in more[len(rows) :]} == set(range(1, 6))
    says = refusal(capsys, [*command[:-1], "no/fit.jsonl"])
    assert says.startswith("The log no/fit.jsonl cannot be written: there is no folder")


def test_limits_are_said_without_code(here, capsys):
    assert main(train_command("train.txt", "m.model", "--max-time", "1e-9")) == 0
    err = capsys.readouterr().err
    assert err.startswith("maxmargin: Training stopped after --max-time 1e-09 seconds")
    assert "Allow more --max-iter or --max-time, or a larger --tol" in err
    assert "certificate_" not in err
    assert ".py" not in err


# the program -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [[], ["train"], ["train", "tag"], ["predict"], ["evaluate"], ["inspect"]],
    ids=" ".join,
)
def test_help_has_an_example(command, capsys):
    with pytest.raises(SystemExit) as done:
        main([*command, "--help"])
    assert done.value.code == 0
    assert "example:\n  maxmargin" in capsys.readouterr().out


def test_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"maxmargin {maxmargin.__version__}\n"


def test_the_program_starts_quickly_and_pipes_may_close(here, trained):
    script = (
        "import sys; from maxmargin.cli.main import main\n"
        "try: main(['train', 'tag', '--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'numpy', 'scipy', 'sklearn'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr

    big = here / "big.txt"
    big.write_text(text_of(sentences(4000), (0, 1)))
    program = subprocess.Popen(
        [sys.executable, "-m", "maxmargin", "predict", trained, str(big)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert program.stdout.readline().split()[-1] == b"B-PER"
    program.stdout.close()
    with program.stderr:
        assert program.stderr.read() == b""
    assert program.wait(30) == 1


def test_real_text(data_home, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, n in (("train", 700), ("test", 200)):
        with gzip.open(data_file(f"conll2000/{name}.txt.gz"), "rt") as file:
            text = "\n\n".join(file.read().split("\n\n")[:n])
        (tmp_path / f"{name}.txt").write_text(text + "\n")
    options = ["--features", "chunking", "--C", "0.1", "--scheme", "BIO", "-o", "m"]
    assert main(["train", "tag", "train.txt", *options, "--quiet"]) == 0
    assert main(["evaluate", "m", "test.txt", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["spans"]["f1"] > 0.86
