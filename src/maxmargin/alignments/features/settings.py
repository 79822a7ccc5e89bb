"""Settings of an alignment model, checked and completed: alphabets, groups, terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from maxmargin.alignments.features.models import (
    MODELS,
    SIDES,
    AlignmentModel,
    default_groups,
    model_terms,
)
from maxmargin.core.checks import one_of

GAPS = ("linear", "affine", "position")
LETTERS = "residue"  # the track of a sequence that is given as plain text


def make_model(
    model="simple",
    alphabet=None,
    groups=None,
    unknown=None,
    gaps="affine",
    symmetric=False,
    dense=None,
) -> AlignmentModel:
    """Check settings (see :class:`maxmargin.SequenceAligner`) and number the weights."""
    alphabets = check_alphabet(alphabet)
    unknown = check_unknown(unknown, alphabets)
    dense = dict(dense or {})
    one_of("gaps", gaps, GAPS)
    if isinstance(model, str):
        names = model_terms(model, alphabets, dense)
    else:
        names = _listed_terms(model)
    if isinstance(symmetric, str):
        if symmetric != "auto":
            raise ValueError(
                f'symmetric={symmetric!r} is not possible: give True, False or "auto".'
            )
        symmetric = not dense and _same_on_both_sides(names, alphabets)
    for track, (target, template) in alphabets.items():
        if symmetric and target != template:
            raise ValueError(
                f"symmetric=True needs equal alphabets on both sides, but those of "
                f"{track!r} differ."
            )
    groups = default_groups(alphabets) if groups is None else groups
    return AlignmentModel(
        names=names,
        alphabets=alphabets,
        groups=check_groups(groups, alphabets),
        unknown=unknown,
        dense=dense,
        gaps=gaps,
        symmetric=bool(symmetric),
    )


def _same_on_both_sides(names, alphabets) -> bool:
    """Whether alphabets are, and every term LEFT/RIGHT has its RIGHT/LEFT."""
    turned = ("/".join(reversed(name.split("/"))) for name in names)
    return all(a == b for a, b in alphabets.values()) and set(turned) <= set(names)


def _listed_terms(model) -> tuple[str, ...]:
    good = isinstance(model, Sequence) and len(model) > 0
    if not good or not all(isinstance(term, str) for term in model):
        raise ValueError(
            f"model={model!r} is not possible: give one of {', '.join(MODELS)}, or a "
            "list of terms such as ['residue/residue']."
        )
    if len(set(model)) < len(model):
        raise ValueError("model names a term twice: one weight per pair is enough.")
    return tuple(model)


def check_alphabet(alphabet) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
    """{track: (symbols of targets, symbols of templates)}."""
    if not isinstance(alphabet, Mapping):
        alphabet = {LETTERS: alphabet}
    if not alphabet:
        raise ValueError("alphabet is empty: name at least one track with its symbols.")
    checked = {}
    for track, symbols in alphabet.items():
        if (
            not isinstance(track, str)
            or not track
            or set(track) & set("./[]")
            or track == "1"
        ):
            raise ValueError(
                f"alphabet has a track {track!r}: names of tracks are texts without "
                "'.', '/', '[' and ']', and not '1'."
            )
        if isinstance(symbols, Mapping):
            if set(symbols) != set(SIDES):
                raise ValueError(
                    f"alphabet[{track!r}] has the keys {', '.join(map(repr, symbols))}: "
                    "give the symbols of both 'target' and 'template'."
                )
            both = tuple(_symbols(symbols[side], track) for side in SIDES)
        else:
            both = (_symbols(symbols, track),) * 2
        checked[track] = both
    return checked


def _symbols(symbols, track) -> tuple[str, ...]:
    where = f"alphabet of {track!r}"
    if not isinstance(symbols, Sequence) or not all(
        isinstance(x, str) for x in symbols
    ):
        raise ValueError(
            f"the {where} is {symbols!r}: give a text of letters, or a list of texts."
        )
    if len(symbols) == 0:
        raise ValueError(f"the {where} is empty.")
    for symbol, times in Counter(symbols).items():
        if times > 1:
            raise ValueError(f"the {where} has {symbol!r} twice.")
    return tuple(symbols)


def check_unknown(unknown, alphabets) -> dict[str, str]:
    """{track: the symbol that stands for all that are not in its alphabet}."""
    if unknown is None:
        return {}
    if isinstance(unknown, str):
        unknown = {next(iter(alphabets)): unknown}
    if not isinstance(unknown, Mapping):
        raise ValueError(
            f"unknown={unknown!r} is not possible: give a symbol, or a symbol per track."
        )
    for track, symbol in unknown.items():
        if track not in alphabets:
            raise ValueError(
                f"unknown names the track {track!r}, but there are only "
                f"{', '.join(alphabets)}."
            )
        for side, symbols in zip(SIDES, alphabets[track], strict=True):
            if symbol not in symbols:
                raise ValueError(
                    f"unknown has {symbol!r} for the track {track!r}, which is not in "
                    f"its alphabet of {side}s: add it there."
                )
    return dict(unknown)


def check_groups(groups, alphabets) -> dict[str, tuple[tuple[str, ...], ...]]:
    """{track: groups of symbols}, every symbol in one group."""
    if not isinstance(groups, Mapping):
        raise ValueError(
            f"groups={groups!r} is not possible: give groups of symbols per track, such "
            "as {'residue': ['AGPST', 'C', ...]}."
        )
    checked = {}
    for track, parts in groups.items():
        if track not in alphabets:
            raise ValueError(
                f"groups names the track {track!r}, but there are only "
                f"{', '.join(alphabets)}."
            )
        parts = tuple(tuple(part) for part in parts)
        flat = [symbol for part in parts for symbol in part]
        both, known = alphabets[track][0] + alphabets[track][1], set(flat)
        missing = [symbol for symbol in both if symbol not in known]
        if missing or len(known) < len(flat):
            problem = f"leave out {missing[0]!r}" if missing else "name a symbol twice"
            raise ValueError(
                f"the groups of {track!r} {problem}: every symbol of its alphabet "
                "belongs to one group."
            )
        checked[track] = parts
    return checked


def model_state(model: AlignmentModel) -> dict:
    """A model as plain lists and dicts, for a file."""
    return {
        "names": list(model.names),
        "alphabets": {k: list(map(list, v)) for k, v in model.alphabets.items()},
        "groups": {k: list(map(list, v)) for k, v in model.groups.items()},
        "unknown": model.unknown,
        "dense": model.dense,
        "gaps": model.gaps,
        "symmetric": model.symmetric,
    }


def model_from_state(state: dict) -> AlignmentModel:
    """The inverse, all of it checked as if a user had given it."""
    alphabets, dense = state["alphabets"], state["dense"]
    for track, size in dense.items():
        if type(size) is not int or not 0 < size < 2**31 or track in alphabets:
            raise ValueError(f"the track {track!r} has no possible size of vectors")
    return make_model(
        model=state["names"],
        alphabet={k: dict(zip(SIDES, v, strict=True)) for k, v in alphabets.items()},
        groups=state["groups"],
        unknown=state["unknown"],
        gaps=state["gaps"],
        symmetric=state["symmetric"],
        dense=dense,
    )
