"""The demo: what it reports is true, and what it promises to save is there."""

import sys

import matplotlib
import pytest

import maxmargin
from maxmargin import demo
from maxmargin.files import digit_strings

matplotlib.use("Agg")

PICTURES = {"convergence.png", "transitions.png", "predictions.png"}
MODEL = "page_numbers.safetensors"


def test_the_chain_reads_better_and_everything_is_saved(tmp_path, capsys):
    from matplotlib import pyplot

    folder, before = tmp_path / "new" / "folder", pyplot.get_fignums()
    readings = demo.run(folder, n_train=200, n_test=100)
    chain, single = readings["chain"], readings["independent"]
    assert chain.digits > single.digits + 0.03
    assert chain.strings > single.strings + 0.15
    assert {path.name for path in folder.iterdir()} == {MODEL, *PICTURES}
    assert pyplot.get_fignums() == before

    test = digit_strings(100, split="test")
    model = maxmargin.load(folder / MODEL)
    assert model.predict(test.X) == chain.labels
    assert model.score(test.X, test.y) == pytest.approx(chain.digits)

    report = capsys.readouterr().out
    for shown in (
        f"{chain.digits:.1%}",
        f"{single.strings:.1%}",
        f"primal {model.certificate_.primal:.4f}",
        f"dual {model.certificate_.dual:.4f}",
        str(folder),
        *PICTURES,
    ):
        assert shown in report


def test_without_matplotlib_the_rest_still_works(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    demo.run(tmp_path, n_train=30, n_test=10)
    assert [path.name for path in tmp_path.iterdir()] == [MODEL]
    assert "pip install" in capsys.readouterr().out


def test_a_picture_also_when_nothing_is_misread():
    from matplotlib import pyplot

    test = digit_strings(3, split="test")
    perfect = demo.Reading.of(test.y, test.y)
    assert (perfect.digits, perfect.strings) == (1, 1)
    figure = demo._misread(test, {"independent": perfect, "chain": perfect})
    assert "independent 0, chain 0" in figure.axes[0].get_title(loc="left")
    pyplot.close(figure)


def test_a_folder_that_cannot_be_made(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit) as caught:
        demo.main(["--output", str(tmp_path / "file")])
    assert caught.value.code == 2
    assert "cannot write into" in capsys.readouterr().err
