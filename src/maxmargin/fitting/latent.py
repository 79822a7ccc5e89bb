"""LatentStructuralSVM: train structured problems whose outputs have hidden parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.encoded import Encoded, check_lengths, check_weights, listed_inputs
from maxmargin.core.listed import given_or
from maxmargin.core.problem import check_problem
from maxmargin.core.problems.latent_functions import LatentBatch, Paired, check_latent
from maxmargin.core.structure import Outputs
from maxmargin.engine.prediction import over_cluster
from maxmargin.fitting.latent_training import check_latent_parameters
from maxmargin.fitting.parameters import LatentStructuralSVMParameters
from maxmargin.fitting.structural import StructuralSVM, copied, is_structure
from maxmargin.metrics.losses import LossReport


class LatentStructuralSVM(LatentStructuralSVMParameters, StructuralSVM, init=False):
    """Structural support vector machine with hidden parts, for a problem of your own.

    Minimises ``1/2 |w|^2 + C sum_i s_i (max_(y,h) [loss + w.Psi(x_i, y, h)]
    - max_h w.Psi(x_i, y_i, h))`` by the concave-convex procedure (Yu & Joachims 2009;
    see ``maxmargin.solvers.hidden.concave_convex``). The objective never rises; where it
    ends depends on the start: ``certificate_`` certifies a stationary point.

    >>> import numpy as np
    >>> from maxmargin import LatentProblem, LatentStructuralSVM
    >>> class Bump(LatentProblem):
    ...     '''y says whether the series x has a bump, h where it is.'''
    ...     def joint_feature(self, x, y, h):
    ...         return y * np.append(x[h : h + 3], 1.0)
    ...     def loss(self, y, y_hat, h_hat):
    ...         return float(y != y_hat)
    ...     def outputs(self, x):
    ...         return [(0, 0)] + [(1, h) for h in range(len(x) - 2)]
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(0, 0.1, (20, 9)), np.arange(20) % 2
    >>> for x in X[1::2]:
    ...     at = rng.integers(7)
    ...     x[at : at + 3] += [1, 2, 1]
    >>> model = LatentStructuralSVM(Bump(), C=10, n_restarts=3).fit(list(X), list(y))
    >>> model.predict(list(X)) == list(y)
    True

    Parameters
    ----------
    problem : LatentProblem or Structure
        Python methods (:class:`maxmargin.LatentProblem`), or a compiled structure that
        implements ``complete`` of ``maxmargin.core.contract``.
    init : "random", "given", array, fitted model or list, default "random"
        The first hidden parts: random; as a structure encodes them; the best under given
        weights, or under those of a fitted model with the same features; or one for each
        sample (problems in Python).
    n_restarts : int, default 1
        Number of starts, of which the best is kept; those after the first are random, and
        run in parallel in ``n_jobs`` threads (compiled structures).
    max_outer : int, default 100
        Outer steps of a start.
    self_paced : bool, default False
        Easy samples first (Kumar, Packer & Koller 2010).
    C, rescaling, penalty, solver, tol, max_iter, max_time, warm_start, n_jobs,
    random_state, verbose, callbacks, objective, engine, checkpoint, resume :
        As in :class:`maxmargin.StructuralSVM`; ``max_iter`` is that of one convex
        problem, ``max_time`` that of one start.

    Attributes
    ----------
    coef_ : ndarray, the weights w
    certificate_ : StationaryPoint(objective, decrease, inner_gap, bound, exact)
    rounds_ : list of dict, one per outer step
    restarts_ : list of float, the objective that each start reached
    completions_ : list, the hidden parts of the training samples (problems in Python)
    history_, n_iter_, n_outer_, converged_, structure_
    """

    _model_name = "LatentStructuralSVM.v1"

    @over_cluster()
    def predict(self, X: Any) -> list[Any]:
        """The y of the best pair (y, h) for every input."""
        found = super().predict(X)
        if is_structure(self.structure_):
            return found
        return Outputs(y for y, _ in found)

    def predict_latent(self, X: Any) -> list[tuple[Any, Any]]:
        """The best pair (y, h) for every input."""
        if is_structure(self.structure_):
            ask = self._asked("predict_latent")
            return ask(listed_inputs("X", X, "inputs"), self.coef_, self._threads())
        return list(super().predict(X))

    def _shown(self, x) -> tuple[Any, list[tuple[str, Any]]]:
        compiled = is_structure(self.structure_)
        if compiled and not hasattr(self.structure_, "predict_latent"):
            return super()._shown(x)
        y, h = both = self.predict_latent([x])[0]
        return y if compiled else both, [("Predicted", y), ("Hidden", h)]

    def _check(self) -> None:
        check_latent_parameters(self)

    def _door(self):
        return Paired(self.structure_)

    def evaluate(self, X: Any, y: Any, *, predicted: Any = None) -> LossReport:
        """The average loss of predictions, and the share of those that are right.

        ``predicted`` is what ``predict_latent(X)`` has returned, for a structure
        ``predict(X)``, if that is known already.
        """
        return super().evaluate(X, y, predicted=predicted)

    def _losses(self, X, y, predicted=None):
        if is_structure(self.structure_):
            return super()._losses(X, y, predicted)
        found = given_or(predicted, lambda: self.predict_latent(X), len(X))
        door = self._door()
        return [door.loss((a, None), b) for a, b in zip(y, found, strict=True)]

    def _encode(self, X, y, sample_weight) -> Encoded:
        if is_structure(self.problem) or isinstance(self.problem, type):
            return super()._encode(X, y, sample_weight)
        X, y = check_lengths(X, y)
        weights = check_weights(sample_weight, len(X))
        check_problem(self.problem)
        check_latent(self.problem)
        structure = copied(self.problem)
        batch = LatentBatch.begin(Paired(structure), X, y, self.init)
        return Encoded(
            batch, batch.n_features, np.float64, weights, {"structure_": structure}
        )

    def _completed(self, encoded, truths) -> None:
        if not isinstance(encoded.batch, tuple):
            self.completions_ = [h for _, h in truths]
