"""GrammarParser: trees for sentences, by a weighted grammar trained for a large margin."""

from __future__ import annotations

from typing import Any, ClassVar

from maxmargin.core.structure import Outputs
from maxmargin.fitting.estimator import MaxMarginEstimator
from maxmargin.fitting.saving import floats, whole
from maxmargin.trees.model import ParserMixin
from maxmargin.trees.parameters import GrammarParserParameters
from maxmargin.trees.scorers import bracket_f1
from maxmargin.trees.structure import USUAL_C, Trees, kinds_of_features
from maxmargin.trees.tree import Tree


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

    _structure_class = Trees
    _model_name = "GrammarParser.v1"
    _scorers = (bracket_f1,)
    _fields = whole("n_left_out_"), floats("_w", "n", dtype=None)
    _C_by_objective: ClassVar = USUAL_C
    _decodes_loss = True  # decoding="posterior" minimises the expected one

    def complete(self, X: Any, y: Any) -> list[Tree | None]:
        """The best tree of every sentence that has what is known of it.

        y has a list of brackets (label, begin, end) for each sentence, where labels may
        be None, or None. A whole tree stays as it is. A sentence without such a tree gets
        the fallback.
        """
        structure = self._fitted()
        w = self._weights()
        trees, self.n_fallbacks_ = structure.completions(X, y, w, self._threads())
        return Outputs(trees)

    def _check(self) -> None:
        kinds_of_features(self.features, self.input)

    def _loaded(self, saved, sizes) -> None:
        super()._loaded(saved, sizes)
        self.__dict__.update(self.structure_.split(self._w))
