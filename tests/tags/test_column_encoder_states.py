"""The column encoder against damaged states."""

import copy
import subprocess
import sys

import numpy as np
import pytest
from column_encoder_cases import GAZETTEERS, check_layout, columns_of
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.tags.features import ColumnEncoder


def small_state():
    encoder = ColumnEncoder(
        "U1:%x[-1,0]/%x[0,0]\nU2:%low[0,0]\nU3:%g[0,0,g]\n",
        gazetteers=GAZETTEERS,
        dense={0: {"a": [1.0, 2.0], "b": [0.0, 1.0]}},
    )
    encoder.fit_encode(columns_of([[("a",), ("Bb",)], [("a",)]]))
    return encoder.get_state()


@pytest.mark.parametrize(
    "name", ["version", "template", "min_count", "hash_bits", "dense"]
)
def test_states_with_wrong_values(name):
    arrays, state = small_state()
    for wrong in (
        None,
        -1,
        2.5,
        "x",
        "/etc/passwd",
        [1],
        [-1],
        ["a"],
        [0, 0],
        {},
        10**30,
    ):
        if name == "hash_bits" and wrong is None:
            continue
        with pytest.raises(ValueError, match=r"\w"):
            ColumnEncoder.from_state(arrays, {**state, name: wrong})
    del state[name]
    with pytest.raises(ValueError, match=f"'{name}' is missing"):
        ColumnEncoder.from_state(arrays, state)


def test_states_with_wrong_arrays():
    arrays, state = small_state()
    ColumnEncoder.from_state(arrays, state)
    for name, array in arrays.items():
        wrong = [None, array.astype(np.float64), array[None], array.tolist()]
        if not name.startswith("keys"):
            wrong += [array[:-1], np.concatenate([array] * 3)]
        if array.dtype == np.int64 and len(array):
            for value in (-1, 10**15, np.iinfo(np.int64).min, np.iinfo(np.int64).max):
                changed = array.copy()
                changed[-1] = value
                wrong.append(changed)
            wrong.append(np.repeat(array, 3))
        if name.endswith("text"):
            wrong.append(np.full_like(array, 255))
        if name.endswith("vectors"):
            wrong += [array * np.nan, array[:, :0]]
        for changed in wrong:
            with pytest.raises(ValueError, match=r"damaged"):
                ColumnEncoder.from_state({**arrays, name: changed}, state)
        rest = {k: v for k, v in arrays.items() if k != name}
        with pytest.raises(ValueError, match="missing"):
            ColumnEncoder.from_state(rest, state)


@given(st.data())
def test_any_state_that_loads_is_safe(data):
    arrays, state = small_state()
    for name in data.draw(st.sets(st.sampled_from(sorted(arrays)), max_size=3)):
        size = data.draw(st.integers(0, 5))
        number = st.integers(0, 127 if arrays[name].dtype == np.uint8 else 8)
        drawn = data.draw(st.lists(number, min_size=size, max_size=size))
        drawn = np.array(drawn, arrays[name].dtype)
        arrays[name] = drawn if arrays[name].ndim == 1 else drawn.reshape(-1, 1)
    try:
        encoder = ColumnEncoder.from_state(arrays, state)
    except ValueError as error:
        assert "damaged" in str(error)  # noqa: PT017
        return
    check_layout(encoder.encode(columns_of([[("a",), ("Bb",), ("\0",)], [("b",)]])))
    assert len(encoder.feature_names()) == encoder.n_features


def test_states_with_other_templates():
    arrays, state = small_state()
    for text in ("U1:%x[-2,0]/%x[0,0]\n", "U1:%y[0,0]\n", CHANGED, "B\n"):
        with pytest.raises(ValueError, match=r"\w"):
            ColumnEncoder.from_state(arrays, {**state, "template": text})


CHANGED = "U1:%x[-1,0]/%x[0,0]\nU2:%low[5,0]\nU3:%g[0,0,g]\n"


def test_read_only_arrays_and_copies():
    arrays, state = small_state()
    for array in arrays.values():
        array.flags.writeable = False
    data = columns_of([[("a",), ("b",), ("Bb",)]])
    for array in (data.start, data.columns[0].ids):
        array.flags.writeable = False
    encoder = ColumnEncoder.from_state(arrays, state)
    first = encoder.encode(data)
    again = copy.deepcopy(encoder).encode(data)
    np.testing.assert_array_equal(first.indices, again.indices)


def test_importing_features_does_not_load_numba():
    code = "import sys, maxmargin.tags.features; assert 'numba' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
