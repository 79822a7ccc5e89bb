"""CoNLL-U is read as what it is: words are FORM, and other lines are no tokens."""

import gzip
import warnings

import numpy as np
import pytest

from maxmargin import SequenceTagger, TagCorpus
from maxmargin.cli.main import main
from maxmargin.files import (
    RawText,
    columns_from,
    read_columns,
    read_conllu,
    write_columns,
    write_conllu,
)

WORDS = {
    "the": "DET",
    "a": "DET",
    "dog": "NOUN",
    "cat": "NOUN",
    "sleeps": "VERB",
    "runs": "VERB",
    "old": "ADJ",
    "12": "NUM",
}


def sentences(n, seed=0):
    """Sentences of (word, tag)."""
    rng = np.random.default_rng(seed)
    pick = rng.choice
    out = []
    for _ in range(n):
        words = [pick(["the", "a"])]
        words += ["old"] * int(rng.integers(2)) + ["12"] * int(rng.integers(2))
        words += [pick(["dog", "cat"]), pick(["sleeps", "runs"])]
        out.append([(str(w), WORDS[w]) for w in words])
    return out


def row(number, form, upos="_", misc="_", xpos="_"):
    cells = [str(number), form, form.lower(), upos, xpos, "_", "0", "dep", "_", misc]
    return "\t".join(cells) + "\n"


def conllu(rows, odd=True, known=True):
    """The same in CoNLL-U; some with tokens of two words and with empty nodes."""
    out = []
    for i, sentence in enumerate(rows):
        text = [f"# sent_id = {i}\n", "# text = " + " ".join(w for w, _ in sentence)]
        text.append("\n")
        if odd and i % 2:
            text.append(row("0.1", "nothing", "PRON"))
        for k, (word, tag) in enumerate(sentence, 1):
            if odd and i % 3 == 0 and k == 1:
                text.append(row("1-2", "thedog", misc="SpaceAfter=No"))
            text.append(row(k, word, tag if known else "_", xpos=f"x{tag}"))
            if odd and i % 4 == 0 and k == 2:
                text.append(row("2.1", "gap", "VERB"))
        out.append("".join(text) + "\n")
    return "".join(out)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    train, test = sentences(30), sentences(12, 1)
    (tmp_path / "train.conllu").write_text(conllu(train))
    (tmp_path / "test.conllu").write_text(conllu(test))
    (tmp_path / "new.conllu").write_text(conllu(test, known=False))
    write_columns("train.txt", columns_from(train))
    write_columns("test.txt", columns_from(test))
    return tmp_path


def run(*arguments):
    return main([str(a) for a in arguments])


def said(capsys, *arguments, code=0):
    assert run(*arguments) == code
    return capsys.readouterr()


# the command line ------------------------------------------------------------------


@pytest.mark.parametrize("features", ["pos", "ner"])
def test_scores_are_those_of_plain_columns(here, capsys, features):
    more = ["--features", features, "--tol", "0.01"]
    out = said(capsys, "train", "tag", "train.conllu", *more, "-o", "u.model")
    assert (
        "train.conllu is read as CoNLL-U: words from FORM, labels from UPOS" in out.err
    )
    said(capsys, "train", "tag", "train.txt", *more, "-o", "p.model", "--quiet")
    a = said(capsys, "evaluate", "u.model", "test.conllu").out
    b = said(capsys, "evaluate", "p.model", "test.txt").out
    assert a == b
    assert "accuracy" in a


def test_prediction_changes_one_column(here, capsys):
    said(capsys, "train", "tag", "train.conllu", "--features", "pos", "-o", "m")
    said(capsys, "predict", "m", "new.conllu", "-o", "out.conllu")
    assert (here / "out.conllu").read_bytes() == (here / "test.conllu").read_bytes()
    text = (here / "new.conllu").read_bytes().replace(b"\n", b"\r\n")
    (here / "windows.conllu").write_bytes(b"\xef\xbb\xbf" + text)
    said(capsys, "predict", "m", "windows.conllu", "-o", "w.conllu")
    wanted = (here / "test.conllu").read_bytes().replace(b"\n", b"\r\n")
    assert (here / "w.conllu").read_bytes() == b"\xef\xbb\xbf" + wanted
    lines = (here / "w.conllu").read_text().splitlines()
    assert all(z.count("\t") == 9 for z in lines if z and "#" not in z)


def test_other_outputs_keep_ten_columns(here, capsys):
    more = ["--features", "pos", "--objective", "log", "-o", "m", "--quiet"]
    said(capsys, "train", "tag", "train.conllu", *more)
    for option in (["--marginals"], ["--k-best", "2"]):
        out = said(capsys, "predict", "m", "new.conllu", *option).out
        rows = [z for z in out.splitlines() if z and not z.startswith("#")]
        assert {z.count("\t") for z in rows} == {9}
        assert "SpaceAfter=No" in out
        assert "1-2\tthedog" in out
    assert "# 1 " in out
    out = said(capsys, "predict", "m", "new.conllu", "--marginals").out
    assert "Prob=" in out


def test_any_column_is_a_label(here, capsys):
    for column, name in (("XPOS", "XPOS"), ("4", "XPOS"), ("MISC", None)):
        more = ["--features", "pos", "--label-column", column, "-o", "m"]
        code = 0 if name else 2
        out = said(capsys, "train", "tag", "train.conllu", *more, code=code)
        if name is None:
            assert "column MISC: all labels are '_'" in out.err
            continue
        out = said(capsys, "predict", "m", "test.conllu").out
        rows = [z.split("\t") for z in out.splitlines() if z and z[0].isdigit()]
        words = [r for r in rows if r[0].isdigit()]
        assert all(r[4] == "x" + r[3] for r in words)
    for column, why in (
        ("FORM", "cannot be in the column FORM"),
        ("POS", "named 'POS'"),
    ):
        more = ["--features", "pos", "--label-column", column, "-o", "m"]
        assert why in said(capsys, "train", "tag", "train.conllu", *more, code=2).err


def test_templates_name_columns(here, capsys):
    (here / "t").write_text("U0:%x[0,FORM]\nU1:%s2[-1,LEMMA]/%low[0,FORM]\n")
    train = ["train", "tag", "train.conllu", "--template"]
    said(capsys, *train, "t", "-o", "m")
    said(capsys, "predict", "m", "new.conllu", "-o", "out")
    assert (here / "out").read_text() == (here / "test.conllu").read_text()
    (here / "t").write_text("U0:%x[0,FORM]\nU1:%x[0,UPOS]\n")
    out = said(capsys, *train, "t", "-o", "m", code=2)
    assert "t, line 2: U1 reads the column UPOS" in out.err
    out = said(
        capsys, "train", "tag", "train.txt", "--template", "t", "-o", "m", code=2
    )
    assert "have no names" in out.err


def test_recognised_by_looking(here, capsys):
    for text, name in (
        (conllu(sentences(30)), "a.txt"),
        (conllu(sentences(30), odd=False).replace("# ", "#"), "b.txt"),
    ):
        (here / name).write_text(text)
        more = ["--features", "pos", "-o", "m"]
        err = said(capsys, "train", "tag", name, *more).err
        assert f"{name} is read as CoNLL-U" in err
    (here / "test.txt").write_text((here / "test.conllu").read_text())
    assert "100.00%" in said(capsys, "evaluate", "m", "test.txt").out


def test_numbers_for_words_are_said(here, capsys):
    text = conllu(sentences(30), odd=False)
    (here / "plain.txt").write_text(text)
    more = ["--format", "columns", "--comment", "#", "--label-column", "3", "-o", "m"]
    out = said(capsys, "train", "tag", "plain.txt", "--features", "pos", *more)
    assert "holds only numbers, such as '1'" in out.err
    assert "--word-column 1" in out.err
    assert "--format conllu" in out.err
    more += ["--word-column", "1"]
    out = said(capsys, "train", "tag", "plain.txt", "--features", "pos", *more)
    assert "numbers" not in out.err
    assert "100.00%" in said(capsys, "evaluate", "m", "plain.txt").out


def test_corpora_on_disk(here, capsys):
    more = ["--features", "pos", "--tol", "0.01", "--quiet", "-o"]
    said(capsys, "train", "tag", "train.conllu", *more, "a")
    out = said(capsys, "shard", "train.conllu", "--features", "pos", "-o", "shards")
    assert "is read as CoNLL-U" in out.err
    said(capsys, "train", "tag", "shards", "--tol", "0.01", "--quiet", "-o", "b")
    shards = ["--shards", "shards"]
    said(capsys, "train", "tag", "train.conllu", *more, "b", *shards)  # the same
    for model in "ab":
        said(capsys, "predict", model, "new.conllu", "-o", f"{model}.out")
    assert (here / "a.out").read_bytes() == (here / "b.out").read_bytes()
    corpus = TagCorpus.open("shards")
    assert corpus.settings["format"] == "conllu"
    assert corpus.n_tokens == sum(map(len, sentences(30)))
    by_name = {"features": "U:%x[0,FORM]\n", "label_column": "XPOS"}
    other = TagCorpus.build("other", "train.conllu", **by_name)
    assert other.labels[0].startswith("x")


def test_truth_that_is_not_there_is_no_truth(here, capsys):
    said(capsys, "train", "tag", "train.conllu", "--features", "pos", "-o", "m")
    out = said(capsys, "evaluate", "m", "new.conllu", code=2)
    assert "column UPOS has _ for all words" in out.err
    out = said(capsys, "evaluate", "test.conllu", code=2)
    assert "--truth and --predicted" in out.err
    both = ["--truth", "UPOS", "--predicted", "UPOS"]
    assert "100.00%" in said(capsys, "evaluate", "test.conllu", *both).out


# damaged files ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (row(1, "a").replace("\t_\n", "\n"), "line 1: 9 columns between tabs"),
        (row(1, "a") + row(3, "b"), "line 2: the ID is '3', but the next word is 2"),
        (row(1, "a") + row(1, "b"), "line 2: the ID is '1', .*blank line"),
        (row(1, "a") + "# text = b\n" + row(1, "b"), "line 2: a comment within"),
        (row(2, "a"), "line 1: the ID is '2', but the next word is 1"),
        (row("1-2", "ab") + row(1, "a"), "line 1: the token ends with word 2"),
        (row("2-3", "ab") + row(1, "a"), "line 1: the token '2-3' must stand before"),
        (row("1-2", "ab") + row(1, "a") + row("2-3", "b"), "line 3: .*overlaps"),
        (row("1.1", "a") + row(1, "a"), "line 1: the empty node '1.1' is out of place"),
        (row(1, "a") + row("1.2", "a"), r"line 2: .* 1\.1 could be here"),
        (row("x", "a"), "line 1: the ID is 'x'"),
        (row(1, ""), "line 1: FORM is empty"),
        (row(1, "a").replace("\t", " "), "separated by spaces"),
        ("# text = a\n\n", "has no word"),
        ("\ufeff" + row(1, "a") + "\r\n" + row(2, "b"), "line 3: the ID is '2'"),
    ],
)
def test_damaged_files(tmp_path, text, says):
    path = tmp_path / "bad.conllu"
    path.write_bytes(text.encode())
    with pytest.raises(ValueError, match=r"bad\.conllu.*" + says):
        read_conllu(path)
    with pytest.raises(ValueError, match=r"bad\.conllu.*" + says):
        write_conllu(tmp_path / "out", path, [["X"]])
    assert not (tmp_path / "out").exists()


def test_good_files_in_odd_clothes(tmp_path):
    text = (
        row("0.1", "z")
        + row("1-1", "a")
        + row(1, "a b")
        + row("1.1", "z")
        + row(2, "#")
    )
    for data in (
        text.encode(),
        b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode(),
        gzip.compress(text.rstrip("\n").encode()),
        ("\n\n# newdoc\n\n" + text + " \n\n").encode(),
    ):
        path = tmp_path / "x"
        path.write_bytes(data)
        assert read_conllu(path).strings("FORM") == [["a b", "#"]]
        write_conllu(tmp_path / "y", path, [["X", "Y"]])
        written = (tmp_path / "y").read_bytes()
        assert read_conllu(tmp_path / "y").strings("UPOS") == [["X", "Y"]]
        write_conllu(tmp_path / "z", tmp_path / "y", [["_", "_"]])
        whole = data if data[:1] != b"\x1f" else gzip.decompress(data)
        assert (tmp_path / "z").read_bytes() == whole
        assert b"X" in written


# Python ----------------------------------------------------------------------------


def test_python_reads_words_from_form(here):
    X, y = read_conllu("train.conllu", label="UPOS")
    new, truth = read_conllu("test.conllu", label="UPOS")
    for features in ("pos", "chunking", "U0:%x[0,FORM]\nU1:%x[1,LEMMA]\n"):
        tagger = SequenceTagger(features=features).fit(X, y)
        assert tagger.predict(new) == truth
    with pytest.raises(ValueError, match="the same ones in the same order"):
        tagger.predict(read_conllu("test.conllu"))
    assert "UPOS" not in X.names
    _, labels = read_conllu("train.conllu", label="XPOS")
    assert labels[0][0] == "xDET"


def test_python_warns_of_numbers(here):
    rows = [
        [(str(k), w, tag) for k, (w, tag) in enumerate(s, 1)] for s in sentences(20)
    ]
    y = [[tag for _, _, tag in s] for s in rows]
    numbered = [[r[:2] for r in s] for s in rows]
    for X in (numbered, columns_from(numbered)):
        with pytest.warns(UserWarning, match="holds only numbers"):
            SequenceTagger(features="words").fit(X, y)
    write_columns("numbered.txt", columns_from(numbered))
    X = read_columns("numbered.txt", word_column=1)
    tagger = SequenceTagger(features="words").fit(X, y)
    assert tagger.score(X, y) == 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SequenceTagger(features="U:%x[0,1]\n").fit(numbered, y)


def test_labels_among_the_features_are_said(here):
    columns = read_conllu("train.conllu")
    y = columns.strings("UPOS")
    with pytest.warns(UserWarning, match="column UPOS .* labels themselves"):
        SequenceTagger(features="U:%x[0,UPOS]\n").fit(columns, y)
    SequenceTagger(features="chunking").fit(columns, y)  # reads FORM alone


def test_columns_are_written_from_memory(tmp_path):
    raw = RawText(conllu(sentences(3)).encode(), "x")
    columns = read_conllu(raw)
    write_conllu(tmp_path / "y", columns, [["X"] * len(s) for s in sentences(3)])
    again = read_conllu(tmp_path / "y")
    assert set(again.columns[3].words) == {"X"}
    assert again.strings("FORM") == columns.strings("FORM")
    with pytest.raises(ValueError, match="CoNLL-U has 10 columns"):
        write_conllu(tmp_path / "z", columns.without("MISC"))


def test_columns_that_are_missing_now_are_said(here, capsys):
    (here / "t").write_text("U0:%x[0,FORM]\nU1:%x[0,XPOS]\n")
    said(
        capsys, "train", "tag", "train.conllu", "--template", "t", "-o", "m", "--quiet"
    )
    assert said(capsys, "predict", "m", "new.conllu").err == ""
    text = (here / "new.conllu").read_text()
    for tag in set(WORDS.values()):
        text = text.replace(f"\tx{tag}\t", "\t_\t")
    (here / "bare.conllu").write_text(text)
    err = said(capsys, "predict", "m", "bare.conllu").err
    assert "the column XPOS has _ for all words" in err


def test_columns_with_names_are_not_those_without(here):
    columns = read_columns("train.txt")
    plain = SequenceTagger(features="words").fit(columns, columns.strings(1))
    with pytest.raises(ValueError, match="fitted to columns without names"):
        plain.predict(read_conllu("test.conllu"))


def test_recognised_after_sentences_of_one_word(here, capsys):
    one = row(1, "Yes", "INTJ") + "\n"
    lines = conllu(sentences(30), odd=False).splitlines(keepends=True)
    rows = [z for z in lines if not z.startswith("#")]
    (here / "a.txt").write_text("".join([one, one, *rows]))
    err = said(capsys, "train", "tag", "a.txt", "--features", "pos", "-o", "m").err
    assert "a.txt is read as CoNLL-U" in err
