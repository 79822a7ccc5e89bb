"""GrammarParser: trees for sentences, by a weighted grammar trained for a large margin."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.completion import complete_all
from maxmargin.core.encoded import Encoded, check_weights
from maxmargin.core.saved import distinct
from maxmargin.core.structure import Outputs
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.saving import whole
from maxmargin.fitting.tables import weigh
from maxmargin.trees.cky.structure import (
    for_training,
    make_batch,
    n_weights,
    partly_parsed,
)
from maxmargin.trees.cky.trees import NO_PARSE
from maxmargin.trees.derivations import (
    Derivations,
    derive,
    restored_grammar,
    saved_grammar,
)
from maxmargin.trees.input import (
    Sentences,
    known_words,
    learnable,
    read_sentences,
    tag_choices,
)
from maxmargin.trees.model import ParserMixin
from maxmargin.trees.parameters import GrammarParserParameters
from maxmargin.trees.partial import (
    bracket_rows,
    check_truths,
    first_trees,
    known_brackets,
    read_truths,
    warn_left_out,
    words_of,
)
from maxmargin.trees.scorers import bracket_f1
from maxmargin.trees.span_features import SpanFeatures, WordFeatures
from maxmargin.trees.tree import Tree

FEATURES = ("lexical", "spans")


class GrammarParser(
    GrammarParserParameters, ParserMixin, MaxMarginEstimator, init=False
):
    """Parse sentences with a weighted grammar, trained for a large margin.

    The grammar has the rules of the training trees, binarised. The score of a tree is the
    sum of the weights of its rules, and of features if wanted; the best tree is found
    exactly (CKY), and so is, in training, the tree that violates its margin most, for
    every loss and rescaling.

    Parameters
    ----------
    C : float or None
        Per sentence, not divided by their number (``maxmargin.convert_C`` translates).
        None, the default, is 1 for objective="log". For others it is 0.1 with rules
        alone and for few sentences, down to 0.01 with features of spans for n >= 300
        (3 / n; at least 0.03 with input="words"; ``C_`` is what was used).
        The zero-one loss needs more, about 10 with rules alone.
    loss : "f1", "hamming" or "zero-one", default "f1"
        Computed from the brackets (label, begin, end) of the whole tree, without tags and
        with equal brackets matched one to one: "f1" is 1 - F1, "hamming" the number of
        brackets missed plus the number of wrong ones, "zero-one" is 1 for any other tree.
    input : "tags", "words" or "both", default "tags"
        What a sentence in X is: a list of tags (or of (word, tag) pairs, whose words
        become the leaves of trees); a list of words, whose tags the parser chooses; a
        list of (word, tag) pairs. X may also hold trees, whose words and tags are taken.
    features : "auto", None, "lexical", "spans" or a list, default "auto"
        Besides rules: "spans" describes every bracket by the words (or tags) at its edges
        and by its length; "lexical" describes words by their letters, and is always
        used if words are the input. "auto" is "spans", which for input="tags" also use
        words if ``fit`` was given any; a sentence of tags alone then has unknown words.
        None is rules alone.
    direction, horizontal, parent
        How trees are binarised, see :func:`maxmargin.trees.binarize.binarize`. The default
        horizontal=1 and the defaults of C, features and tol were chosen by
        cross-validation on short sentences.
    tol : float, default 0.1
        The relative gap at which to stop; for objective="log", 0.01 is worth the time.
    max_length : int or None
        Leave longer sentences out of training. ``n_left_out_`` counts them, and trees in
        which a label is above itself over the same words, which is a warning.
    fallback : "flat", "right", "none" or "error", default "flat"
        What to predict for a sentence without a tree in the grammar: all words under
        one root, a right-branching tree, None, or an error. ``n_fallbacks_`` counts them
        after predict. An empty sentence is None, or an error.
    unlabelled_weight : float, default 0.1
        Factor for the sample weight of sentences whose tree is None (unknown). A list of
        brackets (label, begin, end) in place of a tree means that only these are known;
        a label may be None (``docs/partial-labels.md``). The grammar comes from the whole
        trees; sentences for which it has no tree are skipped with a warning.
    rescaling, penalty, solver, max_iter, max_time, warm_start, n_jobs, random_state,
    verbose, callbacks, objective, engine, checkpoint, resume
        As in :class:`maxmargin.StructuralSVM`.
    decoding : "auto", "viterbi" or "posterior", default "auto"
        What is predicted: the tree of largest score, or that of least expected loss under
        exp(score) / Z (:mod:`maxmargin.trees.cky.posterior`), which "auto" chooses for
        objective="log". They are the same for the zero-one loss. Margin scores are not
        logarithms of probabilities, and make poor ones.

    Attributes
    ----------
    grammar_ : Grammar
    coef_ : ndarray, weights of the rules in the order of ``grammar_.rule_names()``
    root_coef_ : ndarray, weights of ``grammar_.roots``
    word_coef_ : ndarray (word features, tags), span_coef_ : (span features, labels)
    labels_ : list of str, the labels of brackets
    C_ : float, the C of the training
    n_left_out_ : int
    certificate_, history_, n_iter_, converged_
        As in :class:`maxmargin.StructuralSVM`.

    Examples
    --------
    >>> from maxmargin import GrammarParser
    >>> from maxmargin.trees import Tree
    >>> trees = [Tree.parse("(S (NP (DT the) (NN cat)) (VP (VBD sat)))"),
    ...          Tree.parse("(S (NP (NNS dogs)) (VP (VBD saw) (NP (DT a) (NN cat))))"),
    ...          Tree.parse("(S (NP (NP (NN a)) (PP (IN in) (NP (NN b)))) (VP (VBD is)))"),
    ...          Tree.parse("(S (NP (NN I)) (VP (VBD saw) (NP (NN it)) "
    ...                     "(PP (IN in) (NP (NN it)))))")]
    >>> parser = GrammarParser(C=10).fit(None, trees)
    >>> parser.predict([[("a", "DT"), ("dog", "NN"), ("saw", "VBD"), ("cats", "NNS")]])
    [(S (NP (DT a) (NN dog)) (VP (VBD saw) (NP (NNS cats))))]
    """

    _model_name = "GrammarParser.v1"
    _scorers = (bracket_f1,)
    _fields = (whole("n_left_out_"),)
    _C_by_objective: ClassVar = {
        "hinge": 0.1,
        "log": 1.0,
        "perceptron": 0.1,
        "passive-aggressive": 0.1,
    }

    _decodes_loss = True  # decoding="posterior" minimises the expected one

    # training --------------------------------------------------------------------------

    def _check(self) -> None:
        self._features()

    def _decoding(self) -> str:
        self._check_parameters("decoding")
        probable = self.decoding == "auto" and self.objective == "log"
        if self.loss != "zero-one" and (probable or self.decoding == "posterior"):
            return "posterior"
        return "viterbi"

    def _features(self) -> set[str]:
        given = self.features
        names = {given} if isinstance(given, str) else set(given or ())
        if given == "auto":
            names = {"spans"}
        if not names <= set(FEATURES):
            raise ValueError(
                f"features={given!r} is not known; choose auto, None, one of "
                f"{', '.join(FEATURES)}, or a list of them."
            )
        if self.input == "words":
            return names | {"lexical"}
        if "lexical" in names:
            raise ValueError(
                f"features={given!r} scores the tags of words, but with "
                f"input={self.input!r} tags are given: choose input='words'."
            )
        return names

    def _words_may_be_seen(self) -> bool:
        """Whether features of spans see words where they are given beside tags."""
        return self.input == "tags" and self.features == "auto"

    def _usual_C(self, n: int) -> float:
        """What C=None is for n sentences: less with more features, by cross-validation.

        With few sentences it is more, or no weight would pay.
        """
        if self.objective == "hinge" and "spans" in self._features():
            least = 0.03 if self.input == "words" else 0.01
            return float(f"{min(max(3.0 / n, least), 0.1):.2g}")
        return self._C_by_objective.get(self.objective, 1.0)

    def _encode(self, X, y, sample_weight) -> Encoded:
        truths = read_truths(y)
        sentences = read_sentences(words_of(X, truths), self.input)
        check_truths(sentences, truths, self.input)
        weights = check_weights(sample_weight, len(truths))
        weights = weigh(self, weights, [bool(truth) for truth in truths])
        keep = learnable(truths, sentences.words, self.max_length)
        dtype = self._working_dtype(np.ones(1, np.float32), weights[keep])
        derivations, labellings = derive(truths, keep, self)
        sentences = known_words(derivations.grammar, sentences)
        unsure = [i for i, kept in enumerate(keep) if kept and i not in labellings]
        if unsure:
            some, known = sentences.chosen(unsure), [truths[i] for i in unsure]
            found = first_trees(derivations, some, known, self.input, dtype)
            warn_left_out([i for k, i in enumerate(unsure) if k not in found], truths)
            labellings |= {unsure[k]: labelling for k, labelling in found.items()}
        chosen = sorted(labellings)
        truths, sentences = [truths[i] for i in chosen], sentences.chosen(chosen)
        encoders: dict[str, Any] = {}
        if "lexical" in self._features():
            encoders["words"] = WordFeatures().fit(sentences.words)
        if "spans" in self._features():
            brackets = [
                [
                    end * (end - 1) // 2 + begin
                    for _, begin, end in known_brackets(truth)
                ]
                for truth in truths
            ]
            kind = self.input
            if self._words_may_be_seen() and sentences.words != sentences.tags:
                kind = "both"
            encoders["spans"] = SpanFeatures().fit(sentences.channels(kind), brackets)
        y = [labellings[i] for i in chosen]
        batch = self._make_batch(derivations, encoders, sentences, y)
        batch = for_training(batch)
        whole = [isinstance(truth, Tree) for truth in truths]
        if not all(whole):
            rows = [bracket_rows(truth, derivations.labels) for truth in truths]
            batch = partly_parsed(batch, whole, rows)
        attributes = {
            "grammar_": derivations.grammar,
            "labels_": derivations.labels,
            "n_left_out_": len(keep) - len(chosen),
            "_derivations": derivations,
            "_encoders": encoders,
        }
        size = n_weights(batch.grammar, batch.n_word_features, batch.n_span_features)
        C = self._usual_C(len(chosen))
        return Encoded(batch, size, dtype, weights[chosen], attributes, C=C)

    def complete(self, X: Any, y: Any) -> list[Tree | None]:
        """The best tree of every sentence that has what is known of it.

        y has a list of brackets (label, begin, end) for each sentence, where labels may
        be None, or None. A whole tree stays as it is. A sentence without such a tree gets
        the fallback.
        """
        check_is_fitted(self, "grammar_")
        self._check_parameters("fallback")
        truths = read_truths(y)
        sentences = read_sentences(words_of(X, truths), self.input)
        check_truths(sentences, truths, self.input)
        rows = [bracket_rows(truth, self.labels_) for truth in truths]
        batch, w = self._batch(sentences)
        batch.y[:] = NO_PARSE
        impossible = [row is None for row in rows]  # the labels are not in the grammar
        batch = partly_parsed(batch, impossible, [row or [] for row in rows])
        flat = complete_all(batch, w, self._threads())
        trees = self._trees_of(sentences, batch, flat)
        return Outputs(
            truth if isinstance(truth, Tree) else tree
            for truth, tree in zip(truths, trees, strict=True)
        )

    def _make_batch(self, derivations, encoders, sentences: Sentences, y=None):
        words = spans = None
        if "words" in encoders:
            words = encoders["words"].encode(sentences.words)
        if "spans" in encoders:
            both = len(encoders["spans"].channels) == 2
            kind = "both" if both else self.input
            spans = encoders["spans"].encode(sentences.channels(kind))
        tags = tag_choices(derivations.grammar, sentences, self.input)
        return make_batch(derivations.tables, tags, y, self.loss, words, spans)

    def _batch(self, sentences: Sentences):
        sentences = known_words(self.grammar_, sentences)
        batch = self._make_batch(self._derivations, self._encoders, sentences)
        return batch, self._w

    def _install(self, encoded: Encoded, w) -> None:
        batch = encoded.batch
        sizes = batch.n_word_features, batch.n_span_features
        self._set_weights(w, batch.grammar, *sizes)

    def _set_weights(self, w, tables, n_word: int, n_span: int) -> None:
        """Public attributes are views of the one array that prediction uses."""
        self._w = w
        rules = len(tables.left) + tables.n_unary
        words = rules + len(tables.roots)
        spans = words + n_word * tables.n_tags
        self.coef_, self.root_coef_ = w[:rules], w[rules:words]
        self.word_coef_ = w[words:spans].reshape(n_word, tables.n_tags)
        self.span_coef_ = w[spans:].reshape(n_span, tables.n_labels)

    # saving (files/model_file.py) ------------------------------------------------------

    def _more_state(self):
        arrays, state = saved_grammar(self.grammar_)
        arrays["w"] = self._w
        if "words" in self._encoders:
            state["words"] = list(self._encoders["words"].names)
        if "spans" in self._encoders:
            spans = self._encoders["spans"]
            state["spans"] = [list(names) for names in spans.channels]
            arrays["spans"] = spans.keys
        return arrays, state

    def _loaded(self, saved, sizes) -> None:
        self.grammar_ = restored_grammar(saved)
        self._derivations = Derivations(self.grammar_)
        self.labels_ = self._derivations.labels
        self._encoders = encoders = dict[str, Any]()
        n_word = n_span = 0
        if "lexical" in self._features():
            encoders["words"] = WordFeatures(saved.texts("words"))
            n_word = len(encoders["words"].names)
        if "spans" in self._features():
            keys = saved.integers("spans", None, high=2**63 - 1)
            channels = saved.value("spans", list)
            known = {1 + (self.input == "both"), 1 + self._words_may_be_seen()}
            if (np.diff(keys) <= 0).any() or len(channels) not in known:
                raise ValueError("the features of spans do not fit together")
            encoders["spans"] = SpanFeatures(
                [distinct(names, "spans", str) for names in channels], keys
            )
            n_span = len(keys)
        tables = self._derivations.tables
        w = saved.floats("w", n_weights(tables, n_word, n_span))
        self._set_weights(w, tables, n_word, n_span)
