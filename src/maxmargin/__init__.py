"""maxmargin: learn to predict structured objects, with a certificate for every fit.

Names are imported on first use, so ``import maxmargin`` is quick and does not load numba.
"""

from __future__ import annotations

from maxmargin import start

if start.is_program():  # before more imports: Ctrl-C gets an answer
    start.answer()

from typing import TYPE_CHECKING

from maxmargin.families import lazily, places

__version__ = "0.1.0"

_WHERE = {
    "callbacks": "maxmargin.callbacks",
    "Checkpoint": "maxmargin.solvers.checkpoints.checkpoint",
    "convert_C": "maxmargin.core.formulation",
    "kernels": "maxmargin.kernels",
    "LatentProblem": "maxmargin.core.problems.latent_functions",
    "LatentStructuralSVM": "maxmargin.fitting.latent",
    "load": "maxmargin.files.model_file",
    "Problem": "maxmargin.core.problem",
    "save": "maxmargin.files.model_file",
    "scorers": "maxmargin.scorers",
    "StructuralSVM": "maxmargin.fitting.structural",
    **places("public"),
}

__all__ = ["__version__", *_WHERE]

if TYPE_CHECKING:  # what type checkers and editors see of it
    from maxmargin import (
        callbacks as callbacks,
        kernels as kernels,
        scorers as scorers,
    )
    from maxmargin.alignments.aligner import SequenceAligner as SequenceAligner
    from maxmargin.alignments.homologs.estimator import HomologFinder as HomologFinder
    from maxmargin.classes.corpus import ClassCorpus as ClassCorpus
    from maxmargin.classes.multiclass import MulticlassSVM as MulticlassSVM
    from maxmargin.classes.taxonomy.estimator import TaxonomySVM as TaxonomySVM
    from maxmargin.classes.taxonomy.taxonomy import Taxonomy as Taxonomy
    from maxmargin.clusterings.documents import (
        Mention as Mention,
        MentionDocument as MentionDocument,
    )
    from maxmargin.clusterings.estimator import LinkClusterer as LinkClusterer
    from maxmargin.core.formulation import convert_C as convert_C
    from maxmargin.dependencies.estimator import DependencyParser as DependencyParser
    from maxmargin.fitting.latent import LatentStructuralSVM as LatentStructuralSVM
    from maxmargin.core.problems.latent_functions import LatentProblem as LatentProblem
    from maxmargin.core.problem import Problem as Problem
    from maxmargin.fitting.structural import StructuralSVM as StructuralSVM
    from maxmargin.files.model_file import load as load, save as save
    from maxmargin.graphs.estimator import GraphLabeler as GraphLabeler
    from maxmargin.graphs.grids import grid_graph as grid_graph
    from maxmargin.hypergraphs.builder import HypergraphBuilder as HypergraphBuilder
    from maxmargin.hypergraphs.graph import Hypergraph as Hypergraph
    from maxmargin.hypergraphs.program import DynamicProgram as DynamicProgram
    from maxmargin.kernel_svm.estimator import KernelSVM as KernelSVM
    from maxmargin.matchings.word_aligner import WordAligner as WordAligner
    from maxmargin.motifs.estimator import MotifFinder as MotifFinder
    from maxmargin.multilabel.estimator import MultilabelSVM as MultilabelSVM
    from maxmargin.neural.tagger import NeuralTagger as NeuralTagger
    from maxmargin.rankings.estimator import TopKRanker as TopKRanker
    from maxmargin.solvers.checkpoints.checkpoint import Checkpoint as Checkpoint
    from maxmargin.tags.corpus import TagCorpus as TagCorpus
    from maxmargin.tags.hmm import HMMTagger as HMMTagger
    from maxmargin.tags.tagger import SequenceTagger as SequenceTagger
    from maxmargin.trees.grammar.grammar import Grammar as Grammar
    from maxmargin.trees.parser import GrammarParser as GrammarParser
    from maxmargin.trees.pcfg import PCFGParser as PCFGParser
    from maxmargin.trees.tree import Tree as Tree
else:
    __getattr__, __dir__ = lazily(__name__, _WHERE)
