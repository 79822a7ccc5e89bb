"""Batches and scores that the bridge cannot take, and what it makes of others."""

import re

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
from layer_cases import Words, chain, scored  # noqa: E402

from maxmargin import StructuralSVM  # noqa: E402
from maxmargin.torch import Chain, Examples, Scored, log_loss  # noqa: E402

X = torch.zeros(2, 3, 4)


def test_batches_of_the_bridge():
    class Own:
        start = np.array([0, 1])

    model = StructuralSVM(Words())
    for given, sentence in (
        (Own(), "Own is no batch of compiled code"),
        (model, "is no batch of compiled code"),
    ):
        with pytest.raises(TypeError, match=sentence):
            log_loss(torch.zeros(3), given)
    found = scored("chain")
    own, head, examples = found.own.detach(), found.head.detach(), found.examples
    assert isinstance(examples, Examples)
    for arguments, sentence in (
        ((own[:-1], examples, head), "so it must be"),
        ((own, examples), "give them as shared"),
        ((own, examples, head[:-1]), "shared has"),
        ((own.long(), examples, head), "scores are floating point numbers"),
        (
            (torch.full_like(own, torch.nan), examples, head),
            "scores of example 0 hold nan",
        ),
        ((own, examples, torch.full_like(head, torch.inf)), "NaN or +inf"),
    ):
        with pytest.raises((ValueError, TypeError), match=re.escape(sentence)):
            Scored(*arguments)
    with pytest.raises(ValueError, match="leave out costs and scale"):
        found.hinge("slack", scale=0.5)
    with pytest.raises(ValueError, match="scale must be a number of 0 or more"):
        found.hinge(scale=float("nan"))
    with pytest.raises(ValueError, match="costs of example 0 hold nan"):
        found.hinge(costs=torch.full_like(own, torch.nan))
    with pytest.raises(ValueError, match="costs has the shape"):
        found.hinge(costs=torch.zeros(3))
    with pytest.raises(ValueError, match="the truth of example 0 has a score of -inf"):
        Scored(torch.full_like(own, -torch.inf), examples, head).hinge()


def test_padded_scores_of_the_bridge():
    found = scored("alignment")
    sizes = found.examples.sizes
    rows = torch.zeros(len(sizes), int(sizes.max()), dtype=torch.float64)
    for i, part in enumerate(torch.split(found.own.detach(), sizes.tolist())):
        rows[i, : len(part)] = part
    padded = Scored(rows, found.examples)
    torch.testing.assert_close(padded.log_loss(), found.log_loss().detach())
    mu = padded.marginals()
    assert mu.shape == rows.shape
    wider = torch.nn.functional.pad(rows, (0, 2), value=torch.nan)
    torch.testing.assert_close(
        Scored(wider, found.examples).marginals(), torch.nn.functional.pad(mu, (0, 2))
    )
    flat = torch.cat([row[:n] for row, n in zip(mu, sizes, strict=True)])
    torch.testing.assert_close(flat, found.marginals().detach())


def test_single_precision_stays_and_half_is_told():
    layer, (emissions, labels, lengths), _ = chain(0)
    single = layer.float()(emissions.float(), labels, lengths)
    assert single.dtype == torch.float32
    for name in ("perturbed", "sparse_map"):
        loss = getattr(layer.scored(emissions.float(), labels, lengths), name)()
        assert loss.dtype == torch.float32


def test_losses_need_truths():
    with pytest.raises(ValueError, match="a loss needs the true labels"):
        Chain(4).scored(X).log_loss()
