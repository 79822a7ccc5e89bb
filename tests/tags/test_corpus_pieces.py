"""Taggers trained piece by piece, where the corpus has many shards."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from corpus_tagger_cases import (
    TEMPLATE,
    check_use,
    data,  # noqa: F401
)
from sklearn.exceptions import ConvergenceWarning

from maxmargin import Checkpoint, SequenceTagger, TagCorpus
from maxmargin.engine import threads
from maxmargin.files import checkpoint_file
from maxmargin.tags.corpus.training import CorpusPiece

# ruff: noqa: F811  (what is imported so is a fixture)


@pytest.fixture(scope="module")
def many(data, tmp_path_factory):
    """The same in many shards."""
    folder = tmp_path_factory.mktemp("many")
    source = data[0].sources[0]["path"]
    corpus = TagCorpus.build(folder / "c", source, TEMPLATE, shard_tokens=60)
    assert len(corpus.shards) > 2
    return corpus


@pytest.mark.parametrize(
    "options",
    [
        {"tol": 1e-3},
        {"objective": "log", "tol": 1e-3},
        {"order": 0, "tol": 1e-3},
        {"order": 2, "tol": 1e-3},
        {"loss": "zero-one"},
        {"objective": "log", "solver": "lbfgs", "l1": 0.1},
    ],
)
def test_shard_by_shard_to_the_same_optimum(data, many, options, tmp_path):
    """Certified as if all had been in memory; bounds of one hold for the other."""
    _, X, y, _ = data
    whole = SequenceTagger(features=TEMPLATE, **options).fit(X, y).certificate_
    tagger = SequenceTagger(**options).fit(many)
    found = tagger.certificate_
    assert found.exact
    assert found.relative_gap <= tagger._tolerance()
    assert found.dual <= whole.primal * (1 + 1e-9)
    assert whole.dual <= found.primal * (1 + 1e-9)
    check_use(tagger, many, X, y, tmp_path)


def test_pieces_are_those_of_data_in_memory(data, many):
    """Equal pieces, whether cut in memory or read from disk, give equal weights."""
    from maxmargin.core.cutting import cut
    from maxmargin.core.pieces.sharded import InMemory
    from maxmargin.tags.corpus.training import CorpusBatch

    _, X, y, _ = data
    tagger = SequenceTagger(features=TEMPLATE)
    encoded = tagger._encode(many, None, None)
    batch = tagger._encode(X, y, None).batch
    ends = np.cumsum([0, *(piece.n for piece in encoded.batch.pieces)])
    assert encoded.batch.n == 60
    for piece, lo, hi in zip(encoded.batch.pieces, ends, ends[1:], strict=False):
        a, b = piece.load(), InMemory(cut(batch, lo, hi)).load()
        for name in ("start", "y", "indptr", "indices", "values", "cost", "barrier"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert isinstance(encoded.batch, CorpusBatch)
    again = pickle.loads(pickle.dumps(encoded.batch.pieces[1]))
    assert np.array_equal(again.load().indices, encoded.batch.pieces[1].load().indices)


@pytest.mark.parametrize("objective", ["hinge", "log"])
def test_threads_reach_the_same_optimum(many, objective, monkeypatch):
    monkeypatch.setattr("maxmargin.engine.threads.IN_FLIGHT", 1)
    monkeypatch.setattr(threads, "WORTH", 1e-9)
    options = {"objective": objective, "tol": 1e-3}
    one = SequenceTagger(**options).fit(many).certificate_
    found = SequenceTagger(n_jobs=4, **options).fit(many).certificate_
    assert found.relative_gap <= 1e-3
    assert found.dual <= one.primal * (1 + 1e-9)
    assert one.dual <= found.primal * (1 + 1e-9)


@pytest.mark.parametrize("objective", ["hinge", "log"])
@pytest.mark.parametrize("workers", [2, 50])
def test_workers_of_a_cluster_take_several_pieces_each(
    data, many, home, objective, workers
):
    _, X, y, _ = data
    options = {"objective": objective, "tol": 0.01, "features": TEMPLATE}
    weights, home.count = np.arange(60) % 3, workers
    whole = SequenceTagger(**options).fit(X, y, weights).certificate_
    options |= {"features": None, "engine": "dask"}
    found = SequenceTagger(**options).fit(many, sample_weight=weights).certificate_
    assert home.executors[0].shards == min(workers, len(many.shards))
    assert found.relative_gap <= 0.01
    assert found.dual <= whole.primal * (1 + 1e-9)
    assert whole.dual <= found.primal * (1 + 1e-9)


def test_solvers_that_need_all_data(many):
    with pytest.raises(ValueError, match="choose one of auto, block-coordinate for"):
        SequenceTagger(solver="one-slack").fit(many)
    tagger = SequenceTagger(objective="log", solver="exponentiated", l1=0.1)
    with pytest.raises(ValueError, match="choose one of auto, lbfgs for"):
        tagger.fit(many)


def test_sample_weights_of_pieces(data, many):
    _, X, y, _ = data
    weights = np.arange(60) % 3
    tagger = SequenceTagger(features=TEMPLATE, tol=1e-3)
    whole = tagger.fit(X, y, weights).certificate_
    found = tagger.fit(many, sample_weight=weights).certificate_
    assert found.dual <= whole.primal * (1 + 1e-9)
    assert whole.dual <= found.primal * (1 + 1e-9)


def test_one_piece_is_in_memory_at_a_time(many, monkeypatch):
    import gc
    import weakref

    alive, most = [], []
    load = CorpusPiece.load

    def noting(piece):
        batch = load(piece)
        alive[:] = [ref for ref in alive if ref() is not None]
        alive.append(weakref.ref(batch.indices))
        gc.collect()
        most.append(sum(ref() is not None for ref in alive))
        return batch

    monkeypatch.setattr(CorpusPiece, "load", noting)
    gc.freeze()  # what there is now: else each of many collections looks at all of it
    try:
        for objective in ("hinge", "log"):
            SequenceTagger(objective=objective).fit(many)
    finally:
        gc.unfreeze()
    assert max(most) <= 2  # the one that goes, until the next one is there


@pytest.mark.parametrize(
    "options",
    [
        {"C": 0.3},
        {"objective": "log"},
        {"objective": "log", "solver": "exponentiated"},
        {"objective": "log", "solver": "lbfgs"},
    ],
)
def test_a_fit_goes_on_from_its_checkpoint(many, tmp_path, options):
    options = {"tol": 1e-5, **options}
    whole = SequenceTagger(**options).fit(many)
    place = Checkpoint(tmp_path, every=0)

    def die(row):
        if row["iteration"] == 4:
            raise SystemExit

    with pytest.raises(SystemExit):
        SequenceTagger(callbacks=[die], checkpoint=place, **options).fit(many)
    again = SequenceTagger(**options, checkpoint=place, resume=True).fit(many)
    assert np.array_equal(again._w, whole._w)
    assert again.certificate_ == whole.certificate_
    assert len(again.history_) == len(whole.history_)


def test_forged_planes_of_a_piece_are_refused(many, tmp_path):
    with pytest.warns(ConvergenceWarning):
        SequenceTagger(max_iter=3, tol=1e-5, checkpoint=tmp_path).fit(many)
    path = tmp_path / "fit.checkpoint"
    fields, arrays = checkpoint_file.read(path)
    fields.pop("sha256")
    arrays[next(name for name in arrays if "workers.1.planes.2" in name)] *= 2
    checkpoint_file.write(path, fields, arrays)
    with pytest.raises(ValueError, match=r"planes\.alpha"):
        SequenceTagger(tol=1e-5, checkpoint=tmp_path, resume=True).fit(many)


def test_limits(many):
    with pytest.warns(ConvergenceWarning, match="max_time"):
        tagger = SequenceTagger(tol=1e-9, max_time=1e-3).fit(many)
    assert tagger.certificate_.dual <= tagger.certificate_.primal < np.inf


def test_interrupted(many):
    def stop(row):
        if row["iteration"] == 2:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        tagger = SequenceTagger(tol=1e-9, callbacks=[stop]).fit(many)
    assert tagger.certificate_.primal < np.inf


def test_a_corpus_that_changes_during_the_fit(many, tmp_path):
    import os
    import shutil

    folder = tmp_path / "copy"
    shutil.copytree(many.folder, folder)
    corpus = TagCorpus.open(folder)
    victim = folder / "00001.indices.npy"

    def spoil(row):
        os.utime(victim, (row["iteration"], 1))

    tagger = SequenceTagger(tol=1e-6, callbacks=[spoil])
    with pytest.raises(ValueError, match=r"00001\.indices\.npy has changed since"):
        tagger.fit(corpus)
    assert not hasattr(tagger, "coef_")


def test_hard_margins_need_memory(many):
    with pytest.raises(ValueError, match="C=inf cannot be trained over shards"):
        SequenceTagger(C=np.inf).fit(many)


def test_a_shard_that_is_sent_elsewhere_knows_its_place(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("the D B\ndog N I\n\n" * 4)
    monkeypatch.chdir(tmp_path)
    corpus = TagCorpus.build("shards", "a.txt", features="words")
    sent = pickle.dumps(corpus.shards[0])
    monkeypatch.chdir("/")
    there = pickle.loads(sent)
    assert len(there.tokens()[1]) == corpus.n_tokens
    (tmp_path / "shards").rename(tmp_path / "gone")
    with pytest.raises(FileNotFoundError, match="every worker must see it"):
        pickle.loads(sent).tokens()


def test_distributions_of_all_shards_have_to_fit_into_memory(many, monkeypatch):
    from maxmargin.core.expectations import places
    from maxmargin.solvers import registry
    from maxmargin.solvers.log import log_objective

    def noting(name, kind):
        solver = registry.load(kind)
        return lambda objective: used.append(name) or solver(objective)

    used = []
    for name, kind in registry.over("pieces", "log").items():
        record = replace(registry.SOLVERS[name], pieces=noting(name, kind))
        monkeypatch.setitem(registry.SOLVERS, name, record)
    tagger = SequenceTagger(objective="log", tol=0.5)
    pieces = tagger._encode(many, None, None).batch.pieces
    first = int(places(pieces[0].load())[-1])
    for most in (first, 2 * len(pieces) * first):
        monkeypatch.setattr(log_objective, "MOST_PARTS", most)
        monkeypatch.setattr(log_objective, "MORE_PARTS", 0)
        tagger.fit(many)
    assert used == ["lbfgs", "handover"]
