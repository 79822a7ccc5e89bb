"""A KernelSVM as arrays and plain values, and back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy.sparse import issparse

from maxmargin.core.saved import Saved
from maxmargin.fitting.saving import restore_shared, shared_state
from maxmargin.kernel_svm.certificate import KernelCertificate
from maxmargin.kernel_svm.input import Scaling
from maxmargin.kernel_svm.parameters import METHODS
from maxmargin.kernels import as_kernel, from_state


def state_of(model) -> tuple[dict, dict]:
    """(arrays, state) of a fitted model; its points are a table or strings."""
    arrays = {"coefficients": np.asarray(model.dual_coef_, np.float64)}
    proof = model.certificate_
    _check_kernel(model.kernel_)
    given = model.kernel
    state = {
        "classes": model.classes_,
        "kernel": model.kernel_.state(),
        "given": given if isinstance(given, str) else as_kernel(given).state(),
        "features": getattr(model, "n_features_in_", None),
        "seconds": float(model.seconds_),
        "method": model.method_,
        "within": float(proof.within),
        "residual": None if np.isnan(proof.residual) else float(proof.residual),
        **shared_state(model),
    }
    if hasattr(model, "feature_names_in_"):
        state["feature_names_in"] = model.feature_names_in_
    if model.scaling_ is not None:
        arrays |= {"center": model.scaling_.center, "width": model.scaling_.width}
    points = model.basis_
    if model.columns_ is not None:
        arrays["columns"] = np.asarray(model.columns_, np.int64)
    elif issparse(points) or getattr(points, "ndim", 0) == 2:
        table = points.toarray() if issparse(points) else points
        arrays["points"] = np.ascontiguousarray(table)
    elif not isinstance(points, Mapping) and all(isinstance(p, str) for p in points):
        state["points"] = list(map(str, points))
    else:
        raise ValueError(
            "This KernelSVM cannot be saved: its basis points are neither numbers nor "
            "strings. Keep the inputs, and train again."
        )
    return arrays, state


def _check_kernel(kernel) -> None:
    """Refuse functions: a file holds their names, and no code."""
    try:
        from_state(kernel.state())
    except ValueError:
        raise ValueError(
            f"KernelSVM cannot be saved: its kernel {kernel} has a function, which a "
            "model file cannot hold. Use pickle or joblib."
        ) from None


def model_from(cls, params, arrays, state):
    """The model, everything in the file checked."""
    saved = Saved(arrays, state)
    for name in cls._params_in_state:
        params.pop(name, None)  # memory and device are of the machine
    given = saved.value("given", str, dict)
    given = as_kernel(given) and given if type(given) is str else from_state(given)
    model = cls(**params, kernel=given)
    model.classes_ = saved.labels("classes")
    m = len(model.classes_)
    if m < 2:
        raise ValueError("there are not two classes")
    model.dual_coef_ = saved.floats("coefficients", None, m, dtype=np.float64)
    k = len(model.dual_coef_)
    model.kernel_ = from_state(saved.value("kernel", dict))
    model.columns_ = model.scaling_ = None
    if "columns" in arrays:
        model.n_features_in_ = saved.whole("features", 1)
        high = model.n_features_in_ - 1
        model.columns_ = saved.integers("columns", k, high=high)
        model.basis_ = model.columns_
    elif "points" in arrays:
        model.basis_ = saved.floats("points", k, None)
        model.n_features_in_ = saved.whole("features", 1)
        if model.basis_.shape[1] != model.n_features_in_:
            raise ValueError("basis points and features do not fit together")
        model._check_parameters("scale")
        if model.scale is not None:
            model.scaling_ = Scaling.saved(saved, model.n_features_in_)
        if k:
            model.kernel_(model.basis_[:1], model.basis_[:1])
    else:
        points = saved.value("points", list)
        if len(points) != k or not all(type(point) is str for point in points):
            raise ValueError("basis points and coefficients do not fit together")
        model.basis_ = points
    if "feature_names_in" in state:
        model.feature_names_in_ = saved.labels("feature_names_in")
        if len(model.feature_names_in_) != getattr(model, "n_features_in_", None):
            raise ValueError("features and their names do not fit together")
    model.seconds_ = saved.number("seconds")
    model.method_ = state.get("method", model.method)  # older files do not say it
    if model.method_ not in METHODS[1:]:
        raise ValueError("the method is not known")
    restore_shared(model, state)
    proof, residual = model.certificate_, state.get("residual")
    residual = float("nan") if residual is None else saved.number("residual")
    model.certificate_ = KernelCertificate(
        proof.primal,
        proof.dual,
        proof.gap,
        proof.relative_gap,
        proof.exact,
        saved.number("within"),
        residual,
    )
    return model
