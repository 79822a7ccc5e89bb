"""--cluster and --workers, and what is said of impossible ones."""

import json
import signal
from argparse import Namespace

import pytest

pytest.importorskip("distributed")
from maxmargin.cli import cluster
from maxmargin.cli.main import main
from maxmargin.engine import engines
from maxmargin.engine.lost import EngineLost

# distributed warns of much that is its own business
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def texts(tmp_path):
    path = tmp_path / "train.txt"
    rows = [f"{kind}\tword{i % 7} about {kind}" for i in range(40) for kind in "ab"]
    path.write_text("\n".join(rows) + "\n")
    return path


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    return code, capsys.readouterr()


@pytest.mark.slow
def test_workers_train_and_predict(texts, tmp_path, capsys):
    command = "train", "classify", texts, "-o", tmp_path / "w", "--json"
    code, said = run(capsys, *command, "--workers", 2, "--tol", 0.01)
    assert code == 0, said.err
    found = json.loads(said.out)["certificate"]
    assert 0 <= found["primal"] - found["dual"] <= 0.011 * found["primal"]
    code, said = run(capsys, "predict", tmp_path / "w", texts, "--workers", 1)
    assert code == 0, said.err
    assert [line[0] for line in said.out.splitlines()] == ["a", "b"] * 40


def test_workers_leave_ctrl_c_to_the_command(monkeypatch):
    """A terminal sends it to them, too; they would die, and say so at length."""
    with cluster.cluster(Namespace(workers=1)) as client:
        (found,) = client.run(signal.getsignal, signal.SIGINT).values()
        close = client.close

        def interrupted(*arguments):
            monkeypatch.undo()
            signal.raise_signal(signal.SIGINT)  # it waits: the model is written
            close(*arguments)

        monkeypatch.setattr(client, "close", interrupted)
    assert found == signal.SIG_IGN
    assert client.status == "closed"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--workers", 0], "--workers 0 is not possible: one is the least."),
        (["--workers", 10**6], "--workers 1000000 is not possible: each is a process"),
        (["--workers", 1, "--cluster", "a:1"], "choose --cluster or --workers"),
        (["--engine", "threads"], "is no more: threads train together without it"),
        (["--engine", "dask"], "works on a Dask cluster: name its scheduler"),
        (["--engine", "steam"], "--engine steam is not possible"),
        (["--cluster", "127.0.0.1:9"], "No Dask scheduler answers at 127.0.0.1:9"),
        (["--cluster", "::nonsense::"], "No Dask scheduler answers at ::nonsense::"),
    ],
)
def test_bad_options_are_sentences(
    options, sentence, texts, tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(cluster, "CONNECT", 1)
    model = tmp_path / "m"
    code, said = run(capsys, "train", "classify", texts, "-o", model, *options)
    assert code == 2
    assert sentence in said.err
    assert said.err.count("\n") == 1
    assert not model.exists()


def test_without_dask_it_is_said_what_to_install(texts, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(cluster, "find_spec", lambda name: None)
    options = "-o", tmp_path / "m", "--workers", 2
    code, said = run(capsys, "train", "classify", texts, *options)
    assert code == 2
    assert "--workers needs Dask: install it with pip install" in said.err


def test_a_lost_cluster_is_a_sentence(texts, tmp_path, capsys, monkeypatch):
    def lost(*_):
        raise EngineLost("The Dask cluster has gone away: start another.")

    monkeypatch.setattr(engines, "make_executor", lost)
    options = "-o", tmp_path / "m", "--workers", 1
    code, said = run(capsys, "train", "classify", texts, *options)
    assert code == 2
    assert said.err == (
        "maxmargin: error: The Dask cluster has gone away: start another.\n"
    )
    assert not (tmp_path / "m").exists()
