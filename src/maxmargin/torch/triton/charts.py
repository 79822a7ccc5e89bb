"""Binary trees over sentences on a GPU: log Z and expected parts of a batch.

Arguments have the same names everywhere:

    words    (examples, N, symbols): scores of a symbol over one word
    spans    (examples, N, N + 1, parents) or None: scores of a parent over words i to j,
             of spans of two words and more
    rules    (parents, symbols, symbols): from a parent to its left and its right child
    roots    (parents,)
    lengths  (examples,): int64, at most N

The parents are the first of the symbols. Minus infinity forbids, in any of the scores. A
sentence without words has one tree, of score 0. There is one launch per width ahead and
three back; sums of probabilities go down by atomic additions, so that the
last digits of gradients may differ from call to call.
"""

from __future__ import annotations

import torch
import triton

from maxmargin.torch.triton import chart_sums
from maxmargin.torch.triton.launching import on_its_device

MOST = 128  # symbols: a table of two of them is kept in registers
PROGRAMS = 8  # for each parent that sum the rules' parts


def log_z(words, spans, rules, roots, lengths) -> torch.Tensor:
    """(examples,), with gradients for all scores."""
    scores = (x.float().contiguous() for x in (words, rules, roots))
    words, rules, roots = scores
    if spans is not None:
        spans = spans.float().contiguous()
    given = words, spans, rules, roots, lengths
    if torch.compiler.is_compiling():
        return torch.ops.maxmargin.chart_value(*given)[0]
    return ChartValue.apply(*given)


def sums(words, spans, rules, roots, lengths, coefficient=None):
    """log Z (examples,) and expected parts in the shapes of words, spans, rules, roots.

    No gradients. ``coefficient`` (examples,): by what the parts of each are multiplied.
    """
    words, rules, roots = (x.float().contiguous() for x in (words, rules, roots))
    if spans is not None:
        spans = spans.float().contiguous()
    if coefficient is None:
        coefficient = words.new_ones(len(lengths))
    given = words, spans, rules, roots, lengths
    result, alpha, scale = inside(*given)
    return result, *outside(*given, alpha, scale, coefficient.float())


def sizes(words, rules):
    parents, symbols = rules.shape[:2]
    if symbols > MOST:
        raise ValueError(
            f"The kernels for trees take at most {MOST} symbols, and there are {symbols}: "
            "compute on the CPU."
        )
    places = max(16, triton.next_power_of_2(symbols))
    return {
        "A": parents,
        "S": symbols,
        "P": places,
        "num_warps": 4 if places < 64 else 8,
    }


@on_its_device
def inside(words, spans, rules, roots, lengths):
    """(log Z, alpha, scale): the last two for :func:`outside`."""
    size = sizes(words, rules)
    examples, longest, symbols = words.shape
    alpha = words.new_full((examples, longest, longest + 1, symbols), float("-inf"))
    scale = words.new_zeros((examples, longest, longest + 1), dtype=torch.float64)
    result = words.new_zeros(examples)
    if examples == 0 or longest == 0:
        return result, alpha, scale
    top = words.amax(2)
    top = torch.where(top > float("-inf"), top, 0.0)
    cells_of_words(alpha).copy_((words - top[..., None]).transpose(1, 2))
    scale.diagonal(1, 1, 2).copy_(top)
    for width in range(2, longest + 1):
        chart_sums.inside_width[(examples, longest - width + 1)](
            spans, rules, lengths, alpha, scale, width, longest,
            SPANS=spans is not None, **size,
        )  # fmt: skip
    chart_sums.inside_top[(examples,)](
        roots, lengths, alpha, scale, result, longest, **size
    )
    return result, alpha, scale


def cells_of_words(chart):
    """(examples, symbols, N) of a chart (examples, N, N + 1, symbols)."""
    return chart.diagonal(1, 1, 2)


@on_its_device
def outside(words, spans, rules, roots, lengths, alpha, scale, coefficient):
    """Expected words, spans (or an empty tensor), rules and roots."""
    size = sizes(words, rules)
    examples, longest, symbols = words.shape
    parents = len(roots)
    g = torch.zeros_like(alpha)
    tops = words.new_zeros((examples, parents))
    parts = words.new_zeros((PROGRAMS, *rules.shape))
    if examples and longest:
        chart_sums.outside_top[(examples,)](
            roots, lengths, alpha, coefficient.contiguous(), g, tops, longest, **size
        )
        room = words.new_empty((examples * max(longest - 1, 0), symbols, symbols))
        lower(spans, rules, lengths, alpha, scale, g, room, parts, size)
    words = cells_of_words(g).transpose(1, 2).contiguous()
    # cells of one word are the words' own
    apart = g.new_empty(0)
    if spans is not None:
        cells_of_words(g).zero_()
        apart = g[..., :parents].contiguous()
    return words, apart, parts.sum(0), tops.sum(0)


def lower(spans, rules, lengths, alpha, scale, g, room, parts, size):
    """From the widest cells to the words."""
    examples, longest = alpha.shape[:2]
    given = {"SPANS": spans is not None, **size}
    split = {name: size[name] for name in ("S", "P", "num_warps")}
    for width in range(longest, 1, -1):
        n = longest - width + 1
        chart_sums.splits_width[(examples, n)](
            lengths, alpha, scale, room, width, longest, **split
        )
        chart_sums.rules_width[(size["A"], PROGRAMS)](
            spans, rules, lengths, alpha, g, room, parts, width, longest, examples * n,
            **given,
        )  # fmt: skip
        chart_sums.children_width[(examples, n)](
            spans, rules, lengths, alpha, scale, g, room, width, longest, **given
        )


class ChartValue(torch.autograd.Function):
    """The eager way, with less work for the host than a registered operator."""

    @staticmethod
    def forward(ctx, *given):
        result, *kept = inside(*given)
        ctx.save_for_backward(*given, *kept)
        return result

    @staticmethod
    def backward(ctx, coefficient):
        # the operator refuses second derivatives, for which a graph is being made
        parts = torch.ops.maxmargin.chart_parts if torch.is_grad_enabled() else outside
        return in_order(ctx.saved_tensors[1], parts(*ctx.saved_tensors, coefficient))


def in_order(spans, parts):
    words, apart, rules, roots = parts
    return words, None if spans is None else apart, rules, roots, None


SCORES = "Tensor words, Tensor? spans, Tensor rules, Tensor roots, Tensor lengths"

chart_value = torch.library.custom_op(
    "maxmargin::chart_value",
    inside,
    mutates_args=(),
    schema=f"({SCORES}) -> (Tensor, Tensor, Tensor)",
)


@chart_value.register_fake
def _(words, spans, rules, roots, lengths):
    examples, longest, symbols = words.shape
    alpha = words.new_empty((examples, longest, longest + 1, symbols))
    scale = words.new_empty((examples, longest, longest + 1), dtype=torch.float64)
    return words.new_empty(examples), alpha, scale


chart_parts = torch.library.custom_op(
    "maxmargin::chart_parts",
    outside,
    mutates_args=(),
    schema=f"({SCORES}, Tensor alpha, Tensor scale, Tensor coefficient) "
    "-> (Tensor, Tensor, Tensor, Tensor)",
)


@chart_parts.register_fake
def _(words, spans, rules, roots, lengths, alpha, scale, coefficient):
    apart = words.new_empty(0) if spans is None else torch.empty_like(spans)
    parts = words.new_empty(words.shape), apart
    return *parts, torch.empty_like(rules), torch.empty_like(roots)


def keep_for_gradients(ctx, inputs, output):
    ctx.set_materialize_grads(False)
    ctx.save_for_backward(*inputs, *output[1:])


def gradients(ctx, coefficient, *rest):
    if coefficient is None:
        return (None,) * 5
    parts = torch.ops.maxmargin.chart_parts(*ctx.saved_tensors, coefficient)
    return in_order(ctx.saved_tensors[1], parts)


chart_value.register_autograd(gradients, setup_context=keep_for_gradients)
