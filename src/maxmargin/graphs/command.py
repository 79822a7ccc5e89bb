"""The task ``graph``: a label for every node of graphs."""

from maxmargin.cli.task import K_BEST, MARGINALS, Output, Task


class GraphTask(Task):
    """What the command line says of it; ``run.py`` is what it does."""

    name = "graph"
    about = "Label the nodes of graphs: grids of pixels, networks, trees."
    example = """example:
  maxmargin train graph train.npz --edges associative --C 0.1 -o horses.model
  maxmargin train graph train.jsonl --label-weight fault:5 --cv 5 -o lines.model
  maxmargin predict horses.model new.npz -o labels.npz
  maxmargin evaluate horses.model test.npz --plot worst.png

A line of JSON is a graph with nodes, edges and labels; NPZ has the same in arrays; see
docs/graphs.md. Files may be compressed with gzip."""
    items = "graphs"
    estimators = {"svm": "GraphLabeler"}
    hidden = frozenset({"loss"})
    usual = (0.001, 0.01, 0.1, 1.0, 10.0)
    essential = "edges inference label_weight objective kernel"
    options = """
    the file
      --encoding NAME=utf-8  of JSON lines (default: utf-8)
    the model
      --edges directed|symmetric|associative  weights of pairs of labels: by direction
          (default), the same in both, or one for equal labels
      --inference  auto, elimination, graph-cut, relaxed, expansion, swap or max-product
      --C  weight of the data, per graph (default: depends on features and size)
      --label-weight LABEL:X+  cost of mistaking a node with this label, instead of 1;
          repeatable
      --unlabelled-weight X  factor for the weight of graphs without any known label
          (default: 0.1)
    a kernel of the features of nodes
      --kernel
      --method  how its basis of nodes is chosen: exact (all), nystroem, nystroem-kmeans,
          nystroem-leverage or incomplete-cholesky
      --n-components  nodes in the basis
      --gamma
      --kernel-memory
    """
    numbered = "graph"
    outputs = {
        "jsonl": Output((".jsonl", ".ndjson")),
        "npz": Output((".npz",), k_best=False),
    }
    predict_options = K_BEST + MARGINALS
    evaluate_options = """
      --confusion FILE.png  draw which labels are confused
      --fractional FILE.png  draw the nodes that the relaxed search leaves undecided
    """


COMMAND = GraphTask
