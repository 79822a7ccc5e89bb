"""``maxmargin train match`` and what can be done with its models."""

import json

import pytest

from maxmargin import load
from maxmargin.cli.main import main
from maxmargin.matchings.bitext import read_pharaoh

SENTENCES = [
    ("the dog sleeps", "le chien dort", "0-0 1-1 2-2"),
    ("the cat eats", "le chat mange", "0-0 1-1 2-2"),
    ("the dog eats", "le chien mange", "0-0 1-1 2-2"),
    ("a red house", "une maison rouge", "0-0 1-2 2-1"),
    ("the red cat", "le chat rouge", "0-0 1-2 2-1"),
    ("the house sleeps", "la maison dort", "0-0 1-1 2-2"),
    ("a cat does not sleep", "un chat ne dort pas", "0-0 1-1 4-3 2?2 3-2 3?4"),
    ("a dog does not eat", "un chien ne mange pas", "0-0 1-1 4-3 2?2 3-2 3?4"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Links, a bitext and a trained model."""
    folder = tmp_path_factory.mktemp("match")
    lines = ["\t".join(row) for row in SENTENCES]
    (folder / "links.tsv").write_text("\n".join(lines) + "\n")
    numbered = [f"{k}\t{line}" for k, line in enumerate(lines)]
    (folder / "test.tsv").write_text("\n".join(numbered) + "\n")
    pairs = ["\t".join(row[:2]) for row in SENTENCES]
    (folder / "new.tsv").write_text("\n".join(pairs) + "\n")
    code = main(
        f"train match {folder}/links.tsv --bitext {folder}/new.tsv --fertility 2,1 "
        f"-o {folder}/m.model --quiet".split()
    )
    assert code == 0
    return folder


def run(capsys, command):
    code = main(command.split())
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_model_remembers(folder):
    model = load(folder / "m.model")
    assert model.fertility == (2, 1)
    assert model.notes["task"] == "match"
    assert model.notes["pairs"] == 8
    assert model.statistics_.n_pairs_ == 8  # no pair is counted twice


def test_predict(folder, capsys):
    code, out, _ = run(capsys, f"predict {folder}/m.model {folder}/new.tsv")
    assert code == 0
    assert len(out.splitlines()) == len(SENTENCES)
    assert out.splitlines()[0] == "0-0 1-1 2-2"
    # columns of ids and links are fine, too, and left alone
    main(f"predict {folder}/m.model {folder}/test.tsv -o {folder}/out".split())
    assert (folder / "out").read_text() == out
    assert len(read_pharaoh(folder / "out")) == len(SENTENCES)


def test_k_best(folder, capsys):
    code, out, _ = run(capsys, f"predict {folder}/m.model {folder}/new.tsv --k-best 2")
    lines = out.splitlines()
    assert code == 0
    assert len(lines) == 4 * len(SENTENCES)
    assert [line.split()[1] for line in lines[::2]] == ["1", "2"] * len(SENTENCES)
    assert float(lines[0].split()[2]) >= float(lines[2].split()[2])


def test_evaluate(folder, capsys):
    pytest.importorskip("matplotlib")
    command = f"evaluate {folder}/m.model {folder}/test.tsv"
    code, out, _ = run(capsys, command)
    assert code == 0
    assert out.startswith("AER ")
    code, out, _ = run(capsys, f"{command} --json --plot {folder}/worst.png")
    report = json.loads(out)
    assert report["aer"] < 0.2
    assert report["sentences"] == len(SENTENCES)
    assert (folder / "worst.png").stat().st_size > 3000


def test_inspect(folder, capsys):
    command = f"inspect {folder}/m.model --top 3 --export {folder}/weights.tsv"
    code, out, _ = run(capsys, command)
    assert code == 0
    assert "fertility   (2, 1)" in out
    assert "(proved)" in out
    assert len(out.split("Strongest features")[1].strip().splitlines()) == 3
    rows = [
        row.split("\t") for row in (folder / "weights.tsv").read_text().splitlines()
    ]
    model = load(folder / "m.model")
    assert {name: float(weight) for name, weight in rows} == pytest.approx(
        dict(zip(model.feature_names_, model.coef_, strict=True))
    )


def test_json_and_pictures_for_all(folder, capsys):
    command = f"train match {folder}/links.tsv -o {folder}/j.model --json --quiet"
    code, out, err = run(capsys, f"{command} --dev {folder}/test.tsv --solver n-slack")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["notes"]["task"] == "match"
    assert (
        found["dev"]["aer"]
        == load(folder / "j.model").evaluate(*_test_pairs(folder), bootstrap=0).aer
    )
    code, out, _ = run(capsys, f"inspect {folder}/j.model --json --top 3")
    assert [set(row) for row in json.loads(out)["weights"]] == [
        {"group", "name", "weight"}
    ] * 3
    assert run(capsys, f"inspect {folder}/j.model --plot {folder}/w.png")[0] == 0
    assert (folder / "w.png").read_bytes().startswith(b"\x89PNG")


def _test_pairs(folder):
    from maxmargin.files import read_aligned

    text = read_aligned(folder / "test.tsv", True)
    return text.X, text.y


def test_choosing_C(folder, capsys):
    base = f"train match {folder}/links.tsv -o {folder}/c.model --path 0.01,0.1"
    code, out, _ = run(capsys, f"{base} --cv 2")
    assert code == 0
    assert out.splitlines()[0].split() == ["C", "AER", "seconds"]
    assert out.count("<- best") == 1
    assert "Trained on links.tsv: 8 sentence pairs, 26 sure links" in out
    code, out, _ = run(capsys, f"{base} --dev {folder}/test.tsv")
    assert code == 0
    assert f"On {folder}/test.tsv:\nAER " in out
    assert load(folder / "c.model").C in (0.01, 0.1)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--fertility x", "--fertility x is not possible"),
        ("--fertility 1,2,3", "--fertility 1,2,3 is not possible"),
        ("--fertility 0", "--fertility 0"),
        ("--features lexical", "'lexical' is not known"),
        ("--forms stem", "'stem' is not known"),
        ("--bitext nowhere.tsv", "nowhere.tsv"),
        ("--path 1,2", "--path needs a way to choose"),
        ("--cv 1", "two folds are the least"),
        ("--cv 50", "there are 8 sentence pairs"),
        ("--cv 3 --C 1", "give one --C"),
        ("--cost-missing -1", "--cost-missing -1"),
    ],
)
def test_mistakes_in_options(folder, capsys, options, sentence):
    command = f"train match {folder}/links.tsv -o {folder}/no.model --quiet {options}"
    code, _, err = run(capsys, command)
    assert code == 2
    assert sentence in err
    assert not (folder / "no.model").exists()


def test_mistakes_in_files(folder, capsys):
    (folder / "bad.tsv").write_text("a b\tc\t0-0\na\tb\t0-1\n")
    code, _, err = run(capsys, f"train match {folder}/bad.tsv -o {folder}/no.model")
    assert code == 2
    assert "bad.tsv, line 2: the link 0-1" in err
    (folder / "long.tsv").write_text("a b\tc\t0-0\na\t" + "b " * 1001 + "\t0-0\n")
    code, _, err = run(capsys, f"train match {folder}/long.tsv -o {folder}/no.model")
    assert code == 2
    assert "long.tsv, line 2: the target side has 1001 words" in err
    code, _, err = run(capsys, f"evaluate {folder}/m.model {folder}/new.tsv")
    assert code == 2
    assert "there are no links" in err
    code, _, err = run(capsys, f"inspect {folder}/m.model --top -1")
    assert code == 2
    assert "--top -1 is not possible" in err
    code, _, err = run(capsys, f"predict {folder}/m.model {folder}/new.tsv --marginals")
    assert code == 2
    assert "--marginals means nothing" in err
