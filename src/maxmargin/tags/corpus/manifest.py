"""What the manifest of a tagging corpus must say (``files/corpora/checks.py``)."""

from __future__ import annotations

from typing import Any

from maxmargin.files.corpora.checks import (
    MOST,
    check_counts,
    check_pieces,
    check_record,
    want,
    whole,
)

COUNTED = ("sentences", "tokens", "entries")
NEEDED = {"start", "y", "indptr", "indices"}


def checked(body: Any) -> dict:
    """The content of a manifest; ValueError says what in it cannot be."""
    check_counts(body, COUNTED, "tokens")
    whole(body, "longest", 0, MOST)
    want(type(body["renumbered"]) is bool, "whether features are renumbered")
    for name in ("features", "min_count", "like"):
        want(name in body["settings"], f"its setting {name!r}")
    check_record(body["encoder"], "the encoder")
    check_pieces(body, COUNTED, NEEDED, {"values"})
    want(body["longest"] <= body["tokens"], "its longest sentence")
    return body
