"""Files of tagged sentences, and corpora made of them."""

import gzip

import numpy as np
import pytest

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
