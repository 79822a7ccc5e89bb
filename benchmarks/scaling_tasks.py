"""What ``scaling.py`` fits: data, settings, and what two threads may take of one's time.

Data and settings are those of the other benchmarks: ``default_rows/`` has the loaders.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from common import load_letters, need_data

CHUNKS = "conll2000/train.txt.gz"
NAMES = "conll2002_esp/esp.train.txt.gz"


class Task(NamedTuple):
    """``make()`` is an estimator and what its ``fit`` is called with."""

    group: str
    make: Callable
    data: str  # folder
    above: float | None = None  # the limit of two cores, if a fit takes over a second
    most: float = 1.05
    passes: bool = False  # are counted for 1 to 16 threads
    timed: bool = True
    quick: bool = False


# tags ----------------------------------------------------------------------------------


def _text(file: str, features: str, columns: int, **options):
    from maxmargin import SequenceTagger
    from maxmargin.files import read_columns

    (path,) = need_data(file)
    read = read_columns(path)
    X = read._replace(columns=read.columns[:columns])
    return SequenceTagger(features=features, **options), (X, read.strings(-1))


def chunks(**options):
    return _text(CHUNKS, "chunking", 2, **options)


def names(**options):
    return _text(NAMES, "ner", 1, **options)


def letters(**options):
    from maxmargin import SequenceTagger

    return SequenceTagger(**options), load_letters(train=True)


def sentences(count: int, **options):
    """The first sentences of CoNLL-2000, as lists."""
    from common import read_columns

    from maxmargin import SequenceTagger

    (path,) = need_data(CHUNKS)
    rows = read_columns(path)[:count]
    X = [[row[:2] for row in sentence] for sentence in rows]
    y = [[row[-1] for row in sentence] for sentence in rows]
    return SequenceTagger(features="chunking", **options), (X, y)


# other families ------------------------------------------------------------------------


def trees(longest: int, most: int | None = None, **options):
    from parsing import TRAIN, load_trees

    from maxmargin import GrammarParser

    return GrammarParser(**options), (None, load_trees(TRAIN, longest)[:most])


def alignments(data: str, quick: bool = False):
    from default_rows.alignments import load

    from maxmargin import SequenceAligner

    return SequenceAligner(), tuple(load(data, quick)[:2])


def window():
    """The Window model of ``alignment.py``, pairs with known secondary structure."""
    from alignment import load_pairs

    from maxmargin import SequenceAligner
    from maxmargin.alignments.features.models import thesis_model

    return SequenceAligner(**thesis_model("window").settings), load_pairs()


def matchings(quick: bool = False):
    from default_rows.matchings import load

    from maxmargin import WordAligner

    bitext, X, y, *_ = load(False, quick)
    return WordAligner(bitext=bitext), (X, y)


def graphs(data: str, quick: bool = False):
    from default_rows.graphs import load

    from maxmargin import GraphLabeler

    return GraphLabeler(), tuple(load(data, quick)[:2])


def classes(data: str, **options):
    from default_rows.classes import load

    from maxmargin import MulticlassSVM

    return MulticlassSVM(**options), tuple(load(data)[:2])


def iris():
    from sklearn.datasets import load_iris

    from maxmargin import MulticlassSVM

    return MulticlassSVM(), load_iris(return_X_y=True)


def rankings(data: str, copies: int = 1, **options):
    """The first fold, several times over with features that differ a little."""
    from default_rows.rankings import folds_of

    from maxmargin import TopKRanker

    (X, y, qid), _ = next(iter(folds_of(data)))
    rng = np.random.default_rng(0)
    rows = [X, *(X + 0.05 * rng.normal(size=X.shape) for _ in range(copies - 1))]
    numbers = np.unique(qid, return_inverse=True)[1]
    lists = [numbers + k * (numbers.max() + 1) for k in range(copies)]
    arguments = np.concatenate(rows), np.tile(y, copies), np.concatenate(lists)
    return TopKRanker(**options), arguments


def kernels(data: str, **options):
    from default_rows.kernels import load

    from maxmargin import KernelSVM

    return KernelSVM(**options), tuple(load(data)[:2])


def digits():
    from sklearn.datasets import load_digits

    from maxmargin import KernelSVM

    X, y = load_digits(return_X_y=True)
    return KernelSVM(), (X[:600], y[:600])


# the table -----------------------------------------------------------------------------


def _of(function, *arguments, **options):
    return lambda: function(*arguments, **options)


NEAR, FAR, SOME = 0.12, 0.2, 0.85
CONLL, SPANISH, OCR = "conll2000", "conll2002_esp", "ocr_letters"
TASKS = {
    "CoNLL-2000, margins": Task(
        "tags", _of(chunks, C=0.1, tol=0.02), CONLL, NEAR, passes=True
    ),
    "CoNLL-2000, margins, C=1, tol=0.05": Task(
        "tags", _of(chunks, C=1.0, tol=0.05), CONLL, NEAR, passes=True, timed=False
    ),
    "OCR letters, margins": Task(
        "tags", _of(letters, C=0.1, tol=0.02), OCR, NEAR, passes=True, quick=True
    ),
    "CoNLL-2000, CRF": Task(
        "crf", _of(chunks, C=0.1, tol=0.01, objective="log"), CONLL, NEAR, passes=True
    ),
    "OCR letters, CRF": Task(
        "crf", _of(letters, C=0.1, tol=0.01, objective="log"), OCR, NEAR, passes=True
    ),
    "Spanish entities, margins": Task(
        "entities", _of(names, C=0.1, tol=0.02), SPANISH, FAR, passes=True
    ),
    "Spanish entities, CRF": Task(
        "entities",
        _of(names, C=0.1, tol=0.01, objective="log"),
        SPANISH,
        FAR,
        passes=True,
    ),
    "parsing, up to 15 words": Task(
        "trees", _of(trees, 15), "wsj_sample_trees", NEAR, passes=True
    ),
    "alignments, HOMSTRAD": Task(
        "alignments", _of(alignments, "HOMSTRAD"), "homstrad_struct", NEAR, passes=True
    ),
    "alignments, BAliBASE, window": Task(
        "alignments", window, "balibase3", NEAR, passes=True
    ),
    "matchings, Hansards": Task(
        "matchings", matchings, "hansards_align", NEAR, passes=True
    ),
    "graphs, Snakes": Task(
        "graphs", _of(graphs, "Snakes"), "snakes", NEAR, passes=True
    ),
    "graphs, horses": Task(
        "graphs", _of(graphs, "horses"), "weizmann_horses64", NEAR, passes=True
    ),
    "20 newsgroups": Task(
        "classes",
        _of(classes, "newsgroups"),
        "newsgroups20",
        most=SOME,
        passes=True,
        quick=True,
    ),
    "OCR letters as classes": Task(
        "classes", _of(classes, "letters", C=0.1), OCR, most=SOME, passes=True
    ),
    "rankings, OHSUMED, C=100": Task(
        "rankings",
        _of(rankings, "ohsumed", C=100.0),
        "ohsumed_letor3",
        most=SOME,
        passes=True,
    ),
    "rankings, OHSUMED 10 times": Task(
        "rankings",
        _of(rankings, "ohsumed", 10),
        "ohsumed_letor3",
        most=SOME,
        passes=True,
    ),
    "kernels, covertype": Task(
        "kernels", _of(kernels, "covertype, 4,000 rows"), "covertype", most=SOME
    ),
    "kernels, a9a, exact": Task(
        "kernels", _of(kernels, "a9a, 20,000 rows", method="exact"), "a9a", most=SOME
    ),
    "kernels, spambase, pursuit": Task(
        "kernels",
        _of(kernels, "spambase", method="subspace-pursuit", n_components=200),
        "spambase",
        most=SOME,
    ),
}


class Small(NamedTuple):
    """A fit of a fraction of a second, and with how many threads it is no slower."""

    make: Callable
    data: str = ""
    n_jobs: int = 2
    cores: int | None = None  # what the machine pretends to have
    quick: bool = False


SMALL = {
    "50 sentences": Small(_of(sentences, 50), CONLL),
    "50 sentences, n_jobs=-1 of 64 cores": Small(
        _of(sentences, 50), CONLL, -1, 64, quick=True
    ),
    "50 sentences, CRF": Small(_of(sentences, 50, objective="log"), CONLL),
    "iris": Small(iris, quick=True),
    "30 trees": Small(_of(trees, 10, 30), "wsj_sample_trees"),
    "20 alignments": Small(_of(alignments, "BAliBASE RV11", True), "balibase3"),
    "20 matchings": Small(_of(matchings, True), "hansards_align"),
    "rankings, OHSUMED": Small(_of(rankings, "ohsumed"), "ohsumed_letor3"),
    "rankings, diabetes": Small(_of(rankings, "diabetes")),
    "kernels, 600 digits": Small(digits),
}
GROUPS = (*dict.fromkeys(task.group for task in TASKS.values()), "small")
