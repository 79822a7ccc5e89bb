"""Machine code on disk: one file for each kernel and signature, named by its stamp.

numba's own cache judges freshness by the one source file a function stands in, so a
solver compiled around a structure from another file would survive a change there; and
its index imports every batch class that was ever used. Here a file's name says it all:

    <kernel>-<hash of signature and processor>-<stamp>.nbc

A process looks only for the files it needs, so it never meets batch classes of others.
Behind the machine code stands its CRC-32: what is damaged is compiled anew. Code is also
read where nothing can be written, as in the image of a container that was warmed up. What
cannot be kept is compiled in memory, and a warning says so, once in a process.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import sys
import uuid
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path

from numba.core import config
from numba.core.caching import CompileResultCacheImpl, _Cache, _CacheLocator
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from maxmargin.core.compile.linked import rebuilt
from maxmargin.core.compile.packed import named_tuples
from maxmargin.core.compile.stamps import stamp

SEAL = b"mm01"  # before the checksum


class KernelCache(_Cache):
    """What a numba dispatcher asks for machine code; nothing here fails a fit.

    A damaged file costs a compilation, and where no folder can be written nothing is kept.
    """

    def __init__(self, function, inner=False):
        self._function = function
        self._kind = ".inner" if inner else ""  # Python cannot call it
        self._enabled = True
        self._refused = ""  # why nothing can be kept

    @functools.cached_property
    def _numba(self):
        """numba's choice of a folder and its form of machine code, made on first use.

        None where it finds no folder that can be written.
        """
        try:
            return CompileResultCacheImpl(self._function)
        except Exception as error:
            if os.path.exists(self._source):  # else no file has it
                self._refused = str(error)
            return None

    @property
    def _source(self) -> str:
        return self._function.__code__.co_filename

    @property
    def cache_path(self) -> str:
        """Where files are kept; empty if nowhere."""
        return "" if self._numba is None else self._numba.locator.get_cache_path()

    def enable(self):
        self._enabled = True

    def disable(self):
        self._enabled = False

    def flush(self):
        if self.cache_path:
            for path in Path(self.cache_path).glob(f"{self._name()}-*.nbc"):
                path.unlink(missing_ok=True)

    def load_overload(self, sig, target_context):
        with contextlib.suppress(Exception):
            if self._enabled:
                name, fresh = self._file(sig, target_context.codegen())
                data = self._read(name + fresh)
                self._prepare(sig, target_context)
                result = rebuilt(target_context, pickle.loads(data))
                # a class of the main script comes back as another: compile for this one
                if tuple(result.signature.args) == _arguments(sig):
                    return result
        return None

    def _read(self, name: str) -> bytes:
        """What the first folder with such a file has in it."""
        for folder in self._folders():
            with contextlib.suppress(OSError, ValueError):
                return _unsealed(Path(folder, name).read_bytes())
        raise FileNotFoundError(name)

    def _folders(self) -> Iterator[str]:
        """Where code is kept; before it, what comes first and can only be read."""
        for folder in self._wanted():
            if folder == self.cache_path:
                break
            yield folder
        if self.cache_path:
            yield self.cache_path

    def _wanted(self) -> Iterator[str]:
        """Where numba would keep code first, as far as it can be written."""
        if os.path.exists(self._source):
            if config.CACHE_DIR:
                inside = _CacheLocator.get_suitable_cache_subpath(self._source)
                yield os.path.join(config.CACHE_DIR, inside)
            yield os.path.join(os.path.dirname(self._source), "__pycache__")

    def _prepare(self, sig, target_context) -> None:
        """Load what machine code may call: for ours numba's memory alone.

        All that it takes to compile is half of what a program spends on its kernels, and
        numba loads it itself before it compiles. Code of users may call what extensions of
        numba bring.
        """
        classes = named_tuples(_arguments(sig))
        if all(map(_is_ours, [self._function, *classes])):
            rtsys.initialize(target_context)
        else:
            target_context.refresh()

    def save_overload(self, sig, data):
        with contextlib.suppress(Exception):
            if not self._enabled:
                return
            if self._numba is None:
                if self._refused:
                    _tell(self._refused)
                return
            if self._numba.check_cachable(data):
                try:
                    self._save(sig, data)
                except OSError as error:  # such as a full disk
                    _tell(error.strerror or str(error))

    def _save(self, sig, data) -> None:
        self._numba.locator.ensure_cache_path()
        folder = self.cache_path
        name, fresh = self._file(sig, data.codegen)
        content = _sealed(dumps(self._numba.reduce(data)))
        stale = list(Path(folder).glob(f"{name}*"))
        temporary = Path(folder, f"{name}{uuid.uuid4().hex[:16]}.tmp")
        try:
            temporary.write_bytes(content)
            os.replace(temporary, Path(folder, name + fresh))
        finally:
            temporary.unlink(missing_ok=True)
        for path in stale:
            if path.name != name + fresh:
                path.unlink(missing_ok=True)

    def _name(self) -> str:
        function = self._function
        file = Path(self._source).stem
        version = f"py{sys.version_info[0]}{sys.version_info[1]}"
        name = f"{file}.{function.__qualname__}{self._kind}.{version}"
        return "".join(c if c.isalnum() or c in "._" else "_" for c in name)

    def _file(self, sig, codegen) -> tuple[str, str]:
        """(name up to the stamp, the rest)."""
        arguments = _arguments(sig)
        modules = [c.__module__ for c in named_tuples(arguments)]
        text = repr((arguments, modules, codegen.magic_tuple()))
        signature = hashlib.sha256(text.encode()).hexdigest()[:16]
        fresh = stamp(self._function, arguments)[:32]
        return f"{self._name()}-{signature}-", f"{fresh}.nbc"


def _is_ours(thing) -> bool:
    return thing.__module__.partition(".")[0] == __name__.partition(".")[0]


def _sealed(data: bytes) -> bytes:
    return data + SEAL + zlib.crc32(data).to_bytes(4, "little")


def _unsealed(data: bytes) -> bytes:
    """The content; ValueError if it is damaged. Files of earlier versions have no seal,
    and pickle finds those that were cut short."""
    content, seal, total = data[:-8], data[-8:-4], data[-4:]
    if seal != SEAL:
        return data
    if zlib.crc32(content).to_bytes(4, "little") != total:
        raise ValueError("the file is damaged")
    return content


_told = False


def _tell(reason: str) -> None:
    """A word, once in a process, that compiled code is not kept."""
    global _told
    if not _told:
        _told = True
        warnings.warn(
            f"Compiled code cannot be kept on disk ({reason}), so that every process "
            "compiles it anew, in memory: set the environment variable NUMBA_CACHE_DIR "
            "to a folder that can be written.",
            RuntimeWarning,
            stacklevel=2,
        )


def _arguments(sig) -> tuple:
    return tuple(getattr(sig, "args", sig))
