"""Parameters of estimators, each declared once: default, check, option, type.

    class MulticlassSVMParameters(PartlyKnown):
        C: float | None = Parameter(default=None, kw_only=False)
        loss: Any = Parameter(default="zero-one", kw_only=False)
        fit_intercept: bool = Parameter(default=True)

    class MulticlassSVM(MulticlassSVMParameters, MaxMarginEstimator, init=False): ...

has an ``__init__`` with these parameters, the first two also by position, then those of the
bases. It stores them untouched, as scikit-learn wants; its signature is a true one, so that
``help``, ``get_params``, ``clone`` and editors see nothing special. Classes such as
``MulticlassSVMParameters`` are in the ``parameters`` of their family, light to import: the
command line makes its options of them. What the shared ones mean is said once, in
:class:`maxmargin.StructuralSVM`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, dataclass_transform

from maxmargin.core.checks import (
    Check,
    choice_of,
    either,
    is_bool,
    is_whole,
    or_none,
    positive,
    whole_from,
    zero_or_more,
)

REQUIRED = inspect.Parameter.empty  # in place of a default
UNLABELLED = 0.1  # of the weight of a sample with labels


@dataclass(frozen=True)
class Declared:
    """What is declared of a parameter; declared anew, it keeps what is not said again."""

    default: Any = REQUIRED
    check: Callable | None = None  # raises ValueError for impossible values
    kind: Callable | None = None  # of its option, where the default does not say it
    help: str = ""  # of its option, where the task says nothing else
    flag: str = ""  # its option, where that is not called like it
    metavar: str = ""
    option: bool = True  # False: for Python alone
    kw_only: bool = True
    # what says nothing of the model: "runs" is where it is trained, which model files do
    # not hold; "spends" is the reader's time or memory, which is not theirs to say
    machine: str = ""


def Parameter(
    default: Any = REQUIRED, check: Callable | None = None, **more: Any
) -> Any:
    """A declaration, in the place of the value that its annotation promises."""
    return Declared(default, check, **more)


@dataclass_transform(kw_only_default=True, field_specifiers=(Parameter,))
class Parameters:
    """A class whose ``__init__`` takes the parameters that it and its bases declare."""

    declared: ClassVar[dict[str, Declared]] = {}
    _own: ClassVar[dict[str, Declared]] = {}

    def __init_subclass__(cls, init: bool = True, **more: Any) -> None:
        """``init=False`` tells type checkers that the first base has the ``__init__``."""
        super().__init_subclass__(**more)
        own = {k: v for k, v in vars(cls).items() if isinstance(v, Declared)}
        if not own:
            return
        for name in own:
            delattr(cls, name)
        cls._own, found = own, {}
        for base in cls.__mro__:
            for name, parameter in vars(base).get("_own", {}).items():
                found[name] = _completed(found.get(name, parameter), parameter)
        cls.declared = dict(sorted(found.items(), key=lambda item: item[1].kw_only))
        cls.__init__ = _constructor(cls.declared)

    def _check_parameters(self, *names: str) -> None:
        """Refuse values, of these or of all, that no others make possible.

        Defaults are possible.
        """
        for name in names or [n for n in self.declared if n not in self._unread()]:
            declared, value = self.declared[name], getattr(self, name)
            if declared.check is not None and value is not declared.default:
                declared.check(name, value)

    def _unread(self) -> Container[str]:
        """What nothing reads beside the others: of that, other sentences speak."""
        return ()


def _completed(own: Declared, before: Declared) -> Declared:
    names = "check", "kind", "help", "flag", "metavar", "machine"
    return replace(own, **{n: getattr(own, n) or getattr(before, n) for n in names})


def _constructor(declared: dict[str, Declared]) -> Callable[..., None]:
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    signature = inspect.Signature(
        [inspect.Parameter("self", kinds[0])]
        + [
            inspect.Parameter(name, kinds[each.kw_only], default=each.default)
            for name, each in declared.items()
        ]
    )

    def __init__(self, *args, **kwargs):
        try:
            given = signature.bind(self, *args, **kwargs)
        except TypeError as error:
            raise TypeError(
                f"{type(self).__name__}: {error}; its parameters are "
                f"{', '.join(declared)}, by name after the first two."
            ) from None
        given.apply_defaults()
        for name in declared:
            setattr(self, name, given.arguments[name])

    __init__.__signature__ = signature
    __init__.__qualname__ = "__init__"
    return __init__


# what several estimators have -----------------------------------------------------------


def _check_callbacks(name: str, callbacks: Any) -> None:
    if callbacks is None:
        return
    if not isinstance(callbacks, (list, tuple)):
        raise ValueError(
            f"callbacks={callbacks!r} is not possible: it must be a list of functions, "
            "also for one, or None."
        )
    for i, callback in enumerate(callbacks):
        if not callable(callback):
            raise ValueError(
                f"callbacks[{i}] is {callback!r}, which cannot be called: give functions "
                "of one history row."
            )


class Running(Parameters):
    """Where a fit runs and how it survives."""

    engine: Any = Parameter(
        default=None,
        help="dask (with --cluster or --workers); default: this process",
        machine="runs",
    )
    checkpoint: Any = Parameter(
        default=None,
        help="folder for the state of the training",
        metavar="FOLDER",
        machine="runs",
    )
    resume: bool = Parameter(
        default=False,
        help="resume from the checkpoint, if there is one",
        machine="runs",
    )


class Shared(Running):
    """What every training understands."""

    if not TYPE_CHECKING:  # each family has it in a place of its own
        C: float | None = Parameter(
            default=1.0, kind=float, help="weight of the data", metavar="C"
        )
    rescaling: str = Parameter(
        default="margin",
        check=choice_of("margin", "slack", choice='"margin" or "slack"'),
        help="margin or slack",
    )
    penalty: str = Parameter(
        default="linear",
        check=choice_of("linear", "quadratic", choice='"linear" or "quadratic"'),
        help="linear or quadratic slacks",
    )
    solver: str = Parameter(
        default="auto", help="such as block-coordinate, one-slack or n-slack"
    )
    tol: float | None = Parameter(
        default=0.01,
        check=positive("a positive number such as 0.01", finite=True),
        kind=float,
        help="relative gap at which to stop",
    )
    max_iter: int | None = Parameter(
        default=None,
        check=or_none(whole_from(1, "a positive whole number or None")),
        kind=int,
        help="largest number of passes over the data",
    )
    max_time: float | None = Parameter(
        default=None,
        check=or_none(positive("seconds, positive, or None")),
        kind=float,
        help="seconds of training, for each C",
        machine="spends",
    )
    warm_start: bool = Parameter(default=False, option=False, machine="spends")
    n_jobs: int | None = Parameter(
        default=1,
        flag="--jobs",
        help="threads; -1 means one per core",
        machine="spends",
    )
    random_state: Any = Parameter(
        default=None, kind=int, flag="--seed", help="random seed of the order of visits"
    )
    verbose: int = Parameter(
        default=0,
        check=Check(
            lambda value: is_whole(value) or is_bool(value),
            "0 for silence, 1 for progress or 2 for a line of JSON per pass",
        ),
        option=False,
        machine="spends",
    )
    callbacks: list | None = Parameter(
        default=None, check=_check_callbacks, option=False
    )
    objective: str = Parameter(
        default="hinge", help="what is minimised, such as hinge (SVM) or log (CRF)"
    )


class PartlyKnown(Shared):
    """Of families that learn from outputs of which not everything is known."""

    unlabelled_weight: float = Parameter(
        default=UNLABELLED,
        check=zero_or_more("a finite number, zero or more"),
        option=False,  # files have no labels that are not known
    )


class Hidden(Shared):
    """Of families whose true outputs have hidden parts (``latent_training.py``)."""

    if not TYPE_CHECKING:  # likewise
        init: Any = Parameter(default="given")
    n_restarts: int = Parameter(default=1, check=whole_from(1, "a whole number >= 1"))
    max_outer: int = Parameter(default=100, check=whole_from(1, "a whole number >= 1"))
    self_paced: bool = Parameter(default=False, check=either())


def number_or_name(text: str) -> float | str:
    """The option of a parameter that may be either."""
    try:
        return float(text)
    except ValueError:
        return text


BASES = "nystroem", "nystroem-kmeans", "nystroem-leverage", "incomplete-cholesky"


class KernelOfFeatures(Shared):
    """Of families whose features may be seen through a kernel."""

    kernel: Any = Parameter(default=None, help="rbf, poly, laplace or linear")
    method: str = Parameter(default="exact", check=choice_of("exact", *BASES))
    n_components: int = Parameter(
        default=500,
        check=whole_from(1, "a positive whole number"),
        kind=int,
        flag="--components",
    )
    gamma: float | str = Parameter(
        default="scale", kind=number_or_name, help="a number, scale or auto"
    )
    kernel_memory: float = Parameter(
        default=4e9,
        check=positive("a positive number of bytes"),
        help="bytes that kernel tables may take",
    )

    def _unread(self) -> Container[str]:
        # HMMTagger, a tagger that counts, has no such parameter
        none = getattr(self, "kernel", None) is None
        return KernelOfFeatures._own if none else ()


class StructuralSVMParameters(Shared):
    problem: Any = Parameter(kw_only=False)
    C: float | None = Parameter(default=1.0, kw_only=False)


class LatentStructuralSVMParameters(Hidden):
    problem: Any = Parameter(kw_only=False)
    init: Any = Parameter(default="random", kw_only=False)
    C: float | None = Parameter(default=1.0)


# parameters that nothing would read ---------------------------------------------------


def refuse_unused(model: Any, names: tuple[str, ...], why: str) -> None:
    """Raise ValueError if a parameter is not at its default, where nothing reads it."""
    defaults = inspect.signature(type(model).__init__).parameters
    for name in names:
        value = getattr(model, name)
        default = defaults[name].default
        if getattr(value, "shape", ()) or value != default:  # no default is an array
            shown = " ".join(repr(value).split())  # a table has lines
            raise ValueError(f"{name}={shown} would not be used: {why}")


def refuse_beside_kernel(model: Any, names: tuple[str, ...]) -> None:
    """``gamma`` and the like are of kernels that are given by name."""
    if not isinstance(model.kernel, str):
        refuse_unused(
            model,
            names,
            "the kernel is not given by name, and has parameters of its own. Give it to "
            "the kernel, as in kernels.rbf(0.1), or set it there, as in "
            "set_params(kernel__gamma=0.1).",
        )


def refuse_without_kernel(model: Any) -> None:
    """The same where a kernel is one of several ways to look at features."""
    if not hasattr(model, "kernel"):  # HMMTagger
        return
    if model.kernel is None:
        why = "there is no kernel. Give one, as in kernel='rbf', or leave it out."
        refuse_unused(model, ("gamma", "method", "n_components"), why)
    else:
        refuse_beside_kernel(model, ("gamma",))
