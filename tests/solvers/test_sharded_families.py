"""Every family over shards: the optimum of one process, or a sentence: why not."""

from __future__ import annotations

import numpy as np
import pytest
from family_cases import CASES, documents, queries, sentences
from watch_cases import Bump, bumps

import maxmargin as mm


@pytest.mark.parametrize("name", CASES)
def test_every_family_ends_at_the_optimum_of_one_process(name, home):
    make, data, options = CASES[name]
    options = {"C": 0.5, "tol": 0.02, **options}
    data = data()
    alone = make(**options).fit(*data).certificate_
    apart = make(**options, engine="dask").fit(*data).certificate_
    assert home.executors[0].shards >= 3
    assert apart.relative_gap <= 0.02
    assert apart.dual <= alone.primal * (1 + 1e-6)
    assert alone.dual <= apart.primal * (1 + 1e-6)


# what cannot be ------------------------------------------------------------------------


def some_unknown(data):
    X, y = data
    y = [list(row) for row in y]
    y[0][0] = None
    return X, y


HIDDEN = "Hidden parts, such as labels that are None, cannot be trained over shards"
REFUSED = {
    "labels not known": (mm.SequenceTagger, lambda: some_unknown(sentences()), {}),
    "labels not known, log": (
        mm.SequenceTagger,
        lambda: some_unknown(sentences()),
        {"objective": "log"},
    ),
    "hidden parts": (
        lambda **options: mm.LatentStructuralSVM(Bump(), **options),
        lambda: bumps(8)[:2],
        {},
    ),
    "top k": (mm.TopKRanker, queries, {"loss": "precision"}),
    "forests": (mm.LinkClusterer, documents, {}),
    "motifs": (
        mm.MotifFinder,
        lambda: (4 * ["ACGTTTACGT", "ACACACGCGC"], 4 * [1, 0]),
        {},
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_hidden_parts_are_refused(name, home):
    make, data, options = REFUSED[name]
    with pytest.raises(ValueError, match=HIDDEN):
        make(**options, engine="dask").fit(*data())
    assert not home.executors


@pytest.mark.parametrize(
    "objective", ["perceptron", "passive-aggressive", "boosting", "marginal"]
)
def test_other_objectives_are_refused_before_data_are_read(objective, home):
    words = f"objective='{objective}' cannot be trained over shards .*leave engine out"
    with pytest.raises(ValueError, match=words):
        mm.SequenceTagger(objective=objective, engine="dask").fit(None, None)


def test_hard_margins_are_refused_before_data_are_read(home):
    with pytest.raises(ValueError, match="C=inf cannot be trained over shards"):
        mm.MulticlassSVM(C=np.inf, engine="dask").fit(None, None)


def test_kernel_machines_have_no_engine():
    with pytest.raises(TypeError, match="engine"):
        mm.KernelSVM(engine="dask")
