"""The kernels as operators of torch: what the compiler and CUDA graphs need."""

import pytest
from triton_cases import DEVICE, QUIET, chains, on_device, random_scores, torch

pytestmark = [
    QUIET,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of torch's own parts
]

CHECKS = "test_schema", "test_autograd_registration", "test_faketensor"


def case(n_labels=4):
    start, scores = random_scores([3, 0, 1, 5], n_labels)
    labels = torch.arange(len(scores[0])) % n_labels
    return on_device(start, labels, *scores)


@pytest.mark.parametrize("labelled", [False, True])
def test_values_are_registered_rightly(labelled):
    start, labels, *scores = case()
    given = [x.requires_grad_() for x in scores]
    arguments = (given[0], labels if labelled else None, start, *given[1:])
    torch.library.opcheck(chains.chain_value, arguments, test_utils=CHECKS)


def test_searches_are_registered_rightly():
    start, _, emissions, *table = case()
    arguments = (emissions, start, *table)
    torch.library.opcheck(chains.chain_viterbi, arguments, test_utils=CHECKS)
    torch.library.opcheck(chains.chain_k_best, (*arguments, 3), test_utils=CHECKS)


def test_the_operator_equals_the_function():
    start, labels, *scores = case()
    given = [x.clone().requires_grad_() for x in scores]
    own = [x.clone().requires_grad_() for x in scores]
    found = chains.chain_value(own[0], labels, start, *own[1:])[0]
    expected = chains.log_loss(given[0], labels, start, *given[1:])
    assert torch.equal(found, expected)
    pairs = (
        torch.autograd.grad(found.sum(), own),
        torch.autograd.grad(expected.sum(), given),
    )
    assert all(torch.equal(a, b) for a, b in zip(*pairs, strict=True))


def test_a_compiled_step_has_no_breaks():
    start, labels, *scores = case()

    def loss(emissions, *table):
        weighted = 2.0 * emissions
        one = chains.log_loss(weighted, labels, start, *table).mean()
        return one + chains.log_z(weighted, start, *table).sum()

    compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
    results = []
    for f in (loss, compiled):
        given = [x.clone().requires_grad_() for x in scores]
        value = f(*given)
        results.append([value.detach(), *torch.autograd.grad(value, given)])
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.skipif(DEVICE == "cpu", reason="CUDA graphs need a GPU")
@pytest.mark.parametrize("n_labels", [9, 50, 200])
def test_cuda_graphs_record_a_step(n_labels):
    start, labels, *scores = case(n_labels)
    given = [x.requires_grad_() for x in scores]

    def step():
        loss = chains.log_loss(given[0], labels, start, *given[1:]).sum()
        return loss.detach(), *torch.autograd.grad(loss, given)

    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        recorded = step()
    with torch.no_grad():
        given[0].normal_().mul_(200.0)  # examples in log space on the way
    graph.replay()
    for a, b in zip(recorded, step(), strict=True):
        torch.testing.assert_close(a, b)
