"""Graphs in JSON lines, one graph per line.

    {"nodes": [[0.5, 1], [0.1, 0], [0.9, 1]], "edges": [[0, 1], [1, 2]],
     "edge_features": [[1.0], [0.3]], "sizes": [10, 4, 7], "labels": ["sky", null, "sea"]}

Rows of "nodes" and "edge_features" are features; "edges" are pairs of nodes, counted from
0. All but "nodes" may be left out. A null among the labels, or in place of all, is not
known. A grid has a "shape", [rows, columns], and any graph may have a "name". With types,
nodes, labels and sizes are objects, and edges are a list of objects:

    {"nodes": {"word": [[1.0], [0.2]], "page": [[]]},
     "edges": [{"types": ["word", "page"], "pairs": [[0, 0], [1, 0]],
                "features": [[1], [2]]}],
     "labels": {"word": ["a", "b"], "page": ["x"]}}

"types" may have a name in the middle, where two kinds of edges join the same types.
"""

from __future__ import annotations

import json
import os

from maxmargin.files.text_files import (
    RawText,
    encode_text,
    json_values,
    read_text,
    write_raw,
)
from maxmargin.graphs.input import RawGraph, dense

KEYS = ("nodes", "edges", "edge_features", "sizes", "labels", "shape", "name")
EDGE_KEYS = ("types", "pairs", "features")


def entries(raw: RawText, truth: bool, encoding: str):
    """(graphs, a function that says where the i-th is)."""
    text, name = read_text(raw, encoding)
    found, numbers = [], []
    for number, where, value in json_values(text, name):
        if not isinstance(value, dict) or "nodes" not in value:
            raise ValueError(
                f"{where} is not a JSON object with nodes, such as "
                '{"nodes": [[1.0], [0.5]], "edges": [[0, 1]], "labels": ["a", "b"]}.'
            )
        _check_keys(value, KEYS, where)
        x = {key: value[key] for key in KEYS[:4] if value.get(key) is not None}
        if value["nodes"] is None:
            raise ValueError(f"{where}: the nodes are null: give a row for each.")
        if isinstance(x["nodes"], dict):
            x = _with_types(x, where)
        labels = value.get("labels") if truth else None
        found.append(RawGraph(x, labels, value.get("shape")))
        numbers.append(number)
    return found, lambda i: f"{name}, line {numbers[i]}"


def _check_keys(value: dict, known, where: str) -> None:
    unknown = [key for key in value if key not in known]
    if unknown:
        raise ValueError(
            f"{where} has the key {unknown[0]!r}, which means nothing here: the keys are "
            f"{', '.join(known)}."
        )


def _with_types(x: dict, where: str) -> dict:
    """Edges by type; their features lie with them in the file."""
    if "edge_features" in x:
        raise ValueError(
            f"{where} has types, so features of edges belong to its edges: "
            '{"types": [...], "pairs": [...], "features": [...]}.'
        )
    blocks = x.pop("edges", [])
    if not isinstance(blocks, list) or not all(isinstance(b, dict) for b in blocks):
        raise ValueError(
            f"{where} has types of nodes, so its edges must be a list of objects, such as "
            '{"types": ["word", "page"], "pairs": [[0, 0]]}.'
        )
    edges, features = {}, {}
    for block in blocks:
        _check_keys(block, EDGE_KEYS, f"{where}, among its edges,")
        types = block.get("types")
        if not isinstance(types, list) or not all(isinstance(t, str) for t in types):
            raise ValueError(
                f"{where} has edges without types: say which nodes they join, such as "
                '"types": ["word", "page"].'
            )
        key = (types[0], "", types[1]) if len(types) == 2 else tuple(types)
        if key in edges:
            raise ValueError(
                f"{where} has edges of the types {types} twice: join them."
            )
        edges[key] = block.get("pairs")
        if block.get("features") is not None:
            features[key] = block["features"]
    return {**x, "edges": edges, "edge_features": features}


# writing --------------------------------------------------------------------------------


def write_graphs(path: str | os.PathLike, inputs, rows, shapes, encoding: str) -> None:
    lines = []
    for i, graph in enumerate(inputs):
        nodes = {name: dense(table).tolist() for name, table in graph.nodes.items()}
        sizes = {name: values.tolist() for name, values in graph.sizes.items()}
        labels = None if rows is None else rows[i]
        if graph.typed:
            value = {"nodes": nodes, "edges": _blocks(graph)}
        else:
            ((pairs, features),) = graph.edges.values()
            value = {"nodes": nodes[""], "edges": pairs.tolist()}
            if features is not None:
                value["edge_features"] = dense(features).tolist()
            sizes, labels = sizes.get(""), labels and labels[""]
        extra = {"sizes": sizes or None, "labels": labels, "shape": shapes[i]}
        lines.append(value | {k: v for k, v in extra.items() if v is not None})
    _write(path, lines, encoding)


def _blocks(graph) -> list[dict]:
    out = []
    for (u, name, v), (pairs, features) in graph.edges.items():
        block = {"types": [u, name, v] if name else [u, v], "pairs": pairs.tolist()}
        if features is not None:
            block["features"] = dense(features).tolist()
        out.append(block)
    return out


def write_labels(
    path: str | os.PathLike, y, marginals, called: str, encoding: str
) -> None:
    lines = []
    for i, labels in enumerate(y):
        value = {"labels": plain(labels)}
        if marginals is not None:
            value[called] = plain(marginals[i])
        lines.append(value)
    _write(path, lines, encoding)


def plain(value):
    """Arrays as lists, within dicts too."""
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return value.tolist() if hasattr(value, "tolist") else list(value)


def _write(path, values: list[dict], encoding: str) -> None:
    lines = [json.dumps(v, ensure_ascii=False, separators=(",", ":")) for v in values]
    text = "".join(f"{line}\n" for line in lines)
    write_raw(path, encode_text(text, path, encoding))
