"""What all taggers do after training: predict, rank, complete, evaluate."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain as chain_lists
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.completion import complete_all
from maxmargin.core.decode import decode
from maxmargin.core.listed import given_or
from maxmargin.core.partial import partly_known
from maxmargin.core.structure import Outputs, check_k
from maxmargin.engine.prediction import over_cluster
from maxmargin.fitting.calibration import Chances, logs, of_table, temperature_of
from maxmargin.tags.chain_inference import decode_posteriors, k_best, table_per_token
from maxmargin.tags.corpus import TagCorpus
from maxmargin.tags.corpus.training import predicted
from maxmargin.tags.evaluation import TagEvaluation
from maxmargin.tags.input import check_known, check_matching, check_samples
from maxmargin.tags.partial import fill_rows
from maxmargin.tags.single import single_of
from maxmargin.tags.structure import TagStructure
from maxmargin.waiting import stage

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from maxmargin.tags.corpus import TagCorpus
    from maxmargin.tags.metrics import SpanReport, TokenReport


class TagPrediction(TagEvaluation):
    """Prediction from ``_encoder``, ``_labels``, ``_w`` and the settings of a tagger."""

    def complete(self, X: Any, y: Any) -> list[list[Any]]:
        """y with every None replaced by the best label, given the known ones.

        None in place of a label sequence is one of which nothing is known.
        """
        X, y = check_samples(X, y, unlabelled=True)
        batch, start = self._batch(X)
        y = fill_rows(y, start)
        check_matching(start, y)
        numbers = {label: k for k, label in enumerate(self._labels)}
        flat = np.fromiter(
            (numbers.get(label, -1) for label in chain_lists.from_iterable(y)), np.int32
        )
        batch = partly_known(batch._replace(y=np.maximum(flat, 0)), flat >= 0)
        flat = complete_all(batch, self._w, self._threads())
        return [
            [b if a is None else a for a, b in zip(given, found, strict=True)]
            for given, found in zip(y, self._sequences(start, flat), strict=True)
        ]

    @over_cluster()
    def predict(self, X: Any) -> list[list[Any]]:
        """The best label sequence of every input.

        X may be a :class:`maxmargin.TagCorpus`; ``predict_shards`` takes less memory then.
        """
        if type(X) is list and len(X) == 1:
            single = single_of(self)
            labels = single and single.labels(self, X[0])
            if labels is not None:
                return Outputs([labels])
        if isinstance(X, TagCorpus):
            return Outputs(chain_lists.from_iterable(self.predict_shards(X)))
        batch, start = self._batch(X)
        search = decode_posteriors if self._decoding() == "posterior" else decode
        flat = search(batch, self._w, self._threads())
        return self._sequences(start, flat)

    def predict_shards(self, corpus: TagCorpus) -> Iterator[list[list[Any]]]:
        """The best label sequences of every shard of a corpus, a list per shard.

        The corpus has the tagger's features: it was trained on it, or the corpus was
        built with ``like=tagger``.
        """
        check_is_fitted(self, "coef_")
        for start, flat, _ in predicted(self, corpus):
            yield self._sequences(start, flat)

    def _decoding(self) -> str:
        self._check_parameters("decoding")
        if self.decoding != "auto":
            return self.decoding
        return "posterior" if self.objective == "marginal" else "viterbi"

    def predict_k_best(self, X: Any, k: int) -> list[list[tuple[list[Any], float]]]:
        """The k best label sequences of every input with their scores, best first."""
        k = check_k(k)
        if self.order != 1:
            raise ValueError(
                "predict_k_best ranks whole sequences, which needs order=1."
            )
        batch, start = self._batch(X)
        labels, scores = k_best(batch, self._w, k, self._threads())
        ranked = [self._sequences(start, row) for row in labels]
        return [
            [
                (ranked[rank][i], float(scores[rank, i]))
                for rank in range(k)
                if scores[rank, i] > -np.inf
            ]
            for i in range(len(start) - 1)
        ]

    @over_cluster()
    def predict_marginals(self, X: Any) -> list[np.ndarray]:
        """Per sequence (tokens, labels): probabilities under exp(score) / Z.

        Scores of a maximum-margin model are not calibrated: these rank the labels, but
        0.9 need not mean right nine times out of ten, unless ``calibrate`` has seen
        held-out data.
        """
        return self._tables(X, "sum")

    def decision_function(self, X: Any) -> list[np.ndarray]:
        """Per sequence (tokens, labels): the best score of a sequence with that label.

        The largest entry of every row is the score of the predicted sequence; the
        difference to the others says how much is lost by another label there.
        """
        return self._tables(X, "max")

    def score(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Share of labels predicted right; y is left out for a corpus."""
        if isinstance(X, TagCorpus):
            return self._score_corpus(X, y, sample_weight)
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

    def _score_corpus(self, corpus, y, sample_weight) -> float:
        check_is_fitted(self, "coef_")
        refuse_beside_corpus(y, sample_weight)
        right = sum(int((a == b).sum()) for _, a, b in predicted(self, corpus))
        return right / corpus.n_tokens

    # as in sklearn-crfsuite -------------------------------------------------------------

    @property
    def state_features_(self) -> dict[tuple[Any, Any], float]:
        """{(feature, label): weight} of the weights that are not zero.

        Columns of numeric input are features by number.
        """
        check_is_fitted(self, "coef_")
        names = self.feature_names_ or range(self.coef_.shape[1])
        rows = self.coef_.T
        return {
            (names[j], self._labels[k]): float(rows[j, k])
            for j, k in zip(*map(np.ndarray.tolist, np.nonzero(rows)), strict=True)
        }

    @property
    def transition_features_(self) -> dict[tuple[Any, Any], float]:
        """{(label, next label): weight} of the weights that are not zero."""
        check_is_fitted(self, "coef_")
        return {
            (self._labels[a], self._labels[b]): float(self.transitions_[a, b])
            for a, b in np.argwhere(self.transitions_).tolist()
        }

    # helpers -----------------------------------------------------------------------------

    def _chances(self, X, y, predicted) -> Chances:
        X, y = self._known(X, y, predicted)
        tables = self.predict_marginals(X)
        table = np.concatenate(tables) if tables else np.zeros((0, len(self._labels)))
        flat = (chain_lists.from_iterable(rows) for rows in (y, predicted))
        return of_table(logs(table), self._labels, *flat)

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

    def _tables(self, X, kind):
        if self.order == 2:
            raise ValueError("order=2 has no scores per token: fit with order=1.")
        batch, start = self._batch(X)
        T = temperature_of(self) if kind == "sum" else 1.0
        w = self._w if T == 1.0 else (self._w / T).astype(self._w.dtype)
        table = table_per_token(kind, batch, w, self._threads())
        return np.split(table, start[1:-1]) if len(start) > 1 else []

    def _batch(self, X):
        """(batch, where its sequences start, which order=0 cuts into tokens)."""
        check_is_fitted(self, "coef_")
        if isinstance(X, TagCorpus):
            raise ValueError(
                f"{X.folder} is a corpus, which predict, predict_shards and score take: "
                "rankings, probabilities and scores of labels need text in memory."
            )
        encoder = self._encoder
        with stage("encoding"):
            tokens = encoder.encode(self._input(X, encoder), **self._encoding(encoder))
        structure = TagStructure.to_predict(self)
        batch = structure.batch(tokens, None, self._w.dtype)
        if structure.barrier is not None:
            self._check_possible(batch)
        return batch, tokens.start

    def _encoding(self, encoder) -> dict[str, int]:
        """How an encoder is called: those of columns have threads."""
        return {"n_jobs": self._threads()} if encoder.kind == "columns" else {}

    def _sequences(self, start, flat) -> list[list[Any]]:
        labels = [self._labels[k] for k in flat.tolist()]
        return Outputs(labels[a:b] for a, b in pairwise(start.tolist()))

    def _check_possible(self, batch) -> None:
        """Forbidden transitions may leave no sequence of some length."""
        flat = decode(batch, self._w, self._threads())
        wall = batch.barrier
        k = batch.n_labels
        for i in range(len(batch.start) - 1):
            y = flat[batch.start[i] : batch.start[i + 1]]
            if len(y) and (
                np.isinf(wall[k, y[0]])
                or np.isinf(wall[k + 1, y[-1]])
                or np.isinf(wall[y[:-1], y[1:]]).any()
            ):
                raise ValueError(
                    f"sequence {i} has {len(y)} tokens, and the forbidden transitions "
                    "leave no label sequence of that length: allow more."
                )


def refuse_beside_corpus(*given: Any) -> None:
    """A corpus has its labels."""
    if any(value is not None for value in given):
        raise ValueError("a corpus is scored alone: leave out y and sample_weight.")
