"""Machine code on disk: one file for each kernel and signature, named by its stamp.

numba's own cache judges freshness by the one source file a function stands in, so a
solver compiled around a structure from another file would survive a change there; and
its index imports every batch class that was ever used. Here a file's name says it all:

    <kernel>-<hash of signature and processor>-<stamp>.nbc

A process looks only for the files it needs, so it never meets batch classes of others.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import sys
import uuid
from pathlib import Path

from numba.core.caching import CompileResultCacheImpl, _Cache
from numba.core.serialize import dumps

from maxmargin.core.packed import named_tuples
from maxmargin.core.stamps import stamp


class KernelCache(_Cache):
    """What a numba dispatcher asks for machine code; a damaged file costs a compilation.

    Where no folder can be written, nothing is kept: slow, but never wrong.
    """

    def __init__(self, function, inner=False):
        self._function = function
        self._kind = ".inner" if inner else ""  # Python cannot call it
        self._enabled = True

    @functools.cached_property
    def _numba(self):
        """numba's choice of a folder and its form of machine code, made on first use."""
        return CompileResultCacheImpl(self._function)

    @property
    def cache_path(self):
        return self._numba.locator.get_cache_path()

    def enable(self):
        self._enabled = True

    def disable(self):
        self._enabled = False

    def flush(self):
        for path in Path(self.cache_path).glob(f"{self._name()}-*.nbc"):
            path.unlink(missing_ok=True)

    def load_overload(self, sig, target_context):
        target_context.refresh()
        with contextlib.suppress(Exception):
            if self._enabled:
                folder, name, fresh = self._file(sig, target_context.codegen())
                data = Path(folder, name + fresh).read_bytes()
                result = self._numba.rebuild(target_context, pickle.loads(data))
                # a class of the main script comes back as another: compile for this one
                if tuple(result.signature.args) == _arguments(sig):
                    return result
        return None

    def save_overload(self, sig, data):
        with contextlib.suppress(Exception):
            if self._enabled and self._numba.check_cachable(data):
                self._numba.locator.ensure_cache_path()
                folder, name, fresh = self._file(sig, data.codegen)
                content = dumps(self._numba.reduce(data))
                stale = list(Path(folder).glob(f"{name}*"))
                temporary = Path(folder, f"{name}{uuid.uuid4().hex[:16]}.tmp")
                temporary.write_bytes(content)
                os.replace(temporary, Path(folder, name + fresh))
                for path in stale:
                    if path.name != name + fresh:
                        path.unlink(missing_ok=True)

    def _name(self) -> str:
        function = self._function
        file = Path(function.__code__.co_filename).stem
        version = f"py{sys.version_info[0]}{sys.version_info[1]}"
        name = f"{file}.{function.__qualname__}{self._kind}.{version}"
        return "".join(c if c.isalnum() or c in "._" else "_" for c in name)

    def _file(self, sig, codegen) -> tuple[str, str, str]:
        """(folder, name up to the stamp, the rest)."""
        arguments = _arguments(sig)
        modules = [c.__module__ for c in named_tuples(arguments)]
        text = repr((arguments, modules, codegen.magic_tuple()))
        signature = hashlib.sha256(text.encode()).hexdigest()[:16]
        fresh = stamp(self._function, arguments)[:32]
        return self.cache_path, f"{self._name()}-{signature}-", f"{fresh}.nbc"


def _arguments(sig) -> tuple:
    return tuple(getattr(sig, "args", sig))
