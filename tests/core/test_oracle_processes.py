"""A problem in Python with n_jobs=2: its search runs in other processes, if that pays."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import wait

import numpy as np
import psutil
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import LatentProblem, LatentStructuralSVM, Problem, StructuralSVM
from maxmargin.core.problems import oracle_processes

pytestmark = pytest.mark.slow


class Slow(Problem):
    """Three classes of a vector; a search that takes its time."""

    def __init__(self, seconds=1e-3):
        self.seconds = seconds

    def joint_feature(self, x, y):
        out = np.zeros(12)
        out[4 * y : 4 * y + 4] = x
        return out

    def loss(self, y, other):
        return float(y != other)

    def argmax(self, x, w):
        return int((w.reshape(3, 4) @ x).argmax())

    def loss_augmented_argmax(self, x, y, w):
        if self.seconds:  # even no time at all would let other programs run first
            time.sleep(self.seconds)
        return self._best(x, y, w)

    def _best(self, x, y, w):
        scores = w.reshape(3, 4) @ x + 1.0
        scores[y] -= 1.0
        return int(scores.argmax())


class Any(Slow):
    """With a search for every formulation."""

    def most_violated(self, x, y, w, rescaling, penalty):
        return self.loss_augmented_argmax(x, y, w)  # losses are 0 and 1


def data(n=60):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, 4)) + np.eye(3, 4)[y]
    return list(X), y.tolist()


ENOUGH = oracle_processes.ENOUGH
BEFORE: set[int] = set()  # processes that other tests have left, such as joblib's


def helpers() -> set[int]:
    """Other processes that search for this one."""
    found = psutil.Process().children(recursive=True)
    return {p.pid for p in found if "LokyProcess" in " ".join(p.cmdline())} - BEFORE


@pytest.fixture(autouse=True)
def used(monkeypatch):
    """Processes are there at once; numbers of examples asked for in each group."""
    BEFORE.update(helpers())
    team, groups = oracle_processes.SearchTeam, []
    start, search = team._start, team._search_group

    def started(self):
        start(self)
        wait(self._asked)

    def watched(self, *arguments):
        search(self, *arguments)
        groups.append(len(self._found))

    monkeypatch.setattr(team, "_start", started)
    monkeypatch.setattr(team, "_search_group", watched)
    monkeypatch.setattr(oracle_processes, "ENOUGH", 0.0)
    return groups


def fitted(problem=None, **more):
    model = StructuralSVM(problem or Slow(), C=0.1, n_jobs=2, max_iter=300, **more)
    return model.fit(*data())


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"solver": "one-slack"},
        {"solver": "n-slack"},
        {"rescaling": "slack", "problem": Any()},
        {"penalty": "quadratic", "problem": Any()},
    ],
    ids=["auto", "one-slack", "n-slack", "slack", "quadratic"],
)
def test_the_same_certificate(settings, used):
    more = dict(settings)
    more.setdefault("problem", Slow())
    model = fitted(tol=1e-4, **more)
    plain = StructuralSVM(C=0.1, tol=1e-4, max_iter=300, **more).fit(*data())
    assert sum(used) > 0
    assert model.converged_
    assert model.certificate_.relative_gap <= 1e-4
    for one, other in ((model, plain), (plain, model)):
        assert one.certificate_.dual <= other.certificate_.primal * (1 + 1e-12)
    assert not helpers()


def test_hidden_parts_too(used):
    class Bump(LatentProblem):
        n_features = 4

        def joint_feature(self, x, y, h):
            out = np.zeros(4)
            out[2 * y : 2 * y + 2] = x[h], 1.0
            return out

        def loss(self, y, other):
            return float(y != other)

        def complete(self, x, y, w):
            return int((w[2 * y] * x).argmax())

        def argmax(self, x, w):
            return max(
                ((y, self.complete(x, y, w)) for y in (0, 1)),
                key=lambda o: w @ self.joint_feature(x, *o),
            )

        def loss_augmented_argmax(self, x, y, w):
            time.sleep(1e-3)
            pairs = [(z, self.complete(x, z, w)) for z in (0, 1)]
            return max(pairs, key=lambda o: w @ self.joint_feature(x, *o) + (o[0] != y))

    rng = np.random.default_rng(0)
    X, y = list(rng.normal(size=(40, 5))), [k % 2 for k in range(40)]
    for k in range(0, 40, 2):
        X[k][k % 5] += 3
    model = LatentStructuralSVM(Bump(), n_jobs=2, tol=1e-3).fit(X, y)
    assert sum(used) > 0
    assert np.isfinite(model.certificate_.objective)
    assert not helpers()


def test_processes_end_with_the_fit(used):
    during = []
    model = fitted(tol=1e-5, callbacks=[lambda row: during.append(len(helpers()))])
    assert max(during) == 2
    assert model.converged_
    assert not helpers()


class Fails(Slow):
    """Raises for one sample, once weights are not zero, wherever it is asked."""

    def loss_augmented_argmax(self, x, y, w):
        if x[0] == data()[0][17][0] and w.any():
            raise KeyError("no such word")
        return super().loss_augmented_argmax(x, y, w)


def test_errors_are_those_of_the_method():
    with pytest.raises(
        ValueError, match=r"for sample 17 raised KeyError.*no such word"
    ) as said:
        fitted(Fails())
    assert isinstance(said.value.__cause__, KeyError)
    assert not helpers()


class Wrong(Slow):
    """Returns what is not the maximum, in processes as well as here."""

    def loss_augmented_argmax(self, x, y, w):
        time.sleep(self.seconds)
        scores = w.reshape(3, 4) @ x
        return int(scores.argmin()) if scores.any() else (y + 1) % 3


def test_wrong_searches_are_seen(used):
    with pytest.raises(ValueError, match=r"is not the\s+maximum"):
        fitted(Wrong())


class Locked(Slow):
    """Cannot be sent to another process; can be copied."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def __deepcopy__(self, memo):
        return Locked()


def test_what_cannot_be_sent_stays_here(used):
    with pytest.warns(RuntimeWarning, match=r"n_jobs=2 is of no use here: .* Locked"):
        model = fitted(Locked(), tol=1e-3)
    assert not used
    assert model.converged_
    assert not helpers()


class Dies(Slow):
    """Kills the process that searches, if it is not the first one."""

    def __init__(self):
        super().__init__()
        self.home = os.getpid()

    def loss_augmented_argmax(self, x, y, w):
        if os.getpid() != self.home:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().loss_augmented_argmax(x, y, w)


@pytest.mark.filterwarnings("ignore:.*resource_tracker")
def test_processes_that_die_are_done_without(used):
    with pytest.warns(RuntimeWarning, match=r"n_jobs=2 is of no use here: .* Dies"):
        model = fitted(Dies(), tol=1e-3)
    assert model.converged_
    assert not helpers()


def test_short_searches_stay_here(monkeypatch):
    monkeypatch.setattr(oracle_processes, "ENOUGH", 1e-3)
    monkeypatch.setattr(
        oracle_processes, "EXPENSIVE", 0.1
    )  # other programs may run between
    with pytest.warns(
        RuntimeWarning, match=r"n_jobs=2 is of no use here: .* too short"
    ):
        model = fitted(Slow(0.0), tol=1e-6)
    assert model.converged_


def test_short_fits_say_nothing(monkeypatch):
    monkeypatch.setattr(oracle_processes, "ENOUGH", ENOUGH)
    assert fitted(Slow(0.0)).converged_  # warnings are errors


def test_the_clock_is_heard(used):
    with pytest.warns(ConvergenceWarning, match=r"max_time=0\.2 seconds"):
        model = fitted(tol=1e-15, max_time=0.2)
    assert np.isfinite(model.certificate_.primal)
    assert not helpers()


PROGRAM = """
    import sys, warnings
    import numpy as np
    from maxmargin import Problem, StructuralSVM
    from maxmargin.core.problems import oracle_processes
    oracle_processes.ENOUGH = 0.0
    groups = []
    real = oracle_processes.SearchTeam._search_group
    def watched(self, *arguments):
        groups.append(1)
        real(self, *arguments)
    oracle_processes.SearchTeam._search_group = watched

    class Here(Problem):  # of this program: it cannot be imported elsewhere
        def joint_feature(self, x, y):
            return y * x
        def loss(self, y, other):
            return float(y != other)
        def argmax(self, x, w):
            return 1 if w @ x >= 0 else -1
        def loss_augmented_argmax(self, x, y, w):
            import time
            time.sleep(2e-3)
            return max((1, -1), key=lambda z: z * (w @ x) + (z != y))

    rng = np.random.default_rng(0)
    X = list(rng.normal(size=(100, 5)))
    y = [1 if x[0] + rng.normal() > 0 else -1 for x in X]
    def tell(row):
        print(len(groups), flush=True)
    warnings.simplefilter("ignore")
    model = StructuralSVM(
        Here(), n_jobs=2, tol=1e-15, max_iter=10**6, callbacks=[tell]
    ).fit(X, y)
    print("kept", model.converged_, model.certificate_.primal)
"""


def test_ctrl_c_of_a_script(tmp_path):
    """A terminal sends it to all processes; classes of scripts are sent, too."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(PROGRAM))
    program = subprocess.Popen(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        while int(program.stdout.readline()) < 20:
            pass
        os.killpg(program.pid, signal.SIGINT)
        said, wrong = program.communicate(timeout=120)
    finally:
        program.kill()
    assert program.returncode == 0, wrong
    assert wrong == ""
    assert said.splitlines()[-1].startswith("kept False ")
    deadline = time.monotonic() + 20
    while alive(program.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not alive(program.pid)


def alive(group) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
