"""Weights as DataFrames and as views, of estimators of every kind."""

import numpy as np
import pytest
from report_cases import VECTORS, cases, fitted

from maxmargin import MulticlassSVM
from maxmargin.plots import weights_frame
from maxmargin.views import weights


@pytest.mark.parametrize(
    "name", sorted(set(cases()) - {"HomologFinder", "NeuralTagger"})
)
def test_frames_and_views(name):
    model = fitted(name)[0]
    frame = weights_frame(model)
    assert len(frame)
    group, *_ = frame.columns
    assert {"feature", "weight"} < set(frame.columns)
    assert frame.weight.all()
    assert (np.diff(frame.weight.abs()) <= 1e-12).all()
    assert set(map(type, frame.feature)) == {str}
    some = frame[group].iloc[0]
    assert set(weights_frame(model, [some])[group]) == {some}
    view = weights(model, [some], top=3)
    assert view.html.count("<tr") == min(3, (frame[group] == some).sum())
    assert frame.feature.iloc[0] in str(view)


def test_weights_are_those_of_the_model():
    y = np.repeat(["cod", "eel", "<b>ray"], 8)
    model = MulticlassSVM().fit(VECTORS, y)
    frame = weights_frame(model)
    best = frame.iloc[0]
    k = model.classes_.tolist().index(best.group)
    j = int(best.feature.removeprefix("feature ")) - 1
    assert abs(best.weight) == np.abs(model.coef_).max()
    assert best.weight == model.coef_[k, j]
    view = weights(model)
    assert "<b>ray" not in view.html
    assert "&lt;b&gt;ray" in view.html
    with pytest.raises(ValueError, match="labels holds 'pike', which has no weights"):
        weights(model, ["pike"])
    with pytest.raises(ValueError, match="top"):
        weights(model, top=0)
    with pytest.raises(ValueError, match="not fitted"):
        weights_frame(MulticlassSVM())


def test_models_without_named_features_say_so():
    with pytest.raises(TypeError, match="HomologFinder has no features with names"):
        weights_frame(fitted("HomologFinder")[0])
    with pytest.raises(TypeError, match="explanations and tables of weights need"):
        fitted("HomologFinder")[0].explain(("HEAG", ["HEAG"]))
