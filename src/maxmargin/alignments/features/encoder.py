"""Sequences with tracks to the arrays of ``alignments/scores.py``."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from maxmargin.alignments.features.models import SIDES, AlignmentModel, View
from maxmargin.alignments.features.settings import LETTERS
from maxmargin.alignments.files.pairs import GAPS
from maxmargin.core.objects import letters_of

UTF32 = "utf-32-le", "surrogatepass"  # a number for every letter


def tracks_of(sequence, where: str) -> dict:
    """A sequence as {track: symbols or vectors}; a text or a list is its letters."""
    sequence = letters_of(sequence, where)
    if hasattr(sequence, "_asdict"):  # a NamedTuple
        sequence = {k: v for k, v in sequence._asdict().items() if v is not None}
    elif isinstance(sequence, (str, list, tuple)):
        sequence = {LETTERS: sequence}
    if not isinstance(sequence, Mapping):
        raise ValueError(
            f"{where} is of type {type(sequence).__name__}: give a text, or a dict of "
            "tracks of equal length."
        )
    if not sequence:
        raise ValueError(f"{where} has no tracks.")
    size = None
    for name, values in sequence.items():
        try:
            length = len(values)
            if not is_vectors(values):
                set(values)  # symbols can be looked up
        except TypeError:
            raise ValueError(
                f"{where}: track {name!r} is {values!r}: give a text, a list of symbols "
                "or an array of vectors, one for every position."
            ) from None
        if size is not None and length != size:
            raise ValueError(
                f"{where}: track {name!r} has {length} positions, but "
                f"{next(iter(sequence))!r} has {size}: all tracks are equally long."
            )
        size = length
        for gap in GAPS:
            if name == LETTERS and isinstance(values, str) and gap in values:
                raise ValueError(
                    f"{where} has a gap {gap!r} at position {values.index(gap)}: X holds "
                    "sequences without gaps, rows with gaps belong into y."
                )
    if size == 0:
        raise ValueError(f"{where} is empty: a sequence has at least one position.")
    return dict(sequence)


def length_of(tracks: dict) -> int:
    return len(next(iter(tracks.values())))


def is_vectors(values) -> bool:
    return isinstance(values, np.ndarray) and values.ndim == 2


def learn_tracks(sequences: list[dict], unknown=None) -> tuple[dict, dict]:
    """(alphabets, sizes of vectors) of all tracks that are seen, symbols sorted.

    Symbols that stand for unknown ones belong to an alphabet also if none was seen.
    """
    found: dict[str, set] = {}
    dense: dict[str, int] = {}
    for tracks in sequences:
        for name, values in tracks.items():
            if is_vectors(values):
                dense.setdefault(name, values.shape[1])
            else:
                found.setdefault(name, set()).update(values)
    for name, symbols in found.items():
        for symbol in symbols:
            if not isinstance(symbol, str):
                raise ValueError(
                    f"track {name!r} holds {symbol!r}, which is not a text: tracks are "
                    "texts, lists of texts, or arrays (positions, numbers)."
                )
    if isinstance(unknown, str):
        unknown = {next(iter(found), LETTERS): unknown}
    for name, symbol in (unknown or {}).items():
        if name in found and isinstance(symbol, str):
            found[name].add(symbol)
    return {name: sorted(symbols) for name, symbols in found.items()}, dense


class EncodedSide:
    """The sequences of one side: codes of tracks, views, classes."""

    def __init__(self, model: AlignmentModel, sequences: list[dict], side: int):
        self.model, self.side = model, side
        sizes = [length_of(tracks) for tracks in sequences]
        self.start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.owner = np.repeat(np.arange(len(sizes)), sizes)
        self.symbols = {
            track: self._codes(sequences, track) for track in model.alphabets
        }
        columns, begin = [np.zeros((len(self.owner), 0))], 0
        self.columns = {}
        for track, size in model.dense.items():
            columns.append(self._vectors(sequences, track, size))
            self.columns[track] = begin
            begin += size
        self.dense = np.concatenate(columns, axis=1)
        self._views: dict[View, np.ndarray] = {}

    def codes(self, view: View) -> np.ndarray:
        """The symbol of every position in a view."""
        if view not in self._views:
            self._views[view] = self._make_codes(view)
        return self._views[view]

    def _make_codes(self, view: View) -> np.ndarray:
        model, total = self.model, len(self.owner)
        codes = np.zeros(total, np.int64)
        if view.width == 1:
            for track in view.tracks:
                if track != "1":
                    size = len(model.alphabets[track][self.side])
                    codes = codes * size + self.symbols[track]
            return codes
        size, end = 1, 0
        for track in view.tracks:
            own = model.n_groups(track)
            groups = model.group_of(track)
            table = np.array([groups[x] for x in model.alphabets[track][self.side]])
            codes = codes * own + table[self.symbols[track]]
            end, size = end * own + model.end_group(track), size * own
        first, last = self.start[self.owner], self.start[self.owner + 1]
        window = np.zeros(total, np.int64)
        for k in range(-(view.width // 2), view.width // 2 + 1):
            place = np.arange(total) + k
            inside = (place >= first) & (place < last)
            seen = np.where(inside, codes[np.clip(place, 0, total - 1)], end)
            window = window * size + seen
        return window

    def boundaries(self, view: View) -> np.ndarray:
        """Codes of the positions on both sides of every boundary, ends included."""
        size = self.model.size(view, self.side)
        n = len(self.start) - 1
        padded = np.full(len(self.owner) + 2 * n, size, np.int64)
        padded[np.arange(len(self.owner)) + 2 * self.owner + 1] = self.codes(view)
        first = np.concatenate(
            [np.arange(self.start[e], self.start[e + 1] + 1) + 2 * e for e in range(n)]
            or [np.zeros(0, np.int64)]
        )
        return padded[first] * (size + 1) + padded[first + 1]

    def joint(self) -> np.ndarray:
        """A number per position: equal if all tracks are."""
        key = np.zeros(len(self.owner), np.int64)
        for track, codes in self.symbols.items():
            size = len(self.model.alphabets[track][self.side])
            key = np.unique(key * size + codes, return_inverse=True)[1]
        return key

    def classes(self, key: np.ndarray):
        """(class of each position in its sequence, first class of each, a member)."""
        wide = self.owner * (int(key.max(initial=0)) + 1) + key
        _, member, number = np.unique(wide, return_index=True, return_inverse=True)
        first = np.searchsorted(self.owner[member], np.arange(len(self.start)))
        return number - first[self.owner], first, member

    def _codes(self, sequences, track) -> np.ndarray:
        model = self.model
        table = {x: k for k, x in enumerate(model.alphabets[track][self.side])}
        stand_in = model.unknown.get(track)
        fallback = -1 if stand_in is None else table[stand_in]
        out, lookup = np.empty(len(self.owner), np.int64), _lookup(table, fallback)
        for e, tracks in enumerate(sequences):
            part = out[self.start[e] : self.start[e + 1]]
            values = tracks.get(track)
            if values is None and fallback < 0:
                raise ValueError(
                    f"sample {e}: the {SIDES[self.side]} has no track {track!r}: give "
                    f"it, or unknown={{{track!r}: ...}} for a symbol in its place."
                )
            if values is None:
                part[:] = fallback
                continue
            if is_vectors(values):
                raise ValueError(
                    f"sample {e}: track {track!r} of the {SIDES[self.side]} holds "
                    "vectors, but symbols are expected."
                )
            if isinstance(values, str):
                letters = np.frombuffer(values.encode(*UTF32), "<u4")
                part[:] = lookup[np.minimum(letters, len(lookup) - 1)]
            else:
                part[:] = [table.get(x, fallback) for x in values]
            bad = np.flatnonzero(part < 0)
            if len(bad):
                raise ValueError(
                    f"sample {e}: the {SIDES[self.side]} has {values[bad[0]]!r} at "
                    f"position {bad[0]} of track {track!r}, which is not in its alphabet "
                    f"{short_list(table)}: correct it, or name a symbol for unknown ones "
                    "with unknown=."
                )
        return out

    def _vectors(self, sequences, track, size) -> np.ndarray:
        parts = [np.zeros((0, size))]
        for e, tracks in enumerate(sequences):
            values = tracks.get(track)
            where = f"sample {e}: track {track!r} of the {SIDES[self.side]}"
            if not is_vectors(values) or values.shape[1] != size:
                raise ValueError(f"{where} must be an array (positions, {size}).")
            if not np.isfinite(values).all():
                raise ValueError(f"{where} holds NaN or infinity.")
            parts.append(np.asarray(values, np.float64))
        return np.concatenate(parts)


def _lookup(table: dict, fallback: int) -> np.ndarray:
    """The number of each letter, by its code point; the last one is of all others."""
    letters = [
        (ord(x), k) for x, k in table.items() if isinstance(x, str) and len(x) == 1
    ]
    lookup = np.full(max((code for code, _ in letters), default=0) + 2, fallback)
    for code, number in letters:
        lookup[code] = number
    return lookup


def short_list(symbols) -> str:
    text = " ".join(symbols)
    return text if len(text) <= 60 else text[:57] + "..."
