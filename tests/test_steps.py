"""The way of a fit gets no longer: what is reached may only fall."""

from pathlib import Path

import pytest
from steps import FITS, fit_tags, microseconds_of_run, steps

# files that a warm fit of toy data enters, and pairs of functions in different files of
# which one calls the other, with room for a step or two; wanted are 24 and 75, 28 and
# 90, 30 and 110
MOST = {"tags": (35, 120), "graphs": (40, 136), "kernels": (48, 204)}


@pytest.mark.parametrize("name", MOST)
def test_fits_walk_no_further(name):
    files, pairs = steps(FITS[name])
    assert len(files) <= MOST[name][0]
    assert len(pairs) <= MOST[name][1]


def test_steps_are_counted():
    files, pairs = steps(fit_tags)
    assert {"tagger.py", "driver.py"} <= {Path(name).name for name in files}
    names = {(caller.co_name, called.co_name) for caller, called in pairs}
    assert ("fit", "train") not in names  # of one file
    assert all(a.co_filename != b.co_filename for a, b in pairs)


def test_a_kernel_is_called_quickly():
    assert min(microseconds_of_run() for _ in range(3)) <= 5.0
