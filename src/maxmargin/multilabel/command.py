"""The task ``multilabel``: texts or vectors, each with a set of labels."""

from maxmargin.classes.command import ClassifyTask


class MultilabelTask(ClassifyTask):
    """What the command line says of it; ``run.py`` is what it does."""

    name = "multilabel"
    about = "Predict sets of labels for texts or vectors, one per line."
    example = """example:
  maxmargin train multilabel train.txt --loss f1 -o topics.model
  maxmargin train multilabel train.svm --format svmlight --cv 5 -o scenes.model

Lines are labels, as in a,b,c, a tab and a text; see docs/multilabel.md. Files may be
compressed with gzip."""
    estimators = {"svm": "MultilabelSVM"}
    hidden = frozenset()
    essential = "format ngrams loss graph"
    options = """
    the file
      --format text|svmlight=text  text (default): labels and a text per line; svmlight:
          a,b 3:0.5 7:1 ...
      --encoding NAME=utf-8  default: utf-8
    features of texts
      --ngrams N  runs of up to N words (default: 1)
      --weighting tfidf|binary|count  of words (default: tfidf)
      --min-count N  ignore words that occur in fewer texts
    the model
      --loss hamming|f1|ranking  what a wrong set costs (default: hamming)
      --graph none|tree|full=none  pairs of labels that have scores, too: none (default),
          the tree with the most mutual information, or all
      --C  weight of the data (default: 1, for log 5, / total variance of the features)
    """
    evaluate_options = ""
    inspect_options = "--label L+  only this label; repeatable"


COMMAND = MultilabelTask
