"""Part scores together with the examples they score: losses, best outputs, marginals.

Every structure gives the same answers here (:class:`Scored`), and a loss is a function of
such an object. Gradients are by formula: expected parts minus those of the truth, or
those of the most violated output minus those of the truth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from maxmargin.core import flat_scores
from maxmargin.core.checks import one_of
from maxmargin.core.completion import with_truths
from maxmargin.core.formulation import make_form
from maxmargin.core.partial import ordinary
from maxmargin.torch import checks, ranked
from maxmargin.torch.examples import Examples, as_examples
from maxmargin.torch.functions import (
    Entropy,
    ExpectedParts,
    LogPartition,
    Value,
    scores_of,
)
from maxmargin.torch.sparse_map import SparseMarginals, active_set

SEARCH_TOL = 1e-6  # of the search for rescaled slacks, where it is not exact


class Scored:
    """Scores of the parts of some examples.

    Parameters
    ----------
    scores : tensor
        One number per part: flat, example after example, or padded, a row per example.
        -inf forbids a part.
    examples : Examples or batch
        What is scored; the truths are in it.
    shared : tensor, optional
        The scores that all examples have in common, where the structure has such.
    shape : function, optional
        What makes of flat marginals what users see; those of shared parts are left out
        then.
    """

    def __init__(
        self,
        scores: Any,
        examples: Any,
        shared: Any = None,
        shape: Callable[[Any], Any] | None = None,
    ):
        self._shape = shape
        self.examples: Examples = as_examples(examples)
        self.own, self.head = checks.scores_and_shared(scores, self.examples, shared)
        self._dtype = scores.dtype
        self._width = scores.shape[1] if scores.dim() == 2 else None

    # probabilities ----------------------------------------------------------------------

    def log_partition(self) -> Any:
        """log of the sum of exp(score) over all outputs (n,)."""
        self._need_sums("log-partitions")
        return self._checked(self._log_partition(False)).to(self._dtype)

    def log_loss(self) -> Any:
        """-log of the probability of the truth (n,); of what is known of it."""
        self._need_sums("log-losses")
        known = self._known_value()
        return (self._checked(self._log_partition(False)) - known).to(self._dtype)

    def marginals(self) -> Any:
        """The expected number of every part, in the shape of the scores.

        Where parts are shared, a pair: those of the examples, and the sum over examples
        of those in common.
        """
        self._need_sums("marginals")
        ones = torch.ones(self.examples.n, dtype=torch.float64)
        own, head = ExpectedParts.apply(self.own, self.head, ones, self.examples, False)
        return self._as_given(own, head)

    def entropy(self) -> Any:
        """The entropy of the outputs in nats (n,)."""
        self._need_sums("entropies")
        found = Entropy.apply(self.own, self.head, self.examples)
        return self._checked(found).to(self._dtype)

    def sample(self, n: int = 1, seed: Any = None) -> list[list]:
        """n outputs of every example, drawn with probability exp(score) / Z."""
        self._need_sums("samples")
        self._checked(self._log_partition(False))
        own, head = scores_of(self.own, self.head)
        rows = ranked.sampled(self.examples, own, head, n, seed)
        return [list(z) for z in zip(*map(self.examples.outputs, rows), strict=True)]

    # best outputs -----------------------------------------------------------------------

    def decode(self) -> list:
        """The best output of every example; None for a sentence without a parse."""
        labels, values = self._best()
        found = self.examples.outputs(labels)
        values[[output is None for output in found]] = 0.0
        self._checked(torch.from_numpy(values))
        return found

    def k_best(self, k: int) -> list[list[tuple[Any, float]]]:
        """Up to k pairs (output, score) of every example, the best first."""
        own, head = scores_of(self.own, self.head)
        labels, values = ranked.k_best(self.examples, own, head, k)
        rows = [self.examples.outputs(labels[r]) for r in range(len(labels))]
        return [
            [
                (rows[r][i], float(values[r, i]))
                for r in range(len(rows))
                if values[r, i] > -np.inf
            ]
            for i in range(self.examples.n)
        ]

    # losses of best outputs ---------------------------------------------------------------

    def hinge(
        self, rescaling: str = "margin", costs: Any = None, scale: float = 1.0
    ) -> Any:
        """The structured hinge (n,): by how much the truth fails to win by its loss.

            margin   max_y  scale * loss(y) + score(y) - score(truth)
            slack    max_y  loss(y) (1 + score(y) - score(truth))

        With slack rescaling the search of some structures (chains with a cost matrix,
        those of second order, graphs) is through searches with margins and may miss the
        maximum: then the value is below it.

        The loss is that of the examples, or a sum of ``costs`` over parts, in the shape
        of the scores (what the truth costs is subtracted). Truths that are not known
        whole are completed as the scores say.
        """
        one_of("rescaling", rescaling, ("margin", "slack"))
        checks.not_negative("scale", scale)
        if rescaling == "slack" and (costs is not None or scale != 1.0):
            raise ValueError(
                "slack rescaling takes the loss of the examples as it is: leave out costs "
                "and scale, or use rescaling='margin'."
            )
        if costs is not None:
            return self._costly(costs, float(scale)).hinge(scale=0.0)
        examples = self._completed()
        batch, layout = examples.batch, examples.layout
        scores = scores_of(self.own, self.head)
        if rescaling == "margin":
            labels = flat_scores.best(batch, layout, scores, scale)[0]
        else:
            form = make_form("slack", "linear", SEARCH_TOL)
            labels = flat_scores.worst(batch, layout, scores, form)
        losses = torch.from_numpy(flat_scores.losses_of(batch, labels))
        losses = losses.to(self.own.device)
        lead = self._value(labels, examples) - self._truth(examples)
        if rescaling == "slack":
            return (losses * (1.0 + lead)).to(self._dtype)
        return (scale * losses + lead).to(self._dtype)

    def perturbed(self, sigma: float = 1.0, samples: int = 8, seed: Any = None) -> Any:
        """The Fenchel-Young loss of perturbed searches (n,).

            E_Z [max_y <theta + sigma Z, parts(y)> - <theta + sigma Z, parts(truth)>]

        with normal Z, as an average over so many samples; its gradient is the average of
        the parts found minus those of the truth. Needs searches alone. (Berthet et al.
        2020, Learning with differentiable perturbed optimizers.)
        """
        checks.positive("sigma", sigma)
        samples = checks.whole("samples", samples)
        examples, rng = self._completed(), np.random.default_rng(seed)
        total: Any = 0.0
        for _ in range(samples):
            noise = self._plus(
                sigma * rng.standard_normal(len(self.own)),
                sigma * rng.standard_normal(len(self.head)),
            )
            labels = noise._best()[0]
            lead = noise._value(labels, examples) - noise._truth(examples)
            total = total + lead / samples
        return total.to(self._dtype)

    def sparse_map(self, tol: float = 1e-9, rounds: int = 200) -> Any:
        """The SparseMAP loss (n,): that of a search with a quadratic penalty.

            max_mu <theta, mu> - 1/2 |mu|^2 - <theta, parts(truth)> + 1/2 |parts(truth)|^2

        over averages mu of outputs; the penalty leaves shared parts out. Zero where the
        truth wins by enough. Needs searches alone. (Niculae, Martins, Blondel & Cardie
        2018, SparseMAP: differentiable sparse structured inference.)
        """
        examples = self._completed()
        found = active_set(examples, scores_of(self.own, self.head), tol, rounds)
        total = -self._truth(examples)
        for labels, share in zip(found.labels, found.shares, strict=True):
            share = torch.from_numpy(share).to(self.own.device)
            total = total + share * self._value(labels, examples)
        constant = 0.5 * (found.norms_of(examples.batch.y) - found.norms())
        return (total + torch.from_numpy(constant).to(total.device)).to(self._dtype)

    def sparse_marginals(self, tol: float = 1e-9, rounds: int = 200) -> Any:
        """The mu of :meth:`sparse_map`, an average of few outputs, as marginals() are."""
        own, head = SparseMarginals.apply(
            self.own, self.head, self.examples, tol, rounds
        )
        return self._as_given(own, head)

    # helpers ----------------------------------------------------------------------------

    def _log_partition(self, known: bool) -> Any:
        return LogPartition.apply(self.own, self.head, self.examples, known)

    def _known_value(self) -> Any:
        if not self.examples.is_partial:
            return self._truth(self.examples)
        return checks.possible(self._log_partition(True), "what is known of")

    def _best(self):
        examples = self.examples
        scores = scores_of(self.own, self.head)
        return flat_scores.best(examples.batch, examples.layout, scores)

    def _value(self, labels, examples: Examples) -> Any:
        return Value.apply(self.own, self.head, examples, labels)

    def _truth(self, examples: Examples) -> Any:
        return checks.possible(self._value(examples.batch.y, examples), "the truth of")

    def _completed(self) -> Examples:
        """The examples, with truths completed as the scores say."""
        if not self.examples.is_partial:
            return self.examples
        batch, scores = self.examples.batch, scores_of(self.own, self.head)
        truths = flat_scores.completions(batch, self.examples.layout, scores)
        whole: Any = ordinary(with_truths(batch, truths))
        return Examples(whole, self.examples.read)

    def _costly(self, costs: Any, scale: float) -> Scored:
        own = checks.flat(costs, self.examples, "costs")
        checks.same_device({"scores": self.own, "costs": own})
        checks.no_nan(own, self.examples.owner, "costs")
        return self._plus(scale * own.detach().to("cpu", torch.float64).numpy())

    def _plus(self, own: np.ndarray, head: np.ndarray | None = None) -> Scored:
        """The same with so much added to the scores."""
        other = object.__new__(Scored)
        other.__dict__.update(vars(self))
        other.own = self.own + torch.from_numpy(own).to(self.own.device)
        if head is not None:
            other.head = self.head + torch.from_numpy(head).to(self.head.device)
        return other

    def _as_given(self, own: Any, head: Any) -> Any:
        """One number per part in the shape of the scores."""
        own, head = own.to(self._dtype), head.to(self._dtype)
        if self._shape is not None:
            return self._shape(own)
        if self._width is not None:
            own = checks.padded(own, torch.from_numpy(self.examples.sizes), self._width)
        return (own, head) if len(head) else own

    def _need_sums(self, what: str) -> None:
        if not self.examples.has_sums:
            raise TypeError(
                f"{type(self.examples.batch).__name__} has no sums over its outputs, so "
                f"there are no {what}: use hinge(), perturbed() or sparse_map(), which "
                "need searches alone."
            )

    def _checked(self, log_z: Any) -> Any:
        return checks.possible(log_z, "every output of", "has a score of -inf")
