"""Parameters of estimators with networks."""

from __future__ import annotations

import os
from typing import Any

from maxmargin.core.checks import (
    Check,
    choice_of,
    is_real,
    is_whole,
    or_none,
    positive,
    whole_from,
    zero_or_more,
)
from maxmargin.fitting.parameters import Parameter, Parameters, Running, Shared
from maxmargin.tags.parameters import SequenceTaggerParameters

ENCODERS = ("lstm", "transformer")
OBJECTIVES = ("log", "hinge")
STARTS = ("log", "scale", "cold")
SCHEDULES = ("one-cycle", "linear", "constant")
MOST_LAYERS = 100


def _check_encoder(name: str, encoder: Any) -> None:
    """A text, or a module or what makes one."""
    if not isinstance(encoder, (str, os.PathLike)) and not callable(encoder):
        raise ValueError(
            f"encoder={encoder!r} is not possible: it must be one of "
            f"{', '.join(ENCODERS)}, the folder of a model of transformers, a module of "
            "PyTorch, or a function of the numbers per token that returns one."
        )


def check_there(encoder: Any) -> None:
    """A text is a name or the folder of a pretrained model."""
    if not isinstance(encoder, (str, os.PathLike)):
        return
    path = os.fspath(encoder)
    if path not in ENCODERS and not os.path.isfile(os.path.join(path, "config.json")):
        raise ValueError(
            f"encoder={encoder!r} is not known; choose one of {', '.join(ENCODERS)}, the "
            "folder of a model of transformers (with its config.json), or give a module "
            "of PyTorch."
        )


def _check_device(name: str, device: Any) -> None:
    if not isinstance(device, str) or device.partition(":")[0] not in (
        *("auto", "cpu", "cuda"),
    ):
        raise ValueError(
            f"device={device!r} is not known; choose auto, cpu, or cuda (cuda:1 for the "
            "second)."
        )


def share(wanted: str) -> Check:
    """A number from 0 to below 1."""
    return Check(lambda value: is_real(value) and 0 <= value < 1, wanted)


_SAME = SequenceTaggerParameters.declared
_POSITIVE = whole_from(1, "a positive whole number")


class NeuralTaggerParameters(Parameters):
    encoder: Any = Parameter(
        default="lstm",
        check=_check_encoder,
        kind=str,
        help="lstm, transformer, or the folder of a model of transformers",
        kw_only=False,
    )
    objective: str = Parameter(
        default="log", check=choice_of(*OBJECTIVES), help="log or hinge", kw_only=False
    )
    features: Any = _SAME["features"]
    min_count: int = Parameter(default=1, check=_POSITIVE)
    feature_options: dict | None = _SAME["feature_options"]
    scheme: str | None = _SAME["scheme"]
    forbidden: list | None = _SAME["forbidden"]
    loss: Any = _SAME["loss"]
    hinge_start: str = Parameter(
        default="log",
        check=choice_of(*STARTS),
        help="how the hinge begins: log, scale or cold",
    )
    warm_up: float = Parameter(
        default=0.2,
        check=share("a share of the passes, from 0 to below 1"),
        help="share of the passes in which the hinge begins so",
    )
    word_size: int = Parameter(
        default=100, check=_POSITIVE, help="numbers that stand for a word"
    )
    char_size: int = Parameter(
        default=30,
        check=whole_from(0, "a whole number, or 0 to leave characters out"),
        help="numbers that stand for a character; 0 leaves characters out",
    )
    column_size: int = Parameter(
        default=30,
        check=_POSITIVE,
        help="numbers that stand for a cell of another column",
    )
    feature_size: int = Parameter(
        default=100, check=_POSITIVE, help="numbers that stand for a feature"
    )
    hidden_size: int = Parameter(
        default=200, check=_POSITIVE, help="states of the network, per direction"
    )
    n_layers: int = Parameter(
        default=2,
        check=Check(
            lambda value: is_whole(value) and 1 <= value <= MOST_LAYERS,
            f"a whole number from 1 to {MOST_LAYERS}",
        ),
        flag="--layers",
        help="layers of the network",
    )
    dropout: float = Parameter(
        default=0.5,
        check=share("a number from 0 to below 1"),
        help="share of the numbers that training leaves out at random",
    )
    learning_rate: float | None = Parameter(
        default=None,
        check=or_none(positive("a positive number or None", finite=True)),
        kind=float,
        help="largest step of Adam (default: 0.003)",
    )
    schedule: str = Parameter(
        default="one-cycle",
        check=choice_of(*SCHEDULES),
        help="of the learning rate: one-cycle, linear or constant",
    )
    weight_decay: float = Parameter(
        default=0.01, check=zero_or_more("zero or more"), help="that of AdamW"
    )
    batch_size: int | None = Parameter(
        default=None,
        check=or_none(_POSITIVE),
        kind=int,
        help="sentences per step (default: 32, or fewer of few sentences)",
    )
    max_iter: int = Parameter(
        default=20,
        check=_POSITIVE,
        kind=int,
        help="passes over the data",
    )
    patience: int = Parameter(
        default=8,
        check=_POSITIVE,
        help="passes without a better score on held-out data that end training, once "
        "half of the passes are over",
    )
    validation_fraction: float = Parameter(
        default=0.1,
        check=share("a share of the training data, from 0 to below 1"),
        help="share of the training data that is held out, where there is no --dev",
    )
    device: str = Parameter(
        default="auto",
        check=_check_device,
        help="auto, cpu or cuda",
        machine="runs",
    )
    checkpoint: Any = Running.declared["checkpoint"]
    resume: bool = Running.declared["resume"]
    max_time: float | None = Shared.declared["max_time"]
    n_jobs: int | None = Shared.declared["n_jobs"]
    random_state: Any = Shared.declared["random_state"]
    verbose: int = Shared.declared["verbose"]
    callbacks: list | None = Shared.declared["callbacks"]
