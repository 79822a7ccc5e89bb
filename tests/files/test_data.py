"""Where data files are looked for, and what the digit strings are made of."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from maxmargin.files import data_file, data_home, digit_strings
from maxmargin.tags.digits import FIRST_TEST_IMAGE

# paths -------------------------------------------------------------------------------


def test_home_is_the_folder_named(monkeypatch, tmp_path):
    monkeypatch.setenv("MAXMARGIN_DATA", str(tmp_path))
    assert data_home() == tmp_path


def test_home_expands_the_users_folder(monkeypatch):
    monkeypatch.setenv("MAXMARGIN_DATA", "~/sets")
    assert data_home() == Path.home() / "sets"


@pytest.mark.parametrize("value", [None, "", "  "])
def test_home_is_in_the_cache_otherwise(monkeypatch, value):
    monkeypatch.delenv("MAXMARGIN_DATA", raising=False)
    if value is not None:
        monkeypatch.setenv("MAXMARGIN_DATA", value)
    monkeypatch.setattr("sys.platform", "linux")
    assert data_home() == Path.home() / ".cache" / "maxmargin"


def test_home_on_windows(monkeypatch, tmp_path):
    monkeypatch.delenv("MAXMARGIN_DATA", raising=False)
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    monkeypatch.setattr("sys.platform", "win32")
    assert data_home() == tmp_path / "maxmargin"


def test_file_found(monkeypatch, tmp_path):
    monkeypatch.setenv("MAXMARGIN_DATA", str(tmp_path))
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "train.txt").write_text("x")
    assert data_file("set/train.txt").read_text() == "x"


@pytest.mark.parametrize("name", ["set/train.txt", "set"])
def test_file_missing_says_where_and_how(monkeypatch, tmp_path, name):
    monkeypatch.setenv("MAXMARGIN_DATA", str(tmp_path))
    (tmp_path / "set").mkdir()  # a folder is not a file
    with pytest.raises(FileNotFoundError, match="MAXMARGIN_DATA") as caught:
        data_file(name)
    assert str(tmp_path) in str(caught.value)
    assert repr(name) in str(caught.value)


# digit strings -----------------------------------------------------------------------


def numbers_of(images):
    """The numbers of the scanned digits that these pictures are, checked unchanged."""
    scans = load_digits().images
    number = {scan.tobytes(): i for i, scan in enumerate(scans)}
    assert len(number) == len(scans)
    return {number[(16 * image).tobytes()] for image in np.concatenate(images)}


def test_shapes():
    X, y, images = digit_strings(n=7, length=5)
    assert len(X) == len(y) == len(images) == 7
    assert {x.shape for x in X} == {(5, 64)}
    assert {image.shape for image in images} == {(5, 8, 8)}
    assert {len(labels) for labels in y} == {5}
    assert all(type(label) is int for labels in y for label in labels)
    np.testing.assert_array_equal(np.array(X).reshape(7, 5, 8, 8), np.array(images))
    assert np.min(X) == 0
    assert np.max(X) == 1


def test_no_picture_is_in_both_splits():
    train = numbers_of(digit_strings(2000).images)
    test = numbers_of(digit_strings(2000, split="test").images)
    assert train == set(range(FIRST_TEST_IMAGE))
    assert test == set(range(FIRST_TEST_IMAGE, 1797))


def test_the_cut_lies_between_two_forms():
    text = "".join(map(str, load_digits().target))
    form = text[:50]
    starts = [i for i in range(len(text)) if text.startswith(form[20:50], i)]
    assert FIRST_TEST_IMAGE + 20 in starts


def test_labels_are_those_of_the_pictures():
    target = load_digits().target
    scans = load_digits().images
    number = {scan.tobytes(): i for i, scan in enumerate(scans)}
    _, y, images = digit_strings(50)
    for labels, pictures in zip(y, images, strict=True):
        assert [target[number[(16 * p).tobytes()]] for p in pictures] == labels


def test_pages_are_missing_as_often_as_said():
    labels = np.array(digit_strings(2000, missing=0.2).y)
    steps = np.diff(labels, axis=1) % 10
    assert abs((steps == 1).mean() - 0.8) < 0.02
    assert abs((steps == 2).mean() - 0.16) < 0.02
    first = np.bincount(labels[:, 0], minlength=10)
    assert first.min() > 100
    whole = np.array(digit_strings(20, missing=0.0).y)
    assert (np.diff(whole, axis=1) % 10 == 1).all()


def test_seeds():
    a, b = digit_strings(5, random_state=3), digit_strings(5, random_state=3)
    assert a.y == b.y
    np.testing.assert_array_equal(a.X, b.X)
    assert digit_strings(5, random_state=4).y != a.y
    assert digit_strings(5, split="test", random_state=3).y != a.y


@pytest.mark.parametrize(
    "wrong", [{"n": 0}, {"length": 1.5}, {"split": "both"}, {"missing": 1.0}]
)
def test_impossible_wishes(wrong):
    name = next(iter(wrong))
    with pytest.raises(ValueError, match=f"^{name}="):
        digit_strings(**wrong)
