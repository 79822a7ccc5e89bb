"""Parameters that nothing would read are refused: a grid over them has one score."""

import numpy as np
import pytest

from maxmargin import (
    GraphLabeler,
    LinkClusterer,
    MulticlassSVM,
    MultilabelSVM,
    SequenceAligner,
    SequenceTagger,
    TaxonomySVM,
    TopKRanker,
)
from maxmargin.cli.main import main

COSTS = np.array([[0.0, 5.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (MulticlassSVM(objective="log", loss=COSTS), "loss"),
        (TaxonomySVM(objective="log", loss="zero-one"), "loss"),
        (MultilabelSVM(objective="log", loss="f1"), "loss"),
        (SequenceTagger(objective="log", loss="zero-one"), "loss"),
        (SequenceTagger(objective="marginal", loss=COSTS), "loss"),
        (SequenceAligner(objective="log", loss="q4"), "loss"),
        (GraphLabeler(objective="log", loss=COSTS), "loss"),
        (MulticlassSVM(objective="perceptron", rescaling="slack"), "rescaling"),
        (MulticlassSVM(objective="perceptron", penalty="quadratic"), "penalty"),
        (MulticlassSVM(objective="passive-aggressive", rescaling="slack"), "rescaling"),
        (TopKRanker(init="random"), "init"),
        (TopKRanker(loss="pairwise", n_restarts=3), "n_restarts"),
        (TopKRanker(loss="average-precision", self_paced=True), "self_paced"),
        (TopKRanker(max_outer=0), "max_outer"),
        (LinkClusterer(method="correlation", r=3.0), "r"),
        (SequenceAligner(scope="local", free_ends="target"), "free_ends"),
    ],
)
def test_what_would_not_be_used_is_refused(model, name):
    with pytest.raises(ValueError, match=rf"^{name}=.* would not be used: "):
        model._settings()
    model.set_params(**{name: type(model)().get_params()[name]})
    model._settings()


def test_what_a_kernel_alone_reads_is_checked_with_a_kernel_alone():
    SequenceTagger(kernel_memory=None)._settings()
    with pytest.raises(ValueError, match="kernel_memory=None is not possible"):
        SequenceTagger(kernel="rbf", kernel_memory=None)._settings()


def test_the_command_says_it_of_options(tmp_path, capsys):
    (tmp_path / "t.txt").write_text("1 qid:1 1:1\n0 qid:1 1:2\n")
    words = ["train", "rank", str(tmp_path / "t.txt"), "-o", str(tmp_path / "m")]
    assert main([*words, "--n-restarts", "3"]) == 2
    err = capsys.readouterr().err
    assert "--n-restarts 3 would not be used: --loss ndcg hides nothing" in err
    assert main([*words, "--loss", "precision", "--n-restarts", "3", "--quiet"]) == 0
