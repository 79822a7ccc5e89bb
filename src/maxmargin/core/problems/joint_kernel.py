"""A user's problem with a joint kernel k((x, y), (x', y')) in place of features.

All pairs (x_i, y) of the training inputs and their outputs span the space in which the
weights lie, so with these pairs as the basis (``kernels/basis.py``) the coordinates
z(x, y) are joint features of the exact machine: z.z' = k for all pairs of the training
data. To ``functions.py`` it is a problem like any other. (Tsochantaridis et al. 2005,
section 3.3, where the kernel is used in the dual instead.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.core.problem import has_own
from maxmargin.core.problems.answers import Answers, as_number
from maxmargin.kernels import check, function
from maxmargin.kernels.basis import KERNEL_MEMORY, Basis, check_memory, checked_memory

SAME = 1e-10  # squared distance of images, relative, of one output met twice


class JointKernel:
    """k of two pairs (sample number, x, y), as the user's method gives it."""

    def __init__(self, problem: Any):
        self.problem = problem

    def __call__(self, one: tuple, other: tuple) -> float:
        try:
            value = self.problem.joint_kernel(*one[1:], *other[1:])
        except Exception as error:
            raise ValueError(
                f"joint_kernel{_where(one, other)} raised {type(error).__name__}: "
                f"{error or 'no message'}"
            ) from error
        number = as_number(value)
        if number is None or not np.isfinite(number):
            raise ValueError(
                f"joint_kernel{_where(one, other)} is {value!r:.100}, but it must be a "
                "finite number."
            )
        return number


class KernelDoor:
    """A problem whose joint features are coordinates in a basis of pairs."""

    def __init__(self, problem: Any, basis: Any):
        self.problem, self.basis = problem, basis
        self.exact = True
        self.smallest_loss = getattr(problem, "smallest_loss", 0.0)
        self.loss = problem.loss
        self.listed: dict[int, list] = {}  # outputs by id of x
        self.known: dict[tuple[int, int], np.ndarray] = {}  # z by ids of x and y

    def __getstate__(self) -> dict:
        return vars(self) | {"listed": {}, "known": {}}  # ids are those of one process

    def outputs(self, x: Any) -> Any:
        return self.listed.get(id(x)) or self.problem.outputs(x)

    def joint_feature(self, x: Any, y: Any) -> np.ndarray:
        found = self.known.get((id(x), id(y)))
        if found is not None:
            return found
        (z,) = self.basis.transform([(None, x, y)])
        for output in self.listed.get(id(x), ()):
            twin = self.known[id(x), id(output)]
            if np.square(z - twin).sum() <= SAME * (z @ z + twin @ twin):
                return twin  # the same to the last digit
        return z


def open_door(problem: Any, X: list, Y: list) -> KernelDoor:
    """The door to training: features of all pairs of the training data at hand."""
    check_kernel_problem(problem)
    pairs = _listed_pairs(problem, X)
    kernel = kernel_of(problem)
    try:
        check(kernel, pairs)
    except ValueError as error:
        if "of X" not in str(error):
            raise
        raise ValueError(
            f"{error} (X are here the {len(pairs)} pairs of an input and one of its "
            "outputs, in the order of the samples.)"
        ) from error.__cause__
    gram = kernel(pairs)
    basis = Basis(kernel, pairs, gram)
    door = KernelDoor(problem, basis)
    coordinates = gram[:, basis.kept] @ basis.inverse.T
    for (_, x, y), z in zip(pairs, coordinates, strict=True):
        listed = door.listed.setdefault(id(x), [])
        if (id(x), id(y)) not in door.known:
            listed.append(y)
            door.known[id(x), id(y)] = z
    for x, y in zip(X, Y, strict=True):
        door.known[id(x), id(y)] = door.joint_feature(x, y)
    return door


def kernel_of(problem: Any):
    return function(JointKernel(problem), blocks=False, name="joint_kernel")


def check_kernel_problem(problem: Any) -> None:
    """Say what is missing, or too much, beside a joint kernel."""
    name = type(problem).__name__
    if has_own(problem, "joint_feature"):
        raise ValueError(
            f"{name} has both joint_feature() and joint_kernel(): keep one of them, for "
            "they may say different things."
        )
    missing = [m for m in ("loss", "outputs") if not has_own(problem, m)]
    if missing:
        text = " and ".join(f"{method}()" for method in missing)
        raise ValueError(
            f"{name} has joint_kernel(), but no {text}: a machine with a kernel needs "
            "loss(y, y_hat) and outputs(x), the list of every output of x."
        )


def _listed_pairs(problem: Any, X: list) -> list[tuple]:
    """(sample number, x, y) for every output y; refused as soon as they are too many."""
    allowed = checked_memory(getattr(problem, "kernel_memory", KERNEL_MEMORY))
    answers, pairs = Answers(problem), []
    for i, x in enumerate(X):
        pairs += [(i, x, y) for y in answers.outputs(i, x)]
        remedy = (
            f"These are the outputs of the first {i + 1} of {len(X)} samples: train on "
            "fewer, give joint_feature() instead, or set kernel_memory on the problem."
        )
        check_memory(len(pairs), len(pairs), allowed, "pairs (x, y)", remedy)
    return pairs


def _where(one: tuple, other: tuple) -> str:
    numbers = [i for i in (one[0], other[0]) if i is not None]
    return (
        f" for outputs of samples {' and '.join(map(str, numbers))}" if numbers else ""
    )


# saving --------------------------------------------------------------------------------


def basis_state(basis: Any) -> tuple[dict, dict]:
    """(arrays, state): each input once, and the outputs of the points."""
    inputs, owner, number = [], [], {}
    for _, x, _ in basis.points:
        if id(x) not in number:
            number[id(x)] = len(inputs)
            inputs.append(x)
        owner.append(number[id(x)])
    arrays = {"joint.inverse": basis.inverse, "joint.owner": np.array(owner)}
    state: dict = {"outputs": [y for _, _, y in basis.points]}
    if all(isinstance(x, np.ndarray) and x.ndim == 1 for x in inputs) and (
        len({(x.shape, x.dtype) for x in inputs}) == 1
        and inputs[0].dtype.kind in "biuf"
    ):
        arrays["joint.inputs"] = np.stack(inputs)
    else:
        state["inputs"] = inputs
    return arrays, {"joint": state}


def restored_basis(saved: Any, problem: Any):
    """The basis of a model file, checked."""
    part = saved.part("joint")
    outputs = part.value("outputs", list)
    k = len(outputs)
    inputs = part.arrays.get("inputs")
    if inputs is None:
        inputs = part.value("inputs", list)
    elif inputs.ndim != 2:
        raise ValueError("the array 'inputs' is not a table")
    owner = part.integers("owner", k, high=len(inputs) - 1)
    inverse = part.floats("inverse", k, k, dtype=np.float64)
    points = [(None, inputs[i], y) for i, y in zip(owner, outputs, strict=True)]
    check_kernel_problem(problem)
    return Basis.restored(kernel_of(problem), points, inverse)
