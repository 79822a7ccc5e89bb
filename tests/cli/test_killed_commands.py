"""Commands that are killed with kill -9, and given again with --resume."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
from cli_cases import sentences, text_of

import maxmargin

pytestmark = pytest.mark.slow

KEPT = "fit.checkpoint"
TOL = 1e-3


@pytest.fixture(scope="module")
def text():
    rows = sentences(400)
    rng = np.random.default_rng(0)
    for sentence in rows:  # some labels are wrong: there is something to train
        k = rng.integers(len(sentence))
        sentence[k] = (*sentence[k][:2], rng.choice(["O", "B-PER", "B-LOC"]))
    return text_of(rows)


@pytest.fixture
def here(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.txt").write_text(text)
    return tmp_path


def command(model, *options):
    words = ["train", "tag", "train.txt", "--features", "ner", "--C", "0.1"]
    words += ["--tol", str(TOL), "-o", model, "--json", *options]
    return [sys.executable, "-m", "maxmargin", *words]


def environment():
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


def run(command):
    """The certificate of a command that ends."""
    done = subprocess.run(command, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["certificate"]


@pytest.fixture(scope="module")
def whole(text, tmp_path_factory):
    """The model of a command that was never killed, and its certificate."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "train.txt").write_text(text)
    words = command(str(folder / "model"), "--jobs", "1")
    words[words.index("train.txt")] = str(folder / "train.txt")
    return folder / "model", run(words)


def kill_after(writings, model, *options):
    """Kill a command once its checkpoint was written so many times more."""
    program = subprocess.Popen(
        command(model, *options),
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    before, seen, deadline = stamp(), 0, time.monotonic() + 120
    children = []
    while seen < writings and program.poll() is None and time.monotonic() < deadline:
        children = psutil.Process(program.pid).children(recursive=True) or children
        now = stamp()
        seen += now != before
        before = now
        time.sleep(0.001)
    killed = program.poll() is None
    program.send_signal(signal.SIGKILL)
    program.wait()
    return killed, children


def stamp():
    try:
        found = os.stat(os.path.join("kept", KEPT))
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino


CASES = {"one": ["--jobs", "1"], "two": ["--jobs", "2"], "workers": ["--workers", "2"]}


@pytest.mark.parametrize("case", CASES)
def test_commands_that_are_killed_go_on(case, here, whole):
    """Twice; the third one ends where one that was never killed does."""
    if case == "workers":
        pytest.importorskip("distributed")
        pytest.importorskip("cryptography")
    options = CASES[case]
    path, wanted = whole
    keep = [*options, "--checkpoint", "kept", "--checkpoint-every", "0s"]
    for again in ([], ["--resume"]):
        killed, children = kill_after(2, "model", *keep, *again)
        assert killed
        _, left = psutil.wait_procs(children, timeout=30)
        assert not left  # workers do not outlive the command
    assert not os.path.exists("model")
    found = run(command("model", *keep, "--resume"))
    assert found["relative_gap"] <= TOL
    assert found["dual"] <= wanted["primal"] * (1 + 1e-9)
    assert wanted["dual"] <= found["primal"] * (1 + 1e-9)
    if case == "one":
        assert found == wanted
        one, other = (maxmargin.load(name).coef_ for name in (path, "model"))
        np.testing.assert_array_equal(one, other)


def test_the_only_worker_is_killed(here):
    """Its process is started anew, and the training goes on."""
    pytest.importorskip("distributed")
    pytest.importorskip("cryptography")
    program = subprocess.Popen(
        command("model", "--workers", "1"),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = program.stderr.readline()
        assert line.startswith("pass ")
        for child in psutil.Process(program.pid).children(recursive=True):
            if "spawn_main" in " ".join(child.cmdline()):
                child.kill()
        said, _ = program.communicate(timeout=200)
    finally:
        program.kill()
    assert program.returncode == 0
    assert json.loads(said)["certificate"]["relative_gap"] <= TOL
