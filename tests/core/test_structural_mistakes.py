"""Mistakes in a user's problem are told plainly."""

import numpy as np
import pytest
import scipy.sparse as sp
from structural_cases import Classes, blobs, wrong

from maxmargin import Problem, StructuralSVM


def test_missing_methods_are_named():
    class Half(Problem):
        joint_feature = Classes.joint_feature
        loss = Classes.loss
        argmax = Classes.argmax

    X, y = blobs()
    with pytest.raises(
        ValueError, match=r"Half has no loss_augmented_argmax\(\).*loss"
    ):
        StructuralSVM(Half()).fit(X, y)
    with pytest.raises(ValueError, match=r"no joint_feature\(\), loss\(\), argmax\(\)"):
        StructuralSVM(Problem()).fit(X, y)
    with pytest.raises(ValueError, match="NoneType has no joint_feature"):
        StructuralSVM(None).fit(X, y)
    with pytest.raises(NotImplementedError, match=r"Half must define.*w\)"):
        Half().loss_augmented_argmax(X[0], 0, np.zeros(9))


def test_a_class_in_place_of_an_object():
    X, y = blobs()
    with pytest.raises(ValueError, match=r"Classes\(\)"):
        StructuralSVM(Classes).fit(X, y)


MISTAKES = {
    "loss of the truth": (
        dict(loss=lambda self, a, b: 0.5),
        r"loss\(y, y\) is 0.5 for sample 0.*zero",
    ),
    "negative loss": (
        dict(loss=lambda self, a, b: -1.0 * (a != b)),
        r"loss\(\) for sample \d+ is -1.0.*zero or more",
    ),
    "loss NaN": (
        dict(loss=lambda self, a, b: np.nan if a != b else 0.0),
        r"loss\(\) for sample \d+ is nan.*finite",
    ),
    "loss infinite": (
        dict(loss=lambda self, a, b: np.inf if a != b else 0.0),
        r"loss\(\) for sample \d+ is inf.*finite",
    ),
    "loss None": (dict(loss=lambda self, a, b: None), r"loss\(\) for sample 0"),
    "lengths": (
        dict(joint_feature=lambda self, x, y: np.ones(3 + y)),
        r"joint_feature for sample 1 has length 4, but earlier ones have length 3",
    ),
    "two dimensions": (
        dict(joint_feature=lambda self, x, y: np.ones((3, 3))),
        r"joint_feature for sample 0 has 2 dimensions.*ravel",
    ),
    "sparse table": (
        dict(joint_feature=lambda self, x, y: sp.csr_array(np.ones((3, 3)))),
        r"joint_feature for sample 0 has shape \(3, 3\).*one row",
    ),
    "features NaN": (
        dict(joint_feature=lambda self, x, y: x * np.nan),
        r"joint_feature for sample 0 holds NaN",
    ),
    "features None": (
        dict(joint_feature=lambda self, x, y: None),
        r"joint_feature for sample 0",
    ),
    "changes w": (
        dict(loss_augmented_argmax=lambda self, x, y, w: w.fill(0)),
        "read-only",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_named(mistake):
    methods, message = MISTAKES[mistake]
    X, y = blobs()
    with pytest.raises(ValueError, match=message):
        StructuralSVM(wrong(**methods)).fit(X, y)


def test_features_that_are_no_numbers():
    X, y = blobs()
    with pytest.raises(ValueError, match="joint_feature for sample 0"):
        StructuralSVM(wrong(joint_feature=lambda self, x, y: ["a"])).fit(X, y)


def worst(self, x, y, w):
    """Starts right, and later returns the output with the lowest score."""
    if not w.any():
        return Classes.loss_augmented_argmax(self, x, y, w)
    return int((w.reshape(-1, len(x)) @ x).argmin())


def test_an_answer_worse_than_the_truth_is_an_error():
    X, y = blobs()
    message = r"loss_augmented_argmax for sample \d+ .*below.*exact = False"
    with pytest.raises(ValueError, match=message):
        StructuralSVM(wrong(loss_augmented_argmax=worst)).fit(X, y)


def test_an_approximate_problem_falls_back_to_the_truth():
    X, y = blobs()
    problem = wrong(loss_augmented_argmax=worst, exact=False)
    model = StructuralSVM(problem, max_iter=20, tol=0.5)
    model.fit(X, y)
    assert model.certificate_.exact is False
    assert len(model.predict(X)) == len(y)


def test_an_oracle_that_contradicts_itself_is_found_out():
    # The classic mistake: the loss is forgotten. Stored outputs prove it, since the
    # dual rises above the primal that the oracle claims.
    X, y = blobs()
    forgetful = wrong(loss_augmented_argmax=lambda self, x, y, w: self.argmax(x, w))
    with pytest.raises(ValueError, match="loss_augmented_argmax"):
        StructuralSVM(forgetful).fit(X, y)


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = blobs()
    model = StructuralSVM(Classes()).fit(X, y)
    before = model.predict(X), model.certificate_, model.coef_.copy()
    model.set_params(problem=wrong(loss_augmented_argmax=worst))
    with pytest.raises(ValueError, match="loss_augmented_argmax"):
        model.fit(X[::-1], y)
    assert model.predict(X) == before[0]
    assert model.certificate_ is before[1]
    np.testing.assert_array_equal(model.coef_, before[2])


def test_prediction_cannot_change_the_weights():
    X, y = blobs()
    problem = wrong(argmax=lambda self, x, w: w.fill(0))
    model = StructuralSVM(problem).fit(X, y)
    with pytest.raises(ValueError, match="read-only"):
        model.predict(X)


def test_a_problem_that_cannot_be_copied_is_refused(tmp_path):
    class Holding(Problem):
        def __init__(self):
            self.file = open(tmp_path / "some", "w")  # noqa: SIM115

        def joint_feature(self, x, y):
            return np.array([x * y])

        def loss(self, y, z):
            return float(y != z)

        def outputs(self, x):
            return [0, 1]

    problem = Holding()
    with pytest.raises(ValueError, match=r"Holding cannot be copied.*open files"):
        StructuralSVM(problem).fit([0.0, 1.0], [0, 1])
    problem.file.close()
