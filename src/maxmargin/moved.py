"""Modules under the names they had before the folders of families.

Imports of the old names, and pickles that hold them, go on working: a finder gives the
module of the new name. Nothing in the library uses the old names.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec

MOVED = dict(
    line.split()
    for line in """
atomic files.atomic
data files
data.alignments alignments.files.pairs
data.bitext matchings.bitext
data.column_reader tags.files.reader
data.column_writers tags.files.writers
data.columns tags.files.columns
data.crfsuite tags.files.crfsuite
data.digits tags.digits
data.fasta alignments.files.fasta
data.homologs alignments.homologs.invented
data.messages files.messages
data.pair_table alignments.files.pair_table
data.paths files.paths
data.stockholm alignments.files.stockholm
data.svmhmm tags.files.svmhmm
data.svmlight classes.svmlight
data.taxonomies classes.taxonomy.file
data.text_files files.text_files
data.texts classes.texts
data.treebank trees.treebank
estimators core
estimators.align_batch alignments.batch
estimators.align_input alignments.input
estimators.aligner alignments.aligner
estimators.base core.estimator
estimators.counting alignments.homologs.counting
estimators.derivations trees.derivations
estimators.hmm tags.hmm
estimators.homolog alignments.homologs.estimator
estimators.homolog_input alignments.homologs.input
estimators.log_odds alignments.homologs.log_odds
estimators.match_input matchings.input
estimators.multiclass classes.multiclass
estimators.objectives tags.objectives
estimators.parse_input trees.input
estimators.parse_model trees.model
estimators.parser trees.parser
estimators.partial tags.partial
estimators.pcfg trees.pcfg
estimators.structural core.structural
estimators.tag_input tags.input
estimators.tagger tags.tagger
estimators.taxonomy classes.taxonomy.estimator
estimators.taxonomy_encode classes.taxonomy.encode
estimators.taxonomy_labels classes.taxonomy.labels
estimators.word_aligner matchings.word_aligner
features tags.features
features.alignment_arrays alignments.features.arrays
features.alignment_encoder alignments.features.encoder
features.alignment_models alignments.features.models
features.alignment_settings alignments.features.settings
features.bag_of_words classes.bag_of_words
features.bitext_kernels matchings.bitext_kernels
features.bitext_statistics matchings.bitext_statistics
features.bitext_training matchings.bitext_training
features.column_encoder tags.features.encoder
features.column_input tags.features.input
features.column_kernels tags.features.kernels
features.column_plan tags.features.plan
features.column_state tags.features.state
features.ready tags.features.ready
features.spans trees.span_features
features.templates tags.features.templates
features.tokens tags.features.tokens
features.views tags.features.views
features.word_pairs matchings.word_pairs
formulation core.formulation
grammar trees.grammar
grammar.chains trees.grammar.chains
grammar.counts trees.grammar.counts
grammar.grammar trees.grammar.grammar
grammar.state trees.grammar.state
grammar.words trees.grammar.words
hypergraph hypergraphs
hypergraph.builder hypergraphs.builder
hypergraph.graph hypergraphs.graph
hypergraph.program hypergraphs.program
inspect plots
inspect.alignment_export alignments.export
inspect.alignment_plots alignments.plots
inspect.matching_plots matchings.plots
inspect.page tags.page
inspect.plots plots.training
inspect.sequence_plots tags.plots
inspect.taxonomy_plots classes.taxonomy.plots
inspect.tree_plots trees.plots
kernel core.kernel
losses core.label_costs
metrics.alignments alignments.metrics
metrics.bracket_report trees.report
metrics.brackets trees.metrics
metrics.links matchings.metrics
metrics.tags tags.metrics
metrics.taxonomy classes.taxonomy.metrics
model_file files.model_file
problem core.problem
schemes tags.schemes
solvers.boosting tags.boosting
solvers.log_task solvers.log_objective
solvers.per_output tags.per_output
solvers.search core.oracle
solvers.task core.objective
structures core
structures.alignment alignments.structure
structures.alignment_counts alignments.counts
structures.alignment_dp alignments.dp
structures.alignment_features alignments.scores
structures.alignment_kbest alignments.k_best
structures.alignment_sums alignments.sums
structures.assignment matchings.assignment
structures.base core.structure
structures.chain tags.chain
structures.chain2 tags.second_order
structures.chain_gradients tags.chain_gradients
structures.chain_inference tags.chain_inference
structures.chain_spans tags.chain_spans
structures.chain_sums tags.chain_sums
structures.cky trees.cky.structure
structures.cky_batch trees.cky.batch
structures.cky_chart trees.cky.chart
structures.cky_counts trees.cky.counts
structures.cky_entries trees.cky.entries
structures.cky_goal trees.cky.goal
structures.cky_k_best trees.cky.k_best
structures.cky_other trees.cky.other
structures.cky_outside trees.cky.outside
structures.cky_sums trees.cky.sums
structures.cky_tables trees.cky.tables
structures.cky_trees trees.cky.trees
structures.closure classes.taxonomy.closure
structures.closure_by_loss classes.taxonomy.closure_by_loss
structures.contract core.contract
structures.decode core.decode
structures.functions core.functions
structures.homolog alignments.homologs.structure
structures.hypergraph hypergraphs.structure
structures.hypergraph_batch hypergraphs.batch
structures.hypergraph_counts hypergraphs.counts
structures.hypergraph_inference hypergraphs.inference
structures.layout core.rows
structures.matching matchings.structure
structures.matching_k_best matchings.k_best
structures.multiclass classes.structure
structures.rescale core.rescale
structures.taxonomy classes.taxonomy.structure
structures.taxonomy_multilabel classes.taxonomy.node_sets
taxonomy classes.taxonomy
taxonomy.checks classes.taxonomy.checks
taxonomy.losses classes.taxonomy.losses
taxonomy.taxonomy classes.taxonomy.taxonomy
""".strip().splitlines()
)


class _Moved:
    """Finder and loader of old names."""

    def find_spec(self, name, path=None, target=None):
        package, _, module = name.partition(".")
        if package != "maxmargin" or module not in MOVED:
            return None
        return ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        new = MOVED[spec.name.partition(".")[2]]
        module = importlib.import_module(f"maxmargin.{new}")
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        # the import system has just written the old name over it
        module.__spec__ = module.__spec__.loader_state


def install() -> None:
    """Let old names be imported."""
    if not any(isinstance(finder, _Moved) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Moved())
