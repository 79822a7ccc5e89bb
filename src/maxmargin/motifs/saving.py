"""What a model file keeps of a MotifFinder, and a model from that."""

from __future__ import annotations

import numpy as np

from maxmargin.core.saved import Saved, restore_shared, shared_state

WIDEST = 1000  # letters of a motif


def state_of(model) -> tuple[dict, dict]:
    """(arrays, plain values)."""
    arrays = {
        "coef": model.coef_,
        "letter_background": model.letter_background_,
        "frequencies": model.frequencies_,
        "counts": model.counts_,
    }
    errors = getattr(model, "width_errors_", {})
    state = {
        "classes": model.classes_,
        "width": int(model.width_),
        "n_sites": model.n_sites_,
        "both_strands": model.both_strands_,
        "composition_scale": getattr(model, "composition_scale_", 0.0),
        "words": getattr(model, "words_", []),
        "width_errors": [[k, v] for k, v in errors.items()],
    }
    return arrays, state | shared_state(model)


def restored(model, arrays, state):
    """The same back on a model with its parameters."""
    from maxmargin.motifs.structure import n_weights

    saved = Saved(arrays, state)
    model._settings()
    model.classes_ = saved.labels("classes")
    if len(model.classes_) != 2:
        raise ValueError("there are not two classes")
    model.width_ = saved.whole("width", 1, WIDEST)
    if "composition_scale" not in state:  # a file older than compositions
        model.composition = False
    if model.composition:
        model.composition_scale_ = saved.number("composition_scale")
        if not model.composition_scale_ > 0:
            raise ValueError("'composition_scale' is not positive")
    size = n_weights(model.width_, model.order, model.composition)
    model.coef_ = saved.floats("coef", size, dtype=np.float64)
    model.letter_background_ = saved.floats("letter_background", 4, dtype=np.float64)
    model.frequencies_ = saved.floats("frequencies", 4, low=1e-300, dtype=np.float64)
    model.counts_ = saved.integers("counts", model.width_, 4, high=2**53)
    seen = int(model.counts_.sum(axis=1).max())
    model.n_sites_ = seen
    model.both_strands_ = bool(model.both_strands)
    if "n_sites" in state:  # older files have no such values
        model.n_sites_ = saved.whole("n_sites", seen, 2**53)
        model.both_strands_ = saved.value("both_strands", bool)
        model.words_ = saved.texts("words")
    errors = saved.value("width_errors", list)
    if errors:
        if any(type(e) is not list or [*map(type, e)] != [int, float] for e in errors):
            raise ValueError("'width_errors' is not a list of widths and errors")
        model.width_errors_ = dict(errors)
    return restore_shared(model, state)
