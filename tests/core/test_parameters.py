"""Parameters declared once make constructors that scikit-learn and users see through."""

import inspect
import pickle
import re
import subprocess
import sys
from typing import Any

import pytest
from sklearn.base import clone

import maxmargin
from maxmargin import (
    MulticlassSVM,
    MultilabelSVM,
    SequenceTagger,
    StructuralSVM,
    TaxonomySVM,
)
from maxmargin.core.checks import whole_from
from maxmargin.fitting.parameters import Parameter, Parameters, Running, Shared

ESTIMATORS = [
    name
    for name in maxmargin.__all__
    if hasattr(getattr(maxmargin, name), "_check_parameters")
]


class Nets(MulticlassSVM):
    depth: Any = Parameter(kw_only=False)
    tol: float = Parameter(default=0.5)
    C: float = Parameter(default=7.0, kw_only=False)


class Renamed(MulticlassSVM):
    def __init__(self, C=3.0):
        super().__init__(C=C, tol=0.25)


def names(cls):
    return list(inspect.signature(cls).parameters)


def test_own_parameters_come_first():
    assert names(Nets)[:4] == ["depth", "C", "loss", "tol"]
    shared = [name for name in Shared.declared if name != "C"]
    assert names(StructuralSVM) == ["problem", "C", *shared]
    assert names(MulticlassSVM)[:3] == ["C", "loss", "fit_intercept"]
    assert names(TaxonomySVM)[:3] == ["taxonomy", "C", "mode"]
    assert inspect.signature(SequenceTagger).parameters["tol"].default is None
    assert names(MultilabelSVM)[3] == "graph"
    assert "unlabelled_weight" not in names(MultilabelSVM)
    assert names(SequenceTagger)[-3:] == [*Running.declared]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_all_but_the_first_two_are_given_by_name(name):
    kinds = [
        p.kind for p in inspect.signature(getattr(maxmargin, name)).parameters.values()
    ]
    by_name = inspect.Parameter.KEYWORD_ONLY
    assert [kind is by_name for kind in kinds] == [False] * 2 + [True] * (
        len(kinds) - 2
    )


@pytest.mark.parametrize("name", ESTIMATORS)
def test_defaults_are_possible(name):
    for parameter, declared in getattr(maxmargin, name).declared.items():
        if declared.check is not None:
            declared.check(parameter, declared.default)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_declaration_signature_and_docstring_agree(name):
    cls = getattr(maxmargin, name)
    found = inspect.signature(cls).parameters
    assert {n: p.default for n, p in found.items()} == {
        n: each.default for n, each in cls.declared.items()
    }
    text = re.search(r"Parameters\n +-+\n(.*?)\n\n? *Attributes\n", cls.__doc__, re.S)[
        1
    ]
    assert [n for n in found if not re.search(rf"\b{n}\b", text)] == []
    said = re.findall(r"^    ([\w, ]+) : .*?default ([^\n]+?)$", text, re.M)
    for owners, default in said:
        for n in owners.split(", "):
            value = found[n].default
            if type(value) in (int, float):
                assert float(default.split()[0].replace(",", "")) == value, n
            else:
                shown = repr(value), str(value), f'"{value}"'
                assert default.startswith(shown), n


def test_what_is_not_said_again_is_kept():
    assert Nets.declared["tol"].help == Shared.declared["tol"].help
    with pytest.raises(
        ValueError, match=r"tol=0 is not possible: it must be a positive"
    ):
        Nets(1, tol=0).fit([[0.0], [1.0]], [0, 1])


def test_declarations_are_light():
    heavy = ("numpy", "numba", "scipy", "sklearn")
    code = "import maxmargin.FAMILY.parameters, sys; "
    code += f"print([*filter(sys.modules.get, {heavy})])"
    for family in maxmargin.families.FAMILIES:
        if family == "hypergraphs":  # without an estimator of its own
            continue
        command = [sys.executable, "-c", code.replace("FAMILY", family)]
        out = subprocess.run(command, capture_output=True, text=True, check=True)
        assert out.stdout == "[]\n", family


def test_values_are_kept_untouched():
    depth = [1]
    model = Nets(depth, C=2.0, n_jobs=3)
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
        (((), {"c": 1}), r"Nets: .*'depth'.*parameters are depth, C, loss, tol"),
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
    class Pair(Parameters):
        b: int = Parameter(check=whole_from(1, "a whole number >= 1"), kw_only=False)
        a: int = Parameter(default=1)

    assert str(inspect.signature(Pair)) == "(b, *, a=1)"
    with pytest.raises(ValueError, match=r"b=0 is not possible: it must be a whole"):
        Pair(0)._check_parameters()
    Pair(0)._check_parameters("a")
