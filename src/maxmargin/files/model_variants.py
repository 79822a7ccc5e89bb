"""Hostile model files: a good one, changed in one place and signed again.

:func:`check_model_file` makes many such files of a fitted model. Whatever they hold,
``load`` must refuse them in a sentence, or the model must predict, or say in a sentence
why not. Nothing may crash, hang, or spend the machine's memory.
"""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from maxmargin.files import model_format
from maxmargin.files.model_file import load, save

NUMBERS = (0, -1, 1, 7, 255, 2**31 - 1, -(2**31), 2**62, np.nan, np.inf, -np.inf)
HUGE = (1e30, 1e99, -1e99, 1e300, -1e300)
TYPES = ("bool", "int8", "int32", "int64", "uint8", "float16", "float32", "float64")
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1, 3, 2**40, 1e300, -0.5, "", "x", "\ud800", "1/1", "a?" * 30),
    *({"$float": "nan"}, {"$float": "inf"}, [], {}, [[1]], [None], {"x": 1}),
    *({"$tuple": []}, {"$dict": []}, {"$array": ["<f8", []]}, {"$array": ["O", [1]]}),
)
METHODS = ("decision_function", "predict_marginals", "predict_scores")
LIMIT = 8 << 30  # bytes of memory of a process apart


def check_model_file(
    model: Any,
    X: Any,
    *,
    n: int = 100,
    seed: int = 0,
    structure: Any = None,
    apart: bool = False,
) -> Counter:
    """Load n hostile variants of a model's file and use what can be loaded on X.

    Returns how many were refused, how many worked and how many gave a sentence.
    AssertionError says which variant did something else. With ``apart``, all this is
    done in another process, with bounds on its memory and time, so that also crashes
    are found: slower, for use by hand.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.safetensors")
        save(model, path)
        load(path, structure).predict(X)
        good, rng = path.read_bytes(), np.random.default_rng(seed)
        names = []
        for k in range(n):
            what, data = variant(good, rng)
            names.append((Path(folder, f"{k}.safetensors"), what))
            names[-1][0].write_bytes(data)
        if apart:
            return _apart(names, X, structure, folder)
        return Counter(outcome(path, what, X, structure) for path, what in names)


def outcome(path, what: str, X, structure=None) -> str:
    """What a variant does: "refused", "works" or "said"; or AssertionError."""
    step = "load"
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            model = load(path, structure)
            step = "predict"
            model.predict(X)
            for step in METHODS:
                getattr(model, step, len)(X)
            step = "predict_k_best"
            getattr(model, step, lambda X, k: None)(X, 2)
    except (ValueError, NotImplementedError) as error:
        if step != "load":
            return "said"
        if str(error).startswith("Cannot load"):
            return "refused"
        raise AssertionError(f"{what}: load said {error!r}.") from error
    except Exception as error:
        raise AssertionError(f"{what}: {step} raised {error!r}.") from error
    return "works"


def variant(data: bytes, rng) -> tuple[str, bytes]:
    """(what was changed, a file with a right checksum)."""
    from safetensors.numpy import load as from_bytes

    length = int.from_bytes(data[:8], "little")
    outer = json.loads(data[8 : 8 + length])
    header = json.loads(outer["__metadata__"]["maxmargin"])
    arrays = {name: array.copy() for name, array in from_bytes(data).items()}
    if rng.random() < 0.5:
        name = list(arrays)[rng.integers(len(arrays))]
        what = _change_array(arrays, name, rng)
    else:
        what = _change_value(header, rng)
    return what, signed(header, arrays)


def signed(header: dict, arrays: dict) -> bytes:
    """A file with this header and these arrays, whatever they are."""
    from safetensors.numpy import save as to_bytes

    text = json.dumps(header | {"sha256": "0" * 64}, separators=(",", ":"))
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    data = bytearray(to_bytes(arrays, metadata={"maxmargin": text}))
    place = slice(model_format.DIGEST_AT, model_format.DIGEST_END)
    data[place] = model_format.digest(data).encode()
    return bytes(data)


def _change_array(arrays: dict, name: str, rng) -> str:
    array = arrays[name]
    kind = rng.integers(10 if array.dtype.kind == "i" else 8)
    if kind >= 8 and len(array) > 1:
        return _change_relations(array, name, rng)
    if kind < 3 and array.size:
        value = [*NUMBERS, *HUGE][rng.integers(len(NUMBERS) + len(HUGE))]
        where = slice(None) if kind == 0 else rng.integers(array.size)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            array.reshape(-1)[where] = np.array(value, np.float64).astype(array.dtype)
        return f"array {name}: {value} at {where}"
    if kind == 3:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arrays[name] = array.astype(TYPES[rng.integers(len(TYPES))])
        return f"array {name}: {arrays[name].dtype}"
    if kind == 4:
        sizes = array[:-1], array[:0], array[None], np.concatenate([array, array[:1]])
        arrays[name] = sizes[rng.integers(4)]
        return f"array {name}: shape {arrays[name].shape}"
    if kind == 5:
        arrays[name] = rng.permutation(array)
        return f"array {name}: permuted"
    if kind == 6:
        del arrays[name]
        return f"array {name}: left out"
    other = list(arrays)[rng.integers(len(arrays))]
    arrays[name], arrays[other] = arrays[other], arrays[name]
    return f"arrays {name} and {other}: swapped"


def _change_relations(array: np.ndarray, name: str, rng) -> str:
    """Numbers in their range, but loops, cycles, doubles, and orders turned round."""
    kind = rng.integers(4)
    if kind == 0 and array.ndim == 2:  # edges from a node to itself
        array[:, -1] = array[:, 0]
        return f"array {name}: equal columns"
    if kind == 1:
        array[:] = array[::-1].copy()
        return f"array {name}: backwards"
    if kind == 2:  # parents of each other, offsets that fall
        array[[0, -1]] = array[[-1, 0]]
        return f"array {name}: ends swapped"
    at = rng.integers(1, len(array))
    array[at] = array[at - 1]
    return f"array {name}: row {at} as the one before"


def _change_value(header: dict, rng) -> str:
    """Change one value among params and state, or a list or dict of them."""
    places = [
        place
        for field in ("params", "state")
        for place in _places(header[field], (field,))
        if place[1] != "history"
    ]
    place = places[rng.integers(len(places))]
    parent = header
    for key in place[:-1]:
        parent = parent[key]
    key, kind = place[-1], rng.integers(4)
    if kind == 0:
        del parent[key]
        return f"{place}: left out"
    if kind == 1 and isinstance(parent[key], (list, str)) and len(parent[key]):
        parent[key] = parent[key] + parent[key][: 1 + rng.integers(len(parent[key]))]
        return f"{place}: longer"
    if kind == 2:
        other = places[rng.integers(len(places))]
        value: Any = header
        for step in other:
            value = value.get(step) if isinstance(value, dict) else value[step]
        parent[key] = copy.deepcopy(value)
        return f"{place}: as {other}"
    parent[key] = copy.deepcopy(VALUES[rng.integers(len(VALUES))])
    return f"{place}: {parent[key]!r}"


def _places(value: Any, path: tuple) -> list[tuple]:
    """Paths to all values below."""
    found = []
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = list(enumerate(value))[:20]
    for key, inner in pairs:
        found += [(*path, key), *_places(inner, (*path, key))]
    return found


_CHILD = """
import pickle, sys
from maxmargin.files import model_variants
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (model_variants.LIMIT,) * 2)
except ImportError:
    pass
names, X, structure = pickle.load(open(sys.argv[1], "rb"))
for path, what in names:
    print(what, flush=True)
    print("->", model_variants.outcome(path, what, X, structure), flush=True)
"""


def _apart(names, X, structure, folder) -> Counter:
    task = os.path.join(folder, "task")
    with open(task, "wb") as file:
        pickle.dump((names, X, structure), file)
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, task],
        capture_output=True,
        text=True,
        timeout=300 + len(names),
    )
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (
        f"the process ended with {done.returncode} at: {lines[-1:]}\n{done.stderr[-2000:]}"
    )
    return Counter(line[3:] for line in lines if line.startswith("->"))
