"""What a report shows of tagged sentences: spans or labels, missed, invented, confused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from operator import eq
from typing import Any

import numpy as np

from maxmargin.report.facts import fits_probabilities
from maxmargin.report.findings import Findings, Kind, chosen, strongest
from maxmargin.report.markup import Markup, element, joined, named
from maxmargin.report.measures import Measure, f1, share
from maxmargin.tags.input import check_known, sequences_from
from maxmargin.tags.marked import Sentence, hues_of, marked, pieces_of
from maxmargin.tags.metrics import scores
from maxmargin.tags.schemes import guess_scheme, spans

CERTAIN = 0.98  # probabilities that are not drawn
LONGEST = 600  # tokens of a sentence that are drawn
BOUNDARIES = "wrong boundaries"


class TagFindings(Findings):
    """Sentences with their labels."""

    items = "sentences"

    def __init__(self, model: Any, test: Any):
        super().__init__(model, test)
        check_known(test.y)
        self.truth = list(map(_plain, test.y))
        labels = {*chain.from_iterable(self.truth), *model.classes_.tolist()}
        self.spanned = guess_scheme(labels) is not None
        self._words: list[list[str]] | None = None
        self._chances: dict[int, np.ndarray] = {}  # of the labels of what is drawn
        self._hues = hues_of(Counter(map(self._type, labels)))

    def __len__(self) -> int:
        return len(self.truth)

    @property
    def words(self) -> list[list[str]]:
        if self._words is None:
            self._words = words_of(self.test.X)
        return self._words

    def _type(self, label: Any) -> Any:
        """What has a colour: the type of a label's span, or the label."""
        if not self.spanned:
            return label
        found = spans([label])
        return found[0][2] if found else ""

    def predict(self) -> list:
        return list(map(_plain, self.model.predict(self.test.X)))

    def summary(self, outputs: Any) -> Any:
        return scores(self.truth, outputs)

    def measures(self, outputs: Any) -> list[Measure]:
        pairs = list(zip(self.truth, outputs, strict=True))
        right = [sum(map(eq, a, b)) for a, b in pairs]
        whole = [r == len(a) for r, (a, _) in zip(right, pairs, strict=True)]
        found = [
            share("token accuracy", right, [len(a) for a, _ in pairs]),
            share("sentences all right", whole),
        ]
        if not self.spanned:
            return found
        rows = []
        for a, b in pairs:
            true = set(spans(a))
            other = true if a == b else set(spans(b))
            rows.append((len(true), len(other), len(true & other)))
        return [f1("span F1", rows), *found]

    def errors(self, outputs: Any) -> list[list[Kind]]:
        rows = zip(self.truth, outputs, strict=True)
        find = _span_errors if self.spanned else _label_errors
        return [[] if a == b else find(a, b) for a, b in rows]

    def right(self, outputs: Any) -> dict[str, int]:
        found: Counter = Counter()
        for a, b in zip(self.truth, outputs, strict=True):
            if self.spanned:
                found.update(str(z) for _, _, z in set(spans(a)).intersection(spans(b)))
            else:
                found.update(x for x, z in zip(a, b, strict=True) if x == z)
        return {str(label): n for label, n in found.items()}

    def name(self, i: int) -> str:
        return f"sentence {i + 1}"

    def draw(self, i: int, outputs: Any) -> Markup:
        lines = [self.draw_other(i, outputs)]
        if self.spanned and list(self.truth[i]) != list(outputs[i]):
            cut = slice(0, LONGEST)
            true = Sentence(i, self.words[i][cut], self.truth[i][cut])
            lines.append(named("truth", self._line(true)))
        return joined(lines)

    def draw_other(self, i: int, outputs: Any) -> Markup:
        words, cut = self.words[i], slice(0, LONGEST)
        chances = self._chances.get(i)
        found = Sentence(i, words[cut], outputs[i][cut], self.truth[i][cut], chances)
        rest = len(words) - LONGEST
        more = element("p", f"… {rest:,} more tokens", cls="soft") if rest > 0 else ""
        return named("predicted", self._line(found), more)

    def _line(self, sentence: Sentence) -> Markup:
        sentence = sentence._replace(pieces=pieces_of(sentence.labels, self.spanned))
        text = marked(sentence, lambda z: {"style": f"--h:{self._hues.get(z, 0)}"})
        return element("p", text, dir="auto", cls="spans")

    def legend(self) -> Markup:
        error = element("u", "Underlined", cls="x")
        text = " words have a wrong label; hover over one to see the true label."
        if fits_probabilities(self.model):
            text += (
                " The bar under a word is the probability of its label, where that is "
                f"below {CERTAIN:.0%}."
            )
        return element("p", element("span", error, text, cls="spans"))

    def weights(self, top: int) -> list[tuple[str, str, float]]:
        model = self.model
        if not hasattr(model, "coef_"):
            return []
        labels = map(str, model.classes_.tolist())
        rows = dict(zip(labels, np.asarray(model.coef_, float), strict=True))
        return strongest(rows, model.feature_titles_, top)

    def prepare(self, few: Sequence[int], outputs: Any) -> None:
        if fits_probabilities(self.model) and hasattr(self.model, "predict_marginals"):
            found = self._probabilities(few, outputs).items()
            self._chances = {i: np.where(p < CERTAIN, p, np.nan) for i, p in found}

    def _probabilities(self, few: Sequence[int], outputs: Any) -> dict[int, np.ndarray]:
        """Those of the labels of these sentences, token by token."""
        number = {label: k for k, label in enumerate(self.model.classes_.tolist())}
        found = {}
        tables = self.model.predict_marginals(chosen(self.test.X, few))
        for i, table in zip(few, tables, strict=True):
            columns = [number[label] for label in outputs[i]]
            found[i] = np.asarray(table, float)[range(len(columns)), columns]
        return found

    def chances(self, outputs: Any, few: Any) -> Any:
        if not hasattr(self.model, "predict_marginals"):
            return None
        said = self._probabilities(few, outputs)
        right = [list(map(eq, self.truth[i], outputs[i])) for i in said]
        return np.concatenate(list(said.values())), np.concatenate(right)


FINDINGS = TagFindings


def words_of(X: Any) -> list[list[str]]:
    """What to show of the tokens: words, first attributes, or numbers."""
    if hasattr(X, "strings"):
        return X.strings(X.meaning.word)
    X = sequences_from(X)
    return [
        list(map(str, range(1, x.shape[0] + 1)))
        if hasattr(x, "shape")
        else [_word(token) for token in x]
        for x in X
    ]


def _word(token: Any) -> str:
    if isinstance(token, str):
        return token
    first = next(iter(token), "_")
    return f"{first}={token[first]}" if isinstance(token, dict) else str(first)


def _plain(labels: Any) -> list:
    return labels.tolist() if hasattr(labels, "tolist") else list(labels)


def _label_errors(truth: list, found: list) -> list[Kind]:
    pairs = zip(truth, found, strict=True)
    return [Kind(str(a), str(b)) for a, b in pairs if a != b]


def _span_errors(truth: list, found: list) -> list[Kind]:
    """Spans of another type, with other boundaries, missed, or invented.

    Labels may differ where spans do not, as in other ways to write the same.
    """
    true, other = set(spans(truth)), set(spans(found))
    missed, invented = sorted(true - other, key=str), sorted(other - true, key=str)
    kinds = []
    for begin, end, kind in missed:
        same = next((s for s in invented if s[:2] == (begin, end)), None)
        near = next(
            (s for s in invented if s[2] == kind and s[0] < end and begin < s[1]), None
        )
        partner = same or near
        if partner is None:
            kinds.append(Kind(str(kind) or "span", ""))
            continue
        invented.remove(partner)
        what = "" if same else BOUNDARIES
        kinds.append(Kind(str(kind) or "span", str(partner[2]) or "span", what))
    kinds += [Kind("", str(kind) or "span") for _, _, kind in invented]
    return kinds
