"""Sentences that say what is wrong, and where."""

import re

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
from layer_cases import LAYERS, Words, scored  # noqa: E402

from maxmargin import Tree  # noqa: E402
from maxmargin.torch import (  # noqa: E402
    Alignment,
    Chain,
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
        ((X, Y, [True, True]), "lengths must be one whole number per sequence"),
        ((X, Y, "33"), "lengths must be one whole number per sequence"),
        ((X, [[0, 0, 0], None]), "labels of sequence 1 are None: give a list"),
        ((X, [[0, 0, [1]], [0] * 3]), "label of token 2 of sequence 0 is [1]"),
        ((X, [[0, 0, 1.0], [0] * 3]), "label of token 2 of sequence 0 is 1.0"),
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


@pytest.mark.parametrize(
    ("costs", "sentence"),
    [
        (NAN, "costs of example 1 hold nan"),
        (HIGH, "costs of example 1 hold inf"),
        (X[..., :3], "costs have the shape (2, 3, 3)"),
        (X.long(), "costs holds torch.int64"),
        (list(X[:, :2]), "sequences of [2, 2] tokens, but emissions of [3, 3]"),
    ],
)
def test_costs_of_tokens(costs, sentence):
    with pytest.raises((ValueError, TypeError), match=re.escape(sentence)):
        Chain(4).hinge(X, Y, costs=costs)


def test_costs_belong_to_their_sequences():
    chain, rows, labels = Chain(4), [X[0], X[1, :1]], [[0, 0, 0], [0]]
    costs = torch.arange(24.0).reshape(2, 3, 4)
    wanted = chain.hinge(X, torch.zeros_like(Y), [3, 1], costs=costs)
    for given in (costs, [costs[0], costs[1, :1]]):
        found = chain.hinge(rows, labels, costs=given)
        torch.testing.assert_close(found, wanted)
    with pytest.raises(ValueError, match=re.escape("of sequences of [1, 3] tokens")):
        chain.hinge(rows, labels, costs=[costs[0, :1], costs[1]])


@pytest.mark.parametrize("name", sorted(LAYERS))
def test_arguments_that_no_layer_has(name):
    layer, arguments, more = LAYERS[name](0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'mask'"):
        layer(*arguments, mask=None, **more)


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


@pytest.mark.parametrize("ask", ["decode", "marginals", "entropy", "log_partition"])
@pytest.mark.parametrize("layer", [SecondOrder(4), Graph(4)])
def test_all_outputs_are_forbidden(layer, ask):
    more = {"edges": [[(0, 1)], []]} if isinstance(layer, Graph) else {}
    with pytest.raises(ValueError, match="every output of example 1 has a score"):
        getattr(layer, ask)(WALL, **more)


def test_random_outputs_of_what_is_forbidden():
    program, scores = Program(Words()), torch.full((3,), -torch.inf)
    with pytest.raises(ValueError, match="every output of example 0 has a score"):
        program.sample(scores, ["ab"])


def test_a_sentence_without_a_parse():
    layer, (spans, _), _ = LAYERS["trees"](0)
    tags = [["V", "V"], ["N", "V"], ["D", "D"]]
    first, second, third = layer.decode(spans, tags)
    assert (first, third) == (None, None)
    assert str(second) == "(S (NP (N 0)) (VP (V 1)))"
    with pytest.raises(ValueError, match="every output of example 0 has a score"):
        layer.marginals(spans, tags)


def test_tensors_without_numbers():
    sentence = "emissions is on the device meta, where tensors have no numbers"
    with pytest.raises(ValueError, match=sentence):
        Chain(4).to("meta")(X.to("meta"), Y.to("meta"))
    with pytest.raises(ValueError, match="scores is on the device meta"):
        Scored(torch.zeros(58, device="meta"), scored("alignment").examples)


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
        (lambda: Chain([1, 2, 3]), "labels[0] is 1: numbers are for labels without"),
        (lambda: Chain(["a", None]), "labels[1] is None"),
        (lambda: Chain(3, forbidden=[(0, 3)]), "but 3 is no label of this chain"),
        (lambda: Chain(["a", "b"], forbidden=[(0, 1)]), "0 is no label of this chain"),
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
        (lambda: Alignment()(TABLE, [[0, 1], [0.0, 1.5]]), "truth 1 must be a list"),
        (lambda: Alignment()(TABLE, [[0, 1], None]), "truth 1 must be a list"),
        (
            lambda: Alignment()([TABLE[0], TABLE[1].to("meta")], [[0, 1]] * 2),
            "scores[0] is on cpu, but scores[1] on meta",
        ),
        (
            lambda: Matching()(TABLE, [[], [(0.5, 1)]]),
            "truth 1 must be a list of links",
        ),
        (lambda: Matching()(TABLE, [[], [0, 1]]), "truth 1 must be a list of links"),
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
            lambda: Graph(3)(TABLE, Y[:, :2], edges=[[], torch.zeros(2, 4).long()]),
            "edges[1] must be pairs of nodes, one row (node, node) per edge",
        ),
        (
            lambda: Graph(3)(TABLE, Y[:, :2], edges=[[(0.5, 1.0)], []]),
            "edges[0] must be pairs of nodes",
        ),
        (
            lambda: Graph(2)(X[:, :, :2], Y, edges=[[], []], edge_scores=[0, 0]),
            "edge_scores[0] must be a tensor of PyTorch, not int",
        ),
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
        (
            (spans, trees),
            {"tags": [more["tags"][0][::-1], *more["tags"][1:]]},
            "word 1 of sentence 0 has the tag 'D', but 'V' in its tree",
        ),
        ((spans, trees), {**more, "words": [["a"]] * 3}, "words are of sentences of"),
    ):
        with pytest.raises(ValueError, match=re.escape(sentence)):
            ask(*arguments, **named)
    with pytest.raises(TypeError, match="tree 2 is None: give a"):
        layer.log_loss(spans, [*trees[:2], None], **more)
    scores = torch.zeros(3, 4, len(layer.tags))
    for lengths in ([4, -1, 4], [4.0, 4.0, 4.5], 4):
        with pytest.raises(ValueError, match="one whole number per sentence"):
            layer.decode(spans, lengths=lengths, tag_scores=scores)
    with pytest.raises(ValueError, match="sentence 2 has none"):
        layer.decode(spans, lengths=[4] * 3, tag_scores=scores[:2])
    with pytest.raises(TypeError, match=re.escape("tag_scores[0] must be a tensor")):
        layer.decode(spans, lengths=[4] * 3, tag_scores=scores.numpy())
    with pytest.raises(ValueError, match="give the tags of the words"):
        layer.decode(spans)
