"""Data of ``graphs.py``: pictures as graphs with simple features, random fields."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from common import need_data

COLOURS = (1, 2, 3, 4, 6)  # of Snakes, as bits of red, green and blue; 4 is background
WINDOW = [(down, right) for down in range(3) for right in range(3)]


# Snakes -----------------------------------------------------------------------


def load_snakes(part: str, most: int | None = None):
    """(pictures, labels): 0 is background, 1 to 10 lie along the snake."""
    (path,) = need_data("snakes/snakes.npz")
    with np.load(path, allow_pickle=False) as data:
        shapes = data[f"shapes_{part}"]
        pixels, labels = data[f"X_{part}"], data[f"Y_{part}"].astype(int)
    return _pictures(pixels, labels, shapes[:most])


def snake_graph(picture, edges: str):
    """A graph with the colours of 3 x 3 pixels at every node, and edges of a kind.

    "none"; "plain", without features; "directions", horizontal or vertical; "ends", the
    features of both nodes; "directed ends", the same apart for either direction.
    """
    from maxmargin import grid_graph

    rows, columns = picture.shape[:2]
    codes = (picture // 255) @ np.array([1, 2, 4])
    padded = np.full((rows + 2, columns + 2), 4)
    padded[1:-1, 1:-1] = codes
    hot = padded[..., None] == np.array(COLOURS)
    nodes = np.concatenate(
        [hot[a : a + rows, b : b + columns] for a, b in WINDOW], axis=2
    )
    nodes = nodes.reshape(rows * columns, -1).astype(float)
    _, pairs, kinds = grid_graph(codes, edge_features="direction")
    if edges == "none":
        return nodes, pairs[:0]
    if edges == "plain":
        return nodes, pairs
    if edges == "directions":
        return nodes, pairs, kinds
    ends = np.concatenate([nodes[pairs[:, 0]], nodes[pairs[:, 1]]], axis=1)
    if edges == "directed ends":
        ends = (kinds[:, :, None] * ends[:, None]).reshape(len(pairs), -1)
    return nodes, pairs, ends


# horses -----------------------------------------------------------------------


def load_horses(train: int, test: int):
    """(train pictures, masks, test pictures, masks), drawn with a fixed seed."""
    (path,) = need_data("weizmann_horses64/horses64.npz")
    with np.load(path, allow_pickle=False) as data:
        X, y = _pictures(data["rgb"], data["mask"].astype(int), data["shapes"])
    order = np.random.default_rng(0).permutation(len(X))
    parts = order[:train], order[train : train + test]
    return [[some[i] for i in part] for part in parts for some in (X, y)]


def pixel_features(picture) -> np.ndarray:
    """Per pixel: colours, means and deviations nearby, edges, place, colours of the rim."""
    from scipy import ndimage

    rows, columns = picture.shape[:2]
    rgb = picture / 255.0
    grey = rgb.mean(2)
    # brightness and two opponent colours
    planes = np.stack(
        [grey, rgb[..., 0] - rgb[..., 1], 0.5 * (rgb[..., :2].sum(2)) - rgb[..., 2]], 2
    )
    layers = [planes, planes**2]
    for width in (2, 5):
        near = ndimage.gaussian_filter(planes, (width, width, 0))
        squared = ndimage.gaussian_filter(planes**2, (width, width, 0))
        layers += [near, np.sqrt(np.maximum(squared - near**2, 0.0)), planes - near]
    slopes = [ndimage.gaussian_gradient_magnitude(grey, width) for width in (1, 2, 4)]
    layers.append(np.stack([*slopes, ndimage.gaussian_laplace(grey, 1.5)], 2))
    down = np.linspace(-1, 1, rows)[:, None] + np.zeros(columns)
    right = np.linspace(-1, 1, columns) + np.zeros((rows, 1))
    place = [down, right, down**2, right**2, down * right, down**3, down**4, right**4]
    place += [down**2 * right**2, np.hypot(down, right)]
    layers.append(np.stack(place, 2))
    layers.append(_foreign(planes, down, right))
    return np.concatenate(layers, 2).reshape(rows * columns, -1)


def _foreign(planes, down, right) -> np.ndarray:
    """How much more a colour is one of the middle than of the rim, in soft histograms."""
    from scipy import ndimage

    rim = np.maximum(abs(down), abs(right)) > 0.85
    middle = (abs(down) < 0.5) & (abs(right) < 0.6)
    low, high = planes.min((0, 1)), planes.max((0, 1))
    bins = ((planes - low) / np.maximum(high - low, 1e-9) * 11.999).astype(int)
    out = []
    for width in (0.7, 1.5):
        tables = []
        for part in (rim, middle):
            counts = np.zeros((12, 12, 12))
            np.add.at(counts, tuple(bins[part].T), 1.0)
            tables.append(ndimage.gaussian_filter(counts / part.sum(), width) + 1e-4)
        ratio = np.log(tables[1] / tables[0])[tuple(np.moveaxis(bins, 2, 0))]
        out += [ratio, ndimage.gaussian_filter(ratio, 1.5)]
    return np.stack(out, 2)


def horse_graphs(pictures, shift, scale, edges: bool):
    """Graphs with features to this scale, edges by contrast, or none."""
    from maxmargin import grid_graph

    graphs = []
    for picture in pictures:
        nodes = (pixel_features(picture) - shift) / scale
        if not edges:
            graphs.append((nodes, np.zeros((0, 2), int)))
            continue
        _, pairs, features = grid_graph(
            picture / 255.0, neighbours=8, edge_features="contrast"
        )
        graphs.append((nodes, pairs, features))
    return graphs


# sets of labels ---------------------------------------------------------------


def load_sets(name: str):
    """scene or yeast: (X, y, test X, test y)."""
    folder = {"scene": "scene", "yeast": "yeast_multilabel"}[name]
    (path,) = need_data(f"{folder}/{folder}.npz")
    with np.load(path, allow_pickle=False) as data:
        return [
            data[key].astype(float if key.startswith("X") else int)
            for key in ("X_train", "y_train", "X_test", "y_test")
        ]


# random fields ----------------------------------------------------------------


def random_grid(side: int, labels: int, tables: str, seed: int = 0):
    """(Field, scores) of a grid: "potts" (a table for all edges) or "general" ones."""
    from maxmargin.graphs.field import make_field

    rng = np.random.default_rng(seed)
    at = np.arange(side * side).reshape(side, side)
    pairs = np.concatenate(
        [
            np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], 1),
            np.stack([at[:-1].ravel(), at[1:].ravel()], 1),
        ]
    )
    field = make_field(np.full(side * side, labels), pairs)
    theta = np.zeros(int(field.edge_at[-1]) + labels * labels)
    nodes = int(field.node_at[-1])
    theta[:nodes] = rng.normal(size=nodes)
    if tables == "potts":
        theta[nodes:] = np.tile(0.7 * np.eye(labels).ravel(), len(pairs))
    else:
        theta[nodes:] = rng.normal(size=len(theta) - nodes)
    return field, theta


def _pictures(pixels, labels, shapes):
    cut = np.cumsum([0, *shapes.astype(int).prod(1)])
    spans = [slice(a, b) for a, b in pairwise(cut)]
    pictures = [
        pixels[span].reshape(*shape, 3)
        for span, shape in zip(spans, shapes, strict=True)
    ]
    return pictures, [labels[span] for span in spans]
