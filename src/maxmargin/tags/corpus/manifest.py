"""What the manifest of a corpus says, believed only as far as it is checked.

Anybody can write one with a right checksum. Counts become sizes of arrays, and names of
shards files: every value has its type and its range, sums agree, and no name leads out of
the folder.
"""

from __future__ import annotations

import re
from typing import Any

MOST = 1 << 53  # tokens, entries
FEATURES = (1 << 31) - 1  # numbered by int32
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}")  # of a shard: no path
NEEDED = {"start", "y", "indptr", "indices"}


def checked(body: Any) -> dict:
    """The content of a manifest; ValueError says what in it cannot be."""
    _want(type(body) is dict, "it is no table of values")
    for name in ("sentences", "tokens", "entries", "longest"):
        _whole(body, name, 0, MOST)
    _whole(body, "features", 0, FEATURES)
    labels, counts = body["labels"], body["label_counts"]
    _want(_all(labels, str) and len(set(labels)) == len(labels) > 0, "its labels")
    _want(_all(counts, int) and len(counts) == len(labels), "its counts of labels")
    _want(min(counts) >= 0 and sum(counts) == body["tokens"], "its counts of labels")
    _want(type(body["renumbered"]) is bool, "whether features are renumbered")
    _want(type(body["settings"]) is dict, "its settings")
    for name in ("features", "min_count", "like"):
        _want(name in body["settings"], f"its setting {name!r}")
    _want(_all(body["sources"], dict), "its sources")
    _record(body["encoder"], "the encoder")
    _want(_all(body["shards"], dict) and len(body["shards"]) > 0, "its shards")
    for shard in body["shards"]:
        _shard(shard)
    names = [shard["name"] for shard in body["shards"]]
    _want(len(set(names)) == len(names), "two shards of one name")
    for name in ("sentences", "tokens", "entries"):
        total = sum(shard[name] for shard in body["shards"])
        _want(total == body[name], f"its number of {name}, which shards have not")
    _want(body["longest"] <= body["tokens"], "its longest sentence")
    return body


def _shard(shard: dict) -> None:
    name, files = shard["name"], shard["files"]
    _want(type(name) is str and NAME.fullmatch(name), f"the name {str(name)[:50]!r}")
    for what in ("sentences", "tokens", "entries"):
        _whole(shard, what, 0, MOST)
    _want(type(files) is dict, f"the files of {name}")
    _want(NEEDED <= files.keys() <= NEEDED | {"values"}, f"the files of {name}")
    for record in files.values():
        _record(record, name)


def _record(record: Any, name: str) -> None:
    good = _all(record, int) and len(record) == 2
    _want(good and 0 <= record[0] <= MOST, f"the size of {name}")
    _want(0 <= record[1] < 1 << 32, f"the checksum of {name}")


def _whole(body: dict, name: str, low: int, high: int) -> None:
    value = body[name]
    _want(type(value) is int and low <= value <= high, f"{name!r}, {str(value)[:50]}")


def _all(values: Any, kind: type) -> bool:
    return type(values) is list and all(type(value) is kind for value in values)


def _want(good: Any, what: str) -> None:
    if not good:
        raise ValueError(what)
