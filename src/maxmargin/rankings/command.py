"""The task ``rank``: documents of queries, the relevant ones first."""

from maxmargin.cli.task import Output, Task


class RankTask(Task):
    """What the command line says of it; ``run.py`` is what it does."""

    name = "rank"
    about = "Rank the documents of queries, one per line, the relevant ones first."
    example = """example:
  maxmargin train rank train.txt -o ranker.model
  maxmargin train rank train.txt --loss pairwise --dev vali.txt --path 0.1,1,10 -o r.model
  maxmargin predict ranker.model test.txt -o scores.txt

Lines are GRADE qid:QUERY 1:0.5 2:0.1 ... #comment, as in LETOR; see docs/ranking.md. Files
may be compressed with gzip."""
    items = "documents"
    estimators = {"svm": "TopKRanker"}
    hidden = frozenset({"objective"})
    essential = "loss k relevant init"
    options = """
    the file
      --encoding NAME=utf-8  default: utf-8
    the model
      --loss precision|ndcg|average-precision|pairwise  measure of a ranking
          (default: ndcg)
      --k  number of places that count (precision) or are reported (ndcg)
      --relevant  the lowest relevant grade
      --C  weight of the data (default: 2 / total variance of the features)
      --init classification|random  starting point, for precision (default: classification)
      --n-restarts  number of starts, of which the best is kept, for precision
      --max-outer  outer steps of a start, for precision
      --self-paced  easy queries first, for precision
    """
    outputs = {"scores": Output()}


COMMAND = RankTask
