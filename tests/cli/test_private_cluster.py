"""The processes of --workers: on this machine alone, and only for who has their key."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import warnings
from argparse import Namespace

import psutil
import pytest

from maxmargin.cli import cluster

distributed = pytest.importorskip("distributed")
pytest.importorskip("cryptography")

# distributed warns of much that is its own business
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module", autouse=True)
def busy():
    """The ports that Dask would take first are taken, here or by others."""
    with contextlib.ExitStack() as stack:
        for port in (8786, 8787):
            one = stack.enter_context(socket.socket())
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                one.bind(("127.0.0.1", port))
                one.listen()
        yield


@pytest.fixture(scope="module")
def client():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with cluster.cluster(Namespace(workers=2)) as client:
            assert not [str(one.message) for one in said if "ort" in str(one.message)]
            yield client


def listening() -> dict[int, str]:
    """{port: address} of this process and those that it started."""
    me = psutil.Process()
    return {
        found.laddr.port: found.laddr.ip
        for process in (me, *me.children(recursive=True))
        for found in process.net_connections("inet")
        if found.status == psutil.CONN_LISTEN and found.laddr.port not in (8786, 8787)
    }


def answered_in_plain(port) -> bytes:
    """What a port says to a plain request: nothing, if it wants a key."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as one:
        one.sendall(b"GET /info/main/workers.html HTTP/1.0\r\n\r\n")
        with contextlib.suppress(OSError):
            return one.recv(100)
    return b""


def test_nothing_is_open_to_others(client):
    ports = listening()
    assert len(ports) >= 3  # scheduler and workers
    assert set(ports.values()) == {"127.0.0.1"}
    assert not any(b"HTTP" in answered_in_plain(port) for port in ports)
    assert client.submit(sum, [1, 2]).result() == 3


def test_a_worker_that_is_replaced_is_as_closed(client):
    before = client.run(os.getpid)
    os.kill(min(before.values()), signal.SIGKILL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, ValueError):
            now = set(client.run(os.getpid).values())
            if len(now) == 2 and min(before.values()) not in now:
                break
        time.sleep(0.2)
    ports = listening()
    assert set(ports.values()) == {"127.0.0.1"}
    assert not any(b"HTTP" in answered_in_plain(port) for port in ports)


@pytest.mark.parametrize("who", ["scheduler", "worker"])
@pytest.mark.parametrize("key", ["none", "another", "plain"])
def test_strangers_get_no_connection(client, who, key):
    address = client.scheduler.address if who == "scheduler" else min(client.nthreads())
    if key == "plain":
        address = address.replace("tls://", "tcp://")
    security = distributed.Security.temporary() if key == "another" else None
    # on the loop there is: on a busy machine Dask gives up on a thread of its own
    settings = {"timeout": 2, "set_as_default": False, "loop": client.loop}
    with pytest.raises((OSError, TypeError, RuntimeError)):
        distributed.Client(address, security=security, **settings).submit(
            sum, [1, 2]
        ).result(2)
    assert client.submit(sum, [1, 2]).result() == 3


def test_a_command_says_nothing_of_ports(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("a\tone about a\nb\ttwo about b\n" * 20)
    command = "train", "classify", path, "-o", tmp_path / "m", "--workers", "2"
    done = subprocess.run(
        [sys.executable, "-m", "maxmargin", *map(str, command)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    # how far it is, also where that takes long, and nothing else
    known = ("pass ", "maxmargin: encoding", "maxmargin: compiling")
    strange = [s for s in done.stderr.splitlines() if not s.startswith(known)]
    assert strange == []


def test_without_keys_it_is_said_what_to_install(monkeypatch):
    real = cluster.find_spec
    monkeypatch.setattr(
        cluster,
        "find_spec",
        lambda name: None if name == "cryptography" else real(name),
    )
    with pytest.raises(ImportError, match=r"--workers needs .* cryptography: install"):
        cluster.check_cluster(Namespace(workers=2))
    cluster.check_cluster(Namespace(cluster="tcp://a:1"))  # its keys are its own
