"""Small real and random problems that many tests share."""

import os
import re
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from browser_cases import browser  # noqa: F401  # a fixture
from cluster_cases import client, cluster, home, outside  # noqa: F401  # fixtures
from hypothesis import settings
from page_cases import page_of  # noqa: F401  # a fixture

from maxmargin.tags.features import TokenMatrix

# Kernels compile inside the first example of a test: no deadlines.
settings.register_profile("maxmargin", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("maxmargin")

# A shell that runs the tests in the background has Ctrl-C ignored: tests that press it
# need it back.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
if "MAXMARGIN_DATA" not in os.environ and _BESIDE.is_dir():
    os.environ["MAXMARGIN_DATA"] = str(_BESIDE)


# With MAXMARGIN_COMPLETE=1, as .ci/run has it, a test that is skipped because something
# is not installed fails instead.
COMPLETE = os.environ.get("MAXMARGIN_COMPLETE") == "1"
NOT_INSTALLED = re.compile(r"Skipped: (?:needs |could not import '(?!torch))")


def _unless_incomplete(report):
    if COMPLETE and report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[-1]
        if NOT_INSTALLED.match(reason):
            report.outcome = "failed"
            report.longrepr = f"MAXMARGIN_COMPLETE=1 is set. {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    return _unless_incomplete((yield))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport():
    return _unless_incomplete((yield))


@pytest.fixture(autouse=True)
def _figures_are_closed():
    """Whatever a test draws: matplotlib warns of more than twenty."""
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")


@pytest.fixture(autouse=True, scope="module")
def _no_worker_of_joblib_is_left():
    """Those that are idle or have grown end themselves: joblib once waited for ever."""
    yield
    loky = sys.modules.get("joblib.externals.loky.reusable_executor")
    if getattr(loky, "_executor", None) is not None:
        loky._executor.shutdown(wait=True, kill_workers=True)


@pytest.fixture
def always_threads(monkeypatch):
    """However little there is to do, all threads take part in it."""
    monkeypatch.setattr("maxmargin.engine.threads.WORTH", 1e-9)
    monkeypatch.setattr("maxmargin.engine.threads.PAYS", np.inf)
    monkeypatch.setattr("maxmargin.engine.threads.IN_FLIGHT", 1)


@pytest.fixture(scope="session")
def data_home():
    """Folder of the public data sets; tests that need it are skipped without it."""
    folder = os.environ.get("MAXMARGIN_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("set MAXMARGIN_DATA to the folder of the public data sets")
    return Path(folder)


def random_chain(
    seed,
    lengths=(3, 1, 4),
    n_labels=3,
    n_features=4,
    cost=None,
    zero_one=False,
    barrier=None,
):
    """A small random chain batch and its number of weights."""
    from maxmargin.tags.chain import make_batch

    rng = np.random.default_rng(seed)
    n = int(sum(lengths))
    counts = rng.integers(0, n_features + 1, size=n)
    indices = [np.sort(rng.choice(n_features, c, replace=False)) for c in counts]
    tokens = TokenMatrix(
        indptr=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        indices=np.concatenate([*indices, np.zeros(0)]).astype(np.int32),
        values=rng.normal(size=int(counts.sum())),
        start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        n_features=n_features,
    )
    if cost is None:
        cost = 1.0 - np.eye(n_labels)
    y = rng.integers(n_labels, size=n).astype(np.int32)
    if barrier is not None:
        y = allowed_labels(rng, barrier, lengths)
    batch = make_batch(tokens, n_features, y, cost, barrier, zero_one, np.float64)
    return batch, (n_features + n_labels + 2) * batch.width


def allowed_labels(rng, barrier, lengths):
    """Random labels that break no barrier (which must leave a way from every label)."""
    k = barrier.shape[1]
    out = []
    for length in lengths:
        row = barrier[k]
        for _ in range(length):
            label = rng.choice(np.flatnonzero(np.isfinite(row)))
            out.append(label)
            row = barrier[label]
    return np.array(out, np.int32)


def random_multiclass(seed, n=12, n_labels=3, n_features=4, cost=None):
    """A small random multiclass batch and its number of weights."""
    from maxmargin.classes.sparse import make_batch
    from maxmargin.core.tables.arrays import csr_arrays

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) * (rng.random((n, n_features)) < 0.7)
    y = rng.integers(n_labels, size=n)
    if cost is None:
        cost = 1.0 - np.eye(n_labels)
    batch = make_batch(*csr_arrays(X, np.float64), n_features, y, cost, np.float64)
    return batch, n_features * batch.width
