"""Features of a tagger as options say them: a template, a ready set, gazetteers."""

from __future__ import annotations

import os
from pathlib import Path

from maxmargin.cli.common import say
from maxmargin.tags.features.input import gazetteer
from maxmargin.tags.features.ready import READY_NAMES
from maxmargin.tags.features.templates import parse_template
from maxmargin.tags.formats import FORMATS

NOT_COLUMNS = (
    "{} belongs to --format columns or conllu: files of features hold the features."
)


def features_of(args):
    """A template, the name of a ready set, or None for files that hold features."""
    named = {"--template": args.template, "--features": args.features}
    if args.format is not None and FORMATS[args.format].features:
        named |= {"--min-count": args.min_count, "--gazetteer": args.gazetteer}
        for option, value in named.items():
            if value is not None:
                raise ValueError(NOT_COLUMNS.format(option))
        return None
    if args.model == "neural" and args.template is args.features is None:
        return None  # words, characters and columns are read all the same
    if (args.template is None) == (args.features is None):
        raise ValueError(
            "say what the features are: --template FILE, or --features with one of "
            f"{', '.join(READY_NAMES)}."
        )
    if args.features is not None:
        if args.features not in READY_NAMES:
            raise ValueError(
                f"--features {args.features} is not known; there are "
                f"{', '.join(READY_NAMES)}. A file is given by --template."
            )
        return args.features
    if not os.path.isfile(args.template):
        raise FileNotFoundError(
            f"There is no template file {args.template}: check its name and its folder."
        )
    template = parse_template(Path(args.template))
    if not args.quiet:
        for note in template.notes:
            say(f"{args.template}, {note}")
    return template


def gazetteers_of(args, template) -> dict[str, frozenset[str]]:
    """{name: entries} of the lists that a template reads."""
    found = {}
    for given in args.gazetteer or ():
        name, mark, path = given.partition("=")
        path = path if mark else given
        name = name if mark else os.path.basename(path).partition(".")[0]
        if not os.path.isfile(path):
            raise FileNotFoundError(f"There is no file {path} (--gazetteer {given}).")
        found[name] = gazetteer(name, path)
    if found and args.model == "hmm":
        raise ValueError("--gazetteer belongs to --model svm: leave it out.")
    for feature in getattr(template, "features", ()):
        for part in feature.parts:
            if part.view.macro == "g" and part.view.argument not in found:
                raise ValueError(
                    f"{template.path}, line {feature.line}: {feature.name} reads a "
                    f"gazetteer {part.view.argument!r}: name its file with --gazetteer "
                    f"{part.view.argument}=FILE."
                )
    return found
