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


def check_counts(body: Any, counted: tuple[str, ...], items: str) -> None:
    """ValueError says what in a manifest cannot be; ``items`` have labels."""
    want(type(body) is dict, "it is no table of values")
    for name in counted:
        whole(body, name, 0, MOST)
    whole(body, "features", 0, FEATURES)
    labels, counts = body["labels"], body["label_counts"]
    want(all_are(labels, str) and len(set(labels)) == len(labels) > 0, "its labels")
    want(all_are(counts, int) and len(counts) == len(labels), "its counts of labels")
    want(min(counts) >= 0 and sum(counts) == body[items], "its counts of labels")
    want(type(body["settings"]) is dict, "its settings")
    want(all_are(body["sources"], dict), "its sources")


def check_pieces(
    body: dict,
    counted: tuple[str, ...],
    needed: frozenset[str],
    possible: frozenset[str],
) -> None:
    """The same of its shards, which have these files."""
    want(all_are(body["shards"], dict) and len(body["shards"]) > 0, "its shards")
    for shard in body["shards"]:
        name, files = shard["name"], shard["files"]
        want(type(name) is str and NAME.fullmatch(name), f"the name {str(name)[:50]!r}")
        for what in counted:
            whole(shard, what, 0, MOST)
        want(type(files) is dict, f"the files of {name}")
        want(needed <= files.keys() <= needed | possible, f"the files of {name}")
        for record in files.values():
            check_record(record, name)
    names = [shard["name"] for shard in body["shards"]]
    want(len(set(names)) == len(names), "two shards of one name")
    for name in counted:
        total = sum(shard[name] for shard in body["shards"])
        want(total == body[name], f"its number of {name}, which shards have not")


def check_record(record: Any, name: str) -> None:
    good = all_are(record, int) and len(record) == 2
    want(good and 0 <= record[0] <= MOST, f"the size of {name}")
    want(0 <= record[1] < 1 << 32, f"the checksum of {name}")


def whole(body: dict, name: str, low: int, high: int) -> None:
    value = body[name]
    want(type(value) is int and low <= value <= high, f"{name!r}, {str(value)[:50]}")


def all_are(values: Any, kind: type) -> bool:
    return type(values) is list and all(type(value) is kind for value in values)


def want(good: Any, what: str) -> None:
    if not good:
        raise ValueError(what)
