"""maxmargin: learn to predict structured objects, with a certificate for every fit.

Names are imported on first use, so ``import maxmargin`` is quick and does not load numba.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

_WHERE = {
    "convert_C": "maxmargin.formulation",
    "DynamicProgram": "maxmargin.hypergraph.program",
    "Grammar": "maxmargin.grammar",
    "GrammarParser": "maxmargin.estimators.parser",
    "HMMTagger": "maxmargin.estimators.hmm",
    "HomologFinder": "maxmargin.estimators.homolog",
    "Hypergraph": "maxmargin.hypergraph",
    "HypergraphBuilder": "maxmargin.hypergraph.builder",
    "load": "maxmargin.model_file",
    "MulticlassSVM": "maxmargin.estimators.multiclass",
    "PCFGParser": "maxmargin.estimators.pcfg",
    "Problem": "maxmargin.problem",
    "save": "maxmargin.model_file",
    "SequenceAligner": "maxmargin.estimators.aligner",
    "SequenceTagger": "maxmargin.estimators.tagger",
    "StructuralSVM": "maxmargin.estimators.structural",
    "Taxonomy": "maxmargin.taxonomy",
    "TaxonomySVM": "maxmargin.estimators.taxonomy",
    "Tree": "maxmargin.trees",
    "WordAligner": "maxmargin.estimators.word_aligner",
}

__all__ = ["__version__", *_WHERE]


def __getattr__(name):
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'maxmargin' has no attribute {name!r}")


def __dir__():
    return sorted(__all__)
