"""The command line task ``align``: train, predict, evaluate, inspect."""

import json
import re

import numpy as np
import pytest

from maxmargin import load
from maxmargin.cli.main import main
from maxmargin.files import (
    PairAlignment,
    gapped,
    pairs_of,
    read_fasta_pairs,
    read_stockholm,
    write_fasta,
    write_pair_table,
)
from maxmargin.plots import read_matrix

LETTERS = "ACDEFGHIKLMNPQRSTVWY"


def related(rng, n=25):
    """Two sequences, one made from the other by changes, and who is matched with whom."""
    a = "".join(rng.choice(list(LETTERS), n))
    b, pairs, track = [], [], []
    for i, x in enumerate(a):
        track.append("HE"[i // 5 % 2])
        if 0.3 < i / n < 0.4:
            continue  # left out
        pairs.append((i, len(b)))
        b.append(x if rng.random() < 0.7 else rng.choice(list(LETTERS)))
    return a, "".join(b), pairs, "".join(track)


@pytest.fixture(scope="module")
def pairs():
    rng = np.random.default_rng(0)
    made = []
    for k in range(12):
        a, b, matched, track = related(rng)
        made.append(
            PairAlignment(
                f"x{k}",
                f"y{k}",
                a,
                b,
                matched,
                {"ss": track},
                {"ss": "".join(track[i] for i, _ in matched)},
                core=[j % 3 > 0 for _, j in matched],
                family=f"f{k % 3}",
            )
        )
    return made


@pytest.fixture(scope="module")
def folder(tmp_path_factory, pairs):
    where = tmp_path_factory.mktemp("align")
    write_pair_table(where / "pairs.tsv", pairs)
    records = []
    for p in pairs:
        records += zip((p.name_a, p.name_b), gapped(p.a, p.b, p.pairs), strict=True)
    write_fasta(where / "pairs.fa", records)
    words = ["train", "align", str(where / "pairs.tsv"), "--C", "100", "--unknown", "x"]
    done = main([*words, "--quiet", "-o", str(where / "model")])
    assert done == 0
    return where


def run(capsys, *words, code=0):
    found = main([str(word) for word in words])
    out, err = capsys.readouterr()
    assert found == code, err
    return out if code == 0 else err


# training ----------------------------------------------------------------------------


def test_train_says_what_was_proved(folder, capsys, tmp_path):
    out = run(
        capsys, "train", "align", folder / "pairs.fa", "-o", tmp_path / "m", "--C", "100",
        "--dev", folder / "pairs.tsv", "--plot", tmp_path / "p.png",
    )  # fmt: skip
    assert "Trained on pairs.fa: 12 pairs, " in out
    assert "(proved)" in out
    assert "families                     3" in out
    assert (tmp_path / "p.png").read_bytes()[:4] == b"\x89PNG"
    assert load(tmp_path / "m").notes["families"] == 0


def test_options_reach_the_estimator(folder, capsys, tmp_path):
    out = tmp_path / "m"
    run(
        capsys, "train", "align", folder / "pairs.tsv", "-o", out, "--C", "50", "--quiet",
        "--tracks", "residue,ss", "--gaps", "linear", "--scope", "local", "--loss", "q4",
        "--symmetric", "--all-columns",
    )  # fmt: skip
    model = load(out)
    assert model.notes["tracks"] == ["residue", "ss"]
    assert model.notes["masked"] == 0
    assert (model.gaps, model.scope, model.loss) == ("linear", "local", "q4")
    assert model.symmetric is True
    assert model.unknown == {"ss": "*"}
    # a pair without structure is aligned all the same
    (tmp_path / "new.tsv").write_text("ACDEF\tACDF\n")
    assert run(capsys, "predict", out, tmp_path / "new.tsv").startswith(">1a\n")
    shown = run(capsys, "inspect", out, "--top", "2")
    assert "residue/residue" in shown or "ss/ss" in shown
    said = run(capsys, "inspect", out, "--export", tmp_path / "matrix", code=2)
    assert "no substitution matrix" in said
    assert not (tmp_path / "matrix").exists()


# use ---------------------------------------------------------------------------------


def test_predict_writes_aligned_fasta(folder, pairs, capsys, tmp_path):
    run(
        capsys,
        "predict",
        folder / "model",
        folder / "pairs.fa",
        "-o",
        tmp_path / "out.fa",
    )
    found = read_fasta_pairs(tmp_path / "out.fa")
    assert [(p.name_a, p.name_b, p.a, p.b) for p in found] == [
        (p.name_a, p.name_b, p.a, p.b) for p in pairs
    ]
    again = run(
        capsys, "predict", folder / "model", folder / "pairs.tsv", "--jobs", "2"
    )
    assert again == (tmp_path / "out.fa").read_text()


def test_letters_that_are_not_known(folder, capsys, tmp_path):
    (tmp_path / "new.fa").write_text(">a\nACZDE\n>b\nACDE\n")
    assert "ACZDE" in run(capsys, "predict", folder / "model", tmp_path / "new.fa")


def test_evaluate(folder, capsys, tmp_path):
    out = run(
        capsys, "evaluate", folder / "model", folder / "pairs.tsv", "--plot",
        tmp_path / "worst.png",
    )  # fmt: skip
    lines = out.splitlines()
    assert lines[0].split() == ["n", "Q", "Q4", "f_M"]
    assert lines[1].split()[:2] == ["alignments", "12"]
    assert (tmp_path / "worst.png").read_bytes()[:4] == b"\x89PNG"
    numbers = json.loads(
        run(capsys, "evaluate", folder / "model", folder / "pairs.tsv", "--json")
    )
    assert numbers["overall"]["alignments"] == 12
    assert numbers["by_family"]["families"] == 3
    assert set(numbers["families"]) == {"f0", "f1", "f2"}
    q, q4 = (numbers["overall"][name]["mean"] for name in ("q", "q4"))
    assert 0.8 < q <= q4 <= 1
    assert f"{100 * q:.1f}" in lines[1]


def test_inspect(folder, capsys, tmp_path):
    out = run(
        capsys, "inspect", folder / "model", "--top", "3", "--plot", tmp_path / "m.svg",
        "--export", tmp_path / "m.txt",
    )  # fmt: skip
    assert re.search(r"gaps +affine: open -?[\d.]+, extend -?[\d.]+ per letter", out)
    assert "12 pairs of 3 families" in out
    assert len(out.split("favoured")[1].strip().splitlines()) == 4
    model = load(folder / "model")
    found = read_matrix(tmp_path / "m.txt")
    assert found.letters == "".join(model.alphabet_)
    assert np.allclose(found.matrix, model.substitution_matrix_, rtol=1e-4, atol=1e-6)
    assert b"<svg" in (tmp_path / "m.svg").read_bytes()
    assert "Strongest" not in run(capsys, "inspect", folder / "model", "--top", "0")


def test_k_best_and_marginals(folder, pairs, capsys, tmp_path):
    words = ("predict", folder / "model", folder / "pairs.fa", "-o", tmp_path / "out")
    run(capsys, *words, "--k-best", "2")
    found = read_fasta_pairs(tmp_path / "out")
    assert len(found) == 2 * len(pairs)
    heads = [z for z in (tmp_path / "out").read_text().split("\n") if z[:1] == ">"]
    assert heads[0].split()[:2] == [">x0", "1"]
    assert heads[3].split()[:2] == [">y0", "2"]
    assert float(heads[0].split()[2]) >= float(heads[3].split()[2])
    run(capsys, *words)
    best = [p.pairs for p in read_fasta_pairs(tmp_path / "out")]
    assert [p.pairs for p in found[::2]] == best

    run(capsys, *words, "--marginals")
    made = read_stockholm(tmp_path / "out")
    assert [p.pairs for a in made for p in pairs_of(a)] == best
    model = load(folder / "model")
    table = model.predict_marginals([(pairs[0].a, pairs[0].b)])[0]
    marks = made[0].columns["pp_cons"].replace(".", "")
    assert len(marks) == len(best[0])
    for mark, (i, j) in zip(marks, best[0], strict=True):
        tenths = 10 if mark == "*" else int(mark)
        assert abs(tenths / 10 - table[i, j]) <= 0.0501


def test_families_are_not_torn_apart_by_cross_validation(folder, capsys, tmp_path):
    from maxmargin.alignments.run import Align
    from maxmargin.cli.selection import _folds

    sample = Align().read(str(folder / "pairs.tsv"), True)
    for rest, held in _folds(sample, 3, 0):
        kept = {sample.groups[i] for i in rest}
        assert not kept & {sample.groups[i] for i in held}
        assert sorted(rest + held) == list(range(len(sample)))
    words = ("train", "align", folder / "pairs.tsv", "-o", tmp_path / "m", "--cv", "2")
    out = run(
        capsys, *words, "--path", "1,100", "--json", "--quiet", "--max-iter", "50"
    )
    found = json.loads(out)
    assert [set(row["measures"]) for row in found["choice"]] == [{"Q"}] * 2
    assert found["notes"]["tracks"] == ["residue"]


# bad input ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("", (), "is empty"),
        ("ACD\tACD\n", (), "does not name the columns"),
        (">a\nAC\n", (), "odd number of records"),
        (">a\nAC\n>b\nA\n", (), "row 'b' has 1 columns"),
        (">a\nAC\n>b\nA\n", ("--rows", "all"), "row 'b' has 1 columns"),
        ("# STOCKHOLM 1.0\nx AC\n//\n", (), "no alignment with two rows"),
        ("seq_a\tseq_b\nAC\tAC\n", (), "has no matched pairs"),
        (">a\nAC--\n>b\n--AC\n", (), "has no matched pairs"),
        (">a\nAC\n>b\nAC\n", ("--unknown", "-"), "--unknown - is not one letter"),
        ("aln_a\taln_b\nAC\tA-\n", ("--tracks", "residue,ss"), "no pair has 'ss'"),
        ("aln_a\taln_b\nAC\tA-\n", ("--tracks", "residue,residue"), "others once"),
        (
            "aln_a\taln_b\nAC\tA-\n",
            ("--unknown", "XY"),
            "--unknown XY is not one letter",
        ),
        ("aln_a\taln_b\nAC\tA-\n", ("--gaps", "free"), "--gaps free is not known"),
        ("aln_a\taln_b\nAC\tA-\n", ("--C", "-1"), "--C -1.0 is not possible"),
        ("aln_a\taln_b\nAC\tA-\n", ("--format", "fasta"), "before the first record"),
    ],
)
def test_bad_training(text, options, said, capsys, tmp_path):
    (tmp_path / "bad").write_text(text)
    words = ["train", "align", tmp_path / "bad", "-o", tmp_path / "m", *options]
    err = run(capsys, *words, code=2)
    assert said in err
    assert err.count("\n") == 1
    assert not (tmp_path / "m").exists()


def test_bad_use(folder, capsys, tmp_path):
    words = ("train", "align", folder / "pairs.tsv", "-o", "-")
    assert "name a file" in run(capsys, *words, code=2)
    words = ("inspect", folder / "model", "--transitions")
    assert "--transitions means nothing" in run(capsys, *words, code=2)
    (tmp_path / "new.tsv").write_text("ACD\tAC\nAC1\tAC\n")
    words = ("predict", folder / "model", tmp_path / "new.tsv")
    assert "line 2: the first sequence has '1'" in run(capsys, *words, code=2)
    words = ("evaluate", folder / "model", tmp_path / "nothing")
    assert "There is no file" in run(capsys, *words, code=2)
    words = ("predict", folder / "model", folder / "pairs.fa", "-o", tmp_path)
    assert "is a folder" in run(capsys, *words, code=2)


def test_a_letter_without_a_reading_names_its_pair(folder, capsys, tmp_path):
    words = ("train", "align", folder / "pairs.fa", "-o", tmp_path / "m", "--quiet")
    run(capsys, *words)
    (tmp_path / "new.fa").write_text(">a\nAC\n>b\nAC\n>c\nACZDE\n>d\nACDE\n")
    said = run(capsys, "predict", tmp_path / "m", tmp_path / "new.fa", code=2)
    assert "c and d: sample 1" in said
    assert "'Z'" in said


def test_byte_order_marks(folder, capsys, tmp_path):
    """A mark before '>' or '# STOCKHOLM' does not make a table of them."""
    (tmp_path / "new.fa").write_text("\ufeff>q\nACDE\n>r\nACE\n")
    assert ">q\nACDE\n" in run(capsys, "predict", folder / "model", tmp_path / "new.fa")
    (tmp_path / "new.sto").write_text("\ufeff# STOCKHOLM 1.0\na ACD\nb AC-\n//\n")
    assert "alignments" in run(
        capsys, "evaluate", folder / "model", tmp_path / "new.sto"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        (" \n\n", "is empty"),
        ("ACD\tACD\nACD\t\n", "line 2: two sequences with a tab between"),
        ("# STOCKHOLM 1.0\na ACD\n//\n", "no alignment with two rows"),
    ],
)
def test_bad_sequences(folder, capsys, tmp_path, text, said):
    (tmp_path / "new").write_text(text)
    words = "predict", folder / "model", tmp_path / "new", "-o", tmp_path / "out"
    assert said in run(capsys, *words, code=2)
    assert not (tmp_path / "out").exists()


def test_blank_lines_and_names_that_are_missing(folder, capsys, tmp_path):
    new = tmp_path / "new"
    new.write_text("\nACD\tACD\n")
    assert ">2a\nACD\n" in run(capsys, "predict", folder / "model", new)
    new.write_text("name_a\tname_b\tseq_a\tseq_b\n\t\tACD\tACE\n")
    assert ">2b\nACE\n" in run(capsys, "predict", folder / "model", new)


def test_letters_of_the_other_file_are_checked_before_training(capsys, tmp_path):
    (tmp_path / "bases.fa").write_text(">a\nACGT\n>b\nAC-T\n")
    (tmp_path / "dev.fa").write_text(">q\nACGT\n>r\nACGW\n")
    words = ["train", "align", tmp_path / "bases.fa", "-o", tmp_path / "m", "--dev"]
    said = run(capsys, *words, tmp_path / "dev.fa", code=2)
    assert "dev.fa: q and r have the letter 'W'" in said
    assert not (tmp_path / "m").exists()


def test_a_negative_top(folder, capsys):
    said = run(capsys, "inspect", folder / "model", "--top", "-1", code=2)
    assert "--top -1 is not possible" in said
