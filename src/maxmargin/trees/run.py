"""How the task ``parse`` runs: its files, measures and weights."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from maxmargin import files, plots
from maxmargin.cli.command import Command, Sample, both_ends
from maxmargin.files.text_files import read_text
from maxmargin.trees.command import ParseTask
from maxmargin.trees.input import read_sentences
from maxmargin.trees.rules import named_rules
from maxmargin.trees.scorers import bracket_f1
from maxmargin.trees.svg import trees_svg
from maxmargin.trees.treebank import MISSING

# the beginning of a tree, perhaps behind comments: a bracket within a bracket
_TREEBANK = re.compile(rb"(?:\s*[#*].*\n)*\s*\(\s*[^\s()]*\s*\(")
LONGEST = 20  # words: beyond, the exact search for violated trees takes its time
HOW = {
    "tags": "tokens such as cat_NN, or tags alone",
    "both": "tokens such as cat_NN",
}


@dataclass
class Parse(ParseTask, Command):
    """Bracketed trees to learn from; a sentence per line to parse.

    ``more`` of sentences is whether the lines of the file have any.
    """

    strip_functions: bool = True
    root: str | None = None
    method: str = "max-margin"

    scorers = (bracket_f1,)
    weighed = "rules"
    input = None  # of the parser

    # training --------------------------------------------------------------------------

    @classmethod
    def from_args(cls, args) -> Parse:
        run = super().from_args(args)
        run.strip_functions = not args.keep_functions
        return run

    @classmethod
    def of(cls, model) -> Parse:
        run = super().of(model)
        run.input = model.input
        return run

    def notes(self, model, sample: Sample) -> dict[str, Any]:
        return {
            **super().notes(model, sample),
            "sentences": len(sample),
            "words": sum(len(tree.words()) for tree in sample.y),
            "left_out": model.n_left_out_,
        }

    def learn(self, path: str, args) -> Sample:
        return self._read_trees(path, True)

    def settings(self, args, given, sample, dev) -> dict[str, Any]:
        if args.method != "pcfg":
            given.setdefault("max_length", LONGEST)
        text = args.horizontal
        if text is not None:
            if text != "all" and not text.isdecimal():
                raise ValueError(
                    f"--horizontal {text} must be a number, 0 or more, or all."
                )
            given["horizontal"] = None if text == "all" else int(text)
        if "features" in given:
            special = {"auto": "auto", "none": None}
            names = args.features.split(",")
            given["features"] = special.get(args.features, names)
        return given

    def summary(self, model) -> str:
        notes = model.notes
        return (
            f"{notes['sentences']:,} trees, {notes['words']:,} words{_left_out(notes)}; "
            f"{str(model.grammar_)[1:-1]}"
        )

    # files -----------------------------------------------------------------------------

    def read(self, path: str, truth: bool) -> Sample:
        # a label above itself stays, as for evalb: all that is in the file counts
        return self._read_trees(path, False) if truth else self._read_sentences(path)

    def _read_trees(self, path: str, collapse_same: bool) -> Sample:
        raw = files.read_raw(path)
        trees = files.read_trees(
            raw,
            encoding=self.encoding,
            strip_functions=self.strip_functions,
            root=self.root,
            collapse_same=collapse_same,
        )
        if not trees:
            raise ValueError(f"{raw.path} has no trees: it is empty.")
        return Sample(trees, trees, raw.path)

    def _read_sentences(self, path: str) -> Sample:
        """A sentence per line, or those of a treebank; blank lines have no tree."""
        raw = files.read_raw(path)
        text, name = read_text(raw, self.encoding)
        if _TREEBANK.match(text):
            trees = files.read_trees(raw, encoding=self.encoding, missing=True)
            there = [tree is not None for tree in trees]
            return Sample(list(filter(None, trees)), None, name, more=there)
        lines = [line.split() for line in text.decode().split("\n")]
        while lines and not lines[-1]:
            lines.pop()
        if not lines:
            raise ValueError(f"{name} has no sentence: all of its lines are blank.")
        X = [
            _sentence(line, self.input, f"{name}, line {number}")
            for number, line in enumerate(lines, 1)
            if line
        ]
        return Sample(X, None, name, more=[bool(line) for line in lines])

    def inputs(self, sample: Sample) -> list[tuple]:
        """The line and the words of every sentence."""
        numbers = [k for k, there in enumerate(sample.more, 1) if there]
        words = read_sentences(sample.X, self.input).words
        return list(zip(numbers, words, strict=True))

    def record(self, x, output, chance=None) -> dict[str, Any]:
        found = {"sentence": x[0], "words": x[1], "tree": output and repr(output)}
        if chance is None:
            return found
        spans = output.spans() if output is not None else []
        return found | {"brackets": [[*span, chance.get(span, 0.0)] for span in spans]}

    def cells(self, record):
        return [record | {"words": " ".join(record["words"])}]

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        """A tree per line; with probabilities, a comment per bracket behind it."""
        if self.form == "svg":
            self.write_lines(path, [trees_svg(filter(None, outputs))])
            return
        found = iter(zip(outputs, chances or [{}] * len(outputs), strict=True))
        lines = []
        for there in sample.more:
            tree, known = next(found) if there else (None, {})
            lines.append(MISSING if tree is None else repr(tree))
            for bracket in tree.spans() if known else ():
                label, begin, end = bracket
                chance = known.get(bracket, 0.0)
                lines.append(f"# {chance:.4f} {label} {begin} {end}")
        self.write_lines(path, lines)

    def write_ranked(self, path: str, sample: Sample, ranked) -> None:
        """The best trees of every sentence, and a blank line between sentences."""
        ranked, lines = iter(ranked), []
        for there in sample.more:
            best = next(ranked) if there else []
            for rank, (tree, score) in enumerate(best, 1):
                lines += [f"# {rank} {score:.6g}", str(tree)]
            lines += [""] if best else [MISSING, ""]
        self.write_lines(path, lines[:-1])

    # use -------------------------------------------------------------------------------

    def remarks(self, model, sample: Sample) -> list[str]:
        if not model.n_fallbacks_:
            return []
        return [
            f"the grammar has no tree for {model.n_fallbacks_} of {len(sample)} sentences "
            f"(fallback: {model.fallback})."
        ]

    def draw(self, option: str, path: str, model, sample, outputs, report):
        """The sentence with the most errors, the true tree above the predicted one."""
        rows = report.sentences
        drawn = [k for k, row in enumerate(rows) if row.status == "valid"]
        if not drawn:
            raise ValueError(
                "no sentence has a predicted tree: there is nothing to draw."
            )

        def errors(k: int) -> tuple[int, int]:
            row = rows[k]
            return row.truth + row.predicted - 2 * row.correct, -row.length

        worst = max(drawn, key=errors)
        return plots.plot_tree_errors(sample.y[worst], outputs[worst])

    # inspection ------------------------------------------------------------------------

    def facts(self, model, notes) -> list[tuple[str, str]]:
        trees = (
            f"{notes['sentences']:,}, with {notes['words']:,} words{_left_out(notes)}"
        )
        siblings = "all" if model.horizontal is None else model.horizontal
        rows = [
            ("trees", trees),
            ("input", model.input),
            ("grammar", repr(model.grammar_)[10:-1]),
            (
                "binarised",
                f"{model.direction}, {siblings} siblings, parent={model.parent}",
            ),
            ("fallback", str(model.fallback)),
            ("method", notes["method"]),
        ]
        if hasattr(model, "certificate_"):
            rows += [
                ("loss", f"{model.loss}, {model.rescaling} rescaling, C={model.C_:g}"),
                ("features", str(model.features or "none")),
            ]
        return rows

    def weights(self, model, args) -> list[tuple[str, str, float]]:
        rules = both_ends(named_rules(model), args.top)
        return [("rules", *rule) for rule in rules]

    def listed(self, model, args):
        rules, top = named_rules(model), args.top
        lines = [f"{weight:>10.4f}  {name}" for name, weight in rules]
        if len(rules) > 2 * top:
            return [*lines[:top], f"{'...':>10}", *lines[-top:]]
        return lines[:top]

    def export(self, path: str, model) -> None:
        rules = sorted(named_rules(model), key=lambda rule: (-rule[1], rule[0]))
        self.write_lines(path, [f"{weight:.6g}\t{name}" for name, weight in rules])


RUN = Parse


def _left_out(notes: dict[str, Any]) -> str:
    """How many trees were too long, or had a loop, if any."""
    return f" ({notes['left_out']:,} trees left out)" if notes["left_out"] else ""


def _sentence(line: list[str], kind: str, place: str) -> list:
    """Tokens such as cat_NN as pairs; words, or tags alone, stay as they are."""
    pairs = [token.rpartition("_") for token in line]
    if kind == "words" or (kind == "tags" and not any(mark for _, mark, _ in pairs)):
        return line
    for token, (word, _, tag) in zip(line, pairs, strict=True):
        if not (word and tag):
            raise ValueError(
                f"{place}: the token {token!r} has no tag; the model was trained on tags "
                f"and needs {HOW[kind]}."
            )
    return [(word, tag) for word, _, tag in pairs]
