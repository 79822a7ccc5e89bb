"""Data: files of label sequences and of alignments, where data sets are, digits."""

from maxmargin.data.alignments import (
    MultipleAlignment,
    PairAlignment,
    gapped,
    pairs_of,
    ungapped,
)
from maxmargin.data.bitext import (
    read_aligned,
    read_bitext,
    read_naacl,
    read_pharaoh,
    write_aligned,
    write_pharaoh,
)
from maxmargin.data.column_reader import read_columns
from maxmargin.data.column_writers import tag_file, write_columns
from maxmargin.data.columns import Column, Columns, columns_from
from maxmargin.data.crfsuite import read_crfsuite, write_crfsuite
from maxmargin.data.digits import DigitStrings, digit_strings
from maxmargin.data.fasta import (
    read_fasta,
    read_fasta_alignment,
    read_fasta_pairs,
    write_fasta,
)
from maxmargin.data.pair_table import read_pair_table, write_pair_table
from maxmargin.data.paths import data_file, data_home
from maxmargin.data.stockholm import (
    read_stockholm,
    read_stockholm_pairs,
    write_stockholm,
)
from maxmargin.data.svmhmm import read_svmhmm, write_svmhmm
from maxmargin.data.svmlight import read_svmlight
from maxmargin.data.taxonomies import read_taxonomy
from maxmargin.data.text_files import RawText, read_raw
from maxmargin.data.texts import read_texts
from maxmargin.data.treebank import iter_trees, read_trees, write_trees

__all__ = [
    "Column",
    "Columns",
    "DigitStrings",
    "MultipleAlignment",
    "PairAlignment",
    "RawText",
    "columns_from",
    "data_file",
    "data_home",
    "digit_strings",
    "gapped",
    "iter_trees",
    "pairs_of",
    "read_aligned",
    "read_bitext",
    "read_columns",
    "read_crfsuite",
    "read_fasta",
    "read_fasta_alignment",
    "read_fasta_pairs",
    "read_naacl",
    "read_pair_table",
    "read_pharaoh",
    "read_raw",
    "read_stockholm",
    "read_stockholm_pairs",
    "read_svmhmm",
    "read_svmlight",
    "read_taxonomy",
    "read_texts",
    "read_trees",
    "tag_file",
    "ungapped",
    "write_aligned",
    "write_columns",
    "write_crfsuite",
    "write_fasta",
    "write_pair_table",
    "write_pharaoh",
    "write_stockholm",
    "write_svmhmm",
    "write_trees",
]
