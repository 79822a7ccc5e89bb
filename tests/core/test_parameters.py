"""Parameters declared once make constructors that scikit-learn and users see through."""

import inspect
import pickle

import pytest
from sklearn.base import clone

from maxmargin import (
    MulticlassSVM,
    MultilabelSVM,
    SequenceTagger,
    StructuralSVM,
    TaxonomySVM,
)
from maxmargin.core.parameters import (
    REQUIRED,
    RUNNING,
    SHARED,
    parameters,
    training_parameters,
)


class Nets(MulticlassSVM):
    __init__ = training_parameters(depth=REQUIRED, tol=0.5, C=7.0)


class Renamed(MulticlassSVM):
    def __init__(self, C=3.0):
        super().__init__(C=C, tol=0.25)


def names(cls):
    return list(inspect.signature(cls).parameters)


def test_own_parameters_come_first_and_shared_ones_keep_their_order():
    assert names(Nets) == ["depth", *SHARED, *RUNNING]
    assert names(StructuralSVM) == ["problem", *SHARED, *RUNNING]
    assert names(MulticlassSVM)[:4] == ["C", "loss", "fit_intercept", "rescaling"]
    assert names(TaxonomySVM)[:3] == ["taxonomy", "C", "mode"]
    assert inspect.signature(SequenceTagger).parameters["tol"].default is None
    assert names(MulticlassSVM)[-4] == "unlabelled_weight"
    assert names(MultilabelSVM)[-4] == "graph"
    assert names(SequenceTagger)[-3:] == [*RUNNING]


def test_values_are_kept_untouched():
    depth = [1]
    model = Nets(depth, 2.0, n_jobs=3)
    assert model.depth is depth
    assert (model.C, model.n_jobs, model.tol) == (2.0, 3, 0.5)
    assert set(vars(model)) == set(names(Nets))
    assert clone(model).get_params() == model.get_params()
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()


def test_users_may_write_a_constructor_of_their_own():
    model = Renamed()
    assert model.get_params() == {"C": 3.0}
    assert (model.tol, model.loss) == (0.25, "zero-one")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (((), {"c": 1}), r"Nets: .*'depth'.*parameters are depth, C, rescaling"),
        (((1,), {"c": 1}), r"Nets: .*'c'"),
        (((1,), {"depth": 2}), r"Nets: .*'depth'"),
        ((range(20), {}), r"Nets: too many"),
    ],
    ids=["missing", "unknown", "twice", "too many"],
)
def test_wrong_arguments_are_named(given, message):
    with pytest.raises(TypeError, match=message):
        Nets(*given[0], **given[1])


def test_signatures_show_in_help():
    init = parameters(b=REQUIRED, a=1)
    assert str(inspect.signature(init)) == "(self, b, a=1)"
