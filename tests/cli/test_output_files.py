"""What commands write: never over what they read, and held while they work."""

import os
import subprocess
import sys

import pytest

from maxmargin.cli.main import main

TEXT = "eel\tlong wet\nowl\tfeather night\neel\twet river\nowl\tnight wood\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outputs")
    (folder / "train.txt").write_text(TEXT)
    assert train(folder, "m.model") == 0
    return folder


def train(folder, output, *more):
    source = str(folder / "train.txt")
    output = str(folder / output)
    return main(["train", "classify", source, "-o", output, "--quiet", *more])


def said(capsys):
    return capsys.readouterr().err


@pytest.mark.parametrize("read", ["m.model", "train.txt"])
def test_predict_does_not_overwrite_what_it_reads(folder, capsys, read):
    before = (folder / read).read_bytes()
    link = folder / "link"
    link.symlink_to(folder / read)
    model, source = str(folder / "m.model"), str(folder / "train.txt")
    for output in (str(folder / read), str(link)):
        assert main(["predict", model, source, "-o", output]) == 2
        assert "is read and would be overwritten" in said(capsys)
    link.unlink()
    assert (folder / read).read_bytes() == before


def test_train_does_not_overwrite_what_it_reads(folder, capsys):
    assert train(folder, "train.txt") == 2
    assert "is read and would be overwritten" in said(capsys)
    assert (folder / "train.txt").read_text() == TEXT


def test_outputs_are_different_files(folder, capsys):
    picture = str(folder / "x.png")
    assert train(folder, "x.png", "--plot", picture) == 2
    assert "x.png would be written twice" in said(capsys)
    assert train(folder, "y.model", "--log", str(folder / "y.model")) == 2
    assert "y.model would be written twice" in said(capsys)


@pytest.mark.parametrize("output", [".", "nowhere/m.model"])
def test_what_cannot_be_written_is_said_before_any_work(folder, capsys, output):
    model = str(folder / "m.model")
    source = str(folder / "there is no such file")  # it is not even looked at
    target = str(folder / output)
    assert main(["train", "classify", source, "-o", target]) == 2
    first = said(capsys)
    assert main(["predict", model, source, "-o", target]) == 2
    second = said(capsys)
    assert main(["inspect", model, "--export", target]) == 2
    for words in (first, second, said(capsys)):
        assert "is a folder" in words or "there is no folder" in words


def test_a_model_is_a_regular_file(folder, capsys):
    assert train(folder, os.path.join(os.sep, "dev", "null")) == 2
    assert "is no regular file" in said(capsys)


def test_another_command_with_the_same_output_is_refused(folder, capsys):
    target = str(folder / "same.model")
    code = (
        "import sys\nfrom maxmargin.files.locks import reserve\n"
        "with reserve(sys.argv[1]):\n    print(flush=True)\n    input()\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, os.path.realpath(target)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    other.stdout.readline()
    assert train(folder, "same.model") == 2
    assert f"is being written by process {other.pid} on" in said(capsys)
    other.communicate(b"\n", timeout=60)
    assert train(folder, "same.model") == 0
    hidden = [name for name in os.listdir(folder) if name.startswith(".")]
    assert hidden == []


def test_a_model_is_not_lost_if_somebody_takes_its_name(folder, capsys, monkeypatch):
    from maxmargin.cli import selection

    target, fit = folder / "taken.model", selection.fit

    def slow(*given):
        target.write_text("of somebody else")
        return fit(*given)

    monkeypatch.setattr(selection, "fit", slow)
    assert train(folder, "taken.model") == 0
    assert target.read_text() == "of somebody else"
    kept = f"{target}.{os.getpid()}"
    assert f"the model is in {kept}" in said(capsys)
    assert main(["inspect", kept, "--top", "0"]) == 0


def test_no_room_is_said_before_training(folder, capsys, monkeypatch):
    from maxmargin.files import atomic

    usage = type("Usage", (), {"free": 7})
    monkeypatch.setattr(atomic.shutil, "disk_usage", lambda folder: usage)
    assert train(folder, "large.model") == 2
    assert "has 7 bytes left, but about" in said(capsys)
    assert not (folder / "large.model").exists()


def test_pictures_appear_whole_or_not_at_all(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    from maxmargin.matchings.plots import plot_links

    path = tmp_path / "links.png"
    path.write_bytes(b"before")

    def broken(*_, **__):
        raise OSError("half of it")

    monkeypatch.setattr(Figure, "savefig", broken)
    with pytest.raises(OSError, match="half of it"):
        plot_links((["a"], ["b"]), [(0, 0)], path=path)
    assert path.read_bytes() == b"before"
    assert os.listdir(tmp_path) == ["links.png"]
