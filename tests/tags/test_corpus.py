"""Corpora on disk: what is built is what would be in memory, or nothing."""

import gzip
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import TagCorpus
from maxmargin.core.rows import by_frequency, padded_width
from maxmargin.files import columns_from, read_columns
from maxmargin.files.corpora import sources
from maxmargin.files.text_files import RawText
from maxmargin.tags.corpus.counting import KeyCounter
from maxmargin.tags.features import ColumnEncoder
from maxmargin.tags.files.reader import read_piece

TEMPLATE = (
    "U0:%x[0,0]\nU1:%x[-1,0]/%x[0,0]\nU2:%s2[0,0]\nU3:%x[0,1]/%x[1,1]\nU3:%cap[0,0]\n"
)


def text_of(sentences) -> str:
    return "".join("".join(f"{w} {p} {z}\n" for w, p, z in s) + "\n" for s in sentences)


def made(n: int, seed: int = 0) -> list:
    """Sentences of words, tags and labels."""
    rng = np.random.default_rng(seed)
    words = [f"{'W' if k % 7 == 0 else 'w'}{k}é" for k in range(80)]
    out = []
    for _ in range(n):
        ids = (80 * rng.random(rng.integers(1, 9)) ** 3).astype(int)
        out.append([(words[k], f"p{k % 5}", f"L{k % 3}") for k in ids])
    return out


@pytest.fixture
def data(tmp_path):
    """Three files in a folder, one of them compressed."""
    folder = tmp_path / "text"
    folder.mkdir()
    for k in range(3):
        text = text_of(made(40, k)).encode()
        name = folder / f"part{k}.txt"
        if k == 1:
            name, text = folder / "part1.txt.gz", gzip.compress(text)
        name.write_bytes(text)
    (folder / "_SUCCESS").write_text("")
    return folder


def in_memory() -> tuple:
    """(columns, labels) of the same sentences."""
    every = [s for k in range(3) for s in made(40, k)]
    X = columns_from([[row[:2] for row in s] for s in every])
    return X, [[row[2] for row in s] for s in every]


def joined(corpus) -> tuple:
    """(indices, indptr, start, y) of all shards."""
    parts = [shard.tokens() for shard in corpus.shards]
    counts = np.concatenate([np.diff(t.indptr) for t, _ in parts])
    lengths = np.concatenate([np.diff(t.start) for t, _ in parts])
    return (
        np.concatenate([t.indices for t, _ in parts]),
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate([y for _, y in parts]),
    )


def check_same(corpus, encoder, X, y, large=False) -> None:
    """The corpus holds what the encoder makes of X, with features in its order."""
    tokens = encoder.fit_encode(X)
    indices, indptr, start, found = joined(corpus)
    order = corpus.feature_of_row
    if order is not None:
        renumbered, expected = by_frequency(tokens, padded_width(len(corpus.labels)))
        assert np.array_equal(order, expected)
        tokens = renumbered
    assert np.array_equal(indices, tokens.indices)
    assert np.array_equal(indptr, tokens.indptr)
    assert np.array_equal(start, tokens.start)
    assert [corpus.labels[k] for k in found] == [z for row in y for z in row]
    assert corpus.labels == sorted({z for row in y for z in row})
    (a, state), (b, other) = encoder.get_state(), corpus.encoder.get_state()
    assert state == other
    assert a.keys() == b.keys()
    assert all(np.array_equal(a[key], b[key]) for key in a)
    assert corpus.n_tokens == start[-1]
    assert corpus.n_sentences == len(start) - 1
    assert corpus.n_features == encoder.n_features
    assert corpus.label_counts == np.bincount(found).tolist()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"min_count": 3},
        {"min_count": 2, "table_keys": 7},
        {"hashing": 2**8},
        {"hashing": 2**18},
        {"table_keys": 1, "shard_tokens": 1},
        {"feature_options": {"dense": {0: {"w3é": [1.0, 2.0], "W7é": [0.5, 0.0]}}}},
        {"n_jobs": 2, "shard_tokens": 10_000},
    ],
)
def test_a_corpus_is_what_would_be_in_memory(data, tmp_path, options):
    options = {"shard_tokens": 100, **options}
    corpus = TagCorpus.build(tmp_path / "c", data, TEMPLATE, **options)
    X, y = in_memory()
    bits = options["hashing"].bit_length() - 1 if "hashing" in options else None
    given = options.get("feature_options", {})
    encoder = ColumnEncoder(TEMPLATE, options.get("min_count", 1), bits, **given)
    check_same(corpus, encoder, X, y)
    assert (corpus.feature_of_row is not None) == (corpus.n_features * 3 >= 2**18)
    if "dense" in given:
        values = np.concatenate([s.tokens()[0].values for s in corpus.shards])
        assert np.array_equal(values, encoder.encode(X).values)
    again = TagCorpus.open(tmp_path / "c")
    assert again.fingerprint == corpus.fingerprint
    assert len(again) == 120
    assert sorted(os.listdir(tmp_path)) == ["c", "text"]
    sizes = [shard.n_tokens for shard in corpus.shards]
    assert options["shard_tokens"] == 1 or max(sizes) <= 1.5 * options["shard_tokens"]


def test_rows_of_large_tables_are_in_the_order_of_frequency(
    data, tmp_path, monkeypatch
):
    from maxmargin.core import rows
    from maxmargin.tags.corpus import build

    for module in (rows, build):
        monkeypatch.setattr(module, "LARGE_TABLE", 10)
    corpus = TagCorpus.build(tmp_path / "c", data, TEMPLATE, shard_tokens=100)
    assert corpus.feature_of_row is not None
    check_same(corpus, ColumnEncoder(TEMPLATE), *in_memory())


def test_keys_of_many_stages(data, tmp_path, monkeypatch):
    from maxmargin.tags.features import plan

    monkeypatch.setattr(plan, "_KEY_LIMIT", 100)
    corpus = TagCorpus.build(tmp_path / "c", data, TEMPLATE, table_keys=5)
    check_same(corpus, ColumnEncoder(TEMPLATE), *in_memory())


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.lists(st.integers(-1, 30), max_size=20), max_size=8),
    st.integers(1, 4),
    st.integers(1, 40),
)
def test_counting_with_little_memory(tmp_path_factory, parts, least, limit):
    counter = KeyCounter(2**40, str(tmp_path_factory.mktemp("runs")), limit)
    for part in parts:
        counter.add(np.array(part, np.int64))
    flat = [k for part in parts for k in part if k >= 0]
    kept = [k for k in dict.fromkeys(flat) if flat.count(k) >= least]
    assert counter.finish(least).tolist() == kept
    assert os.listdir(counter._folder) == []


# sources -------------------------------------------------------------------------------


def test_folders_globs_lists_and_single_files(data, tmp_path):
    names = [f"part{k}" for k in range(3)]

    def found(given):
        paths = [s.path for s in sources.find_sources(given)]
        return [os.path.basename(p).partition(".")[0] for p in paths]

    assert found(data) == names  # without _SUCCESS
    assert found(str(data / "part*")) == names
    assert found([data / "part2.txt", str(data / "*.gz")]) == ["part2", "part1"]
    with pytest.raises(FileNotFoundError, match=r"There is no file .*none\.txt"):
        found(data / "none.txt")
    with pytest.raises(FileNotFoundError, match="No file matches"):
        found(str(data / "x*"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="no files"):
        found(tmp_path / "empty")
    for bad in (3, [3], []):
        with pytest.raises(ValueError, match=r"sources|source files"):
            found(bad)


def test_what_fsspec_opens(data, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    for path in sorted(data.iterdir()):
        memory.pipe(f"/corpus-test/{path.name}", path.read_bytes())
    try:
        for k, name in enumerate(["memory://corpus-test", "memory://corpus-test/p*"]):
            corpus = TagCorpus.build(tmp_path / f"c{k}", name, TEMPLATE)
            check_same(corpus, ColumnEncoder(TEMPLATE), *in_memory())
        with pytest.raises(FileNotFoundError, match=r"memory://corpus-test/none"):
            TagCorpus.build(tmp_path / "d", "memory://corpus-test/none", TEMPLATE)
    finally:
        memory.rm("/corpus-test", recursive=True)
    corpus = TagCorpus.build(tmp_path / "f", f"file://{data}/part*", TEMPLATE)
    check_same(corpus, ColumnEncoder(TEMPLATE), *in_memory())
    with pytest.raises(ValueError, match="nonsense://x cannot be read"):
        TagCorpus.build(tmp_path / "d", "nonsense://x", TEMPLATE)


def test_whatever_a_file_system_raises_is_a_sentence(tmp_path, monkeypatch):
    fsspec = pytest.importorskip("fsspec")

    class NoCredentials(Exception):
        """As those of the clouds, which are no OSErrors."""

    def refuse(*_):
        raise NoCredentials("Unable to locate credentials.")

    monkeypatch.setattr(fsspec.core, "url_to_fs", refuse)
    with pytest.raises(ValueError, match=r"^s3://x cannot be read: Unable .*ials\.$"):
        TagCorpus.build(tmp_path / "c", "s3://x", TEMPLATE)


def test_without_fsspec(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ImportError, match=r"pip install maxmargin\[cluster\]"):
        TagCorpus.build(tmp_path / "c", "s3://bucket/x", TEMPLATE)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 10_000])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
def test_blocks_are_the_file(tmp_path, size, ends, encoding):
    """However the file is cut, sentences, words and line numbers are the same."""
    text = "# one\n" + text_of(made(6)) + " \t\n# two\n" + text_of(made(5, 1)) + "\n\n"
    path = tmp_path / "t"
    path.write_bytes(text.replace("\n", ends).encode(encoding))
    (source,) = sources.find_sources(path)
    parts = list(sources.blocks(source, None, encoding, size))
    whole = read_columns(path, encoding=encoding, comment="#")
    found = [read_piece(raw, None, "#") for raw in parts]
    found = [columns for columns in found if columns is not None]
    assert len(parts) > 3 or size > 100
    for c in range(3):
        rows = [row for f in found for row in f.strings(c)]
        assert rows == whole.strings(c)
    assert np.array_equal(np.concatenate([f.lines for f in found]), whole.lines)


def test_a_file_without_blank_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "LONGEST_SENTENCE", 1000)
    monkeypatch.setattr(sources, "BLOCK", 100)
    (tmp_path / "t").write_text("a b\n\n" + "a b\n" * 1000)
    with pytest.raises(ValueError, match=r"t, line 3: no blank line in the next"):
        TagCorpus.build(tmp_path / "c", tmp_path / "t", "U:%x[0,0]\n")


# bad input -----------------------------------------------------------------------------


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
    for data, options, message in bad:
        with pytest.raises(ValueError, match=message):
            build(data, **options)
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
    from maxmargin.tags.corpus import build

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(build, "save_array", full)
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
    from maxmargin.files.atomic import workshop

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
    with workshop(target, "manifest.json", lambda: None) as shop:
        with open(os.path.join(shop.folder, "manifest.json"), "w") as file:
            file.write("new")
        with pytest.raises(KeyboardInterrupt):
            shop.finish()
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


def test_threads_that_share_ones_get_enough_of_them(monkeypatch):
    from maxmargin.files.corpora import storage

    class Late(dict):
        def __setitem__(self, key, value):
            super().__setitem__(key, value[:5])  # another thread needed fewer

    monkeypatch.setattr(storage, "_ones", Late())
    assert len(storage.ones(10, np.float32)) == 10


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
from maxmargin.files.atomic import Workshop
Workshop.finish = lambda shop: os.kill(os.getpid(), signal.SIGKILL)
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
