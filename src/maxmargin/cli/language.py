"""What the library says of parameters, said of options: ``max_time=5`` is --max-time 5."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping

_VALUE = r"""('[^']*'|"[^"]*"|[\w.+-]*\w)"""
_ALIASES = {"k_best": "k", "path": "Cs"}


def options_of(parser: argparse.ArgumentParser) -> dict[str, str]:
    """{name in Python: option}."""
    found = {}
    for action in parser._actions:
        names = [name for name in action.option_strings if name.startswith("--")]
        if names:
            found[action.dest] = names[0]
    found |= {alias: found[name] for name, alias in _ALIASES.items() if name in found}
    return found


def spoken(text: str, options: Mapping[str, str]) -> str:
    """A sentence in the language of the command line."""

    def assignment(match: re.Match) -> str:
        option, value = options[match[1]], match[2]
        bare = value[1:-1] if value[0] in "'\"" and len(value) > 2 else value
        if bare == "True":
            return option
        return f"{option} {bare if bare.split() == [bare] else value}"

    if options:
        names = "|".join(sorted(map(re.escape, options), key=len, reverse=True))
        text = re.sub(rf"(?<![\w.\-'])({names})={_VALUE}", assignment, text)
    # other names stay: C, order or loss are also words
    for name, option in options.items():
        if "_" in name or name == "tol":
            text = re.sub(rf"(?<![\w.'-]){name}(?![\w=('])", option, text)
    return text.replace("certificate_ ", "the certificate ")
