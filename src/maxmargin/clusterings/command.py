"""The task ``cluster``: which mentions of a document mean the same thing."""

from maxmargin.cli.task import Output, Task


class ClusterTask(Task):
    """What the command line says of it; ``run.py`` is what it does."""

    name = "cluster"
    about = "Cluster the mentions of documents (coreference)."
    example = """example:
  maxmargin train cluster train.jsonl --r 0.01 -o coref.model
  maxmargin train cluster train.conll --format conll2012 --cv 5 -o coref.model
  maxmargin predict coref.model new.jsonl -o clustered.jsonl
  maxmargin evaluate coref.model test.jsonl --plot worst.png

A line of JSON is a document with sentences and mentions; see docs/clustering.md. Files may
be compressed with gzip."""
    items = "documents"
    estimators = {"svm": "LinkClusterer"}
    hidden = frozenset({"init", "fit_intercept"})
    usual = (0.001, 0.01, 0.1, 1.0)
    essential = "format method r window"
    options = """
    the file
      --format json|conll2012=json  json (default): a document per line; conll2012: a word
          per line
      --encoding NAME=utf-8  default: utf-8
    the model
      --method forest|correlation  clusters by latent forests of links (default), or by the
          scores of all pairs
      --r  cost of a link between clusters; a missing one costs 1 (default: 0.5)
      --C  weight of the data, per document (default: 0.1)
      --n-restarts  number of starts; those after the first are random
      --max-outer  outer steps of a start
      --self-paced  easy documents first
      --window  number of preceding mentions to compare each one with (default: 1000)
      --pair-memory  bytes that the pairs of mentions may take (default: 4e9)
    """
    outputs = {
        "jsonl": Output((".jsonl", ".ndjson")),
        "conll2012": Output((".conll", ".v4_gold_conll", ".v4_auto_conll")),
    }


COMMAND = ClusterTask
