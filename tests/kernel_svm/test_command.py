"""maxmargin train kernel: from files to models to files, and the tables it reads."""

import csv
import gzip
import json
import time

import numpy as np
import pytest

import maxmargin
from maxmargin import KernelSVM
from maxmargin.cli.main import main
from maxmargin.files import RawText, read_csv
from maxmargin.kernel_svm.parameters import METHODS
from maxmargin.kernel_svm.run import Kernel


def ring(n=60, seed=0):
    """A disc within a ring: no line parts them."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    far = np.arange(n) % 2
    radius = np.where(far, 2.0, 0.5) + 0.1 * rng.normal(size=n)
    X = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return X.round(4), ["ring, outer" if k else "disc" for k in far]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = ring()
    with open("ring.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["kind", "across", "up"])
        rows.writerows([k, *x] for k, x in zip(y, X.tolist(), strict=True))
    lines = [f"{k[0]} 1:{a} 40:{b}" for k, (a, b) in zip(y, X.tolist(), strict=True)]
    (tmp_path / "ring.svm").write_text("\n".join(lines) + "\n")
    return tmp_path


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.reader(file))


def train(*options):
    return main(
        ["train", "kernel", *options, "-o", "m", "--components", "8", "--quiet"]
    )


def test_a_table_comes_back_with_its_classes(here, capsys):
    assert train("ring.csv", "--label", "kind", "--C", "10", "--gamma", "0.5") == 0
    assert main(["predict", "m", "ring.csv", "-o", "out.csv"]) == 0
    (name,), *rows = rows_of("out.csv")
    assert name == "kind"
    assert [row[0] for row in rows] == ring()[1]
    assert main(["evaluate", "m", "ring.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n"], found["accuracy"]) == (60, 1.0)
    assert [c["label"] for c in found["classes"]] == ["disc", "ring, outer"]


def test_the_command_is_the_estimator(here):
    options = ["--kernel", "poly", "--degree", "2", "--coef0", "1", "--gamma", "0.3"]
    more = ["--class-weight", "balanced", "--method", "training-points", "--seed", "3"]
    assert train("ring.csv", "--label", "kind", *options, *more) == 0
    model = maxmargin.load("m")
    X, y = ring()
    same = KernelSVM(
        kernel="poly",
        degree=2,
        coef0=1.0,
        gamma=0.3,
        class_weight="balanced",
        method="training-points",
        n_components=8,
        random_state=3,
    ).fit(X, y)
    assert str(model.kernel_) == str(same.kernel_) == "(1 + 0.3 x·x')²"
    np.testing.assert_allclose(model.decision_function(X), same.decision_function(X))


def test_columns_are_found_by_their_names(here, capsys):
    assert train("ring.csv", "--label", "kind", "--C", "10") == 0
    (here / "new.csv").write_text("up,note,across\n0,x,2\n0,,0.1\n")
    assert main(["predict", "m", "new.csv"]) == 0
    assert capsys.readouterr().out.splitlines() == ["kind", '"ring, outer"', "disc"]
    assert main(["evaluate", "m", "new.csv"]) == 2
    assert (
        "new.csv, line 1: the classes, 'kind', are missing" in capsys.readouterr().err
    )
    (here / "new.csv").write_text("up,kind\n0,disc\n")
    assert main(["evaluate", "m", "new.csv"]) == 2
    assert "such as 'across'" in capsys.readouterr().err


def test_svmlight_stays_sparse_and_needs_no_labels(here, capsys, monkeypatch):
    seen = []
    real = KernelSVM.fit
    monkeypatch.setattr(
        KernelSVM, "fit", lambda self, X, *rest: seen.append(X) or real(self, X, *rest)
    )
    assert train("ring.svm", "--C", "10", "--gamma", "0.5") == 0
    assert seen[0].nnz == 120
    (here / "new.svm").write_text("1:2\nd 1:0.1 40:0.1\n")
    assert main(["predict", "m", "new.svm"]) == 0
    assert capsys.readouterr().out.splitlines() == ["r", "d"]
    (here / "new.svm").write_text("d 41:1\n")
    assert main(["predict", "m", "new.svm"]) == 2
    assert "line 1: there is a feature 41" in capsys.readouterr().err
    (here / "new.svm").write_text("d 1:0.1\nsquare 1:2\n")
    assert main(["evaluate", "m", "new.svm"]) == 0
    assert (
        "1 samples are of classes that training has not seen" in capsys.readouterr().err
    )


def test_inspect_tells_kernel_basis_and_both_bounds(here, capsys):
    assert train("ring.csv", "--label", "kind", "--C", "10", "--gamma", "0.5") == 0
    assert main(["inspect", "m", "--top", "2", "--export", "basis.csv"]) == 0
    out = capsys.readouterr().out
    assert "kernel      k(x, x') = exp(-0.5 |x - x'|²)\n" in out
    assert "basis       8 functions, subspace-pursuit\n" in out
    assert "the smallest possible with these 8 basis functions is at most" in out
    assert "that of the exact kernel machine at most" in out
    head, *rows = rows_of("basis.csv")
    assert head == ["coefficient of disc", "coefficient of ring, outer", "across", "up"]
    model = maxmargin.load("m")
    table = np.array(rows, float)
    np.testing.assert_allclose(table[:, :2], model.dual_coef_, rtol=1e-6)
    np.testing.assert_allclose(table[:, 2:], model.basis_, rtol=1e-6)
    assert main(["inspect", "m", "--label", "disc", "--top", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["group"] for row in found["weights"]] == ["disc"]
    assert 0 <= found["certificate"]["dual"] <= found["certificate"]["within"]


def test_without_a_proof_of_the_exact_machine_it_says_so(here, capsys):
    assert train("ring.svm", "--max-terms", "1") == 0
    assert main(["inspect", "m"]) == 0
    out = capsys.readouterr().out
    assert "basis functions is at most" in out
    assert "Of the exact kernel machine nothing is proved." in out


def test_C_is_chosen_and_small_files_have_fewer_components(here, capsys):
    command = ["train", "kernel", "ring.csv", "--label", "kind", "--path", "0.001,10"]
    assert main([*command, "--cv", "2", "--method", "nystroem", "-o", "m"]) == 0
    assert "<- best" in capsys.readouterr().out
    assert len(maxmargin.load("m").basis_) <= 60  # all samples


def test_columns_of_other_scales_are_told(here, capsys):
    X, y = ring()
    for factor, told in ((1.0, False), (1e-4, True)):
        rows = [f"{a},{b * factor:.9g},{k[0]}" for (a, b), k in zip(X, y, strict=True)]
        (here / "scaled.csv").write_text("\n".join(rows) + "\n")
        assert main(["train", "kernel", "scaled.csv", "-o", "m.model"]) == 0
        said = capsys.readouterr().err
        assert ("columns differ in scale" in said) is told
    assert "that of 2 " in said


def test_the_search_for_a_basis_is_training(here, capsys):
    options = [
        "--method",
        "subspace-pursuit",
        "--components",
        "20",
        "--json",
        "-o",
        "m.model",
    ]
    assert main(["train", "kernel", "ring.csv", "--label", "kind", *options]) == 0
    seconds = json.loads(capsys.readouterr().out)["seconds"]
    model = maxmargin.load("m.model")
    assert model.seconds_ > model.history_[-1]["seconds"]
    assert seconds["training"] == pytest.approx(model.seconds_, rel=0.01)


def test_pictures_are_drawn(here):
    assert train("ring.csv", "--label", "kind") == 0
    assert main(["evaluate", "m", "ring.csv", "--plot", "a.png"]) == 0
    assert main(["evaluate", "m", "ring.csv", "--confusion", "b.png"]) == 0
    assert main(["inspect", "m", "--plot", "c.png"]) == 0
    assert main(["inspect", "m", "--plot", "d.png", "--shape", "2x1"]) == 0
    for name in "abcd":
        assert (here / f"{name}.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["ring.svm", "--label", "kind"], "--label is for csv files"),
        (["ring.svm", "--gamma", "wide"], "--gamma wide is not possible"),
        (["ring.svm", "--gamma", "-1"], "--gamma -1 is not possible"),
        (["ring.svm", "--method", "guess"], "--method guess is not known"),
        (["ring.svm", "--preimage", "fixed-point"], "--preimage fixed-point is not"),
        (["ring.svm", "--class-weight", "3"], "--class-weight 3 is not possible"),
        (["ring.csv"], "ring.csv, line 2: column 1, 'disc', is not a number"),
        (["ring.csv", "--label", "x"], "ring.csv, line 1: there is no column 'x'"),
        (["one.svm"], "all 2 samples are of the class 'a'"),
    ],
)
def test_bad_options_and_files_are_refused(here, capsys, options, message):
    (here / "one.svm").write_text("a 1:1\na 1:2\n")
    assert train(*options) == 2
    assert message in capsys.readouterr().err


def test_the_help_says_how_points_are_found():
    assert "--preimage gradient  how subspace-pursuit finds points" in Kernel.options


def test_the_help_lists_every_method():
    assert all(method in Kernel.options for method in METHODS if method != METHODS[0])


# tables ---------------------------------------------------------------------------------


def table(text, **options):
    return read_csv(RawText(text.encode(), "t.csv"), **options)


def test_names_are_told_from_numbers():
    found = table('a,b,kind\r\n1,2,x\r\n\r\n 3 ,"4","y\nz"\r\n5,6,x\r\n')
    assert found.columns == (2, ["a", "b"], "kind")
    assert found.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert found.labels == ["x", "y\nz", "x"]
    assert [found.where(i) for i in range(3)] == [
        "t.csv, line 2",
        "t.csv, line 4",
        "t.csv, line 6",
    ]
    bare = table("1,2,x\n3,4,y\n")
    assert (bare.columns, bare.labels) == ((2, None, None), ["x", "y"])
    assert len(table("1,2,3\n3,4,5\n", header="yes").X) == 1
    again = table("7,8\n", like=bare.columns, truth=False)
    assert (again.X.tolist(), again.labels) == ([[7, 8]], None)


def test_wide_tables_take_linear_time():
    n = 20_000  # it took seconds when every name was looked for among all
    row = ",".join(["1"] * n)
    text = ",".join(map("c{}".format, range(n))) + f"\n{row}\n{row}\n"
    began = time.process_time()
    found = table(text)
    assert table(text, like=found.columns).X.shape == (2, n - 1)
    assert time.process_time() - began < 1.0
    with pytest.raises(ValueError, match="two columns have the name 'b'"):
        table("a,b,c,b,d\n1,2,3,4,x\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.csv has no rows"),
        ("a,b\n", "has names of columns, but no rows"),
        ("1;2;x\n", "line 1: there is one column"),
        ("1,2,x\n1,x\n", "line 2: it has 2 columns, but the first row has 3"),
        ("1,2,x\n\n1,,x\n", "line 3: column 2 is empty"),
        ("1,b,x\n", "line 1: column 2, 'b', is not a number; if these are names"),
        ("1,2,x\n1_000,2,y\n", "line 2: column 1, '1_000', is not a number."),
        ("1,2,x\n1,nan,x\n", "line 2: column 2, nan, is not a finite number"),
        ("1,2,x\n1,1e999,x\n", "line 2: column 2, inf, is not a finite number"),
        ("1,2,x\n1,2,\n", "line 2: its class is empty"),
        ("a,a,x\n1,2,y\n", "two columns have the name 'a'"),
        ('1,2,"x\n3,4,y\n', "line 1: the row cannot be read"),
        ('1,2,x\n3,"4"5,y\n', "line 2: the row cannot be read"),
    ],
)
def test_bad_tables_are_refused(text, message):
    with pytest.raises(ValueError, match=r"t\.csv") as error:
        table(text)
    assert message in str(error.value)


def test_gzip_and_widths(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"1,2,x\n"))
    columns = read_csv(tmp_path / "t.csv.gz").columns
    with pytest.raises(ValueError, match="it has 4 columns, but the model knows 2"):
        table("1,2,3,x\n", like=columns)
    with pytest.raises(ValueError, match="the classes, the last column, are missing"):
        table("1,2\n", like=columns)


def other_units(here):
    """The ring, one column in units a thousand times smaller."""
    X, y = ring(90, 3)
    with open("units.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerows(
            [a, 1000 * b, k] for k, (a, b) in zip(y, X.tolist(), strict=True)
        )


@pytest.mark.parametrize("scale", ["standard", "range"])
def test_scaled_columns_are_those_of_the_model(scale, here, capsys):
    other_units(here)
    assert main(["train", "kernel", "units.csv", "--scale", scale, "-o", "m"]) == 0
    assert "columns differ in scale" not in capsys.readouterr().err
    assert main(["evaluate", "m", "units.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["accuracy"] == 1.0
    assert main(["inspect", "m"]) == 0
    assert f"scaled: {scale}" in capsys.readouterr().out
    assert main(["train", "kernel", "units.csv", "-o", "n"]) == 0
    assert "With --scale standard or --scale range" in capsys.readouterr().err


def test_gamma_is_chosen_with_C(here, capsys):
    other_units(here)
    options = [
        "--scale",
        "standard",
        "--path",
        "0.1,10",
        "--cv",
        "3",
        "--json",
        "-o",
        "m",
    ]
    tried = ["--gamma", "1e-5,scale,0.5"]
    assert main(["train", "kernel", "units.csv", *options, *tried]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = [(row["settings"]["gamma"], row["C"]) for row in found["choice"]]
    width = pytest.approx(0.5)  # one over columns times variance
    assert rows == [(g, C) for g in (1e-5, width, 0.5) for C in (0.1, 10.0)]
    values = [row["measures"]["accuracy"] for row in found["choice"]]
    assert max(values) > values[0]
    gamma, C = rows[values.index(max(values))]
    model = maxmargin.load("m")
    assert (model.kernel_.gamma, model.C_) == (pytest.approx(gamma), C)


def test_gamma_is_chosen_among_multiples_of_scale(here, capsys):
    options = ["--label", "kind", "--gamma", "choose", "-o", "m"]
    more = ["--path", "1,10", "--dev", "ring.csv"]
    assert main(["train", "kernel", "ring.csv", *options, *more]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].split() == ["gamma", "C", "accuracy", "seconds"]
    usual = maxmargin.KernelSVM().fit(*ring()).kernel_.gamma
    gammas = [float(line.split()[0]) for line in out[1:11]]
    assert gammas == pytest.approx(np.repeat([0.1, 0.3, 1, 3, 10], 2) * usual, rel=1e-3)
    (best,) = (line for line in out[1:11] if "best" in line)
    assert maxmargin.load("m").gamma == pytest.approx(float(best.split()[0]), rel=1e-3)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--gamma", "choose"], "--gamma choose needs a way to choose: --cv 5"),
        (["--gamma", "1,2", "--dev", "ring.csv"], "--gamma 1,2 needs a way to choose"),
        (["--gamma", "1,-2", "--cv", "3"], "--gamma -2 is not possible"),
        (["--gamma", "1,choose", "--cv", "3"], "--gamma choose is not possible"),
        (["--gamma", "choose", "--kernel", "linear", "--cv", "3"], "has no gamma"),
    ],
)
def test_values_of_gamma_that_cannot_be_tried(options, says, here, capsys):
    assert train("ring.csv", "--label", "kind", *options) == 2
    assert says in capsys.readouterr().err
