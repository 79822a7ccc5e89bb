"""Arrays in short, exact to the bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.engine.packing import (
    Sparse,
    difference,
    dumps,
    loads,
    pack,
    size,
    unpack,
)
from maxmargin.engine.questions import Weights

pytest.importorskip("cloudpickle")
KINDS = [np.float32, np.float64, np.int32, np.uint8]


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@given(st.integers(0, 999), st.sampled_from(KINDS), st.floats(0, 1))
def test_packed_arrays_come_back(seed, dtype, share):
    rng = np.random.default_rng(seed)
    array = (rng.normal(size=(20, 40)) * 100).astype(dtype)
    array[rng.random(array.shape) >= share] = 0
    packed = pack({"a": [array, (array, 3)], "b": "text"})
    back = unpack(loads(dumps(packed)))
    assert same_bits(back["a"][0], array)
    assert same_bits(back["a"][1][0], array)
    assert back["a"][1][1] == 3
    assert back["b"] == "text"
    assert back["a"][0].flags.writeable


def test_signs_of_zeros_and_nans_survive():
    array = np.zeros(1000)
    array[[1, 2, 3]] = -0.0, np.nan, np.inf
    assert isinstance(pack(array), Sparse)
    assert same_bits(unpack(pack(array)), array)
    base = np.zeros(1000)
    assert same_bits(difference(array, base).onto(base.copy()), array)
    assert same_bits(difference(base, array).onto(array.copy()), base)


def test_the_shorter_form_is_chosen():
    array = np.zeros(1000, np.float32)
    assert len(pack(array).places) == 0
    array[:300] = 1
    assert isinstance(pack(array), Sparse)
    array[:500] = 1
    assert pack(array) is array
    assert pack(np.zeros(3)).tolist() == [0, 0, 0]  # too few to gain anything
    assert difference(array, array[:999]) is None
    assert difference(array, array.astype(float)) is None


@given(st.integers(0, 999), st.sampled_from(KINDS[:3]), st.floats(0, 0.3))
def test_changes_make_the_new_array(seed, dtype, share):
    rng = np.random.default_rng(seed)
    old = (rng.normal(size=1000) * 100).astype(dtype)
    new = np.where(rng.random(1000) < share, old + dtype(1), old)
    changes = difference(new, old)
    assert changes is not None
    assert len(changes.places) <= np.count_nonzero(new != old)
    changes.onto(old)
    assert same_bits(old, new)


def test_frames_are_not_copied_and_arrive_aligned():
    array = np.arange(1000.0)
    frames = dumps((1, array))
    assert np.shares_memory(frames[2], array)
    message = np.concatenate([np.zeros(3, np.uint8), *frames])  # at odd places
    cuts = 3 + np.cumsum([len(frame) for frame in frames])
    odd = np.split(message, cuts[:-1])
    odd[0] = odd[0][3:]
    assert odd[2].ctypes.data % 8
    _, back = loads(odd)
    assert back.flags.aligned
    assert back.flags.writeable
    assert same_bits(back, array)
    array.flags.writeable = False
    assert not loads(dumps(array)).flags.writeable


@pytest.mark.parametrize("dtype", KINDS)
def test_arrays_of_one_value_are_short(dtype):
    """All but those where one number is another, wherever it is."""
    ones = np.ones(8004, dtype)[1:]  # of float32, words stand at odd places
    frames = dumps({"a": ones, "b": [ones[:10]]})
    assert size(frames) < 600
    back = loads(frames)["a"]
    assert same_bits(back, ones)
    assert back.flags.writeable
    back[3] = 2  # memory of its own
    assert ones[3] == 1
    assert not loads(dumps(_read_only(ones))).flags.writeable
    for place in (0, 1, 2, 17, 4000, 8000, 8001, 8002):
        almost = ones.copy()
        almost[place] = 3
        frames = dumps(almost)
        assert same_bits(loads(frames), almost)
        assert size(frames) > almost.nbytes
    for shape in ((0,), (3,), (1027,), (40, 50), (2, 0, 3)):
        array = np.full(shape, 7, dtype)
        assert same_bits(loads(dumps([array, ones]))[0], array)


def _read_only(array):
    array.flags.writeable = False
    return array


def test_weights_that_were_sent_stay_as_they_were():
    """A message may wait, or be in the memory of this process, while weights go on."""
    w = np.arange(1000.0)
    weights = Weights()
    weights.see(w)
    messages, seen = [weights.message(None)], [w.copy()]
    for k in range(5):
        w[7 * k : 7 * k + 3] += 1
        weights.see(w)
        host = seen[-1].copy()
        here = weights.message(weights.version - 1)
        assert here.base == weights.version - 1
        assert same_bits(here.value.onto(host), w)
        messages.append(weights.message(None))
        seen.append(w.copy())
        weights.see(w)  # nothing changed
        assert len(weights.message(weights.version).value.places) == 0
    for message, then in zip(messages, seen, strict=True):
        assert message.base is None
        assert same_bits(unpack(message.value), then)


def test_functions_of_main_go_by_value():
    name = "own"
    space = {"__name__": "__main__"}
    exec(f"def {name}(x): return x + 1", space)
    assert loads(dumps(space[name]))(2) == 3
    assert loads(dumps(lambda x: x * 2))(4) == 8
