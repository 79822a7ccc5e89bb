"""Arrays that are mostly zeros take little room in files, and come back to the bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from maxmargin import MulticlassSVM, load, save
from maxmargin.files import model_arrays
from maxmargin.files.model_arrays import GAPS, VALUES, checked_arrays, plain_arrays
from maxmargin.files.model_variants import signed


@given(
    st.sampled_from(["f8", "f4", "f2", "i1", "u8", "?"]),
    hnp.array_shapes(max_dims=3, max_side=12),
    st.floats(0, 1),
    st.integers(0, 10**6),
)
def test_round_trips(dtype, shape, share, seed):
    rng = np.random.default_rng(seed)
    array = rng.normal(size=shape).astype(dtype)
    array[rng.random(shape) < share**0.1] = 0
    plain, shapes = plain_arrays({"a": array, "b": np.zeros((9, *shape), dtype)})
    assert ("b" in shapes) == (9 * array.nbytes > model_arrays.WORTH)
    again = checked_arrays(dict(plain), shapes)
    assert list(again) == ["a", "b"]
    np.testing.assert_array_equal(again["a"].view("u1"), array.view("u1"))
    assert again["a"].shape == array.shape
    assert again["b"].shape == (9, *shape)
    assert not again["b"].any()


def test_negative_zeros_and_long_gaps_are_kept():
    array = np.zeros(10_000, np.float32)
    array[[0, 255, 256, 1000, 9999]] = [1.0, -0.0, np.nan, np.inf, 5e-324]
    plain, shapes = plain_arrays({"w": array})
    assert shapes == {"w": [10_000]}
    assert sum(part.nbytes for part in plain.values()) < 300
    again = checked_arrays(plain, shapes)["w"]
    np.testing.assert_array_equal(again.view("u4"), array.view("u4"))
    assert again.flags.writeable


@pytest.fixture
def model():
    X = np.zeros((30, 3000))
    X[np.arange(30), np.arange(30)] = 1.0
    return MulticlassSVM(fit_intercept=False).fit(X, np.arange(30) % 3)


def test_models_with_few_weights_are_small(model, tmp_path):
    path = tmp_path / "model"
    save(model, path)
    assert b'\\"version\\":2' in path.read_bytes()
    assert path.stat().st_size < 0.2 * model.coef_.nbytes
    np.testing.assert_array_equal(load(path).coef_, model.coef_)


def test_models_with_many_weights_are_readable_by_older_versions(tmp_path):
    rng = np.random.default_rng(0)
    model = MulticlassSVM().fit(rng.normal(size=(30, 3000)), np.arange(30) % 3)
    save(model, tmp_path / "model")
    assert b'\\"version\\":1' in (tmp_path / "model").read_bytes()


def test_names_of_parts_are_not_for_users():
    with pytest.raises(Exception, match="cannot be the name"):
        plain_arrays({f"w{GAPS}": np.zeros(1)})


BAD = {
    "more than there is": lambda s, a: s.update(w=[10**12]),
    "less than there is": lambda s, a: s.update(w=[9999]),
    "negative": lambda s, a: s.update(w=[-1, -10_000]),
    "no numbers": lambda s, a: s.update(w=["x"]),
    "no list": lambda s, a: s.update(w=None),
    "no gaps": lambda s, a: a.pop(f"w{GAPS}"),
    "no values": lambda s, a: a.pop(f"w{VALUES}"),
    "twice": lambda s, a: a.update(w=np.zeros(1)),
    "gaps of 0": lambda s, a: a[f"w{GAPS}"].__setitem__(0, 0),
    "gaps of another type": lambda s, a: a.update(
        {f"w{GAPS}": a[f"w{GAPS}"].astype(np.int8)}
    ),
    "values cut": lambda s, a: a.update({f"w{VALUES}": a[f"w{VALUES}"][1:]}),
}


@pytest.mark.parametrize("case", BAD)
def test_wrong_sparse_arrays_are_refused(case):
    array = np.zeros(10_000)
    array[5] = 1.0
    plain, shapes = plain_arrays({"w": array})
    BAD[case](shapes, plain)
    with pytest.raises(ValueError, match="its sparse array 'w'"):
        checked_arrays(plain, shapes)


def test_the_list_of_sparse_arrays_is_checked(model, tmp_path):
    path = tmp_path / "model"
    header = {"format": "maxmargin-model", "version": 2, "class": "MulticlassSVM.v1"}
    header = {"sha256": "", **header, "params": {}, "state": {}, "sparse": 3}
    path.write_bytes(signed(header, {"w": np.zeros(1)}))
    with pytest.raises(ValueError, match="list of sparse arrays"):
        load(path)
