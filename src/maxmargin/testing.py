"""Tests of the library for your structures, losses and solvers.

Give a batch and a function that lists every output of a small example, and
:func:`check_structure` compares each function of the contract with enumeration.
:func:`check_solver` runs a solver on a batch and checks what every solver promises.
:func:`check_model_file` saves a model, and loads what others may have made of the file.

>>> import numpy as np
>>> from maxmargin.classes.sparse import make_batch
>>> from maxmargin.testing import check_structure, enumerate_multiclass
>>> batch = make_batch(np.array([0, 1, 2]), np.array([0, 1], np.int32), np.ones(2), 2,
...                    [0, 1], 1.0 - np.eye(3), np.float64)
>>> check_structure(batch, 2 * batch.width, enumerate_multiclass)
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.core import contract
from maxmargin.core.by_label import LinearInLabels, by_label
from maxmargin.core.formulation import make_form
from maxmargin.core.kernel import implemented
from maxmargin.core.objective import Objective
from maxmargin.core.problems.asker import Asker
from maxmargin.files.model_variants import check_model_file as check_model_file
from maxmargin.solvers import registry
from maxmargin.solvers.driver import drive
from maxmargin.solvers.result import Limits, Solution

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

__all__ = [
    "check_loss",
    "check_model_file",
    "check_solver",
    "check_structure",
    "enumerate_chain",
    "enumerate_multiclass",
    "solve",
]

FORMULATIONS = tuple(itertools.product(("margin", "slack"), ("linear", "quadratic")))


# enumerators -------------------------------------------------------------------------


def enumerate_multiclass(batch: Any, i: int) -> Iterable[np.ndarray]:
    """Every class as a labelling of one slot."""
    for k in range(batch.n_labels):
        yield np.array([k], np.int32)


def enumerate_chain(batch: Any, i: int) -> Iterable[np.ndarray]:
    """Every label sequence that no barrier forbids."""
    length = int(batch.start[i + 1] - batch.start[i])
    k = batch.n_labels
    wall = batch.barrier
    for labels in itertools.product(range(k), repeat=length):
        y = np.array(labels, np.int32)
        if length and (
            np.isinf(wall[k, y[0]])
            or np.isinf(wall[k + 1, y[-1]])
            or np.isinf(wall[y[:-1], y[1:]]).any()
        ):
            continue
        yield y


# structures --------------------------------------------------------------------------


def check_structure(
    batch: Any,
    n_weights: int,
    enumerate_outputs: Callable,
    *,
    seed: int = 0,
    trials: int = 3,
    compiled: bool = True,
) -> None:
    """Compare a batch type with enumeration, on random weights.

    Checks for every example: ``possible`` knows its outputs; the loss is zero on the truth,
    finite and not negative; ``value(theta, y) == <w, Psi(x, y)>``; ``margin`` and
    ``difference`` agree with it;
    ``argmax`` finds the maximum with and without loss; the search for the most violated
    output is right, or bounded, in all four formulations. Where there are ``parts``,
    ``<theta, parts(y)>`` is the value. Where there are ``sums``, they
    are those of all outputs, and ``spread`` is the adjoint of ``score``. Where there is
    ``solve_block``, it and ``emit_block`` do what they say, and solvers find what they read
    beside them (``core/by_label.py``).

    Raises AssertionError with a sentence that names example, function and numbers.
    """
    rng = np.random.default_rng(seed)
    for _ in range(trials):
        w = rng.normal(size=n_weights) * 10.0 ** rng.integers(-2, 2)
        for i in range(len(batch.start) - 1):
            outputs = [np.asarray(y, np.int32) for y in enumerate_outputs(batch, i)]
            _check_example(batch, i, w, outputs, rng, compiled, f"example {i}")


def _check_example(batch, i, w, outputs, rng, compiled, where) -> None:
    ask = Asker(batch, i, w, compiled)
    refused = [y for y in outputs if ask.size and not ask.possible(y)]
    assert not refused, f"{where}: possible() refuses the output {refused[:1]}."
    psi = [ask.features(y) for y in outputs]
    truth = batch.y[batch.start[i] : batch.start[i + 1]]
    psi_truth = ask.features(truth)
    losses = np.array([ask.loss(y) for y in outputs])
    found = ask.loss(truth)
    assert found == 0.0, f"{where}: loss of the truth is {found}, it must be 0."
    lowest, highest = losses.min(), losses.max()
    assert lowest >= 0, f"{where}: loss() is {lowest}, it must be zero or more."
    assert highest < np.inf, f"{where}: loss() is {highest}, it must be finite."
    values = np.array([ask.value(y) for y in outputs])
    expected = np.array([w @ p for p in psi])
    _close(values, expected, f"{where}: value(theta, y) differs from <w, Psi(x, y)>")
    margins = np.array([ask.margin(y) for y in outputs])
    _close(
        margins, w @ psi_truth - expected, f"{where}: margin() is not the difference"
    )
    if (
        ask.size
        and isinstance(batch, tuple)
        and implemented(contract.parts, type(batch))
    ):
        tables = _check_parts(ask, outputs, expected, where)
        if contract.probabilistic(batch):
            _check_sums(ask, tables, psi, expected, rng, where)
    for scale in (0.0, 1.0, 0.37):
        y = ask.argmax(scale)
        best = (expected + scale * losses).max()
        got = w @ ask.features(y) + scale * ask.loss(y)
        _close(got, best, f"{where}: argmax() with scale {scale} is not the maximum")
    s, a = (outputs[k] for k in rng.integers(len(outputs), size=2))
    for rs, ra in ((1.0, 1.0), (2.0, 0.5), (1.0, 0.0)):
        want = rs * (psi_truth - ask.features(s)) - ra * (psi_truth - ask.features(a))
        _close(ask.difference(s, rs, a, ra), want, f"{where}: difference() is wrong")
    for rescaling, penalty in FORMULATIONS:
        form = make_form(rescaling, penalty, 1e-6)
        c = np.sqrt(losses) if form.quadratic else losses
        violations = c - (c if form.slack else 1.0) * margins
        best = max(violations.max(initial=0.0), 0.0)
        bound, lossy, lead, _, y = ask.most_violated(form)
        _close(lossy, ask.loss(y), f"{where}: search reports another loss")
        c = math.sqrt(lossy) if form.quadratic else lossy
        got = max(c - (c if form.slack else 1.0) * lead, 0.0)
        what = f"{where}: search, {rescaling} rescaling, {penalty} slacks"
        slop = 1e-7 * (1.0 + best)
        assert bound >= best - slop, (
            f"{what}: bound {bound} is below the maximum {best}."
        )
        assert got <= best + slop, f"{what}: found {got}, above the maximum {best}."
        if form.slack == 0 and form.quadratic == 0:
            _close(got, best, f"{what}: not the maximum")
    if implemented(contract.solve_block, type(batch)):
        labels = np.array([int(y[0]) for y in outputs])
        _check_block(ask, labels, psi_truth - np.array(psi), losses, rng, where)


def _check_block(ask, labels, psi, losses, rng, where) -> None:
    """The block of an example in closed form, and what solvers read beside it."""
    batch, mass = by_label(ask.batch), 1.0 + rng.random()
    alpha = np.zeros(batch.width)
    alpha[labels] = mass * rng.dirichlet(np.ones(len(labels)))
    total, w = ask.emit_block(mass, alpha)
    _close(w, alpha[labels] @ psi, f"{where}: emit_block() is not sum alpha psi")
    _close(total, alpha[labels] @ losses, f"{where}: emit_block() has another loss")
    if isinstance(batch, LinearInLabels):
        scores = batch.dense_rows()[ask.i] @ batch.weight_table(ask.w)
        same = scores[batch.y[ask.i]] - scores[labels]
        _close(same, psi @ ask.w, f"{where}: dense_rows() and weight_table() differ")
    violations = losses - psi @ ask.w
    solved, w = alpha.copy(), ask.w.copy()
    gap, hinge = ask.solve_block(mass, solved, w)
    _close(hinge, violations.max(), f"{where}: solve_block() has another hinge")
    open_ = mass * violations.max() - alpha[labels] @ violations
    _close(gap, open_, f"{where}: solve_block() has another gap")
    moved = (solved - alpha)[labels]
    _close(w, ask.w + moved @ psi, f"{where}: solve_block() has other weights")
    assert solved.min() >= -1e-9, f"{where}: solve_block() has negative shares."
    _close(solved.sum(), mass, f"{where}: shares of solve_block() are not the mass")
    gained = moved @ losses - 0.5 * (w @ w - ask.w @ ask.w)
    slop = 1e-7 * (1.0 + w @ w)
    assert gained >= -slop, f"{where}: with solve_block() the dual falls by {-gained}."


def _check_parts(ask, outputs, values, where) -> list[np.ndarray]:
    """The parts of all outputs, which give their values."""
    tables = [ask.parts(y) for y in outputs]
    theta = np.where(np.isfinite(ask.theta), ask.theta, 0.0)
    got = np.array([np.sum(theta * table) for table in tables])
    _close(got, values, f"{where}: <theta, parts(y)> differs from value(theta, y)")
    outside = max(float(np.abs(table * (1.0 - ask.inside)).max()) for table in tables)
    assert outside == 0.0, f"{where}: parts() writes outside of the extent."
    return tables


def _check_sums(ask, tables, psi, values, rng, where) -> None:
    """log Z, expectations, features of parts, and <F w, mu> == <w, F^T mu>."""
    possible = np.isfinite(ask.theta)
    theta = np.where(possible, ask.theta, 0.0)
    for table, features in zip(tables, psi, strict=True):
        _close(ask.spread(table), features, f"{where}: spread(parts(y)) is not Psi")
    top = values.max()
    p = np.exp(values - top)
    total, mu = ask.sums()
    _close(total, top + np.log(p.sum()), f"{where}: sums() is not the log-partition")
    wanted = np.tensordot(p / p.sum(), tables, 1)
    _close(mu, wanted, f"{where}: sums() does not expect what outputs say")
    mu = np.where(possible, rng.normal(size=mu.shape), 0.0) * ask.inside
    left, right = np.sum(theta * mu), ask.w @ ask.spread(mu)
    _close(left, right, f"{where}: spread() is not the adjoint of score()")


def _close(got, want, what) -> None:
    scale = 1.0 + float(np.abs(want).max(initial=0.0) if np.ndim(want) else abs(want))
    error = np.abs(np.asarray(got) - np.asarray(want))
    assert float(error.max(initial=0.0)) <= 1e-7 * scale, (
        f"{what}: {got} against {want}."
    )


# losses ------------------------------------------------------------------------------


def check_loss(loss: Callable, outputs: Iterable) -> None:
    """``loss(y, y_hat)`` on all pairs: finite, >= 0, zero on the truth."""
    outputs = list(outputs)
    for y in outputs:
        for z in outputs:
            found = float(loss(y, z))
            assert math.isfinite(found), f"loss({y!r}, {z!r}) is {found}, not finite."
            assert found >= 0, (
                f"loss({y!r}, {z!r}) is {found}, it must not be negative."
            )
        assert float(loss(y, y)) == 0, f"loss({y!r}, itself) is not zero."


# solvers -----------------------------------------------------------------------------


def solve(
    batch: Any,
    n_weights: int,
    *,
    solver: str = "block-coordinate",
    C: float = 1.0,
    rescaling: str = "margin",
    penalty: str = "linear",
    tol: float = 1e-7,
    max_iter: int = 5000,
    sample_weight: ArrayLike | None = None,
    dtype: Any = np.float64,
    seed: int = 0,
) -> tuple[Solution, Objective]:
    """Train on a batch, without an estimator around it."""
    n = len(batch.start) - 1
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, float)
    form = make_form(rescaling, penalty, tol)
    objective = Objective(batch, n_weights, form, C * weights, dtype, 1, seed)
    machine = registry.make(solver, objective)
    return drive(objective, machine, Limits(tol=tol, max_iter=max_iter)), objective


def check_solver(
    batch: Any,
    n_weights: int,
    *,
    solver: str,
    reference: float | None = None,
    C: float = 1.0,
    rescaling: str = "margin",
    penalty: str = "linear",
    tol: float = 1e-7,
    **options: Any,
) -> float:
    """Run a solver and check what it promises; returns the primal it reached.

    The dual never falls, the gap is never negative, the certificate meets ``tol``, its
    primal is the primal of the weights returned, every prediction's loss is bounded by
    its slack, and the optimum equals ``reference`` if given.
    """
    solution, objective = solve(
        batch,
        n_weights,
        solver=solver,
        C=C,
        rescaling=rescaling,
        penalty=penalty,
        tol=tol,
        **options,
    )
    what = f"{solver}, {rescaling} rescaling, {penalty} slacks"
    duals = np.array([row["dual"] for row in solution.history])
    gaps = np.array([row["gap"] for row in solution.history])
    certificate = solution.certificate
    slop = 1e-9 * max(abs(certificate.primal), 1.0)
    assert (np.diff(duals) >= -slop).all(), f"{what}: the dual fell."
    assert (gaps >= 0).all(), f"{what}: a gap was negative."
    assert solution.converged, f"{what}: {solution.status} at {certificate}."
    assert certificate.relative_gap <= tol, f"{what}: {certificate} is above tol={tol}."
    primal, multiple, sweep = objective.primal(solution.w)
    _close(primal, certificate.primal, f"{what}: primal of the weights returned")
    _check_risk(objective, multiple * solution.w, sweep, what)
    if reference is not None:
        error = abs(primal - reference) / max(abs(reference), 1e-12)
        assert error <= 10 * tol + 1e-9, (
            f"{what}: optimum {primal} differs from the reference {reference}."
        )
    return primal


def _check_risk(objective: Objective, w, sweep, what) -> None:
    """H_i (H_i^2 for quadratic slacks) bounds the loss of the prediction."""
    bound = sweep.hinges**2 if objective.form.quadratic else sweep.hinges
    for i in range(objective.n):
        ask = Asker(objective.batch, i, w, isinstance(objective.batch, tuple))
        found = ask.loss(ask.argmax(0.0))
        assert found <= bound[i] + 1e-6 * (1 + bound[i]), (
            f"{what}: example {i} has loss {found}, above its bound {bound[i]}."
        )
