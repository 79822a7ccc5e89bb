"""--resources: what a command took."""

import re

import pytest
from cli_cases import here, train_command  # noqa: F401  (a fixture)

from maxmargin.cli import common
from maxmargin.cli.main import main

TOOK = r"maxmargin: ([\d.]+) s, ([\d.]+) s of CPU, ([\d,]+) MB of memory at most\."


def numbers(err):
    (found,) = re.findall(TOOK, err)
    return [float(text.replace(",", "")) for text in found]


def test_every_command_says_what_it_took(here, capsys):  # noqa: F811
    assert main([*train_command("train.txt", "m"), "--resources"]) == 0
    seconds, cpu, memory = numbers(capsys.readouterr().err)
    assert 0 < seconds < 600
    assert cpu > 0
    assert 20 < memory < 100_000
    for command in (
        ["predict", "m", "test.txt", "-o", "out.txt"],
        ["evaluate", "m", "test.txt"],
        ["inspect", "m"],
    ):
        assert main([*command, "--resources"]) == 0
        assert numbers(capsys.readouterr().err)


def test_also_after_an_error_and_never_unasked(here, capsys):  # noqa: F811
    assert main(["inspect", "nowhere", "--resources"]) == 2
    err = capsys.readouterr().err
    assert err.index("error:") < re.search(TOOK, err).start()
    assert main(["inspect", "nowhere"]) == 2
    assert "of CPU" not in capsys.readouterr().err


def test_where_the_system_does_not_tell_memory(monkeypatch):
    monkeypatch.setattr(common, "resource", None)
    assert re.fullmatch(r"1\.50 s, [\d.]+ s of CPU\.", common.took(1.5))


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_units_of_memory(platform, monkeypatch):
    """Kilobytes on Linux, bytes on a Mac."""

    class Used:
        ru_maxrss = 5e8 if platform == "darwin" else 5e8 / 1024

    class Resource:
        RUSAGE_SELF = 0

        def getrusage(self, who):
            return Used

    monkeypatch.setattr(common, "resource", Resource())
    monkeypatch.setattr(common.sys, "platform", platform)
    assert "500 MB" in common.took(1.0)
