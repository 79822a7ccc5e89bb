"""What all taggers do after training: predict, rank, complete, evaluate."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain as chain_lists
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.listed import given_or
from maxmargin.core.structure import Outputs
from maxmargin.engine.prediction import over_cluster
from maxmargin.fitting.calibration import Chances, logs, of_table, temperature_of
from maxmargin.tags.corpus.training import TagCorpus, predicted
from maxmargin.tags.evaluation import TagEvaluation
from maxmargin.tags.input import check_known, check_matching, check_samples
from maxmargin.tags.metrics import SpanReport, TokenReport
from maxmargin.tags.single import single_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class TagPrediction(TagEvaluation):
    """Prediction by the structure of a tagger with its weights ``_w``."""

    def complete(self, X: Any, y: Any) -> list[list[Any]]:
        """y with every None replaced by the best label, given the known ones.

        None in place of a label sequence is one of which nothing is known.
        """
        return self._fitted().complete(X, self._w, y, self._threads())

    @over_cluster()
    def predict(self, X: Any) -> list[list[Any]]:
        """The best label sequence of every input.

        X may be a :class:`maxmargin.TagCorpus`; ``predict_shards`` takes less memory then.
        """
        if type(X) is list and len(X) == 1:
            single = single_of(self)
            labels = single and single.labels(X[0])
            if labels is not None:
                return Outputs([labels])
        if isinstance(X, TagCorpus):
            return Outputs(chain_lists.from_iterable(self.predict_shards(X)))
        return self._predicted(X)

    def predict_shards(self, corpus: TagCorpus) -> Iterator[list[list[Any]]]:
        """The best label sequences of every shard of a corpus, a list per shard.

        The corpus has the tagger's features: it was trained on it, or the corpus was
        built with ``like=tagger``.
        """
        structure = self._fitted()
        for start, flat, _ in predicted(structure, corpus, self._w, self._threads()):
            yield structure.sequences(start, flat)

    def predict_k_best(self, X: Any, k: int) -> list[list[tuple[list[Any], float]]]:
        """The k best label sequences of every input with their scores, best first."""
        return self._fitted().predict_k_best(X, self._w, k, self._threads())

    @over_cluster()
    def predict_marginals(self, X: Any) -> list[np.ndarray]:
        """Per sequence (tokens, labels): probabilities under exp(score) / Z.

        Scores of a maximum-margin model are not calibrated: these rank the labels, but
        0.9 need not mean right nine times out of ten, unless ``calibrate`` has seen
        held-out data.
        """
        structure, T = self._fitted(), temperature_of(self)
        w = self._w if T == 1.0 else (self._w / T).astype(self._w.dtype)
        return structure.predict_marginals(X, w, self._threads())

    def decision_function(self, X: Any) -> list[np.ndarray]:
        """Per sequence (tokens, labels): the best score of a sequence with that label.

        The largest entry of every row is the score of the predicted sequence; the
        difference to the others says how much is lost by another label there.
        """
        return self._fitted().tables("max", X, self._w, self._threads())

    def score(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Share of labels predicted right; y is left out for a corpus."""
        if isinstance(X, TagCorpus):
            structure = self._fitted()
            refuse_beside_corpus(y, sample_weight)
            found = predicted(structure, X, self._w, self._threads())
            return sum(int((a == b).sum()) for _, a, b in found) / X.n_tokens
        return super().score(X, y, sample_weight)

    def evaluate(
        self,
        X: Any,
        y: Any = None,
        *,
        scheme: str | None = "auto",
        predicted: Any = None,
    ) -> SpanReport | TokenReport:
        """Scores of spans if the labels are written in a tagging scheme, else of labels.

        A ``scheme`` insists on spans, None on labels; y is left out for a corpus.
        ``predicted`` is what ``predict(X)`` has returned, if that is known already.
        """
        if isinstance(X, TagCorpus):
            refuse_beside_corpus(y)
            y = list(X.label_sequences())
            predicted = given_or(predicted, lambda: self.predict(X))
        return super().evaluate(X, y, scheme=scheme, predicted=predicted)

    # as in sklearn-crfsuite -------------------------------------------------------------

    @property
    def state_features_(self) -> dict[tuple[Any, Any], float]:
        """{(feature, label): weight} of the weights that are not zero.

        Columns of numeric input are features by number.
        """
        check_is_fitted(self, "coef_")
        names = self.feature_names_ or range(self.coef_.shape[1])
        rows, labels = self.coef_.T, self.structure_.labels
        return {
            (names[j], labels[k]): float(rows[j, k])
            for j, k in zip(*map(np.ndarray.tolist, np.nonzero(rows)), strict=True)
        }

    @property
    def transition_features_(self) -> dict[tuple[Any, Any], float]:
        """{(label, next label): weight} of the weights that are not zero."""
        check_is_fitted(self, "coef_")
        labels = self.structure_.labels
        return {
            (labels[a], labels[b]): float(self.transitions_[a, b])
            for a, b in np.argwhere(self.transitions_).tolist()
        }

    # helpers -----------------------------------------------------------------------------

    def _chances(self, X, y, predicted) -> Chances:
        X, y = self._known(X, y, predicted)
        tables = self.predict_marginals(X)
        labels = self.structure_.labels
        table = np.concatenate(tables) if tables else np.zeros((0, len(labels)))
        flat = (chain_lists.from_iterable(rows) for rows in (y, predicted))
        return of_table(logs(table), labels, *flat)

    def _right(self, X, y) -> list[bool]:
        found = self.predict(X)
        _, y = self._known(X, y, found)
        return [list(a) == list(b) for a, b in zip(found, y, strict=True)]

    @staticmethod
    def _known(X, y, predicted):
        """X and y as lists, with as many true labels as there are predicted ones."""
        X, y = check_samples(X, y)
        check_known(y)
        check_matching(np.cumsum([0, *map(len, predicted)]), y)
        return X, y


def refuse_beside_corpus(*given: Any) -> None:
    """A corpus has its labels."""
    if any(value is not None for value in given):
        raise ValueError("a corpus is scored alone: leave out y and sample_weight.")
