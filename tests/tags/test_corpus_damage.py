"""Corpora on disk: what somebody changed in them is found."""

import os

import numpy as np
import pytest
from corpus_cases import (
    TEMPLATE,
    data,  # noqa: F401
)

from maxmargin import TagCorpus

# ruff: noqa: F811  (what is imported so is a fixture)


def test_damage_is_found(data, tmp_path):
    folder = tmp_path / "c"
    TagCorpus.build(folder, data, TEMPLATE, shard_tokens=100)

    def use():
        corpus = TagCorpus.open(folder)
        assert corpus.encoder
        for shard in corpus.shards:
            shard.tokens()

    use()
    for name in sorted(os.listdir(folder)):
        path = folder / name
        whole = path.read_bytes()
        for changed in (whole[:-1], b"", whole[: len(whole) // 2], whole + b"x"):
            path.write_bytes(changed)
            with pytest.raises(
                ValueError, match=r"Build the corpus again|not a corpus"
            ):
                use()
        for at in (0, len(whole) // 2, len(whole) - 2):
            path.write_bytes(whole[:at] + bytes([whole[at] ^ 5]) + whole[at + 1 :])
            with pytest.raises(ValueError, match=name):
                use()
        path.unlink()
        with pytest.raises((ValueError, FileNotFoundError), match=name):
            use()
        path.write_bytes(whole)
    use()
    with pytest.raises(FileNotFoundError, match="There is no corpus folder"):
        TagCorpus.open(tmp_path / "none")
    with pytest.raises(ValueError, match=r"is not a corpus: it has no manifest"):
        TagCorpus.open(data)


def test_a_newer_version_is_refused(data, tmp_path):
    TagCorpus.build(tmp_path / "c", data, TEMPLATE)
    path = tmp_path / "c" / "manifest.json"
    path.write_text(path.read_text().replace('"version": 1', '"version": 2', 1))
    with pytest.raises(ValueError, match="format version 2"):
        TagCorpus.open(tmp_path / "c")


def test_a_shard_that_changes_while_in_use(data, tmp_path):
    corpus = TagCorpus.build(tmp_path / "c", data, TEMPLATE)
    (shard,) = corpus.shards
    shard.tokens()
    path = tmp_path / "c" / "00000.indices.npy"
    content = path.read_bytes()
    path.write_bytes(content)  # even the same bytes: somebody writes there
    os.utime(path, (1, 1))
    with pytest.raises(ValueError, match=r"00000\.indices\.npy has changed since"):
        shard.tokens()


def test_right_checksums_of_wrong_numbers(data, tmp_path):
    """Kernels do not check indices, so that shards must."""
    from maxmargin.files.corpora import storage

    folder = tmp_path / "c"
    corpus = TagCorpus.build(folder, data, TEMPLATE)
    body, _ = storage.read_manifest(str(folder))
    for key, value in (
        ("indices", corpus.n_features),
        ("indices", -1),
        ("y", 3),
        ("start", 10**9),
        ("indptr", -1),
    ):
        path = folder / f"00000.{key}.npy"
        whole = path.read_bytes()
        array = np.load(path)
        array[3] = value
        np.save(path, array)
        body["shards"][0]["files"][key] = list(storage.record_of(path))
        storage.write_manifest(str(folder), body)
        with pytest.raises(ValueError, match="do not fit together"):
            TagCorpus.open(folder).shards[0].tokens()
        path.write_bytes(whole)
        body["shards"][0]["files"][key] = list(storage.record_of(path))


FORGED = {
    "no table": lambda body: [],
    "a path for a name": lambda body: body["shards"][0].update(name="../other/00000"),
    "an absolute path": lambda body: body["shards"][0].update(name="/etc/passwd"),
    "a name of bytes": lambda body: body["shards"][0].update(name=7),
    "another file": lambda body: body["shards"][0]["files"].update({"../x": [1, 1]}),
    "a file too few": lambda body: body["shards"][0]["files"].pop("y"),
    "no size": lambda body: body["shards"][0]["files"].update(y=[1]),
    "a size of text": lambda body: body["shards"][0]["files"].update(y=["1", 1]),
    "more tokens": lambda body: body.update(tokens=body["tokens"] + 1),
    "tokens below zero": lambda body: body["shards"][0].update(tokens=-1),
    "tokens without end": lambda body: body.update(tokens=10**400),
    "a count that is none": lambda body: body.update(entries=1.5),
    "entries of nobody": lambda body: body.update(entries=body["entries"] + 1),
    "features without end": lambda body: body.update(features=2**40),
    "another number of features": lambda body: body.update(features=2**30),
    "a label twice": lambda body: body["labels"].__setitem__(0, body["labels"][1]),
    "labels of numbers": lambda body: body.update(labels=[0, 1, 2]),
    "no labels": lambda body: body.update(labels=[], label_counts=[]),
    "counts of others": lambda body: body["label_counts"].pop(),
    "no settings": lambda body: body.update(settings=None),
    "no shards": lambda body: body.update(shards=[]),
    "a shard twice": lambda body: body["shards"].append(body["shards"][0]),
    "no encoder": lambda body: body.update(encoder=None),
    "true for a number": lambda body: body.update(longest=True),
}


def test_forged_manifests(data, tmp_path):
    """Whatever a manifest says, a sentence: nothing is read that is not of the corpus."""
    from maxmargin.files.corpora import storage

    folder = tmp_path / "c"
    TagCorpus.build(folder, data, TEMPLATE)
    for forge in FORGED.values():
        body, _ = storage.read_manifest(str(folder))
        kept = (folder / "manifest.json").read_bytes()
        found = forge(body)
        storage.write_manifest(str(folder), [] if found == [] else body)
        with pytest.raises(ValueError, match=r"is not valid|refused|damaged") as said:
            TagCorpus.open(folder).encoder  # noqa: B018
        assert str(said.value).endswith(".")
        (folder / "manifest.json").write_bytes(kept)


def test_files_cut_off_are_found_when_opened(data, tmp_path):
    folder = tmp_path / "c"
    TagCorpus.build(folder, data, TEMPLATE)
    path = folder / "00000.indices.npy"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="is damaged: it has"):
        TagCorpus.open(folder)
