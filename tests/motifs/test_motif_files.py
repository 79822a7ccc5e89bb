"""The task ``motif`` and its files: FASTA in; BED, GFF3, MEME and JASPAR out."""

import json

import numpy as np
import pytest

from maxmargin import load
from maxmargin.cli.main import main
from maxmargin.files import (
    Motif,
    read_jaspar,
    read_meme,
    write_bed,
    write_gff,
    write_jaspar,
    write_meme,
)
from maxmargin.motifs.estimator import Site
from maxmargin.motifs.formats import consensus

MOTIF = "TTTACGTA"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    lines = {"pos": [], "neg": [], "all": [], "bg": []}
    for i in range(40):
        x = "".join(rng.choice(list("ACGT"), 24))
        yes = i < 20
        if yes:
            x = x[: i % 15] + MOTIF + x[i % 15 + 8 :]
        kind = "ARS" if yes else ["LTR", "tel"][i % 2]
        lines["pos" if yes else "neg"] += [f">s{i}", x]
        lines["all"] += [
            f">s{i} some words type={kind} label={'+1' if yes else '-1'}",
            x,
        ]
        lines["bg"] += [f">b{i}", "".join(rng.choice(list("ACGT"), 24))]
    for name, text in lines.items():
        (tmp_path / f"{name}.fa").write_text("\n".join(text) + "\n")
    return tmp_path


OPTIONS = ["--width", "8", "--order", "0", "--C", "3", "-o", "m"]


def test_from_two_files_to_sites(here, capsys):
    train = ["train", "motif", "pos.fa", "--negative", "neg.fa", *OPTIONS]
    assert main([*train, "--background", "bg.fa", "--plot", "training.png"]) == 0
    said = capsys.readouterr().out
    assert "80 sequences, 20 of them with the motif; width 8, TTTACGTA" in said
    assert "It is a stationary point: another step could gain at most" in said
    assert "2 starts ended between" in said
    assert "proved)." not in said
    assert (here / "training.png").stat().st_size > 1000
    assert main(["predict", "m", "pos.fa", "-o", "sites.bed"]) == 0
    rows = [line.split("\t") for line in (here / "sites.bed").read_text().splitlines()]
    assert len(rows) > 15
    right = [row for row in rows if int(row[1]) == int(row[0][1:]) % 15]
    assert len(right) > 15
    assert {(int(row[2]) - int(row[1]), row[5]) for row in rows} == {(8, "+")}
    assert main(["predict", "m", "pos.fa", "-o", "sites.gff3"]) == 0
    gff = (here / "sites.gff3").read_text().splitlines()
    assert gff[0] == "##gff-version 3"
    assert int(gff[1].split("\t")[3]) == int(rows[0][1]) + 1
    assert gff[1].split("\t")[4] == rows[0][2]


def test_one_file_with_labels(here, capsys):
    assert main(["train", "motif", "all.fa", *OPTIONS, "--quiet"]) == 0
    assert main(["evaluate", "m", "all.fa", "--json", "--plot", "scores.png"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["sequences"] == 40
    assert found["positive"] == 20
    assert found["accuracy"] > 0.9
    kinds = ["--label", "type", "--positive", "ARS"]
    more = ["--init", "random", "--shifts", "2", "--class-weight", "none", "--quiet"]
    assert main(["train", "motif", "all.fa", *kinds, *OPTIONS, *more]) == 0
    model = load("m")
    assert (model.init, model.shifts, model.class_weight) == ("random", 2, None)
    assert (model.both_strands, model.both_strands_) == (None, False)
    flag = ["--both-strands", "--quiet"]
    assert main(["train", "motif", "all.fa", *kinds, *OPTIONS, *flag]) == 0
    assert load("m").both_strands_
    assert main(["evaluate", "m", "all.fa"]) == 0
    assert "40, 20 of them positive" in capsys.readouterr().out


def test_inspection_and_export(here, capsys):
    assert main(["train", "motif", "all.fa", *OPTIONS, "--quiet"]) == 0
    assert main(["inspect", "m", "--plot", "logo.png", "--export", "m.meme"]) == 0
    said = capsys.readouterr().out
    assert "consensus   TTTACGTA" in said
    assert "what each letter adds to the score of a site" in said
    (motif,) = read_meme("m.meme")
    assert "".join("ACGT"[k] for k in motif.matrix.argmax(axis=1)) == MOTIF
    assert motif.n_sites == 20
    assert main(["inspect", "m", "--export", "m.jaspar", "--top", "0"]) == 0
    (counts,) = read_jaspar("m.jaspar")
    assert consensus(counts.matrix) == MOTIF
    assert counts.matrix.sum(axis=1).tolist() == [20] * 8


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        (
            ">a label=1\nACGTACGT\n>b\nACGTACGT\n",
            [],
            "line 3: the sequence 'b' does not",
        ),
        (
            ">a label=x\nACGTACGT\n",
            [],
            "1 kind of sequences (x), of which none says that it has",
        ),
        (">a label=1\nACGTACGT\n", [], "all sequences are positive"),
        (
            ">a label=1\nACGNACGT\n",
            [],
            "line 1: the sequence 'a' has 'N' at position 4",
        ),
        (">a label=1\nACG\n", [], "line 1: the sequence 'a' has 3 letters, fewer"),
        (">a label=1\nACGTACGT\n", ["--width", "x"], "--width x is not a whole number"),
        (
            ">a label=1\nACGTACGT\n",
            ["--negative", "n.fa", "--positive", "1"],
            "--positive names a label in one file",
        ),
        (">a\nACGT\n", ["--background-weight", "0"], "--background-weight 0 is not"),
    ],
)
def test_bad_files(here, capsys, text, options, sentence):
    (here / "bad.fa").write_text(text)
    options = options if "--width" in options else [*options, "--width", "8"]
    assert main(["train", "motif", "bad.fa", *options, "-o", "m"]) == 2
    assert sentence in capsys.readouterr().err


def test_formats_come_back(tmp_path):
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 50, (7, 4)).astype(float)
    write_jaspar(tmp_path / "m.jaspar", Motif("M1 name", counts, np.full(4, 0.25), 99))
    (found,) = read_jaspar(tmp_path / "m.jaspar")
    assert found.name == "M1 name"
    assert (found.matrix == counts).all()
    p = rng.dirichlet(np.ones(4), 7)
    share = np.array([0.3, 0.2, 0.2, 0.3])
    write_meme(tmp_path / "m.meme", Motif("M1", p, share, 99))
    (found,) = read_meme(tmp_path / "m.meme")
    assert found.name == "M1"
    assert found.n_sites == 99
    assert found.matrix == pytest.approx(p, abs=1e-6)
    assert found.background == pytest.approx(share)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        ("A [ 1 2 ]\n", "line 1: .* is not a row of counts"),
        (">m\nA [ 1 ]\nC [ 1 ]\nG [ 1 ]\n", "needs four rows"),
        (">m\nA [ 1 ]\nC [ x ]\n", "line 3: 'x' are not numbers"),
        (">m\nA [ 1 2 ]\nC [ 1 ]\nG [ 1 ]\nT [ 1 ]\n", "equally many counts"),
        (">m\nA [ 1 ]\nA [ 1 ]\n", "line 3"),
    ],
)
def test_bad_jaspar(tmp_path, text, sentence):
    (tmp_path / "m").write_text(text)
    with pytest.raises(ValueError, match=sentence):
        read_jaspar(tmp_path / "m")


@pytest.mark.parametrize("rows", ["", "0.1 0.2\n", "0.1 0.2 0.3 nan\n"])
def test_bad_meme(tmp_path, rows):
    head = "MEME version 4\nMOTIF m\nletter-probability matrix: alength= 4 w= 1\n"
    (tmp_path / "m").write_text(head + rows)
    with pytest.raises(ValueError, match=r"rows of 4 probabilities|not numbers"):
        read_meme(tmp_path / "m")
    (tmp_path / "m").write_text("MEME version 4\n")
    with pytest.raises(ValueError, match="no letter-probability matrix"):
        read_meme(tmp_path / "m")


def test_names_cannot_make_columns(tmp_path):
    sites = [Site(2, 5, "-", 0.5)]
    write_bed(tmp_path / "s.bed", ["a\tb c"], sites)
    text = (tmp_path / "s.bed").read_text()
    assert text == "a_b_c\t2\t5\tmotif\t50\t-\n"
    write_gff(tmp_path / "s.gff", ["a\tb"], sites, motif="x;y=z")
    row = (tmp_path / "s.gff").read_text().splitlines()[1].split("\t")
    assert row == ["a%09b", "maxmargin", "sequence_motif", "3", "5", "0.5", "-", ".",
                   "Name=x%3By%3Dz"]  # fmt: skip


def test_consensus():
    rows = [[9, 1, 0, 0], [5, 0, 0, 5], [0, 4, 4, 2], [4, 3, 3, 0], [1, 1, 1, 1]]
    assert consensus(rows) == "AWSVN"
