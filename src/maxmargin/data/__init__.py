"""Data sets: where files are looked for, and one set that needs no file."""

from maxmargin.data.digits import DigitStrings, digit_strings
from maxmargin.data.paths import data_file, data_home

__all__ = ["DigitStrings", "data_file", "data_home", "digit_strings"]
