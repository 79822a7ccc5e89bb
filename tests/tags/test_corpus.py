"""Corpora on disk: what is built is what would be in memory, or nothing."""

import os
import sys

import numpy as np
import pytest
from corpus_cases import (
    TEMPLATE,
    data,  # noqa: F401
    made,
    text_of,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import TagCorpus
from maxmargin.core.vectors import by_frequency, padded_width
from maxmargin.files import columns_from, read_columns
from maxmargin.files.corpora import sources
from maxmargin.tags.corpus.counting import KeyCounter
from maxmargin.tags.features import ColumnEncoder
from maxmargin.tags.files.reader import read_piece

# ruff: noqa: F811  (what is imported so is a fixture)


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
    from maxmargin.core import vectors
    from maxmargin.tags.corpus import build

    for module in (vectors, build):
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


def test_threads_that_share_ones_get_enough_of_them(monkeypatch):
    from maxmargin.files.corpora import storage

    class Late(dict):
        def __setitem__(self, key, value):
            super().__setitem__(key, value[:5])  # another thread needed fewer

    monkeypatch.setattr(storage, "_ones", Late())
    assert len(storage.ones(10, np.float32)) == 10
