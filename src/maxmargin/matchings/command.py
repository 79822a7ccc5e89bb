"""The task ``match``: align the words of sentence pairs."""

from maxmargin.cli.task import K_BEST, Output, Task


class MatchTask(Task):
    """What the command line says of it; ``run.py`` is what it does."""

    name = "match"
    about = "Align words: a file of sentence pairs with links between their words."
    example = """example:
  maxmargin train match links.tsv --bitext more.tsv --bitext new.tsv -o words.model
  maxmargin train match links.tsv --path 0.01,0.03,0.1 --cv 5 -o words.model
  maxmargin predict words.model new.tsv -o new.links

A line is: source TAB target TAB links, optionally after an id and a tab. Links
are i-j (sure) or i?j (possible), with words counted from 0: docs/matching.md."""
    file = "LINKS"
    items = "sentence pairs"
    estimators = {"svm": "WordAligner"}
    usual = (0.003, 0.01, 0.03, 0.1, 0.3)
    smaller = True
    essential = "bitext forms fertility cost_missing cost_extra features"
    options = """
    the file
      --encoding NAME=utf-8  of all files (default: utf-8)
    the dictionary
      --bitext FILE+  sentence pairs to learn a dictionary from, besides LINKS; repeatable.
          Links in it are not read. The pairs that you want to align belong here, too
      --forms F,F,...  how words are represented: word, or stem and a number of letters
          (default: word,stem3,stem4)
    the model
      --C
      --fertility K  the largest number of links of a word, or two numbers for source and
          target words (1,3); none for no bound
      --cost-missing  cost of a missing sure link
      --cost-extra  cost of a link that is not even possible
      --features G,G,...  groups of features: bias, dictionary, neighbours, position,
          spelling, frequency, competition (default: all)
    """
    outputs = {
        "pharaoh": Output(),
        "naacl": Output((".naacl",), k_best=False),
        "tsv": Output((".tsv",), k_best=False),
    }
    predict_options = K_BEST


COMMAND = MatchTask
