"""How networks are trained: objectives, held-out data, limits, checkpoints, Ctrl-C."""

import io
import json
import signal
from contextlib import redirect_stderr

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
from neural_cases import sentences, tables, tagger, weights  # noqa: E402

from maxmargin import Checkpoint, plots  # noqa: E402
from maxmargin.neural import training  # noqa: E402

X, y = sentences()
TEST = sentences(20, seed=1)


@pytest.mark.parametrize("start", ["log", "scale", "cold"])
@pytest.mark.parametrize("loss", ["hamming", "spans"])
def test_the_hinge(start, loss):
    model = tagger(objective="hinge", hinge_start=start, loss=loss).fit(X, y)
    if start != "cold":  # which may collapse
        assert model.evaluate(*TEST).f1 > 0.9


def test_what_the_hinge_begins_with():
    seen = []

    class Scored:
        def log_loss(self):
            seen.append("log")

        def hinge(self, scale):
            seen.append(scale)

    fit = object.__new__(training.Fit)
    for start in ("log", "scale", "cold"):
        fit.tagger = tagger(objective="hinge", hinge_start=start, warm_up=0.5)
        for done in (0.0, 0.25, 0.5, 0.9):
            fit._losses(Scored(), done)
    assert seen == ["log", "log", 1.0, 1.0, 0.0, 0.5, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]


def test_losses_of_labels():
    numbers, labels = tables(20)
    for loss in ("absolute", {2: 5.0}, 1.0 - np.eye(3), lambda a, b: abs(a - b)):
        model = tagger(objective="hinge", loss=loss, max_iter=2).fit(numbers, labels)
        table = model.network_.chain.cost_table
        assert table.shape == (3, 3)
        assert float(table.diagonal().sum()) == 0.0


def test_schedules():
    for name, schedule in training.SCHEDULES.items():
        rates = [schedule(k / 100) for k in range(101)]
        assert max(rates) == pytest.approx(1.0)
        assert min(rates) >= 0.0
        if name != "constant":
            assert rates[-1] < 1e-3 < rates[1] < rates[10]
        model = tagger(schedule=name, max_iter=2).fit(X[:20], y[:20])
        assert model.history_[0]["learning_rate"] <= 0.02


def test_held_out_data_decide():
    model = tagger(max_iter=6).fit(X, y, dev=TEST)
    scores = [row["dev_score"] for row in model.history_]
    assert model.dev_.score == max(scores)
    last = max(k for k, score in enumerate(scores, 1) if score == max(scores))
    assert model.dev_.iteration == last
    assert model.evaluate(*TEST).f1 == model.dev_.score  # these weights were kept
    none = tagger(max_iter=2, validation_fraction=0).fit(X, y)
    assert not hasattr(none, "dev_")
    assert "dev_score" not in none.history_[0]


def test_patience_ends_training():
    same = [["x", "x"]] * 40, [["a", "b"], ["b", "a"]] * 20
    model = tagger(max_iter=30, patience=1).fit(*same)
    assert 15 <= model.n_iter_ < 30
    assert model.dev_.stopped


@pytest.mark.parametrize("objective", ["log", "hinge"])
def test_labels_that_are_not_known(objective):
    partial = [
        [label if (i + t) % 3 else None for t, label in enumerate(row)]
        for i, row in enumerate(y)
    ]
    partial[:5] = [None] * 5
    model = tagger(objective=objective, max_iter=15, scheme="BIO").fit(X, partial)
    assert not hasattr(model, "dev_")  # nothing is known whole
    assert model.score(*TEST) > 0.9
    whole = model.complete(X[:8], partial[:8])
    for given, found in zip(partial[5:8], whole[5:], strict=True):
        assert all(a in (None, b) for a, b in zip(given, found, strict=True))
    assert whole[:5] == model.predict(X[:5])


def test_weights_of_sequences():
    twice = X + X, y + [["O"] * len(row) for row in y]
    sure = [1.0] * len(X) + [0.0] * len(X)
    model = tagger(validation_fraction=0).fit(*twice, sample_weight=sure)
    assert model.score(*TEST) > 0.9


def test_lines_and_callbacks():
    seen = []

    def stop(row):
        seen.append(row["iteration"])
        return len(seen) == 2

    said = io.StringIO()
    with redirect_stderr(said):
        model = tagger(callbacks=[stop], verbose=1).fit(X, y)
    assert (seen, model.n_iter_) == ([1, 2], 2)
    line = said.getvalue().split("\n")[0]
    assert line.startswith("pass    1 ")
    assert " loss " in line
    assert " dev " in line
    said = io.StringIO()
    with redirect_stderr(said):
        tagger(max_iter=2, verbose=2).fit(X, y)
    lines = [json.loads(text) for text in said.getvalue().splitlines()]
    assert [row["iteration"] for row in lines] == [1, 2]
    assert "expected_seconds_left" in lines[0]


def test_max_time():
    assert tagger(max_time=1e-9).fit(X, y).n_iter_ == 1


def test_ctrl_c_keeps_the_best_weights():
    def press(row):
        if row["iteration"] == 2:
            signal.raise_signal(signal.SIGINT)

    model = tagger(callbacks=[press])
    with pytest.warns(
        UserWarning, match="Training interrupted in pass 2: the weights are"
    ):
        model.fit(X, y, dev=TEST)
    assert model.n_iter_ == 2
    assert model.evaluate(*TEST).f1 == model.dev_.score


def test_fits_go_on_from_checkpoints(tmp_path):
    whole = tagger(max_iter=6).fit(X, y)
    place = Checkpoint(tmp_path / "kept", every=0)

    def stop(row):
        return row["iteration"] == 3

    part = tagger(max_iter=6, checkpoint=place, callbacks=[stop]).fit(X, y)
    assert part.n_iter_ == 3
    rest = tagger(max_iter=6, checkpoint=place, resume=True)
    with pytest.raises(ValueError, match="of another fit, with another objective"):
        tagger(max_iter=6, dropout=0.4, checkpoint=place, resume=True).fit(X, y)
    with pytest.raises(ValueError, match="which this fit would overwrite"):
        tagger(max_iter=6, checkpoint=place).fit(X, y)
    rest.fit(X, y)
    assert np.array_equal(weights(rest), weights(whole))
    told = ("iteration", "loss", "dev_score")
    assert [[r[k] for k in told] for r in rest.history_] == [
        [r[k] for k in told] for r in whole.history_
    ]


def test_a_fit_that_fails_leaves_the_tagger_as_it_was():
    model = tagger(max_iter=2).fit(X, y)
    before = weights(model)
    with pytest.raises(ValueError, match="y has 3"):
        model.fit(X, y[:3])
    assert np.array_equal(weights(model), before)


def test_curves():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    model = tagger(max_iter=3).fit(X, y)
    figure = plots.plot_convergence(model)
    assert [len(panel.lines[0].get_xdata()) for panel in figure.axes] == [3, 3]
    alone = tagger(max_iter=2, validation_fraction=0).fit(X, y)
    assert len(plots.plot_convergence(alone).axes) == 1
    assert "The loss of a token was" in alone.report(*TEST).html
