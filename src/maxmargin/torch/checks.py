"""What tensors must look like, and sentences that say what does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from maxmargin.core.checks import whole as whole


def positive(name: str, value: float) -> None:
    if not 0 < value < float("inf"):
        raise ValueError(f"{name} must be a positive number, not {value!r}.")


def is_tensor(value: Any, name: str) -> None:
    if not isinstance(value, torch.Tensor):
        raise TypeError(
            f"{name} must be a tensor of PyTorch, not {type(value).__name__}."
        )


def is_real(value: Any, name: str) -> None:
    is_tensor(value, name)
    if not value.is_floating_point():
        raise TypeError(
            f"{name} holds {value.dtype}: scores are floating point numbers."
        )


def whole_numbers(given: Any) -> Any:
    """Whole numbers as a tensor (int64, on the CPU), or None where they are not."""
    try:
        found = torch.as_tensor(given)
    except (TypeError, ValueError, RuntimeError):
        return None
    real = found.is_floating_point() or found.is_complex() or found.dtype == torch.bool
    if found.is_meta or (real and found.numel()):
        return None
    return found.detach().to("cpu", torch.int64)


def not_negative(name: str, value: float) -> None:
    if not 0 <= value < float("inf"):
        raise ValueError(f"{name} must be a number of 0 or more, not {value!r}.")


def same_device(given: dict[str, Any]) -> None:
    """All tensors of these names are on one device, which has numbers."""
    places = {name: t.device for name, t in given.items() if t is not None}
    (first, device), *others = places.items()
    for name, other in others:
        if other != device:
            raise ValueError(
                f"{first} is on {device}, but {name} on {other}: move both to one device."
            )
    if device.type == "meta":
        raise ValueError(
            f"{first} is on the device meta, where tensors have no numbers."
        )


def scores_and_shared(scores: Any, examples: Any, shared: Any) -> tuple[Any, Any]:
    """(scores of the examples, those in common), flat and in double precision."""
    is_real(scores, "scores")
    own = flat(scores, examples, "scores")
    if shared is None:
        if examples.n_shared:
            raise ValueError(
                f"examples of this kind have {examples.n_shared} scores in common: give "
                "them as shared."
            )
        shared = scores.new_zeros(0)
    is_real(shared, "shared")
    same_device({"scores": scores, "shared": shared})
    if shared.numel() != examples.n_shared:
        raise ValueError(
            f"shared has {shared.numel()} numbers, but examples of this kind have "
            f"{examples.n_shared} scores in common."
        )
    no_nan(own, examples.owner, "scores")
    head = shared.reshape(-1).to(torch.float64)
    if bool(torch.isnan(head.detach()).any()) or bool((head == torch.inf).any()):
        raise ValueError("shared has a score that is NaN or +inf.")
    return own, head


def flat(values: Any, examples: Any, name: str) -> Any:
    """One number per part of all examples, in double precision."""
    is_tensor(values, name)
    total, sizes = examples.n_scores, examples.sizes
    longest = int(sizes.max(initial=0))
    if values.dim() == 1 and len(values) == total:
        return values.to(torch.float64)
    if values.dim() == 2 and len(values) == examples.n and values.shape[1] >= longest:
        rows, columns = inside(sizes)
        return values[rows, columns].to(torch.float64)
    raise ValueError(
        f"{name} has the shape {tuple(values.shape)}: the {examples.n} examples have "
        f"{total} parts, so it must be ({total},), or ({examples.n}, {longest}) with the "
        "parts of every example at the head of its row."
    )


def inside(sizes: np.ndarray) -> tuple[Any, Any]:
    """(rows, columns) of what is no padding."""
    rows = np.repeat(np.arange(len(sizes)), sizes)
    columns = np.arange(len(rows)) - (np.cumsum(sizes) - sizes)[rows]
    return torch.from_numpy(rows), torch.from_numpy(columns)


def padded(values: Any, sizes: Any, longest: int | None = None) -> Any:
    """Rows by example, zeros behind."""
    sizes = sizes.numpy()
    rows, columns = inside(sizes)
    width = int(sizes.max(initial=0)) if longest is None else longest
    out = values.new_zeros(len(sizes), width, *values.shape[1:])
    return out.index_put((rows, columns), values)


def no_nan(own: Any, owner: np.ndarray, name: str) -> None:
    """No score is NaN or +inf."""
    own = own.detach()
    bad = torch.isnan(own) | (own == torch.inf)
    if bool(bad.any()):
        place = int(bad.reshape(-1).nonzero()[0])
        row = place // (own.numel() // max(len(own), 1))
        found = float(own.reshape(-1)[place])
        raise ValueError(
            f"{name} of example {int(owner[row])} hold {found}: scores are numbers, or "
            "-inf where something is forbidden."
        )


def possible(found: Any, what: str, is_so: str = "has a score of -inf") -> Any:
    """The values, all of which are finite."""
    bad = ~torch.isfinite(found.detach())
    if bool(bad.any()):
        i = int(bad.nonzero()[0])
        raise ValueError(
            f"{what} example {i} {is_so}: it is forbidden. Raise its scores, or correct "
            "the truth."
        )
    return found
