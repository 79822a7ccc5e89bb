"""Parts of reports: escaping, intervals, the choice of examples, charts."""

import re
import zlib
from base64 import b64decode

import numpy as np
import pytest
from report_cases import fitted

from maxmargin.metrics.calibration import reliability
from maxmargin.report.charts import Axis, convergence, curve, nice, short
from maxmargin.report.examples import FEWER, ONLY, Errors, compared, confusions
from maxmargin.report.findings import Kind, strongest
from maxmargin.report.markup import Markup, element, joined, png, table
from maxmargin.report.measures import BLOCKS, f1, share

EVIL = "<script>'\"&\0"


def test_whatever_is_no_markup_is_escaped():
    safe = "&lt;script&gt;&#x27;&quot;&amp;\N{REPLACEMENT CHARACTER}"
    assert element("b", EVIL) == f"<b>{safe}</b>"
    assert element("b", title=EVIL) == f'<b title="{safe}"></b>'
    assert joined([EVIL, Markup("<i>")]) == f"{safe}<i>"
    assert table([EVIL], [[EVIL]]).count(safe) == 2
    assert type(element("b", element("i", 3))) is Markup
    assert element("input", type="text", hidden=True, id=None) == (
        '<input type="text" hidden>'
    )
    assert element("p", cls="x", data_kind=0, for_="y") == (
        '<p class="x" data-kind="0" for="y"></p>'
    )


def test_png_is_the_picture():
    pixels = np.arange(24).reshape(2, 4, 3)
    found = png(pixels, EVIL)
    data = b64decode(re.search(r"base64,([^&\"]+)", found)[1])
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    start = data.index(b"IDAT") + 4
    size = int.from_bytes(data[start - 8 : start - 4], "big")
    rows = np.frombuffer(zlib.decompress(data[start : start + size]), np.uint8)
    assert (rows.reshape(2, 13)[:, 1:].reshape(2, 4, 3) == pixels).all()
    assert (
        zlib.crc32(data[start - 4 : start + size]).to_bytes(4, "big")
        == (data[start + size : start + size + 4])
    )
    assert "<script" not in found


# intervals ----------------------------------------------------------------------------


@pytest.mark.parametrize("n", [300, 5 * BLOCKS + 7])
def test_intervals_are_as_wide_as_they_should_be(n):
    right = np.random.default_rng(0).random(n) < 0.3
    found = share("x", right).interval()
    assert found.value == pytest.approx(right.mean())
    wide = 2 * 1.96 * np.sqrt(0.3 * 0.7 / n)
    assert found.high - found.low == pytest.approx(wide, rel=0.15)
    assert found.low < found.value < found.high


def test_differences_are_paired():
    rng = np.random.default_rng(1)
    a = rng.random(400) < 0.6
    b = a | (rng.random(400) < 0.05)  # never worse: the same examples are hard
    first, second = share("x", a), share("x", b)
    apart = first.difference(second)
    assert apart.value == pytest.approx(b.mean() - a.mean())
    assert apart.low > 0
    assert second.interval().low < first.interval().high  # apart they do not tell
    assert first.difference(first) == (0.0, 0.0, 0.0)


def test_measures_of_nothing():
    assert share("x", [], []).interval() == (1.0, 1.0, 1.0)
    assert f1("x", []).interval() == (1.0, 1.0, 1.0)
    assert f1("x", [(0, 0, 0), (2, 2, 1)]).interval().value == 0.5
    assert share("x", [np.nan, 1.0, 0.0]).interval().value == 0.5


# examples -----------------------------------------------------------------------------


def many(n=4000):
    """Examples with a common kind, and a rare one in a single example."""
    common, rare = Kind("a", "b"), Kind("c", "")
    found = [[common] if i % 3 else [] for i in range(n)]
    found[1234] = [rare, rare]
    return found, common, rare


def test_choice_of_examples():
    found, common, rare = many()
    errors = Errors(found, 50, [len(kinds) for kinds in found])
    assert errors.kinds == [common, rare]
    assert errors.counts[rare] == 2
    wrong = [i for i in errors.shown if found[i]]
    assert len(wrong) == 50
    assert wrong[0] == 1234  # the worst comes first
    assert 0 < len(errors.shown) - len(wrong) <= 12
    assert errors.first("k1") == "#e1234"
    assert errors.link("k1", "<b>") == (
        '<a href="#e1234" data-pick="k1" class="pick">&lt;b&gt;</a>'
    )
    errors.shown.remove(1234)  # as where the drawing was too large
    assert errors.link("k1", "<b>") == '<span class="pick">&lt;b&gt;</span>'
    assert errors.numbers(1234) == "k1 wrong"
    again = Errors(found, 50, [len(kinds) for kinds in found])
    assert again.shown == [1234, *errors.shown]


def test_few_examples_are_all_shown():
    errors = Errors([[Kind("a", "")], [], []], 50, [1, 0, 0])
    assert sorted(errors.shown) == [0, 1, 2]
    assert Errors([[], []], 10, [0, 0]).kinds == []


def test_differences_of_two_models():
    k = Kind("a", "b")
    here, there = [[], [k], [k, k], [k], []], [[k], [], [k], [k], []]
    assert compared(here, there) == {ONLY[0]: [0], ONLY[1]: [1], FEWER[1]: [2]}


def test_matrix_of_confusions():
    kinds = [Kind("a", "<b>"), Kind("<b>", "a"), Kind("a", ""), Kind("a", "a", "cut")]
    errors = Errors([kinds, kinds[:1]], 9, [4, 1])
    matrix = confusions(errors, {"a": 7})
    numbers = re.findall(r">([\d,·]+)<", matrix)
    assert sorted(numbers) == ["1", "2", "7", "·"]
    assert "a taken for &lt;b&gt;: 2 times" in matrix
    assert "<b>" not in matrix
    assert confusions(Errors([[kinds[2]]], 9, [1]), {}) == ""
    assert [str(kind) for kind in kinds] == [
        "a taken for <b>",
        "<b> taken for a",
        "a missed",
        "a: cut",
    ]


# charts -------------------------------------------------------------------------------


def test_axes():
    assert [nice(x) for x in (0.03, 1.0, 7, 0)] == [0.05, 1.0, 10, 1.0]
    ticks = Axis(0.0, 1.0, 0, 100).ticks()
    assert ticks == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    log = Axis(1e-4, 1.0, 0, 100, log=True)
    assert log(1e-2) == 50
    assert log.ticks()[-1] == 1.0
    assert Axis(2.0, 2.0, 0, 100)(2.0) == 50
    assert [short(x) for x in (0, 1234567, 0.25, 1e-9)] == [
        "0",
        "1.23e+06",
        "0.25",
        "1e-09",
    ]


def test_convergence_of_odd_histories():
    def rows(*pairs):
        return [
            {"seconds": 0.1 * k, "primal": p, "dual": d}
            for k, (p, d) in enumerate(pairs)
        ]

    assert convergence(rows((np.inf, 0.0)), 0.1, True) is None
    assert convergence(rows((2.0, 1.0)), None, True) is None
    one = convergence(
        [row | {"seconds": 0.0} for row in rows(*[(2.0, 1.0)] * 2)], None, 1
    )
    assert "passes" in one
    both = convergence(rows((np.inf, -np.inf), (3.0, 0.0), (2.0, 2.0)), 0.01, False)
    assert "gap, not proved" in both
    assert "nan" not in one + both
    assert "inf" not in one + both
    long = rows(*((3.0 + 1 / (k + 1), 3.0 - 1 / (k + 1)) for k in range(20_000)))
    assert len(convergence(long, 0.01, True)) < 60_000


def test_convergence_draws_what_it_names():
    """Before the first certificate the solver's estimate, dashed; no line for one dot."""
    history = [
        {
            "seconds": 0.1 * k,
            "primal": np.inf,
            "dual": 1.0 - 1 / k,
            "primal_estimate": 1 + 2 / k,
        }
        for k in range(1, 9)
    ]
    last = {"seconds": 0.9, "primal": 1.1, "dual": 0.9, "primal_estimate": 1.1}
    drawn = convergence([*history, last], 0.1, True)
    assert drawn.count(">estimated primal<") == drawn.count(">estimated gap<") == 1
    assert drawn.count('class="line primal guess"') == 2  # the line, and its key
    assert drawn.count("<svg") == 2
    bare = [{k: v for k, v in row.items() if "_" not in k} for row in [*history, last]]
    plain = convergence(bare, 0.1, True)
    assert "estimated" not in plain
    assert plain.count("<svg") == 1  # a single gap is no chart
    model, X, y, _ = fitted("MotifFinder")
    assert len(model.rounds_) > 1
    assert "after each outer step" in model.report(X, y).html
    model, X, y, _ = fitted("LinkClusterer")
    assert len(model.rounds_) == 1
    assert ">estimated primal<" in model.report(X, y).html
    model, X, y, _ = fitted("GrammarParser")
    assert "Training took a single pass" in model.report(X, y).html


def test_reliability():
    rng = np.random.default_rng(0)
    chances = rng.random(20_000)
    good = reliability(chances, rng.random(20_000) < chances)
    assert good.error < 0.02
    bad = reliability(chances, rng.random(20_000) < 0.5)
    assert bad.error == pytest.approx(0.25, abs=0.02)
    assert good.counts.sum() == 20_000
    edge = reliability([0.0, 1.0, 1.0], [False, True, False])
    assert edge.counts.tolist() == [1, *[0] * 8, 2]
    assert "nan" not in curve(edge)


def test_strongest():
    rows = {"a": [0.1, -3.0, 0.0, 2.0], "b": [0.0] * 4}
    assert strongest(rows, ["p", "q", "r", "s"], 3) == [
        ("a", "q", -3.0),
        ("a", "s", 2.0),
        ("a", "p", 0.1),
    ]
    assert strongest(rows, None, 1) == [("a", "feature 2", -3.0)]
