"""Parameters of kernel machines."""

from __future__ import annotations

from typing import Any

from maxmargin.core.checks import choice_of, or_none, positive, whole_from
from maxmargin.fitting.parameters import (
    Parameter,
    Parameters,
    Shared,
    number_or_name,
)

METHODS = (
    "auto",
    "subspace-pursuit",
    "training-points",
    "nystroem",
    "nystroem-kmeans",
    "nystroem-leverage",
    "incomplete-cholesky",
    "sampling",
    "exact",
)
SCALES = (None, "standard", "range")
_WHOLE = whole_from(1, "a positive whole number")
_SAME = Shared.declared


def _check_preimage(name: str, given: Any) -> None:
    if given != "gradient":
        raise ValueError(
            f"preimage={given!r} is not possible: points of "
            '"subspace-pursuit" follow the gradient of the objective, "gradient". '
            '"fixed-point", which found worse ones, is gone.'
        )


class KernelSVMParameters(Parameters):
    kernel: Any = Parameter(default="rbf", kw_only=False)
    method: str = Parameter(default="auto", check=choice_of(*METHODS), kw_only=False)
    n_components: int | None = Parameter(
        default=None, check=or_none(_WHOLE), kind=int, flag="--components"
    )
    C: float | None = Parameter(
        default=5.0, kind=float, help="weight of the data", metavar="C"
    )
    gamma: float | str = Parameter(default="scale", kind=number_or_name)
    degree: int = Parameter(default=3)
    coef0: float = Parameter(default=0.0)
    scale: str | None = Parameter(
        default=None, check=choice_of(*SCALES, choice='"standard", "range" or None')
    )
    loss: Any = Parameter(default="zero-one")
    taxonomy: Any = Parameter(default=None)
    class_weight: Any = Parameter(default=None)
    preimage: str = Parameter(default="gradient", check=_check_preimage)
    memory: float = Parameter(default=4e9, check=positive("a number of bytes"))
    max_terms: int = Parameter(default=20_000, check=_WHOLE)
    device: str = Parameter(default="cpu")
    tol: float = _SAME["tol"]
    max_iter: int | None = _SAME["max_iter"]
    max_time: float | None = _SAME["max_time"]
    n_jobs: int | None = _SAME["n_jobs"]
    random_state: Any = _SAME["random_state"]
    verbose: int = _SAME["verbose"]
    callbacks: list | None = _SAME["callbacks"]
    checkpoint: Any = _SAME["checkpoint"]
    resume: bool = _SAME["resume"]
