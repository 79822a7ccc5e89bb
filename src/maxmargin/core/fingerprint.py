"""Short names of data: equal where the data are equal, and hardly ever else."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

PLAIN = (str, bytes, bool, int, float, complex, type(None), np.generic)


def fingerprint(value: Any) -> str:
    """The SHA-256 of arrays, plain values, and tuples, lists and dicts of these.

    Something else may have a method ``fingerprint`` of its own, which returns such a
    value; if it has none, its type is all that counts.
    """
    digest = hashlib.sha256()
    feed(digest, value)
    return digest.hexdigest()


def feed(digest: Any, value: Any) -> None:
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(f"{value.dtype}{value.shape}".encode())
        flat = np.ascontiguousarray(value).reshape(-1)
        digest.update(memoryview(flat.view(np.uint8)) if flat.size else b"")
    elif isinstance(value, PLAIN):
        digest.update(f"{type(value).__name__}{value!r};".encode())
    elif isinstance(value, (tuple, list, np.ndarray)):
        digest.update(f"{type(value).__name__}{len(value)}:".encode())
        for part in value:
            feed(digest, part)
    elif isinstance(value, dict):
        digest.update(f"dict{len(value)}:".encode())
        for key, part in value.items():
            feed(digest, key)
            feed(digest, part)
    else:
        digest.update(f"{type(value).__qualname__};".encode())
        own = getattr(value, "fingerprint", None)
        if callable(own):
            feed(digest, own())
