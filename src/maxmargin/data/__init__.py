"""Data: label-sequence files, where data sets are looked for, one that needs no file."""

from maxmargin.data.column_reader import read_columns
from maxmargin.data.column_writers import tag_file, write_columns
from maxmargin.data.columns import Column, Columns, columns_from
from maxmargin.data.crfsuite import read_crfsuite, write_crfsuite
from maxmargin.data.digits import DigitStrings, digit_strings
from maxmargin.data.paths import data_file, data_home
from maxmargin.data.svmhmm import read_svmhmm, write_svmhmm
from maxmargin.data.text_files import RawText, read_raw
from maxmargin.data.treebank import iter_trees, read_trees, write_trees

__all__ = [
    "Column",
    "Columns",
    "DigitStrings",
    "RawText",
    "columns_from",
    "data_file",
    "data_home",
    "digit_strings",
    "iter_trees",
    "read_columns",
    "read_crfsuite",
    "read_raw",
    "read_svmhmm",
    "read_trees",
    "tag_file",
    "write_columns",
    "write_crfsuite",
    "write_svmhmm",
    "write_trees",
]
