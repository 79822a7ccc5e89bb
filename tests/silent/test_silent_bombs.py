"""Small files that unpack to much are refused in a sentence, before they do."""

import contextlib
import gzip
import io
import json
import tracemalloc
import zipfile

import numpy as np
import pytest

from maxmargin import MulticlassSVM, MultilabelSVM, files, kernels, load, save
from maxmargin.files import budget
from maxmargin.files.model_arrays import GAPS, VALUES
from maxmargin.files.model_variants import signed
from maxmargin.files.npz import read_npz
from maxmargin.files.text_files import RawText, read_raw

SMALL = 1 << 22  # bytes that are always allowed in these tests
REFUSED = "unpack to more than .* MAXMARGIN_MAX_UNPACKED"


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(budget, "FLOOR", SMALL)
    monkeypatch.delenv(budget.VARIABLE, raising=False)


def peak(call):
    """The most bytes that a call has taken."""
    tracemalloc.start()
    try:
        call()
    finally:
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found


@pytest.fixture(scope="module")
def gzipped(tmp_path_factory):
    path = tmp_path_factory.mktemp("gz") / "zeros.gz"
    path.write_bytes(gzip.compress(b"a B\n\n" * (1 << 22), 9, mtime=0))
    return path


# what reads objects of other libraries, not files
OF_OBJECTS = {"read_dataset", "read_docs", "read_frame", "read_networkx"}
READERS = [
    name for name in dir(files) if name.startswith("read_") and name not in OF_OBJECTS
]


@pytest.mark.parametrize("reader", READERS)
def test_gzip_of_every_reader(reader, gzipped):
    with contextlib.suppress(ValueError):  # imports are not counted
        getattr(files, reader)(RawText(b"", "nothing"))

    def read():
        with pytest.raises(ValueError, match=REFUSED):
            getattr(files, reader)(gzipped)

    assert peak(read) < 4 * SMALL


def test_the_budget_can_be_raised(gzipped, monkeypatch):
    size = 5 << 22
    for wanted in ("100M", str(size), "1gb"):
        monkeypatch.setenv(budget.VARIABLE, wanted)
        assert len(read_raw(gzipped).data) == size
    monkeypatch.setenv(budget.VARIABLE, str(size - 1))
    with pytest.raises(ValueError, match=REFUSED):
        read_raw(gzipped)
    monkeypatch.setenv(budget.VARIABLE, "much")
    with pytest.raises(ValueError, match="MAXMARGIN_MAX_UNPACKED=much is not possible"):
        read_raw(gzipped)


def test_real_text_is_not_near_it(tmp_path, monkeypatch):
    """A hundred times its size, however large."""
    monkeypatch.setattr(budget, "FLOOR", 0)
    words = np.random.default_rng(0).integers(0, 1000, 20_000)
    text = "".join(f"w{k} N\n" for k in words).encode()
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(text))
    assert read_raw(path).data == text


def archive(arrays, lie=None):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, array in arrays.items():
            one = io.BytesIO()
            np.lib.format.write_array(one, array)
            file.writestr(f"{name}.npy", one.getvalue())
    data = out.getvalue()
    if lie is not None:  # another size in both headers of the first member
        old, new = (n.to_bytes(4, "little") for n in lie)
        data = data.replace(old, new)
    return RawText(data, "graphs.npz")


def test_archives_of_arrays():
    zeros = np.zeros(1 << 22)
    raw = archive({"x": zeros})
    assert len(raw.data) < SMALL // 50

    def read():
        with pytest.raises(ValueError, match="graphs.npz would " + REFUSED):
            read_npz(raw)

    assert peak(read) < SMALL
    assert read_npz(raw, ["y"]) == {}  # what is not asked for is not unpacked
    half = archive({str(k): zeros[: 1 << 18] for k in range(4)})
    with pytest.raises(ValueError, match=REFUSED):
        read_npz(half)


def test_archives_that_lie():
    size = 128 + 8 * (1 << 22)
    raw = archive({"x": np.zeros(1 << 22)}, lie=(size, 1000))

    def read():
        with pytest.raises(ValueError, match="damaged"):
            read_npz(raw)

    assert peak(read) < 4 * SMALL
    nothing = archive({"x": np.zeros((1 << 39, 0))})
    with pytest.raises(ValueError, match="damaged"):
        read_npz(nothing)


def test_sparse_arrays_of_models(tmp_path):
    model = MulticlassSVM().fit(np.eye(3), [0, 1, 2])
    path = tmp_path / "model"
    save(model, path)
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["maxmargin"])
    size = 100_000
    arrays = {
        f"coef{GAPS}": np.full(size, 255, np.uint8),
        f"coef{VALUES}": np.zeros(size),
        "intercept": np.zeros(3),
    }
    header |= {"version": 2, "sparse": {"coef": [3, 85 * size]}}
    path.write_bytes(signed(header, arrays))

    def read():
        with pytest.raises(ValueError, match="Cannot load .*" + REFUSED):
            load(path)

    assert peak(read) < 2 * SMALL


def test_kernels_of_a_thousand_searches():
    one = kernels.mismatch(12, 6, alphabet="ab")
    with pytest.raises(ValueError, match="patterns of kept letters together"):
        sum([one] * 9, one)
    state = {"kind": "sum", "terms": [one.state()] * 1000}
    with pytest.raises(ValueError, match="patterns of kept letters together"):
        kernels.from_state(state)
    nested = {"kind": "sum", "terms": [one.state()] * 4}
    for _ in range(3):
        nested = {"kind": "product", "terms": [nested] * 4}
    with pytest.raises(ValueError, match="patterns of kept letters together"):
        kernels.from_state(nested)
    few = kernels.mismatch(3, 1, alphabet="ab") + kernels.spectrum(2)
    assert str(kernels.from_state(few.state())) == str(few)


@pytest.mark.parametrize("edges", [[[0, 0], [1, 2]], [[0, 1], [1, 0]]])
def test_label_graphs_with_loops(edges, tmp_path):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 3)), rng.integers(0, 2, (20, 3))
    model = MultilabelSVM(graph=[(0, 1), (1, 2)], tol=0.1).fit(X, Y)
    model.structure_.edges = np.array(edges, np.int64)
    save(model, tmp_path / "model")
    with pytest.raises(ValueError, match=r"Cannot load .*an edge"):
        load(tmp_path / "model")
