"""How the task ``graph`` runs: its files, measures and weights."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from maxmargin.cli.command import Command, Sample
from maxmargin.cli.common import say
from maxmargin.graphs import json_lines, npz_file, plots
from maxmargin.graphs.command import GraphTask
from maxmargin.graphs.graph_file import read_graph_file
from maxmargin.graphs.input import read_graphs
from maxmargin.graphs.json_lines import plain
from maxmargin.graphs.labels import compared, label_sets, read_labels
from maxmargin.graphs.methods import TooWide
from maxmargin.graphs.schema import check_graphs, learn, named_weights
from maxmargin.graphs.scorers import mean_iou, node_accuracy
from maxmargin.plots.confusion import plot_confusion

WORST = 4  # graphs in a picture


@dataclass(frozen=True)
class Part(Sample):
    """Graphs that know their places in the file, also of a part of it."""

    def select(self, chosen: list[int]) -> Part:
        more = [self.more[i] for i in chosen]
        part = replace(super().select(chosen), more=more)
        return replace(part, where=lambda i: self.where(chosen[i]))


@dataclass
class Graph(GraphTask, Command):
    """A file is graphs: an NPZ archive, or JSON lines."""

    scorers = (node_accuracy, mean_iou)
    weighed = "weights"
    measured = "marginals"  # what shares of labels are called

    # training --------------------------------------------------------------------------

    def learn(self, path: str, args) -> Sample:
        sample = self.read(path, True)
        with in_file(sample):
            inputs = read_graphs(sample.X)
            schema = learn(inputs, "directed", 0)
            check_graphs(schema, inputs)
            label_sets(read_labels(sample.y, inputs), schema.node_types)
        return sample

    def settings(self, args, given, sample, dev) -> dict[str, Any]:
        if args.label_weight:
            given["loss"] = _weights(args.label_weight, sample.y)
        return given

    def notes(self, model, sample: Sample) -> dict[str, Any]:
        inputs = read_graphs(sample.X)
        counts = {
            "graphs": len(sample),
            "nodes": sum(g.counts.get(name, 0) for g in inputs for name in g.nodes),
            "edges": sum(len(pairs) for g in inputs for pairs, _ in g.edges.values()),
        }
        return {**super().notes(model, sample), **counts}

    def summary(self, model) -> str:
        notes = model.notes
        return (
            f"{notes['graphs']:,} graphs, {notes['nodes']:,} nodes, {notes['edges']:,} "
            f"edges, {_number_of_labels(model)} labels; C={model.C_:g}; "
            f"inference by {_how(model)}"
        )

    # files -----------------------------------------------------------------------------

    def read(self, path: str, truth: bool) -> Sample:
        found = read_graph_file(path, truth, self.encoding)
        return Part(found.X, found.y, found.path, found.where, more=found.shapes)

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        """Labels of every graph, in its order of nodes."""
        form = npz_file if self.form == "npz" else json_lines
        form.write_labels(path, outputs, chances, self.measured, self.encoding)

    def lines(self, sample: Sample, i: int, output) -> list[str]:
        return [json.dumps({"labels": plain(output)}, ensure_ascii=False)]

    def inputs(self, sample: Sample) -> range:
        return range(len(sample))

    def record(self, x, output, chance=None) -> dict[str, Any]:
        labels = {"labels": plain(output)}
        return labels if chance is None else labels | {self.measured: plain(chance)}

    def cells(self, record):
        """A node per row, under its type if nodes have types."""
        labels, shares = record["labels"], record.get(self.measured)
        rest = {k: v for k, v in record.items() if k not in ("labels", self.measured)}
        for kind in labels if isinstance(labels, dict) else [None]:
            row = rest if kind is None else rest | {"type": kind}
            own, tables = (
                part.get(kind) if isinstance(part, dict) else part
                for part in (labels, shares)
            )
            for v, label in enumerate(own):
                more = {} if tables is None else {self.measured: tables[v]}
                yield row | {"node": v, "label": label} | more

    # use -------------------------------------------------------------------------------

    def predict(self, model, sample: Sample) -> list:
        with in_file(sample):
            return super().predict(model, sample)

    def k_best(self, model, sample: Sample, k: int) -> list:
        with in_file(sample):
            return super().k_best(model, sample, k)

    def chances(self, model, sample: Sample, outputs) -> list:
        """Tables; ``measured`` says of what: graphs may be too wide for probabilities."""
        with in_file(sample):
            try:
                return super().chances(model, sample, outputs)
            except TooWide:
                say(
                    "some graphs are too wide for probabilities: what is written as "
                    "pseudo_marginals are shares of labels by a tree-reweighted bound, "
                    "which rank labels but are no probabilities."
                )
                self.measured = "pseudo_marginals"
                return model.predict_pseudo_marginals(sample.X)

    def known_labels(self, model) -> set:
        return {label for part in model.structure_.schema.labels for label in part}

    def labels_of(self, sample: Sample):
        for i, row in enumerate(read_labels(sample.y, read_graphs(sample.X))):
            labels = (label for part in row.values() for label in part)
            yield from ((label, (i,)) for label in labels if label is not None)

    def draw(self, option: str, path: str, model, sample, outputs, report):
        _, truth, found = compared(sample.y, outputs, read_graphs(sample.X))
        if option == "confusion":
            known = [[a is not None for a in row] for row in truth]
            pairs = [
                [[a for a, there in zip(row, sure, strict=True) if there]
                 for row, sure in zip(rows, known, strict=True)]
                for rows in (truth, found)
            ]  # fmt: skip
            return plot_confusion(*pairs)
        if option == "fractional":
            with in_file(sample):
                tables = model.predict_relaxed(sample.X)
            return plots.draw_fractional(model, sample.X, tables, sample.more, WORST)
        return plots.draw_worst(sample.X, truth, found, sample.more, WORST)

    # inspection ------------------------------------------------------------------------

    def facts(self, model, notes) -> list[tuple[str, str]]:
        return [
            ("graphs", f"{notes['graphs']:,}"),
            ("nodes", f"{notes['nodes']:,}, {notes['edges']:,} edges"),
            ("labels", str(_number_of_labels(model))),
            ("edges", model.edges),
            ("inference", _how(model)),
            ("objective", f"{model.objective}, C={model.C_:g}"),
        ]

    def named_weights(self, model):
        return [row for row in named_weights(model) if row[2] != 0.0]

    def listed(self, model, args):
        for group, name, weight in self.weights(model, args):
            yield f"{weight:+9.4f}  {group}: {name}"

    def draw_model(self, model, args):
        return plots.plot_edge_weights(model)


RUN = Graph


@contextlib.contextmanager
def in_file(sample: Sample) -> Iterator[None]:
    """Errors that name X[3] or y[3] name its place in the file."""
    try:
        yield
    except ValueError as error:
        said = re.sub(
            r"\b[Xy]\[(\d+)\]", lambda found: sample.where(int(found[1])), str(error)
        )
        raise ValueError(said) from None


def _weights(given: list[str], y) -> dict[Any, float]:
    """{label: weight} of texts such as fault:5; labels are of the file's type."""
    parts = (
        p for some in y for p in (some.values() if isinstance(some, dict) else [some])
    )
    kinds = {type(label) for part in parts for label in part or () if label is not None}
    found = {}
    for text in given:
        label, mark, number = text.rpartition(":")
        try:
            if not mark or not label:
                raise ValueError
            found[int(label) if kinds == {int} else label] = float(number)
        except ValueError:
            raise ValueError(
                f"--label-weight {text} is not a label and a number, such as fault:5."
            ) from None
    return found


def _how(model) -> str:
    """The method of inference, and of what the certificate speaks."""
    if model.relaxed_:
        return f"{model.inference_} (what is proved is proved of the relaxed problem)"
    if not model.certificate_.exact:
        bound = f"{model.primal_bound_:.6g}"
        return f"{model.inference_} (objective at most {bound}, by the relaxation)"
    return model.inference_


def _number_of_labels(model) -> int:
    return sum(map(len, model.structure_.schema.labels))
