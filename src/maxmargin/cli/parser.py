"""A parser whose help shows the options that matter, and with --help-all the others."""

from __future__ import annotations

import argparse
from typing import NoReturn

from maxmargin.cli.options import add_options

EVERYWHERE = """
--traceback  after an error, show where in the code it came from
--resources  say at the end what the command took: seconds, CPU seconds, memory
"""
HELP = {"-h", "--help", "--help-all"}


class Parser(argparse.ArgumentParser):
    """Mistakes in a command are reported as all others are; examples keep their lines."""

    rare: set[str]  # options that --help leaves to --help-all
    hint = ""  # what else the help says at its end

    def __init__(self, *args, **options):
        options.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(*args, allow_abbrev=False, **options)
        what = "show all options, and exit"
        self.add_argument("--help-all", action=_HelpAll, help=what)
        self.rare = add_options(self, EVERYWHERE)

    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}; see {self.prog} --help.")

    def format_help(self) -> str:
        rare = [action for action in self._actions if action.dest in self.rare]
        said = [action.help for action in rare]
        for action in rare:
            action.help = argparse.SUPPRESS
        text = super().format_help()
        for action, help in zip(rare, said, strict=True):
            action.help = help
        end = f"--help-all shows the other {len(rare)} options."
        return f"{text}\n{' '.join(filter(None, [end, self.hint]))}\n"


class _HelpAll(argparse.Action):
    def __init__(self, option_strings, dest, **options):
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **options)

    def __call__(self, parser, *_) -> NoReturn:
        print(argparse.ArgumentParser.format_help(parser), end="")
        parser.exit()
