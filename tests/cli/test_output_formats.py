"""Formats of predictions, by the ending of a name or --format: read back, they agree."""

import gzip
import json
import re
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from task_cases import lines_of, table, train_all

from maxmargin import Tree, files
from maxmargin.cli.formats import write_table
from maxmargin.cli.main import TASKS, main, task_of
from maxmargin.cli.task import TABLES
from maxmargin.files import read_pharaoh, read_trees
from maxmargin.matchings.bitext import parse_links, read_aligned, read_naacl


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    return train_all(tmp_path_factory.mktemp("models"))


def tokens(rows, *names):
    """Labels of the rows of every sentence or graph."""
    return [
        [row["label"] for row in some]
        for _, some in groupby(rows, lambda row: [row[name] for name in names])
    ]


def heads_of(trees):
    return [[head if type(head) is int else head[0] for head in row] for row in trees]


def tagged(path):
    text = path.read_text().strip()
    return [
        [line.split()[-1] for line in s.splitlines()] for s in re.split("\n\n+", text)
    ]


def rows_of(pairs):
    return [files.gapped(p.a, p.b, p.pairs) for p in pairs]


def clustal(path):
    found = []
    for block in path.read_text().split("CLUSTAL multiple")[1:]:
        rows = {}
        for line in block.splitlines()[1:]:
            if line and not line.startswith(" "):
                name, letters = line.split()
                rows[name] = rows.get(name, "") + letters
        found.append(tuple(rows.values()))
    return found


def partition(found):
    """Clusters as sets of mentions."""
    clusters = {}
    for mention, cluster in found:
        clusters.setdefault(int(cluster), set()).add(tuple(map(int, mention)))
    return sorted(map(sorted, clusters.values()))


def mentions(read):
    def partitions(path):
        found = read(path)
        return [
            partition((m[:3], z) for m, z in zip(x.mentions, y, strict=True))
            for x, y in zip(found.X, found.y, strict=True)
        ]

    return partitions


def of_document(record):
    return partition((mention[:3], mention[3]) for mention in record["mentions"])


def sites(rows):
    return [(r["sequence"], int(r["start"]), int(r["end"]), r["strand"]) for r in rows]


def bed(path):
    rows = [line.split("\t") for line in lines_of(path)]
    return [(r[0], int(r[1]), int(r[2]), r[5]) for r in rows]


def gff(path):
    rows = [line.split("\t") for line in lines_of(path)[1:]]
    return [(r[0], int(r[3]) - 1, int(r[4]), r[6]) for r in rows]


def npz(path):
    with np.load(path) as arrays:
        cuts = arrays["node_start"][1:-1]
        return [part.tolist() for part in np.split(arrays["labels"], cuts)]


# how files are read that have a format of their own
OWN = {
    "tag": {
        "same": tagged,
        "conllu": lambda path: files.read_conllu(path, label="UPOS")[1],
    },
    "classify": {"text": lambda path: [x.split("\t")[0] for x in lines_of(path)]},
    "multilabel": {"text": lambda path: [x.split("\t")[0] for x in lines_of(path)]},
    "rank": {"scores": lambda path: list(map(float, lines_of(path)))},
    "kernel": {"labels": lines_of},
    "parse": {"brackets": read_trees},
    "depend": {"conllu": lambda path: heads_of(files.read_dependencies(path)[1])},
    "align": {
        "fasta": lambda path: rows_of(files.read_fasta_pairs(path)),
        "stockholm": lambda path: rows_of(files.read_stockholm_pairs(path)),
        "clustal": clustal,
        "tsv": lambda path: rows_of(files.read_pair_table(path)),
    },
    "match": {
        "pharaoh": lambda path: [links.sure for links in read_pharaoh(path)],
        "naacl": lambda path: [links.sure for links in read_naacl(path).values()],
        "tsv": lambda path: [links.sure for links in read_aligned(path).y],
    },
    "cluster": {
        "jsonl": mentions(files.read_mentions),
        "conll2012": mentions(files.read_conll2012),
    },
    "graph": {
        "jsonl": lambda path: [json.loads(x)["labels"] for x in lines_of(path)],
        "npz": npz,
    },
    "motif": {"bed": bed, "gff3": gff},
    "structure": {"jsonl": lambda path: [json.loads(x)["y"] for x in lines_of(path)]},
}
# what the records of JSON say, and the rows of tables
RECORDS = {
    "tag": lambda found: [r["labels"] for r in found],
    "classify": lambda found: [r["label"] for r in found],
    "multilabel": lambda found: [",".join(r["labels"]) for r in found],
    "rank": lambda found: [r["score"] for r in found],
    "kernel": lambda found: [r["label"] for r in found],
    "parse": lambda found: [Tree.parse(r["tree"]) for r in found],
    "depend": lambda found: [r["heads"] for r in found],
    "align": lambda found: [(r["aln_a"], r["aln_b"]) for r in found],
    "match": lambda found: [list(map(tuple, r["links"])) for r in found],
    "cluster": lambda found: list(map(of_document, found)),
    "graph": lambda found: [r["labels"] for r in found],
    "motif": lambda found: sites(r for r in found if r["motif"]),
    "structure": lambda found: [r["y"] for r in found],
}
ROWS = RECORDS | {
    "tag": lambda rows: tokens(rows, "sentence"),
    "depend": lambda rows: [
        [int(row["head"]) for row in some]
        for _, some in groupby(rows, lambda row: row["sentence"])
    ],
    "multilabel": lambda rows: [r["labels"] for r in rows],
    "rank": lambda rows: [float(r["score"]) for r in rows],
    "match": lambda rows: [parse_links(r["links"]).sure for r in rows],
    "cluster": lambda rows: [
        partition(((r["sentence"], r["first"], r["last"]), r["cluster"]) for r in rows)
    ],
    "graph": lambda rows: tokens(rows, "graph"),
    "motif": lambda rows: sites(r for r in rows if r["motif"] == "true"),
    "structure": lambda rows: [json.loads(r["y"]) for r in rows],
}


def read_back(task, form, path):
    if form in OWN[task]:
        return OWN[task][form](path)
    if form in ("csv", "tsv"):
        return ROWS[task](table(path, "\t" if form == "tsv" else ","))
    text = path.read_text()
    if form == "jsonl":
        return RECORDS[task](list(map(json.loads, text.splitlines())))
    return RECORDS[task](json.loads(text))


@pytest.fixture
def predict(models, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(task, output, *more):
        model, train = models[task]
        if task == "structure":
            more = (*more, "--structure", "task_structures:Sign")
        assert main(["predict", model, train, "-o", output, *more]) == 0
        return tmp_path / output

    return run


@pytest.mark.parametrize("task", TASKS)
def test_every_format_says_the_same(task, predict, capsys):
    first, *others = task_of(task).outputs
    expected = OWN[task][first](predict(task, "plain"))
    assert expected
    for form, output in {**TABLES, **task_of(task).outputs}.items():
        if form == "svg":
            continue
        for k, ending in enumerate(output.endings):
            path = predict(task, f"{form}{k}{ending}")
            usual = form in TABLES and ending in task_of(task).outputs[first].endings
            assert read_back(task, first if usual else form, path) == expected, ending
        if output.endings:
            ending = output.endings[0].upper()
            assert predict(task, f"other{ending}").read_bytes() == path.read_bytes()
        named = predict(task, f"{form}.dat", "--format", form)
        assert read_back(task, form, named) == expected
    assert {*others} | {first} >= {*OWN[task]}
    assert capsys.readouterr().err == ""


def test_what_is_not_there_is_an_empty_cell(tmp_path):
    command = SimpleNamespace(
        form="csv",
        numbered="sentence",
        encoding="utf-8",
        inputs=list,
        record=lambda x, output, chance: {"word": x, "tree": output},
        cells=lambda record: [record],
    )
    found = [[({}, None)], [({"rank": 1}, "(S b)")]]
    write_table(command, str(tmp_path / "out"), ["a"], found[:1])
    assert table(tmp_path / "out") == [{"sentence": "1", "word": "a", "tree": ""}]
    write_table(command, str(tmp_path / "out"), ["b"], found[1:])
    (row,) = table(tmp_path / "out")
    assert row == {"sentence": "1", "rank": "1", "word": "b", "tree": "(S b)"}


def test_trees_as_a_picture(predict):
    root = ElementTree.parse(predict("parse", "trees.svg")).getroot()
    parts = [part for part in root if part.tag.endswith("svg")]
    trees = OWN["parse"]["brackets"](predict("parse", "trees.mrg"))
    for part, tree in zip(parts, trees, strict=True):
        assert {*tree.words(), "NP", "VP"} <= {text.text for text in part.iter()}
    high = [float(part.get("height")) for part in parts]
    assert [float(part.get("y")) for part in parts] == [0, high[0]]
    assert float(root.get("height")) == sum(high)


def test_format_wins_over_the_name_and_names_may_be_compressed(predict):
    json_lines = predict("rank", "a.jsonl").read_text()
    assert predict("rank", "b.csv", "--format", "jsonl").read_text() == json_lines
    assert predict("rank", "c.npz", "--format", "jsonl").read_text() == json_lines
    for name in ("d.jsonl.gz", "D.JSONL.GZ"):
        packed = predict("rank", name).read_bytes()
        assert gzip.decompress(packed).decode() == json_lines
    for name in ("out.txt", "out", "out.of.me", "out.gz.x", "out.labels", ".csv"):
        assert predict("rank", name).read_text() == predict("rank", "plain").read_text()


@pytest.mark.parametrize(
    ("task", "name", "says"),
    [
        ("tag", "x.npz", "choose a name that ends in .conll, .conllu, .csv"),
        ("graph", "x.fasta", "ends in .fasta, but predictions of the task 'graph'"),
        ("rank", "x.pdf", "are no such file: choose a name that ends in .csv, .tsv"),
        ("classify", "x.xlsx", "ends in .csv, .tsv, .json or .jsonl, or .txt."),
        ("kernel", "x.svg.gz", "ends in .svg"),
        ("match", "x.conllu", "ends in .conllu"),
    ],
)
def test_names_that_contradict_are_refused(task, name, says, models, capsys, tmp_path):
    there_is_none = str(tmp_path / "none")
    output = str(tmp_path / name)
    assert main(["predict", models[task][0], there_is_none, "-o", output]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert said.count("\n") == 1


def test_formats_that_are_not_known_are_refused(models, capsys):
    model, train = models["rank"]
    assert main(["predict", model, train, "--format", "naacl"]) == 2
    assert "choose scores, csv, tsv, json or jsonl." in capsys.readouterr().err


# several outputs, and probabilities -----------------------------------------------------


SEVERAL = [t for t in TASKS if "--k-best" in task_of(t).predict_options]
SEVERAL.remove("structure")  # a Problem has no search for several outputs


@pytest.mark.parametrize("task", SEVERAL)
def test_several_outputs_are_ranked_in_tables(task, predict, models, capsys):
    first, *_ = task_of(task).outputs
    best = read_back(task, first, predict(task, "plain"))
    path = predict(task, "best.jsonl", "--k-best", "2", "--format", "json")
    records = json.loads(path.read_text())
    assert [r["rank"] for r in records[:2]] == [1, 2] or task == "parse"
    assert all(isinstance(r["score"], float) for r in records)
    assert RECORDS[task]([r for r in records if r["rank"] == 1]) == best
    rows = table(predict(task, "best.csv", "--k-best", "2"))
    assert ROWS[task]([r for r in rows if r["rank"] == "1"]) == best
    for form, output in task_of(task).outputs.items():
        if not output.k_best:
            name = f"no{output.endings[0]}"
            command = ["predict", *models[task], "-o", name, "--k-best", "2"]
            assert main(command) == 2
            assert f"--k-best cannot be written as {form}" in capsys.readouterr().err


def test_probabilities_are_in_tables(predict, models, capsys):
    rows = table(predict("tag", "p.csv", "--marginals"))
    assert all(0 <= float(row["share"]) <= 1 for row in rows)
    (record, *_) = json.loads(predict("graph", "p.json", "--marginals").read_text())
    assert np.allclose(np.sum(record["marginals"], axis=1), 1)
    rows = table(predict("graph", "p.csv", "--marginals"))
    assert np.allclose(json.loads(rows[0]["marginals"]), record["marginals"][0])
    (record, *_) = json.loads(predict("align", "p.json", "--marginals").read_text())
    matched = sum(
        "-" not in pair for pair in zip(record["aln_a"], record["aln_b"], strict=True)
    )
    assert len(record["probabilities"]) == matched
    (record, *_) = json.loads(predict("parse", "p.json", "--marginals").read_text())
    tree = Tree.parse(record["tree"])
    assert [tuple(row[:3]) for row in record["brackets"]] == tree.spans()
    text = predict("tag", "p.conllu", "--marginals").read_text()
    assert re.search(r"\tShare=0\.\d{4}\n", text)
    assert main(["predict", *models["align"], "-o", "x.fa", "--marginals"]) == 2
    said = capsys.readouterr().err
    assert "--marginals cannot be written as fasta: choose stockholm, csv" in said


def test_every_format_stands_in_the_table_of_the_page():
    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*)$", page, re.MULTILINE))
    for task in TASKS:
        for form, output in task_of(task).outputs.items():
            assert f"`{form}`" in rows[task]
            assert all(f"`{ending}`" in rows[task] for ending in output.endings)
