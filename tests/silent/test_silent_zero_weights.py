"""A fit that ends at w = 0 says so: its certificate is true, and it has learnt nothing."""

import numpy as np
import pytest

from maxmargin import (
    KernelSVM,
    MulticlassSVM,
    MultilabelSVM,
    Problem,
    StructuralSVM,
    TopKRanker,
)

ZERO = "weights that are all zero"


class Blind(Problem):
    """Two classes, and features that do not see them."""

    def joint_feature(self, x, y):
        return np.zeros(2)

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def loss_augmented_argmax(self, x, y, w):
        return 1 - y

    def argmax(self, x, w):
        return 0


X, Y = np.zeros((6, 2)), [0, 1] * 3


@pytest.mark.parametrize(
    "fit",
    [
        lambda: MulticlassSVM(fit_intercept=False).fit(X, Y),
        lambda: MulticlassSVM(fit_intercept=False, objective="log").fit(X, Y),
        lambda: MulticlassSVM(fit_intercept=False).path(X, Y, [0.1, 1.0])[0],
        lambda: MultilabelSVM(fit_intercept=False).fit(X, [[0], [1]] * 3),
        lambda: StructuralSVM(Blind()).fit(X, Y),
        lambda: KernelSVM().fit(X, Y),
        lambda: TopKRanker(loss="precision").fit(X, Y, [1] * 6),
        lambda: TopKRanker(loss="precision", init="random").fit(X, Y, [1] * 6),
        lambda: TopKRanker(loss="pairwise").fit(X, Y, [1] * 6),
    ],
)
def test_weights_that_are_all_zero_are_a_warning(fit):
    with pytest.warns(UserWarning, match=ZERO):
        model = fit()
    assert model.converged_


def test_the_command_says_so_too(tmp_path, capsys):
    from maxmargin.cli.main import main

    (tmp_path / "t.txt").write_text("1 qid:1 1:1\n0 qid:1 1:1\n")
    args = ["train", "rank", str(tmp_path / "t.txt"), "-o", str(tmp_path / "m")]
    assert main(args) == 0
    assert ZERO in capsys.readouterr().err


def noise(sorted_by_grade):
    rng = np.random.default_rng(0)
    y = np.tile([1, 1, 0, 0, 0, 0, 0, 0], 10)
    if not sorted_by_grade:
        y = y[::-1]
    return rng.normal(size=(80, 3)), y, np.repeat(np.arange(10), 8)


@pytest.mark.parametrize("loss", ["precision", "ndcg", "average-precision", "pairwise"])
def test_short_lists_of_noise_teach_what_they_can(loss):
    X, y, qid = noise(True)
    model = TopKRanker(loss=loss).fit(X, y, qid)
    assert model.coef_.any()
    report = model.evaluate(X, y, qid)
    assert report.mean_average_precision < 0.9
    assert report.ndcg[10] < 0.95
    other, _, _ = noise(True)
    unseen = np.random.default_rng(1).normal(size=other.shape)
    assert model.evaluate(unseen, y, qid).mean_average_precision < 0.75


def test_scores_that_are_all_zero_are_chance():
    X, y, qid = noise(True)
    model = TopKRanker().fit(X, y, qid)
    model.coef_ = np.zeros(3)
    report = model.evaluate(X, y, qid)
    assert report.precision[1] == pytest.approx(0.25)
    X, y, qid = noise(False)
    again = model.evaluate(X, y, qid)
    assert again.mean_average_precision == pytest.approx(report.mean_average_precision)


@pytest.mark.parametrize("loss", ["ndcg", "average-precision", "pairwise"])
@pytest.mark.parametrize("C", [1.0, 1e4])
def test_what_rounding_leaves_of_zero_is_zero(loss, C):
    row = np.random.default_rng(0).normal(size=7)
    X, y = np.tile(row, (40, 1)), np.tile([2, 1, 0, 0, 1], 8)
    with pytest.warns(UserWarning, match=ZERO):
        model = TopKRanker(loss=loss, C=C).fit(X, y, np.repeat(np.arange(8), 5))
    assert np.abs(model.coef_).max() < 1e-9


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_small_weights_of_large_features_are_no_zeros(scale, recwarn):
    X, y, qid = noise(True)
    model = TopKRanker(C=1 / scale**2).fit(X * scale, y, qid)
    assert model.coef_.any()
    assert not [w for w in recwarn if ZERO in str(w.message)]
