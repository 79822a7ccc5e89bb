"""Constituent trees on top of any network: scores of spans, and rules of a grammar."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from maxmargin.core.checks import one_of
from maxmargin.torch import checks
from maxmargin.torch.examples import Examples
from maxmargin.torch.scored import Scored
from maxmargin.torch.structure import StructureLayer
from maxmargin.trees.binarize import binarize
from maxmargin.trees.cky.batch import LOSSES
from maxmargin.trees.cky.parses import for_training, make_batch
from maxmargin.trees.cky.trees import NO_PARSE
from maxmargin.trees.derivations import derive
from maxmargin.trees.span_features import cells
from maxmargin.trees.tree import Tree


class TreeCRF(StructureLayer):
    """Trees of a grammar: the layer behind a network that scores labelled spans.

        score(y) = sum over brackets (label, i, j) of spans[i, j, label]
                   + sum of the scores of its rules and of its root
                   (+ sum over words of tag_scores[t, tag])

    ``crf(spans, trees, tags=tags)`` is the loss. Spans are (sentences, N + 1, N + 1,
    labels), between the gaps i < j of sentences of up to N words; labels are in the order
    of ``labels``. ``tags`` has the tags of the words of every sentence; where they are not
    known, give ``lengths`` and ``tag_scores`` (sentences, N, tags) in the order of
    ``tags``, and all tags are tried.

    Parameters
    ----------
    trees : list of Tree
        The grammar is read off these.
    direction, horizontal, parent : see :class:`maxmargin.GrammarParser`
        How trees are binarised.
    cost : "f1", "hamming" or "zero-one"
        The loss of the hinge, of brackets.
    loss : module, optional

    Attributes
    ----------
    labels, tags : list of str
    rules, unaries, roots : Parameter
    """

    def __init__(
        self,
        trees: Iterable[Tree],
        direction: str = "right",
        horizontal: int | None = 1,
        parent: int = 0,
        cost: str = "f1",
        loss: Any = None,
    ):
        super().__init__(loss)
        one_of("cost", cost, LOSSES)
        trees = list(trees)
        self.options: dict[str, Any] = {
            "direction": direction,
            "horizontal": horizontal,
            "parent": parent,
        }
        keep = [True] * len(trees)
        self.derivations, _ = derive(trees, keep, SimpleNamespace(**self.options))
        self.cost = cost
        grammar, tables = self.derivations.grammar, self.derivations.tables
        self.labels = self.derivations.labels
        self.tags = grammar.symbols[: grammar.n_tags]
        self.rules = torch.nn.Parameter(torch.zeros(len(tables.left)))
        self.unaries = torch.nn.Parameter(torch.zeros(tables.n_unary))
        self.roots = torch.nn.Parameter(torch.zeros(len(tables.roots)))
        self._tag_number = grammar.tag_number

    def scored(
        self,
        emissions: Any,
        truths: Any = None,
        tags: Any = None,
        lengths: Any = None,
        tag_scores: Any = None,
        words: Any = None,
    ) -> Scored:
        """Scores of spans, rules and tags as those of the parts of these trees."""
        checks.is_real(emissions, "spans")
        n_labels = len(self.labels)
        wide = emissions.dim() == 4 and emissions.shape[1] == emissions.shape[2]
        if not wide or emissions.shape[3] != n_labels:
            raise ValueError(
                f"spans have the shape {tuple(emissions.shape)}: they must be (sentences, "
                f"N + 1, N + 1, {n_labels}), one number per label at the end."
            )
        checks.same_device({"spans": emissions, "the layer": self.roots})
        trees = None if truths is None else self._trees(truths, len(emissions))
        if trees is not None and tags is None and tag_scores is None:
            tags = [[tag for _, tag in tree.tags()] for tree in trees]
        elif trees is not None and tags is not None:
            _agree(trees, tags)
        choices = self._choices(emissions, tags, lengths, tag_scores)
        sizes = [len(choice) for choice in choices]
        y = None if trees is None else self._labellings(trees, sizes)
        batch = self._batch(choices, sizes, y, tag_scores is not None)
        single = emissions.dtype in (torch.float16, torch.bfloat16)
        real = torch.float32 if single else emissions.dtype
        parts = []
        for i, size in enumerate(sizes):
            if tag_scores is not None:
                parts.append(self._tag_row(i, size, tag_scores).to(real))
            begin, end = cells(size)
            rows = emissions[i][torch.from_numpy(begin), torch.from_numpy(end)]
            parts.append(rows.to(real).reshape(-1))
        own = torch.cat(parts) if parts else emissions.new_zeros(0).to(real)
        read = self._reader(words, trees, sizes)
        head = self._head(real)
        return Scored(
            own, Examples(batch, read), head, self._shaped(emissions, sizes, tag_scores)
        )

    def _head(self, real: Any) -> Any:
        """Scores of rules in the order of the tables, of chains, of roots."""
        tables = self.derivations.tables
        rules = self.rules.to(real)[
            torch.from_numpy(tables.rule_weight.astype(np.int64))
        ]
        chains = rules.new_zeros(len(tables.top))
        owner = np.repeat(np.arange(len(tables.top)), np.diff(tables.chain_start))
        links = torch.from_numpy(tables.chain_rules.astype(np.int64))
        chains = chains.index_add(
            0, torch.from_numpy(owner).to(rules.device), self.unaries.to(real)[links]
        )
        return torch.cat([rules, chains, self.roots.to(real)])

    def _batch(self, choices, sizes, y, with_tags: bool) -> Any:
        n_cells = sum(size * (size + 1) // 2 for size in sizes)
        none = np.zeros(0, np.int32)
        words = (np.zeros(sum(sizes) + 1, np.int64), none, 1) if with_tags else None
        spans = (np.zeros(n_cells + 1, np.int64), none, 1)
        tables = self.derivations.tables
        batch = make_batch(tables, choices, y, self.cost, words, spans)
        return batch if y is None else for_training(batch)

    def _choices(self, emissions, tags, lengths, tag_scores) -> list:
        """The tags that every word may have."""
        n, most = len(emissions), emissions.shape[1] - 1
        if tags is None:
            if tag_scores is None:
                raise ValueError(
                    "give the tags of the words, or tag_scores and lengths."
                )
            sizes = [most] * n if lengths is None else self._lengths(lengths)
            choices: list = [[list(range(len(self.tags)))] * size for size in sizes]
        else:
            choices = [
                [[self._tag(i, t, tag)] for t, tag in enumerate(row)]
                for i, row in enumerate(tags)
            ]
        if len(choices) != n:
            raise ValueError(f"there are {len(choices)} sentences, but spans of {n}.")
        for i, choice in enumerate(choices):
            if len(choice) > most:
                raise ValueError(
                    f"sentence {i} has {len(choice)} words, but spans are of up to {most}."
                )
        return choices

    @staticmethod
    def _lengths(lengths: Any) -> list[int]:
        sizes = checks.whole_numbers(lengths)
        if sizes is None or sizes.dim() != 1 or bool((sizes < 0).any()):
            raise ValueError(
                "lengths must be one whole number per sentence, 0 or more."
            )
        return sizes.tolist()

    def _tag(self, i: int, t: int, tag: str) -> int:
        if tag not in self._tag_number:
            raise ValueError(
                f"word {t} of sentence {i} has the tag {tag!r}, which the grammar lacks."
            )
        return self._tag_number[tag]

    def _tag_row(self, i: int, size: int, tag_scores: Any) -> Any:
        if len(tag_scores) <= i:
            raise ValueError(
                f"there are tag_scores of {len(tag_scores)} sentences, and sentence {i} "
                "has none."
            )
        checks.is_real(tag_scores[i], f"tag_scores[{i}]")
        checks.same_device({"the layer": self.roots, "tag_scores": tag_scores[i]})
        row = tag_scores[i][:size]
        if tuple(row.shape) != (size, len(self.tags)):
            raise ValueError(
                f"tag_scores of sentence {i} have the shape {tuple(row.shape)}: they must "
                f"be ({size}, {len(self.tags)})."
            )
        return row.reshape(-1)

    def _trees(self, truths: Any, n: int) -> list[Tree]:
        trees = [Tree.parse(t) if isinstance(t, str) else t for t in truths]
        bad = [i for i, tree in enumerate(trees) if not isinstance(tree, Tree)]
        if bad:
            raise TypeError(
                f"tree {bad[0]} is {trees[bad[0]]!r}: give a maxmargin.Tree, or its text. "
                "Trees that are known in part are for GrammarParser."
            )
        if len(trees) != n:
            raise ValueError(
                f"there are {len(trees)} trees, but spans of {n} sentences."
            )
        return trees

    def _labellings(self, trees: list[Tree], sizes: list[int]) -> list[np.ndarray]:
        out = []
        for i, (tree, size) in enumerate(zip(trees, sizes, strict=True)):
            try:
                labelling = self.derivations.labelling(binarize(tree, **self.options))
            except KeyError:
                raise ValueError(
                    f"tree {i} has a rule, chain or tag that the grammar lacks: make the "
                    "layer with all trees that it is trained on."
                ) from None
            if len(labelling) != 3 * (2 * size - 1):
                raise ValueError(
                    f"tree {i} does not have the {size} words of its tags."
                )
            out.append(labelling)
        return out

    def _reader(self, words: Any, trees: Any, sizes: list[int]) -> Any:
        if words is None and trees is not None:
            words = [tree.words() for tree in trees]
        if words is not None and list(map(len, words)) != sizes:
            raise ValueError(
                f"words are of sentences of {list(map(len, words))} words, but tags or "
                f"lengths of {sizes}."
            )

        def read(i: int, labelling: Any) -> Tree | None:
            if len(labelling) == 0 or labelling[0] == NO_PARSE:
                return None
            leaves = (
                words[i] if words is not None else [str(t) for t in range(sizes[i])]
            )
            return self.derivations.tree(labelling, list(leaves))

        return read

    def _shaped(self, emissions: Any, sizes: list[int], tag_scores: Any) -> Any:
        n_labels, n_tags = len(self.labels), len(self.tags)

        def shape(own: Any) -> Any:
            out, at = own.new_zeros(emissions.shape), 0
            for i, size in enumerate(sizes):
                at += size * n_tags if tag_scores is not None else 0
                begin, end = cells(size)
                rows = own[at : at + len(begin) * n_labels].reshape(-1, n_labels)
                place = (
                    torch.full((len(begin),), i),
                    *map(torch.from_numpy, (begin, end)),
                )
                out = out.index_put(place, rows)
                at += len(rows) * n_labels
            return out

        return shape


def _agree(trees: list[Tree], tags: Any) -> None:
    """Trees have the tags that are given: other truths are no parses of these."""
    for i, (tree, row) in enumerate(zip(trees, tags, strict=False)):
        own = [tag for _, tag in tree.tags()]
        if len(own) == len(row) and own != list(row):
            t = next(t for t, tag in enumerate(own) if tag != row[t])
            raise ValueError(
                f"word {t} of sentence {i} has the tag {row[t]!r}, but {own[t]!r} in its "
                "tree."
            )
