"""A chain through the kernels of a GPU, from its emissions to its answers.

Without a GPU, the interpreter computes what ``devices.py`` would send there.
"""

import functools

import pytest
from triton_cases import DEVICE, NONE, QUIET, chains, torch

from maxmargin.torch import Chain, devices

pytestmark = QUIET

NAMES = ["O", "B-X", "I-X", "B-Y", "I-Y"]
LENGTHS = [4, 0, 1, 6]
LAST = ["O", "B-Y", "I-Y", "B-X", "O", "O"]
TRUTHS = [["O", "B-X", "I-X", "O"], [], ["B-Y"], LAST]
PARTIAL = [["O", None, "I-X", None], [], [None], LAST]
COSTS = [[float(j != k) * (1.1 + j) for k in range(5)] for j in range(5)]


@pytest.fixture
def on_kernels(monkeypatch):
    """Sends chains to the kernels; returns which of them were called."""
    called = set()

    def note(name, function, *given):
        called.add(name)
        return function(*given)

    def begin():
        for name in ("sums", "value", "viterbi", "k_best"):
            noted = functools.partial(note, name, getattr(chains, name))
            monkeypatch.setattr(chains, name, noted)
        if DEVICE == "cpu":
            sent = lambda emissions: (chains, emissions.device)  # noqa: E731
            monkeypatch.setattr(devices, "chains", sent)
        return called

    return begin


def case(device, real=torch.float32, **settings):
    torch.manual_seed(0)
    chain = Chain(NAMES, scheme="BIO", **settings)
    with torch.no_grad():
        for parameter in chain.parameters():
            parameter.normal_()
    emissions = torch.randn(4, 6, 5)
    emissions[3, 2, 0] = NONE
    return chain.to(device), emissions.to(device, real).requires_grad_()


def answers(ask, *given, **settings):
    """What a chain says, and the gradients of it, on the CPU."""
    chain, emissions = case(*given, **settings)
    found, leaves = ask(chain, emissions), (emissions, *chain.parameters())
    weights = torch.linspace(-1.0, 2.0, found.numel()).to(found)
    total = (found.reshape(-1) * weights).sum()
    grads = torch.autograd.grad(total, leaves, materialize_grads=True)
    return [t.detach().cpu() for t in (found, *grads)]


ASKED = {
    "log loss": ("value", lambda c, x: c.log_loss(x, TRUTHS, LENGTHS)),
    "labels unknown": ("value", lambda c, x: c.log_loss(x, PARTIAL, LENGTHS)),
    "mean": ("value", lambda c, x: c(x, TRUTHS, LENGTHS)),
    "flat": (
        "value",
        lambda c, x: c.log_loss(x[3], [TRUTHS[0], [], LAST[:2]], [4, 0, 2]),
    ),
    "log partition": ("value", lambda c, x: c.log_partition(x, LENGTHS)),
    "entropy": ("value", lambda c, x: c.entropy(x, LENGTHS)),
    "marginals": ("sums", lambda c, x: c.marginals(x, LENGTHS)),
    "hinge": ("viterbi", lambda c, x: c.hinge(x, TRUTHS, LENGTHS)),
    "half of the loss": (
        "viterbi",
        lambda c, x: c.hinge(x, TRUTHS, LENGTHS, scale=0.5),
    ),
    "hinge, unknown": ("viterbi", lambda c, x: c.hinge(x, PARTIAL, LENGTHS)),
}


@pytest.mark.parametrize(
    ("name", "cost"), [*((name, "hamming") for name in sorted(ASKED)), ("hinge", COSTS)]
)
def test_losses_and_gradients_equal_those_of_the_cpu(name, cost, on_kernels):
    needs, ask = ASKED[name]
    wanted = answers(ask, "cpu", cost=cost)
    called = on_kernels()
    found = answers(ask, DEVICE, cost=cost)
    assert needs in called
    for a, b in zip(found, wanted, strict=True):
        assert a.dtype == b.dtype
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", sorted(ASKED))
def test_half_precision_comes_in_and_single_is_used(name, on_kernels):
    needs, ask = ASKED[name]
    wanted = answers(ask, "cpu", torch.bfloat16, cost=COSTS)
    called = on_kernels()
    found = answers(ask, DEVICE, torch.bfloat16, cost=COSTS)
    assert needs in called
    assert found[0].dtype == torch.float32
    assert found[1].dtype == torch.bfloat16
    torch.testing.assert_close(found[0], wanted[0], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(found[1], wanted[1], rtol=2.0**-6, atol=1e-5)
    for a, b in zip(found[2:], wanted[2:], strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


def test_predictions_equal_those_of_the_cpu(on_kernels):
    chain, emissions = case("cpu")
    best, ranked = (
        chain.decode(emissions, LENGTHS),
        chain.k_best(emissions, LENGTHS, k=5),
    )
    drawn = chain.sample(emissions, LENGTHS, n=3, seed=0)
    called = on_kernels()
    chain, emissions = case(DEVICE)
    assert chain.decode(emissions, LENGTHS) == best
    assert chain.sample(emissions, LENGTHS, n=3, seed=0) == drawn
    mine = chain.k_best(emissions, LENGTHS, k=5)
    assert [len(rows) for rows in mine] == [5, 1, 3, 5]
    for rows, wanted in zip(mine, ranked, strict=True):
        assert [labels for labels, _ in rows] == [labels for labels, _ in wanted]
        values = [[value for _, value in some] for some in (rows, wanted)]
        torch.testing.assert_close(*map(torch.tensor, values), rtol=1e-5, atol=1e-5)
    assert called == {"value", "viterbi", "k_best"}


def test_what_is_impossible_is_told(on_kernels):
    on_kernels()
    chain, emissions = case(DEVICE)
    with torch.no_grad():
        emissions[0, 1] = NONE
    for ask in (chain.decode, chain.log_partition, chain.marginals, chain.entropy):
        with pytest.raises(ValueError, match="every output of example 0 has a score"):
            ask(emissions, LENGTHS)
    with pytest.raises(ValueError, match="the truth of example 0 has a score of -inf"):
        chain.log_loss(emissions, TRUTHS, LENGTHS)
    with torch.no_grad():
        emissions[3, 1, 1] = torch.nan
    with pytest.raises(ValueError, match="emissions of example 3 hold nan"):
        chain.decode(emissions, LENGTHS)


@pytest.mark.skipif(DEVICE != "cpu", reason="a GPU is here")
def test_only_what_a_gpu_computes_is_sent_there(monkeypatch):
    class OnGpu:
        device, dtype = torch.device("cuda", 1), torch.float32

    monkeypatch.setattr(devices, "gpu_chains", lambda: chains)
    assert devices.chains(OnGpu) == (chains, OnGpu.device)
    OnGpu.dtype = torch.float64
    assert devices.chains(OnGpu) == (devices.cpu, "cpu")
    assert devices.chains(torch.zeros(1)) == (devices.cpu, "cpu")
    OnGpu.dtype = torch.float16
    monkeypatch.setattr(devices, "gpu_chains", lambda: None)
    assert devices.chains(OnGpu) == (devices.cpu, "cpu")
