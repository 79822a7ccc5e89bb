"""The task ``parse``: the constituency tree of every sentence."""

from maxmargin.cli.task import K_BEST, MARGINALS, Output, Task


class ParseTask(Task):
    """What the command line says of it; ``run.py`` is what it does."""

    name = "parse"
    about = "Parse sentences: a file of bracketed trees, as in the Penn Treebank."
    example = """example:
  maxmargin train parse train.mrg -o parser.model
  maxmargin train parse train.mrg --method pcfg --input words -o pcfg.model
  echo 'the_DT cat_NN sat_VBD' | maxmargin predict parser.model -
  maxmargin evaluate parser.model test.mrg --plot worst.png

Function tags and empty elements are ignored. Files may be compressed with gzip."""
    file = "TREES"
    items = "trees"
    estimators = {"max-margin": "GrammarParser", "pcfg": "PCFGParser"}
    chooser = "method"
    usual = (0.01, 0.03, 0.1, 0.3, 1.0)
    essential = "input max_length method objective features loss"
    options = """
    the file
      --encoding NAME=utf-8  default: utf-8
      --keep-functions  keep function tags in labels, such as NP-SBJ
      --root LABEL  add a root above every tree, such as TOP
    the grammar
      --input tags|words|both  what a sentence is: tags, words, or words with tags
      --direction right|left  of the nodes that binarisation adds
      --horizontal NUMBER  siblings that these nodes remember: a number or all
      --parent 0|1  1: phrases remember the one above
      --max-length  learn from sentences of up to N words (default: 20, so that searches
          for violated trees are fast; with pcfg all)
      --fallback flat|right|none|error  what to predict if the grammar has no tree
      --decoding auto|viterbi|posterior  viterbi: the tree with the largest score;
          posterior: of least expected loss (auto: posterior with --objective log)
    the model
      --method max-margin|pcfg=max-margin  default: max-margin. pcfg uses relative
          frequencies and takes none of the settings below except --smoothing
      --features NAME,NAME  besides rules: auto (spans, with words if they are given),
          spans or none; lexical is always used with --input words
      --loss f1|hamming|zero-one  loss of the brackets of a tree (default: f1)
      --rescaling margin|slack
      --C
      --smoothing  added to the counts of a pcfg
    """
    outputs = {
        "brackets": Output((".mrg", ".ptb")),
        "svg": Output((".svg",), k_best=False, marginals=False),
    }
    predict_options = K_BEST + MARGINALS


COMMAND = ParseTask
