"""Scores of files by the rules of evalb, counted a second time by other code.

The program evalb (Sekine & Collins 1997) reads a file of true trees and one of predicted
trees, a tree per line. With COLLINS.prm it takes out words whose tag is -NONE- or
punctuation, then phrases without words and those labelled TOP; ADVP and PRT are equal. A
predicted bracket is correct if a true one with its label, start and end is still free.
"""

import gzip
import json
import re

import pytest

from maxmargin.cli.main import main

DELETED = ("-NONE-", ",", ":", "``", "''", ".")
ODD = ["{", "}", "[", "]", '"', '"x"', "''", "``", "«", "d'água", "a_b", "_", "\\", "#"]


def strict_tree(line):
    """(brackets, words) of a line; own code on purpose, as nothing may be shared."""
    brackets, words, open_ones, at = [], [], [], 0
    for found in re.finditer(r"\(([^\s()]*)(?:\s+([^\s()]+)\s*\))?|\)|(\S)", line):
        assert not found[3], f"{found[3]} stands outside of brackets"
        if found[0] == ")":
            label, start = open_ones.pop()
            if label not in ("", "TOP") and at > start:
                brackets.append(("ADVP" if label == "PRT" else label, start, at))
        elif found[2]:
            tag = base(found[1])
            words += [] if tag == "-NONE-" else [found[2]]
            at += tag not in DELETED
        else:
            open_ones.append((base(found[1]), at))
    return brackets, words


def base(label):
    return label if label[:1] == "-" else re.split("[-=|]", label)[0]


def strict_f1(gold_lines, found_lines):
    correct = total = 0
    for gold, found in zip(gold_lines, found_lines, strict=True):
        (true, words), (guess, same) = strict_tree(gold), strict_tree(found)
        assert words == same  # evalb refuses sentences with other words
        total += len(true) + len(guess)
        for bracket in guess:
            if bracket in true:
                true.remove(bracket)
                correct += 1
    return 2 * correct / total


def through_files(folder, capsys, lines, n_train, kind):
    """(F1 that evaluate prints, F1 of what predict wrote by strict counting)."""
    train, test, model, new, out = (str(folder / f"{k}.txt") for k in range(5))
    gold = lines[n_train:]
    for path, some in ((train, lines[:n_train]), (test, gold)):
        (folder / path).write_text("\n".join(some) + "\n")
    command = ["train", "parse", train, "-o", model, "--method", "pcfg", "--quiet"]
    assert main([*command, "--input", kind]) == 0
    pairs = [re.findall(r"\(([^\s()]+) ([^\s()]+)\)", line) for line in gold]
    pairs = [[(w, base(t)) for t, w in row if t != "-NONE-"] for row in pairs]
    tokens = [[w if kind == "words" else f"{w}_{t}" for w, t in row] for row in pairs]
    (folder / new).write_text("\n".join(map(" ".join, tokens)) + "\n")
    assert main(["predict", model, new, "-o", out]) == 0
    capsys.readouterr()
    assert main(["evaluate", model, test, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["f1"]
    return said, strict_f1(gold, (folder / out).read_text().splitlines())


@pytest.mark.parametrize("kind", ["tags", "words"])
def test_evaluate_says_what_evalb_counts(data_home, tmp_path, capsys, kind):
    file = data_home / "wsj_sample_trees" / "wsj_sample.mrg.gz"
    lines = [z for z in gzip.decompress(file.read_bytes()).decode().split("\n") if z]
    lines = [z for z in lines if len(re.findall(r"\S\)", z)) < 18]
    # some that have a label above itself once empty elements are gone
    some = [
        z for z in lines if re.search(r"\((\S+) \(\1 \([^()]*\)\) \(\S+ \(-NONE-", z)
    ]
    said, counted = through_files(tmp_path, capsys, lines[:300] + some[:9], 230, kind)
    assert said == pytest.approx(counted, abs=1e-12)
    assert 0.5 < said < 1


@pytest.mark.parametrize("kind", ["tags", "words", "both"])
def test_words_come_back_as_they_were_given(tmp_path, capsys, kind):
    """Also words that other treebanks write in other ways, known or not."""
    lines = [f"(TOP (S (NP (D o) (N {w})) (VP (V {w})) (. .)))" for w in ODD]
    said, counted = through_files(tmp_path, capsys, lines, len(ODD) // 2, kind)
    assert said == pytest.approx(counted, abs=1e-12)
