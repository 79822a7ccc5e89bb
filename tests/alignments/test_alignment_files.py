"""Alignments as objects, and their files: what is read, what is refused and how."""

import doctest
import gzip
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.alignments.files import pairs as alignments_module
from maxmargin.files import (
    PairAlignment,
    RawText,
    data_file,
    gapped,
    pairs_of,
    read_fasta,
    read_fasta_alignment,
    read_fasta_pairs,
    read_pair_table,
    read_stockholm,
    read_stockholm_pairs,
    ungapped,
    write_fasta,
    write_pair_table,
    write_stockholm,
)

STOCKHOLM = """# STOCKHOLM 1.0
# a remark
#=GF ID  toy/one
#=GS x   DE what x is
x          HEAG.
#=GR x SS  HHE.E
y          HE.GH
#=GC core  11001

x          AW
#=GR x SS  CC
y          a-
#=GC core  10
//

# STOCKHOLM 1.0
p/1-3  ACG
q/1-3  A-G
//
"""
TABLE = (
    "#set\tfamily\tname_a\tname_b\tpid\taln_a\taln_b\tss_a\tss_b\tcore\n"
    "S\tf\tx\ty\t75\tHEAG\thE-G\tHHEC\t*\t1101\n"
)


@st.composite
def alignments(draw):
    letters = st.text("ACGT", min_size=1, max_size=8)
    a, b = draw(letters), draw(letters)
    size = draw(st.integers(0, min(len(a), len(b))))
    i = draw(st.permutations(range(len(a))))[:size]
    j = draw(st.permutations(range(len(b))))[:size]
    return a, b, list(zip(sorted(i), sorted(j), strict=True))


def test_docstrings_run():
    assert doctest.testmod(alignments_module).failed == 0


# rows and pairs ----------------------------------------------------------------------


@given(alignments())
def test_rows_and_pairs_are_inverse(given):
    a, b, pairs = given
    rows = gapped(a, b, pairs)
    assert ungapped(*rows) == (a, b, pairs)
    assert len(rows[0]) == len(rows[1]) == len(a) + len(b) - len(pairs)
    assert not any(x == y == "-" for x, y in zip(*rows, strict=True))


def test_unmatched_letters_of_the_first_sequence_come_first():
    assert gapped("HAE", "HGE", [(0, 0), (2, 2)]) == ("HA-E", "H-GE")
    assert gapped("AC", "GT", []) == ("AC--", "--GT")
    assert ungapped("H.-E", "H--e") == ("HE", "He", [(0, 0), (1, 1)])


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([(0, 0), (0, 1)], "pair 1 is (0, 1) after (0, 0): both positions must grow"),
        ([(0, 1), (1, 0)], "both positions must grow"),
        ([(3, 0)], "pair 0 is (3, 0), but the sequences have 3 and 2 positions"),
        ([(0, -1)], "counted from 0"),
        ([(0, 1, 2)], "pair 0 is (0, 1, 2), but it must be two positions"),
        ([0], "two positions"),
        ([(0.5, 1)], "two positions"),
    ],
)
def test_what_is_no_alignment_is_refused(pairs, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        gapped("ACG", "AC", pairs)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (("AC", "A"), "the rows have 2 and 1 columns"),
        (("A1", "AC"), "the first row has '1' at position 2, which is not a letter"),
        (("AC", "A "), "the second row has ' ' at position 2"),
        ((None, "A"), "the first row is of type NoneType"),
    ],
)
def test_what_are_no_rows_is_refused(rows, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        ungapped(*rows)


# FASTA -------------------------------------------------------------------------------


def test_fasta(tmp_path):
    path = tmp_path / "x.fa.gz"
    path.write_bytes(gzip.compress(b">one first\r\nacg\r\n\r\nTT\r\n>two\nA C\n"))
    records = read_fasta(path)
    assert [(r.name, r.comment, r.sequence, r.line) for r in records] == [
        ("one", "first", "ACGTT", 1),
        ("two", "", "AC", 5),
    ]
    again = tmp_path / "y.fa"
    write_fasta(again, [(f"{r.name} {r.comment}".strip(), r.sequence) for r in records])
    assert [r[:3] for r in read_fasta(again)] == [r[:3] for r in records]


def test_fasta_as_one_alignment_and_as_pairs(tmp_path):
    path = tmp_path / "x.fa"
    path.write_text(">a\nAC-G\n>b\nA.TG\n>c\nACTG\n>d\nACT-\n")
    whole = read_fasta_alignment(path)
    assert whole.rows == ["AC-G", "A-TG", "ACTG", "ACT-"]
    assert len(pairs_of(whole)) == 6
    pairs = read_fasta_pairs(path)
    assert [(p.name_a, p.name_b) for p in pairs] == [("a", "b"), ("c", "d")]
    assert pairs[0].pairs == [(0, 0), (2, 2)] == pairs_of(whole)[0].pairs
    assert pairs[0].identity == 100.0
    assert pairs[0].rows == ("AC-G", "A-TG")


@pytest.mark.parametrize(
    ("text", "read", "said"),
    [
        ("", read_fasta, "is empty"),
        ("ACG\n", read_fasta, "line 1: 'ACG' stands before the first record"),
        (">\nA\n", read_fasta, "line 1: there is no name"),
        (">a\n>b\nA\n", read_fasta, "line 1: the record 'a' has no letters"),
        (">a\nAC\nA*\n", read_fasta, "line 3: the line has '*' at position 2"),
        (">a\nA-C\n", read_fasta, "line 2: the line has '-'"),
        (">a\nÄC\n", read_fasta, "line 2: the line has 'Ä' at position 1"),
        (">a\n--\n>b\nAC\n", read_fasta_pairs, "line 1: the record 'a' has no letters"),
        (
            ">a\nA\n>b\nA\n>c\nA\n",
            read_fasta_pairs,
            "line 5: 'c' is the last of an odd",
        ),
        (">a\nA\n>b\nAC\n", read_fasta_pairs, "line 3: row 'b' has 2 columns"),
        (">a\nA\n>b\nAC\n", read_fasta_alignment, "line 3: row 'b' has 2 columns"),
        (
            ">a\nA\n>a\nC\n",
            read_fasta_alignment,
            "line 3: the name 'a' was used in line 1",
        ),
    ],
)
def test_damaged_fasta(text, read, said, tmp_path):
    path = tmp_path / "bad.fa"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        read(path)
    assert str(path) in str(caught.value)


def test_what_fasta_cannot_hold(tmp_path):
    path = tmp_path / "x.fa"
    for record, said in (
        (("", "A"), "cannot be the name"),
        (("a\nb", "A"), "one line"),
        (("a", "A B"), "has ' ' at position 2"),
        (("a", ""), "is empty"),
    ):
        with pytest.raises(ValueError, match=said):
            write_fasta(path, [record])
    assert not path.exists()


# Stockholm ---------------------------------------------------------------------------


def test_stockholm(tmp_path):
    path = tmp_path / "x.sto"
    path.write_text(STOCKHOLM)
    first, second = read_stockholm(path)
    assert (first.name, second.name) == ("toy/one", "2")
    assert first.names == ["x", "y"]
    assert first.rows == ["HEAG-AW", "HE-GHA-"]
    assert first.tracks == [{"ss": "HHE.ECC"}, {}]
    assert first.columns == {"core": "1100110"}
    assert second.names == ["p/1-3", "q/1-3"]
    pair, other = read_stockholm_pairs(path)
    assert (pair.a, pair.b) == ("HEAGAW", "HEGHA")
    assert pair.pairs == [(0, 0), (1, 1), (3, 2), (4, 4)]
    assert pair.core == [True, True, False, True]
    assert pair.tracks_a == {"ss": "HHE*CC"}  # at the gap E is lost, at G it is unknown
    assert pair.tracks_b == {}
    assert pair.family == "toy/one"
    assert other.core is None


def test_stockholm_is_written_back(tmp_path):
    path, again = tmp_path / "x.sto", tmp_path / "y.sto.gz"
    path.write_text(STOCKHOLM)
    write_stockholm(again, read_stockholm(path))
    assert read_stockholm(again) == read_stockholm(path)
    bad = read_stockholm(path)[1]
    bad.names[0] = "two words"
    with pytest.raises(ValueError, match="one word"):
        write_stockholm(again, [bad])


HEAD = "# STOCKHOLM 1.0\n"
HEADER = "aln_a\taln_b\n"
READERS = (read_fasta, read_fasta_pairs, read_stockholm, read_pair_table)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no alignment"),
        ("x ACG\n//\n", "line 1: 'x ACG' stands outside of an alignment"),
        ("#=GF ID x\n", "line 1: '#=GF ID x' stands outside"),
        (HEAD + "x ACG\n", "is cut off: the alignment that begins in line 1"),
        (HEAD + "x ACG\n" + HEAD, "line 3: a new alignment begins"),
        (HEAD + "//\n", "line 2: the alignment of line 1 has no rows"),
        (HEAD + "x ACG\nx ACG\n//\n", "line 3: row 'x' was given in line 2 already"),
        (HEAD + "x ACG\ny AC\n//\n", "row 'y' (last seen in line 3) has 2 columns"),
        (HEAD + "x ACG\n\nx AC\ny ACG\n//\n", "row 'y' (last seen in line 5) has 3"),
        (HEAD + "x A3G\n//\n", "line 2: row 'x' has '3' at position 2"),
        (HEAD + "x A C\n//\n", "line 2: 'x A C' has 3 words, but it must have 2"),
        (HEAD + "x ---\n//\n", "row 'x' has no letters"),
        (HEAD + "x ACG\n#=GR y SS HHH\n//\n", "of row 'y', which is not there"),
        (
            HEAD + "x ACG\n#=GR x SS HH\n//\n",
            "'ss' of row 'x' (last seen in line 3) has 2",
        ),
        (HEAD + "x ACG\n#=GR x SS\n//\n", "line 3: '#=GR x SS' has 3 words"),
        (HEAD + "x ACG\n#=GC core 012\n//\n", "have '2' at position 3"),
    ],
)
def test_damaged_stockholm(text, said, tmp_path):
    path = tmp_path / "bad.sto"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        read_stockholm(path)
    assert str(path) in str(caught.value)


# tables ------------------------------------------------------------------------------


def test_pair_table(tmp_path):
    path, again = tmp_path / "x.tsv", tmp_path / "y.tsv.gz"
    path.write_text(TABLE)
    (pair,) = read_pair_table(path)
    assert pair == PairAlignment(
        name_a="x",
        name_b="y",
        a="HEAG",
        b="HEG",
        pairs=[(0, 0), (1, 1), (3, 2)],
        tracks_a={"ss": "HHEC"},
        core=[True, True, True],
        family="S/f",
        identity=75.0,
    )
    write_pair_table(again, [pair])
    assert read_pair_table(again) == [pair]


def test_table_of_sequences_that_are_not_aligned(tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text("seq_a\tseq_b\tss_a\tss_b\nACG\tAC\tHHE\tCC\n")
    (pair,) = read_pair_table(path)
    assert (pair.a, pair.b, pair.pairs) == ("ACG", "AC", [])
    assert (pair.name_a, pair.name_b) == ("2a", "2b")
    assert (pair.tracks_a, pair.tracks_b) == ({"ss": "HHE"}, {"ss": "CC"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: '' does not name the columns"),
        ("HEAG\tHE-G\n", "does not name the columns of a table of pairs"),
        ("aln_a\taln_b\n", "has no pairs after its first line"),
        ("aln_a\taln_b\taln_a\nA\tA\tA\n", "line 1: the column 'aln_a' is named twice"),
        ("aln_a\taln_b\tss_a\nA\tA\tH\n", "'ss_a' has no 'ss_b' beside it"),
        (
            "aln_a\taln_b\nA\n",
            "line 2: there are 1 columns, but the first line names 2",
        ),
        ("aln_a\taln_b\nAC\tA\n", "line 2: aln_a has 2 columns, but aln_b has 1"),
        ("aln_a\taln_b\n--\tAC\n", "line 2: aln_a has no letters"),
        ("aln_a\taln_b\nA?\tAC\n", "line 2: aln_a has '?' at position 2"),
        ("seq_a\tseq_b\nA-C\tAC\n", "line 2: seq_a has '-' at position 2"),
        ("aln_a\taln_b\tcore\nAC\tAC\t1\n", "line 2: the mask has 1 characters"),
        ("aln_a\taln_b\tcore\nAC\tAC\t1x\n", "have 'x' at position 2"),
        ("aln_a\taln_b\tpid\nAC\tAC\tno\n", "line 2: pid is 'no'"),
        ("aln_a\taln_b\tpid\nAC\tAC\t101\n", "line 2: pid is '101'"),
        ("aln_a\taln_b\tss_a\tss_b\nAC\tAC\tH\tHH\n", "line 2: ss_a has 1 characters"),
    ],
)
def test_damaged_pair_table(text, said, tmp_path):
    path = tmp_path / "bad.tsv"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        read_pair_table(path)
    assert str(path) in str(caught.value)


def test_a_name_with_a_tab_is_not_written(tmp_path):
    path = tmp_path / "x.tsv"
    pair = PairAlignment("a\tb", "c", "AC", "AC", [(0, 0)])
    with pytest.raises(ValueError, match="tab"):
        write_pair_table(path, [pair])
    assert not path.exists()


def test_truncated_gzip_and_missing_files(tmp_path):
    path = tmp_path / "cut.tsv.gz"
    path.write_bytes(gzip.compress(TABLE.encode() * 50)[:-20])
    for read in (read_pair_table, read_stockholm, read_fasta):
        with pytest.raises(ValueError, match="cut off"):
            read(path)
        with pytest.raises(FileNotFoundError, match="There is no file"):
            read(tmp_path / "nothing")


@given(
    st.text("ACz-.*>#=/\t\n 01_", max_size=60),
    st.sampled_from(["", ">a\n", HEAD, HEADER]),
)
def test_any_text_is_read_or_refused_with_a_sentence(text, start):
    raw = RawText((start + text).encode(), "some file")
    for read in READERS:
        said = "some file."
        try:
            assert len(read(raw)) > 0
        except ValueError as error:
            said = str(error)
        assert "some file" in said
        assert said.endswith(".")


def test_nothing_is_not_written(tmp_path):
    for write in (write_fasta, write_stockholm, write_pair_table):
        with pytest.raises(ValueError, match="to write to"):
            write(tmp_path / "x", [])
    assert not (tmp_path / "x").exists()


# the data sets -----------------------------------------------------------------------


def test_the_table_of_pairs_agrees_with_the_alignments(data_home):
    table = read_pair_table(data_file("balibase3/pairs_ss.tsv.gz"))
    assert len(table) == 1963
    assert sum(bool(p.tracks_a and p.tracks_b) for p in table) == 905 + 205
    whole = read_stockholm_pairs(data_file("balibase3/RV11_trimmed.sto.gz"))
    of_rows = {(p.family, p.name_a, p.name_b): p for p in whole}
    hard = [p for p in table if p.family.startswith("RV11/")]
    assert len(hard) == 912
    for p in hard:
        q = of_rows[p.family, p.name_a, p.name_b]
        assert (p.a, p.b, p.pairs, p.core) == (q.a, q.b, q.pairs, q.core)
        assert (p.tracks_a, p.tracks_b) == (q.tracks_a, q.tracks_b)
        assert set(p.tracks_a.get("ss", "")) <= set("HEC")


def test_homstrad_is_read(data_home):
    pairs = read_pair_table(data_file("homstrad_struct/pairs_consensus.tsv.gz"))
    assert len(pairs) == 2535
    assert all(len(p.core) == len(p.pairs) for p in pairs)


def test_edges_of_what_tables_hold():
    """100 per cent is possible; gap characters at letters are annotations not known."""
    table = "#aln_a\taln_b\tpid\tss_a\tss_b\nACD\tACD\t100\tC-.\tCHE\n"
    (pair,) = read_pair_table(RawText(table.encode(), "file"))
    assert pair.identity == 100
    assert (pair.tracks_a["ss"], pair.tracks_b["ss"]) == ("C**", "CHE")
    with pytest.raises(ValueError, match=r"pid is '100\.5'"):
        read_pair_table(RawText(table.replace("100", "100.5").encode(), "file"))
