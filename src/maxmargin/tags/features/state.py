"""A fitted column encoder as arrays and plain values, and back with all checks.

Lists of strings become two arrays: their text in UTF-8 and the end of each string in
it, counted in characters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from maxmargin.tags.features.templates import Template, parse_template

_VERSION = 1


def to_arrays(
    template: Template,
    min_count: int,
    hash_bits: int | None,
    gazetteers: Mapping[str, frozenset],
    dense: Mapping[int, tuple[dict, np.ndarray]],
    indexes: list[dict],
    tables: list[list],
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Everything that a fitted encoder needs."""
    arrays: dict[str, np.ndarray] = {}
    for k, index in enumerate(indexes):
        _put_strings(arrays, f"values{k}", index)
    for g, own in enumerate(tables):
        for k, table in enumerate(own):
            arrays[f"keys{g}.{k}"] = table.keys
    for name, members in gazetteers.items():
        _put_strings(arrays, f"gazetteer.{name}", sorted(members))
    for column, (index, vectors) in dense.items():
        _put_strings(arrays, f"dense{column}", index)
        arrays[f"dense{column}.vectors"] = vectors
    state = {
        "version": _VERSION,
        "template": template.text,
        "names": list(template.names),
        "min_count": min_count,
        "hash_bits": hash_bits,
        "dense": [int(column) for column in dense],
    }
    return arrays, state


def _put_strings(arrays: dict, name: str, strings: Iterable[str]) -> None:
    strings = list(strings)
    text = "".join(strings).encode("utf-8", "surrogatepass")
    arrays[f"{name}.text"] = np.frombuffer(text, np.uint8).copy()
    arrays[f"{name}.ends"] = np.cumsum([len(s) for s in strings], dtype=np.int64)


class Reader:
    """Reads what :func:`to_arrays` wrote and believes none of it."""

    def __init__(self, arrays: Mapping[str, np.ndarray], state: Mapping[str, Any]):
        self._arrays, self._state = arrays, state
        if not isinstance(state, Mapping) or not isinstance(arrays, Mapping):
            self.refuse("it is not a pair of dicts")
        if self.value("version") != _VERSION:
            self.refuse(f"its version is {self.value('version')!r}, not {_VERSION}")

    def refuse(self, why: str):
        """Raise the one error for states that no encoder can have given."""
        raise ValueError(f"the state of the ColumnEncoder is damaged: {why}.")

    def value(self, name: str) -> Any:
        if name not in self._state:
            self.refuse(f"{name!r} is missing")
        return self._state[name]

    def template(self) -> Template:
        text = self.value("template")
        # text without these would be taken for the path of a file
        if not isinstance(text, str) or not ("\n" in text or "%" in text):
            self.refuse("its template is not the text of one")
        names = self._state.get("names", [])  # models before there were names
        if not isinstance(names, (list, tuple)) or not all(
            isinstance(name, str) for name in names
        ):
            self.refuse("its names of columns are not a list of strings")
        return parse_template(text).resolved(tuple(names))

    def keys(self, group: int, stage: int, space: int) -> np.ndarray:
        """The keys of a table, which are all below `space`."""
        name = f"keys{group}.{stage}"
        keys = self._array(name, np.int64)
        if len(keys) and not 0 <= keys.min() <= keys.max() < space:
            self.refuse(f"{name} is out of range")
        return keys

    def index(self, k: int, markers: list[str]) -> dict[str, int]:
        """The numbers of a domain's values, of which the markers come first."""
        strings = self._strings(f"values{k}")
        if strings[: len(markers)] != markers:
            self.refuse(f"values{k} does not begin with the markers of the template")
        return self._index(f"values{k}", strings)

    def gazetteers(self, names: Iterable[str]) -> dict[str, frozenset]:
        fields = {name: f"gazetteer.{name}" for name in names}
        return {
            name: frozenset(self._index(field, self._strings(field)))
            for name, field in fields.items()
        }

    def dense(self) -> dict[int, tuple[dict, np.ndarray]]:
        columns, out = self.value("dense"), {}
        if not isinstance(columns, (list, tuple)):
            self.refuse("'dense' is not a list")
        for column in columns:
            if type(column) is not int or column < 0 or column in out:
                self.refuse(f"'dense' has {column!r}, not the number of a column")
            index = self._index(f"dense{column}", self._strings(f"dense{column}"))
            vectors = self._array(f"dense{column}.vectors", np.float32, 2)
            if vectors.shape[0] != len(index) or not vectors.shape[1]:
                self.refuse(f"dense{column} has not one vector per word")
            if not (np.abs(vectors) < 1e18).all():
                self.refuse(f"dense{column} has values that are not finite")
            out[column] = index, vectors
        return out

    def _index(self, name: str, strings: list[str]) -> dict[str, int]:
        index = {s: k for k, s in enumerate(strings)}
        if len(index) != len(strings):
            self.refuse(f"{name} has a string twice")
        return index

    def _strings(self, name: str) -> list[str]:
        data = self._array(f"{name}.text", np.uint8).tobytes()
        try:
            text = data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:
            self.refuse(f"{name}.text is not UTF-8")
        ends = self._array(f"{name}.ends", np.int64)
        begins = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
        if (begins > ends).any() or (ends[-1] if len(ends) else 0) != len(text):
            self.refuse(f"{name}.ends does not fit its text")
        return [text[a:b] for a, b in zip(begins.tolist(), ends.tolist(), strict=True)]

    def _array(self, name: str, dtype, ndim: int = 1) -> np.ndarray:
        """An array that is of this type, so that kernels can trust it."""
        array = self._arrays.get(name)
        if not isinstance(array, np.ndarray):
            self.refuse(f"the array {name!r} is missing")
        if array.dtype != dtype or array.ndim != ndim:
            self.refuse(
                f"{name} is {array.ndim}-D {array.dtype}, not {np.dtype(dtype)}"
            )
        return np.require(array, dtype, ["C", "W"])
