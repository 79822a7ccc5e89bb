"""Kernels as the tests call them: on a GPU, or interpreted on the CPU.

Triton decides when it is imported whether it interprets; the variable of the environment
that says so is set for these imports alone.
"""

import os
import sys

import hypothesis.strategies as st
import pytest

torch = pytest.importorskip("torch")

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

# numpy warns where the interpreter divides by zero; kernels do so without a word
QUIET = pytest.mark.filterwarnings("ignore::RuntimeWarning")

NONE = float("-inf")


def imported():
    """The kernels' modules."""
    if DEVICE == "cpu" and "triton" not in sys.modules:
        before = os.environ.get("TRITON_INTERPRET")
        os.environ["TRITON_INTERPRET"] = "1"
        try:
            return modules()
        finally:
            if before is None:
                del os.environ["TRITON_INTERPRET"]
            else:
                os.environ["TRITON_INTERPRET"] = before
    return modules()


def modules():
    triton = pytest.importorskip("triton")
    from maxmargin.torch.triton import chains, charts

    interpreted = type(chains.chain_far.finish).__name__ == "InterpretedFunction"
    assert interpreted == (DEVICE == "cpu"), (
        "Without a GPU, tests of kernels need Triton's interpreter, but something "
        "imported triton before them: set TRITON_INTERPRET=1 for this run."
    )
    if interpreted:  # it imports more at its first call
        one = torch.zeros(1)
        chains.viterbi(one[None], torch.arange(2), one[None], one, one)
    return triton, chains, charts


triton, chains, charts = imported()


def starts(lengths):
    zero = torch.zeros(1, dtype=torch.int64)
    return torch.cat([zero, torch.tensor(list(lengths), dtype=torch.int64).cumsum(0)])


def random_scores(lengths, n_labels, scale=1.0, seed=0):
    """start, and emissions, transitions, first and last scores in single precision."""
    g = torch.Generator().manual_seed(seed)
    start = starts(lengths)
    shapes = (int(start[-1]), n_labels), (n_labels, n_labels), (n_labels,), (n_labels,)
    return start, [scale * torch.randn(shape, generator=g) for shape in shapes]


def on_device(*tensors):
    return [x.to(DEVICE) for x in tensors]


def reference(emissions, start, transitions, first, last):
    """log Z of each example in log space, in the precision of its scores.

    What is forbidden scores -1e7: gradients of minus infinity would not be numbers.
    """
    found = []
    scores = emissions, transitions, first, last
    emissions, transitions, first, last = (x.clamp_min(-1e7) for x in scores)
    for lo, hi in zip(start[:-1].tolist(), start[1:].tolist(), strict=True):
        if lo == hi:
            found.append(emissions.sum() * 0.0)
            continue
        v = first + emissions[lo]
        for t in range(lo + 1, hi):
            v = torch.logsumexp(v[:, None] + transitions, 0) + emissions[t]
        found.append(torch.logsumexp(v + last, 0))
    found = torch.stack(found)
    return torch.where(found > -5e6, found, NONE)


def score_of(labels, emissions, transitions, first, last):
    """Score of one labelling of one example."""
    if len(labels) == 0:
        return emissions.sum() * 0.0
    total = first[labels[0]] + last[labels[-1]]
    total = total + emissions[torch.arange(len(labels)), labels].sum()
    return total + transitions[labels[:-1], labels[1:]].sum()


def enumerated(length, n_labels):
    """All labellings of one example."""
    if length == 0:
        return torch.zeros(1, 0, dtype=torch.int64)
    return torch.cartesian_prod(*[torch.arange(n_labels)] * length).reshape(-1, length)


SOME_LABELS = st.integers(1, 7)


@st.composite
def ragged(draw, n_labels=SOME_LABELS, longest=6):
    """(start, scores) of small ragged batches, some parts of which are forbidden."""
    k = draw(n_labels)
    lengths = draw(st.lists(st.integers(0, longest), min_size=1, max_size=5))
    scale = draw(st.sampled_from([0.3, 3.0, 30.0, 300.0]))
    start, scores = random_scores(lengths, k, scale, draw(st.integers(0, 10**6)))
    share = draw(st.sampled_from([0.0, 0.0, 0.2]))
    g = torch.Generator().manual_seed(draw(st.integers(0, 10**6)))
    for x in scores:
        x[torch.rand(x.shape, generator=g) < share] = NONE
    return start, scores
