"""Scorers for scikit-learn's searches and cross-validation: one per measure.

    from maxmargin import SequenceTagger, scorers

    GridSearchCV(SequenceTagger(), {"C": [0.1, 1]}, scoring=scorers.span_f1)

Each is a :class:`~maxmargin.metrics.scorer.Scorer`, a function of an estimator, inputs and
true outputs. Greater is better: errors and losses come out negative. `table` lists them,
`get` finds one by its name, `ndcg_at` and `precision_at` make those of other places.
"""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

from maxmargin.families import lazily, places

_WHERE = {
    "Scorer": "maxmargin.metrics.scorer",
    "accuracy": "maxmargin.metrics.scorers",
    "loss": "maxmargin.metrics.scorers",
    "macro_f1": "maxmargin.metrics.scorers",
    "micro_f1": "maxmargin.metrics.scorers",
    **places("scorers"),
}
_MAKERS = ("ndcg_at", "precision_at")  # of a number of places

__all__ = ["get", "names", "table", *_WHERE]


def names() -> list[str]:
    """The names of all scorers."""
    return sorted(set(_WHERE) - {"Scorer", *_MAKERS})


def get(name: str) -> Scorer:
    """The scorer of this name; also ndcg_at_5 and precision_at_3, with any number.

    >>> get("span_f1")
    <scorer span_f1>
    """
    if not isinstance(name, str):
        raise ValueError(f"{name!r} is no name of a scorer: give a text, as 'span_f1'.")
    places = re.fullmatch(r"(ndcg_at|precision_at)_(\d+)", name)
    if places is not None:
        return _named(places[1])(int(places[2]))
    if name not in names():
        near = sorted(n for n in names() if set(name.split("_")) & set(n.split("_")))
        raise ValueError(
            f"there is no scorer {name!r}; there are {', '.join(near or names())}."
        )
    return _named(name)


def table() -> str:
    """All scorers with the reports that they read, as text."""
    rows = [get(name) for name in names()]
    width = max(len(row.name) for row in rows)
    return "\n".join(
        f"{row.name:<{width}}  {row.title}, in {' or '.join(row.reports)}"
        + (" (negative: smaller is better)" if row.smaller else "")
        for row in rows
    )


def _named(name: str) -> Any:
    return getattr(importlib.import_module(_WHERE[name]), name)


if TYPE_CHECKING:  # what type checkers and editors see of it
    from maxmargin.alignments.scorers import (
        alignment_precision as alignment_precision,
    )
    from maxmargin.alignments.scorers import (
        alignment_q as alignment_q,
    )
    from maxmargin.alignments.scorers import (
        alignment_q4 as alignment_q4,
    )
    from maxmargin.alignments.scorers import (
        homolog_rank as homolog_rank,
    )
    from maxmargin.alignments.scorers import (
        homologs_found as homologs_found,
    )
    from maxmargin.classes.taxonomy.scorers import (
        tree_distance as tree_distance,
    )
    from maxmargin.classes.taxonomy.scorers import (
        tree_loss as tree_loss,
    )
    from maxmargin.clusterings.scorers import (
        b_cubed_f1 as b_cubed_f1,
    )
    from maxmargin.clusterings.scorers import (
        ceaf_e_f1 as ceaf_e_f1,
    )
    from maxmargin.clusterings.scorers import (
        conll_f1 as conll_f1,
    )
    from maxmargin.clusterings.scorers import (
        mitre_loss as mitre_loss,
    )
    from maxmargin.clusterings.scorers import (
        muc_f1 as muc_f1,
    )
    from maxmargin.clusterings.scorers import (
        pair_loss as pair_loss,
    )
    from maxmargin.dependencies.scorers import (
        attachment_score as attachment_score,
    )
    from maxmargin.dependencies.scorers import (
        labelled_attachment_score as labelled_attachment_score,
    )
    from maxmargin.dependencies.scorers import (
        plain_attachment_score as plain_attachment_score,
    )
    from maxmargin.graphs.scorers import (
        graph_accuracy as graph_accuracy,
    )
    from maxmargin.graphs.scorers import (
        mean_iou as mean_iou,
    )
    from maxmargin.graphs.scorers import (
        node_accuracy as node_accuracy,
    )
    from maxmargin.matchings.scorers import (
        aer as aer,
    )
    from maxmargin.matchings.scorers import (
        link_precision as link_precision,
    )
    from maxmargin.matchings.scorers import (
        link_recall as link_recall,
    )
    from maxmargin.metrics.scorer import (
        Scorer as Scorer,
    )
    from maxmargin.metrics.scorers import (
        accuracy as accuracy,
    )
    from maxmargin.metrics.scorers import (
        loss as loss,
    )
    from maxmargin.metrics.scorers import (
        macro_f1 as macro_f1,
    )
    from maxmargin.metrics.scorers import (
        micro_f1 as micro_f1,
    )
    from maxmargin.motifs.scorers import (
        motif_accuracy as motif_accuracy,
    )
    from maxmargin.motifs.scorers import (
        motif_f1 as motif_f1,
    )
    from maxmargin.motifs.scorers import (
        motif_precision as motif_precision,
    )
    from maxmargin.motifs.scorers import (
        motif_recall as motif_recall,
    )
    from maxmargin.multilabel.scorers import (
        hamming_loss as hamming_loss,
    )
    from maxmargin.multilabel.scorers import (
        jaccard as jaccard,
    )
    from maxmargin.multilabel.scorers import (
        ranking_loss as ranking_loss,
    )
    from maxmargin.multilabel.scorers import (
        sample_f1 as sample_f1,
    )
    from maxmargin.multilabel.scorers import (
        subset_accuracy as subset_accuracy,
    )
    from maxmargin.rankings.scorers import (
        mean_average_precision as mean_average_precision,
    )
    from maxmargin.rankings.scorers import (
        mean_reciprocal_rank as mean_reciprocal_rank,
    )
    from maxmargin.rankings.scorers import (
        ndcg_at as ndcg_at,
    )
    from maxmargin.rankings.scorers import (
        ndcg_at_10 as ndcg_at_10,
    )
    from maxmargin.rankings.scorers import (
        precision_at as precision_at,
    )
    from maxmargin.rankings.scorers import (
        precision_at_10 as precision_at_10,
    )
    from maxmargin.tags.scorers import (
        sequence_accuracy as sequence_accuracy,
    )
    from maxmargin.tags.scorers import (
        span_f1 as span_f1,
    )
    from maxmargin.tags.scorers import (
        span_precision as span_precision,
    )
    from maxmargin.tags.scorers import (
        span_recall as span_recall,
    )
    from maxmargin.tags.scorers import (
        token_accuracy as token_accuracy,
    )
    from maxmargin.trees.scorers import (
        bracket_f1 as bracket_f1,
    )
    from maxmargin.trees.scorers import (
        bracket_precision as bracket_precision,
    )
    from maxmargin.trees.scorers import (
        bracket_recall as bracket_recall,
    )
    from maxmargin.trees.scorers import (
        tagging_accuracy as tagging_accuracy,
    )
    from maxmargin.trees.scorers import (
        tree_exact_match as tree_exact_match,
    )
else:
    __getattr__, _ = lazily(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted(__all__)
