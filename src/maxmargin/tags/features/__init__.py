"""Turning tokens, columns, sequences and texts into arrays, fast."""

from maxmargin.tags.features.encoder import ColumnEncoder
from maxmargin.tags.features.ready import READY_NAMES, ready_template, ready_text
from maxmargin.tags.features.templates import Template, parse_template
from maxmargin.tags.features.tokens import TokenEncoder, TokenMatrix

__all__ = [
    "READY_NAMES",
    "ColumnEncoder",
    "Template",
    "TokenEncoder",
    "TokenMatrix",
    "parse_template",
    "ready_template",
    "ready_text",
]
