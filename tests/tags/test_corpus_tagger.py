"""Taggers trained on corpora are those trained on the same sentences in memory."""

import pickle

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import Checkpoint, SequenceTagger, TagCorpus
from maxmargin.engine import threads
from maxmargin.files import checkpoint_file, columns_from
from maxmargin.files.model_file import load, save
from maxmargin.solvers import block_coordinate
from maxmargin.tags.corpus.training import CorpusPiece, encode_corpus

TEMPLATE = "U0:%x[0,0]\nU1:%x[-1,0]\nU2:%s2[0,0]\nU3:%x[0,1]/%x[1,1]\n"


def made(n: int, seed: int) -> list:
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(n):
        ids = (30 * rng.random(rng.integers(1, 7)) ** 2).astype(int)
        noise = rng.random(len(ids)) < 0.15
        labels = [
            ("B-X" if k % 3 else "O") if not z else "B-Y"
            for k, z in zip(ids, noise, strict=True)
        ]
        out.append(
            [(f"w{k}", f"p{k % 4}", z) for k, z in zip(ids, labels, strict=True)]
        )
    return out


def write(path, sentences) -> None:
    text = "".join("".join(" ".join(row) + "\n" for row in s) + "\n" for s in sentences)
    path.write_text(text)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """(corpus of one shard, X, y, the same hashed)."""
    folder = tmp_path_factory.mktemp("corpora")
    sentences = made(60, 0)
    write(folder / "text", sentences)
    corpus = TagCorpus.build(folder / "c", folder / "text", TEMPLATE)
    hashed = TagCorpus.build(folder / "h", folder / "text", TEMPLATE, hashing=2**17)
    assert len(corpus.shards) == 1
    X = columns_from([[row[:2] for row in s] for s in sentences])
    return corpus, X, [[row[2] for row in s] for s in sentences], hashed


@pytest.fixture(scope="module")
def many(data, tmp_path_factory):
    """The same in many shards."""
    folder = tmp_path_factory.mktemp("many")
    source = data[0].sources[0]["path"]
    corpus = TagCorpus.build(folder / "c", source, TEMPLATE, shard_tokens=60)
    assert len(corpus.shards) > 2
    return corpus


def same(a, b) -> None:
    assert np.array_equal(a._w, b._w)
    assert a.certificate_ == b.certificate_
    assert a.classes_.tolist() == b.classes_.tolist()
    assert a.feature_names_ == b.feature_names_


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"objective": "log"},
        {"order": 0},
        {"order": 2},
        {"loss": "zero-one", "tol": 1e-5},
        {"loss": "spans", "scheme": "BIO"},
        {"forbidden": [("B-X", "B-Q")]},
    ],
)
def test_weights_are_those_of_data_in_memory(data, options):
    corpus, X, y, _ = data
    in_memory = SequenceTagger(features=TEMPLATE, **options).fit(X, y)
    same(SequenceTagger(features=TEMPLATE, **options).fit(corpus), in_memory)


def test_hashed_features(data, tmp_path):
    """Rows of a large table are in another order while training, not afterwards."""
    _, X, y, corpus = data
    options = {"hash_bits": 17}
    in_memory = SequenceTagger(features=TEMPLATE, feature_options=options).fit(X, y)
    tagger = SequenceTagger().fit(corpus)
    assert corpus.feature_of_row is not None
    same(tagger, in_memory)
    check_use(tagger, corpus, X, y, tmp_path)


def check_use(tagger, corpus, X, y, tmp_path) -> None:
    """An ordinary tagger: predicts ordinary input, is saved, pickled, loaded."""
    found = tagger.predict(X)
    assert tagger.predict(corpus) == found
    shards = list(tagger.predict_shards(corpus))
    assert [len(rows) for rows in shards] == [s.n_sentences for s in corpus.shards]
    assert tagger.score(corpus) == pytest.approx(tagger.score(X, y))
    save(tagger, tmp_path / "model")
    for other in (load(tmp_path / "model"), pickle.loads(pickle.dumps(tagger))):
        assert other.predict(X) == found
        assert other.predict([[("w1", "p1"), ("w2", "p2")]])
        assert other.predict(corpus) == found


def test_a_tagger_without_settings_takes_those_of_the_corpus(data, tmp_path):
    corpus, X, y, _ = data
    tagger = SequenceTagger().fit(corpus)
    same(tagger, SequenceTagger(features=TEMPLATE).fit(X, y))
    check_use(tagger, corpus, X, y, tmp_path)


def test_sample_weights(data):
    corpus, X, y, _ = data
    weights = np.arange(60) % 3
    for order in (0, 1):
        tagger = SequenceTagger(features=TEMPLATE, order=order)
        a = tagger.fit(corpus, sample_weight=weights)._w.copy()
        assert np.array_equal(a, tagger.fit(X, y, weights)._w)
    with pytest.raises(ValueError, match="sample_weight has shape"):
        tagger.fit(corpus, sample_weight=[1.0])


def test_new_data_in_the_features_of_a_tagger(data, tmp_path):
    corpus, X, y, _ = data
    tagger = SequenceTagger(features=TEMPLATE).fit(X, y)
    fresh = made(30, 1)
    fresh[0][0] = ("new", "p9", "UNSEEN")
    write(tmp_path / "new", fresh)
    test = columns_from([[row[:2] for row in s] for s in fresh])
    truth = [[row[2] for row in s] for s in fresh]
    for k, like in enumerate((tagger, corpus)):
        other = TagCorpus.build(tmp_path / str(k), tmp_path / "new", like=like)
        assert tagger.predict(other) == tagger.predict(test)
        assert tagger.score(other) == pytest.approx(tagger.score(test, truth))
        with pytest.raises(ValueError, match="features of other data"):
            tagger.fit(other)
    own = TagCorpus.build(tmp_path / "own", tmp_path / "new", TEMPLATE)
    with pytest.raises(ValueError, match="other features than the tagger"):
        tagger.predict(own)


def test_path_over_a_corpus(data):
    corpus, X, y, _ = data
    tagger = SequenceTagger(features=TEMPLATE)
    for a, b in zip(
        tagger.path(corpus, None, [0.1, 1]), tagger.path(X, y, [0.1, 1]), strict=True
    ):
        assert np.array_equal(a._w, b._w)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": "chunking"}, "features of the tagger is not that of the corpus"),
        ({"features": "U0:%x[0,0]\n"}, "features of the tagger"),
        ({"min_count": 2}, "min_count of the tagger"),
        ({"feature_options": {}, "features": TEMPLATE, "kernel": "rbf"}, "kernel"),
        (
            {"features": TEMPLATE, "feature_options": {"hash_bits": 9}},
            "feature_options",
        ),
        ({"objective": "marginal"}, "objective='marginal' needs all data"),
        ({"objective": "perceptron"}, "objective='perceptron' needs all data"),
        ({"forbidden": [("O", "B-X")]}, "which is forbidden"),
        ({"scheme": "IOB1"}, "breaks the scheme IOB1"),
    ],
)
def test_what_contradicts_the_corpus(data, options, message):
    corpus = data[0]
    tagger = SequenceTagger(**options)
    with pytest.raises(ValueError, match=message):
        tagger.fit(corpus)
    assert not hasattr(tagger, "coef_")


def test_labels_beside_a_corpus(data):
    corpus, X, y, _ = data
    with pytest.raises(ValueError, match="leave y out"):
        SequenceTagger().fit(corpus, y)
    with pytest.raises(ValueError, match="y is missing"):
        SequenceTagger(features=TEMPLATE).fit(X)
    tagger = SequenceTagger().fit(corpus)
    with pytest.raises(ValueError, match="scored alone"):
        tagger.score(corpus, y)


# many shards ---------------------------------------------------------------------------


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
    from maxmargin.core.sharded import Held
    from maxmargin.tags.corpus.training import CorpusBatch, encode_corpus

    _, X, y, _ = data
    tagger = SequenceTagger(features=TEMPLATE)
    encoded = encode_corpus(tagger, many, None, None)
    batch = tagger._encode(X, y, None).batch
    ends = np.cumsum([0, *(piece.n for piece in encoded.batch.pieces)])
    assert encoded.batch.n == 60
    for piece, lo, hi in zip(encoded.batch.pieces, ends, ends[1:], strict=False):
        a, b = piece.load(), Held(cut(batch, lo, hi)).load()
        for name in ("start", "y", "indptr", "indices", "values", "cost", "barrier"):
            assert np.array_equal(getattr(a, name), getattr(b, name)), name
    assert isinstance(encoded.batch, CorpusBatch)
    again = pickle.loads(pickle.dumps(encoded.batch.pieces[1]))
    assert np.array_equal(again.load().indices, encoded.batch.pieces[1].load().indices)


@pytest.mark.parametrize("objective", ["hinge", "log"])
def test_threads_reach_the_same_optimum(many, objective, monkeypatch):
    monkeypatch.setattr(block_coordinate, "IN_FLIGHT", 1)
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
    assert home.crews[0].shards == min(workers, len(many.shards))
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
    for objective in ("hinge", "log"):
        SequenceTagger(objective=objective).fit(many)
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
    from maxmargin.solvers import log_objective
    from maxmargin.solvers.by_piece import LOG

    def noting(name, solver):
        return lambda objective: used.append(name) or solver(objective)

    used = []
    for name, solver in list(LOG.items()):
        monkeypatch.setitem(LOG, name, noting(name, solver))
    tagger = SequenceTagger(objective="log", tol=0.5)
    pieces = encode_corpus(tagger, many, None, None).batch.pieces
    first = int(places(pieces[0].load())[-1])
    for most in (first, 2 * len(pieces) * first):
        monkeypatch.setattr(log_objective, "MOST_PARTS", most)
        tagger.fit(many)
    assert used == ["lbfgs", "handover"]
