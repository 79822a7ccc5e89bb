"""Numbers are called probabilities where a model fits some, and nowhere else."""

import pytest

from maxmargin.cli.main import main

ROWS = "-DOCSTART- -X- O\n\nAda N B\nlives V O\n\nBob N B\nruns V O\n\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.txt").write_text(ROWS)
    return tmp_path


def trained(capsys, *options):
    train = ["train", "tag", "t.txt", "--features", "words", "-o", "m", "--quiet"]
    assert main([*train, *options]) == 0
    capsys.readouterr()


KINDS = [
    (["--objective", "hinge"], False),
    (["--objective", "perceptron"], False),
    (["--objective", "log"], True),
    (["--model", "hmm"], True),
]


@pytest.mark.parametrize(("options", "fits"), KINDS)
def test_pages_show_probabilities_of_probability_models(here, capsys, options, fits):
    trained(capsys, *options)
    assert main(["report", "m", "t.txt", "-o", "p.html"]) == 0
    page = (here / "p.html").read_text()
    assert ("is the probability of its label" in page) == fits
    assert fits or "<s style" not in page
    assert ('id="calibration"' in page) == fits


@pytest.mark.parametrize(("options", "fits"), KINDS)
def test_marginals_of_others_are_said_to_be_shares(here, capsys, options, fits):
    trained(capsys, *options)
    assert main(["predict", "m", "t.txt", "--marginals"]) == 0
    out, err = capsys.readouterr()
    assert ("fits no probabilities" in err) != fits
    rows = [line.split() for line in out.splitlines() if line]
    assert {len(row) for row in rows} == {5}
    assert all(0.0 <= float(row[-1]) <= 1.0 for row in rows)
    assert rows[0] == ["-DOCSTART-", "-X-", "O", "O", "1.0000"]
