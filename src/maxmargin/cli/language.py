"""What the library says of parameters, said of options: ``max_time=5`` is --max-time 5.

Only names of Python parameters are translated. What stands in quotes is text of the user or
the syntax of a file, and so is whatever the command line says word for word.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Collection, Iterable, Mapping

_VALUE = r"""('[^']*'|"[^"]*"|[\w.+-]*\w)"""
# an apostrophe within a word, as in "the model's", opens nothing
_QUOTED = r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`)(?!\w)"""
# what only Python can say: an option that is None is left out
_NONE = re.compile(r",? or None(?: for [a-z ]+)?(?=[.,;:])")
_ALIASES = {"k_best": "k", "path": "Cs"}
# parameters of readers, which are options of several tasks
READERS = {
    *("all_columns", "comment", "encoding", "format", "header", "keep_functions"),
    *("label_column", "label_weight", "min_count", "ngrams", "path", "separator"),
    *("weighting", "word_column"),
}


def options_of(
    parser: argparse.ArgumentParser, parameters: Collection[str] | None = None
) -> dict[str, str]:
    """{name in Python: option}; of ``parameters`` and those of readers, or of all."""
    found = {}
    for action in parser._actions:
        names = [name for name in action.option_strings if name.startswith("--")]
        if names and (parameters is None or action.dest in {*parameters, *READERS}):
            found[action.dest] = names[0]
    found |= {alias: found[name] for name, alias in _ALIASES.items() if name in found}
    return found


def spoken(text: str, options: Mapping[str, str], own: Iterable[str] = ()) -> str:
    """A sentence in the language of the command line; ``own`` are the user's words."""
    if not options:
        return text
    text = _NONE.sub("", text)
    by_length = sorted(map(re.escape, options), key=len, reverse=True)
    # others stay when they stand alone: C, order or loss are also words
    alone = [name for name in by_length if "_" in name or name == "tol"]
    translate = re.compile(
        rf"(?P<kept>{_QUOTED})"
        rf"|(?<![\w./\\'-])(?P<name>{'|'.join(by_length)})={_VALUE}"
        rf"|(?<![\w./\\'-])(?P<alone>{'|'.join(alone) or '(?!)'})(?![\w=('/\\]|\.\w)"
    )

    def said(match: re.Match) -> str:
        if match["kept"] is not None:
            return match["kept"]
        if match["alone"] is not None:
            return options[match["alone"]]
        option, value = options[match["name"]], match[3]
        bare = value[1:-1] if value[0] in "'\"" and len(value) > 2 else value
        if bare == "True":
            return option
        return f"{option} {bare if bare.split() == [bare] else value}"

    # words of the user that would be translated, such as a file C=1.txt
    kept = sorted(
        {w for w in own if translate.sub(said, w) != w}, key=len, reverse=True
    )
    pieces = re.split(f"({'|'.join(map(re.escape, kept))})", text) if kept else [text]
    done = [p if p in kept else translate.sub(said, p) for p in pieces]
    return "".join(done).replace("certificate_ ", "the certificate ")
