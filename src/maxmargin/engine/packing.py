"""Values as few bytes: arrays of mostly zeros, or of one value, or hardly changed; frames.

All of it is exact to the last bit, signs of zeros and payloads of NaN included: places are
compared as whole numbers. What arrives has the alignment and the flags of what was sent, so
that compiled kernels see the same types on both sides.
"""

from __future__ import annotations

import pickle
from typing import Any, NamedTuple

import numpy as np

SMALL = 256  # arrays of fewer numbers are sent as they are
_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_ALIGNED = 16  # as numpy's own arrays
WORD = 8  # bytes


class Sparse(NamedTuple):
    """An array by the places and values of what is not zero, or not as it was."""

    shape: tuple[int, ...]
    places: np.ndarray
    values: np.ndarray

    def onto(self, base: np.ndarray) -> np.ndarray:
        """The array itself, with these values in these places."""
        base.reshape(-1)[self.places] = self.values
        return base

    def whole(self) -> np.ndarray:
        array = np.zeros(self.shape, self.values.dtype)
        array.reshape(-1)[self.places] = self.values
        return array


def pack(value: Any) -> Any:
    """The same, with arrays of mostly zeros in short, also within tuples, lists, dicts."""
    if isinstance(value, np.ndarray):
        return difference(value, None) or value
    if type(value) in (tuple, list):
        return type(value)(map(pack, value))
    if type(value) is dict:
        return {key: pack(v) for key, v in value.items()}
    return value


def unpack(value: Any) -> Any:
    """What was packed."""
    if isinstance(value, Sparse):
        return value.whole()
    if type(value) in (tuple, list):
        return type(value)(map(unpack, value))
    if type(value) is dict:
        return {key: unpack(v) for key, v in value.items()}
    return value


def comparable(value: Any) -> bool:
    """Is it an array that can be sent in short?"""
    return (
        type(value) is np.ndarray
        and value.size >= SMALL
        and value.flags.c_contiguous
        and value.dtype.kind in "iuf"
        and value.dtype.itemsize in _BITS
    )


def difference(array: np.ndarray, base: np.ndarray | None) -> Sparse | None:
    """What differs from ``base`` (None: from zero); None if the array itself is shorter."""
    if not comparable(array):
        return None
    if base is not None and (base.shape != array.shape or base.dtype != array.dtype):
        return None
    bits = _bits(array)
    changed = bits if base is None else bits != _bits(base)
    if not shorter(np.count_nonzero(changed), array):
        return None
    places = np.flatnonzero(changed).astype(_number(array))
    return Sparse(array.shape, places, array.reshape(-1)[places])


def shorter(count: int, array: np.ndarray) -> bool:
    """Whether so many places and values are clearly shorter than the array."""
    price = _number(array)().itemsize + array.dtype.itemsize
    return count * price <= 0.75 * array.nbytes


def _number(array: np.ndarray) -> type:
    return np.int32 if array.size < 2**31 else np.int64


def _bits(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(_BITS[array.dtype.itemsize])


# frames ------------------------------------------------------------------------------


def dumps(value: Any) -> list[np.ndarray]:
    """A value as arrays of bytes, those of its arrays not copied.

    The first is its pickle without them; the second says how long those are of which only
    the word is there that they repeat (values of features that are all 1), 0 of others.

    Functions and classes of ``__main__`` go by value (cloudpickle).
    """
    buffers: list[pickle.PickleBuffer] = []
    try:
        head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    except Exception:
        head = b"__main__"
    if b"__main__" in head:
        import cloudpickle

        buffers.clear()
        head = cloudpickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    frames = [np.frombuffer(buffer.raw(), np.uint8) for buffer in buffers]
    lengths = np.array([_repeats(frame) for frame in frames], np.int64)
    pairs = zip(frames, lengths.tolist(), strict=True)
    frames = [_like(f, f[:WORD].copy()) if length else f for f, length in pairs]
    return [np.frombuffer(head, np.uint8), lengths.view(np.uint8), *frames]


def loads(frames: list[np.ndarray]) -> Any:
    """What `dumps` was given."""
    head, lengths, *rest = frames
    pairs = zip(rest, _aligned(lengths).view(np.int64).tolist(), strict=True)
    buffers = [_repeated(f, length) if length else _aligned(f) for f, length in pairs]
    return pickle.loads(head, buffers=buffers)


def _repeats(frame: np.ndarray) -> int:
    """How long it is if it repeats its first word; else 0."""
    whole = len(frame) // WORD * WORD
    if whole < SMALL * WORD or (frame[whole:] != frame[: len(frame) - whole]).any():
        return 0
    words = frame[:whole].view(np.uint64)
    some = words[:: len(words) // SMALL]  # mostly, these tell already
    same = (some == words[0]).all() and (words == words[0]).all()
    return len(frame) if same else 0


def _repeated(word: np.ndarray, length: int) -> np.ndarray:
    words = np.full(-(-length // WORD), _aligned(word).view(np.uint64)[0])
    return _like(word, words.view(np.uint8)[:length])


def _like(frame: np.ndarray, array: np.ndarray) -> np.ndarray:
    """The array, as writeable as the frame."""
    array.flags.writeable = frame.flags.writeable
    return array


def _aligned(frame: np.ndarray) -> np.ndarray:
    """Frames are cut from one long message, at places that kernels cannot read."""
    if frame.ctypes.data % _ALIGNED == 0:
        return frame
    return _like(frame, frame.copy())


def size(frames: list[np.ndarray]) -> int:
    """Bytes."""
    return sum(frame.nbytes for frame in frames)
