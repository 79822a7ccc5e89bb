"""Forged checkpoints with right checksums: a program, for ``test_silent_restored``.

    python forged_checkpoints.py FOLDER COUNT CASE...

Each case of ``checkpoint_cases`` is killed in the middle. Every array and every plain value
of its checkpoint is changed to something hostile and signed again, one at a time; COUNT
of these files are tried. A fit that goes on from it must say in a sentence why it
cannot, or end with a certificate that is true: its dual not above the optimum, its primal
not below. Prints a line of JSON before and after every try, so that a crash says where.
"""

import contextlib
import copy
import json
import math
import os
import random
import shutil
import sys
import warnings
from functools import partial

import numpy as np
from checkpoint_cases import fitted

from maxmargin import Checkpoint
from maxmargin.files import checkpoint_file

SLACK = 2e-3  # of a certificate, relative: some fits compute in single precision
NUMBERS = (2**30, -1, 0, 1, 1e300, math.nan, math.inf, -math.inf)
PLAIN = (2**40, -1, 0, 0.5, 1e300, {"$float": "nan"}, {"$float": "inf"}, None, "x")
PLAIN = (*PLAIN, [], {}, True, {"$tuple": []})


class Killed(BaseException):
    """Ends a fit at once."""


def killed(case, folder):
    """(a whole fit, the content of a checkpoint from its middle)."""
    rows = []
    whole = fitted(case, callbacks=[lambda row: rows.append(row) and None])
    left = len(rows) // 2 + 1

    def stop(row):
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed

    place = Checkpoint(folder, every=0)
    with contextlib.suppress(Killed):
        fitted(case, checkpoint=place, callbacks=[stop])
    name = sorted(os.listdir(folder))[0]
    return whole, os.path.join(folder, name)


def forgeries(fields, arrays):
    """(what is changed, a function that gives fields and arrays) of every forgery."""
    for name, array in arrays.items():
        for what, other in hostile(array):
            yield f"{name}: {what}", partial(with_arrays, fields, arrays, {name: other})
        for other in arrays:
            if other > name and arrays[other].dtype == array.dtype:
                swapped = {name: arrays[other], other: array}
                what = f"{name}: swapped with {other}"
                yield what, partial(with_arrays, fields, arrays, swapped)
    for place in places(fields["state"], ("state",)):
        for value in PLAIN:
            yield f"{place}: {value}", partial(with_value, fields, arrays, place, value)
    for name in ("status", "tol", "passes", "seconds", "ended"):
        for value in (*PLAIN, "converged"):
            yield (
                f"{name}: {value}",
                partial(with_value, fields, arrays, (name,), value),
            )


def with_arrays(fields, arrays, others):
    return fields, arrays | others


def with_value(fields, arrays, place, value):
    changed = copy.deepcopy(fields)
    parent = changed
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = value
    return changed, arrays


def hostile(array):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for value in NUMBERS if array.size else ():
            number = np.float64(value).astype(array.dtype)
            yield f"all {value}", np.full_like(array, number)
            one = array.copy()
            one.flat[array.size // 2] = number
            yield f"one {value}", one
        if array.size:
            yield (
                "twice",
                array * array.dtype.type(2) if array.dtype != bool else ~array,
            )
            yield "cut", array[:-1]
            yield "longer", np.concatenate([array, array[-1:]])
            yield "backwards", array[::-1].copy()
        yield "deeper", array[None]
        for dtype in ("float32", "float64", "int32", "int64", "bool"):
            if array.dtype != dtype:
                yield dtype, array.astype(dtype)


def places(value, path):
    pairs = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = list(enumerate(value))[-2:]
    for key, inner in pairs:
        yield (*path, key)
        yield from places(inner, (*path, key))


def outcome(case, folder, whole):
    """What a fit makes of the checkpoint in the folder."""
    try:
        model = fitted(case, checkpoint=folder, resume=True)
    except ValueError as error:
        said = str(error)
        if said.startswith("Cannot go on from '") and said.endswith("."):
            return "refused"
        return f"says {said}"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"
    found, true = model.certificate_, whole.certificate_
    if hasattr(
        model, "restarts_"
    ):  # no optimum is known: f must not be below its bound
        return "works" if math.isfinite(found.objective) else "no objective"
    if found.dual > true.primal * (1 + SLACK) or found.primal < true.dual * (1 - SLACK):
        return f"false certificate: {found}, {true}"
    if model.converged_ and not whole.converged_ and found.relative_gap > model.tol:
        return "claims to have converged"
    last = model.history_[-1]
    if last["dual"] > true.primal * (1 + SLACK):
        return "false history"
    return "works"


def main(folder, count, cases):
    rng = random.Random(0)
    for case in cases:
        own = os.path.join(folder, case)
        os.makedirs(own)
        whole, path = killed(case, own)
        fields, arrays = checkpoint_file.read(path)
        fields.pop("sha256")
        every = list(forgeries(fields, arrays))
        for what, make in rng.sample(every, min(count, len(every))):
            shutil.rmtree(own)
            os.makedirs(own)
            checkpoint_file.write(path, *make())
            print(json.dumps([case, what]), flush=True)
            print(json.dumps([case, what, outcome(case, own, whole)]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
