"""The network for the settings of a tagger, and for a model file."""

from __future__ import annotations

import copy
import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch
from torch import nn

from maxmargin.core.saved import Saved
from maxmargin.core.tables.label_costs import cost_table
from maxmargin.neural.network import (
    BUILT_IN,
    Embedding,
    Given,
    TaggerNetwork,
    Widths,
)
from maxmargin.neural.parameters import ENCODERS
from maxmargin.neural.readers import FIRST
from maxmargin.torch import Chain

OF_CHAINS = ("hamming", "zero-one", "spans")  # losses that a chain knows by name


def device_of(name: str) -> Any:
    """The device of that name; "auto" is a GPU where there is one."""
    there = torch.cuda.is_available()
    if name == "auto":
        return torch.device("cuda" if there else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ValueError(
            f"device={name!r} is not known; choose auto, cpu, or cuda (cuda:1 for the "
            "second)."
        ) from None
    if device.type == "cuda" and not (there and (device.index or 0) < _gpus()):
        raise ValueError(
            f"device={name!r} is not there: torch sees {_gpus() if there else 'no'} GPU"
            f"{'s' if there else ''}. Use device='auto' or 'cpu'."
        )
    return device


def _gpus() -> int:
    return torch.cuda.device_count()


def new_network(tagger: Any, reader: Any, labels: list) -> TaggerNetwork:
    """A network with new weights; a given module, or pretrained one, keeps its own."""
    chain, name = _chain(tagger, labels), _name(tagger.encoder)
    if name is not None and name not in ENCODERS:
        if reader.kind != "columns":
            raise ValueError(
                "a pretrained encoder reads words, but X holds numbers or features: give "
                "lists of words, or another encoder."
            )
        return TaggerNetwork(None, _pretrained().from_folder(name), chain)
    embedding = Embedding(widths_of(reader), tagger)
    if name is not None:
        encoder = BUILT_IN[name](embedding.size, tagger)
    else:
        encoder = Given(_module(tagger.encoder, embedding.size), embedding.size)
    return TaggerNetwork(embedding, encoder, chain)


def is_pretrained(tagger: Any) -> bool:
    return _name(tagger.encoder) not in (None, *ENCODERS)


def widths_of(reader: Any) -> Widths:
    """How much there is of everything that a fitted reader tells apart."""
    if reader.kind == "numbers":
        return Widths(numbers=reader.width)
    if reader.kind == "features":
        return Widths(features=reader.width)
    template, characters = reader.template, len(reader.characters)
    return Widths(
        tuple(map(len, reader.vocabularies)),
        characters + FIRST if reader.spelled else 0,
        0 if template is None else template.n_features,
    )


# model files --------------------------------------------------------------------------


def network_state(network: TaggerNetwork) -> tuple[dict, dict]:
    """(arrays, state) for :func:`restored_network`."""
    arrays = {
        f"network.{name}": tensor.detach().float().cpu().numpy()
        for name, tensor in network.state_dict().items()
    }
    if network.embedding is not None:
        return arrays, {}
    return arrays, {"pretrained": network.encoder.state()}


def restored_network(saved: Saved, tagger: Any, reader: Any, labels: list) -> Any:
    """The network of a model file, whose sizes are compared with its arrays first."""
    with torch.device("meta"):
        plan = _planned(saved, tagger, reader, labels)
    wanted = {name: tuple(t.shape) for name, t in plan.state_dict().items()}
    found = {
        name: torch.from_numpy(saved.floats(f"network.{name}", *shape))
        for name, shape in wanted.items()
    }
    if is_pretrained(tagger):  # has tables that are no weights
        plan = _planned(saved, tagger, reader, labels)
    plan.load_state_dict(found, assign=True)
    for parameter in plan.parameters():
        parameter.requires_grad_(True)
    return plan.eval().to(device_of(tagger.device))


def _planned(saved: Saved, tagger: Any, reader: Any, labels: list) -> TaggerNetwork:
    if not is_pretrained(tagger):
        return new_network(tagger, reader, labels)
    encoder = _pretrained().restored(saved.part("pretrained"))
    return TaggerNetwork(None, encoder, _chain(tagger, labels))


# parts --------------------------------------------------------------------------------


def _chain(tagger: Any, labels: list) -> Chain:
    loss = tagger.loss
    if not isinstance(loss, str) or loss not in OF_CHAINS:
        loss = cost_table(loss, labels)
    known = {None, *labels}  # as in other taggers, what is forbidden need not occur
    forbidden = [pair for pair in tagger.forbidden or [] if known.issuperset(pair)]
    return LabelChain(labels, tagger.scheme, forbidden, loss)


def _name(encoder: Any) -> str | None:
    return os.fspath(encoder) if isinstance(encoder, (str, os.PathLike)) else None


def _module(encoder: Any, size: int) -> nn.Module:
    """A copy of a given module, or what a given function makes."""
    if isinstance(encoder, nn.Module):
        return copy.deepcopy(encoder)
    module = encoder(size)
    if not isinstance(module, nn.Module):
        raise ValueError(
            f"encoder({size}) returned {type(module).__name__}: it must return a module "
            "of PyTorch for so many numbers per token."
        )
    return module


def _pretrained() -> Any:
    if find_spec("transformers") is None:
        raise ImportError(
            "a pretrained encoder needs the package transformers: pip install "
            "transformers."
        )
    return import_module("maxmargin.neural.pretrained")


class LabelChain(Chain):
    """A chain whose labels may be numbers: true labels are always tensors here."""

    @staticmethod
    def _names_of(labels: Any) -> list:
        return list(labels)
