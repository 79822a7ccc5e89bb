"""One slack per labelling, against all label sequences."""

import numpy as np
import pytest
from objective_cases import chain, drive_on, listed, toy

from maxmargin import SequenceTagger
from maxmargin.core.formulation import make_form


def per_output_reference(batch, n_weights, mass, passes=20_000):
    """The optimum over all labellings by plain coordinate ascent on their dual."""
    planes, boxes = [], []
    for i, x in enumerate(listed(batch, np.zeros(n_weights))):
        psi = x.psi[x.is_truth] - x.psi[~x.is_truth]
        planes.append(psi)
        boxes.append(np.full(len(psi), mass[i]))
    planes, boxes = np.concatenate(planes), np.concatenate(boxes)
    gram = planes @ planes.T
    alpha = np.zeros(len(planes))
    slopes = np.ones(len(planes))  # 1 - w.psi
    for _ in range(passes):
        moved = 0.0
        for p in range(len(planes)):
            if gram[p, p] > 0:
                new = np.clip(alpha[p] + slopes[p] / gram[p, p], 0, boxes[p])
                step = new - alpha[p]
                alpha[p] = new
                slopes -= step * gram[:, p]
                moved = max(moved, abs(step))
            else:
                alpha[p] = boxes[p]
        if moved < 1e-7:
            break
    w = alpha @ planes
    primal = 0.5 * w @ w + boxes @ np.maximum(1 - planes @ w, 0)
    assert primal - (alpha.sum() - 0.5 * w @ w) <= 1e-4 * primal
    return primal, w


def per_output(batch, n_weights, mass, tol=1e-6, max_iter=500):
    from maxmargin.tags.per_output import PerOutput, PerOutputObjective

    form = make_form("margin", "linear", tol)
    objective = PerOutputObjective(batch, n_weights, form, mass, np.float64)
    return drive_on(objective, PerOutput(objective), tol=tol, max_iter=max_iter)


@pytest.mark.parametrize("C", [0.02, 0.5, 20.0])
@pytest.mark.parametrize(("seed", "wall"), [(0, 0.0), (1, 0.3)])
def test_per_output_agrees_with_all_labellings(seed, wall, C):
    batch, n_weights = chain(seed, (1, 2, 3, 2, 3), wall=wall)
    mass = C * np.array([1.0, 2.0, 0.0, 0.5, 1.0])
    wanted, _ = per_output_reference(batch, n_weights, mass)
    solution = per_output(batch, n_weights, mass)
    certificate = solution.certificate
    assert solution.converged
    assert certificate.exact
    assert certificate.primal == pytest.approx(wanted, rel=1e-4)
    assert certificate.dual <= wanted * (1 + 1e-9)
    duals = [row["dual"] for row in solution.history]
    assert (np.diff(duals) >= -1e-12).all()
    # the certified primal is the primal of the weights, over all labellings
    value = 0.5 * solution.w @ solution.w
    for m, x in zip(mass, listed(batch, solution.w), strict=True):
        value += m * np.maximum(1 + x.lead[~x.is_truth], 0).sum()
    assert certificate.primal == pytest.approx(value, rel=1e-9)
    rank = sum(
        m * (x.lead[~x.is_truth] >= 0).sum()
        for m, x in zip(mass, listed(batch, solution.w), strict=True)
    )
    assert rank <= value


def test_per_output_says_when_lists_are_cut(monkeypatch):
    from sklearn.exceptions import ConvergenceWarning

    from maxmargin.tags import per_output as module

    X, y = toy(5, n=10)
    tagger = SequenceTagger(objective="hinge-per-output", C=1e-4)
    monkeypatch.setattr(module, "CAP", 1000)
    whole = tagger.fit(X, y).certificate_
    monkeypatch.setattr(module, "CAP", 4)
    monkeypatch.setattr(module, "FIRST", 2)
    monkeypatch.setattr(module, "STORED", 8)
    with pytest.warns(ConvergenceWarning, match="certificate_ is not exact"):
        cut = tagger.fit(X, y)
    assert not cut.certificate_.exact
    assert cut.converged_
    assert cut.certificate_.gap <= 0.1 * cut.certificate_.primal
    assert cut.certificate_.dual <= whole.primal
    assert whole.exact


def test_per_output_through_the_estimator():
    X, y = toy(6, n=20, longest=4)
    model = SequenceTagger(objective="hinge-per-output", C=0.05, tol=1e-3).fit(X, y)
    assert model.converged_
    assert model.certificate_.exact
    assert model.certificate_.relative_gap <= 1e-3
    assert model.score(X, y) > 0.6
