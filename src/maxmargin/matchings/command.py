"""The task ``match``: align the words of sentence pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from maxmargin.cli.command import Command, Sample, seconds_of


@dataclass
class Match(Command):
    """A line is: source TAB target TAB links. ``more`` of a sample is its ids."""

    name = "match"
    about = "Align words: a file of sentence pairs with links between their words."
    example = """example:
  maxmargin train match links.tsv --bitext more.tsv --bitext new.tsv -o words.model
  maxmargin train match links.tsv --path 0.01,0.03,0.1 --cv 5 -o words.model
  maxmargin predict words.model new.tsv -o new.links

A line is: source TAB target TAB links, perhaps with an id and a tab before it. Links
are i-j (sure) or i?j (possible), with words counted from 0: docs/matching.md."""
    file = "LINKS"
    items = "sentence pairs"
    estimators = {"svm": "WordAligner"}
    usual = (0.003, 0.01, 0.03, 0.1, 0.3)
    smaller = True
    options = """
    the file
      --encoding NAME=utf-8  of all files (default: utf-8)
    the dictionary
      --bitext FILE+  sentence pairs to learn a dictionary from, besides LINKS; repeatable.
          Links in it are not read. The pairs that you want to align belong here, too
      --forms F,F,...  what stands for a word: word, or stem and a number of letters
          (default: word,stem3,stem4)
    the model
      --C  weight of the data
      --fertility K  the largest number of links of a word, or two, for source and target
          words (1,3); none for no bound
      --cost-missing  of a sure link that is missing
      --cost-extra  of a link that is not even possible
      --features G,G,...  groups of features: bias, dictionary, neighbours, position,
          spelling, frequency, competition (default: all)
    """

    # training --------------------------------------------------------------------------

    def notes(self, model, sample: Sample) -> dict[str, Any]:
        links = sum(len(links.sure) for links in sample.y)
        return {**super().notes(model, sample), "pairs": len(sample), "links": links}

    def check(self, args) -> None:
        self.fertility = _fertility(args.fertility)

    def learn(self, path: str, args) -> Sample:
        sample = self.read(path, True)
        self.bitext = [
            pair for p in args.bitext or () for pair in self.read(p, False).X
        ]
        return sample

    def settings(self, args, given, sample, dev) -> dict[str, Any]:
        given |= self.fertility
        given |= {k: given[k].split(",") for k in ("forms", "features") if k in given}
        given["bitext"] = self.bitext + (dev.X if dev else [])
        return given

    def prepare(self, model, sample: Sample, dev, watch) -> None:
        """The dictionary, once for all values of C and all folds; no links are read."""
        model._settings()  # says what is wrong with them before
        model.set_params(bitext=model.learn_dictionary(sample.X))
        watch("dictionary")

    def measures(self, model, sample: Sample, outputs) -> dict[str, float]:
        from maxmargin.matchings.metrics import alignment_scores

        return {"AER": alignment_scores(sample.y, outputs).aer}

    def summary(self, model) -> str:
        notes = model.notes
        return (
            f"{notes['pairs']:,} sentence pairs, {notes['links']:,} sure links, "
            f"{len(model.coef_)} features, a dictionary from "
            f"{model.statistics_.n_pairs_:,} pairs; C={model.C_:g}"
        )

    # files -----------------------------------------------------------------------------

    def read(self, path: str, truth: bool) -> Sample:
        from maxmargin.matchings.bitext import read_aligned

        text = read_aligned(path, truth, self.encoding)
        return Sample(text.X, text.y, text.path, more=text.ids)

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        from maxmargin.matchings.bitext import write_pharaoh

        write_pharaoh(path, outputs)

    def lines(self, sample: Sample, i: int, output) -> list[str]:
        from maxmargin.matchings.bitext import links_text

        return [links_text(output)]

    # use -------------------------------------------------------------------------------

    def report(self, model, sample: Sample, outputs):
        from maxmargin.matchings.metrics import alignment_scores

        return alignment_scores(sample.y, outputs, bootstrap=1000)

    def numbers(self, report) -> dict[str, Any]:
        return report._asdict()

    def draw(self, option: str, path: str, model, sample, outputs, report):
        """The sentence pair with the most errors."""
        from maxmargin.matchings.plots import plot_links

        def errors(k: int) -> int:
            sure, found = set(sample.y[k].sure), set(outputs[k])
            return len(found - sure - set(sample.y[k].possible)) + len(sure - found)

        worst = max(range(len(sample)), key=errors)
        name = sample.more[worst] if sample.more else f"line {worst + 1}"
        title = f"{name}: {errors(worst)} errors, the most"
        pair, truth = sample.X[worst], sample.y[worst]
        scores = model.predict_scores([pair])[0]
        return plot_links(pair, outputs[worst], truth, scores, title)

    # inspection ------------------------------------------------------------------------

    def rows(self, model) -> list[tuple[str, str]]:
        notes, words = model.notes, model.statistics_
        return [
            ("trained on", notes["file"]),
            ("pairs", f"{notes['pairs']:,}, with {notes['links']:,} sure links"),
            ("dictionary", f"{words.n_pairs_:,} pairs; forms {', '.join(words.forms)}"),
            ("fertility", str(model.fertility)),
            ("costs", f"extra {model.cost_extra:g}, missing {model.cost_missing:g}"),
            ("objective", f"{model.rescaling} rescaling, C={model.C_:g}"),
            ("seconds", seconds_of(model)),
        ]

    def _table(self, model) -> list[tuple[str, float]]:
        named = zip(model.feature_names_, model.coef_.tolist(), strict=True)
        return sorted(named, key=lambda row: -abs(row[1]))

    def weights(self, model, args) -> list[tuple[str, str, float]]:
        return [("features", *row) for row in self._table(model)[: args.top]]

    def export(self, path: str, model) -> None:
        table = self._table(model)
        self.write_lines(path, [f"{name}\t{weight:.9g}" for name, weight in table])


COMMAND = Match


def _fertility(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        both = [None if part == "none" else int(part) for part in text.split(",")]
        if len(both) > 2:
            raise ValueError
    except ValueError:
        raise ValueError(
            f"--fertility {text} is not possible: it must be a number such as 1, none, or "
            "two of these, such as 1,3."
        ) from None
    return {"fertility": both[0] if len(both) == 1 else tuple(both)}
