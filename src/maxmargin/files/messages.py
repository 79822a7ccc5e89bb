"""Words that the messages of readers and writers share."""

from __future__ import annotations

from typing import Any


def column_count(n: Any) -> str:
    return f"{n} column" if str(n) == "1" else f"{n} columns"


def kind_of(value: Any) -> str:
    return "None" if value is None else f"of type {type(value).__name__}"


def short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
