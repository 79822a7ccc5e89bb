"""What a report shows of clusters: predicted ones, mention by mention, beside the true."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from maxmargin.clusterings.documents import MentionDocument, as_document, first_mentions
from maxmargin.clusterings.metrics import cluster_counts, cluster_scores
from maxmargin.report.findings import Findings, Kind, Test
from maxmargin.report.markup import Markup, element, joined
from maxmargin.report.measures import Measure, rows_of, share

CLUSTERS, MENTIONS, LETTERS = 30, 40, 60  # that are drawn
PARTS = ("muc", "b_cubed", "ceaf_e")


class ClusterFindings(Findings):
    """Documents and the clusters of their mentions."""

    items = "documents"

    def __init__(self, model: Any, test: Test):
        super().__init__(model, test)
        self.truth = [self._ids(y, i) for i, y in enumerate(test.y)]
        self.documents = [_document(x, i) for i, x in enumerate(test.X)]

    def __len__(self) -> int:
        return len(self.truth)

    def _ids(self, clusters: Any, i: int) -> list[int]:
        return first_mentions(clusters, None, f"y[{i}]").tolist()

    def summary(self, outputs: Any) -> Any:
        return cluster_scores(self.truth, outputs)

    def measures(self, outputs: Any) -> list[Measure]:
        tables = [
            cluster_counts(np.asarray(a), np.asarray(b))
            for a, b in zip(self.truth, outputs, strict=True)
        ]
        rows = rows_of([np.concatenate([t[p] for p in PARTS]) for t in tables], 12)
        both = zip(self.truth, outputs, strict=True)
        losses = [cluster_scores([a], [b]).pair_loss / 100 for a, b in both]
        about = "mean F1 of MUC, B-cubed and CEAF of entities"
        return [
            Measure("CoNLL F1", rows, _conll, about=about),
            share("pair loss", losses, smaller=True, about="pairs in one of both only"),
        ]

    def errors(self, outputs: Any) -> list[list[Kind]]:
        return [self._errors(i, self._ids(found, i)) for i, found in enumerate(outputs)]

    def _errors(self, i: int, found: list[int]) -> list[Kind]:
        """Clusters that hold several true ones, and true ones that were split."""
        truth = self.truth[i]
        merged, split = _spread(found, truth), _spread(truth, found)
        kinds = [self._kind(i, v, "joined to another cluster") for v in merged]
        return kinds + [self._kind(i, v, "cut off its cluster") for v in split]

    def _kind(self, i: int, v: int, what: str) -> Kind:
        document = self.documents[i]
        form = document.mentions[v].form if document is not None else ""
        return Kind("", "", f"{form or 'mention'} {what}")

    def name(self, i: int) -> str:
        document = self.documents[i]
        name = document.name if document is not None else ""
        return name or f"document {i + 1}"

    def draw(self, i: int, outputs: Any) -> Markup:
        truth, found = self.truth[i], self._ids(outputs[i], i)
        members: dict[int, list[int]] = {}
        for v, c in enumerate(found):
            members.setdefault(c, []).append(v)
        alone = Counter(truth)
        bad = {
            c: vs
            for c, vs in members.items()
            if len({truth[v] for v in vs}) > 1 or alone[truth[vs[0]]] != len(vs)
        }
        order = sorted(members, key=lambda c: (c not in bad, -len(members[c])))
        order = [c for c in order if len(members[c]) > 1 or c in bad]
        rows = [self._cluster(i, members[c]) for c in order[:CLUSTERS]]
        rest = len(members) - len(rows)
        text = f"{rest:,} more clusters, most of one mention" if rest else ""
        return joined([*rows, element("p", text, cls="soft")])

    def _cluster(self, i: int, members: list[int]) -> Markup:
        truth = self.truth[i]
        order = list(dict.fromkeys(truth))
        main = Counter(truth[v] for v in members).most_common(1)[0][0]
        chips = []
        for v in members[:MENTIONS]:
            number = order.index(truth[v]) + 1
            style = f"--h:{round(137.508 * number) % 360}"
            cls = "x" if truth[v] != main else None
            word = element("u", self._text(i, v), cls=cls)
            chips.append(element("mark", word, element("i", number), style=style))
        rest = len(members) - MENTIONS
        more = f" … {rest:,} more" if rest > 0 else ""
        return element("p", joined(chips, " "), more, cls="spans")

    def _text(self, i: int, v: int) -> str:
        document = self.documents[i]
        if document is None:
            return f"mention {v + 1}"
        m = document.mentions[v]
        text = " ".join(document.sentences[m.sentence][m.first : m.last + 1])
        return text if len(text) <= LETTERS else f"{text[:LETTERS]} …"

    def legend(self) -> Markup:
        text = (
            "A line is a predicted cluster, wrong ones first; the number and the colour of "
            "a mention are those of its true cluster. Underlined mentions do not belong to "
            "the others of the line."
        )
        return element("p", text, cls="soft")


FINDINGS = ClusterFindings


def _document(x: Any, i: int) -> MentionDocument | None:
    """None for a table of features of pairs."""
    written = isinstance(x, (MentionDocument, dict))
    return as_document(x, f"X[{i}]") if written else None


def _spread(groups: list[int], labels: list[int]) -> list[int]:
    """Members of a group whose label is not the most frequent one of the group."""
    inside: dict[int, Counter] = {}
    for group, label in zip(groups, labels, strict=True):
        inside.setdefault(group, Counter())[label] += 1
    main = {group: count.most_common(1)[0][0] for group, count in inside.items()}
    both = zip(groups, labels, strict=True)
    return [v for v, (group, label) in enumerate(both) if main[group] != label]


def _conll(sums: np.ndarray) -> np.ndarray:
    """The mean of three F1, of sums (right, found, right, true) each."""
    table = sums.reshape(*sums.shape[:-1], 3, 4)
    with np.errstate(divide="ignore", invalid="ignore"):
        p, r = (table[..., k] / table[..., k + 1] for k in (0, 2))
        f1 = np.nan_to_num(2 * p * r / (p + r))
    nothing = (table[..., 1] == 0) & (table[..., 3] == 0)
    return np.where(nothing, 1.0, f1).mean(axis=-1)
