"""StructuralSVM is saved with the problem of a user, but without its code."""

import json

import numpy as np
import pytest

from maxmargin import (
    DynamicProgram,
    HypergraphBuilder,
    Problem,
    StructuralSVM,
    load,
    save,
)
from maxmargin.testing import check_model_file


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


class Sign(Problem):
    """A plain support vector machine."""

    def __init__(self, scale=1.0, table=None):
        self.scale = scale
        self.table = np.eye(2) if table is None else table
        self.names = {("a", 1): [1, None]}

    def joint_feature(self, x, y):
        return 0.5 * y * self.scale * (self.table @ x)

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def argmax(self, x, w):
        return 1 if w @ self.joint_feature(x, 1) >= 0 else -1

    def loss_augmented_argmax(self, x, y, w):
        return max((1, -1), key=lambda z: w @ self.joint_feature(x, z) + (z != y))


class Other(Sign):
    pass


class Own(Sign):
    """With an attribute that no file can hold, and a state without it."""

    def __init__(self, scale=1.0):
        super().__init__(scale)
        self.function = np.sin

    def get_state(self):
        return {"scale": self.scale}

    @classmethod
    def from_state(cls, state):
        return cls(**state)


class Words(DynamicProgram):
    """Cut a text without spaces into words."""

    longest = 6

    def graph(self, x):
        builder = HypergraphBuilder(root=len(x))
        builder.leaf(0)
        for end in range(1, len(x) + 1):
            for begin in range(max(0, end - self.longest), end):
                features = {x[begin:end]: 1.0, "length": np.array([end - begin, 1.0])}
                builder.edge(end, begin, part=(begin, end), features=features)
        return builder

    def output_of(self, x, parts):
        return [x[begin:end] for begin, end in parts]

    def parts_of(self, x, y):
        ends = [sum(map(len, y[: n + 1])) for n in range(len(y))]
        return [(end - len(word), end) for word, end in zip(y, ends, strict=True)]


X, Y = [np.array([2.0, 1.0]), np.array([-1.0, -3.0])], [1, -1]


@pytest.mark.parametrize(
    "given",
    [Sign, Sign(), [Other, Sign], (Sign(3.0),)],
    ids=["class", "object", "classes", "objects"],
)
def test_problems(given, path):
    table = np.array([[1.0, 2.0], [0.0, 1.0]])
    model = StructuralSVM(Sign(2.0, table), C=10, n_jobs=2).fit(X, Y)
    save(model, path)
    again = load(path, structure=given)
    assert type(again.structure_) is Sign
    assert again.problem is again.structure_
    assert vars(again.structure_).keys() == vars(model.structure_).keys()
    assert again.structure_.names == {("a", 1): [1, None]}
    assert again.structure_.scale == 2.0
    np.testing.assert_array_equal(again.structure_.table, table)
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert again.predict(X) == model.predict(X) == Y
    assert again.certificate_ == model.certificate_
    assert again.C == 10
    assert again.fit(X, Y).predict(X) == Y


def test_states_of_their_own(path):
    model = StructuralSVM(Own(2.0)).fit(X, Y)
    save(model, path)
    again = load(path, structure=Own)
    assert again.structure_.function is np.sin
    assert again.structure_.scale == 2.0
    assert again.predict(X) == Y


def test_attributes_that_are_no_data_are_named(path):
    model = StructuralSVM(Sign()).fit(X, Y)
    model.structure_.function = np.sin
    with pytest.raises(
        ValueError, match=r"attribute 'function' of its Sign.*get_state"
    ):
        save(model, path)
    assert not path.exists()


def test_classes_are_never_imported_because_of_a_file(path):
    save(StructuralSVM(Sign()).fit(X, Y), path)
    name = rf"{__name__.rpartition('.')[2]}\.Sign"
    with pytest.raises(
        ValueError, match=rf"{name}'.*no class was given.*structure=Sign"
    ):
        load(path)
    with pytest.raises(ValueError, match=rf"{name}'.*only .*Other was given"):
        load(path, structure=Other)


def test_files_of_scripts_name_main(path):
    save(StructuralSVM(Sign()).fit(X, Y), path)
    data = path.read_bytes()
    from safetensors.numpy import load as from_bytes

    from maxmargin.files.model_variants import signed

    length = int.from_bytes(data[:8], "little")
    header = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["maxmargin"])
    header["state"]["structure"] = "__main__.Sign"
    path.write_bytes(signed(header, from_bytes(data)))
    assert load(path, structure=[Other, Sign]).predict(X) == Y


def test_dynamic_programs(path):
    texts, cuts = ["acatsat", "thecat"], [["a", "cat", "sat"], ["the", "cat"]]
    model = StructuralSVM(Words()).fit(texts, cuts)
    save(model, path)
    again = load(path, structure=Words)
    assert again.structure_.features_ == model.structure_.features_
    assert again.predict(["thecatsat"]) == [["the", "cat", "sat"]]
    assert again.predict_k_best(texts, 3) == model.predict_k_best(texts, 3)
    done = check_model_file(model, texts, n=60, structure=Words)
    assert done["refused"] > 10
