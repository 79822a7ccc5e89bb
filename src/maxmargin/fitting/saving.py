"""What a model file holds of a model: declared fields, and what every fit leaves behind.

    _fields = labels("classes_", "k"), floats("coef_", "k", "d"), floats("intercept_", "k")

are attributes, written under their names without underscores. A letter in place of a number
is a size: the first field that has it says how large it is, the others must agree; "d" is
the number of features. What is no plain value is for ``saved`` and ``restore`` of the
structure.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.core.encoded import C_of
from maxmargin.core.saved import Saved
from maxmargin.fitting.calibration import plain, restored
from maxmargin.solvers.result import Certificate, StationaryPoint
from maxmargin.solvers.watching.held_out import DevScore

if TYPE_CHECKING:
    from maxmargin.explain.explanation import Explanation
    from maxmargin.report.report import Report

# Fields of a certificate, and of one for hidden parts.
PROOF = (
    ("primal", "dual", "gap", "relative_gap", "exact"),
    ("objective", "decrease", "inner_gap", "bound", "exact"),
)

Sizes = dict[str, int]


@dataclass(frozen=True)
class Field:
    """An attribute; ``read`` takes it from a file, given its name and the known sizes."""

    attribute: str
    read: Callable[[Saved, str, Sizes], Any]
    array: bool = False
    optional: bool = False  # of some models only

    @property
    def name(self) -> str:
        return self.attribute.strip("_")


class Saving:
    """A class whose models are saved by their fields (``files/model_file.py``)."""

    _fields: tuple[Field, ...] = ()

    def report(
        self, X: Any, y: Any, *, against: Any = None, limit: int = 150
    ) -> Report:
        """A page about this model and its errors, for the browser or a notebook.

        ``report.save("report.html")`` writes it; notebooks show it.

        Parameters
        ----------
        X, y : inputs and their true outputs, as ``fit`` takes them
        against : another fitted model of the same kind, to compare with, or None
        limit : int
            The most examples with errors that are drawn.
        """
        module = importlib.import_module("maxmargin.report.report")  # it is above
        return module.model_report(self, X, y, against, limit)

    def explain(self, x: Any, **options: Any) -> Explanation:
        """Which features decided the prediction for one input, part by part.

        Every part (a token, a class, a link ...) is set against its runner-up, the best
        output in which it is different; the contributions of the features add up to the
        difference of the two scores. Notebooks show it, and ``print`` does.

        Parameters
        ----------
        x : one input, as ``predict`` takes them in a list
        options : what the family takes besides, such as ``qid`` of rankings
        """
        module = importlib.import_module("maxmargin.explain.explained")  # it is above
        return module.explained(self, x, options)

    def _get_state(self) -> tuple[dict, dict]:
        arrays, state = self._more_state()
        for field in self._fields:
            if not field.optional or getattr(self, field.attribute, None) is not None:
                place = arrays if field.array else state
                place[field.name] = getattr(self, field.attribute)
        return arrays, state | shared_state(self)

    def _more_state(self) -> tuple[dict, dict]:
        """(arrays, state): what has no field."""
        structure = getattr(self, "structure_", None)
        return ({}, {}) if structure is None else structure.saved()

    @classmethod
    def _from_state(cls, params, arrays, state):
        model, saved, sizes = cls(**params), Saved(arrays, state), {}
        model._settings()  # which say what must be there
        for field in cls._fields:
            there = field.name in (arrays if field.array else state)
            if there or not field.optional:
                setattr(model, field.attribute, field.read(saved, field.name, sizes))
        if "d" in sizes:
            model.n_features_in_ = sizes["d"]
        model._loaded(saved, sizes)
        return restore_shared(model, state)

    def _loaded(self, saved: Saved, sizes: Sizes) -> None:
        """Set what follows from the fields; ValueError if they do not fit together."""
        if getattr(self, "_structure_class", None) is None:
            return
        structure = self._structure()  # type: ignore[attr-defined]
        structure.restore(saved, sizes)
        self.structure_ = structure
        for name, value in structure.attributes().items():
            setattr(self, name, value)


# kinds of fields ------------------------------------------------------------------------


def floats(attribute: str, *shape, optional=False, **more) -> Field:
    def read(saved, name, sizes):
        more.setdefault("dtype", np.float64)
        return _sized(saved.floats(name, *_known(shape, sizes), **more), shape, sizes)

    return Field(attribute, read, True, optional)


def integers(attribute: str, *shape, optional=False, **more) -> Field:
    def read(saved, name, sizes):
        return _sized(saved.integers(name, *_known(shape, sizes), **more), shape, sizes)

    return Field(attribute, read, True, optional)


def labels(attribute: str, size: str, two: bool = False) -> Field:
    """A label for each of so many, all different; ``two`` at least."""

    def read(saved, name, sizes):
        found = _sized(saved.labels(name), (size,), sizes)
        if two and len(found) < 2:
            raise ValueError(f"there are not two {name}")
        return found

    return Field(attribute, read)


def value(attribute: str, *kinds: type, optional=False) -> Field:
    return Field(attribute, lambda s, name, _: s.value(name, *kinds), False, optional)


def number(attribute: str, optional=False) -> Field:
    return Field(attribute, lambda s, name, _: s.number(name), False, optional)


def whole(attribute: str, low: int = 0, high: int = 2**53, optional=False) -> Field:
    return Field(
        attribute, lambda s, name, _: s.whole(name, low, high), False, optional
    )


def _feature_names(saved: Saved, name: str, sizes: Sizes) -> np.ndarray:
    names = saved.labels(name)
    if names.dtype != object or len(names) != sizes["d"]:
        raise ValueError("weights and feature names do not fit together")
    return names


FEATURE_NAMES = Field("feature_names_in_", _feature_names, optional=True)


def _known(shape: tuple, sizes: Sizes) -> list:
    return [sizes.get(size) if isinstance(size, str) else size for size in shape]


def _sized(array: np.ndarray, shape: tuple, sizes: Sizes) -> np.ndarray:
    for size, found in zip(shape, array.shape, strict=True):
        if isinstance(size, str) and sizes.setdefault(size, found) != found:
            raise ValueError("sizes do not fit together")
    return array


# what every fit leaves behind -----------------------------------------------------------


def shared_state(model) -> dict:
    """What every fitted estimator knows of its training, as plain values."""
    if not hasattr(model, "certificate_"):  # PCFGParser, which counts
        return {}
    latent = hasattr(model, "rounds_")
    state = {
        "certificate": [getattr(model.certificate_, name) for name in PROOF[latent]],
        "history": model.history_,
        "converged": model.converged_,
    }
    if hasattr(model, "C_"):
        state["C"] = model.C_
    if hasattr(model, "dev_"):
        state["dev"] = list(astuple(model.dev_))
    if hasattr(model, "calibration_"):
        state["calibration"] = plain(model.calibration_)
    if latent:
        state |= {"rounds": model.rounds_, "restarts": model.restarts_}
    return state


def restore_shared(model, state):
    """The same, back on a model that was loaded."""
    if "certificate" not in state and not hasattr(model, "tol"):
        return model
    saved = Saved({}, state)
    latent = "rounds" in state
    certificate = saved.value("certificate", list)
    *numbers, exact = certificate
    if (
        len(certificate) != len(PROOF[latent])
        or set(map(type, numbers)) != {float}
        or type(exact) is not bool
    ):
        raise ValueError("its certificate is not valid")
    model.certificate_ = (StationaryPoint if latent else Certificate)(*certificate)
    model.history_ = _rows(saved, "history")
    if not all(type(row.get("seconds")) is float for row in model.history_):
        raise ValueError("its history is not valid")
    model.n_iter_ = len(model.history_)
    model.converged_ = saved.value("converged", bool)
    if hasattr(model, "C"):
        model.C_ = _used_C(model, saved)
    if "dev" in state:
        model.dev_ = _dev_score(saved)
    if "calibration" in state:
        model.calibration_ = restored(saved.part("calibration"))
    if latent:
        model.rounds_ = _rows(saved, "rounds")
        model.n_outer_ = len(model.rounds_)
        model.restarts_ = saved.value("restarts", list)
        if not set(map(type, model.restarts_)) <= {float}:
            raise ValueError("'restarts' is not a list of numbers")
    return model


def _dev_score(saved: Saved) -> DevScore:
    values = saved.value("dev", list)
    if list(map(type, values)) != [str, float, int, bool, bool]:
        raise ValueError("'dev' is not a score on held-out data")
    return DevScore(*values)


def _used_C(model, saved: Saved) -> float:
    """The C of the training; files of earlier versions have it in the parameters only."""
    if "C" not in saved.state:
        return C_of(model)
    C = saved.value("C", float)
    if not C > 0:
        raise ValueError(f"'C' is {C}, out of range")
    return C


def _rows(saved: Saved, name: str) -> list[dict]:
    rows = saved.value(name, list)
    if not all(type(row) is dict and set(map(type, row)) <= {str} for row in rows):
        raise ValueError(f"its {name} is not valid")
    return rows
