"""How the task ``match`` runs: its files, measures and weights."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass
from typing import Any

from maxmargin.cli.command import Command, Sample
from maxmargin.matchings.bitext import (
    links_text,
    read_aligned,
    write_aligned,
    write_pharaoh,
)
from maxmargin.matchings.command import MatchTask
from maxmargin.matchings.metrics import wrong_links
from maxmargin.matchings.plots import plot_links
from maxmargin.matchings.scorers import aer


@dataclass
class Match(MatchTask, Command):
    """A line is: source TAB target TAB links. ``more`` of a sample is its ids."""

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
        report = model.evaluate(sample.X, sample.y, **aer.options, predicted=outputs)
        return {aer.title: aer.value(report)}

    def summary(self, model) -> str:
        notes = model.notes
        return (
            f"{notes['pairs']:,} sentence pairs, {notes['links']:,} sure links, "
            f"{len(model.coef_)} features, a dictionary from "
            f"{model.statistics_.n_pairs_:,} pairs; C={model.C_:g}"
        )

    # files -----------------------------------------------------------------------------

    def read(self, path: str, truth: bool) -> Sample:
        text = read_aligned(path, truth, self.encoding)
        return Sample(text.X, text.y, text.path, more=text.ids)

    def inputs(self, sample: Sample) -> list[tuple]:
        return list(zip(self._ids(sample), sample.X, strict=True))

    def _ids(self, sample: Sample) -> list[str]:
        return sample.more or [str(k) for k in range(1, len(sample) + 1)]

    def record(self, x, output, chance=None) -> dict[str, Any]:
        name, (source, target) = x
        links = [list(link) for link in output]
        return {"id": name, "source": source, "target": target, "links": links}

    def cells(self, record):
        both = {side: " ".join(record[side]) for side in ("source", "target")}
        return [record | both | {"links": links_text(map(tuple, record["links"]))}]

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        if self.form == "tsv":
            write_aligned(path, sample.X, outputs, sample.more)
        elif self.form == "naacl":
            found = zip(self._ids(sample), outputs, strict=True)
            self.write_lines(
                path, [f"{k} {i + 1} {j + 1} S" for k, links in found for i, j in links]
            )
        else:
            write_pharaoh(path, outputs)

    def lines(self, sample: Sample, i: int, output) -> list[str]:
        return [links_text(output)]

    # use -------------------------------------------------------------------------------

    def draw(self, option: str, path: str, model, sample, outputs, report):
        """The sentence pair with the most errors."""

        def errors(k: int) -> int:
            return sum(map(len, wrong_links(sample.y[k], outputs[k])))

        worst = max(range(len(sample)), key=errors)
        name = sample.more[worst] if sample.more else f"line {worst + 1}"
        title = f"{name}: {errors(worst)} errors, the most"
        pair, truth = sample.X[worst], sample.y[worst]
        scores = model.predict_scores([pair])[0]
        return plot_links(pair, outputs[worst], truth, scores, title)

    # inspection ------------------------------------------------------------------------

    def facts(self, model, notes) -> list[tuple[str, str]]:
        words = model.statistics_
        return [
            ("pairs", f"{notes['pairs']:,}, with {notes['links']:,} sure links"),
            ("dictionary", f"{words.n_pairs_:,} pairs; forms {', '.join(words.forms)}"),
            ("fertility", str(model.fertility)),
            ("costs", f"extra {model.cost_extra:g}, missing {model.cost_missing:g}"),
            ("objective", f"{model.rescaling} rescaling, C={model.C_:g}"),
        ]

    def named_weights(self, model):
        named = zip(model.feature_names_, model.coef_.tolist(), strict=True)
        return [("features", name, weight) for name, weight in named]

    def export(self, path: str, model) -> None:
        every = self.weights(model, Namespace(top=None))
        self.write_lines(path, [f"{name}\t{weight:.9g}" for _, name, weight in every])


RUN = Match


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
