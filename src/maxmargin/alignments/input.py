"""Checks of what SequenceAligner is given: pairs of sequences and their alignments."""

from __future__ import annotations

import contextlib
import numbers
import re
from collections.abc import Mapping

import numpy as np

from maxmargin.alignments.biopython import (
    is_alignment,
    rows_or_pairs,
    two_sequences,
)
from maxmargin.alignments.features.encoder import length_of, tracks_of
from maxmargin.alignments.files.pairs import first_difference, matches, without_gaps
from maxmargin.core.checks import is_whole
from maxmargin.core.listed import is_pair, listed
from maxmargin.core.objects import letters_of, rows_of

SCOPES = ("global", "local")
FREE_ENDS = {None: (0, 0), "target": (1, 0), "template": (0, 1)}


def check_loss_and_ends(loss, scope, free_ends):
    """(shift or "hamming", (free_s, free_t)), after a check of the settings."""
    found = re.fullmatch(r"q(\d{0,3})", str(loss))
    if found is None and loss != "hamming":
        raise ValueError(
            f'loss={loss!r} is not known; choose "q", "q4" (or another shift) '
            'or "hamming".'
        )
    if scope not in SCOPES:
        raise ValueError(f"scope={scope!r} is not known; choose global or local.")
    if free_ends not in tuple(FREE_ENDS):
        raise ValueError(
            f'free_ends={free_ends!r} is not known; choose None, "target" or '
            '"template".'
        )
    if scope == "local" and free_ends is not None:
        raise ValueError(
            f"free_ends={free_ends!r} would not be used: with scope='local', the ends of "
            "both sequences are free."
        )
    free = (1, 1) if scope == "local" else FREE_ENDS[free_ends]
    return int(found[1] or 0) if found else "hamming", free


def check_sequences(X) -> tuple[list[dict], list[dict]]:
    """(targets, templates) as {track: symbols}."""
    targets, templates = [], []
    for i, pair in enumerate(
        listed(rows_of(X), "X must be a list of pairs (s, t) of sequences.")
    ):
        wanted = (
            f"sample {i} of X is not a pair: give (s, t), texts or dicts of tracks."
        )
        if is_alignment(pair):
            pair = two_sequences(pair, f"sample {i} of X")
        pair = listed(letters_of(pair, f"sample {i} of X"), wanted)
        if len(pair) != 2:
            raise ValueError(wanted)
        targets.append(tracks_of(pair[0], f"sample {i}: the target"))
        templates.append(tracks_of(pair[1], f"sample {i}: the template"))
    return targets, templates


def split_unknown(y, targets):
    """(alignments without what is not known, which slots are known, by sample).

    None in place of an alignment is one of which nothing is known, (i, None) in a list of
    pairs says that the partner of position i of the target is not. None if all is known.
    """
    if not isinstance(y, (list, tuple)) or len(y) != len(targets):
        return y, None  # check_alignments says what is wrong
    rest, masks = list(y), [np.ones(length_of(target), bool) for target in targets]
    for i, alignment in enumerate(rest):
        if alignment is None:
            rest[i], masks[i][:] = [], False
        if not isinstance(alignment, (list, tuple, set, frozenset)):
            continue
        if _whole_pairs(alignment) is not None:
            continue  # nothing is None
        found = [pair for pair in alignment if is_pair(pair) and pair[1] is None]
        if not found:
            continue
        rest[i] = [p for p in alignment if not (is_pair(p) and p[1] is None)]
        given = {pair[0] for pair in rest[i] if is_pair(pair)}
        n = len(masks[i])
        for k, _ in found:
            if not is_whole(k) or not 0 <= k < n or k in given:
                raise ValueError(
                    f"sample {i} of y holds ({k!r}, None): that says that the partner of "
                    f"a position is not known, one of 0 to {n - 1} without a pair."
                )
            masks[i][k] = False
    if all(mask.all() for mask in masks):
        return y, None
    for i, alignment in enumerate(rest):
        core = getattr(alignment, "core", None)
        if isinstance(alignment, Mapping):
            core = alignment.get("core")
        if core is not None:
            raise ValueError(
                f"sample {i} of y has a core mask, and others are not known (None): give "
                "the one or the other."
            )
    return rest, masks


def check_alignments(y, targets, templates) -> tuple[np.ndarray, np.ndarray]:
    """(labellings one after the other, whether the pair of a slot counts)."""
    y = listed(y, "y must be a list of alignments.")
    if len(y) != len(targets):
        raise ValueError(
            f"X has {len(targets)} samples, but y has {len(y)}: give one alignment per "
            "pair of sequences."
        )
    labels, counts = [np.zeros(0, np.int32)], [np.zeros(0, bool)]
    for i, alignment in enumerate(y):
        pairs, core = _pairs_and_core(alignment, targets[i], templates[i], i)
        n, m = length_of(targets[i]), length_of(templates[i])
        labelling = _labelling(pairs, n, m, i)
        counted = np.ones(n, bool)
        if core is not None:
            flags = "the core of the pairs must be a list of True and False."
            core = listed(core, f"sample {i} of y: {flags}")
            if not all(isinstance(x, (bool, np.bool_, numbers.Integral)) for x in core):
                raise ValueError(f"sample {i} of y: {flags}")
            if len(core) != len(pairs):
                raise ValueError(
                    f"sample {i} of y has {len(pairs)} matched pairs, but its core says "
                    f"of {len(core)} whether they count."
                )
            counted[:] = False
            at = [int(p) for (p, _), good in zip(pairs, core, strict=True) if good]
            counted[at] = True
        labels.append(labelling)
        counts.append(counted)
    return np.concatenate(labels), np.concatenate(counts)


def references(y, targets, templates) -> tuple[list, list]:
    """(the pairs of every alignment, its core mask or None), checked."""
    check_alignments(y, targets, templates)
    found = [
        _pairs_and_core(alignment, targets[i], templates[i], i)
        for i, alignment in enumerate(y)
    ]
    return [list(pairs) for pairs, _ in found], [core for _, core in found]


def matched_pairs(labelling) -> list[tuple[int, int]]:
    """A labelling as the list of its pairs."""
    at = np.flatnonzero(labelling >= 0)
    return list(zip(at.tolist(), labelling[at].tolist(), strict=True))


def _pairs_and_core(alignment, target, template, i):
    core = None
    if isinstance(alignment, Mapping):
        if "pairs" not in alignment:
            raise ValueError(f"sample {i} of y is a dict without 'pairs'.")
        alignment, core = alignment["pairs"], alignment.get("core")
    elif hasattr(alignment, "pairs"):
        alignment, core = alignment.pairs, getattr(alignment, "core", None)
    elif is_alignment(alignment):
        sides = (next(iter(tracks.values())) for tracks in (target, template))
        alignment = rows_or_pairs(alignment, *sides, f"sample {i} of y")
    rows = isinstance(alignment, (tuple, list)) and len(alignment) == 2
    if rows and all(isinstance(row, str) for row in alignment):
        return _pairs_of_rows(alignment, target, template, i), core
    if isinstance(alignment, (set, frozenset)):  # it has no order of its own
        with contextlib.suppress(TypeError):
            alignment = sorted(alignment)
    wanted = f"sample {i} of y must be a list of matched pairs (i, j)."
    return listed(alignment, wanted), core


def _labelling(pairs, n, m, i) -> np.ndarray:
    labelling = np.full(n, -1, np.int32)
    table = _whole_pairs(pairs)
    if table is not None:
        left, right = table.T
        inside = left[0] >= 0 and right[0] >= 0 and left[-1] < n and right[-1] < m
        if inside and (np.diff(table, axis=0) > 0).all():
            labelling[left] = right
            return labelling
    before = (-1, -1)
    for k, pair in enumerate(pairs):
        before = _check_pair(pair, before, n, m, f"sample {i} of y", k)
        labelling[before[0]] = before[1]
    return labelling


def _whole_pairs(pairs) -> np.ndarray | None:
    """A table of the pairs; None if they are not just pairs of whole numbers."""
    with contextlib.suppress(ValueError, OverflowError):  # ragged, or too large
        table = np.array(pairs)
        if table.ndim == 2 and table.shape[1] == 2 and table.dtype.kind == "i":
            return table
    return None


def _check_pair(pair, before, n, m, where, k) -> tuple[int, int]:
    if not is_pair(pair) or not all(isinstance(x, numbers.Integral) for x in pair):
        raise ValueError(
            f"{where}: entry {k} is {pair!r}, not a pair (i, j) of whole numbers; an "
            "alignment is a list of such pairs, or two rows with gaps."
        )
    p, q = int(pair[0]), int(pair[1])
    if not (0 <= p < n and 0 <= q < m):
        raise ValueError(
            f"{where}: the pair ({p}, {q}) is outside the sequences, which have {n} and "
            f"{m} positions, counted from 0."
        )
    if p <= before[0] or q <= before[1]:
        raise ValueError(
            f"{where}: the pair ({p}, {q}) comes after {before}: both positions must "
            "grow from pair to pair."
        )
    return p, q


def _pairs_of_rows(rows, target, template, i) -> list[tuple[int, int]]:
    if len(rows[0]) != len(rows[1]):
        raise ValueError(
            f"sample {i} of y: the rows have {len(rows[0])} and {len(rows[1])} columns; "
            "they must be equally long."
        )
    for row, tracks, name in zip(
        rows, (target, template), ("target", "template"), strict=True
    ):
        letters = without_gaps(row)
        own = next(iter(tracks.values()))
        own = own if isinstance(own, str) else "".join(map(str, own))
        if letters == own:
            continue
        at = first_difference(letters, own)
        raise ValueError(
            f"sample {i} of y: the row of the {name} does not spell its sequence: at "
            f"position {at} it has {letters[at : at + 1] or 'its end'!r}, the sequence "
            f"{own[at : at + 1] or 'its end'!r}."
        )
    return [(p, q) for _, p, q in matches(*rows)]
