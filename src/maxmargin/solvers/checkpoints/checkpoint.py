"""Where checkpoints lie and when they may be written: what users say, checked.

``driver.py`` writes them and brings them back, ``files/checkpoint_file.py`` has their
bytes. No numba here: models are checked when they are loaded.
"""

from __future__ import annotations

import contextlib
import numbers
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from maxmargin.core.checks import is_real
from maxmargin.files.atomic import remove_leftovers, temporary_name
from maxmargin.files.locks import Busy, reserve
from maxmargin.files.model_values import Refused

ENDING = ".checkpoint"


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often the state of a fit is kept.

    Parameters
    ----------
    folder : str or path-like
        Created if it does not exist. It belongs to one fit at a time: while that runs,
        another fit with the same folder, in any process, is refused.
    every : float, default 60
        Least number of seconds between two checkpoints, which are written between passes; 0
        writes one after every pass.

    Examples
    --------
    >>> from maxmargin import Checkpoint, SequenceTagger
    >>> tagger = SequenceTagger(checkpoint=Checkpoint("chunks", every=600), resume=True)
    """

    folder: str | os.PathLike[str]
    every: float = 60.0


@dataclass(frozen=True)
class Place:
    """The file of one fit in the folder, and whether to go on from it."""

    folder: str
    every: float
    resume: bool
    name: str = "fit"

    @property
    def path(self) -> str:
        return os.path.join(self.folder, self.name + ENDING)

    def named(self, name: str) -> Place:
        return replace(self, name=name)

    def part(self, name: str) -> Place:
        """The file of a part of this fit."""
        return self.named(f"{self.name}-{name}")

    def all(self) -> list[Place]:
        """The files of this fit and of its parts that are there."""
        names = [
            entry.removesuffix(ENDING) for entry in sorted(os.listdir(self.folder))
        ]
        own = [n for n in names if n == self.name or n.startswith(f"{self.name}-")]
        return [p for p in map(self.named, own) if os.path.lexists(p.path)]


def place_of(model: Any) -> Place | None:
    """The parameters ``checkpoint`` and ``resume`` of an estimator, checked."""
    checkpoint, resume = getattr(model, "checkpoint", None), getattr(model, "resume", 0)
    if not isinstance(resume, numbers.Integral) or resume not in (0, 1):
        raise ValueError(
            f"resume={resume!r} is not possible: it must be True, to go on from a "
            "checkpoint, or False."
        )
    if checkpoint is None:
        if resume:
            raise ValueError(
                "resume=True needs a folder with a checkpoint to go on from: give one, "
                "as in checkpoint='folder'."
            )
        return None
    if isinstance(checkpoint, (str, os.PathLike)):
        checkpoint = Checkpoint(checkpoint)
    folder = getattr(checkpoint, "folder", None)
    if not isinstance(checkpoint, Checkpoint) or not isinstance(
        folder, (str, os.PathLike)
    ):
        raise ValueError(
            f"checkpoint={checkpoint!r} is not possible: it must be the path of a folder, "
            "maxmargin.Checkpoint(folder, every=seconds), or None."
        )
    every = checkpoint.every
    if not is_real(every) or every < 0:
        raise ValueError(
            f"Checkpoint(every={every!r}) is not possible: it must be a number of "
            "seconds, zero or more."
        )
    folder = os.fsdecode(folder)
    if not folder or "\0" in folder:
        raise ValueError(f"checkpoint={folder!r} is not possible: name a folder.")
    return Place(folder, float(every), bool(resume))


@contextlib.contextmanager
def kept(*places: Place | None) -> Iterator[None]:
    """Hold the folder while a fit runs, or several after another.

    Before any work it is made and written to, and what is there is looked at. Another fit
    that is given the same folder meanwhile, in whatever process, is refused.
    """
    found = [place for place in places if place is not None]
    if not found:
        yield
        return
    folder = os.path.realpath(found[0].folder)
    with contextlib.ExitStack() as stack:
        try:
            os.makedirs(folder, exist_ok=True)
            stack.enter_context(reserve(os.path.join(folder, "fit")))
            _try_to_write(folder)
        except Busy as error:
            raise ValueError(
                f"checkpoint={found[0].folder!r} is in use by a fit of {error.by}, and "
                "two would overwrite each other: wait until that has ended, or give "
                "another folder."
            ) from None
        except OSError as error:
            raise ValueError(
                f"checkpoint={found[0].folder!r} cannot be written to "
                f"({reason_of(error)}): give a folder that can."
            ) from None
        for place in found:
            _prepare(place)
        yield


def _try_to_write(folder: str) -> None:
    """Write some bytes: who may do so, and whether there is room, is seen only then."""
    remove_leftovers(os.path.join(folder, "probe"))
    probe = os.path.join(folder, temporary_name("probe"))
    try:
        with open(probe, "xb") as file:
            file.write(b" " * 4096)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(probe)


def _prepare(place: Place) -> None:
    """Look at what is there."""
    found = place.all()
    for one in found:
        look(one)
    if not place.resume:  # those of a fit that has ended, which nobody goes on from
        for one in found:
            os.unlink(one.path)


def path_places(places: list[Place | None], Cs: list[float]) -> list[Place | None]:
    """A file for each of several fits that differ in C."""
    named: list[Place | None] = []
    for place, C in zip(places, Cs, strict=True):
        if place is not None:
            place = place.named(f"C={C!r}")
            before = Cs[: len(named)].count(C)
            place = place.part(f"again-{before}") if before else place
        named.append(place)
    return named


def look(place: Place) -> bool:
    """Whether the file of this place is there to go on from; ValueError if it is not ours,
    or if it would be lost."""
    from maxmargin.files import checkpoint_file

    if not os.path.lexists(place.path):
        return False
    try:
        fields = checkpoint_file.check(place.path)
    except (Refused, OSError) as reason:
        raise ValueError(refusal(place, reason)) from None
    if not place.resume and not fields.get("ended"):
        raise ValueError(
            f"'{place.path}' is the checkpoint of a fit that has not ended "
            f"({described(fields)}), which this fit would overwrite: go on from it with "
            "resume=True, remove it, or give another folder."
        )
    return place.resume


def described(fields: dict[str, Any]) -> str:
    """How far a fit had come; whatever a file says."""
    passes, seconds = fields.get("passes"), fields.get("seconds")
    good = all(type(v) in (int, float) and abs(v) < 1e15 for v in (passes, seconds))  # type: ignore[arg-type]
    return f"{passes} passes, {seconds:.0f} seconds" if good else "no passes"


def refusal(place: Place, reason: Any) -> str:
    if isinstance(reason, OSError):
        reason = f"it cannot be read ({reason_of(reason)})"
    return f"Cannot go on from '{place.path}': {reason}."


def reason_of(error: OSError) -> str:
    return error.strerror or str(error)
