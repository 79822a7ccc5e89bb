"""Model files: exact round trips, and a clear refusal of everything else."""

import io
import json
import math
import os
import pickle
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from maxmargin.files import model_file, model_format, model_values
from maxmargin.files.model_file import load, save


class Fake(BaseEstimator):
    """The smallest model that follows the protocol."""

    _model_name = "Fake.v1"

    def __init__(self, C=1.0, loss="hinge", random_state=None):
        self.C = C
        self.loss = loss
        self.random_state = random_state

    def fit(self, arrays=None, state=None):
        self.arrays_ = {"coef": np.arange(3.0)} if arrays is None else arrays
        self.state_ = {"n": 3} if state is None else state
        return self

    def _get_state(self):
        return self.arrays_, self.state_

    @classmethod
    def _from_state(cls, params, arrays, state):
        if "broken" in state:
            raise KeyError("coef")
        return cls(**params).fit(arrays, state)


class Sub(Fake):
    """Inherits the registered name, but would come back as Fake."""


class Other(BaseEstimator):
    def fit(self):
        self.coef_ = np.zeros(2)
        return self


@pytest.fixture(autouse=True)
def registry(monkeypatch):
    monkeypatch.setattr(model_file, "_CLASSES", {"Fake.v1": f"{__name__}:Fake"})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.fixture
def good(path):
    """Bytes of a small valid file with arrays of several types."""
    arrays = {"w": np.arange(3.0), "i": np.array([[1, -2]], dtype=np.int8)}
    save(Fake().fit(arrays, {"classes_": np.array(["no", "yes"])}), path)
    return path.read_bytes()


def assert_same(a, b):
    """Equal in type, dtype and value at every level."""
    assert type(a) is type(b)
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        for x, y in zip(a.ravel().tolist(), b.ravel().tolist(), strict=True):
            assert_same(x, y)
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_same(x, y)
    elif isinstance(a, dict):
        assert_same(list(a), list(b))
        assert_same(list(a.values()), list(b.values()))
    elif isinstance(a, (float, np.floating)):
        assert (math.isnan(a) and math.isnan(b)) or a == b
        assert math.isnan(a) or math.copysign(1, a) == math.copysign(1, b)
    else:
        assert a == b


def signed(data, edit):
    """Change the JSON header of a file and give it a correct checksum again."""
    length = int.from_bytes(data[:8], "little")
    outer = json.loads(data[8 : 8 + length])
    header = json.loads(outer["__metadata__"]["maxmargin"])
    header = edit(header) or header
    text = header if isinstance(header, str) else json.dumps(header)
    text = text.replace('{"sha256": "', '{"sha256":"', 1)
    outer["__metadata__"]["maxmargin"] = text
    return resigned(outer, data[8 + length :])


def resigned(outer, body):
    raw = json.dumps(outer, separators=(",", ":")).encode()
    data = bytearray(len(raw).to_bytes(8, "little") + raw + body)
    at, end = model_format.DIGEST_AT, model_format.DIGEST_END
    data[at:end] = model_format.digest(data).encode()
    return bytes(data)


def refusal(path, data=None):
    """Load a file that must be refused; return the sentence that says why."""
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(ValueError, match=r"^Cannot load '.+': .+\.$") as caught:
        load(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


# ------------------------------------------------------------------------ round trips

plain_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**1000), 2**1000)
    | st.floats()
    | st.text(st.characters(exclude_categories=()))  # lone surrogates too
)
number_types = (
    hnp.boolean_dtypes()
    | hnp.integer_dtypes(endianness="?")
    | hnp.unsigned_integer_dtypes(endianness="?")
    | hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64))
)
numpy_scalars = hnp.arrays(
    hnp.boolean_dtypes()
    | hnp.integer_dtypes(endianness="=")
    | hnp.unsigned_integer_dtypes(endianness="=")
    | hnp.floating_dtypes(endianness="=", sizes=(16, 32, 64)),
    1,
).map(lambda array: array[0]) | st.text().map(np.str_)


def object_array(items):
    array = np.empty(len(items), dtype=object)
    for index, item in enumerate(items):
        array[index] = item
    return array


scalars = plain_scalars | numpy_scalars
vectors = (
    hnp.arrays(number_types, st.integers(0, 4))
    | hnp.arrays(hnp.unicode_string_dtypes(endianness="?"), st.integers(0, 4))
    | st.lists(scalars, max_size=4).map(object_array)
)
values = st.recursive(
    scalars | vectors,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text() | st.sampled_from(["$dict", "$"]), inner)
        | st.dictionaries(st.integers() | st.text().map(np.str_), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(state=st.dictionaries(st.text(), values, max_size=3), params=values)
@example(state={}, params=np.str_("a\0"))
@settings(deadline=None, max_examples=200)
def test_state_and_params_come_back_exactly(tmp_path_factory, state, params):
    path = tmp_path_factory.getbasetemp() / "state.safetensors"
    save(Fake(C=params).fit({}, state), path)
    model = load(path)
    assert_same(model.state_, state)
    assert_same(model.C, params)


@given(
    array=hnp.arrays(
        number_types, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)
    ),
    transposed=st.booleans(),
)
@settings(deadline=None, max_examples=100)
def test_arrays_come_back_bit_for_bit(tmp_path_factory, array, transposed):
    path = tmp_path_factory.getbasetemp() / "arrays.safetensors"
    if transposed:
        array = array.T
    save(Fake().fit({"a": array, "zero": np.float32([1]).reshape(())}), path)
    back = load(path).arrays_
    assert list(back) == ["a", "zero"]
    native = array.astype(array.dtype.newbyteorder("="))
    assert back["a"].dtype == native.dtype
    assert back["a"].shape == native.shape
    assert back["a"].tobytes() == native.tobytes()  # NaN payloads too
    assert back["a"].flags.c_contiguous
    assert back["a"].flags.writeable
    assert back["zero"].shape == ()


@pytest.mark.parametrize(
    "classes",
    [
        np.array(["a", "bcdef"]),
        np.array(["a", "b"], dtype="<U50"),
        np.array([3, 1]),
        np.array([0.5, -0.0, np.nan, np.inf]),
        np.array([True, False]),
        np.array(["a", 1], dtype=object),
        np.array([]),
        np.array([], dtype="<U3"),
    ],
    ids=str,
)
def test_label_arrays(path, classes):
    save(Fake().fit({}, {"classes_": classes}), path)
    assert_same(load(path).state_["classes_"], classes)


def test_params_come_back(path):
    params = {"C": np.float32(0.1), "loss": ("a", None), "random_state": 7}
    save(Fake(**params).fit(), path)
    assert_same(load(path).get_params(), params)


def test_same_model_gives_same_bytes(good, path):
    save(load(path), path)
    assert path.read_bytes() == good


def test_paths_may_be_strings_and_tilde_is_literal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(Fake().fit(), "~model")
    assert os.listdir() == ["~model"]
    assert load("~model").state_ == {"n": 3}


def test_file_is_a_safetensors_file_with_a_readable_header(good, path):
    arrays = safetensors.numpy.load_file(path)
    assert sorted(arrays) == ["i", "w"]
    with safetensors.safe_open(path, framework="numpy") as file:
        header = json.loads(file.metadata()["maxmargin"])
    assert header["format"] == "maxmargin-model"
    assert header["version"] == 1
    assert header["class"] == "Fake.v1"
    assert header["params"] == {"C": 1.0, "loss": "hinge", "random_state": None}
    assert header["state"] == {"classes_": {"$array": ["<U3", ["no", "yes"]]}}
    assert len(header["sha256"]) == 64
    assert header["library"]


def test_import_is_cheap():
    code = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('m', {model_file.__file__!r})\n"
        "spec.loader.exec_module(importlib.util.module_from_spec(spec))\n"
        "assert not {'numpy', 'sklearn', 'safetensors'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


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


# -------------------------------------------------------------------- files we refuse


@pytest.mark.parametrize("mask", [0x01, 0x02, 0x20, 0x29, 0x80, 0xFF])
def test_every_altered_byte_is_refused(good, path, mask):
    # 0x29 turns padding spaces into tabs and 0x20 changes the case of letters: both
    # can leave valid JSON with the same meaning.
    data = bytearray(good)
    for index in range(len(data)):
        data[index] ^= mask
        path.write_bytes(data)
        with pytest.raises(ValueError, match="Cannot load"):
            load(path)
        data[index] ^= mask
    path.write_bytes(data)
    load(path)


def test_every_truncation_is_refused(good, path):
    for length in range(len(good)):
        refusal(path, good[:length])
    assert "cut short" in refusal(path, good[:-1])
    assert "empty" in refusal(path, b"")


def test_appended_bytes_are_refused(good, path):
    for extra in (b"\0", b" ", b"\n", good):
        assert "checksum" in refusal(path, good + extra)


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a", "b")
    return file.getvalue()


def npz():
    file = io.BytesIO()
    np.savez(file, a=np.zeros(3))
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        pickle.dumps(list(range(100))),
        zipped(),
        npz(),
        b"some text\n" * 100,
        b"{}",
        bytes(8),
        bytes(1000),
        b"\xff" * 1000,
        safetensors.numpy.save({"a": np.zeros(3)}),
        safetensors.numpy.save({"a": np.zeros(3)}, metadata={"format": "pt"}),
        safetensors.numpy.save({"a": np.zeros(3)}, metadata={"maxmargin": "{}"}),
        safetensors.numpy.save({}, metadata={"maxmargin": '{"sha256":"0"}'}),
    ],
)
def test_foreign_file(path, data):
    assert "not a maxmargin model file" in refusal(path, data)


def test_pickle_is_never_run(path, tmp_path):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "ran"),)

    refusal(path, pickle.dumps(Bomb()))
    assert not (tmp_path / "ran").exists()


def test_missing_file_and_directory(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no such file\. Check the path"):
        load(tmp_path / "missing")
    assert "directory" in refusal(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_pipe_is_refused_instead_of_waited_for(path):
    os.mkfifo(path)
    assert "not a regular file" in refusal(path)
    with pytest.raises(ValueError, match="not a regular file"):
        save(Fake().fit(), path)


def test_signing_helper_gives_readable_files(good, path):
    path.write_bytes(signed(good, lambda header: None))
    assert load(path).C == 1.0


def test_too_new(good, path):
    message = refusal(path, signed(good, lambda h: h.update(version=3)))
    assert "format version 3" in message
    assert "Upgrade maxmargin" in message
    message = refusal(path, signed(good, lambda h: h.update({"class": "Fake.v2"})))
    assert "'Fake.v2'" in message
    assert "Upgrade maxmargin" in message


def test_class_outside_the_table_is_not_imported(good, path, monkeypatch):
    def fail(name):
        raise AssertionError(name)

    monkeypatch.setattr(model_file.importlib, "import_module", fail)
    for name in ("Alien.v1", "os:system", "", "__main__:Fake"):
        data = signed(good, lambda h, n=name: h.update({"class": n}))
        assert "unknown kind" in refusal(path, data)


@pytest.mark.parametrize(
    "change",
    [
        {"format": "other"},
        {"version": "1"},
        {"version": True},
        {"version": 0},
        {"version": 1.5},
        {"class": 3},
        {"class": ["Fake.v1"]},
        {"params": []},
        {"params": {"unknown": 1}},
        {"state": None},
        {"state": {"broken": True}},
        {"state": {"a": {"$new": 1}}},
        {"state": {"a": {"$float": "1"}}},
        {"state": {"a": {"$float": []}}},
        {"state": {"a": {"$float": "nan", "b": 1}}},
        {"state": {"a": {"$tuple": 3}}},
        {"state": {"a": {"$dict": 3}}},
        {"state": {"a": {"$dict": [[[], 1]]}}},
        {"state": {"a": {"$dict": [[1]]}}},
        {"state": {"a": {"$scalar": 3}}},
        {"state": {"a": {"$scalar": ["<f8", "1"]}}},
        {"state": {"a": {"$scalar": ["<f8", [1.0]]}}},
        {"state": {"a": {"$scalar": ["<i1", 1000]}}},
        {"state": {"a": {"$array": ["<i8", 5]}}},
        {"state": {"a": {"$array": ["<i8", [[1], [2]]]}}},
        {"state": {"a": {"$array": ["<i8", [True]]}}},
        {"state": {"a": {"$array": ["|b1", [1]]}}},
        {"state": {"a": {"$array": ["<U2", [1]]}}},
        {"state": {"a": {"$array": ["<c16", [1.0]]}}},
        {"state": {"a": {"$array": ["<Ux", ["a"]]}}},
        {"state": {"a": {"$array": [{}, ["a"]]}}},
        {"state": {"a": {"$array": ["(9999999999,)f8", [1.0]]}}},
        {"state": {"a": {"$array": ["f8,f8", [1.0]]}}},
    ],
    ids=str,
)
def test_signed_nonsense_is_refused(good, path, change):
    refusal(path, signed(good, lambda header: header.update(change)))


@pytest.mark.parametrize("key", ["format", "version", "class", "params", "state"])
def test_signed_file_without_a_field(good, path, key):
    def remove(header):
        del header[key]

    refusal(path, signed(good, remove))


def test_error_of_the_model_class_is_kept_as_the_cause(good, path):
    path.write_bytes(signed(good, lambda h: h.update(state={"broken": True})))
    with pytest.raises(ValueError, match="Fake does not accept it") as caught:
        load(path)
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("length", [2**63, 2**64 - 1, 2**40, 100_000_001])
def test_giant_header_length(good, path, length):
    refusal(path, length.to_bytes(8, "little") + good[8:])


def test_header_over_the_limit_in_a_file_that_is_long_enough(good, path):
    path.write_bytes((150_000_000).to_bytes(8, "little") + good[8:])
    with open(path, "r+b") as file:
        file.truncate(200_000_000)  # sparse: takes no space
    assert "not a maxmargin" in refusal(path)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F64", "shape": [2**40], "data_offsets": [0, 2**43]},
        {"dtype": "F64", "shape": [2**62, 2**62], "data_offsets": [0, 26]},
        {"dtype": "F64", "shape": [2**40], "data_offsets": [0, 26]},
        {"dtype": "U8", "shape": [26], "data_offsets": [26, 0]},
        {"dtype": "U8", "shape": [-26], "data_offsets": [0, 26]},
        {"dtype": "U8", "shape": [20], "data_offsets": [0, 20]},
        {"dtype": "F16", "shape": [0, 2**63], "data_offsets": [0, 0]},
        {"dtype": "C64", "shape": [0], "data_offsets": [0, 0]},
        {"dtype": "BF16", "shape": [13], "data_offsets": [0, 26]},
        {"dtype": "BOOL", "shape": [26], "data_offsets": [0, 26]},
        {"dtype": "O", "shape": [26], "data_offsets": [0, 26]},
        {"dtype": "U8"},
        None,
    ],
    ids=str,
)
def test_hostile_array_table(good, path, entry):
    length = int.from_bytes(good[:8], "little")
    outer = json.loads(good[8 : 8 + length])
    body = good[8 + length :]
    assert len(body) == 26
    for name in ("w", "i"):
        del outer[name]
    outer["x"] = entry
    if entry is not None and entry.get("data_offsets") == [0, 0]:
        body = b""
    assert "array" in refusal(path, resigned(outer, body))


def test_deep_nesting(good, path):
    deep = "[" * 100_000 + "]" * 100_000
    mark = '"state": '

    def nest(header):
        header["state"] = {}
        return json.dumps(header).replace(mark + "{}", mark + '{"a": ' + deep + "}")

    refusal(path, signed(good, nest))
    medium = json.loads("[" * 100 + "]" * 100)
    data = signed(good, lambda header: header.update(state={"a": medium}))
    assert "32 levels" in refusal(path, data)

    start = model_format.START + b"0" * 64 + b'\\"}"},"x":' + deep.encode() + b"}"
    refusal(path, len(start).to_bytes(8, "little") + start)


def test_numbers_that_python_refuses_to_parse(good, path):
    def long_number(header):
        header["state"] = {"a": 0}
        return json.dumps(header).replace('{"a": 0}', '{"a": ' + "9" * 10_000 + "}")

    def constant(header):
        header["state"] = {"a": math.nan}

    refusal(path, signed(good, long_number))
    refusal(path, signed(good, constant))


@pytest.mark.parametrize(
    "arrays",
    [
        [["<U999999999", ["a"]]],
        [["<U99999999999999999999", []]],
        [["<U1000000", ["a"]]] * 100,
        [["<U1000000", ["a"] * 100]],
    ],
    ids=["wide", "overflow", "many", "long"],
)
def test_wide_strings_are_not_allocated(good, path, arrays):
    state = {"a": [{"$array": array} for array in arrays]}
    refusal(path, signed(good, lambda header: header.update(state=state)))


# ------------------------------------------------------------------------------ notes


def test_notes_are_kept(path):
    model = Fake().fit()
    model.notes = {"task": "tag", "separator": None, "columns": (2, 3), "x": 0.5}
    save(model, path)
    again = load(path)
    assert_same(again.notes, model.notes)
    save(again, path)  # and once more
    assert_same(load(path).notes, model.notes)


def test_without_notes_there_are_none(path, good):
    assert b"notes" not in good
    assert not hasattr(load(path), "notes")


@pytest.mark.parametrize(
    ("notes", "says"),
    [
        ([1], "its notes are of type list"),
        ({1: 2}, "'1' in its notes has a name that is not a string"),
        ({"f": print}, "'f' in its notes holds a value of type"),
    ],
)
def test_notes_must_be_plain(path, notes, says):
    model = Fake().fit()
    model.notes = notes
    with pytest.raises(ValueError, match="Fake cannot be saved") as caught:
        save(model, path)
    assert says in str(caught.value)
    assert not path.exists()


@pytest.mark.parametrize("notes", [[], "text", 3, {"a": {"$odd": 1}}])
def test_foreign_notes_are_refused(path, good, notes):
    def edit(header):
        header["notes"] = notes

    assert "its header is not valid" in refusal(path, signed(good, edit))


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
