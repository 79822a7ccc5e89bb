"""Which encoder a tagger has, and encoders in model files."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from maxmargin.core.estimator import SINGLE_PRECISION_TOL
from maxmargin.core.saved import Saved


def new_encoder(tagger: Any) -> Any:
    """An encoder for the settings of a tagger, not fitted yet."""
    from maxmargin.tags.features import ColumnEncoder, TokenEncoder
    from maxmargin.tags.features.coordinates import KernelEncoder

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
        tagger._settings()[3],
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
    from maxmargin.tags.features import ColumnEncoder, TokenEncoder

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


# kernels -------------------------------------------------------------------------------


def kernel_state(encoder: Any, who: str) -> dict:
    """What a file says of the kernel of a :class:`KernelEncoder`."""
    from maxmargin.kernels import from_state

    basis = encoder.basis
    try:
        formula = basis.kernel.state()
        from_state(formula)
    except ValueError as error:
        raise ValueError(
            f"The {who} cannot be saved, because a model file holds no code: {error} Use "
            "pickle or joblib."
        ) from None
    given = encoder.kernel if isinstance(encoder.kernel, str) else None
    width = int(basis.points.shape[1])
    return {"formula": formula, "given": given, "n_inputs": width}


def basis_arrays(basis: Any, name: str) -> dict[str, np.ndarray]:
    """The arrays ``name.*`` of a file."""
    arrays = {f"{name}.inverse": basis.inverse}
    points = basis.points
    if sp.issparse(points):
        points.sort_indices()
        arrays[f"{name}.indptr"] = points.indptr.astype(np.int64)
        arrays[f"{name}.indices"] = points.indices.astype(np.int64)
        points = points.data
    return arrays | {f"{name}.points": points}


def restored_basis(part: Saved, k: int) -> tuple[Any, Any]:
    """(basis, the kernel as it was given) of a file: k points, an inverse factor."""
    from maxmargin.kernels import from_state
    from maxmargin.kernels.basis import Basis

    kernel = from_state(part.value("formula", dict))
    given = part.value("given", str, type(None))
    d = part.whole("n_inputs", 1, 2**31 - 1)
    inverse = part.floats("inverse", k, k, dtype=np.float64)
    if "indptr" in part.arrays:
        points = _sparse_points(part, k, d)
    else:
        points = part.floats("points", k, d, dtype=np.float64)
    kernel(points[:1], points)  # a kernel of vectors of this width, or a sentence
    return Basis.restored(kernel, points, inverse), given or kernel


def _restored_kernel(saved: Saved, model: Any, k: int) -> Any:
    from maxmargin.tags.features.coordinates import KernelEncoder

    basis, model.kernel = restored_basis(saved.part("kernel"), k)
    rest = Saved(saved.arrays, {n: v for n, v in saved.state.items() if n != "kernel"})
    inner = restored_encoder(rest, model, basis.points.shape[1])
    encoder = new_encoder(model)
    assert isinstance(encoder, KernelEncoder)
    encoder.inner, encoder.basis = inner, basis
    return encoder


def _sparse_points(part: Saved, k: int, d: int) -> sp.csr_matrix:
    data = part.floats("points", None, dtype=np.float64)
    indices = part.integers("indices", len(data), high=d - 1)
    indptr = part.integers("indptr", k + 1, high=len(data))
    if indptr[0] != 0 or indptr[-1] != len(data) or (np.diff(indptr) < 0).any():
        raise ValueError("the rows of the basis points do not fit together")
    return sp.csr_matrix((data, indices, indptr), (k, d))
