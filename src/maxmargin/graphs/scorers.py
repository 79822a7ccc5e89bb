"""Scorers of labels of nodes."""

from __future__ import annotations

from maxmargin.metrics.scorer import Scorer

GRAPHS = ("GraphReport",)

graph_accuracy = Scorer("graph_accuracy", "graphs all right", "graph_accuracy", GRAPHS)
mean_iou = Scorer("mean_iou", "mean IoU", "mean_iou", GRAPHS)
node_accuracy = Scorer("node_accuracy", "accuracy", "accuracy", GRAPHS)
