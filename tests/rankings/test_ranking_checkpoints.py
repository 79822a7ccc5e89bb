"""A fit goes on from a checkpoint: its planes are known to be outputs."""

import shutil

import numpy as np
import pytest

from maxmargin import Checkpoint, TopKRanker


@pytest.mark.parametrize("loss", ["precision", "ndcg", "average-precision", "pairwise"])
def test_a_fit_goes_on_where_it_was(loss, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = np.clip(np.round(X[:, 0] + rng.normal(size=120)), 0, 3).astype(int)
    if loss in ("precision", "average-precision"):
        y = (y > 0).astype(int)
    queries = np.repeat(np.arange(15), 8)
    first, middle = tmp_path / "first", tmp_path / "middle"

    def fitted(folder, seen, resume=False):
        model = TopKRanker(
            loss=loss,
            C=1.0,
            solver="n-slack",
            checkpoint=Checkpoint(str(folder), every=0),
            resume=resume,
            callbacks=[seen],
        )
        return model.fit(X, y, queries)

    # of hidden parts, outer steps are kept
    known = 4 if loss == "precision" else 3
    passes, rest = [], []

    def keep(row):
        if len(passes) == known:
            shutil.copytree(first, middle)
        passes.append(row)

    whole = fitted(first, keep)
    again = fitted(middle, rest.append, resume=True)
    np.testing.assert_array_equal(again.coef_, whole.coef_)
    assert again.n_iter_ == whole.n_iter_
    assert len(rest) == len(passes) - known
