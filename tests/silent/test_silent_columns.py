"""A column with a huge number is a sentence, not the end of the process."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import (
    KernelSVM,
    MulticlassSVM,
    MultilabelSVM,
    SequenceTagger,
    TaxonomySVM,
    TopKRanker,
)
from maxmargin.cli.main import main
from maxmargin.files import read_letor
from maxmargin.rankings.start import classification_weights

LARGEST = 2**31 - 1
ROOM = 4 * 2**30  # bytes, less than one array with a number for every column


@pytest.fixture(autouse=True)
def bounded_memory():
    """Where the system allows it: arrays of all columns fail, and do not end pytest."""
    sizes = Path("/proc/self/statm")
    if not sizes.exists():
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    limit = int(sizes.read_text().split()[0]) * resource.getpagesize() + ROOM
    if before[1] != resource.RLIM_INFINITY:
        limit = min(limit, before[1])
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def wide(width):
    return sp.csr_matrix(([1.0, 1.0, 0.5], ([0, 0, 1], [0, width - 1, 1])), (2, width))


@pytest.mark.parametrize("width", [10**8, LARGEST])
@pytest.mark.parametrize(
    "fit",
    [
        lambda X: TopKRanker().fit(X, [1, 0], [1, 1]),
        lambda X: TopKRanker(loss="pairwise").fit(X, [1, 0], [1, 1]),
        lambda X: MulticlassSVM().fit(X, [0, 1]),
        lambda X: MultilabelSVM().fit(X, [[0], [1]]),
        lambda X: MultilabelSVM(graph="tree").fit(X, [[0, 1], [1]]),
        lambda X: TaxonomySVM().fit(X, ["a.b", "a.c"]),
        lambda X: KernelSVM().fit(X, [0, 1]),
        lambda X: SequenceTagger().fit([X], [["a", "b"]]),
    ],
)
def test_estimators_name_the_columns(fit, width):
    with pytest.raises(ValueError, match=r"columns, but only \d|more than .* weights"):
        fit(wide(width))


@pytest.mark.parametrize(
    ("task", "line"),
    [
        (["rank"], "{} qid:1"),
        (["classify", "--format", "svmlight"], "{}"),
        (["multilabel", "--format", "svmlight"], "{}"),
        (["kernel"], "{}"),
        (["tag", "--format", "svmhmm"], "{} qid:1"),
    ],
)
def test_commands_name_the_columns(task, line, tmp_path, capsys):
    path = tmp_path / "wide.txt"
    rows = [line.format(1) + f" 1:0.5 {LARGEST}:1", line.format(0) + " 2:0.1"]
    path.write_text("\n".join(rows) + "\n")
    name, *options = task
    model = str(tmp_path / "m")
    assert main(["train", name, str(path), *options, "-o", model]) == 2
    said = capsys.readouterr().err
    assert "2,147,483,647 columns" in said or "2,147,483,647 features" in said


def test_liblinear_sees_used_columns_only():
    X = sp.csr_matrix(([1.0, 2.0, -1], ([0, 1, 2], [5, 900_000, 5])), (3, 10**6))
    first, relevant = np.array([0, 3]), np.array([1, 1, 0])
    w = classification_weights(X, relevant, first)
    assert w.shape == (10**6,)
    assert set(np.flatnonzero(w)) == {5, 900_000}
    few = classification_weights(X[:, [5, 900_000]].toarray(), relevant, first)
    np.testing.assert_allclose(w[[5, 900_000]], few, rtol=1e-6)


def test_gaps_that_cost_little_are_fine(tmp_path):
    (tmp_path / "few.txt").write_text("1 qid:1 1:2 90000:1\n0 qid:1 2:0.1\n")
    found = read_letor(tmp_path / "few.txt")
    model = TopKRanker(k=1).fit(found.X, found.y, found.qid)
    assert model.coef_.shape == (90_000,)
    assert model.coef_[89_999] > 0
