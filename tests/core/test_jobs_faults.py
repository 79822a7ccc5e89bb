"""Fits with several threads: callbacks that raise, Ctrl-C, the clock, searches around."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import warnings

import joblib
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from maxmargin import GrammarParser, MulticlassSVM, SequenceTagger
from maxmargin.engine import threads
from maxmargin.trees import Tree


@pytest.fixture(autouse=True)
def all_threads(monkeypatch):
    """However little there is to do, all threads are woken."""
    monkeypatch.setattr(threads, "WORTH", 1e-12)


def words(n=80, seed=0):
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        kinds = rng.integers(3, size=rng.integers(2, 7))
        X.append([{f"w{k}": 1.0, f"v{rng.integers(9)}": 1.0} for k in kinds])
        y.append(["abc"[k] if rng.random() < 0.8 else "a" for k in kinds])
    return X, y


def vectors(n=300):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    return rng.normal(size=(n, 4)) + np.eye(3, 4)[y], y


CASES = {
    "tags": (lambda **kw: SequenceTagger(C=1.0, n_jobs=2, **kw), words),
    "log": (lambda **kw: SequenceTagger(C=1.0, objective="log", n_jobs=2, **kw), words),
    "classes": (lambda **kw: MulticlassSVM(C=1.0, n_jobs=2, **kw), vectors),
}


@pytest.fixture(params=CASES)
def case(request):
    make, data = CASES[request.param]
    return make, data()


def ours():
    """Threads of teams."""
    return [t for t in threading.enumerate() if t.name.startswith("maxmargin")]


def test_a_callback_that_raises_is_left_out(case):
    make, data = case
    seen = []

    def broken(row):
        seen.append(row["iteration"])
        if len(seen) == 2:
            raise ZeroDivisionError("no more")

    with pytest.warns(RuntimeWarning, match="no more"):
        model = make(tol=1e-4, callbacks=[broken]).fit(*data)
    assert seen == [1, 2]
    assert model.converged_
    assert model.n_iter_ > 2
    assert not ours()


def test_ctrl_c_in_a_callback_keeps_the_best_weights(case):
    make, data = case

    def impatient(row):
        if row["iteration"] == 2:
            raise KeyboardInterrupt

    model = make(tol=1e-9, callbacks=[impatient])
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model.fit(*data)
    assert model.n_iter_ == 2
    assert np.isfinite(model.certificate_.primal)
    assert len(model.predict(data[0])) == len(data[0])
    assert not ours()


@pytest.mark.parametrize("name", CASES)
def test_the_clock_is_heard(name):
    make, data = CASES[name]
    data = data(5000)
    with pytest.warns(ConvergenceWarning, match=r"max_time=0\.1 seconds"):
        model = make(tol=1e-12, max_iter=10**8, max_time=0.1).fit(*data)
    assert 0.1 <= model.history_[-1]["seconds"] < 10
    assert np.isfinite(model.certificate_.primal)
    assert not ours()


PROGRAM = """
    import sys, warnings
    sys.path[:0] = {path!r}
    import test_jobs_faults as cases
    from maxmargin.engine import threads
    threads.WORTH = 1e-12
    make, data = cases.CASES[{case!r}]
    X, y = data()
    def tell(row):
        print(row["iteration"], flush=True)
    warnings.simplefilter("ignore")
    model = make(tol=1e-14, max_iter=10**8, callbacks=[tell]).fit(X, y)
    print("kept", model.converged_, model.certificate_.primal, len(model.predict(X)))
    print("left", len(cases.ours()))
"""


@pytest.mark.parametrize("name", CASES)
def test_ctrl_c_of_a_real_process(name):
    """The signal comes from outside, in the middle of a pass of two threads."""
    here = os.path.dirname(__file__)
    text = textwrap.dedent(PROGRAM.format(path=[here, *sys.path], case=name))
    program = subprocess.Popen(
        [sys.executable, "-c", text], stdout=subprocess.PIPE, text=True
    )
    try:
        while int(program.stdout.readline()) < 30:
            pass
        program.send_signal(signal.SIGINT)
        said = program.communicate(timeout=120)[0].splitlines()
    finally:
        program.kill()
    assert program.returncode == 0
    kept = said[-2].split()
    assert kept[:2] == ["kept", "False"]
    assert np.isfinite(float(kept[2]))
    assert said[-1] == "left 0"


# a search around --------------------------------------------------------------------------


def trees():
    texts = [
        "(S (NP (DT the) (NN cat)) (VP (VBD sat)))",
        "(S (NP (NNS dogs)) (VP (VBD saw) (NP (DT a) (NN cat))))",
        "(S (NP (NP (DT a) (NN dog)) (PP (IN with) (NP (NNS cats)))) (VP (VBD sat)))",
        "(S (NP (DT the) (NN dog)) (VP (VBD saw) (NP (DT a) (NN cat)) (PP (IN with) "
        "(NP (NNS dogs)))))",
    ]
    found = [Tree.parse(text) for text in texts] * 4
    return [tree.tags() for tree in found], found


@pytest.mark.parametrize("backend", ["loky", "threading"])
@pytest.mark.parametrize("kind", ["tags", "trees"])
def test_a_search_around_threads(kind, backend):
    """It ends, chooses the same, and has no more threads than there are cores."""
    if kind == "tags":
        inner, (X, y) = SequenceTagger(tol=0.01, n_jobs=2), words(40)
        grid = {"C": [1e-5, 0.1]}
    else:
        inner, (X, y) = GrammarParser(tol=0.1, n_jobs=2), trees()
        grid = {"C": [1e-6, 1.0]}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Training ended with weights that are")
        alone = GridSearchCV(inner, grid, cv=2, refit=False).fit(X, y)
        with joblib.parallel_config(backend):
            search = GridSearchCV(inner, grid, cv=2, n_jobs=2, refit=False)
            nested = search.fit(X, y)
    assert nested.best_params_ == alone.best_params_
    scores = (s.cv_results_["mean_test_score"] for s in (alone, nested))
    np.testing.assert_allclose(*scores, atol=0.05)


def threads_used(X, y):
    """In a worker of joblib: how many threads a fit with two jobs starts."""
    threads.WORTH = 1e-12
    most = []
    model = SequenceTagger(n_jobs=2, callbacks=[lambda row: most.append(len(ours()))])
    model.fit(X, y)
    return max(most), model._threads()


def test_workers_of_a_search_take_their_share(monkeypatch):
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([os.path.dirname(__file__), *sys.path])
    )
    X, y = words(40)
    found = joblib.Parallel(n_jobs=2)(
        joblib.delayed(threads_used)(X, y) for _ in range(4)
    )
    share = max(joblib.cpu_count() // 2, 1)
    assert all(more + 1 <= used <= share for more, used in found)
