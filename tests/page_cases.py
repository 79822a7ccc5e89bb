"""Small files for every task of the command line, with errors to show and evil texts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from maxmargin.cli.main import main

EVIL = "<script>window.evil=1</script>"


def tags(rng, n):
    """Names whose type is sometimes another one, so that there are errors."""
    names = [("Ada", "PER"), ("Oslo", "LOC"), ("Bob", "PER"), ("Rome", "LOC")]
    blocks = []
    for _ in range(n):
        rows = []
        for k in rng.integers(4, size=rng.integers(1, 4)):
            name, kind = names[k]
            if rng.random() < 0.2:
                kind = ("PER", "LOC", "<b>")[rng.integers(3)]
            rows += [f"{name} N B-{kind}", f"{EVIL} N I-{kind}", "sees V O"]
        blocks.append("\n".join(rows) + "\n")
    return "\n".join(blocks)


def classify(rng, n):
    words = {"sea.fish": "wet fin", "sea.<i>crab": "wet claw", "land.owl": "dry wing"}
    lines = []
    for k in rng.integers(3, size=n):
        label, text = list(words.items())[k]
        if rng.random() < 0.25:
            label = list(words)[rng.integers(3)]
        lines.append(f"{label}\t{text} {EVIL}x{rng.integers(9)}")
    return "\n".join(lines) + "\n"


def multilabel(rng, n):
    lines = []
    for marks in rng.random((n, 3)) < 0.5:
        labels = [z for z, there in zip(("a", "b", "<i>"), marks, strict=True) if there]
        seen = [z for z in labels if rng.random() < 0.85] or ["none"]
        lines.append(f"{','.join(labels) or 'a'}\t{' '.join(seen)} {EVIL}")
    return "\n".join(lines) + "\n"


def kernel(rng, n):
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, 2)) + 1.5 * y[:, None]
    rows = [
        f"{a:.3f},{b:.3f},{'<b>yes' if z else 'no'}"
        for (a, b), z in zip(X, y, strict=True)
    ]
    return "\n".join([f"{EVIL},height,class", *rows]) + "\n"


def rank(rng, n):
    lines = []
    for q in range(n):
        for d in range(15):
            x = rng.normal(size=3)
            grade = int(np.clip(x[0] + rng.normal() * 0.7, 0, 2.4))
            cells = " ".join(f"{j + 1}:{v:.3f}" for j, v in enumerate(x))
            lines.append(f"{grade} qid:{q} {cells} # {EVIL} {q}-{d}")
    return "\n".join(lines) + "\n"


def parse(rng, n):
    def phrase():
        return f"(NP (DT the) (NN {rng.choice(['cat', 'dog', EVIL])}))"

    out = []
    for _ in range(n):
        inner = phrase()
        if rng.random() < 0.5:
            with_ = f"(PP (IN with) {phrase()})"
            split = rng.random() < 0.5
            inner = f"{inner} {with_}" if split else f"(NP {inner} {with_})"
        out.append(f"( (S {phrase()} (VP (VBD saw) {inner}) (. .)) )")
    return "\n".join(out) + "\n"


def align(rng, n):
    """Aligned rows, in pairs; letters change, and some are left out."""
    lines = []
    for k in range(n):
        a = "".join(rng.choice(list("ACDEFGHIKL"), 30))
        b = [z if rng.random() < 0.6 else rng.choice(list("ACDEFGHIKL")) for z in a]
        at, size = rng.integers(5, 20), rng.integers(1, 6)
        b[at : at + size] = "-" * size
        at = rng.integers(0, 25)
        a = a[:at] + "---" + a[at + 3 :]
        rows = [(x, y) for x, y in zip(a, b, strict=True) if (x, y) != ("-", "-")]
        top, bottom = ("".join(row) for row in zip(*rows, strict=True))
        lines += [f">a{k}<b>", top, f">b{k}", bottom]
    return "\n".join(lines) + "\n"


def match(rng, n):
    pairs = {"the": "le", "cat": "chat", "dog": "chien", "sees": "voit", EVIL: "mal"}
    lines = []
    for _ in range(n):
        words = list(rng.choice(list(pairs), 5))
        order = np.argsort(np.arange(5) + rng.normal(size=5))
        other = [pairs[words[k]] for k in order]
        links = " ".join(
            f"{k}{'?' if rng.random() < 0.2 else '-'}{j}" for j, k in enumerate(order)
        )
        lines.append(f"{' '.join(words)}\t{' '.join(other)}\t{links}")
    return "\n".join(lines) + "\n"


def cluster(rng, n):
    lines = []
    for d in range(n):
        words, mentions = [], []
        for _ in range(8):
            who = int(rng.integers(3))
            name = (
                ("Ada", "Bob", EVIL)[who]
                if rng.random() < 0.6
                else ("she", "he", "it")[who]
            )
            if rng.random() < 0.15:
                name = "they"
            mentions.append([0, len(words), len(words), who])
            words += [name, "walks", "."]
        row = {"doc": f"d{d}<b>", "sentences": [words], "mentions": mentions}
        lines.append(json.dumps(row))
    return "\n".join(lines) + "\n"


def motif(rng, n):
    lines = []
    for k in range(n):
        letters = list(rng.choice(list("ACGT"), 60))
        positive = k % 2
        if positive and rng.random() < 0.85:
            letters[20:28] = "TTGACATA"
        lines += [f">s{k}<b> label={'+1' if positive else '-1'}", "".join(letters)]
    return "\n".join(lines) + "\n"


def graph(rng, n):
    """Every other graph is an image of 6 x 6 pixels, the rest are rings."""
    lines = []
    for k in range(n):
        if k % 2:
            size, side = 36, 6
            edges = [[v, v + 1] for v in range(size) if (v + 1) % side]
            edges += [[v, v + side] for v in range(size - side)]
            truth = (np.arange(size) % side > rng.integers(1, 5)).astype(int)
        else:
            size = 9
            edges = [[v, (v + 1) % size] for v in range(size)]
            truth = (np.arange(size) > rng.integers(2, 7)).astype(int)
        x = truth + rng.normal(size=size) * 0.6
        labels = ["<i>sea" if z else "sky" for z in truth]
        row = {"nodes": [[round(float(v), 3)] for v in x], "edges": edges}
        lines.append(json.dumps(row | {"labels": labels}))
    return "\n".join(lines) + "\n"


STRUCTURE = '''
from maxmargin import Problem


class Sizes(Problem):
    """Whether a number is large; the largest of three classes wins."""

    def joint_feature(self, x, y):
        return [x[0] * y, y, -y * y]

    def loss(self, y, other):
        return float(y != other)

    def _best(self, x, w, y=None):
        def score(z):
            return w @ self.joint_feature(x, z) + (0.0 if y is None else self.loss(y, z))

        return max(range(3), key=score)

    def argmax(self, x, w):
        return self._best(x, w)

    def loss_augmented_argmax(self, x, y, w):
        return self._best(x, w, y)
'''


def structure(rng, n):
    lines = []
    for _ in range(n):
        y = int(rng.integers(3))
        lines.append(json.dumps({"x": [y + 0.5 * rng.normal(), EVIL], "y": y}))
    return "\n".join(lines) + "\n"


# task: (maker of files, ending, samples to train on, options of train)
TASKS = {
    "tag": (tags, "txt", 60, ["--features", "words", "--objective", "log"]),
    "classify": (classify, "txt", 80, []),
    "multilabel": (multilabel, "txt", 60, ["--objective", "log"]),
    "kernel": (kernel, "csv", 80, []),
    "rank": (rank, "txt", 30, []),
    "parse": (parse, "mrg", 40, []),
    "align": (align, "fasta", 30, ["--rows", "pairs"]),
    "match": (match, "tsv", 40, []),
    "cluster": (cluster, "jsonl", 20, []),
    "motif": (motif, "fasta", 60, ["--width", "8"]),
    "graph": (graph, "jsonl", 30, ["--objective", "log"]),
    "structure": (structure, "jsonl", 30, ["--structure", "sizes_report:Sizes"]),
}


def files_of(task: str, folder: Path) -> tuple[Path, Path, list[str]]:
    """(train, test, options of train) of a task, in this folder."""
    maker, ending, n, options = TASKS[task]
    paths = [
        folder / f"{name}.{ending}" for name in (f"{task}-train", f"{task}<b>test")
    ]
    for seed, path in enumerate(paths):
        path.write_text(maker(np.random.default_rng(seed), n))
    return *paths, options


def train(task: str, folder: Path, name: str, *more: str) -> Path:
    """Train a model of the task on its toy file."""
    path, _, options = files_of(task, folder)
    model = folder / name
    command = ["train", task, str(path), "-o", str(model), "--quiet", *options, *more]
    assert main(command) == 0
    return model


def report(task: str, folder: Path, name: str, *more: str) -> Path:
    """The page of a task on its toy files."""
    _, test, options = files_of(task, folder)
    own = options if task == "structure" else []
    page = folder / f"{task}.html"
    command = ["report", str(folder / name), str(test), "-o", str(page), *own, *more]
    assert main(command) == 0
    return page


@pytest.fixture(scope="session")
def page_of(tmp_path_factory):
    """task -> the path of its page, made once: two models on toy files."""
    folder = tmp_path_factory.mktemp("reports")
    (folder / "sizes_report.py").write_text(STRUCTURE)
    made = {}

    def page(task):
        if task not in made:
            with pytest.MonkeyPatch.context() as patch:
                patch.syspath_prepend(folder)
                names = [f"{task}.model", f"{task}-other.model"]
                train(task, folder, names[0])
                train(task, folder, names[1], "--C", "0.02")
                other = str(folder / names[1])
                made[task] = report(task, folder, names[0], "--against", other)
        return made[task]

    return page
