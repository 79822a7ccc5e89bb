"""Pictures of kernel machines show what is there."""

import matplotlib as mpl
import numpy as np
import pytest

from maxmargin import KernelSVM, kernels
from maxmargin.plots import plot_accuracy_by_size, plot_basis_images, plot_boundary

mpl.use("Agg")
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def groups(k, width, n=40, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.normal(size=(k, width))[y] * 3 + rng.normal(size=(n, width)), y


@pytest.fixture(scope="module")
def flat():
    X, y = groups(2, 2)
    names = np.array(["$a", "b"])
    return KernelSVM(n_components=4).fit(X, names[y]), X, names[y]


@pytest.fixture(scope="module")
def pixels():
    X, y = groups(3, 9)
    return KernelSVM(C=10).path(X, y, n_components=[3, 7]), X, y


def offsets(ax, label):
    (found,) = (c for c in ax.collections if c.get_label() == label)
    return np.asarray(found.get_offsets())


def test_samples_and_basis_points_lie_where_they_are(flat):
    model, X, y = flat
    ax = plot_boundary(model, X, y, names=["width", "height"]).axes[0]
    np.testing.assert_allclose(offsets(ax, "$a"), X[y == "$a"])
    np.testing.assert_allclose(offsets(ax, "b"), X[y == "b"])
    np.testing.assert_allclose(offsets(ax, "basis point"), model.basis_)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("width", "height")
    wrong = int((model.predict(X) != y).sum())
    assert ax.get_title(loc="left") == f"4 basis functions; {wrong} of 40 samples wrong"


def test_regions_are_predictions(flat):
    model, X, y = flat
    ax = plot_boundary(model, X, y).axes[0]
    (mesh,) = (c for c in ax.collections if hasattr(c, "get_coordinates"))
    shown = np.asarray(mesh.get_array()).ravel()
    corners = mesh.get_coordinates()
    middles = (corners[:-1, :-1] + corners[1:, 1:]) / 2
    expected = model.predict(middles.reshape(-1, 2)) == "b"
    assert np.mean(shown == expected) > 0.99
    assert 0 < expected.mean() < 1


def test_other_columns_follow_the_samples(pixels):
    (model, _), X, y = pixels
    ax = plot_boundary(model, X, y, columns=(4, 1)).axes[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("column 4", "column 1")
    np.testing.assert_allclose(offsets(ax, "2"), X[y == 2][:, [4, 1]])
    assert {text.get_text() for text in ax.texts} == {"0", "1", "2"}
    ax = plot_boundary(model, X, y).axes[0]
    assert ax.get_xlabel().startswith("principal component 1 (")
    centred = offsets(ax, "0") - offsets(ax, "0").mean(axis=0)
    truth = X[y == 0] - X[y == 0].mean(axis=0)
    assert np.linalg.norm(centred) <= np.linalg.norm(truth)
    mine = pyplot.subplots()[1]
    assert plot_boundary(model, X, y, ax=mine) is mine.figure


def test_accuracy_is_that_of_the_models(pixels):
    models, X, y = pixels
    ax = plot_accuracy_by_size({"path": models[::-1], "last": models[1]}, X, y).axes[0]
    line = next(line for line in ax.lines if line.get_label() == "path")
    assert line.get_xdata().tolist() == [len(m.dual_coef_) for m in models]
    np.testing.assert_allclose(line.get_ydata(), [m.score(X, y) for m in models])
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["path", f"last ({len(models[1].dual_coef_)})"]
    assert plot_accuracy_by_size(models, X, y).axes[0].get_legend() is None


def test_every_basis_point_is_a_picture_beside_its_class(pixels):
    (_, model), _, _ = pixels
    ax = plot_basis_images(model, columns=2).axes[0]
    assert len(ax.patches) == len(model.basis_)
    canvas = np.ma.filled(ax.images[0].get_array(), np.nan)
    owner = model.dual_coef_.argmax(axis=1)
    first = np.flatnonzero(owner == owner.min())
    best = first[model.dual_coef_[first, owner.min()].argmax()]
    np.testing.assert_allclose(canvas[:3, :3], model.basis_[best].reshape(3, 3))
    shown = [text.get_text() for text in ax.get_yticklabels()]
    assert shown == [str(k) for k in sorted(set(owner.tolist()))]
    assert np.isfinite(canvas).sum() == model.basis_.size
    wide = plot_basis_images(model, shape=(1, 3, 3)).axes[0].images[0].get_array()
    assert wide.shape[2] == 3


def test_what_cannot_be_drawn_is_refused(flat, pixels):
    model, X, y = flat
    with pytest.raises(ValueError, match=r"columns=\(0, 5\) is not possible"):
        plot_boundary(model, X, y, columns=(0, 5))
    with pytest.raises(ValueError, match="cannot be drawn"):
        plot_boundary(model, X, y[:3])
    with pytest.raises(ValueError, match="2 pixels are no square"):
        plot_basis_images(model)
    with pytest.raises(ValueError, match="has 8 pixels, but basis points have 9"):
        plot_basis_images(pixels[0][0], shape=(2, 4))
    with pytest.raises(ValueError, match="there are no models"):
        plot_accuracy_by_size([], X, y)
    words = KernelSVM(kernel=kernels.spectrum(2), n_components=2)
    words.fit(["abab", "baba", "ccdd", "ddcc"], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="kernels of vectors only"):
        plot_boundary(words, X, y)
    with pytest.raises(ValueError, match="are no vectors"):
        plot_basis_images(words)
