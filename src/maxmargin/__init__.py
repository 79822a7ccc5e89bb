"""maxmargin: learn to predict structured objects, with a certificate for every fit.

Names are imported on first use, so ``import maxmargin`` is quick and does not load numba.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

_WHERE = {
    "GrammarParser": "maxmargin.estimators.parser",
    "HMMTagger": "maxmargin.estimators.hmm",
    "MulticlassSVM": "maxmargin.estimators.multiclass",
    "Grammar": "maxmargin.grammar",
    "PCFGParser": "maxmargin.estimators.pcfg",
    "Problem": "maxmargin.problem",
    "SequenceTagger": "maxmargin.estimators.tagger",
    "StructuralSVM": "maxmargin.estimators.structural",
    "Tree": "maxmargin.trees",
    "convert_C": "maxmargin.formulation",
    "load": "maxmargin.model_file",
    "save": "maxmargin.model_file",
}

__all__ = ["__version__", *_WHERE]


def __getattr__(name):
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'maxmargin' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
