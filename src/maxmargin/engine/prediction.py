"""Prediction on a cluster: pieces of X go to the workers, the model once to each.

Samples are predicted one by one whoever does it, so nothing depends on the pieces. What
goes wrong there is done here instead: bad input then gets the message that counts samples
from the first of all, and a cluster that was lost costs time alone. Where there is none
any more, as for a model that was pickled there and is used elsewhere, all is done here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from copy import copy
from itertools import chain, pairwise
from typing import Any

import numpy as np

from maxmargin.waiting import stage, watched

FEWEST = 64  # samples for which a worker is worth asking
PER_WORKER = 4  # pieces, so that long samples can be made up for
LOOK = 5.0  # seconds between looks whether there are workers


def over_cluster(*counts: str) -> Callable:
    """For methods of estimators ``(self, X) -> one result per sample``.

    ``counts`` are attributes that such a method sets to a number of samples.
    """

    def decorate(method: Callable) -> Callable:
        @functools.wraps(method)
        def anywhere(self, X, *others):
            if getattr(self, "engine", None) is not None:
                found = _on_workers(self, method.__name__, X, others, counts)
                if found is not None:
                    return found
            if getattr(self, "verbose", 0) != 1:
                return method(self, X, *others)
            with watched(), stage("predicting"):
                return method(self, X, *others)

        return anywhere

    return decorate


def _on_workers(model, name: str, X, others: tuple, counts) -> Any:
    """The results; None if they are better made here."""
    from maxmargin.engine.engines import NoCluster, client_of

    try:
        client = client_of(model.engine)
    except (NoCluster, ImportError):
        return None
    n = 0 if client is None else _samples(X)
    if n < 2 * FEWEST:
        return None
    try:
        workers = len(client.nthreads())
        if not workers:
            return None  # Dask would wait for the first one
        many = min(PER_WORKER * workers, n // FEWEST)
        edges = np.linspace(0, n, many + 1).astype(int).tolist()
        pieces = [_part(X, lo, hi) for lo, hi in pairwise(edges)]
        pieces = client.scatter(pieces, hash=False)
        sent = client.scatter(model, hash=False, broadcast=True)
        tasks = client.map(
            _piece,
            pieces,
            pure=False,
            model=sent,
            name=name,
            others=others,
            counts=counts,
        )
        _wait(client, tasks)
        parts, numbers = zip(*client.gather(tasks), strict=True)
    except Exception:  # whatever it is: here, it works or is said properly
        return None
    for k, attribute in enumerate(counts):
        setattr(model, attribute, sum(number[k] for number in numbers))
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return type(parts[0])(chain.from_iterable(parts))


def _samples(X) -> int:
    """How many there are; 0 of what cannot be cut into pieces."""
    if _by_sentence(X):
        return X.n_sentences
    if hasattr(X, "shape"):
        return X.shape[0] if X.shape else 0
    return len(X) if isinstance(X, (list, tuple)) else 0


def _part(X, lo: int, hi: int) -> Any:
    return X.select(range(lo, hi)) if _by_sentence(X) else X[lo:hi]


def _by_sentence(X) -> bool:
    """Is it what `maxmargin.files.read_columns` returns?"""
    return hasattr(X, "select") and hasattr(X, "n_sentences")


def _piece(X, model, name: str, others: tuple, counts) -> tuple[Any, list[int]]:
    """On a worker, where ``engine`` means the worker itself."""
    if counts:  # other threads of the worker have the same model
        model = copy(model)
    result = getattr(model, name)(X, *others)
    return result, [getattr(model, attribute) for attribute in counts]


def _wait(client, tasks: list) -> None:
    """Until all are done; raises when nobody is left to do them."""
    from distributed import wait

    while True:
        try:
            with client.as_current():
                wait(tasks, timeout=LOOK)
            return
        except TimeoutError:
            if not client.nthreads():
                raise
