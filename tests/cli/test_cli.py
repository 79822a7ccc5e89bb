"""The command line: from files to models to tagged files, and what it says of mistakes."""

import gzip
import io
import itertools
import json
import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest

import maxmargin
from maxmargin.cli.common import Interrupts
from maxmargin.cli.main import main
from maxmargin.files import data_file, read_columns, write_crfsuite, write_svmhmm
from maxmargin.metrics import span_scores

NAMES = ["Ada", "Bob", "Cleo", "Dan", "Eve"]
PLACES = ["Oslo", "Rome", "Lima"]
TEMPLATE = "U00:%x[0,0]\nU01:%x[-1,0]/%x[0,0]\nU02:%x[0,1]\nU03:%cap[0,0]\nB\n"


def sentences(n, seed=0):
    """Sentences of (word, tag, label): names and places, in BIO."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        who = [rng.choice(NAMES) for _ in range(rng.integers(1, 3))]
        rows = [(w, "N", "B-PER" if k == 0 else "I-PER") for k, w in enumerate(who)]
        rows.append((rng.choice(["lives", "works"]), "V", "O"))
        rows += [("in", "P", "O"), (rng.choice(PLACES), "N", "B-LOC"), (".", ".", "O")]
        out.append(rows)
    return out


def text_of(rows, columns=(0, 1, 2), between=" "):
    return "\n".join(
        "".join(between.join(row[k] for k in columns) + "\n" for row in sentence)
        for sentence in rows
    )


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a training file, a test file and a template."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.txt").write_text(text_of(sentences(40)))
    (tmp_path / "test.txt").write_text(text_of(sentences(15, seed=1)))
    (tmp_path / "new.txt").write_text(text_of(sentences(15, seed=1), (0, 1)))
    (tmp_path / "t.template").write_text(TEMPLATE)
    return tmp_path


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A model file that tests may read."""
    folder = tmp_path_factory.mktemp("trained")
    train, path = folder / "train.txt", folder / "m.model"
    train.write_text(text_of(sentences(40)))
    assert main(train_command(train, path, "--C", "1")) == 0
    return str(path)


def train_command(train="train.txt", output="m.model", *more):
    features = (
        [] if "--template" in more or "--format" in more else ["--features", "ner"]
    )
    return ["train", "tag", str(train), *features, "-o", str(output), "--quiet", *more]


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
    assert main([*command, "--confusion", "c.png", "--page", "p.html"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["spans"]["f1"] == found["types"]["PER"]["f1"] == 1.0
    assert found["tokens"] == read_columns("test.txt").n_tokens
    assert found["labels"]["O"]["recall"] == 1.0
    assert (here / "c.png").read_bytes().startswith(b"\x89PNG")
    page = (here / "p.html").read_text()
    assert "test.txt" in page
    assert "Cleo" in page


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
    assert main(["evaluate", "m.model", "train.dat", "--page", "p.html"]) == 0
    assert "FB1:" in capsys.readouterr().out
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


# Ctrl-C ------------------------------------------------------------------------------


def interrupt_at(monkeypatch, when):
    """Send Ctrl-C when the given pass is reported."""
    from maxmargin.solvers.progress import Lines

    passes = []

    def report(self, row, estimate, left):
        passes.append(row["iteration"])
        if len(passes) == when:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Lines, "__call__", report)
    return passes


def test_an_interrupted_training_is_saved(here, monkeypatch, capsys):
    before = signal.getsignal(signal.SIGINT)  # under nohup it is ignored
    interrupt_at(monkeypatch, 2)
    assert main(train_command("train.txt", "m.model", "--tol", "1e-9")) == 130
    err = capsys.readouterr().err
    assert "interrupted; the best model so far is in m.model." in err
    assert len(maxmargin.load("m.model").history_) == 2
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.parametrize("before", [signal.SIG_IGN, signal.default_int_handler])
def test_the_handler_before_comes_back(before):
    old = signal.signal(signal.SIGINT, before)
    try:
        with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts:
            signal.raise_signal(signal.SIGINT)
        assert interrupts.seen
        assert signal.getsignal(signal.SIGINT) == before
    finally:
        signal.signal(signal.SIGINT, old)


def test_an_interrupted_choice_is_among_what_was_tried(here, monkeypatch, capsys):
    passes = interrupt_at(monkeypatch, 5)
    more = ["--path", "0.1,1,10,100", "--dev", "test.txt", "--tol", "1e-9"]
    assert main(train_command("train.txt", "m.model", *more)) == 130
    assert maxmargin.load("m.model").C == 0.1
    assert passes.count(1) == 1  # the path ends there

    os.unlink("m.model")
    interrupt_at(monkeypatch, 3)
    more = ["--path", "0.1,1", "--cv", "3", "--tol", "1e-9"]
    assert main(train_command("train.txt", "m.model", *more)) == 130
    assert "nothing was written" in capsys.readouterr().err
    assert not (here / "m.model").exists()


def once(monkeypatch, where, name, numbers=(1,)):
    """Ctrl-C at calls of a function with these numbers."""
    original, count = getattr(where, name), itertools.count(1)

    def watched(*arguments, **more):
        if next(count) in numbers:
            signal.raise_signal(signal.SIGINT)
        return original(*arguments, **more)

    monkeypatch.setattr(where, name, watched)


def ended(capsys, *more):
    """What a training says that is ended by Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(train_command("train.txt", "m.model", *more)) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert err.startswith("maxmargin: interrupted; ")
    assert err.count("\n") == 1
    return err


NOTHING = "interrupted; nothing was written."
KEPT = "interrupted; the best model so far is in m.model."


@pytest.mark.parametrize("name", ["learn", "prepare"])
def test_ctrl_c_before_the_training(here, monkeypatch, capsys, name):
    from maxmargin.tags.command import Tag

    once(monkeypatch, Tag, name)
    assert NOTHING in ended(capsys)
    assert not (here / "m.model").exists()


def test_ctrl_c_while_encoding(here, monkeypatch, capsys):
    once(monkeypatch, maxmargin.SequenceTagger, "_encode")
    assert NOTHING in ended(capsys)
    assert not (here / "m.model").exists()


def test_ctrl_c_twice_ends_with_the_model_that_there_is(here, monkeypatch, capsys):
    from maxmargin.files import model_file

    interrupt_at(monkeypatch, 2)
    once(monkeypatch, model_file, "replace_file")  # while the model is written
    assert KEPT in ended(capsys, "--tol", "1e-9")
    assert len(maxmargin.load("m.model").history_) == 2


def test_ctrl_c_after_the_model_was_written(here, monkeypatch, capsys):
    from maxmargin.cli import train

    once(monkeypatch, train, "_tell")
    assert KEPT in ended(capsys)
    assert maxmargin.load("m.model").converged_


def test_ctrl_c_while_models_are_tried(here, monkeypatch, capsys):
    from maxmargin.tags.command import Tag

    more = ["--path", "0.01,1,10", "--dev", "test.txt"]
    once(monkeypatch, Tag, "measures")
    assert KEPT in ended(capsys, *more)
    assert maxmargin.load("m.model").C == 0.01
    once(monkeypatch, Tag, "measures", [3])
    assert KEPT in ended(capsys, *more)
    assert maxmargin.load("m.model").C in (0.01, 1.0)


def test_an_interrupt_that_cannot_be_raised_is_not_lost(here, monkeypatch, capsys):
    """Python prints what it cannot raise, in a destructor; the next pass is the last."""
    passes = []

    class Pressed:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def report(self, row, estimate, left):
        passes.append(row)
        if len(passes) == 2:
            Pressed()

    monkeypatch.setattr("maxmargin.solvers.progress.Lines.__call__", report)
    assert KEPT in ended(capsys, "--tol", "1e-9")
    assert len(passes) == 2


def test_ctrl_c_disguised_by_compiled_code(here, monkeypatch, capsys):
    def disguised(*_):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt as error:
            raise SystemError("returned a result with an exception set") from error

    monkeypatch.setattr(maxmargin.SequenceTagger, "_encode", disguised)
    assert NOTHING in ended(capsys)


def test_ctrl_c_at_random_moments(here, monkeypatch, capsys):
    """Whatever it meets: one sentence, and a model that loads, or none."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    alarm = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)  # pytest's own objects
    try:
        for moment in np.random.default_rng(0).random(12):
            signal.setitimer(signal.ITIMER_REAL, 1e-3 + 0.3 * moment**2)
            code = main(train_command("train.txt", "m.model", "--tol", "1e-9"))
            signal.setitimer(signal.ITIMER_REAL, 0)
            err = capsys.readouterr().err
            assert "Traceback" not in err
            assert code in (0, 130)
            if code == 130:
                assert NOTHING in err or KEPT in err
                assert (KEPT in err) == (here / "m.model").exists()
            if (here / "m.model").exists():
                maxmargin.load("m.model").predict([[["Ada", "N"]]])
                os.unlink("m.model")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)
        signal.signal(signal.SIGINT, before)


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


# bad input ---------------------------------------------------------------------------


def refusal(capsys, command):
    """Run a command that must fail, and say what it said."""
    before = sorted(os.listdir("."))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert main(command) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("maxmargin: error: ")
    assert err.count("\n") == 1
    assert err.endswith((".\n", "?\n"))
    assert "Traceback" not in err
    assert sorted(os.listdir(".")) == before  # nothing was left behind
    return err.removeprefix("maxmargin: error: ").strip()


@pytest.mark.parametrize(
    ("content", "options", "says"),
    [
        ("a N B-X\nb N\n", [], "bad.txt, line 2: 2 columns, but the first token"),
        ("a N B-X\nb\tc N O\n", [], "if only tabs separate columns, say --separator"),
        ("a\tN\tO\nb N O\n", ["--separator", "\\t"], "bad.txt, line 2: 1 column"),
        (b"a N O\nb\xe9 N B-X\n", [], "bad.txt, line 2: byte 2 of the line, 0xe9"),
        (
            "a N O\nb N X\n",
            ["--encoding", "klingon"],
            "--encoding klingon is not known; try 'utf-8'",
        ),
        ("", [], "bad.txt has no token: it is empty"),
        ("\n\n \n", [], "bad.txt has no token"),
        ("a\nb\n", [], "bad.txt, line 1: there is only one column"),
        ("a N O\nb N O\n", [], "bad.txt, column 2: all labels are 'O'"),
        (
            "a N O\nb N X\n",
            ["--label-column", "3"],
            "bad.txt, line 1: there is no column 3",
        ),
        ("a\tO\nb\t\n", ["--separator", "\\t"], "bad.txt, line 2: the label is empty"),
        (
            "a N O\n\nb N B-X\nc N O\nd N I-X\n",
            ["--scheme", "BIO"],
            "bad.txt, line 5: I-X follows O. This breaks the scheme BIO",
        ),
        (
            "a N O\nb N X\n",
            ["--scheme", "BIO"],
            "bad.txt, line 2: label 'X' does not fit",
        ),
        ("a N O\nb N X\n", ["--repair"], "--repair needs a scheme"),
        ("a N O\nb N X\n", ["--scheme", "BIO", "--repair"], "label 'X' does not fit"),
        (
            "a N O\nb N X\n",
            ["--scheme", "auto", "--repair"],
            "not written in a tagging",
        ),
        ("a N O\nb N X\n", ["--scheme", "ABC"], "--scheme ABC is not known"),
        ("a N O\nb N X\n", ["--C", "-1"], "--C -1.0 is not possible"),
        ("a N O\nb N X\n", ["--objective", "odd"], "--objective odd is not known"),
        ("a N O\nb N X\n", ["--order", "7"], "--order 7 is not possible"),
        (
            "a N O\nb N X\n",
            ["--cv", "9"],
            "--cv 9 is not possible: there are 1 sentences",
        ),
        ("a N O\nb N X\n", ["--path", "1,2"], "--path needs a way to choose"),
        ("a N O\nb N X\n", ["--path", "1,x", "--cv", "2"], "--path 1,x is not a list"),
        ("a N O\nb N X\n", ["--plot", "x.bmp"], "must end in .pdf or .png or .svg"),
        ("a N O\nb N X\n", ["--plot", "no/x.png"], "there is no folder no"),
        ("a N O\nb N X\n", ["--dev", "new.txt"], "new.txt has 2 columns where"),
        ("a N O\nb N X\n", ["--dev", "gone.txt"], "There is no file gone.txt"),
        (
            "a N O\nb N X\n",
            ["--format", "svmhmm"],
            "bad.txt, line 1: after the tag 'a'",
        ),
        ("a N O\nb N X\n", ["--odd"], "unknown arguments: --odd"),
        ("a N O\nb N X\n", ["--C", "x"], "argument --C: invalid float value: 'x'"),
    ],
)
def test_bad_training_files_and_options(here, capsys, content, options, says):
    data = content.encode() if isinstance(content, str) else content
    (here / "bad.txt").write_bytes(data)
    assert says in refusal(capsys, train_command("bad.txt", "m.model", *options))


def test_a_column_of_words_is_not_one_of_labels(here, capsys):
    many = "".join(f"N w{k}\n\n" for k in range(1001))
    (here / "many.txt").write_text(many)
    says = refusal(capsys, train_command("many.txt"))
    assert says.startswith("many.txt, column 1: there are 1001 different labels")


@pytest.mark.parametrize(
    ("template", "says"),
    [
        ("U00:%x[0,0]\nU01:%y[0,0]\n", "bad.template, line 2: unknown macro '%y'"),
        (
            "U00:%x[0,0]\nU01:%x[0,2]\n",
            "bad.template, line 2: U01 reads column 2, but the data have 2 columns, 0 to "
            "1 without that of the labels (train.txt)",
        ),
        ("B\n", "bad.template has no line that begins with U"),
        (
            "U00:%x[0,0]\nU01:%g[0,0,x]\n",
            "bad.template, line 2: U01 reads a gazetteer 'x'",
        ),
        ("U00:%x[0,0\n", "bad.template, line 1: bad brackets"),
    ],
)
def test_bad_templates(here, capsys, template, says):
    (here / "bad.template").write_text(template)
    command = train_command("train.txt", "m.model", "--template", "bad.template")
    assert says in refusal(capsys, command)


def test_features_must_be_named(here, capsys):
    start = ["train", "tag", "train.txt", "-o", "m.model"]
    assert "say what the features are" in refusal(capsys, start)
    says = refusal(capsys, [*start, "--features", "nerr"])
    assert "--features nerr is not known; there are chunking, ner" in says
    says = refusal(capsys, [*start, "--template", "gone"])
    assert "There is no template file gone" in says
    says = refusal(capsys, [*start, "--format", "crfsuite", "--features", "ner"])
    assert "--features belongs to --format columns" in says


@pytest.mark.parametrize(
    ("command", "says"),
    [
        (["predict", "gone.model", "new.txt"], "'gone.model': there is no such file"),
        (
            ["predict", "new.txt", "MODEL"],
            "'new.txt': it is not a maxmargin model file",
        ),
        (["predict", "MODEL", "gone.txt"], "There is no file gone.txt"),
        (["predict", "MODEL", "empty.txt"], "empty.txt has no token"),
        (["predict", "MODEL", "."], ". is a folder, not a file"),
        (["predict", "MODEL", "new.txt", "-o", "no/x"], "there is no folder no"),
        (["predict", "MODEL", "new.txt", "-o", "."], "is a folder"),
        (
            ["predict", "MODEL", "new.txt", "--k-best", "0"],
            "--k-best 0 is not possible",
        ),
        (["predict", "MODEL", "new.txt", "--jobs", "0"], "--jobs 0 is not possible"),
        (["predict", "MODEL"], "the following arguments are required: FILE"),
        (
            ["predict", "MODEL", "wide.txt"],
            "The model was trained with 2 or 3 columns, but wide.txt has 4",
        ),
        (["evaluate", "MODEL", "new.txt"], "the labels are missing"),
        (
            ["evaluate", "MODEL", "test.txt", "--truth", "1"],
            "--truth is for files without",
        ),
        (["evaluate", "MODEL"], "is a model: name a file to evaluate it on"),
        (["evaluate", "one.txt"], "one.txt, line 1: there is only one column"),
        (["evaluate", "new.txt", "--truth", "9"], "there is no column 9 (--truth)"),
        (["evaluate", "new.txt", "--page", "x.png"], "must end in .html"),
        (["inspect", "MODEL", "--label", "B-X"], "--label B-X is not known"),
        (["inspect", "MODEL", "--top", "-3"], "--top -3 is not possible"),
        (["inspect", "MODEL", "--plot", "x.doc"], "must end in"),
        (["inspect", "-"], "a model is read from a file"),
        (
            ["train", "tag", "train.txt", "--features", "ner", "-o", "-"],
            "standard output",
        ),
        (["train", "tag", "-o", "no/m", "x"], "there is no folder no"),
        (["train", "fly"], "argument TASK: invalid choice: 'fly'"),
        ([], "the following arguments are required: COMMAND"),
    ],
)
def test_bad_commands(here, trained, capsys, command, says):
    (here / "empty.txt").write_text("")
    (here / "one.txt").write_text("a\n")
    (here / "wide.txt").write_text("a b c d\n")
    assert says in refusal(capsys, [trained if z == "MODEL" else z for z in command])


def test_models_that_no_command_trained(here, capsys):
    X, y = np.eye(4), [0, 1, 0, 1]
    maxmargin.save(maxmargin.MulticlassSVM().fit(X, y), "classes.model")
    says = refusal(capsys, ["predict", "classes.model", "new.txt"])
    assert "classes.model holds a MulticlassSVM that was saved from Python" in says
    model = maxmargin.MulticlassSVM().fit(X, y)
    model.notes = {"task": "fly"}
    maxmargin.save(model, "other.model")
    says = refusal(capsys, ["inspect", "other.model"])
    assert "other.model holds a model of the task 'fly'" in says


def test_a_failed_write_leaves_the_old_output(here, trained, capsys, monkeypatch):
    (here / "out.txt").write_text("old")

    def broken(*_):
        raise OSError(28, "No space left on device", "out.txt")

    monkeypatch.setattr(os, "replace", broken)
    says = refusal(capsys, ["predict", trained, "new.txt", "-o", "out.txt"])
    assert says == "out.txt: No space left on device."
    assert (here / "out.txt").read_text() == "old"
    refusal(capsys, train_command())


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
