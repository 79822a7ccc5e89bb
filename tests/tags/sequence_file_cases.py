"""Texts and tables for readers of features."""

import pytest
from hypothesis import strategies as st

from maxmargin.files import (
    RawText,
    data_file,
)


def raw(text):
    return RawText(text.encode(), "some.dat")


def real(name):
    try:
        return data_file(name)
    except FileNotFoundError as error:
        pytest.skip(str(error))


nonzero = st.floats(allow_nan=False, allow_infinity=False).filter(bool)
