"""The gallery: every script runs, draws, and prints what its text claims."""

import ast
import itertools
import json
import re
import sys

import pytest
from site_tools import ROOT, tool
from sources import parsed

pytestmark = pytest.mark.slow

GALLERY = ROOT / "docs" / "gallery"
SCRIPTS = sorted(GALLERY.glob("*.py"))
MAY_IMPORT = {"maxmargin", "matplotlib", "networkx", "numpy", "scipy", "sklearn"}
MOST_LINES, MOST_PRINTED = 60, 25


def rising(values):
    return all(a < b for a, b in itertools.pairwise(values))


# What the text of a script claims, of all numbers that it prints, in their order.
OF_NUMBERS = {
    "align_homologs": lambda n: rising(n[1::2]),
    "align_path": lambda n: n[1] > 80 and n[-1] <= 1,
    "class_costs": lambda n: rising(n[2::3]) and rising(n[-2::-3]),
    "class_few_labels": lambda n: n[1] < n[2],
    "class_grades": lambda n: n[1] < n[4] and n[3] > 4 * n[6],
    "class_scales": lambda n: n[0] > 300 and n[2] < 50 and n[4] > 90,
    "class_taxonomy": lambda n: n[0] < n[2] and n[1] < n[3],
    "cluster_mentions": lambda n: n[2] == n[3],
    "cluster_points": lambda n: n[2] > 0.9 > 2 * n[3],
    "graph_club": lambda n: n[0] + 1 >= n[1] == 28,
    "graph_denoise": lambda n: n[0] + 10 < n[1] and n[2] <= 1,
    "graph_hidden": lambda n: rising(n),
    "graph_network": lambda n: rising(n),
    "graph_pages": lambda n: n[1] + 15 < n[3] and n[5] - n[3] < 5,
    "kernel_basis": lambda n: all(a > b for a, b in zip(n[1:12:3], n[2:12:3])),  # noqa: B905
    "kernel_regions": lambda n: n[0] + 5 < n[3] and n[2] == n[4] == 10,
    "kernel_words": lambda n: n[1] > 60,
    "latent_bump": lambda n: min(n[:2]) > 95,
    "match_points": lambda n: min(n[:2]) > 90 and max(n[2:4]) < 50,
    "motif_logo": lambda n: min(n) > 90,
    "multilabel_pictures": lambda n: n[0] < n[2] and n[1] < n[3],
    "own_knapsack": lambda n: rising(n[1::2]),
    "own_rna": lambda n: n[0] > 0.8 * n[1],
    "own_segments": lambda n: n[0] > 0.5 * n[1],
    "parse_telescope": lambda n: n[0] < 60 and n[2] == 100,
    "parse_two_readings": lambda n: n[0] == 2 and n[2] == n[4] > n[3],
    "rank_search_results": lambda n: n[3] > n[9] and n[6] > n[11],
    "tag_k_best": lambda n: rising(n[1:8:2]),
    "tag_missing_labels": lambda n: min(n[1::4]) > 95 and n[18] < 60,
    "tag_names": lambda n: n[5] > 90,
    "tag_page_numbers": lambda n: n[0] < n[2] and n[1] + 20 < n[3],
    "tag_probabilities": lambda n: 5 * n[2] < n[5],
    "tag_with_kernel": lambda n: n[0] < 60 and rising(n),
    "train_calibrate": lambda n: n[1] == n[3] and abs(n[4] - n[3]) < 3 < n[1] - n[2],
    "train_certificate": lambda n: rising(n[3::5]) and n[4] + 1 > n[14],
    "train_choose_C": lambda n: rising(n[:0:-1]),
    "train_dev": lambda n: n[0] < n[1] < n[6] and n[2] > n[5] and n[4] > n[7],
    "train_grid_search": lambda n: n[2] > n[3] > 90,
    "train_interrupted": lambda n: n[0] < n[2] and n[1] > 1 > 0.05 >= n[3],
    "train_solvers": lambda n: n[-3] > n[0] and n[-2] == 0,
}

# ... and lines that must be there.
OF_LINES = {
    "align_spellings": ["vnder under", "deuylles devil--s"],
    "kernel_words": ["gelato: Italian", "hyvää: Finnish"],
    "match_words": ["the - le, white - blanc, cat - chat", "not - ne, not - pas"],
    "motif_logo": ["the motif: TGACGTCA"],
    "tag_parts_of_speech": [
        "the/DET singer/NOUN whispered/VERB softly/ADV",
        "'the walk' ends with a NOUN",
        "'the cat walk' ends with a VERB",
    ],
    "train_choose_C": ["best C: 0.1"],
    "train_interrupted": ["to the last bit: True"],
    "train_save": ["to the last bit: True"],
    "train_threads": [
        f"n_jobs={n}: gap proved to be at most 0.2%: True" for n in (1, 2, 4)
    ]
    + ["on more than 99% of the digits: True"],
}


def numbers_in(text):
    found = re.findall(r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?", text)
    return [float(number.replace(",", "")) for number in found]


def test_gallery_is_large():
    assert len(SCRIPTS) >= 24
    assert {*OF_NUMBERS, *OF_LINES} <= {script.stem for script in SCRIPTS}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_is_short_and_plain(script):
    """A title that is a sentence, a few paragraphs, then code of the public packages."""
    source = script.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= MOST_LINES
    tree = parsed(source)
    title, blank, *rest = (ast.get_docstring(tree) or "").split("\n")
    assert re.fullmatch(r"[A-Z][^`_]*\.", title)
    assert not blank
    assert 1 <= "\n".join(rest).count("\n\n") + 1 <= 3
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            assert not (isinstance(node, ast.Attribute) and is_hidden(node.attr))
            assert getattr(node, "attr", "") not in ("show", "savefig"), "it stays open"
            continue
        for name in names:
            package, *inner = name.split(".")
            assert package in MAY_IMPORT or package in sys.stdlib_module_names, name
            assert not any(map(is_hidden, inner)), name


def is_hidden(name):
    return name.startswith("_") and not name.startswith("__")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_runs(script):
    """What it makes is kept: after ``make docs`` nothing runs again."""
    made = tool("gallery").run(script)
    output = json.loads((made / "output.json").read_text(encoding="utf-8"))
    assert 1 <= len(output["pictures"]) <= 2
    assert output["faults"] == [], "of its figures"
    assert output["left"] == [], "it leaves files behind"
    printed = output["text"]
    assert 1 <= len(printed.splitlines()) <= MOST_PRINTED
    assert OF_NUMBERS.get(script.stem, bool)(numbers_in(printed) or [1]), printed
    for line in OF_LINES.get(script.stem, []):
        assert line in printed
