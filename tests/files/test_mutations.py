"""Readers of all families: damaged files are refused with sentences; time is linear."""

import contextlib
import time

import pytest
from mutations import check_reader, complaint

from maxmargin import files
from maxmargin.classes.texts import read_new_texts
from maxmargin.files import RawText
from maxmargin.trees.run import Parse

COLUMNS = "the D\ndog N\nbarks V\n\n-DOCSTART- X\n\nit P\nruns é\n"
STOCKHOLM = """# STOCKHOLM 1.0
#=GF ID one
# some comment
a_1      ACDEF.GH
#=GR a_1 SS CCHHHH.E
b        AC-EFAGH
#=GC core 11011010

a_1      KL
#=GR a_1 SS CC
b        -L
#=GC core 01
//
# STOCKHOLM 1.0
x ACD
y A-D
//
"""
PAIRS = """#set\tfamily\tname_a\tname_b\tpid\taln_a\taln_b\tss_a\tss_b\tcore
RV\tf1\ta\tb\t50.0\tAC-DE\tA-CDF\tCC.HH\tC.CHH\t10011
RV\tf2\tc\td\t*\tACD\tACD\t*\t*\t*
"""
SEQUENCES = "#name_a\tseq_a\tseq_b\tname_b\nx\tACD\tAD\ty\n"
TREES = """( (S (NP-SBJ-1 (DT The) (NN cat)) (VP (VBD sat) (NP (-NONE- *-1))) (. .)) )
# a comment
(TOP (S (NP=2 (JJ|NN x))
  (VP (-LRB- -LRB-) (V é))))
(())
"""
TEXTS = ["rec.autos\tWhich oil?\nsci.é\tx  y\n\nb\ta\n", "A x y\nB:c What is é ?\n"]
ALIGNED = [
    "he sleeps\til dort\t0-0 1-1\nthe é\tla maison\t0?0 1-1 0-1\n",
    "1\ta b\tc\t0-0\n2\tc\td e\t\n",
    "a b\tc d\ne\tf\n",
]


def _sentences(raw):
    command = Parse()
    command.input = "both"
    return command.read(raw, False)


READERS = {
    "columns": (files.read_columns, [COLUMNS]),
    "tabs": (
        lambda raw: files.read_columns(raw, "\t", comment="#"),
        ["# x\n" + COLUMNS.replace(" ", "\t")],
    ),
    "latin-1": (lambda raw: files.read_columns(raw, encoding="latin-1"), [COLUMNS]),
    "utf-16": (lambda raw: files.read_columns(raw, encoding="utf-16"), [COLUMNS]),
    "crfsuite": (
        files.read_crfsuite,
        ["A\tw=x\tb\\:c:2\n@weight:0.5\nB\tw:1e3\tw\n\nC\n", "A\tx\ty\\:\n\nB\ty\n"],
    ),
    "slashed": (files.read_slashed, ["a/B 1/2/C\n\né/D\n", "a b\nc\n"]),
    "svmhmm": (
        files.read_svmhmm,
        ["1 qid:1 1:0.5 3:2e-3 # x\n2 qid:1 2:1\n\nA qid:3 1:-1\nB qid:10\n"],
    ),
    "svmlight": (files.read_svmlight, ["1 qid:3 1:0.5 7:2e3 # x\n-1 2:1\n\né 1:-1\n"]),
    "csv": (
        files.read_csv,
        ['a,b,é\n1,2e3,x\n\n"-3", 4 ,"y ""z"",\n2"\n', "1,2,a\n3,4,b\n"],
    ),
    "texts": (files.read_texts, TEXTS),
    "new texts": (
        lambda raw: read_new_texts(raw, " ", {"A", "B:c"}.__contains__),
        TEXTS,
    ),
    "labelled texts": (lambda raw: read_new_texts(raw, "\t", bool), TEXTS),
    "taxonomy": (
        files.read_taxonomy,
        ["a b\nb c\nb d\n# x\ne f\na f\n", "a.b\na.c.d\né\n", "a b\tc d\nc d\te\n"],
    ),
    "trees": (lambda raw: files.read_trees(raw, missing=True), [TREES]),
    "raw trees": (
        lambda raw: files.read_trees(
            raw, strip_functions=False, strip_empty=False, collapse_same=False, root="T"
        ),
        [TREES.replace("(())", "")],
    ),
    "sentences": (
        _sentences,
        ["a_B c_é\n\nx_y_Z\n"],
    ),
    "fasta": (files.read_fasta, [">a some\nACD\nEF\n;x\n>b\nA CD\n"]),
    "fasta rows": (files.read_fasta_alignment, [">a some\nACD-.E\n>b\nA-\nCDDE\n"]),
    "fasta pairs": (files.read_fasta_pairs, [">a\nAC-D\n>b\nACDD\n>c\nA\n>d\nC\n"]),
    "stockholm": (files.read_stockholm, [STOCKHOLM]),
    "stockholm pairs": (files.read_stockholm_pairs, [STOCKHOLM]),
    "pair table": (files.read_pair_table, [PAIRS, SEQUENCES]),
    "aligned": (files.read_aligned, ALIGNED),
    "aligned with links": (lambda raw: files.read_aligned(raw, True), ALIGNED[:2]),
    "bitext": (files.read_bitext, ALIGNED),
    "pharaoh": (files.read_pharaoh, ["0-0 1?1 2p3\n\n10-11 3-3\n"]),
    "naacl": (files.read_naacl, ["1 1 1 S\n1 2 2 P 0.5\nx 10 11\n\n"]),
}


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_refused_with_sentences(name):
    read, texts = READERS[name]
    for text in texts:
        read(RawText(text.encode("utf-16" if name == "utf-16" else "utf-8"), "good"))
    check_reader(read, texts, n=120)


def test_complaints():
    assert complaint(files.read_fasta, b">a\nAC\n") is None
    assert complaint(files.read_fasta, b"AC\n") is None
    assert "KeyError" in complaint({}.__getitem__, b"AC\n")
    for bad in (
        "no file named.",
        "some file.txt, line 3: no stop",
        "some file.txt\nis.",
    ):

        def read(raw, bad=bad):
            raise ValueError(bad)

        assert "says" in complaint(read, b"")


# time ------------------------------------------------------------------------------------

GROWING = {
    "columns": lambda n: "a B\n\n" * n,
    "crfsuite": lambda n: "A\t" + "x:2\t" * n,
    "svmhmm": lambda n: "".join(f"A qid:{i} 1:2\n" for i in range(n)) + "A qid:3 1:x\n",
    "svmlight": lambda n: "A " + " ".join(f"{i}:1" for i in range(1, n + 1)),
    "texts": lambda n: "A\tx y\n" * n,
    "taxonomy": [
        lambda n: "\n".join(f"n{i} n{i + 1}" for i in range(n)),
        lambda n: "\n".join(f"n{i} n{(i + 1) % n}" for i in range(n)),
        lambda n: "\n".join(f"n{i} x" for i in range(n)),
        lambda n: ".".join(["a"] * n),
    ],
    "trees": [
        lambda n: "(S " * n + "(A b)" + ")" * n,
        lambda n: "(S " + "(A\n* )" * n + ")",
        lambda n: "(S (A b) " + "(S (-NONE- b) " * n + ")" * n + ")",
    ],
    "fasta rows": lambda n: "".join(f">r{i}\nAC\n" for i in range(n)),
    "stockholm": lambda n: (
        "# STOCKHOLM 1.0\n"
        + "".join(f"r{i} AC\n#=GR r{i} SS HH\n" for i in range(n // 4))
        + "//\n"
    ),
    "pair table": lambda n: (
        "#aln_a\taln_b\t"
        + "\t".join(f"c{i}_a\tc{i}_b" for i in range(n // 4))
        + "\nAC\tAC"
        + "\tHH\tHH" * (n // 4)
    ),
    "pharaoh": lambda n: " ".join(f"{i}-{i}" for i in range(n)),
    "naacl": lambda n: "".join(f"1 {i} {i}\n" for i in range(1, n + 1)),
}


def _seconds(read, raw) -> float:
    began = time.process_time()
    with contextlib.suppress(ValueError):
        read(raw)
    return time.process_time() - began


@pytest.mark.parametrize("name", GROWING)
def test_time_grows_with_the_file_not_with_its_square(name):
    """Generous: what takes the square of 20,000 steps takes seconds, not a tenth.

    The best of three, as the garbage of other tests may be collected in between.
    """
    read, makers = READERS[name][0], GROWING[name]
    for make in makers if isinstance(makers, list) else [makers]:
        seconds = []
        for n in (5_000, 20_000):
            raw = RawText(make(n).encode(), "file")
            seconds.append(min(_seconds(read, raw) for _ in range(3)))
        assert seconds[1] < max(1.0, 8 * seconds[0])
