"""Sentences in memory and the same on disk, and taggers of both."""

import pickle

import numpy as np
import pytest

from maxmargin import TagCorpus
from maxmargin.files import columns_from
from maxmargin.files.model_file import load, save

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
