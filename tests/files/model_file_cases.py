"""A class whose models are saved, and files of it that somebody changed."""

import json
import math

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from maxmargin.files import model_file, model_format
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
