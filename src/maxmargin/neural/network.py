"""The network of a tagger: tokens as vectors, an encoder, scores of labels, a chain."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from maxmargin.neural.batches import Batch
from maxmargin.torch import Chain

SPREAD = 0.1  # vectors of words begin between -SPREAD and SPREAD
FILTERS = 2  # times the size of a character: numbers that spellings become
WINDOW = 3  # characters that a filter sees
HEADS = (8, 4, 2, 1)  # of a transformer: the first that divides its size
LONGEST_WAVE = 10_000.0  # of positions (Vaswani et al. 2017)


@dataclass(frozen=True)
class Widths:
    """How much there is of what a network reads."""

    columns: tuple[int, ...] = ()  # values of every column
    characters: int = 0
    features: int = 0
    numbers: int = 0


# tokens as vectors ----------------------------------------------------------------------


class Embedding(nn.Module):
    """A vector per token: of its word, its spelling, its other columns, its features.

    Value 0 is what training has not seen: other values stand for it now and then.
    Spellings go through filters over characters, of each of which the largest answer
    counts (Ma & Hovy 2016, End-to-end sequence labeling via bi-directional
    LSTM-CNNs-CRF). Numbers are taken as they are.
    """

    def __init__(self, widths: Widths, settings: Any):
        super().__init__()
        sizes = [settings.word_size, *[settings.column_size] * len(widths.columns)]
        self.columns = nn.ModuleList(
            nn.Embedding(n + 1, size)
            for n, size in zip(widths.columns, sizes, strict=False)
        )
        self.size = sum(table.embedding_dim for table in self.columns)
        self.characters = self.filters = self.features = None
        if widths.characters:
            chars, filters = settings.char_size, FILTERS * settings.char_size
            self.characters = nn.Embedding(widths.characters, chars, padding_idx=0)
            self.filters = nn.Conv1d(chars, filters, WINDOW, padding=WINDOW // 2)
            self.size += filters
        if widths.features:
            bag = nn.EmbeddingBag(widths.features, settings.feature_size, mode="sum")
            self.features = bag
            self.size += settings.feature_size
        self.size += widths.numbers
        self.dropout = nn.Dropout(settings.dropout)
        self.hiding: list[Any] = []  # of every column, how often its values are hidden
        tables = [*self.columns, self.features]
        for table in tables:
            if table is not None and not table.weight.is_meta:
                nn.init.uniform_(table.weight, -SPREAD, SPREAD)
        for table in self.columns:
            if not table.weight.is_meta:
                table.weight.data[0] = 0.0

    def forward(self, batch: Batch) -> Any:
        parts = []
        for k, (table, values) in enumerate(
            zip(self.columns, batch.columns, strict=True)
        ):
            if self.training and k < len(self.hiding):
                chance = torch.rand(values.shape, device=values.device)
                values = values.masked_fill(chance < self.hiding[k][values], 0)
            parts.append(table(values))
        if self.characters is not None:
            letters = self.characters(batch.spellings).transpose(1, 2)
            found = torch.relu(self.filters(letters)).amax(2)  # type: ignore[misc]
            parts.append(found[batch.words])
        if self.features is not None:
            indices, offsets, values = batch.bag
            parts.append(self.features(indices, offsets, per_sample_weights=values))
        if not parts:
            return batch.numbers
        found = self.dropout(torch.cat(parts, 1))
        return found if batch.numbers is None else torch.cat([found, batch.numbers], 1)


# encoders -----------------------------------------------------------------------------


class Recurrent(nn.Module):
    """A bidirectional LSTM over each sequence (Graves & Schmidhuber 2005)."""

    def __init__(self, size: int, settings: Any):
        super().__init__()
        between = settings.dropout if settings.n_layers > 1 else 0.0
        self.lstm = nn.LSTM(
            size,
            settings.hidden_size,
            settings.n_layers,
            batch_first=True,
            dropout=between,
            bidirectional=True,
        )
        self.width = 2 * settings.hidden_size
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, x: Any, lengths: list[int]) -> Any:
        rows = pad_sequence(torch.split(x, lengths), batch_first=True)
        sizes = torch.tensor(lengths)
        packed = pack_padded_sequence(
            rows, sizes, batch_first=True, enforce_sorted=False
        )
        found, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.dropout(found[inside(sizes, found.shape[1]).to(x.device)])


class Transformer(nn.Module):
    """Layers of attention within each sequence, with waves for positions.

    Normalisation comes first in every layer, which trains without a long warm-up.
    (Vaswani et al. 2017, Attention is all you need; Xiong et al. 2020, On layer
    normalization in the transformer architecture.)
    """

    def __init__(self, size: int, settings: Any):
        super().__init__()
        hidden = settings.hidden_size
        self.into, self.width = nn.Linear(size, hidden), hidden
        layer = nn.TransformerEncoderLayer(
            hidden,
            next(n for n in HEADS if hidden % n == 0),
            4 * hidden,
            settings.dropout,
            batch_first=True,
            norm_first=True,
        )
        self.layers = nn.TransformerEncoder(
            layer, settings.n_layers, nn.LayerNorm(hidden), enable_nested_tensor=False
        )
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, x: Any, lengths: list[int]) -> Any:
        rows = pad_sequence(torch.split(self.into(x), lengths), batch_first=True)
        there = inside(torch.tensor(lengths), rows.shape[1]).to(x.device)
        rows = self.dropout(rows + waves(rows.shape[1], rows.shape[2]).to(rows))
        return self.dropout(self.layers(rows, src_key_padding_mask=~there)[there])


def waves(length: int, size: int) -> Any:
    """(positions, size): sines and cosines of growing lengths."""
    pace = torch.exp(torch.arange(0, size, 2) * (-math.log(LONGEST_WAVE) / size))
    angles = torch.arange(length)[:, None] * pace
    return torch.stack([angles.sin(), angles.cos()], 2).reshape(length, -1)[:, :size]


def inside(sizes: Any, longest: int) -> Any:
    """Which places of padded rows hold tokens."""
    return torch.arange(longest)[None] < sizes[:, None]


class Given(nn.Module):
    """A module of the user's: of the vectors of all tokens, and the lengths if it wants.

    ``module(x)`` or ``module(x, lengths)`` takes (all tokens, numbers per token) and the
    list of the lengths of the sequences, and returns (all tokens, any size).
    """

    def __init__(self, module: Any, size: int):
        super().__init__()
        self.module = module
        self.takes_lengths = _takes_lengths(module)
        training = module.training
        module.eval()
        with torch.no_grad():
            self.width = self(torch.zeros(2, size), [2]).shape[1]
        module.train(training)

    def forward(self, x: Any, lengths: list[int]) -> Any:
        found = self.module(x, lengths) if self.takes_lengths else self.module(x)
        if (
            not isinstance(found, torch.Tensor)
            or found.dim() != 2
            or len(found) != len(x)
        ):
            shape = tuple(found.shape) if hasattr(found, "shape") else type(found)
            raise ValueError(
                f"the encoder returned {shape} for {len(x)} tokens of {x.shape[1]} "
                f"numbers: it must return a tensor ({len(x)}, any size), a row per token."
            )
        return found


def _takes_lengths(module: Any) -> bool:
    parameters = inspect.signature(module.forward).parameters.values()
    by_place = (
        inspect.Parameter.POSITIONAL_ONLY,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
    )
    places = [p for p in parameters if p.kind in by_place]
    needed = [p for p in places if p.default is p.empty]
    return len(needed) > 1 or any(p.name == "lengths" for p in places)


BUILT_IN: dict[str, Callable] = {"lstm": Recurrent, "transformer": Transformer}


# the whole ----------------------------------------------------------------------------


class TaggerNetwork(nn.Module):
    """Scores of labels at tokens, under a chain of labels.

    It takes a :class:`Batch` and returns the scores (all tokens, labels). Without an
    embedding, the encoder reads the words themselves.
    """

    def __init__(self, embedding: Any, encoder: Any, chain: Chain):
        super().__init__()
        self.embedding, self.encoder, self.chain = embedding, encoder, chain
        self.scores = nn.Linear(encoder.width, chain.n_labels)

    def forward(self, batch: Batch) -> Any:
        if self.embedding is None:
            found = self.encoder(batch.texts, self.device)
        else:
            found = self.encoder(self.embedding(batch), batch.lengths)
        return self.scores(found)

    @property
    def device(self) -> Any:
        return self.scores.weight.device
