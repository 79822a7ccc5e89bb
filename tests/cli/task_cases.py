"""A tiny file and a model of every task."""

import csv
import random

from maxmargin.cli.main import main

TAGGED = "Ada B\nlives O\nin O\nRome B\n\nBob B\nmet O\nEve B\n\n"
TEXTS = "a.x\tone two\nb.y\tthree four\na.x\tone one\nb.y\tfour four\n"
RANKED = (
    "2 qid:1 1:0.5 2:1 #first\n0 qid:1 1:0.1 #second\n1 qid:2 2:1 #third\n"
    "0 qid:2 1:1 #fourth\n"
)
VECTORS = "x 1:1 2:0\ny 1:0 2:1\nx 1:0.9\ny 2:0.8\n"
TREES = (
    "( (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog)))) )\n"
    "( (S (NP (DT a) (NN dog)) (VP (VBD met) (NP (DT the) (NN cat)))) )\n"
)
ARCS = "".join(
    "\t".join(row.split()) + "\n"
    for row in (
        *("1 the _ D DT _ 2 det _ _", "2 cat _ N NN _ 3 subj _ _"),
        *("3 saw _ V VBD _ 0 root _ _", "4 dogs _ N NNS _ 3 obj _ _", ""),
        *("1 dogs _ N NNS _ 2 subj _ _", "2 bark _ V VBP _ 0 root _ _", ""),
    )
)
PAIRS = ">a\nACDE-FG\n>b\nAC-EEFG\n>c\nACDEFG\n>d\nACD-FG\n"
LINKED = "he sleeps\til dort\t0-0 1-1\nshe sleeps\telle dort\t0-0 1-1\n"
DOCUMENTS = (
    '{"doc": "emma", "sentences": [["Emma", "saw", "her", "friend"]], "mentions": '
    '[[0, 0, 0, 1, "PER", "PROP"], [0, 2, 2, 1, "PER", "PRON"], '
    '[0, 2, 3, 2, "PER", "NOM"]]}\n'
)
GRAPHS = (
    '{"nodes": [[1, 0], [0, 1], [1, 0]], "edges": [[0, 1], [1, 2]], '
    '"labels": ["a", "b", "a"]}\n'
    '{"nodes": [[1, 0], [0, 1]], "edges": [[0, 1]], "labels": ["a", "b"]}\n'
)
OWN = '{"x": [1], "y": 1}\n{"x": [-1], "y": 0}\n'
FILES = {
    "tag": (TAGGED, "--features", "words"),
    "classify": (TEXTS,),
    "multilabel": (TEXTS.replace("b.y", "a.x,b.y"),),
    "rank": (RANKED,),
    "kernel": (VECTORS,),
    "parse": (TREES,),
    "depend": (ARCS,),
    "align": (PAIRS,),
    "match": (LINKED,),
    "cluster": (DOCUMENTS,),
    "graph": (GRAPHS,),
    "motif": ("", "--width", "6"),
    "structure": (OWN, "--structure", "task_structures:Sign"),
}


def motifs(n=12):
    """Records with a motif, and as many without."""
    drawn, records = random.Random(0), []
    for i in range(2 * n):
        letters = drawn.choices("ACGT", k=40)
        if i < n:
            letters[7:13] = "TTGACA"
        records.append(f">s{i} label={int(i < n)}\n{''.join(letters)}\n")
    return "".join(records)


def train_all(folder):
    """{task: (model file, training file)}"""
    found = {}
    for task, (text, *options) in FILES.items():
        train, model = folder / f"{task}.train", str(folder / f"{task}.model")
        train.write_text(text or motifs())
        command = ["train", task, str(train), "-o", model, "--quiet", *options]
        assert main(command) == 0
        found[task] = model, str(train)
    return found


# reading what was written ------------------------------------------------------------


def lines_of(path):
    return path.read_text().splitlines()


def table(path, between=","):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter=between))
