"""Sentences that say what is wrong, and where."""

import re

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
from layer_cases import LAYERS, Words, chain, scored  # noqa: E402

from maxmargin import StructuralSVM, Tree  # noqa: E402
from maxmargin.torch import (  # noqa: E402
    Alignment,
    Chain,
    Examples,
    Graph,
    LogLoss,
    Matching,
    Perturbed,
    Program,
    Scored,
    SecondOrder,
    SparseMAP,
    StructuredHinge,
    TreeCRF,
    log_loss,
)

X = torch.zeros(2, 3, 4)
NAN, HIGH = X.clone(), X.clone()
NAN[1, 2, 0], HIGH[1, 0, 3] = torch.nan, torch.inf
WALL = X.clone()
WALL[1, 1] = -torch.inf
Y = torch.zeros(2, 3, dtype=torch.int64)
BIG = Y.clone()
BIG[1, 2] = 4


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((torch.zeros(2, 3, 5), Y), "emissions have the shape (2, 3, 5): they must be"),
        ((torch.zeros(2, 3, 4, 1), Y), "emissions have the shape (2, 3, 4, 1)"),
        (
            (np.zeros((2, 3, 4)), Y),
            "emissions must be a tensor of PyTorch, not ndarray",
        ),
        ((Y, Y), "emissions holds torch.int64: scores are floating point numbers"),
        ((X, Y[:1]), "labels have the shape (1, 3), but emissions are (2, 3, 4)"),
        ((X, Y.double()), "labels hold torch.float64: they must be whole numbers"),
        ((X, BIG), "the label of token 2 of sequence 1 is 4: labels are 0 to 3"),
        ((X, Y - 2), "the label of token 0 of sequence 0 is -2"),
        ((X, [[0, 0, 0], [0, 0]]), "sequence 1 has 3 tokens, but 2 labels"),
        ((X, [[0, 0, 0]]), "labels of 1 sequences, but emissions of 2"),
        (
            (X, [[0, 0, "B"], [0, 0, 0]]),
            "token 2 of sequence 0 is 'B': labels of this chain",
        ),
        ((X, "abc"), "labels must be a tensor, or a list"),
        ((X, Y, [3, 4]), "lengths[1] is 4, but sequence 1 can have 0 to 3 tokens"),
        ((X, Y, [3, -1]), "lengths[1] is -1"),
        ((X, Y, [3]), "there are 1 lengths for 2 sequences"),
        ((X, Y, [1.5, 2.0]), "lengths must be one whole number per sequence"),
        ((X, Y, torch.ones(2, 3)), "of a mask they are mask.sum(1)"),
        ((X[0], Y[0], [1, 1]), "lengths add up to 2, but there are 3 tokens"),
        (([X[0], X[0, :, :2]], Y), "emissions[1] has the shape (3, 2)"),
        (([X[0]], Y[0], [3]), "a list of tensors has its lengths"),
        ((NAN, Y), "emissions of example 1 hold nan"),
        ((HIGH, Y), "emissions of example 1 hold inf"),
        ((WALL, Y), "the truth of example 1 has a score of -inf: it is forbidden"),
        ((WALL, [[0, 0, 0], [0, None, 0]]), "what is known of example 1"),
    ],
)
def test_sequences(arguments, sentence):
    with pytest.raises((ValueError, TypeError), match=re.escape(sentence)):
        Chain(4).log_loss(*arguments)


@pytest.mark.parametrize("ask", ["decode", "marginals", "entropy", "log_partition"])
def test_scores_that_are_no_numbers(ask):
    with pytest.raises(ValueError, match="emissions of example 1 hold nan"):
        getattr(Chain(4), ask)(NAN)
    with pytest.raises(
        ValueError, match="every output of example 1 has a score of -inf"
    ):
        getattr(Chain(4), ask)(WALL)
    broken = Chain(4)
    with torch.no_grad():
        broken.transitions[0, 0] = torch.nan
    with pytest.raises(ValueError, match="transitions of the chain hold NaN or"):
        getattr(broken, ask)(X)


def test_tensors_on_two_devices():
    sentence = "emissions is on meta, but the chain on cpu: move both to one device"
    with pytest.raises(ValueError, match=sentence):
        Chain(4)(X.to("meta"), Y)
    with pytest.raises(ValueError, match="labels on meta"):
        Chain(4)(X, Y.to("meta"))
    with pytest.raises(ValueError, match="scores is on meta, but the layer on cpu"):
        Alignment()(torch.zeros(1, 2, 2, device="meta"), [[0, 1]])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Chain(0), "labels"),
        (lambda: Chain("ab"), "give how many there are, or their names"),
        (lambda: Chain(["a", "a"]), "names that differ"),
        (lambda: Chain(3, scheme="BIO"), "needs the names of the labels"),
        (lambda: Chain(["B-X", "O"], scheme="BIOO"), "BIOO"),
        (lambda: Chain(2, cost="spans"), "cost='spans' needs the names"),
        (lambda: Chain(2, cost="f1"), "cost"),
        (lambda: Chain(2, cost=[[0, 1]]), "cost matrix"),
        (
            lambda: SecondOrder(2, cost="zero-one"),
            "a chain of second order needs a cost",
        ),
        (lambda: Alignment(cost=-1), "cost must be 'hamming' or 0, 1"),
        (lambda: Matching(row_most=0), "row_most"),
        (lambda: Matching(costs=(1.0, -1.0)), "must be two numbers, 0 or more"),
        (lambda: Graph(2, method="loopy"), "method"),
        (lambda: Program(3), "int is no DynamicProgram"),
        (lambda: TreeCRF([]), "at least one sentence must have one"),
        (lambda: LogLoss("max"), "reduction"),
        (lambda: StructuredHinge("slacks"), "rescaling"),
        (lambda: StructuredHinge(scale=-1.0), "scale must be a number of 0 or more"),
        (lambda: Perturbed(sigma=0.0), "sigma must be a positive number"),
        (lambda: SparseMAP(tol=0.0), "tol must be a positive number"),
    ],
)
def test_settings(make, sentence):
    with pytest.raises((ValueError, TypeError), match=re.escape(sentence)):
        make()


TABLE = torch.zeros(2, 2, 3)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: Alignment()(torch.zeros(2, 3), [[0]]), "(examples, rows, columns)"),
        (lambda: Alignment()(TABLE, [[0, 1]]), "1 truths for 2 tables"),
        (
            lambda: Alignment()(TABLE, [[0, 1], [1, 0]]),
            "truth 1 must hold rising columns",
        ),
        (
            lambda: Alignment()(TABLE, [[0, 1], [1, 3]]),
            "truth 1 must hold rising columns",
        ),
        (lambda: Alignment()(TABLE, [[0, 1], [1]]), "truth 1 has 1 rows"),
        (
            lambda: Alignment()(TABLE, [[0, 1]] * 2, [(2, 3), (3, 3)]),
            "lengths[1] is (3, 3)",
        ),
        (lambda: Alignment()(TABLE, [[0, 1]] * 2, [2, 3]), "a pair of whole numbers"),
        (lambda: Matching()(TABLE, [[(0, 0)], [(2, 0)]]), "truth 1 has a link outside"),
        (
            lambda: Matching()(TABLE, [[(0, 0), (0, 1)], []]),
            "truth 0 has more than 1 links",
        ),
        (lambda: Matching()(TABLE, [[], []], [(2, 0), (1, 1)]), "table 0 has no rows"),
        (lambda: Matching().log_loss(TABLE, [[], []]), "has no sums over its outputs"),
        (lambda: Graph(3)(TABLE, Y[:, :2]), "give the edges"),
        (lambda: Graph(3)(TABLE, Y[:, :2], edges=[[]]), "edges of 1 graphs for 2"),
        (lambda: Graph(3)(TABLE, Y[:, :2], edges=[[(0, 2)], []]), "X[0]"),
        (
            lambda: Graph(3)(TABLE, Y[:, :2], edges=[[], []], edge_scores=[TABLE]),
            "edge_scores of 1 graphs",
        ),
        (lambda: Program(Words())(torch.zeros(3), [[(0, 1)]]), "give the inputs X"),
        (
            lambda: (
                Program(Words())(torch.zeros(3), [[(0, 2)]], ["ab"]).item()
                + Program(Words())(torch.zeros(4), [[(0, 2)]], ["ab"])
            ),
            "the 1 examples have 3 parts, so it must be (3,)",
        ),
        (
            lambda: Program(Words())([torch.zeros(2)], [[(0, 2)]], ["ab"]),
            "scores[0] has the shape (2,), but input 0 has 3 parts",
        ),
        (
            lambda: Program(Words())(torch.zeros(3), [[(0, 2)], []], ["ab"]),
            "2 outputs for 1 inputs",
        ),
    ],
)
def test_other_layers(ask, sentence):
    with pytest.raises((ValueError, TypeError), match=re.escape(sentence)):
        ask()


def test_trees():
    layer, (spans, trees), more = LAYERS["trees"](0)
    other = Tree.parse("(S (VP (V a)) (NP (N b)) (NP (N c)))")
    ask = layer.log_loss
    for arguments, named, sentence in (
        ((spans[..., :1], trees), more, "one number per label at the end"),
        ((spans, trees[:2]), more, "there are 2 trees, but spans of 3 sentences"),
        ((spans, [*trees[:2], other]), {}, "tree 2 has a rule, chain or tag that"),
        (
            (spans[:, :3, :3], trees),
            more,
            "sentence 0 has 4 words, but spans are of up to 2",
        ),
        ((spans, trees), {"tags": [["Q"]] * 3}, "the tag 'Q', which the grammar lacks"),
    ):
        with pytest.raises(ValueError, match=re.escape(sentence)):
            ask(*arguments, **named)
    with pytest.raises(TypeError, match="tree 2 is None: give a"):
        layer.log_loss(spans, [*trees[:2], None], **more)
    with pytest.raises(ValueError, match="give the tags of the words"):
        layer.decode(spans)


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
