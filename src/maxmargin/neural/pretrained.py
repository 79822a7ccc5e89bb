"""Models of transformers as encoders: read from a folder, kept in model files.

Nothing is fetched, and no code of the folder or of a model file is run: models are those
whose classes the installed package has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer
from torch import nn

from maxmargin.core.saved import Saved

USUAL = 512  # pieces that a model reads at once, where it does not say


class Pretrained(nn.Module):
    """A word is the vector of its first piece; a word without pieces is zero.

    Sentences with more pieces than the model reads at once are read in parts.
    (Devlin et al. 2019, BERT.)
    """

    def __init__(self, model: Any, tokenizer: Any):
        super().__init__()
        self.model, self.tokenizer = model, tokenizer
        self.width = model.config.hidden_size
        most = min(tokenizer.model_max_length, _positions(model.config))
        self.most = int(most) - tokenizer.num_special_tokens_to_add()

    def forward(self, texts: list[list[str]], device: Any) -> Any:
        parts = list(self._parts(texts))
        coded = self.tokenizer(
            parts,
            is_split_into_words=True,
            padding=True,
            truncation=True,
            max_length=self.most + self.tokenizer.num_special_tokens_to_add(),
            return_tensors="pt",
        )
        found = self.model(
            input_ids=coded["input_ids"].to(device),
            attention_mask=coded["attention_mask"].to(device),
        ).last_hidden_state
        rows, columns, words, before = [], [], [], 0
        for i, part in enumerate(parts):
            seen = set()
            for place, word in enumerate(coded.word_ids(i)):
                if word is not None and word not in seen:
                    seen.add(word)
                    rows.append(i)
                    columns.append(place)
                    words.append(before + word)
            before += len(part)
        out = found.new_zeros(before, found.shape[2])
        return out.index_put(
            (torch.tensor(words, device=device),), found[rows, columns]
        )

    def _parts(self, texts: list[list[str]]) -> Iterator[list[str]]:
        """The sentences, cut where the model would not read on."""
        coded = self.tokenizer(
            texts, is_split_into_words=True, add_special_tokens=False
        )
        for i, words in enumerate(texts):
            pieces = [0] * len(words)
            for word in coded.word_ids(i):
                pieces[word] += 1
            begin = total = 0
            for k, n in enumerate(pieces):
                if total + n > self.most and k > begin:
                    yield words[begin:k]
                    begin, total = k, 0
                total += n
            yield words[begin:]

    # model files --------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """What makes the same tokenizer and an untrained model of the same shape."""
        tokenizer = self.tokenizer
        special = {
            name: str(token)
            for name, token in tokenizer.special_tokens_map.items()
            if name.endswith("_token")
        }
        return {
            "config": self.model.config.to_json_string(),
            "tokenizer": tokenizer.backend_tokenizer.to_str(),
            "special": special,
            "longest": int(min(tokenizer.model_max_length, 2**31)),
        }


def from_folder(path: str) -> Pretrained:
    """The model and the tokenizer of a folder."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(
        path, local_files_only=True, add_prefix_space=True
    )
    if not getattr(tokenizer, "is_fast", False):
        raise ValueError(
            f"encoder={path!r} has no tokenizer of the kind that says which pieces belong "
            "to a word: save one with its tokenizer.json."
        )
    model = transformers.AutoModel.from_pretrained(path, local_files_only=True)
    return Pretrained(model.float(), tokenizer)


def restored(saved: Saved) -> Pretrained:
    """The same without weights, of a model file."""
    fields = json.loads(saved.value("config", str))
    fields.pop("auto_map", None)  # code
    config = transformers.AutoConfig.for_model(**fields)
    special = saved.value("special", dict)
    if not all(type(v) is str and k.endswith("_token") for k, v in special.items()):
        raise ValueError("'special' are no tokens")
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(saved.value("tokenizer", str)),
        model_max_length=saved.whole("longest", 1),
        **special,
    )
    return Pretrained(transformers.AutoModel.from_config(config), tokenizer)


def _positions(config: Any) -> int:
    """How many pieces a model has positions for."""
    most = getattr(config, "max_position_embeddings", None) or USUAL
    roberta = getattr(config, "model_type", "").endswith("roberta")
    return most - 2 if roberta else most  # which counts positions from 2 on
