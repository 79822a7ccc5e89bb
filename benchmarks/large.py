"""A corpus of 20 million tokens, trained within 2 GB of memory.

    python benchmarks/large.py [--quick] [--tokens 20_000_000] [--folder DIR]

The corpus is made of real sentences: those of CoNLL-2000, drawn with replacement. One in
five of their open-class words (nouns, names, adjectives, verbs, numbers) is replaced by a
made one with the same ending, tag and chunk, drawn from a Zipf law, so that the
vocabulary keeps growing as in real text (Heaps' law). It is written to many files, every
fourth compressed with gzip; ``TagCorpus.build`` reads them in blocks, numbers the
features in two passes and writes shards, and ``SequenceTagger`` trains on these to a
certified gap. 1/8, 1/4, 1/2 and all of the files show how everything grows. ``--quick``
makes a twentieth of it.

Every row is a fresh process; peak memory is that of the whole process, the compiled code
and Python included. python-crfsuite holds all its data in memory: it is measured on as
many tokens as it holds in the same 2 GB, and on half of them.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import sys
import tempfile

from common import (
    Clock,
    Targets,
    fresh,
    header,
    need_data,
    need_package,
    peak_mb,
    read_columns,
    start,
    table,
    warm_tagger,
    worker,
)

TOKENS = 20_000_000
FILE_TOKENS = 500_000  # of one file, and of one shard
QUICK = 20
SHARES = (8, 4, 2, 1)  # one of so many files
MADE = 0.2  # share of open-class words that are replaced
ZIPF = 1.25  # exponent of the made words: about n ** (1 / 1.25) different ones of n
MIN_COUNT = 20
C = 0.01
TOL = 0.1
LIMIT_MB = 2048
OPEN = ("NN", "VB", "JJ", "CD", "RB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="a twentieth of the tokens"
    )
    parser.add_argument("--tokens", type=int, default=TOKENS)
    parser.add_argument("--folder", help="where the corpus goes (default: temporary)")
    parser.add_argument(
        "--peer-tokens", type=int, help="tokens given to python-crfsuite"
    )
    options = parser.parse_args()
    tokens = options.tokens // (QUICK if options.quick else 1)
    need_data("conll2000/train.txt.gz")
    need_package("python-crfsuite", "pycrfsuite")
    header(
        f"{tokens:,} tokens made of CoNLL-2000, min_count={MIN_COUNT}, C={C}, tol={TOL}"
    )
    work = tempfile.mkdtemp(prefix="maxmargin-large-", dir=options.folder)
    free = shutil.disk_usage(work).free
    if free < 300 * tokens:
        print(
            f"skipped: {work} has {free / 1e9:.1f} GB, and {3e-7 * tokens:.1f} are needed."
        )
        return 0
    try:
        fresh(prepare)
        rows = measured(work, tokens)
        peer(
            work,
            options.peer_tokens or (1_000_000 if options.quick else 2_000_000),
            rows,
        )
    finally:
        shutil.rmtree(work)
    return 0


def measured(work: str, tokens: int) -> list[dict]:
    """Make the text, build corpora of parts of it and train on them."""
    text = os.path.join(work, "text")
    os.mkdir(text)
    size = min(FILE_TOKENS, tokens // max(SHARES))
    made = fresh(make, folder=text, tokens=tokens, size=size)
    print(
        f"made: {made['tokens']:,} tokens in {made['files']} files, {made['mb']:.0f} MB, "
        f"{made['words']:,} different words, {made['tokens'] / made['wall'] / 1e3:.0f} "
        "thousand tokens a second"
    )
    rows = []
    for share in SHARES:
        folder = os.path.join(work, f"corpus{share}")
        count = made["files"] // share
        row = fresh(
            build, text=text, files=count, folder=folder, size=min(size, tokens // 20)
        )
        row |= {f"load_{k}": v for k, v in fresh(load, folder=folder).items()}
        row |= {f"fit_{k}": v for k, v in fresh(train, folder=folder).items()}
        rows.append(row)
        shutil.rmtree(folder)
        print(f"1/{share} of the files is done", file=sys.stderr, flush=True)
    show(rows)
    claims(rows)
    return rows


def show(rows: list[dict]) -> None:
    names = (
        "tokens|features|shards|disk MB|build k/s|peak MB|load k/s|passes|gap|train s"
    )
    table(
        [*names.split("|"), "k tokens/s a pass", "peak MB ", "accuracy"],
        [
            [
                f"{row['tokens']:,}",
                f"{row['features']:,}",
                row["shards"],
                f"{row['disk_mb']:.0f}",
                f"{row['tokens'] / row['wall'] / 1e3:.0f}",
                f"{row['peak_mb']:.0f}",
                f"{row['tokens'] / row['load_wall'] / 1e3:.0f}",
                row["fit_passes"],
                f"{row['fit_gap']:.3f}",
                f"{row['fit_seconds']:.0f}",
                f"{row['tokens'] * row['fit_passes'] / row['fit_seconds'] / 1e3:.0f}",
                f"{row['fit_peak_mb']:.0f}",
                f"{100 * row['fit_accuracy']:.2f}",
            ]
            for row in rows
        ],
    )


def claims(rows: list[dict]) -> None:
    targets = Targets()
    first, last = rows[0], rows[-1]
    growth = last["tokens"] / first["tokens"]
    for what, key in (("building", "peak_mb"), ("training", "fit_peak_mb")):
        targets.at_most(f"peak MB of {what} all", last[key], LIMIT_MB)
    targets.at_most(
        "growth of building time against linear",
        last["wall"] / first["wall"] / growth,
        1.2,
    )
    passes = [row["fit_seconds"] / row["fit_passes"] for row in (first, last)]
    targets.at_most(
        "growth of the time of a pass against linear",
        passes[1] / passes[0] / growth,
        1.2,
    )
    targets.at_most("relative gap", last["fit_gap"], TOL)
    targets.show()


def peer(work: str, tokens: int, rows: list[dict]) -> None:
    """python-crfsuite on as much as it can hold."""
    text = os.path.join(work, "text")
    results = [
        fresh(crfsuite, text=text, tokens=part) for part in (tokens // 4, tokens // 2)
    ]
    per = (results[1]["data_mb"] - results[0]["data_mb"]) / (
        results[1]["tokens"] - results[0]["tokens"]
    )
    holds = (LIMIT_MB - results[0]["data_mb"]) / per + results[0]["tokens"]
    table(
        [
            "python-crfsuite (l2sgd, 10 passes)",
            "data MB",
            "peak MB",
            "CPU s",
            "accuracy",
        ],
        [
            [
                f"{r['tokens']:,} tokens",
                f"{r['data_mb']:.0f}",
                f"{r['peak_mb']:.0f}",
                f"{r['fit_cpu']:.0f}",
                f"{100 * r['accuracy']:.2f}",
            ]
            for r in results
        ],
    )
    print(
        f"Its data take {per * 2**20:.0f} bytes a token: 2 GB hold about {holds:,.0f} "
        f"tokens before training begins, {holds / rows[-1]['tokens']:.0%} of the corpus."
    )


# workers -------------------------------------------------------------------------------


@worker
def prepare() -> dict:
    """Compile what the others load."""
    warm()
    return {}


def warm() -> None:
    from maxmargin import SequenceTagger, TagCorpus

    warm_tagger()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "text")
        with open(path, "w") as file:
            file.write("a A X\nb B Y\n\n" * 10)
        corpus = TagCorpus.build(
            os.path.join(folder, "c"), path, "chunking", shard_tokens=5
        )
        SequenceTagger(tol=TOL).fit(corpus).score(corpus)


@worker
def make(folder: str, tokens: int, size: int) -> dict:
    """Files of real sentences with some made words."""
    import numpy as np

    rng = np.random.default_rng(0)
    (path,) = need_data("conll2000/train.txt.gz")
    sentences = read_columns(path)
    lengths = np.array([len(s) for s in sentences])
    start_ = np.concatenate([[0], np.cumsum(lengths)])
    rows = [row for s in sentences for row in s]
    words = np.array([row[0] for row in rows], object)
    ends = np.array([row[0][-2:] for row in rows], object)
    tails = np.array([f" {row[1]} {row[2]}\n" for row in rows], object)
    open_ = np.array([row[1].startswith(OPEN) for row in rows])
    seen, written, files = set(), 0, 0
    with Clock() as clock:
        while written < tokens:
            chosen = []
            total = 0
            while total < size:
                i = rng.integers(len(sentences), size=1000)
                i = i[: int(np.searchsorted(np.cumsum(lengths[i]), size - total)) + 1]
                chosen.append(i)
                total += int(lengths[i].sum())
            chosen = np.concatenate(chosen)
            at = np.concatenate([np.arange(start_[i], start_[i + 1]) for i in chosen])
            new = np.flatnonzero(open_[at] & (rng.random(len(at)) < MADE))
            these = words[at]
            these[new] = _words(rng.zipf(ZIPF, len(new)), ends[at[new]])
            seen.update(these)
            lines = (these + tails[at]).tolist()
            stops = np.cumsum(lengths[chosen]) - 1
            for stop in stops.tolist():
                lines[stop] += "\n"
            written += len(at)
            _write(folder, files, "".join(lines).encode())
            files += 1
    mb = sum(os.path.getsize(os.path.join(folder, n)) for n in os.listdir(folder)) / 1e6
    return {
        "tokens": written,
        "files": files,
        "mb": mb,
        "words": len(seen),
        "wall": clock.wall,
    }


def _words(ranks, ends) -> list[str]:
    """Words that are spelled by their ranks, with the endings of those they replace."""
    letters = "bdfgklmnprst"
    out = []
    for rank, end in zip(ranks.tolist(), ends, strict=True):
        rank = min(rank, 10**9)
        word = ""
        while rank:
            rank, digit = divmod(rank, 60)
            word += letters[digit // 5] + "aeiou"[digit % 5]
        out.append(word + end)
    return out


def _write(folder: str, number: int, data: bytes) -> None:
    name = os.path.join(folder, f"part{number:04d}.txt")
    if number % 4 == 3:
        name, data = f"{name}.gz", gzip.compress(data, 1)
    with open(name, "wb") as file:
        file.write(data)


def _files(text: str, count: int) -> list[str]:
    return [os.path.join(text, name) for name in sorted(os.listdir(text))[:count]]


def _sentences(path: str):
    """The sentences of a file, one at a time."""
    rows = []
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as lines:
        for line in lines:
            if line != "\n":
                rows.append(line.split())
            elif rows:
                yield rows
                rows = []


@worker
def build(text: str, files: int, folder: str, size: int) -> dict:
    from maxmargin import TagCorpus

    warm()
    names = _files(text, files)
    with Clock() as clock:
        corpus = TagCorpus.build(
            folder, names, "chunking", min_count=MIN_COUNT, shard_tokens=size
        )
    disk = sum(os.path.getsize(os.path.join(folder, n)) for n in os.listdir(folder))
    return {
        "tokens": corpus.n_tokens,
        "features": corpus.n_features,
        "shards": len(corpus.shards),
        "disk_mb": disk / 1e6,
        "wall": clock.wall,
    }


@worker
def load(folder: str) -> dict:
    """Open a corpus and touch all of it: checksums and mapping."""
    from maxmargin import TagCorpus

    with Clock() as clock:
        for shard in TagCorpus.open(folder).shards:
            shard.tokens()
    return {"wall": clock.wall}


@worker
def train(folder: str) -> dict:
    from maxmargin import SequenceTagger, TagCorpus

    warm()
    corpus = TagCorpus.open(folder)
    with Clock() as clock:
        tagger = SequenceTagger(C=C, tol=TOL, verbose=0).fit(corpus)
    return {
        "wall": clock.wall,
        "cpu": clock.cpu,
        "seconds": tagger.history_[-1]["seconds"],
        "passes": tagger.n_iter_,
        "gap": tagger.certificate_.relative_gap,
        "accuracy": tagger.score(corpus),
    }


@worker
def crfsuite(text: str, tokens: int) -> dict:
    import pycrfsuite
    from common import chunk_features

    trainer = pycrfsuite.Trainer(
        "l2sgd", {"max_iterations": 10, "c2": 1.0}, verbose=False
    )
    total, kept = 0, []
    for name in _files(text, sys.maxsize):
        for sentence in _sentences(name):
            trainer.append(chunk_features(sentence), [row[-1] for row in sentence])
            total += len(sentence)
            if len(kept) < 1000:
                kept.append(sentence)
            if total >= tokens:
                break
        if total >= tokens:
            break
    held = peak_mb()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        with Clock() as clock:
            trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        pairs = [
            (z, row[-1])
            for s in kept
            for z, row in zip(tagger.tag(chunk_features(s)), s, strict=True)
        ]
    return {
        "tokens": total,
        "data_mb": held,
        "fit_cpu": clock.cpu,
        "accuracy": sum(a == b for a, b in pairs) / len(pairs),
    }


if __name__ == "__main__":
    start(main)
