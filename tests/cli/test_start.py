"""Ctrl-C at any time, also among imports: one line, and the exit code of shells."""

import signal
import subprocess
import sys

import pytest

LINE = b"maxmargin: interrupted; nothing was written.\n"
# presses Ctrl-C when a module is about to be imported
CODE = """
import signal, sys
module, how, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = "maxmargin"
class Press:
    def find_spec(self, name, *_):
        if name == module:
            signal.raise_signal(signal.SIGINT)
signal.signal(signal.SIGINT, getattr(signal, how))
sys.meta_path.insert(0, Press())
from maxmargin.start import main
sys.exit(main())
"""


def run(module, *arguments, how="default_int_handler"):
    words = [sys.executable, "-c", CODE, module, how, *arguments]
    return subprocess.run(words, capture_output=True, check=False)


@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("maxmargin.families", ["--help"]),
        ("maxmargin.cli.main", ["--help"]),
        ("maxmargin.cli.common", ["--version"]),
        ("maxmargin.tags.command", ["train", "tag", "x", "-o", "m"]),
        ("numpy", ["train", "tag", "t.txt", "--features", "words", "-o", "m"]),
        (
            "maxmargin.tags.tagger",
            ["train", "tag", "t.txt", "--features", "pos", "-o", "m"],
        ),
    ],
)
def test_ctrl_c_among_imports(module, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.txt").write_text("a X\nb Y\n\n")
    done = run(module, *command)
    assert done.stderr == LINE
    assert (done.returncode, done.stdout) == (130, b"")
    assert not (tmp_path / "m").exists()


def test_the_command_handles_ctrl_c_itself():
    """Also if something else than `start.main` calls it as a program."""
    code = """
import signal, sys
sys.argv = ["maxmargin", "--version"]
import maxmargin
early = signal.getsignal(signal.SIGINT).__name__
from maxmargin.cli.main import main
try:
    main()
except SystemExit:
    print(early, signal.getsignal(signal.SIGINT).__name__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stdout.split()[-2:] == [b"_leave", b"default_int_handler"]


def test_what_is_ignored_stays_ignored():
    done = run("maxmargin.cli.main", "--version", how="SIG_IGN")
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_package_leaves_signals_alone():
    code = "import signal, maxmargin, maxmargin.cli.main; print(signal.getsignal(2))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert b"default_int_handler" in done.stdout


def test_module_and_program_answer():
    words = [sys.executable, "-m", "maxmargin", "--version"]
    done = subprocess.run(words, capture_output=True, check=True)
    assert done.stdout.startswith(b"maxmargin ")
    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN


def test_a_command_loads_what_it_uses(tmp_path):
    """scikit-learn imports more; it is there all the same once somebody asks for it."""
    (tmp_path / "t.txt").write_text("a X\nb Y\n\n")
    code = """
import sys
from maxmargin.cli.postponed import MODULES
from maxmargin.start import main
sys.argv[0] = "maxmargin"
code = main()
waiting = {type(sys.modules[m]).__name__ for m in MODULES if m in sys.modules}
loaded = "scipy.stats" in sys.modules
from scipy import special, stats
print(loaded, waiting, special.expit(0.0), stats.mode([1, 2, 2]).mode, file=sys.stderr)
sys.exit(code)
"""
    words = [sys.executable, "-c", code, "train", "tag", str(tmp_path / "t.txt")]
    words += ["--features", "words", "-o", str(tmp_path / "m"), "--quiet"]
    done = subprocess.run(words, capture_output=True, check=True, text=True)
    assert done.stderr == "True {'_LazyModule'} 0.5 2\n"
