"""What cannot be saved is refused, and a failed save leaves the old file."""

import os
import stat
from pathlib import Path

import numpy as np
import pytest
from model_file_cases import Fake, assert_same, good, path, registry  # noqa: F401
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from maxmargin.files import model_format, model_values
from maxmargin.files.model_file import load, save

# ruff: noqa: F811  (what is imported so is a fixture)


class Sub(Fake):
    """Inherits the registered name, but would come back as Fake."""


class Other(BaseEstimator):
    def fit(self):
        self.coef_ = np.zeros(2)
        return self


# ------------------------------------------------------------------- models we refuse


def test_unfitted_model(path):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        save(Fake(), path)
    assert not path.exists()


@pytest.mark.parametrize("cls", [Other, Sub])
def test_class_that_is_not_registered(path, cls):
    with pytest.raises(ValueError, match=r"only Fake can\. Use pickle or joblib"):
        save(cls().fit(), path)
    assert not path.exists()


class Thing:
    pass


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (len, "type builtin_function_or_method"),
        (lambda x: x, "type function"),
        (Thing(), "type Thing"),
        ({"a": [Thing()]}, "type Thing"),
        ({1, 2}, "type set"),
        (1j, "type complex"),
        (b"x", "type bytes"),
        (np.complex128(1), "type complex128"),
        (np.datetime64("2020"), "type datetime64"),
        (np.zeros((2, 2, 2)), "3 dimensions"),
        (np.array(1.0), "0 dimensions"),
        (np.array([1j]), "array of type complex128"),
        (np.array([b"x"]), "array of type"),
        (np.array([{}, []], dtype=object), "array of dict objects"),
        (2**1025, "more than 1024 bits"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_parameter_that_cannot_be_written(path, value, words):
    path.write_bytes(b"before")
    with pytest.raises(ValueError, match=r"parameter 'loss' .*set_params\(loss=") as e:
        save(Fake(loss=value).fit(), path)
    assert words in str(e.value)
    assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes() == b"before"


def test_random_state_that_is_a_generator(path):
    model = Fake(random_state=np.random.RandomState(0)).fit()
    with pytest.raises(ValueError, match=r"'random_state'.*Set it to an int or None"):
        save(model, path)


def test_value_that_contains_itself(path):
    value = []
    value.append(value)
    with pytest.raises(ValueError, match="32 levels"):
        save(Fake(C=value).fit(), path)


def test_nesting_limit_is_the_same_for_writing_and_reading(path):
    # An array of numpy scalars is two levels of its own.
    deepest = np.array([np.float64("nan")], dtype=object)
    for _ in range(model_values.MAX_DEPTH - 2):
        deepest = [deepest]
    save(Fake().fit({}, {"v": deepest}), path)
    assert_same(load(path).state_["v"], deepest)
    with pytest.raises(ValueError, match="32 levels"):
        save(Fake().fit({}, {"v": [deepest]}), path)


@pytest.mark.parametrize(
    "state", [{"a": Thing()}, {1: "a"}, {"wide": np.array(["a"], dtype="U99999999")}]
)
def test_state_that_cannot_be_written(path, state):
    with pytest.raises(ValueError, match=r"Fake cannot be saved: .* pickle or joblib"):
        save(Fake().fit({}, state), path)
    assert not path.exists()


@pytest.mark.parametrize(
    "arrays",
    [
        {"a": [1.0]},
        {"a": np.array([1j])},
        {"a": np.array(["x"])},
        {"a": np.array([None])},
        {"a": np.array([1], dtype=np.longdouble)},
        {"__metadata__": np.zeros(1)},
        {"\ud800": np.zeros(1)},
        {3: np.zeros(1)},
    ],
    ids=ascii,
)
def test_array_that_cannot_be_written(path, arrays):
    with pytest.raises(ValueError, match="Fake cannot be saved: "):
        save(Fake().fit(arrays), path)
    assert not path.exists()


def test_header_over_the_limit_of_the_format(path, monkeypatch):
    monkeypatch.setattr(model_format, "MAX_HEADER", 1000)
    with pytest.raises(ValueError, match="exceed 100 MB"):
        save(Fake().fit({}, {"vocabulary": "x" * 1000}), path)
    assert not path.exists()


# -------------------------------------------------------------------------- atomicity


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()], ids=repr)
@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failure_keeps_the_old_file(good, path, monkeypatch, step, error):
    def fail(*args):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        save(Fake(C=2.0).fit(), path)
    assert os.listdir(path.parent) == [path.name]
    assert path.read_bytes() == good


def test_data_is_synced_before_the_name_appears(path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda *a, n=name, f=real: (calls.append(n), f(*a))
        )
    save(Fake().fit(), path)
    assert calls == ["fsync", "replace", "fsync"]  # the last is the folder's


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_permissions_are_those_of_open(tmp_path, umask):
    old = os.umask(umask)
    try:
        (tmp_path / "plain").touch()
        save(Fake().fit(), tmp_path / "model")
    finally:
        os.umask(old)
    modes = [stat.S_IMODE((tmp_path / n).stat().st_mode) for n in ("plain", "model")]
    assert modes[0] == modes[1] == 0o666 & ~umask

    (tmp_path / "model").chmod(0o640)  # open() keeps the mode of an existing file
    save(Fake().fit(), tmp_path / "model")
    assert stat.S_IMODE((tmp_path / "model").stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix", reason="symbolic links")
def test_link_is_followed(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to(Path("sub", "real"))
    save(Fake().fit(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert load(tmp_path / "sub" / "real").C == 1.0


def test_save_to_a_directory_or_into_a_missing_one(tmp_path):
    with pytest.raises(ValueError, match="not a regular file"):
        save(Fake().fit(), tmp_path)
    with pytest.raises(FileNotFoundError, match="Create the directory"):
        save(Fake().fit(), tmp_path / "missing" / "model")
    assert os.listdir(tmp_path) == []


# ------------------------------------------------------------------------------ notes


def test_a_full_disk_names_the_file(tmp_path, monkeypatch):
    from maxmargin.files.atomic import replace_file

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    target = str(tmp_path / "model")
    with pytest.raises(OSError, match="No space left on device") as said:
        replace_file(target, b"content")
    assert said.value.filename == target
    assert list(tmp_path.iterdir()) == []
