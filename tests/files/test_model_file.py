"""Model files: exact round trips, and a clear refusal of everything else."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from model_file_cases import Fake, assert_same, good, path, refusal, registry, signed  # noqa: F401

from maxmargin.files import model_file
from maxmargin.files.model_file import load, save

# ruff: noqa: F811  (what is imported so is a fixture)


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
    """What takes long is imported when a model is there; all need numpy."""
    code = (
        "import importlib.util, sys\n"
        f"spec = importlib.util.spec_from_file_location('m', {model_file.__file__!r})\n"
        "spec.loader.exec_module(importlib.util.module_from_spec(spec))\n"
        "assert not {'sklearn', 'safetensors', 'numba'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


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
