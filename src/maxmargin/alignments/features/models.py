"""What a matched pair of positions is scored by: terms over annotation tracks.

A sequence has *tracks*: its letters ("residue"), and perhaps annotations of the same
length, such as secondary structure ("ss") or exposed area ("area"), or a vector per
position ("profile"). A *view* makes one symbol of a position:

    residue         the symbol of one track
    residue.ss      the symbols of several tracks together
    ss[5]           the symbols at five positions around this one, in coarser groups
    1               nothing, always the same
    profile         a vector instead of a symbol

A *term* such as ``residue.ss/residue.ss`` has a weight for every symbol of its left view
(of the target s) with every symbol of its right view (of the template t); a matched pair
(i, j) adds the weight of its two symbols, so

    match[i, j] = sum over terms of W_term[left(s, i), right(t, j)]

The models of Yu, Joachims, Elber & Pillardy (2008) are lists of terms:

    simple    every track with every track
    anova2    pairs of tracks with pairs of tracks
    tensor    all tracks together
    sum       these three
    window    sum, and a window of every track with itself
    profile   window, and every track and profile with every profile
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

MODELS = ("simple", "anova2", "tensor", "sum", "window", "profile")
SIDES = ("target", "template")
WIDTHS = {"residue": 3, "ss": 5, "area": 7}  # of windows; 3 for other tracks
AMINO_ACIDS = "ACDEFGHIKLMNPQRSTVWY"
AMINO_GROUPS = ("AGPST", "C", "DENQ", "FWY", "HKR", "ILMV", "X")
LARGEST = 2**31 - 1

_VIEW = re.compile(r"(?P<tracks>[^\[\]/.]+(\.[^\[\]/.]+)*)(\[(?P<width>\d+)\])?")


class View(NamedTuple):
    """Tracks that are looked at together, in a window of this many positions."""

    tracks: tuple[str, ...]
    width: int = 1


class Term(NamedTuple):
    """The weight of symbols (a, b) is at offset + a * stride_s + b * stride_t.

    With ``tied``, (a, b) and (b, a) share one: offset + high (high + 1) / 2 + low.
    """

    left: View
    right: View
    offset: int
    stride_s: int
    stride_t: int
    tied: bool

    def places(self, n: int, m: int) -> np.ndarray:
        """(n, m): where the weights of the first symbols of both sides are."""
        a, b = np.arange(n)[:, None], np.arange(m)[None, :]
        if self.tied:
            high, low = np.maximum(a, b), np.minimum(a, b)
            return self.offset + high * (high + 1) // 2 + low
        return self.offset + a * self.stride_s + b * self.stride_t


@dataclass(frozen=True)
class AlignmentModel:
    """Terms and gap weights with their places in w. Build it with :func:`make_model`.

    ``alphabets`` maps tracks to their symbols on both sides, ``groups`` to the groups
    that windows see, ``unknown`` to the symbol that stands for any other one, ``dense``
    to the sizes of vectors.
    """

    names: tuple[str, ...]
    alphabets: dict[str, tuple[tuple[str, ...], tuple[str, ...]]]
    groups: dict[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    dense: dict[str, int] = field(default_factory=dict)
    gaps: str = "affine"
    symmetric: bool = False
    terms: tuple[Term, ...] = field(init=False)
    n_features: int = field(init=False)  # of matched pairs
    gap_places: dict = field(init=False)
    n_weights: int = field(init=False)

    def __post_init__(self):
        terms, total, places = [], 0, {}
        for name in self.names:
            left, right = self._views(name)
            k, m = self.size(left, 0), self.size(right, 1)
            same = self.symmetric and left == right
            if self.symmetric and (right, left) in places and not same:
                terms.append(Term(left, right, places[right, left], 1, k, False))
                continue
            terms.append(Term(left, right, total, m, 1, same))
            places[left, right] = total
            total += k * (k + 1) // 2 if same else k * m
            if total > LARGEST:
                raise ValueError(
                    f"term {name!r} alone has {k * m:.3g} weights, too many to count: "
                    "give groups of symbols for the windows, or use fewer tracks at once."
                )
        object.__setattr__(self, "terms", tuple(terms))
        object.__setattr__(self, "n_features", total)
        object.__setattr__(self, "gap_places", self._gap_places(total))
        object.__setattr__(self, "n_weights", self.gap_places["end"])

    @property
    def tracks(self) -> tuple[str, ...]:
        return tuple(self.alphabets)

    @property
    def n_gap_features(self) -> int:
        return self.n_weights - self.n_features

    def is_dense(self, view: View) -> bool:
        return view.tracks[0] in self.dense

    def size(self, view: View, side: int) -> int:
        """How many symbols a view has on side 0 (target) or 1 (template)."""
        if self.is_dense(view):
            return self.dense[view.tracks[0]]
        size = 1
        for track in view.tracks:
            if track == "1":
                continue
            symbols = self.alphabets[track][side]
            size *= len(symbols) if view.width == 1 else self.n_groups(track)
        return size**view.width

    def places(self, name: str) -> np.ndarray:
        """Where the weights of a term are: a row for every symbol of the target."""
        term = self.terms[self.names.index(name)]
        return term.places(self.size(term.left, 0), self.size(term.right, 1))

    def group_of(self, track: str) -> dict[str, int]:
        """The group of every symbol, as windows see it."""
        both = self.alphabets[track]
        own = [(symbol,) for symbol in dict.fromkeys(both[0] + both[1])]
        groups = self.groups.get(track, own)
        return {symbol: g for g, symbols in enumerate(groups) for symbol in symbols}

    def end_group(self, track: str) -> int:
        """The group of positions beyond the ends: that of unknown symbols, or a new one."""
        groups = self.group_of(track)
        return groups.get(self.unknown.get(track, ""), max(groups.values()) + 1)

    def n_groups(self, track: str) -> int:
        return max(*self.group_of(track).values(), self.end_group(track)) + 1

    def gap_views(self) -> tuple[list[View], list[View]]:
        """Views of the first unmatched position, and of both sides of a boundary.

        Of the first track alone, and of the others together (of the first, if there are
        no others), after section 4.4.2 of Yu's thesis (2011).
        """
        if self.gaps != "position":
            return [], []
        first, rest = self.tracks[:1], self.tracks[1:]
        return [View(first)] + [View(rest)] * bool(rest), [View(rest or first)]

    def _views(self, name: str) -> tuple[View, View]:
        parts = name.split("/")
        if len(parts) != 2:
            raise ValueError(
                f"term {name!r} is not of the form LEFT/RIGHT, such as 'residue/residue'."
            )
        views = [self._view(part, name) for part in parts]
        dense = [self.is_dense(view) for view in views]
        for view, other in (views, views[::-1]):
            if self.is_dense(view) and (len(view.tracks) > 1 or view.width > 1):
                raise ValueError(
                    f"term {name!r}: a track of vectors stands alone, without other "
                    "tracks and windows."
                )
            if self.is_dense(view) and other.width > 1:
                raise ValueError(f"term {name!r}: vectors cannot be met by windows.")
        if any(dense) and self.symmetric:
            raise ValueError(
                f"term {name!r}: symmetric=True is not possible with vectors."
            )
        return views[0], views[1]

    def _view(self, text: str, name: str) -> View:
        found = _VIEW.fullmatch(text)
        if found is None:
            raise ValueError(
                f"term {name!r}: {text!r} is not a view, such as 'residue', 'residue.ss' "
                "or 'ss[5]'."
            )
        tracks = tuple(found["tracks"].split("."))
        width = int(found["width"] or 1)
        for track in tracks:
            known = track in self.alphabets or track in self.dense or track == "1"
            if not known:
                raise ValueError(
                    f"term {name!r} asks for the track {track!r}, but there are only "
                    f"{', '.join([*self.alphabets, *self.dense])}."
                )
        if width % 2 == 0 or width > 15:
            raise ValueError(
                f"term {name!r}: a window has an odd number of positions, 15 at most."
            )
        return View(tracks, width)

    def _gap_places(self, total: int) -> dict:
        """Where the gap weights are: for each side extend, open, and those of views.

        Gaps that do not depend on the position cost the same on both sides.
        """
        positions, boundaries = self.gap_views()
        places: dict = {}
        for side, name in enumerate(SIDES):
            if side == 1 and (self.symmetric or self.gaps != "position"):
                places[name] = places[SIDES[0]]
                break
            own = {"extend": total, "open": None, "views": [], "boundaries": []}
            total += 1
            if self.gaps != "linear":
                own["open"] = total
                total += 1
            for view in positions:
                own["views"].append(total)
                total += self.size(view, side)
            for view in boundaries:  # of the other sequence
                own["boundaries"].append(total)
                total += (self.size(view, 1 - side) + 1) ** 2
            places[name] = own
        places["end"] = total
        return places


def model_terms(name: str, tracks, dense=()) -> tuple[str, ...]:
    """The terms of a named model over these tracks, without repetition."""
    if name not in MODELS:
        raise ValueError(
            f"model={name!r} is not known; choose one of {', '.join(MODELS)}, or give a "
            "list of terms such as ['residue/residue']."
        )
    tracks = list(tracks)
    if name in ("anova2", "tensor") and len(tracks) < 2:
        raise ValueError(
            f"model={name!r} joins tracks, but there is only {', '.join(tracks)}: add "
            "annotations, or choose model='simple'."
        )
    if name == "profile" and not dense:
        raise ValueError(
            "model='profile' needs a track of vectors: an array (positions, numbers), "
            "such as {'residue': ..., 'profile': ...}."
        )
    pairs = [".".join(p) for p in itertools.combinations(tracks, 2)]
    if len(pairs) == 3:  # RS, SA, AR
        pairs = [".".join(p) for p in zip(tracks, tracks[1:] + tracks[:1], strict=True)]
    terms = []
    if name != "anova2" and name != "tensor":
        terms += [f"{a}/{b}" for a in tracks for b in tracks]
    if name == "profile":
        terms += [f"{a}/{p}" for a in tracks for p in dense]
        terms += [f"{p}/{a}" for p in dense for a in tracks]
        terms += [f"{p}/{q}" for p in dense for q in dense]
    if name not in ("simple", "tensor"):
        terms += [f"{a}/{b}" for a in pairs for b in pairs]
    if name not in ("simple", "anova2"):
        terms += ["/".join([".".join(tracks)] * 2)]
    if name in ("window", "profile"):
        for track in tracks:
            window = f"{track}[{WIDTHS.get(track, 3)}]"
            terms.append(f"{window}/{window}")
    return tuple(dict.fromkeys(terms))


def default_groups(alphabets: dict) -> dict:
    """Groups for windows over amino acids; other alphabets keep their symbols."""
    groups = {}
    for track, (target, template) in alphabets.items():
        symbols = set(target) | set(template)
        if len(symbols) > 10 and symbols <= set(AMINO_ACIDS + "XBZUOJ*"):
            rest = "".join(sorted(symbols - set("".join(AMINO_GROUPS))))
            groups[track] = (*AMINO_GROUPS[:-1], AMINO_GROUPS[-1] + rest)
    return groups


THESIS_ALPHABET = {
    "residue": AMINO_ACIDS + "X*",
    "ss": {"target": "HEC", "template": "HECT*"},
    "area": {"target": "012*", "template": "012345*"},
}
THESIS_UNKNOWN = {"residue": "X", "ss": "C", "area": "*"}
THESIS_GROUPS = {
    "residue": (*AMINO_GROUPS[:-1], "X*"),
    "ss": ("H", "E", "CT*"),
    "area": ("01*", "2345"),
}


class ThesisModel(NamedTuple):
    """A model with the cardinalities of Yu's thesis (2011), chapter 4.

    ``settings`` are those of SequenceAligner: ``SequenceAligner(**settings)``.
    """

    settings: dict
    n_features: int  # as the thesis counts: without those of gaps


def thesis_model(name: str) -> ThesisModel:
    """A model as the thesis has it: 22 residues, 3 and 5 structures, 4 and 7 areas.

    The thesis prints 34 more features for its smaller models than its formulas have, and
    34 is the number of symbols of a template: one weight for each is added here to all
    but the profile model, which makes all six counts agree.

    >>> thesis_model("window").n_features
    447016
    """
    from maxmargin.alignments.features.settings import make_model

    dense = {"profile": 20} if name == "profile" else {}
    terms = model_terms(name, THESIS_ALPHABET, dense)
    if name in ("simple", "sum", "window"):
        terms += tuple(f"1/{track}" for track in THESIS_ALPHABET)
    settings = {
        "model": list(terms),
        "alphabet": THESIS_ALPHABET,
        "groups": THESIS_GROUPS,
        "unknown": THESIS_UNKNOWN,
        "gaps": "position",
    }
    model = make_model(**settings, dense=dense)
    return ThesisModel({**settings, "prior": False}, model.n_features)
