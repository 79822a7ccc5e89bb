"""Alignments of two sequences, and finding a sequence's relatives by them."""

from maxmargin.families import Family, lazily

FAMILY = Family(
    __name__,
    public={"HomologFinder": "homologs.estimator", "SequenceAligner": "aligner"},
    models=("HomologFinder.v1", "SequenceAligner.v1"),
    commands={"align": "command"},
    warmups={"align": "warmup", "homologs": "warmup"},
    files={
        "MultipleAlignment": "files.pairs",
        "PairAlignment": "files.pairs",
        "biopython_aligner": "export",
        "biopython_alignments": "biopython",
        "biopython_matrix": "export",
        "gapped": "files.pairs",
        "pairs_of": "files.pairs",
        "read_fasta": "files.fasta",
        "read_fasta_alignment": "files.fasta",
        "read_fasta_pairs": "files.fasta",
        "read_pair_table": "files.pair_table",
        "read_stockholm": "files.stockholm",
        "read_stockholm_pairs": "files.stockholm",
        "ungapped": "files.pairs",
        "write_fasta": "files.fasta",
        "write_pair_table": "files.pair_table",
        "write_stockholm": "files.stockholm",
    },
    metrics={
        "AlignmentReport": "metrics",
        "HomologReport": "homologs.metrics",
        "alignment_report": "metrics",
    },
    plots={
        "biopython_aligner": "export",
        "biopython_matrix": "export",
        "parasail_matrix": "export",
        "plot_alignment": "plots",
        "plot_alignment_path": "plots",
        "plot_substitutions": "plots",
        "read_matrix": "export",
        "write_matrix": "export",
    },
    scorers={
        "alignment_precision": "scorers",
        "alignment_q": "scorers",
        "alignment_q4": "scorers",
        "homolog_rank": "scorers",
        "homologs_found": "scorers",
    },
    views={"alignment": "view", "homologs": "homologs.view"},
    explains={"SequenceAligner": "explaining"},
    reports={"HomologFinder": "homologs.findings", "SequenceAligner": "findings"},
)
__getattr__, __dir__ = lazily(__name__, FAMILY.places("public"))
