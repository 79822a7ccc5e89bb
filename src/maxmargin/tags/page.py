"""Tagged sentences as one page for the browser: no scripts, nothing from elsewhere."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

import numpy as np

from maxmargin.core.checks import whole
from maxmargin.files.pages import write_page
from maxmargin.report.markup import escaped
from maxmargin.tags.marked import Sentence, are_spans, hues_of, marked, pieces_of

ORDERS = ("first", "uncertain")
STYLE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; --soft: #666;
  --bad: #c62800; --fill: 74% 88%; --name: 85% 24%; }
@media (prefers-color-scheme: dark) { :root { --ink: #ececec; --paper: #161616;
  --soft: #a0a0a0; --bad: #ff8a65; --fill: 38% 27%; --name: 75% 84%; } }
body { color: var(--ink); background: var(--paper); max-width: 60rem; margin: 2rem auto;
  padding: 0 1rem; font: 1rem/2.1 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.3rem; line-height: 1.3; }
.about { color: var(--soft); font-size: .9rem; line-height: 1.5; }
ol { list-style: none; padding: 0; }
li { padding: .35rem 0 .35rem 3.2rem; position: relative; }
li > b { position: absolute; left: 0; width: 2.6rem; text-align: right;
  color: var(--soft); font-weight: normal; font-size: .8rem; }
mark { color: var(--ink); background: hsl(var(--h) var(--fill)); border-radius: .3rem;
  padding: .15rem .3rem .25rem; -webkit-box-decoration-break: clone;
  box-decoration-break: clone; }
mark i { font: 600 .68rem system-ui, sans-serif; color: hsl(var(--h) var(--name));
  margin-inline-start: .35rem; }
mark span { white-space: nowrap; }
u { text-decoration: none; unicode-bidi: isolate; display: inline-block;
  position: relative; line-height: 1.25; padding-bottom: .25rem; }
u s { position: absolute; left: 0; bottom: 0; height: 2px; background: var(--soft); }
u.x { text-decoration: underline wavy var(--bad) 1.5px; text-underline-offset: .2em; }
"""

HEAD = """<!DOCTYPE html>
<html lang="und">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{style}{hues}</style>
</head>
<body>
<h1>{title}</h1>
"""


def tagged_page(
    words: Sequence[Sequence[str]],
    labels: Sequence[Sequence],
    path: str | os.PathLike,
    truth: Sequence[Sequence] | None = None,
    marginals: Sequence[np.ndarray] | None = None,
    classes: Sequence | None = None,
    title: str = "Tagged sentences",
    limit: int = 200,
    order: str = "first",
    note: str = "",
) -> None:
    """Write tagged sentences to one HTML file, to be read in a browser.

    Labels of a tagging scheme (:mod:`maxmargin.tags.schemes`) are drawn as spans in the
    colour of their type, others token by token.

    Parameters
    ----------
    words : list of lists of str
    labels : list of label sequences
        What is shown: mostly predictions.
    path : path of the file, which is replaced if it exists
    truth : list of label sequences or None
        Where it differs a token is underlined; hovering over it shows the true label.
    marginals : list of arrays or None
        As ``predict_marginals`` returns them, with the labels of the columns in
        ``classes``; or one number per token, the probability of its label. It is drawn
        as the length of a thin bar under the token. Objectives that fit no probabilities
        (all but "log" and "marginal") have none to show.
    classes : labels of the columns of ``marginals`` (``classes_`` of the tagger)
    limit : int
        The most sentences that are shown.
    order : "first" or "uncertain"
        "uncertain" starts with the sentence that has the least certain label.
    note : str
        A sentence for the head of the page.
    """
    sentences = _sentences(words, labels, truth, marginals, classes)
    total = len(sentences)
    whole("limit", limit)
    if order not in ORDERS:
        raise ValueError(f"order={order!r} is not known; choose from {ORDERS}.")
    if order == "uncertain":
        if marginals is None:
            raise ValueError("order='uncertain' needs marginals.")
        sentences.sort(key=lambda s: float(s.chances.min(initial=2.0)))  # type: ignore[union-attr]
    spanned = are_spans(sentences)
    shown = [s._replace(pieces=pieces_of(s.labels, spanned)) for s in sentences[:limit]]
    kinds = (kind for s in shown for _, _, kind in s.pieces)
    counts = Counter(kind for kind in kinds if kind is not None)
    hues = hues_of(counts)
    numbers = {kind: n for n, kind in enumerate(hues)}
    out = [
        HEAD.format(
            title=escaped(title),
            style=STYLE,
            hues="".join(f".k{numbers[z]}{{--h:{hue}}}\n" for z, hue in hues.items()),
        ),
        *_about(shown, total, order, spanned, counts, numbers),
        *([f'<p class="about">{escaped(note)}</p>\n'] if note else []),
        "<ol>\n",
        *(_item(sentence, numbers) for sentence in shown),
        "</ol>\n</body>\n</html>\n",
    ]
    write_page(path, "".join(out))


# drawing -----------------------------------------------------------------------------


def _item(sentence: Sentence, numbers) -> str:
    line = marked(sentence, lambda kind: {"cls": f"k{numbers[kind]}"})
    return f'<li dir="auto"><b>{sentence.number}</b>{line}</li>\n'


def _about(shown, total, order, spanned, counts, numbers) -> list[str]:
    """What the page shows, and the legend."""
    how = "the least certain" if order == "uncertain" else "the first"
    which = f"All {total}" if len(shown) == total else f"{how} {len(shown)} of {total}"
    says = [f"{which[0].upper()}{which[1:]} sentences; numbers count from 0."]
    if order == "uncertain":
        says.append("The sentence with the least certain label comes first.")
    if shown and shown[0].truth is not None:
        tokens = sum(len(s.words) for s in shown)
        wrong = sum(
            a != b for s in shown for a, b in zip(s.labels, s.truth, strict=True)
        )
        says.append(
            f"{wrong} of the {tokens} labels shown are wrong: the words are "
            '<u class="x">underlined</u>. Hover over one to see the true label.'
        )
    if shown and shown[0].chances is not None:
        says.append(
            "The bar under a word is the probability of its label: "
            '<u>certain<s style="width:100%"></s></u>, '
            '<u>uncertain<s style="width:30%"></s></u>.'
        )
    what = "Spans by type" if spanned else "Labels"
    legend = [
        f'<mark class="k{numbers[kind]}">{escaped(kind) or "span"}</mark>'
        f"&nbsp;{counts[kind]}"
        for kind in numbers
    ]
    return [
        f'<p class="about">{" ".join(says)}</p>\n',
        f'<p class="about">{what}: {" &ensp;".join(legend) or "none"}</p>\n',
    ]


# input -------------------------------------------------------------------------------


def _sentences(words, labels, truth, marginals, classes) -> list[Sentence]:
    """All checked, and side by side."""
    words = _rows("words", words)
    n = len(words)
    _check_kind("words", words, str, "strings")
    columns: list[list] = [_rows("labels", labels)]
    columns.append([None] * n if truth is None else _rows("truth", truth))
    columns.append([None] * n if marginals is None else list(marginals))
    for name, column in zip(("labels", "truth", "marginals"), columns, strict=True):
        if len(column) != n:
            raise ValueError(
                f"words has {n} sentences, but {name} has {len(column)}: give as many."
            )
        for i, row in enumerate(column):
            if row is not None and len(row) != len(words[i]):
                raise ValueError(
                    f"words[{i}] has {len(words[i])} tokens, but {name}[{i}] has "
                    f"{len(row)}: give one per token."
                )
    for name, column in zip(("labels", "truth"), columns, strict=False):
        _check_kind(name, column, (str, int), "strings or integers")
    number = None
    if classes is not None:
        number = {label: j for j, label in enumerate(np.asarray(classes).tolist())}
    out = []
    for i, (row, given, true, table) in enumerate(zip(words, *columns, strict=True)):
        chances = None if table is None else _chances(i, table, given, number)
        out.append(Sentence(i, row, given, true, chances))
    return out


def _rows(name, rows) -> list[list]:
    if isinstance(rows, str) or not hasattr(rows, "__iter__"):
        raise ValueError(f"{name} is {rows!r}: give a list of sentences.")
    rows = list(rows)
    for i, row in enumerate(rows):
        if isinstance(row, str) or not hasattr(row, "__len__"):
            raise ValueError(f"{name}[{i}] is {row!r}: give a list with one per token.")
    return [row.tolist() if isinstance(row, np.ndarray) else list(row) for row in rows]


def _check_kind(name, rows, kind, called) -> None:
    for i, row in enumerate(rows):
        for z in row or ():
            if not isinstance(z, kind):
                raise ValueError(f"{name}[{i}] holds {z!r}: {name} must be {called}.")


def _chances(i, table, labels, number) -> np.ndarray:
    """The probabilities of the labels of sentence i."""
    table = np.asarray(table, dtype=float)
    if table.ndim == 2:
        if number is None:
            raise ValueError(
                "marginals are tables: say in classes what their columns are."
            )
        if table.shape[1] != len(number):
            raise ValueError(
                f"marginals[{i}] has {table.shape[1]} columns, but there are "
                f"{len(number)} classes."
            )
        unknown = next((label for label in labels if label not in number), None)
        if unknown is not None:
            raise ValueError(f"labels[{i}] holds {unknown!r}, which is not in classes.")
        table = table[np.arange(len(labels)), [number[label] for label in labels]]
    if table.ndim != 1 or not np.all((table >= -1e-6) & (table <= 1 + 1e-6)):
        raise ValueError(
            f"marginals[{i}] must be one probability, or one row of them, per token."
        )
    return table
