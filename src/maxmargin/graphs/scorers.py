"""Scorers of labels of nodes."""

from maxmargin.metrics.scorer import Scorer

GRAPHS = ("GraphReport",)

graph_accuracy = Scorer("graph_accuracy", "graphs all right", "graph_accuracy", GRAPHS)
"""Graphs all right of predictions, in `GraphReport`."""
mean_iou = Scorer("mean_iou", "mean IoU", "mean_iou", GRAPHS)
"""Mean IoU of predictions, in `GraphReport`."""
node_accuracy = Scorer("node_accuracy", "accuracy", "accuracy", GRAPHS)
"""Accuracy of predictions, in `GraphReport`."""
