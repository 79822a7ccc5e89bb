"""Corpora on disk: what cannot be built, and what is left when a build fails."""

import gzip
import os
import subprocess
import sys

import numpy as np
import pytest
from corpus_cases import (
    TEMPLATE,
    data,  # noqa: F401
)

from maxmargin import TagCorpus
from maxmargin.files import read_columns
from maxmargin.files.corpora import sources
from maxmargin.files.text_files import RawText

# ruff: noqa: F811  (what is imported so is a fixture)


def test_errors_name_the_place(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "BLOCK", 64)
    good = "a b X\nc d Y\n\n" * 20

    def build(data, **options):
        path = tmp_path / "t.txt"
        path.write_bytes(data)
        return TagCorpus.build(tmp_path / "c", path, "U:%x[0,0]\n", **options)

    bad = [
        (good.encode() + b"a b\n", {}, r"t\.txt, line 61: 2 columns, but .*has 3"),
        (good.encode() + b"\xff b Z\n", {}, r"t\.txt, line 61: byte 1 .*0xff"),
        (gzip.compress(good.encode())[:-20], {}, r"t\.txt is cut off: its gzip"),
        (b"\x1f\x8bxxxxxxxxxx", {}, r"t\.txt is damaged: gzip|cannot be read"),
        (b"", {}, r"There is no token in .*t\.txt"),
        (b"\n\n \n", {}, r"There is no token in .*t\.txt"),
        (b"a\nb\n", {}, "only one column"),
        (good.encode(), {"label_column": 3}, r"there is no column 3 \(label_column\)"),
        (b"a b X\nc d X\n", {}, "labels are all 'X'"),
        (good.encode(), {"encoding": "klingon"}, "encoding='klingon' is not known"),
        (good.encode(), {"separator": ""}, "separator=''"),
        (good.encode(), {"min_count": 1000}, "no feature is seen 1000 times"),
        (good.encode(), {"hashing": 100}, "power of two"),
        (good.encode(), {"hashing": 64, "min_count": 2}, "min_count needs a vocab"),
        (good.encode(), {"shard_tokens": 0}, "shard_tokens=0"),
        (good.encode(), {"n_jobs": 0}, "n_jobs=0"),
        (good.encode(), {"feature_options": {"x": 1}}, "feature_options has 'x'"),
        (good.encode(), {"like": 3}, "like"),
    ]
    for text, options, message in bad:
        with pytest.raises(ValueError, match=message):
            build(text, **options)
        assert os.listdir(tmp_path) == ["t.txt"]
    with pytest.raises(ValueError, match="say what the features are"):
        TagCorpus.build(tmp_path / "c", tmp_path / "t.txt")
    with pytest.raises(ValueError, match=r"column 7"):
        TagCorpus.build(tmp_path / "c", tmp_path / "t.txt", "U:%x[0,7]\n")
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        TagCorpus.build(tmp_path / "no" / "c", tmp_path / "t.txt", "U:%x[0,0]\n")
    assert os.listdir(tmp_path) == ["t.txt"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folder": None}, "None is not the name of a folder"),
        ({"folder": "a\0b"}, "cannot be the name of a folder"),
        ({"sources": "a\0b"}, "cannot be the name of a file"),
        ({"label_column": "x"}, r"no column named 'x' \(label_column\)"),
        ({"label_column": 1.0}, "label_column=1.0 must be the number or"),
        ({"separator": 3}, "separator=3 is not possible"),
        ({"feature_options": 3}, "feature_options must be a dict, not int"),
    ],
    ids=repr,
)
def test_arguments_that_cannot_be(data, tmp_path, options, message):
    arguments = {"folder": tmp_path / "c", "sources": data, "features": TEMPLATE}
    with pytest.raises(ValueError, match=message):
        TagCorpus.build(**arguments | options)
    assert os.listdir(tmp_path) == ["text"]


def test_a_corpus_is_no_text(data, tmp_path):
    TagCorpus.build(tmp_path / "c", data, TEMPLATE)
    with pytest.raises(ValueError, match="is a corpus, which was read already"):
        TagCorpus.build(tmp_path / "d", tmp_path / "c", TEMPLATE)
    with pytest.raises(ValueError, match="3 is not the name of a folder"):
        TagCorpus.open(3)


def test_other_files_have_other_columns(tmp_path):
    (tmp_path / "a").write_text("a b X\n\nb b Y\n")
    (tmp_path / "b").write_text("\na X\n")
    with pytest.raises(ValueError, match=r"b, line 2: 2 columns, but .*a has 3"):
        TagCorpus.build(tmp_path / "c", [tmp_path / "a", tmp_path / "b"], TEMPLATE)


def test_a_folder_that_is_there(data, tmp_path):
    corpus = TagCorpus.build(tmp_path / "c", data, TEMPLATE)
    with pytest.raises(FileExistsError, match=r"overwrite=True replaces it"):
        TagCorpus.build(tmp_path / "c", data, TEMPLATE)
    again = TagCorpus.build(tmp_path / "c", data, "U:%x[0,0]\n", overwrite=True)
    assert again.n_features < corpus.n_features
    with pytest.raises(FileExistsError, match="it is not a corpus"):
        TagCorpus.build(data, data, TEMPLATE, overwrite=True)
    (tmp_path / "d").mkdir()
    TagCorpus.build(tmp_path / "d", data, TEMPLATE)
    assert sorted(os.listdir(tmp_path)) == ["c", "d", "text"]


def test_a_full_disk(data, tmp_path, monkeypatch):
    from maxmargin.files.corpora import shards

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shards, "save_array", full)
    with pytest.raises(ValueError, match=r"disk of .* is full, and nothing was kept"):
        TagCorpus.build(tmp_path / "c", data, TEMPLATE)
    assert os.listdir(tmp_path) == ["text"]


def test_a_disk_that_takes_only_a_part(data, tmp_path, monkeypatch):
    def full(*_):
        raise OSError("1000000 requested and 25584 written")  # numpy, without errno

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(ValueError, match=r"disk of .* is full, and nothing was kept"):
        TagCorpus.build(tmp_path / "c", data, TEMPLATE)
    assert os.listdir(tmp_path) == ["text"]


def test_a_folder_that_cannot_be_made(data, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(ValueError, match=r"c cannot be made \(Permission denied\)"):
        TagCorpus.build(tmp_path / "c", data, TEMPLATE)


@pytest.mark.parametrize("when", [1, 2])
def test_an_interrupted_move_keeps_the_old_corpus(tmp_path, monkeypatch, when):
    from maxmargin.files.atomic import temporary_folder

    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "manifest.json").write_text("old")
    rename, times = os.rename, []

    def interrupted(*names):
        times.append(names)
        rename(*names)
        if len(times) == when:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "rename", interrupted)
    target = str(tmp_path / "c")
    with temporary_folder(target, "manifest.json", lambda: None) as made:
        with open(os.path.join(made.folder, "manifest.json"), "w") as file:
            file.write("new")
        with pytest.raises(KeyboardInterrupt):
            made.finish()
    found = (tmp_path / "c" / "manifest.json").read_text()
    assert found == ("old" if when == 1 else "new")
    assert os.listdir(tmp_path) == ["c"]


def test_a_shard_that_cannot_be_read(data, tmp_path, monkeypatch):
    from maxmargin.files.corpora import storage

    corpus = TagCorpus.build(tmp_path / "c", data, TEMPLATE)

    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(storage, "record_of", refuse)
    with pytest.raises(FileNotFoundError, match=r"\.npy is .*Permission.*every worker"):
        corpus.shards[0].tokens()


@pytest.mark.parametrize("when", ["_draft", "_write", "_finish", "_save_encoder"])
def test_killed_while_building(data, tmp_path, when):
    """What is left behind does not open, and does not stand in the way."""
    code = (
        "import os, sys\n"
        "from maxmargin.tags.corpus.build import Builder, TagCorpus\n"
        f"Builder.{when} = lambda *a: os.kill(os.getpid(), 9)\n"
        "TagCorpus.build(*sys.argv[1:4])\n"
    )
    folder = tmp_path / "c"
    done = subprocess.run([sys.executable, "-c", code, folder, data, TEMPLATE])
    assert done.returncode == -9
    assert not folder.exists()
    (rest,) = [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]
    with pytest.raises(ValueError, match="not a corpus"):
        TagCorpus.open(tmp_path / rest)
    TagCorpus.build(folder, data, TEMPLATE)


def test_lines_of_pieces_in_messages():
    with pytest.raises(ValueError, match=r"f, line 12: 1 column, but .*line 11"):
        read_columns(RawText(b"a b\nc\n", "f", 10))


def test_a_killed_build_leaves_nothing_for_ever(data, tmp_path):
    """What it left goes with the next build."""
    code = f"""
import os, signal
from maxmargin import TagCorpus
from maxmargin.files.atomic import TemporaryFolder
TemporaryFolder.finish = lambda made: os.kill(os.getpid(), signal.SIGKILL)
TagCorpus.build({str(tmp_path / "c")!r}, {str(data)!r}, "words")
"""
    killed = subprocess.run([sys.executable, "-c", code], check=False)
    assert killed.returncode == -9
    assert len(os.listdir(tmp_path)) == 3  # its folder and its lock
    (tmp_path / ".c.x.tmp.old").mkdir()  # of one killed while it went away
    (tmp_path / "c").mkdir()
    TagCorpus.build(tmp_path / "c", data, "words")
    TagCorpus.build(tmp_path / "c", data, "words", overwrite=True)
    assert sorted(os.listdir(tmp_path)) == ["c", "text"]
