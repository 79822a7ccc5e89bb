"""Classes from vectors on disk: those of the same file in memory, with less of it."""

import gzip
import json
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import (
    Checkpoint,
    ClassCorpus,
    MulticlassSVM,
    MultilabelSVM,
    TagCorpus,
    TaxonomySVM,
    load,
)
from maxmargin.cli.main import main
from maxmargin.files import checkpoint_file, read_svmlight
from maxmargin.files.corpora import sources, storage

pytestmark = pytest.mark.slow


def text_of(n, seed, values="%.2f", classes=4, d=40, most=9) -> str:
    rng = np.random.default_rng(seed)
    W = np.random.default_rng(5).normal(size=(classes, d))
    lines = []
    for _ in range(n):
        at = np.sort(rng.choice(d, rng.integers(most // 9, most), replace=False))
        x = rng.random(len(at)).round(2) if "%" in values else np.ones(len(at))
        label = np.argmax(W[:, at] @ x + 0.3 * rng.normal(size=classes))
        shown = [values % v if "%" in values else 1 for v in x]
        cells = [f"{j + 1}:{v}" for j, v in zip(at, shown, strict=True)]
        lines.append(f"{'news' if label % 2 else 'sport'}.{label} {' '.join(cells)}\n")
    return "".join(lines)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "train.svm"
    path.write_text("# made\n\n" + text_of(120, 0))
    return path


@pytest.fixture(scope="module")
def one(file):
    return ClassCorpus.build(file.parent / "one", file)


@pytest.fixture(scope="module")
def many(file):
    corpus = ClassCorpus.build(file.parent / "many", file, shard_entries=60)
    assert len(corpus.shards) > 4
    return corpus


@pytest.mark.parametrize("values", ["%.2f", "%.17g", "1", "0"])
def test_a_corpus_is_what_would_be_in_memory(tmp_path, values, monkeypatch):
    monkeypatch.setattr(sources, "BLOCK", 300)
    text = text_of(80, 1, values)
    if values == "0":
        text = text.replace(":1", ":0").replace(":0 ", ":2 ", 40)
    (tmp_path / "a.svm").write_text(text)
    (tmp_path / "b.svm.gz").write_bytes(gzip.compress(text.encode()))
    paths = [tmp_path / "a.svm", tmp_path / "b.svm.gz"]
    found = [read_svmlight(path) for path in paths]
    corpus = ClassCorpus.build(tmp_path / "c", paths, shard_entries=100)
    assert len(corpus) == 160
    assert corpus.classes().tolist() == [z for v in found for z in v.labels]
    assert corpus.label_counts == [
        corpus.classes().tolist().count(z) for z in corpus.labels
    ]
    X = np.vstack([v.X.toarray() for v in found])
    assert corpus.shape == X.shape
    parts = [part.toarray() for part in corpus.matrices()]
    assert np.array_equal(np.vstack(parts), X)
    assert np.array_equal(corpus[::7].toarray(), X[::7])
    assert corpus.n_entries == np.count_nonzero(X)
    assert corpus.n_used == np.count_nonzero(X.any(axis=0))
    assert repr(corpus).startswith("ClassCorpus('")


@pytest.mark.parametrize("family", [MulticlassSVM, TaxonomySVM])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"objective": "log"},
        {"tol": 1e-5},
        {"rescaling": "slack", "tol": 1e-4},
        {"fit_intercept": False, "C": 2.0},
        {"solver": "block-coordinate", "n_jobs": 2},
    ],
)
def test_the_same_optimum_as_in_memory(file, one, many, family, options):
    data = read_svmlight(file)
    whole = family(**options).fit(data.X, data.labels)
    if options.get("n_jobs", 1) == 1:  # else the last digits depend on who came first
        assert np.array_equal(family(**options).fit(one).coef_, whole.coef_)
    model = family(**options).fit(many)
    assert model.C_ == whole.C_
    assert model.classes_.tolist() == whole.classes_.tolist()
    found, known = model.certificate_, whole.certificate_
    assert found.exact
    assert found.relative_gap <= model.tol
    assert found.dual <= known.primal * (1 + 1e-9)
    assert known.dual <= found.primal * (1 + 1e-9)
    assert np.array_equal(model.predict(many), model.predict(data.X))
    assert model.score(many) == model.score(data.X, data.labels)
    assert model.evaluate(many) == model.evaluate(data.X, data.labels)


def test_flat_classes_and_weights(file, many):
    data = read_svmlight(file)
    weights = np.arange(120) % 4
    model = TaxonomySVM(mode="flat", loss="zero-one", tol=1e-4)
    whole = model.fit(data.X, data.labels, weights).certificate_
    found = model.fit(many, sample_weight=weights).certificate_
    assert found.dual <= whole.primal * (1 + 1e-9)
    assert whole.dual <= found.primal * (1 + 1e-9)


def test_many_classes_have_planes(file, many, monkeypatch):
    """Where dual variables of all classes would be too many."""
    from maxmargin.solvers.shards import by_piece

    closed = MulticlassSVM(tol=1e-4).fit(many).certificate_
    monkeypatch.setattr(by_piece, "MOST_VARIABLES", 0)
    found = MulticlassSVM(tol=1e-4).fit(many).certificate_
    assert found != closed
    assert found.dual <= closed.primal * (1 + 1e-9)
    assert closed.dual <= found.primal * (1 + 1e-9)


def die(row) -> None:
    if row["iteration"] == 3:
        raise SystemExit


def test_a_fit_goes_on_from_its_checkpoint(many, tmp_path):
    whole = MulticlassSVM(tol=1e-4).fit(many)
    place = Checkpoint(tmp_path, every=0)
    with pytest.raises(SystemExit):
        MulticlassSVM(tol=1e-4, callbacks=[die], checkpoint=place).fit(many)
    again = MulticlassSVM(tol=1e-4, checkpoint=place, resume=True).fit(many)
    assert np.array_equal(again.coef_, whole.coef_)
    assert again.certificate_ == whole.certificate_


def test_forged_dual_variables_are_refused(many, tmp_path):
    with pytest.warns(ConvergenceWarning):
        MulticlassSVM(tol=1e-5, max_iter=3, checkpoint=tmp_path).fit(many)
    path = tmp_path / "fit.checkpoint"
    fields, arrays = checkpoint_file.read(path)
    fields.pop("sha256")
    arrays[next(name for name in arrays if "workers.1.alpha" in name)] *= 2
    checkpoint_file.write(path, fields, arrays)
    with pytest.raises(ValueError, match="'alpha' is not of this C"):
        MulticlassSVM(tol=1e-5, checkpoint=tmp_path, resume=True).fit(many)


def test_what_a_corpus_cannot(file, one, many, tmp_path):
    model = MulticlassSVM()
    with pytest.raises(ValueError, match="leave y out"):
        model.fit(many, ["a"])
    with pytest.raises(ValueError, match="C=inf cannot be trained over shards"):
        MulticlassSVM(C=np.inf).fit(many)
    with pytest.raises(ValueError, match="needs all data in memory"):
        MulticlassSVM(solver="one-slack").fit(many)
    with pytest.raises(ValueError, match="has one class per vector"):
        TaxonomySVM(multilabel=True).fit(many, None)
    assert not hasattr(model, "coef_")
    model.fit(many)
    with pytest.raises(ValueError, match="one of its matrices"):
        model.decision_function(many)
    with pytest.raises(ValueError, match="is scored alone"):
        model.score(many, ["a"])
    (tmp_path / "w").write_text("a 77:1\nb 1:1\n")
    wide = ClassCorpus.build(tmp_path / "wide", tmp_path / "w")
    with pytest.raises(
        ValueError, match="has 77 features, but the model knows only 40"
    ):
        model.predict(wide)
    with pytest.raises(
        ValueError, match="line 1: there is a feature 77, but the model"
    ):
        ClassCorpus.build(tmp_path / "x", tmp_path / "w", n_features=40)
    with pytest.raises(ValueError, match="a corpus of classes, but one of tags"):
        TagCorpus.open(one.folder)
    (tmp_path / "u").write_text("1:1\n2:1\n")
    bare = ClassCorpus.build(tmp_path / "bare", tmp_path / "u", empty_labels=True)
    assert len(model.predict(bare)) == 2
    with pytest.raises(ValueError, match="vectors without a label"):
        model.fit(bare)
    (tmp_path / "o").write_text("a 1:1\na 2:1\n")
    with pytest.raises(ValueError, match=r"holds one class only \('a'\)"):
        model.fit(ClassCorpus.build(tmp_path / "same", tmp_path / "o"))
    (tmp_path / "h").write_text("a 1:1\nb 2000000000:1\n")
    with pytest.raises(ValueError, match="only 2 of them hold any value"):
        model.fit(ClassCorpus.build(tmp_path / "holes", tmp_path / "h"))


BAD = ("x 1:1 1:2", "x 0:1", "x 1:", "x 1:nan", "x 1:1e999", "x 3:1 2:1", "x 1:1_0")
BAD = (
    *BAD,
    "x y",
    "x 1:1 #1:1 \xff",
    "1:1 2:2",
    "x 99999999999:1",
    "x 1:0x1",
    "x 1:1:1",
)


@pytest.mark.parametrize("line", BAD)
def test_bad_lines_are_named_as_in_memory(tmp_path, line, monkeypatch):
    monkeypatch.setattr(sources, "BLOCK", 64)
    path = tmp_path / "t.svm"
    path.write_bytes(text_of(50, 3).encode() + line.encode("latin-1") + b"\n")
    with pytest.raises(ValueError, match=f"^{re.escape(str(path))}, line 51: ") as said:
        read_svmlight(path)
    with pytest.raises(ValueError, match=f"^{re.escape(str(said.value))}$"):
        ClassCorpus.build(tmp_path / "c", path)
    assert os.listdir(tmp_path) == ["t.svm"]


@pytest.mark.parametrize("text", ["", "# nothing\n\n", "a\nb\n"])
def test_files_without_vectors(tmp_path, text):
    path = tmp_path / "t.svm"
    path.write_text(text)
    with pytest.raises(ValueError, match="has no") as said:
        read_svmlight(path)
    with pytest.raises(ValueError, match=f"^{re.escape(str(said.value))}$"):
        ClassCorpus.build(tmp_path / "c", path)


def test_damage_is_found(file, tmp_path):
    folder = tmp_path / "c"
    corpus = ClassCorpus.build(folder, file, shard_entries=200)
    with pytest.raises(FileExistsError, match="exists already"):
        ClassCorpus.build(folder, file)
    again = pickle.loads(pickle.dumps(corpus.shards[1]))
    assert np.array_equal(again.rows()[1], corpus.shards[1].rows()[1])
    with pytest.raises(ValueError, match="shard_entries=0"):
        ClassCorpus.build(tmp_path / "d", file, shard_entries=0)
    victim = folder / "00001.indices.npy"
    victim.write_bytes(victim.read_bytes()[:-4] + b"\0\0\0\x7f")
    with pytest.raises(ValueError, match=r"00001\.indices\.npy is damaged"):
        MulticlassSVM().fit(ClassCorpus.open(folder))
    body, _ = storage.read_manifest(str(folder), "classes")
    body["shards"][1]["files"]["indices"] = list(storage.record_of(str(victim)))
    storage.write_manifest(str(folder), body, "classes")
    with pytest.raises(ValueError, match="do not fit together"):
        MulticlassSVM().fit(ClassCorpus.open(folder))
    for key, value in [("samples", -1), ("used", 99), ("largest", "x"), ("labels", [])]:
        storage.write_manifest(str(folder), body | {key: value}, "classes")
        with pytest.raises(ValueError, match="is not valid: its manifest"):
            ClassCorpus.open(folder)
    victim.unlink()
    storage.write_manifest(str(folder), body, "classes")
    with pytest.raises(FileNotFoundError, match=r"00001\.indices\.npy is missing"):
        ClassCorpus.open(folder)


# the command line ------------------------------------------------------------------------


def test_commands(file, tmp_path, capsys):
    shards, model = str(tmp_path / "shards"), str(tmp_path / "m")
    train = ["train", "classify", str(file), "--format", "svmlight", "-o", model]
    assert main([*train, "--shards", shards]) == 0
    assert main([*train, "--shards", shards]) == 0
    said = capsys.readouterr()
    assert "120 samples, 4 classes" in said.out
    assert "is there already, from these files" in said.err
    test = str(tmp_path / "test")
    shard = ["shard", "--format", "svmlight", str(file), "-o", test, "--like", model]
    assert main([*shard, "--shard-entries", "300"]) == 0
    assert "120 vectors" in capsys.readouterr().out
    reports = []
    for path in (test, str(file)):
        assert main(["evaluate", model, path, "--json"]) == 0
        reports.append(json.loads(capsys.readouterr().out))
        assert main(["predict", model, path, "-o", str(tmp_path / "out")]) == 0
        found = (tmp_path / "out").read_text().split()
        assert found == load(model).predict(read_svmlight(file).X).tolist()
        capsys.readouterr()
    assert reports[0]["accuracy"] == reports[1]["accuracy"]
    assert main(["train", "classify", test, "--dev", str(file), "-o", model]) == 0
    capsys.readouterr()
    bad = [
        ([*train[:3], "--shards", shards, "-o", model], "--shards is for vectors"),
        (["train", "classify", test, "--cv", "3", "-o", model], "--cv needs all data"),
        (["train", "classify", test, "--shards", "x", "-o", model], "--shards is for"),
        ([*shard, "--min-count", "2"], "--min-count is for tagged text"),
        (["train", "tag", test, "-o", model], "is a corpus of classes"),
    ]
    for arguments, message in bad:
        assert main(arguments) == 2
        assert message in capsys.readouterr().err
    other = tmp_path / "other.svm"
    other.write_text(text_of(20, 9))
    train[2] = str(other)
    assert main([*train, "--shards", shards]) == 2
    assert "is a corpus of other files" in capsys.readouterr().err


def test_sets_of_labels_are_in_memory(many):
    with pytest.raises((TypeError, ValueError)):
        MultilabelSVM().fit(many, None)


# memory ----------------------------------------------------------------------------------

LIMITED = """
import resource, sys
from maxmargin import ClassCorpus, MulticlassSVM
from maxmargin.files import read_svmlight

def private():
    with open("/proc/self/status") as lines:
        return next(int(l.split()[1]) << 10 for l in lines if l.startswith("VmData"))

small, large, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
corpus = ClassCorpus.build(small + ".shards", small, shard_entries=500)
MulticlassSVM(C=0.1, max_iter=2, tol=1e-9).fit(corpus).predict(corpus)  # code is loaded
most = private() + limit
resource.setrlimit(resource.RLIMIT_DATA, (most, most))
try:
    read_svmlight(large)
    print("memory")
except MemoryError:
    corpus = ClassCorpus.build(large + ".shards", large, shard_entries=20_000)
    model = MulticlassSVM(C=0.1, max_iter=2, tol=1e-9).fit(corpus)
    print(len(corpus), model.score(corpus))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are Linux's")
def test_a_file_of_ten_times_the_memory(tmp_path):
    lines = text_of(1000, 0, classes=3, d=1000, most=700)
    (tmp_path / "small").write_text(lines)
    limit = 10 << 20
    with open(tmp_path / "large", "w") as file:
        while file.tell() < 10 * limit:
            file.write(lines)
    command = [sys.executable, "-W", "ignore", "-c", LIMITED]
    command += [str(tmp_path / "small"), str(tmp_path / "large"), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    count, score = done.stdout.split()
    assert int(count) == 30_000
    assert float(score) > 0.7
