"""Encoded sequences to the flat arrays that kernels read."""

from __future__ import annotations

import numpy as np

from maxmargin.alignments.features.encoder import EncodedSide
from maxmargin.alignments.features.models import AlignmentModel, Term
from maxmargin.alignments.features.prior import NONE
from maxmargin.alignments.scores import Side, Terms


def encode_sides(model: AlignmentModel, targets, templates, prior=NONE):
    """(Side of targets, Side of templates, Terms) of lists of {track: symbols}.

    ``prior`` is a :class:`~maxmargin.alignments.features.prior.Prior`.
    """
    sides = [EncodedSide(model, targets, 0), EncodedSide(model, templates, 1)]
    plain = [t for t in model.terms if not _over_vectors(model, t)]
    groups = _groups(plain, sides)
    order = [term for group in groups for term in group]
    dense = [t for t in model.terms if _over_vectors(model, t)]
    made, starts, dense_codes = [], [], []
    for k, side in enumerate(sides):
        classes, first, members = _classes(groups, side, bool(dense))
        codes, begin, at = [], [], 0
        for g, group in enumerate(groups):
            for term in group:
                codes.append(_term_codes(term, side, members[g]))
                begin.append(at)
                at += len(codes[-1])
        own = []  # codes of symbols in terms over vectors, of the first group's classes
        for term in dense:
            view = term[k]
            own.append(-1)
            if not model.is_dense(view):
                own[-1] = at
                codes.append(side.codes(view)[members[0]])
                at += len(codes[-1])
        starts.append(np.array(begin, np.int64))
        dense_codes.append(own)
        opening, boundary, extend = _gap_codes(model, side)
        made.append(
            Side(
                start=side.start,
                classes=classes.astype(np.int32),
                first=first.astype(np.int64),
                codes=np.concatenate([*codes, np.zeros(0)]).astype(np.int32),
                dense=np.ascontiguousarray(side.dense, np.float64),
                opening=opening.astype(np.int32),
                boundary=boundary.astype(np.int32),
                extend=extend,
            )
        )
    terms = Terms(
        groups=np.cumsum([0, *map(len, groups)]).astype(np.int64),
        s_codes=starts[0],
        t_codes=starts[1],
        offset=np.array([t.offset for t in order], np.int64),
        tied=np.array([t.tied for t in order], np.uint8),
        dense=_dense_rows(model, dense, sides, dense_codes),
        prior=prior.scores,
        scale=prior.scale,
        factor=model.n_weights,
    )
    return made[0], made[1], terms


def entries_of(model: AlignmentModel) -> tuple[int, int]:
    """Features of a matched pair and of an opened run."""
    per_pair = 0
    for term in model.terms:
        size = 1
        for k in (0, 1):
            if model.is_dense(term[k]):
                size *= model.size(term[k], k)
        per_pair += size
    positions, boundaries = model.gap_views()
    return per_pair, 1 + len(positions) + len(boundaries)


def _over_vectors(model, term: Term) -> bool:
    return model.is_dense(term.left) or model.is_dense(term.right)


def _groups(terms, sides) -> list[list[Term]]:
    """Terms with common classes: all without windows first, then one for each window.

    A window that is the same everywhere, such as that of a missing track, makes no
    classes of its own.
    """
    base, others = [], {}
    for term in terms:
        wide = False
        for view, side in zip(term[:2], sides, strict=True):
            codes = side.codes(view)
            constant = len(codes) == 0 or (codes == codes[0]).all()
            wide = wide or (view.width > 1 and not constant)
        if wide:
            others.setdefault(term[:2], []).append(term)
        else:
            base.append(term)
    return ([base] if base else []) + list(others.values())


def _classes(groups, side: EncodedSide, joint_needed: bool):
    """(classes, first classes, members) of one side for every group."""
    keys = []
    for group in groups:
        view = group[0][side.side]
        wide = any(v.width > 1 for v in group[0][:2]) and len(group) == 1
        keys.append(side.codes(view) if wide else side.joint())
    if joint_needed and (not groups or any(v.width > 1 for v in groups[0][0][:2])):
        raise ValueError(
            "terms over vectors need at least one term without a window beside them, "
            "such as 'residue/residue'."
        )
    found = [side.classes(key) for key in keys]
    total, n = len(side.owner), len(side.start) - 1
    classes = np.array([f[0] for f in found]).reshape(len(keys), total)
    first = np.array([f[1] for f in found]).reshape(len(keys), n + 1)
    return classes, first, [f[2] for f in found]


def _term_codes(term: Term, side: EncodedSide, members) -> np.ndarray:
    codes = side.codes(term[side.side])[members]
    if term.tied:
        return codes
    if side.side == 0:
        return term.offset + codes * term.stride_s
    return codes * term.stride_t


def _dense_rows(model, dense, sides, codes) -> np.ndarray:
    rows = []
    for d, term in enumerate(dense):
        columns = [
            side.columns.get(view.tracks[0], 0)
            for view, side in zip(term[:2], sides, strict=True)
        ]
        sizes = [model.size(term.left, 0), model.size(term.right, 1)]
        rows.append([codes[0][d], codes[1][d], *columns, *sizes, term.offset])
    return np.array(rows, np.int64).reshape(-1, 7)


def _gap_codes(model, side: EncodedSide):
    """Weights of runs that begin at a position, of boundaries, of unmatched positions."""
    own = model.gap_places[("target", "template")[side.side]]
    other = model.gap_places[("template", "target")[side.side]]
    positions, boundaries = model.gap_views()
    total, n = len(side.owner), len(side.start) - 1
    opening = []
    if own["open"] is not None:
        opening.append(np.full(total, own["open"]))
    for view, place in zip(positions, own["views"], strict=True):
        opening.append(place + side.codes(view))
    boundary = [
        place + side.boundaries(view)
        for view, place in zip(boundaries, other["boundaries"], strict=True)
    ]
    return (
        np.array(opening, np.int64).reshape(len(opening), total),
        np.array(boundary, np.int64).reshape(len(boundary), total + n),
        own["extend"],
    )
