"""Encoders of taggers in model files."""

from __future__ import annotations

from typing import Any

from maxmargin.core.saved import Saved
from maxmargin.core.tables.coordinates import (
    basis_arrays,
    kernel_state,
    restored_basis,
)
from maxmargin.tags.features import ColumnEncoder, TokenEncoder


def encoder_state(encoder: Any) -> tuple[dict, dict]:
    """(arrays, state) for :func:`restored_encoder`."""
    if encoder.kind == "kernel":
        arrays, state = encoder_state(encoder.inner)
        kernel = {"kernel": kernel_state(encoder, "tagger")}
        return arrays | basis_arrays(encoder.basis, "kernel"), state | kernel
    if encoder.kind != "columns":
        return {}, {"kind": encoder.kind, "vocabulary": encoder.feature_names()}
    columns, state = encoder.get_state()
    return {f"columns.{name}": a for name, a in columns.items()}, {"columns": state}


def restored_encoder(saved: Saved, structure: Any, d: int) -> Any:
    """The encoder of a model file, for weights of d features."""
    if "kernel" in saved.state:
        return _restored_kernel(saved, structure, d)
    if structure.features is not None or "columns" in saved.state:
        part = saved.part("columns")
        encoder = ColumnEncoder.from_state(part.arrays, part.state)
        found = encoder.n_features
    else:
        encoder, found = TokenEncoder(), d
        encoder.kind = saved.value("kind", str)
        if encoder.kind == "tokens":
            names = saved.texts("vocabulary")
            encoder.vocabulary, found = {s: j for j, s in enumerate(names)}, len(names)
        elif encoder.kind not in ("dense", "sparse"):
            raise ValueError(f"the kind {encoder.kind!r} of features is not known")
        encoder.n_features_in = d
    if found != d:
        raise ValueError("weights and vocabulary do not fit together")
    return encoder


def _restored_kernel(saved: Saved, structure: Any, k: int) -> Any:
    basis, structure.kernel = restored_basis(saved.part("kernel"), k)
    rest = Saved(saved.arrays, {n: v for n, v in saved.state.items() if n != "kernel"})
    inner = restored_encoder(rest, structure, basis.points.shape[1])
    encoder = structure.new_encoder()
    encoder.inner, encoder.basis = inner, basis
    return encoder
