"""Writing the shards of a corpus: arrays first, the last numbers of labels at the end."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from maxmargin.files.corpora.storage import record_of, save_array


def _path(folder: str, name: str, key: str) -> str:
    return os.path.join(folder, f"{name}.{key}.npy")


def write_shard(folder: str, k: int, arrays: Mapping[str, Any], **counts: int) -> dict:
    """Write the arrays of shard k; its entry in the manifest."""
    name = f"{k:05d}"
    for key, array in arrays.items():
        save_array(_path(folder, name, key), array)
    return {"name": name, **counts, "files": dict.fromkeys(arrays)}


def finish_shard(folder: str, shard: dict, place, number=None) -> np.ndarray:
    """Last numbers of labels and features, and checksums; returns counts of labels."""
    path = _path(folder, shard["name"], "y")
    y = place[np.load(path)]
    save_array(path, y)
    if number is not None:
        path = _path(folder, shard["name"], "indices")
        save_array(path, number[np.load(path)])
    for key in shard["files"]:
        shard["files"][key] = list(record_of(_path(folder, shard["name"], key)))
    return np.bincount(y, minlength=len(place))


def label_numbers(found: dict[str, int]) -> tuple[list[str], np.ndarray]:
    """(labels sorted, place there of the labels as they were first seen)."""
    labels = sorted(found)
    place = {label: k for k, label in enumerate(labels)}
    return labels, np.fromiter(map(place.__getitem__, found), np.int32, len(found))


def totals(shards: Sequence[dict], counted: Sequence[str], tallies) -> dict[str, Any]:
    """What the manifest says of all shards."""
    sums = {name: sum(shard[name] for shard in shards) for name in counted}
    counts = np.sum(tallies, axis=0).tolist()
    return {**sums, "label_counts": counts, "shards": shards}
