"""The task ``classify``: texts or vectors into the classes of a taxonomy."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

from maxmargin.cli.command import Command, Sample, seconds_of
from maxmargin.cli.common import say


@dataclass
class Classify(Command):
    """Lines are a label and a text, or a label and a vector.

    ``more`` of a sample is its texts, None for vectors.
    """

    format: str = "text"
    multilabel: bool = False
    between: str | None = None  # labels and texts

    name = "classify"
    about = (
        "Classify texts or vectors, one per line, into the classes of a tree or DAG."
    )
    example = """example:
  maxmargin train classify train.txt -o news.model
  maxmargin train classify questions.txt --separator : --ngrams 2 -o trec.model
  maxmargin train classify train.svm --format svmlight --taxonomy tree.txt -o m.model
  maxmargin train classify train.txt --multilabel --path 0.1,1,10 --cv 5 -o m.model

Lines are a label, a tab and a text; see docs/classify.md. Files may be compressed with
gzip."""
    estimators = {"svm": "TaxonomySVM"}
    hidden = frozenset({"nodes", "node_weights"})
    options = """
    the file
      --format text|svmlight=text  text (default): a label and a text per line; svmlight:
          LABEL 3:0.5 7:1 ...
      --encoding NAME=utf-8  default: utf-8
      --shards FOLDER  for vectors larger than memory: read the file (or folder, or glob)
          into this folder, or use what is there. TRAIN may be such a folder itself
      --multilabel  labels are sets: a,b,c; with a node, its ancestors are predicted too
    the taxonomy
      --taxonomy FILE  'parent child' or one path per line (default: the labels are paths)
      --separator TEXT=.  of paths such as rec.autos (default: .)
    features of texts
      --ngrams N  runs of up to N words (default: 1)
      --weighting tfidf|binary|count  of words (default: tfidf)
      --min-count N  leave out words of fewer texts
    the model
      --mode hierarchical|flat  whether classes share the weights of their ancestors
          (default: they do)
      --loss tree|tree-height|tree-distance|zero-one  what a wrong class costs (default:
          tree, the height of the common ancestor)
      --rescaling margin|slack
      --penalty linear|quadratic
      --C  weight of the data (default: 1, for log 20, / total variance of the features)
    """
    evaluate_options = "--confusion FILE.png  draw which labels are confused"
    inspect_options = "--label L+  only of this label; repeatable"

    row = "node"  # what has a row of weights
    bag = None  # of words, for texts
    tree = None  # the taxonomy, if it is known before training
    width = None  # columns of vectors

    # training --------------------------------------------------------------------------

    @classmethod
    def of(cls, model) -> Classify:
        run = cls._of_notes(model)
        run.tree = model.taxonomy_
        return run

    @classmethod
    def _of_notes(cls, model) -> Classify:
        from maxmargin.classes.bag_of_words import BagOfWords

        run = super().of(model)
        bag = model.notes["bag"]
        run.bag = None if bag is None else BagOfWords.from_state(bag)
        run.width = model.coef_.shape[1]
        return run

    def notes(self, model, sample: Sample) -> dict[str, Any]:
        bag = None if self.bag is None else self.bag.state()
        return {**super().notes(model, sample), "samples": len(sample), "bag": bag}

    def check(self, args) -> None:
        if not args.separator:
            raise ValueError("--separator is empty: give a text such as . or /.")
        self.check_words(args)
        from maxmargin.classes.corpus.command import check_options

        check_options(args)
        if args.multilabel and args.mode == "flat":
            raise ValueError("--mode flat is for one label per line: leave it out.")
        if args.multilabel and args.loss not in (None, "tree"):
            raise ValueError(
                f"--loss {args.loss} is for one label per line: leave it out."
            )

    def check_words(self, args) -> None:
        """Options for texts only."""
        if args.format != "text":
            for name in ("ngrams", "weighting", "min_count"):
                if getattr(args, name) is not None:
                    raise ValueError(
                        f"--{name.replace('_', '-')} is for texts: files of vectors hold "
                        "their features."
                    )

    def learn(self, path: str, args) -> Sample:
        from maxmargin.classes.taxonomy.file import read_taxonomy

        self.separator = args.separator
        if args.taxonomy:
            self.tree = read_taxonomy(args.taxonomy, args.separator, args.encoding)
        sample = self.learn_vectors(path, args)
        check_labels(sample, self.tree, self.separator)
        self.width = sample.X.shape[1]
        if self.tree is None and not args.quiet:
            remark_on_separator(args.separator, sample)
        return sample

    def learn_vectors(self, path: str, args) -> Sample:
        """A file with labels, from which the bag learns its words."""
        from maxmargin.classes.bag_of_words import BagOfWords
        from maxmargin.classes.corpus.command import training_corpus
        from maxmargin.classes.texts import read_texts

        corpus = None if self.multilabel else training_corpus(path, args)
        if corpus is not None:
            self.format = "svmlight"
            return corpus
        if self.format != "text":
            return self._vectors(path)
        names = ("ngrams", "weighting", "min_count")
        given = {name: getattr(args, name) for name in names}
        bag = BagOfWords(**{k: v for k, v in given.items() if v is not None})
        found = read_texts(path, None, self.encoding, self.multilabel)
        try:
            self.bag = bag.fit(found.texts)
        except ValueError as error:
            raise ValueError(f"{found.path}: {error}") from None
        self.between = found.between
        return self._texts(found)

    def settings(self, args, given, sample, dev) -> dict[str, Any]:
        if dev is not None:
            check_labels(dev, self.tree, self.separator)
        return {**given, "taxonomy": self.tree}

    def measures(self, model, sample: Sample, outputs) -> dict[str, float]:
        return {"accuracy": self.report(model, sample, outputs).accuracy}

    def summary(self, model) -> str:
        return (
            f"{model.notes['samples']:,} samples, {len(model.classes_)} classes, "
            f"{len(model.taxonomy_)} nodes, {model.coef_.shape[1]:,} features; "
            f"C={model.C_:g}"
        )

    # files -----------------------------------------------------------------------------

    def read(self, path: str, truth: bool) -> Sample:
        if self.bag is None:
            return self._vectors(path, truth)
        from maxmargin.classes.texts import read_new_texts, read_texts

        if truth:
            found = read_texts(path, self.between, self.encoding, self.multilabel)
            return self._texts(found)

        def known(cell: str) -> bool:
            labels = cell.split(",") if self.multilabel else [cell]
            return all(map(self.is_label, labels))

        found = read_new_texts(path, self.between, known, self.encoding)
        return self._texts(found._replace(labels=None))

    def is_label(self, label: str) -> bool:
        return label in self.tree

    def _texts(self, found) -> Sample:
        y = None if found.labels is None else self._labels(found)
        X = self.bag.transform(found.texts)
        return Sample(X, y, found.path, found.where, more=found.texts)

    def _vectors(self, path: str, truth: bool = True) -> Sample:
        from maxmargin.classes.corpus.command import corpus_sample
        from maxmargin.classes.svmlight import read_svmlight
        from maxmargin.files.corpora.storage import is_corpus

        if is_corpus(path) and not self.multilabel:
            return corpus_sample(path, truth)
        optional = self.multilabel or not truth
        found = read_svmlight(path, self.width, self.encoding, optional)
        y = self._labels(found) if truth else None
        return Sample(found.X, y, found.path, found.where)

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

    def write(self, path: str, sample: Sample, outputs, chances=None) -> None:
        """Labels in front of the texts; alone, one per line, for vectors."""
        if self.multilabel:
            outputs = self.joined(outputs)
        if sample.more is not None:
            texts = zip(outputs, sample.more, strict=True)
            outputs = [f"{label}{self.between}{text}" for label, text in texts]
        self.write_lines(path, outputs)

    def joined(self, outputs) -> list[str]:
        """Sets of nodes as files have them: without what their descendants say."""
        lowest = self.tree.lowest
        return [",".join(map(str, lowest(nodes))) for nodes in outputs]

    # use -------------------------------------------------------------------------------

    def known_labels(self, model) -> set:
        return set(model.taxonomy_.nodes)

    def taught_labels(self, sample: Sample) -> Collection:
        """Of a taxonomy, all nodes: also those that are only on the way to a label."""
        from maxmargin.classes.taxonomy import add_path

        if self.tree is not None:
            return set(self.tree.nodes)
        nodes: dict = {}
        for label, _ in self.labels_of(sample):
            add_path(nodes, label, self.separator, "")
        return nodes

    def labels_of(self, sample: Sample):
        if sample.y is None:  # a corpus
            yield from ((label, ()) for label in sample.X.labels)
            return
        for i, labels in enumerate(sample.y):
            each = labels if self.multilabel else [labels]
            yield from ((label, (i,)) for label in each)

    def report(self, model, sample: Sample, outputs):
        from maxmargin.classes.taxonomy.labels import check_known
        from maxmargin.classes.taxonomy.metrics import class_scores, node_set_scores

        if self.multilabel:
            truth = [set(labels) for labels in sample.y]
            tree = model.taxonomy_with(set().union(*truth))
            return node_set_scores(tree, truth, outputs)
        tree = model.taxonomy_with(sample.y)
        check_known(tree, sample.y, set(sample.y))
        return class_scores(tree, sample.y, list(map(str, outputs)))

    def numbers(self, report) -> dict[str, Any]:
        return asdict(report)

    def draw(self, option: str, path: str, model, sample, outputs, report):
        from maxmargin.classes.taxonomy import plots

        if self.multilabel:
            raise ValueError(
                "--confusion and --plot are for one label per line, not for sets of "
                "labels."
            )
        draw = plots.plot_taxonomy_errors
        if option == "confusion":
            draw = plots.plot_taxonomy_confusion
        return draw(model.taxonomy_with(sample.y), sample.y, list(map(str, outputs)))

    # inspection ------------------------------------------------------------------------

    def rows(self, model) -> list[tuple[str, str]]:
        notes, tree, bag = model.notes, model.taxonomy_, model.notes["bag"]
        words = "" if bag is None else f", {bag['weighting']}, runs of {bag['ngrams']}"
        kind = "tree" if tree.is_tree else "DAG"
        return [
            ("trained on", f"{notes['file']} ({notes['format']})"),
            ("samples", f"{notes['samples']:,}"),
            ("classes", str(len(model.classes_))),
            ("taxonomy", f"{kind}, {len(tree)} nodes, {int(tree.depth.max())} levels"),
            ("features", f"{model.coef_.shape[1]:,}{words}"),
            ("mode", "sets of nodes" if notes["multilabel"] else model.mode),
            ("loss", f"{model.loss}, {model.rescaling} rescaling"),
            ("C", f"{model.C_:g}"),
            ("seconds", seconds_of(model)),
        ]

    def named_rows(self, model) -> list[str]:
        """What the rows of weights are called."""
        return model.nodes_.tolist()

    def weights(self, model, args) -> list[tuple[str, str, float]]:
        import numpy as np

        names, bag = self.named_rows(model), self.bag
        for label in args.label or ():
            if label not in names:
                raise ValueError(
                    f"--label {label} is not a {self.row} with weights; there are, for "
                    f"example, {', '.join(names[:5])}."
                )
        out = []
        for row, name in zip(model.coef_, names, strict=True):
            if args.label and name not in args.label:
                continue
            best = np.argsort(-np.abs(row), kind="stable")[: args.top]
            for j in best[row[best] != 0].tolist():
                feature = str(j + 1) if bag is None else bag.words[j]
                out.append((name, feature, float(row[j])))
        return out

    def strongest(self, model, args) -> str:
        shown: dict = {name: [] for name in args.label or model.nodes_.tolist()}
        for node, name, weight in self.weights(model, args):
            shown[node].append(f"{weight:+.3f} {name}")
        tree = model.taxonomy_
        lines = ["Strongest features", ""]
        for node in filter(shown.__contains__, model.nodes_.tolist()):
            indent = "  " * max(int(tree.depth[tree.position_of(node)]) - 1, 0)
            lines.append(f"{indent}{node}: {', '.join(shown[node]) or 'no weights'}")
        return "\n".join(lines)


COMMAND = Classify


def check_labels(sample: Sample, taxonomy, separator: str) -> None:
    """Name the line of the first label that is not a node, or not a path."""
    from maxmargin.classes.taxonomy import add_path

    seen: dict = {}
    for i, given in enumerate(sample.X.labels if sample.y is None else sample.y):
        for label in given if isinstance(given, list) else [given]:
            if label in seen:
                continue
            where = f"{sample.where(i) if sample.where else sample.path}: the label"
            if taxonomy is None:
                add_path(seen, label, separator, where)
            elif label not in taxonomy:
                raise ValueError(
                    f"{where} {label!r} is not in the taxonomy: correct it or add it."
                )
            seen[label] = True


def remark_on_separator(separator: str, sample: Sample) -> None:
    """Labels without the separator are classes without a hierarchy: perhaps a mistake."""
    every = sample.X.labels if sample.y is None else sample.y
    given = {z for y in every for z in (y if isinstance(y, list) else [y])}
    if any(separator in label for label in given):
        return
    for other in ".:/|":
        hits = sorted(label for label in given if other in label.strip(other))
        if len(hits) > len(given) / 2:
            say(
                f"no label has a {separator!r}, so there is no hierarchy; with "
                f"--separator '{other}' labels like {hits[0]!r} would be paths."
            )
            return
