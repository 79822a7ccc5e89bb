"""One motif in all files, and the positive class that was meant."""

import warnings

import numpy as np
import pytest

from maxmargin import MotifFinder, load, save
from maxmargin.cli.main import main
from maxmargin.files import Motif, read_jaspar, read_meme, write_jaspar, write_meme
from maxmargin.motifs.classes import positive_label, two_classes
from maxmargin.motifs.formats import motif_of
from maxmargin.plots import plot_logo

WITH = ["ACTATAAGC", "GGCTATAAC", "TATAACCGA", "CTATAACGG", "GTTATACCC"]
WITHOUT = ["CCGACGTGC", "GGACCAGCA", "ACACGTCAG", "GGCGCGCAC", "CCAGGACGC"]
X, Y = WITH + WITHOUT, [True] * 5 + [False] * 5
SETTINGS = {"width": 5, "order": 0, "C": 10.0}


@pytest.fixture(scope="module")
def model():
    return MotifFinder(**SETTINGS, both_strands=True, n_restarts=3).fit(X, Y)


def bits(p):
    p = np.asarray(p, float)
    return float(2 * len(p) + (p * np.log2(np.where(p > 0, p, 1))).sum())


def parsed(path, kind):
    motifs = pytest.importorskip("Bio.motifs")
    with open(path) as file:
        (motif,) = motifs.parse(file, kind)
    return motif, np.array([motif.counts[letter] for letter in "ACGT"]).T


# one matrix in all files ---------------------------------------------------------------


def test_biopython_reads_the_same_motif_from_both_files(model, tmp_path):
    write_meme(tmp_path / "m.meme", model)
    write_jaspar(tmp_path / "m.jaspar", model)
    meme, counts = parsed(tmp_path / "m.meme", "minimal")
    _, same = parsed(tmp_path / "m.jaspar", "jaspar")
    assert counts.tolist() == same.tolist() == model.counts_.tolist()
    assert meme.num_occurrences == len(WITH) == model.n_sites_
    p = model.counts_ / len(WITH)
    assert bits(counts / len(WITH)) == pytest.approx(bits(p))
    assert [meme.background[a] for a in "ACGT"] == pytest.approx(
        model.frequencies_, abs=1e-6
    )
    (ours,) = read_meme(tmp_path / "m.meme")
    assert ours.matrix == pytest.approx(p, abs=1e-8)
    assert ours.both_strands
    text = (tmp_path / "m.meme").read_text()
    assert "E=" not in text
    assert "strands: + -" in text


def test_the_logo_shows_what_is_exported(model):
    heights = sum(
        patch.get_extents() is not None for patch in plot_logo(model).axes[0].patches
    )
    assert heights >= 5
    top = max(
        patch.get_path().get_extents(patch.get_patch_transform()).y1
        for patch in plot_logo(model).axes[0].patches
    )
    p = model.counts_ / model.n_sites_
    assert top == pytest.approx(max(bits(row[None]) for row in p), abs=1e-6)


def test_counts_are_those_at_the_sites_that_are_predicted(model):
    turned = str.maketrans("ACGT", "TGCA")
    counts = np.zeros((5, 4), int)
    for x, site in zip(WITH, model.predict_sites(WITH), strict=True):
        letters = x[site.start : site.end]
        if site.strand == "-":
            letters = letters.translate(turned)[::-1]
        for j, letter in enumerate(letters):
            counts[j, "ACGT".index(letter)] += 1
    assert counts.tolist() == model.counts_.tolist()


def test_sites_of_sequences_without_weight_do_not_count(tmp_path):
    weights = [1, 1, 1, 1, 0] + [1] * 5
    fitted = MotifFinder(**SETTINGS).fit(X, Y, weights)
    assert fitted.n_sites_ == 4
    assert fitted.counts_.sum(axis=1).tolist() == [4] * 5
    write_meme(tmp_path / "m", fitted)
    text = (tmp_path / "m").read_text()
    assert "nsites= 4\n" in text
    assert "strands: +\n" in text
    save(fitted, tmp_path / "model")
    assert load(tmp_path / "model").n_sites_ == 4


def test_unknown_letters_make_rows_of_their_own_sums(tmp_path):
    counts = np.array([[3, 1, 0, 0], [2, 0, 0, 0], [0, 0, 0, 0]])
    motif = Motif("m", counts, np.full(4, 0.25), 4)
    write_meme(tmp_path / "m", motif)
    (found,) = read_meme(tmp_path / "m")
    assert found.matrix.tolist() == [[0.75, 0.25, 0, 0], [1, 0, 0, 0], [0.25] * 4]
    write_jaspar(tmp_path / "j", motif)
    assert read_jaspar(tmp_path / "j")[0].matrix.tolist() == counts.tolist()


def test_a_motif_goes_from_one_format_to_the_other_and_back(tmp_path):
    counts = np.array([[30.0, 1, 0, 2], [0, 33, 0, 0], [11, 11, 11, 0]])
    write_meme(tmp_path / "a", Motif("m", counts, np.full(4, 0.25), 33))
    (p,) = read_meme(tmp_path / "a")
    write_jaspar(tmp_path / "b", p)
    assert read_jaspar(tmp_path / "b")[0].matrix.tolist() == counts.tolist()
    with pytest.raises(ValueError, match="not the number of its sites"):
        write_jaspar(tmp_path / "c", p._replace(n_sites=0))


def test_bed_has_the_columns_of_ucsc(model, tmp_path):
    from maxmargin.files import write_bed

    sites = model.predict_sites(X)
    sites[0] = sites[0]._replace(score=1e9)
    write_bed(tmp_path / "s.bed", [f"chr{i}" for i in range(10)], sites)
    for i, line in enumerate((tmp_path / "s.bed").read_text().splitlines()):
        chrom, start, end, name, score, strand = line.split("\t")
        assert (chrom, name, strand in "+-") == (f"chr{i}", "motif", True)
        assert 0 <= int(start) < int(end) == int(start) + 5 <= len(X[i])
        assert 0 <= int(score) <= 1000


# the positive class --------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [(1, 0), (1, -1), (1.0, 0.0), (True, False), ("+", "-"), ("+1", "-1"), ("1", "0"),
     ("positive", "negative"), ("Positive", "unlabelled"), ("yes", "zzz")],
)  # fmt: skip
def test_labels_that_speak_for_themselves(labels):
    yes, no = labels
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classes, numbers = two_classes([yes, yes, no, no], 4, None)
    assert classes.tolist() == [no, yes]
    assert numbers.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize(
    "labels", [("bound", "unbound"), ("a", "b"), (1, 2), (0, 2), ("1", "2"), (-1, 0)]
)
def test_other_labels_have_to_be_named(labels):
    for a, b in (labels, labels[::-1]):
        with pytest.raises(ValueError, match="name that by positive="):
            MotifFinder(**SETTINGS).fit(X, [a] * 5 + [b] * 5)
        assert two_classes([a, b], 2, b)[0].tolist() == [a, b]


def test_the_alphabet_does_not_choose(model):
    names = np.where(Y, "bound", "unbound")
    named = MotifFinder(**SETTINGS, positive="bound").fit(X, names)
    assert named.positive_ == "bound"
    plain = MotifFinder(**SETTINGS).fit(X, Y)
    assert plain.positive_ is True
    assert named.coef_.tolist() == plain.coef_.tolist()
    assert ((named.predict(X) == "bound") == plain.predict(X)).all()


def test_the_plainly_rarer_label_is_taken_with_a_warning():
    labels = ["unbound"] * 6 + ["bound"] * 2
    with pytest.warns(UserWarning, match="the rarer one, 'bound', is taken"):
        assert positive_label(labels, "y", "positive=") == "bound"
    with pytest.raises(ValueError, match=r"'bound' \(3 times\)"):
        positive_label([*labels, "bound"], "y", "positive=")


def test_the_command_asks_or_says_what_it_took(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def file(name, many):
        lines = [f">p{i} label=bound\n{x}\n" for i, x in enumerate(WITH)]
        lines += [f">n{i} label=unbound\n{x}\n" for i, x in enumerate(WITHOUT * many)]
        (tmp_path / name).write_text("".join(lines))

    file("even.fa", 1)
    file("rare.fa", 3)
    train = ["--width", "5", "--order", "0", "--C", "10", "-o", "m"]
    assert main(["train", "motif", "even.fa", *train]) == 2
    assert "name that by --positive 'bound'" in capsys.readouterr().err
    assert main(["train", "motif", "rare.fa", *train]) == 0
    said = capsys.readouterr()
    assert "the rarer one, 'bound', is taken" in said.err
    assert "5 of them with the motif (label=bound)" in said.out
    assert main(["evaluate", "m", "even.fa"]) == 0
    assert "10, 5 of them positive" in capsys.readouterr().out
    assert main(["inspect", "m", "--top", "0"]) == 0
    assert "label=bound, 5 sequences" in capsys.readouterr().out
    assert motif_of(load("m")).n_sites == 5
