"""Saving fitted models to files that hold data only, never code.

A model file is a valid `safetensors` file. Its arrays are the model's arrays (those that
are mostly zeros as ``model_arrays.py`` says); its ``__metadata__`` has the single key
``"maxmargin"``, whose value is a JSON text:

========== ====================================================================
sha256     SHA-256 of the whole file, taken with these 64 digits written as zeros
format     ``"maxmargin-model"``
version    format version, 1 or 2 (2 if there are sparse arrays)
library    version of the library that wrote the file, for information
class      registered name of the model's class, such as ``"MulticlassSVM.v1"``
params     constructor parameters
state      everything else the model needs: labels, vocabularies, history, ...
notes      optional: what the users of the file want to know, see `save`
sparse     optional: shapes of the sparse arrays
========== ====================================================================

The digest covers every byte of the file: array names, types, shapes and contents,
the JSON text and even the padding. It finds damage; it is no signature, so a file
from a stranger may hold wrong numbers, but reading it still runs nothing from it.
What the machine may spend is not the file's to say: ``n_jobs``, ``verbose``,
``max_time`` and ``warm_start`` are the defaults after loading; ``engine``, ``checkpoint``
and ``resume`` are not even written.

Protocol for model classes
--------------------------
A class that can be saved

* is listed in ``_CLASSES`` below under its ``_model_name`` (a class attribute). When
  the meaning of its state changes, it gets a new name: ``"MulticlassSVM.v2"``;
* may have ``_refuse_saving()``, which raises a ValueError that says why a model cannot be
  written, and what to do;
* may name parameters that its state holds anyway in ``_params_in_state``;
* has ``get_params(deep=False)``, is recognised by scikit-learn's ``check_is_fitted``
  once it is fitted, and may have ``_settings()``, which refuses impossible parameters;
* has ``model._get_state() -> (arrays, state)``: ``arrays`` maps names to numpy arrays
  of any shape with type bool, (u)int8..64 or float16..64; ``state`` maps names
  to values. A value is None, a bool, int, float, str, a numpy scalar of the same
  kinds, a 1-D or 2-D numpy array of numbers or of strings or of objects that are such
  scalars, or a list, tuple or dict of values. Each comes back with the same type
  and dtype. Anything else (dataclasses, sets, subclasses of dict) must be turned
  into these first;
* has a class method ``cls._from_state(params, arrays, state) -> model``, which gets
  the same three things back, with arrays that are C-contiguous, writeable and in
  the machine's byte order. It must check what it relies on (``core/saved.py`` helps):
  whatever it raises is reported as an invalid file, and what it lets through must not
  make ``predict`` fail otherwise than with a ValueError. ``maxmargin.testing``'s
  ``check_model_file`` tries. Estimators inherit both from ``fitting/saving.py``, and
  declare fields.

The JSON part is limited to 100 MB (a limit of the safetensors format), so millions
of strings are better kept as one uint8 array.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

from maxmargin.families import model_classes
from maxmargin.files.atomic import replace_file
from maxmargin.files.model_format import INVALID, pack, read
from maxmargin.files.model_values import Refused, encode

__all__ = ["load", "save"]

# The only classes a file can name: loading imports nothing that is not listed here.
_CLASSES = {
    "LatentStructuralSVM.v1": "maxmargin.fitting.latent:LatentStructuralSVM",
    "StructuralSVM.v1": "maxmargin.fitting.structural:StructuralSVM",
    **model_classes(),
}


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, without pickle.

    The file appears at once and complete: if anything goes wrong, or the process is
    interrupted, an existing file at ``path`` stays as it was.

    If the model has an attribute ``notes``, a dict of plain values, `save` keeps it and
    `load` gives it back; the model itself makes no use of it. The command line notes
    there how the training file was written.

    Parameters
    ----------
    model : estimator
        A fitted model of one of the classes that can be saved (`MulticlassSVM`,
        `SequenceTagger`, `GrammarParser`, ...). All its parameters must be plain values;
        the problem or structure of a `StructuralSVM` is saved by its attributes, or by
        its ``get_state()``, and its class by name.
    path : str or path-like
        Where to write; ``~`` is not expanded. By habit it ends in ``.safetensors``.

    Raises
    ------
    ValueError
        If the model, or one of its parameters, cannot be written.
    sklearn.exceptions.NotFittedError
        If the model is not fitted.

    Examples
    --------
    ::

        from maxmargin.files import model_file

        model_file.save(MulticlassSVM(C=10.0).fit(X, y), "digits.safetensors")
        model = model_file.load("digits.safetensors")
        model.predict(X)
    """
    path = os.fsdecode(path)
    target = os.path.realpath(path)  # open() would follow a link too
    if os.path.lexists(target) and not os.path.isfile(target):
        raise ValueError(
            f"Cannot save to '{path}': it exists and is not a regular file. "
            "Give the path of a file."
        )
    if not os.path.isdir(os.path.dirname(target)):
        raise FileNotFoundError(
            f"Cannot save to '{path}': its directory does not exist. "
            "Create the directory first."
        )
    replace_file(target, _pack(model))


def load(path: str | os.PathLike[str], structure: Any = None) -> Any:
    """Read a model that `save` wrote.

    Nothing in the file is executed or imported, and nothing is allocated because the
    file says so: sizes are compared with the real size of the file first. The number of
    threads and the like (``n_jobs``, ``verbose``, ``max_time``, ``warm_start``) are not
    taken from the file.

    Parameters
    ----------
    path : str or path-like
        The file to read; ``~`` is not expanded.
    structure : class, object or list of these, default None
        For a `StructuralSVM`: the class of its problem or structure, of which the file
        has the name only, or an object of it, whose attributes are then replaced by
        those of the file.

    Returns
    -------
    model : estimator
        A fitted model that predicts exactly as the saved one did.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is damaged, is no model file or needs a newer maxmargin; the
        message says which.

    Examples
    --------
    ::

        model = model_file.load("digits.safetensors")
    """
    path = os.fsdecode(path)
    try:
        name, params, state, notes, arrays = read(path)
        cls: Any = _find_class(name)
        more = {}
        if "problem" in getattr(cls, "declared", ()):
            more["structure"] = _choose(structure, state.get("structure"))
        for name in _machine(cls):
            params.pop(name, None)
        try:
            model = cls._from_state(params, arrays, state, **more)
            _check_parameters(model)
        except ImportError:  # a package that this model needs is missing
            raise
        except Exception as error:
            what = f"{cls.__name__} does not accept it ({type(error).__name__}: "
            raise Refused(INVALID.format(f"{what}{error})")) from error
        if notes is not None:
            model.notes = notes
        return model
    except Refused as reason:
        raise ValueError(f"Cannot load '{path}': {reason}.") from reason.__cause__


def _pack(model: Any) -> bytearray:
    """Turn a model into the bytes of its file."""
    cls = type(model)
    name = getattr(cls, "_model_name", None)
    # A subclass inherits the name but would come back as its base class.
    if name not in _CLASSES or _find_class(name) is not cls:
        known = ", ".join(sorted(spec.partition(":")[2] for spec in _CLASSES.values()))
        raise ValueError(
            f"{cls.__name__} cannot be saved to a model file, which holds no code: "
            f"only {known} can. Use pickle or joblib for files that only you read, "
            "or keep the array coef_."
        )
    from sklearn.utils.validation import check_is_fitted  # takes half a second

    check_is_fitted(model)
    if hasattr(model, "_refuse_saving"):
        model._refuse_saving()
    _check_parameters(model)

    params = {}
    for key, value in model.get_params(deep=False).items():
        if key in _machine(cls, "runs"):
            continue
        try:
            kept = key in getattr(cls, "_params_in_state", ())
            params[key] = None if kept else encode(value)
        except Refused as reason:
            plain = "an int or None" if key == "random_state" else "a plain value"
            raise ValueError(
                f"{cls.__name__} cannot be saved: its parameter '{key}' {reason}, "
                f"which a model file cannot hold. Set it to {plain} first, with "
                f"model.set_params({key}=...), or use pickle or joblib."
            ) from None

    arrays, values = model._get_state()
    fields = {
        "class": name,
        "params": params,
        "state": _encode_dict(cls, "state", values),
    }
    notes = getattr(model, "notes", None)
    if notes is not None:
        if type(notes) is not dict:
            raise ValueError(
                f"{cls.__name__} cannot be saved: its notes are of type "
                f"{type(notes).__name__}, but they must be a dict."
            )
        fields["notes"] = _encode_dict(cls, "notes", notes)
    try:
        return pack(fields, arrays)
    except (Refused, ValueError) as reason:
        raise ValueError(
            f"{cls.__name__} cannot be saved: {reason}. Use pickle or joblib."
        ) from None


def _check_parameters(model: Any) -> None:
    """Refuse parameters that no fit would accept; a file has none of where it ran.

    A cluster that has gone must not take with it what was learned there.
    """
    if hasattr(model, "_settings"):
        bare = object.__new__(type(model))
        runs = _machine(type(model), "runs")
        bare.__dict__ = vars(model) | {
            k: v for k, v in runs.items() if k in vars(model)
        }
        bare._settings()


def _machine(cls: type, *kinds: str) -> dict[str, Any]:
    """{parameter of where it runs, or of what it may spend: default}"""
    return {
        name: parameter.default
        for name, parameter in getattr(cls, "declared", {}).items()
        if parameter.machine in (kinds or ("runs", "spends"))
    }


def _encode_dict(cls: type, what: str, values: dict) -> dict:
    """Named values as JSON can say them."""
    encoded = {}
    for key, value in values.items():
        try:
            if type(key) is not str:  # JSON would turn 1 into "1"
                raise Refused("has a name that is not a string")
            encoded[key] = encode(value)
        except Refused as reason:
            raise ValueError(
                f"{cls.__name__} cannot be saved: '{key}' in its {what} {reason}, which "
                "a model file cannot hold. Use pickle or joblib."
            ) from None
    return encoded


def _find_class(name: str) -> type:
    if name not in _CLASSES:
        family = name.partition(".")[0]
        if any(known.partition(".")[0] == family for known in _CLASSES):
            raise Refused(
                f"it holds a model of kind '{name}', which this maxmargin does not "
                "know yet. Upgrade maxmargin, or save the model again with this version"
            )
        raise Refused(
            f"it holds a model of the unknown kind '{name}'. "
            f"This maxmargin reads {', '.join(sorted(_CLASSES))}"
        )
    module, _, attribute = _CLASSES[name].partition(":")
    return getattr(importlib.import_module(module), attribute)


def _choose(given: Any, name: Any) -> Any:
    """The class or object that a file means by a name; the caller's, never our import.

    A module may be called otherwise here than where the file was written (``__main__``
    is a frequent one), so the name within the module decides where no other does.
    """
    given = [] if given is None else given
    given = list(given) if isinstance(given, (list, tuple)) else [given]
    classes = [each if isinstance(each, type) else type(each) for each in given]
    names = [f"{cls.__module__}.{cls.__qualname__}" for cls in classes]
    if name in names:
        return given[names.index(name)]
    same = [
        each
        for each, cls in zip(given, classes, strict=True)
        if f".{name}".endswith(f".{cls.__qualname__}")
    ]
    if len(same) == 1:
        return same[0]
    short = str(name).rpartition(".")[2]
    what = f"only {', '.join(names)} was given" if names else "no class was given"
    raise Refused(
        f"it holds a StructuralSVM for the class '{name}', of which it has no code, and "
        f"{what}. Import that class and write load(path, structure={short})"
    )
