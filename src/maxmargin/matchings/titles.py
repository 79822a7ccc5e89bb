"""Features of word pairs in words.

>>> title_of("stem3 hmm best for target")
'HMM probability (3-letter stems) is the largest of the target word'
>>> title_of("word both <= 2")
'both words occur at most 2 times'
"""

from __future__ import annotations

import re

TABLES = {
    "hmm": "HMM probability",
    "model1": "IBM model 1 probability",
    "dice": "Dice coefficient",
    "likelihood ratio": "likelihood ratio",
}
ENDS = {
    "forward": "from source to target",
    "backward": "from target to source",
    "both": "in both directions",
    "best for source": "is the largest of the source word",
    "best for target": "is the largest of the target word",
    "best for both": "is the largest of both words",
    "relative to best": "relative to the largest",
    "above all others": "above all others",
    "on both sides": "of the neighbours on both sides",
    "here and before": "here and of the neighbours before",
    "here and after": "here and of the neighbours after",
    "logarithm": "(logarithm)",
}
WHOLE = {
    "bias": "every link",
    "log count of source": "log count of the source word",
    "log count of target": "log count of the target word",
    "difference of log counts": "difference of log counts",
    "distance * hmm": "distance times HMM probability",
}
NAME = re.compile(rf"(?:(word|stem(\d+)) )?(?:({'|'.join(TABLES)}),? ?)?(.*)")


def title_of(name: str) -> str:
    """What a feature says, from its short name; names of users' features stay."""
    kind, stem, table, end = NAME.fullmatch(name).groups()  # type: ignore[union-attr]
    form = f" ({stem}-letter stems)" if stem else " (words)" if kind else ""
    if table is None:
        if rare := re.fullmatch(r"(both|one) <= (\d+)", end):
            verb = "words occur" if rare[1] == "both" else "word occurs"
            times = "once" if rare[2] == "1" else f"{rare[2]} times"
            return f"{rare[1]} {verb} at most {times}{form if stem else ''}"
        if end not in WHOLE and not form:
            return name
        return f"{WHOLE.get(end, end)}{form}"
    if place := re.fullmatch(r"at ([+-]\d),([+-]\d)", end):
        said = f"of the neighbours at {place[1]}, {place[2]}"
    else:
        what, least, value = end.partition(" >= ")
        said = f"{ENDS.get(what, what)}{least}{value}"
    return f"{TABLES[table]}{form} {said}".rstrip()
