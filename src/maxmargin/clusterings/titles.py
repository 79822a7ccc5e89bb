"""Features of pairs of mentions in words.

>>> title_of({"form1": "NOM", "form2": "PRON", "gender2": "f", "sentences": "<=1"})
'1st a noun phrase; 2nd a pronoun, feminine; at most 1 sentence apart'
"""

from __future__ import annotations

from collections.abc import Mapping

SIDES = {
    "form": {"PROP": "a name", "NOM": "a noun phrase", "PRON": "a pronoun"},
    "gender": {
        "?": "gender unknown", "m": "masculine", "f": "feminine", "n": "neuter",
    },
    "number": {"?": "number unknown", "sg": "singular", "pl": "plural"},
    "person": {
        "": "not a pronoun", "1": "first person", "2": "second person",
        "3": "third person",
    },
    "lemma": {"": "no pronoun"},
    "determiner": {"": "without determiner"},
    "type": {"": "without type"},
    "quoted": {"text": "outside quotes", "speech": "in quotes"},
}  # fmt: skip
VALUES = {"lemma": 'pronoun "{}"', "determiner": 'determiner "{}"', "type": "type {}"}
PAIRS = {
    "types": {"unknown": "types unknown", "differ": "types differ", "agree": "same type"},
    "nested": {"yes": "one inside the other", "no": "not nested"},
    "pronouns": {
        "none": "not both pronouns", "differ": "different pronouns",
        "agree": "same pronoun",
    },
    "text": {"yes": "same words", "no": "different words"},
    "head": {"yes": "same head", "no": "different heads"},
    "within": {"yes": "head of one in the other", "no": "head of neither in the other"},
    "shared": {
        "none": "no word shared", "some": "some words shared",
        "subset": "words of one all in the other",
    },
    "distance": {
        "same sentence": "same sentence", "near": "in near sentences",
        "far": "in far sentences",
    },
    "between": {"incompatible": "incompatible"},
}  # fmt: skip
COUNTED = {
    "sentences": "sentence{} apart",
    "mentions": "mention{} apart",
    "tokens": "word{} apart",
    "between": "candidate{} between",
}


def title_of(fields: Mapping[str, str]) -> str:
    """What a template says of a pair, from the values of its fields."""
    sides: dict[str, list[str]] = {"1": [], "2": []}
    pair = []
    for name, value in fields.items():
        kind, side = name[:-1], name[-1]
        if side in sides:
            known = SIDES[kind].get(value)
            sides[side].append(known or VALUES[kind].format(value))
        else:
            pair.append(PAIRS.get(name, {}).get(value) or _counted(name, value))
    parts = [f"{n} {', '.join(s)}" for n, s in zip(("1st", "2nd"), sides.values()) if s]  # noqa: B905
    return "; ".join([*parts, *pair])


def _counted(name: str, value: str) -> str:
    """``<=3`` or ``>3`` of something."""
    more = value.startswith(">")
    number = value.lstrip("<>=")
    text = COUNTED[name].format("" if number == "1" else "s")
    if number == "0":
        return "same sentence" if name == "sentences" else f"no {text}"
    return f"{'more than' if more else 'at most'} {number} {text}"
