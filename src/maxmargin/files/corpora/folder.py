"""The folder of a corpus while it is made: it appears when it is whole, or not at all."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from maxmargin.files.atomic import temporary_folder
from maxmargin.files.corpora.storage import MANIFEST, folder_name, full_disk

ARRAYS = rf"\d+\.\w+\.npy|{re.escape(MANIFEST)}"  # names of files that all corpora have


def new_place(folder: str | os.PathLike, overwrite: bool, ours: str = ARRAYS) -> str:
    """Where a corpus will be; refuses what would be lost (all but files called so)."""
    target = os.path.realpath(folder_name(folder))
    parent = os.path.dirname(target)
    if not os.path.isdir(parent):
        raise FileNotFoundError(f"There is no folder {parent}: make it first.")
    if not os.path.lexists(target) or (
        os.path.isdir(target) and not os.listdir(target)
    ):
        return target
    is_corpus = os.path.isfile(os.path.join(target, MANIFEST))
    if not is_corpus or not overwrite:
        advice = "overwrite=True replaces it" if is_corpus else "it is not a corpus"
        raise FileExistsError(
            f"{target} exists already ({advice}): choose another name."
        )
    others = [n for n in sorted(os.listdir(target)) if not re.fullmatch(ours, n)]
    if others:
        raise FileExistsError(
            f"{target} holds {others[0]!r}, which is no part of the corpus and would be "
            "lost with it: move it away, or choose another name."
        )
    return target


@contextmanager
def new_folder(target: str, overwrite: bool, ours: str = ARRAYS) -> Iterator[str]:
    """A hidden folder to fill, which then takes its place."""
    begun = False
    try:
        with temporary_folder(
            target, MANIFEST, lambda: new_place(target, overwrite, ours)
        ) as made:
            begun = True
            yield made.folder
            made.finish()
    except FileExistsError:  # it says all
        raise
    except OSError as error:
        reason = full_disk(error, target)
        if reason is None and not begun:
            reason = ValueError(
                f"{target} cannot be made ({error.strerror}): choose a place that can be "
                "written to."
            )
        raise reason or error from None
