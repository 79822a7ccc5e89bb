"""Which encoder a tagger has, and encoders in model files."""

from __future__ import annotations

from typing import Any

from maxmargin.core.coordinates import (
    KernelEncoder,
    basis_arrays,
    kernel_state,
    restored_basis,
)
from maxmargin.core.encoded import SINGLE_PRECISION_TOL
from maxmargin.core.saved import Saved
from maxmargin.tags.features import ColumnEncoder, TokenEncoder


def new_encoder(tagger: Any) -> Any:
    """An encoder for the settings of a tagger, not fitted yet."""
    if tagger.features is None:
        inner = TokenEncoder()
    else:
        options = getattr(tagger, "feature_options", None) or {}
        inner = ColumnEncoder(tagger.features, min_count=tagger.min_count, **options)
    if getattr(tagger, "kernel", None) is None:
        return inner
    return KernelEncoder(
        inner,
        tagger.kernel,
        tagger.method,
        tagger.n_components,
        tagger.gamma,
        tagger.kernel_memory,
        tagger._settings().seed,
        single=tagger._tolerance() >= SINGLE_PRECISION_TOL,
    )


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


def restored_encoder(saved: Saved, model: Any, d: int) -> Any:
    """The encoder of a model file, for weights of d features."""
    if "kernel" in saved.state:
        return _restored_kernel(saved, model, d)
    if model.features is not None or "columns" in saved.state:
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


def _restored_kernel(saved: Saved, model: Any, k: int) -> Any:
    basis, model.kernel = restored_basis(saved.part("kernel"), k)
    rest = Saved(saved.arrays, {n: v for n, v in saved.state.items() if n != "kernel"})
    inner = restored_encoder(rest, model, basis.points.shape[1])
    encoder = new_encoder(model)
    assert isinstance(encoder, KernelEncoder)
    encoder.inner, encoder.basis = inner, basis
    return encoder
