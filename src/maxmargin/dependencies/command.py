"""The task ``depend``: the head of every word."""

from maxmargin.cli.task import K_BEST, MARGINALS, Output, Task


class DependTask(Task):
    """What the command line says of it; ``run.py`` is what it does."""

    name = "depend"
    about = "Find the head of every word: treebanks in CoNLL-U or CoNLL-X."
    example = """example:
  maxmargin train depend train.conllu -o depend.model
  maxmargin train depend train.conllu --not-projective --dev dev.conllu -o depend.model
  maxmargin predict depend.model new.conllu -o parsed.conllu
  echo 'the_DT cat_NN sat_VBD' | maxmargin predict depend.model -
  maxmargin evaluate depend.model test.conllu --plot worst.png

Files may be compressed with gzip; see docs/dependencies.md."""
    file = "TREEBANK"
    items = "trees"
    numbered = "sentence"
    estimators = {"max-margin": "DependencyParser"}
    hidden = frozenset({"projective"})
    usual = (0.01, 0.03, 0.1, 0.3)
    essential = "tags not_projective order objective"
    options = """
    the file
      --tags auto|UPOS|XPOS=auto  the column of tags (auto: XPOS, else UPOS)
      --encoding NAME=utf-8  default: utf-8
    the model
      --not-projective  search among trees whose arcs may cross, too
      --order  1: scores of arcs (default); 2: and of neighbouring modifiers
      --rows  rows of the table of features, a power of two (default: by words)
      --C  weight of the data, per sentence
    """
    outputs = {
        "conllu": Output((".conllu", ".conll", ".conllx")),
        "svg": Output((".svg",), k_best=False, marginals=False),
    }
    predict_options = K_BEST + MARGINALS


COMMAND = DependTask
