"""NeuralTagger: label every token of a sequence by a neural network."""

from __future__ import annotations

import copy
from itertools import chain as chain_lists
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.saved import distinct
from maxmargin.core.structure import check_k
from maxmargin.engine.interrupts import INTERRUPTED, whole
from maxmargin.fitting.saving import Saving
from maxmargin.neural import training_data
from maxmargin.neural.backend import backend
from maxmargin.neural.parameters import NeuralTaggerParameters
from maxmargin.neural.readers import as_given, restored_reader
from maxmargin.neural.settings import check_unused, settings_of
from maxmargin.neural.tokens import Tokens
from maxmargin.solvers.watching.held_out import STOPPED_EARLY, DevScore
from maxmargin.tags.evaluation import TagEvaluation
from maxmargin.tags.input import (
    barrier_with,
    check_known,
    check_matching,
    check_samples,
    fill_rows,
)
from maxmargin.tags.metrics import SpanReport, TokenReport
from maxmargin.tags.schemes import guess_scheme
from maxmargin.tags.scorers import span_f1, token_accuracy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class NeuralTagger(
    NeuralTaggerParameters, TagEvaluation, Saving, BaseEstimator, init=False
):
    """Label every token of a sequence by a neural network with a chain on top.

    A network scores the labels of every token, and a chain of transitions makes a
    labelling of them: :class:`maxmargin.torch.Chain`. Needs PyTorch (``pip install
    'maxmargin[torch]'``), which is imported by ``fit``.

    A sequence in X is a list of words, or of rows of columns (what
    :func:`maxmargin.files.read_columns` returns), the words in the first one, or a table
    (tokens x numbers), which goes to the encoder as it is; or a list of dicts, or a sparse
    matrix. y is as for :class:`maxmargin.SequenceTagger`; ``None`` is a label that is not
    known, and sequences of which nothing is known are left out.

    Words are in lower case with zeros for digits, and beside their own vectors have those
    of their characters; other columns have vectors, too (of columns with names, that of
    parts of speech alone). What training has not seen has a vector that stands for all
    such words, learned where training hides words at random, rare ones more often.

    Parameters
    ----------
    encoder : "lstm", "transformer", path, module or function, default "lstm"
        What reads a sequence: a bidirectional LSTM; a small transformer; the folder of a
        model of the package transformers with its tokenizer, which reads the words alone;
        or a module of yours, of which a copy is trained. ``module(x)``, or
        ``module(x, lengths)``, takes (all tokens of some sequences, numbers per token) and
        the list of their lengths and returns (all tokens, any size). A function gets the
        numbers per token and returns such a module, with new weights in every fit.
    objective : "log" or "hinge", default "log"
        The loss of a sequence: -log p(y), the conditional random field, or the hinge of
        the structural SVM.
    features : str, path or None
        A feature template, or the name of a built-in set, as in
        :class:`maxmargin.SequenceTagger`: the sum of the vectors of a token's features
        stands beside that of its word.
    min_count : int, default 1
        Words, values of columns and features that occur less often are unknown ones.
    feature_options : dict or None
        As in :class:`maxmargin.SequenceTagger`; ``dense`` are word vectors.
    scheme, forbidden
        As in :class:`maxmargin.SequenceTagger`.
    loss : "hamming", "zero-one", "spans", "absolute", dict, array or function
        What the hinge counts, as in :class:`maxmargin.SequenceTagger`.
    hinge_start : "log", "scale" or "cold", default "log"
        What the hinge does in its first passes, as it may collapse from a cold start:
        minimise the log-loss, or let ``loss`` grow from zero.
    warm_up : float, default 0.2
        The share of the passes in which it does so.
    word_size : int, default 100
        How many numbers stand for a word.
    char_size : int, default 30
        For a character; 0 leaves characters out.
    column_size : int, default 30
        For a value of another column.
    feature_size : int, default 100
        For a feature.
    hidden_size : int, default 200
        States of the LSTM in each direction, or of the transformer.
    n_layers : int, default 2
        Layers of either.
    dropout : float, default 0.5
        Of vectors, between layers, and of what the encoder returns; a module given by you
        has its own.
    learning_rate : float or None
        The largest one of the schedule. None is 0.003. Weights that a pretrained model
        brings along learn at a sixtieth of it.
    schedule : "one-cycle", "linear" or "constant", default "one-cycle"
        How the rate goes up and down over ``max_iter`` passes.
    weight_decay : float, default 0.01
        Of Adam with decoupled weight decay, for matrices.
    batch_size : int or None
        Sequences per step. None is 32, but so few that a pass has 64 steps.
    max_iter : int, default 20
        Passes over the data.
    patience : int, default 8
        Passes in a row without a better score on held-out data that end training, once
        half of ``max_iter`` are over (the schedule needs its end).
    validation_fraction : float, default 0.1
        The share of the sequences that is held out of training, at random, where ``fit``
        gets no ``dev``; 0 for none: then the last weights are kept, not the best ones.
    device : str, default "auto"
        "cpu", "cuda", "cuda:1", ...; "auto" is a GPU if there is one.
    n_jobs : int, default 1
        Threads on the CPU.
    random_state : int, RandomState or None
        Of first weights, batches, dropout and what is held out. On a CPU, equal seeds give
        equal results.
    max_time, verbose, callbacks, checkpoint, resume
        As in :class:`maxmargin.StructuralSVM`. Rows of callbacks are those of
        ``history_``.

    Attributes
    ----------
    classes_ : ndarray of the labels, sorted
    network_ : the module of PyTorch
    transitions_ : ndarray (labels, labels), from row to column
    first_, last_ : ndarray (labels,)
    history_ : list of dict, one per pass: loss per token, seconds, score on held-out data
    n_iter_ : int
    dev_ : the score on held-out data of the weights that were kept, if there are such

    Examples
    --------
    ::

        X = [["the", "dog", "barks"], ["dogs", "bark"]]
        y = [["D", "N", "V"], ["N", "V"]]
        tagger = NeuralTagger(validation_fraction=0).fit(X, y)
        tagger.predict([["the", "dogs", "bark"]])  # [["D", "N", "V"]]
    """

    _model_name = "NeuralTagger.v1"
    _scorers = span_f1, token_accuracy
    _compares_labels = True
    _ends_early = True  # on held-out data of the command line
    _long_passes = True  # progress may say nothing for minutes
    _left: ClassVar[tuple[str, ...]] = ("dev_", "n_features_in_")

    def __getstate__(self) -> dict:
        state = dict(super().__getstate__())
        network = state.get("network_")
        if network is not None and network.device.type != "cpu":  # not everywhere there
            state["network_"] = copy.deepcopy(network).cpu()
        return state

    # training ---------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        dev: Any = None,
    ) -> Self:
        """Train on sequences X and their labels y.

        A call that raises leaves the tagger as it was. Ctrl-C ends training and keeps the
        best weights found so far.

        Parameters
        ----------
        X, y : sequences and their labels
        sample_weight : array or None
            How much every sequence counts.
        dev : (X_dev, y_dev) or None
            Held-out data that decide which weights are kept, and when training ends.
            Without them, a share of X is held out (``validation_fraction``).
        """
        settings = settings_of(self)
        check_unused(self)
        train = backend("training").train
        prepared = training_data.prepare(self, settings, X, y, sample_weight, dev)
        with prepared.kept():
            outcome = train(self, *prepared.arguments)
        with whole(self):
            for name in self._left:
                self.__dict__.pop(name, None)
            self._install(prepared.reader, prepared.labels, outcome.network)
            self.history_ = outcome.history
            self.n_iter_ = len(outcome.history)
            if outcome.dev is not None:
                score, iteration = outcome.dev
                early = outcome.status == STOPPED_EARLY or iteration < self.n_iter_
                title, smaller = prepared.judge.title, prepared.judge.smaller
                self.dev_ = DevScore(title, score, iteration, early, smaller)
        training_data.say_how_it_ended(outcome.status == INTERRUPTED, outcome.history)
        return self

    def _install(self, reader: Any, labels: list, network: Any) -> None:
        self._reader, self._labels, self.network_ = reader, labels, network
        self.classes_ = np.array(labels)
        if reader.kind == "numbers":
            self.n_features_in_ = int(reader.width)

    def _settings(self) -> Any:
        """Check all parameters, before any work."""
        return settings_of(self)

    def _evaluated(self, X: Any, y: Any) -> SpanReport | TokenReport:
        """The report that weights are chosen by; X may be read already."""
        check_known(y)
        predicted = self.predict(X)
        check_matching(np.cumsum([0, *map(len, predicted)]), y)
        labels = {*chain_lists.from_iterable(y), *self.classes_.tolist()}
        scheme = None if guess_scheme(labels) is None else "auto"
        return self.evaluate(None, y, scheme=scheme, predicted=predicted)

    # prediction -------------------------------------------------------------------------

    def predict(self, X: Any) -> list[list[Any]]:
        """The best label sequence of every input."""
        return self._use().decode(self, self._tokens(X))

    def predict_k_best(self, X: Any, k: int) -> list[list[tuple[list[Any], float]]]:
        """The k best label sequences of every input with their scores, best first."""
        k = check_k(k)
        return self._use().k_best(self, self._tokens(X), k)

    def predict_marginals(self, X: Any) -> list[np.ndarray]:
        """Per sequence (tokens, labels): probabilities under exp(score) / Z.

        Those of a network trained with the hinge rank the labels, but fit nothing.
        """
        return self._use().marginals(self, self._tokens(X))

    def complete(self, X: Any, y: Any) -> list[list[Any]]:
        """y with every None replaced by the best label, given the known ones.

        None in place of a label sequence is one of which nothing is known.
        """
        X, y = check_samples(X, y, unlabelled=True)
        tokens = self._tokens(X)
        rows = fill_rows(y, tokens.start)
        check_matching(tokens.start, rows)
        numbers = {label: k for k, label in enumerate(self._labels)}
        flat = np.fromiter(
            (numbers.get(label, -1) for label in chain_lists.from_iterable(rows)),
            np.int64,
        )
        found = self._use().decode(self, tokens, flat)
        return [
            [b if a is None else a for a, b in zip(given, best, strict=True)]
            for given, best in zip(rows, found, strict=True)
        ]

    def _use(self) -> Any:
        check_is_fitted(self, "classes_")
        return backend("use")

    def _tokens(self, X: Any) -> Tokens:
        return X if isinstance(X, Tokens) else self._reader.encode(as_given(X))

    @property
    def transitions_(self) -> np.ndarray:
        return self._table("transitions")

    @property
    def first_(self) -> np.ndarray:
        return self._table("first")

    @property
    def last_(self) -> np.ndarray:
        return self._table("last")

    def _table(self, name: str) -> np.ndarray:
        check_is_fitted(self, "classes_")
        return getattr(self.network_.chain, name).detach().cpu().numpy()

    # saving (files/model_file.py) ---------------------------------------------------------

    def _refuse_saving(self) -> None:
        """A sentence for a network with code of the user's."""
        if not isinstance(self.encoder, str):
            name = getattr(self.encoder, "__name__", type(self.encoder).__name__)
            raise ValueError(
                f"NeuralTagger cannot be saved: its encoder is code of yours ({name}), "
                "which a model file does not hold. Keep the weights with safetensors, as "
                "in safetensors.torch.save_model(tagger.network_, path), beside your "
                "code; or use pickle or joblib for files that only you read."
            )

    def _more_state(self) -> tuple[dict, dict]:
        arrays, reader = self._reader.state()
        weights, more = backend("building").network_state(self.network_)
        arrays = {f"reader.{name}": array for name, array in arrays.items()}
        state = {
            "labels": list(self._labels),
            "reader": reader,
            "history": self.history_,
        }
        if hasattr(self, "dev_"):
            dev = self.dev_
            state["dev"] = [
                *(dev.measure, dev.score, dev.iteration, dev.stopped, dev.smaller)
            ]
        return arrays | weights, state | more

    def _loaded(self, saved: Any, sizes: Any) -> None:
        restore = backend("building").restored_network
        labels = distinct(saved.value("labels", list), "labels", str, int)
        barrier_with(
            self.scheme, self.forbidden, labels
        )  # what is forbidden are labels
        reader = restored_reader(saved.part("reader"), self)
        self._install(reader, labels, restore(saved, self, reader, labels))
        self.history_ = training_data.restored_history(saved)
        self.n_iter_ = len(self.history_)
        if "dev" in saved.state:
            self.dev_ = training_data.restored_dev(saved)
