"""Files that are no models, or models that somebody changed, are refused."""

import io
import json
import math
import os
import pickle
import zipfile

import numpy as np
import pytest
import safetensors.numpy
from model_file_cases import Fake, good, path, refusal, registry, resigned, signed  # noqa: F401

from maxmargin.files import model_file, model_format
from maxmargin.files.model_file import load, save

# ruff: noqa: F811  (what is imported so is a fixture)


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
