"""Turning tokens, columns, sequences and texts into arrays, fast."""

from maxmargin.features.tokens import TokenEncoder, TokenMatrix, csr_arrays

__all__ = ["TokenEncoder", "TokenMatrix", "csr_arrays"]
