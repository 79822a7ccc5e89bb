"""Files of texts and vectors as a model remembers them: how they are read and written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from maxmargin.classes.bag_of_words import BagOfWords
    from maxmargin.classes.taxonomy import Taxonomy


class Sample(NamedTuple):
    """What a file holds."""

    X: Any  # sparse matrix
    y: list | None  # labels, or lists of them; None if the file has none
    texts: list[str] | None
    where: Callable[[int], str]  # the place of a sample, for messages
    path: str

    @property
    def n(self) -> int:
        return self.X.shape[0]

    def select(self, chosen) -> Sample:
        return self._replace(
            X=self.X[chosen],
            y=[self.y[i] for i in chosen],
            texts=self.texts and [self.texts[i] for i in chosen],
        )


@dataclass(frozen=True)
class Layout:
    """How a file is written; the model notes it, so that predicting needs no options."""

    format: str = "text"
    encoding: str = "utf-8"
    multilabel: bool = False
    between: str | None = None  # labels and texts

    def notes(self) -> dict[str, Any]:
        return asdict(self)

    def read_training(self, path: str, bag: BagOfWords | None) -> tuple[Layout, Sample]:
        """A file with labels, from which the bag learns its words."""
        if bag is None:
            return self, self._vectors(path, None)
        from maxmargin.classes.texts import read_texts

        found = read_texts(path, None, self.encoding, self.multilabel)
        try:
            bag.fit(found.texts)
        except ValueError as error:
            raise ValueError(f"{found.path}: {error}") from None
        layout = replace(self, between=found.between)
        return layout, layout._sample(found, bag)

    def read(self, path: str, bag: BagOfWords | None, n_features: int) -> Sample:
        """A file with labels, for a model that is there."""
        if bag is None:
            return self._vectors(path, n_features)
        from maxmargin.classes.texts import read_texts

        found = read_texts(path, self.between, self.encoding, self.multilabel)
        return self._sample(found, bag)

    def read_new(
        self, path: str, bag: BagOfWords | None, n_features: int, taxonomy: Taxonomy
    ) -> Sample:
        """A file with or without labels."""
        if bag is None:
            return self._vectors(path, n_features, required=False)
        from maxmargin.classes.texts import read_new_texts

        def known(cell: str) -> bool:
            labels = cell.split(",") if self.multilabel else [cell]
            return all(label in taxonomy for label in labels)

        found = read_new_texts(path, self.between, known, self.encoding)
        return self._sample(found._replace(labels=None), bag)

    def _sample(self, found, bag: BagOfWords) -> Sample:
        y = None if found.labels is None else self._labels(found)
        return Sample(
            bag.transform(found.texts), y, found.texts, found.where, found.path
        )

    def _vectors(self, path, n_features, required: bool = True) -> Sample:
        from maxmargin.classes.svmlight import read_svmlight

        optional = self.multilabel or not required
        found = read_svmlight(path, n_features, self.encoding, optional)
        y = self._labels(found) if required else None
        return Sample(found.X, y, None, found.where, found.path)

    def _labels(self, found) -> list:
        if not self.multilabel:
            return list(found.labels)
        y = []
        for i, cell in enumerate(found.labels):
            labels = [label.strip() for label in cell.split(",")] if cell else []
            if not all(labels):
                raise ValueError(
                    f"{found.where(i)}: the labels {cell!r} hold an empty one; write them "
                    "as a,b,c."
                )
            y.append(labels)
        return y

    def written(self, sample: Sample, predicted: list[str]) -> str:
        """Labels in front of the texts; alone, one per line, for vectors."""
        if sample.texts is None:
            return "".join(f"{label}\n" for label in predicted)
        pairs = zip(predicted, sample.texts, strict=True)
        return "".join(f"{label}{self.between}{text}\n" for label, text in pairs)


def check_labels(sample: Sample, taxonomy: Taxonomy | None, separator: str) -> None:
    """Name the line of the first label that is not a node, or not a path."""
    from maxmargin.classes.taxonomy import add_path

    seen: dict = {}
    for i, given in enumerate(sample.y):
        for label in given if isinstance(given, list) else [given]:
            if label in seen:
                continue
            where = f"{sample.where(i)}: the label"
            if taxonomy is None:
                add_path(seen, label, separator, where)
            elif label not in taxonomy:
                raise ValueError(
                    f"{where} {label!r} is not in the taxonomy: correct it or add it."
                )
            seen[label] = True
