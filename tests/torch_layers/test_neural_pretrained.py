"""Models of transformers as encoders: tiny ones with random weights, made here."""

import json
import socket

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
WHY = "transformers is not installed: pip install transformers"
transformers = pytest.importorskip("transformers", reason=WHY)
from neural_cases import sentences, tagger, weights  # noqa: E402
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers  # noqa: E402
from tokenizers.processors import TemplateProcessing  # noqa: E402

import maxmargin  # noqa: E402

X, y = sentences(60)
TEST = sentences(20, seed=1)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A BERT of two layers whose pieces are words, beginnings and single letters."""
    path = tmp_path_factory.mktemp("bert")
    letters = sorted({c for x in X for w in x for c in w.lower()})
    pieces = [*SPECIAL, *letters, *(f"##{c}" for c in letters), "lives", "works", "in"]
    pieces = list(dict.fromkeys(pieces))
    tokens = Tokenizer(
        models.WordPiece({p: k for k, p in enumerate(pieces)}, unk_token="[UNK]")
    )
    tokens.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokens.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokens.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    special = dict(zip(names, SPECIAL, strict=True))
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokens, model_max_length=24, **special
    ).save_pretrained(path)
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(pieces),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=24,
    )
    transformers.BertModel(config).save_pretrained(path)
    return str(path)


@pytest.fixture(scope="module")
def fitted(folder):
    return tagger(encoder=folder, max_iter=12, learning_rate=0.05).fit(X, y)


def test_it_learns(fitted):
    assert fitted.score(*TEST) > 0.9
    assert fitted.network_.embedding is None
    assert fitted.predict([[], X[0]])[0] == []


def test_pretrained_weights_learn_slower(folder, fitted):
    before = transformers.AutoModel.from_pretrained(folder).state_dict()
    after = fitted.network_.encoder.model.state_dict()
    moved = [float((after[k] - before[k]).abs().max()) for k in before]
    assert 0 < max(moved) < 0.5


def test_words_are_their_first_pieces(fitted):
    encoder = fitted.network_.encoder
    with torch.no_grad():
        both = encoder([["Ada", "lives"], ["Bob"]], torch.device("cpu"))
        one = encoder([["Bob"]], torch.device("cpu"))
        coded = encoder.tokenizer("Ada lives", return_tensors="pt")
        hidden = encoder.model(**coded).last_hidden_state[0]
    torch.testing.assert_close(both[2:], one)
    torch.testing.assert_close(both[0], hidden[1])  # behind [CLS]
    torch.testing.assert_close(both[1], hidden[4])  # behind a, ##d, ##a
    with torch.no_grad():
        nothing = encoder([["\u200b", "in"]], torch.device("cpu"))
    assert not nothing[0].any()  # no pieces


def test_long_sentences_are_read_in_parts(fitted):
    long = [w for x in X[:10] for w in x]
    (found,) = fitted.predict([long])
    assert len(found) == len(long)
    parts = list(fitted.network_.encoder._parts([long]))
    assert len(parts) > 1
    assert [w for part in parts for w in part] == long
    word = "a" * 100  # has more pieces than the model reads at once
    assert len(fitted.predict([["in", word, "in"]])[0]) == 3


def test_model_files_hold_all_of_it(fitted, tmp_path, monkeypatch):
    def no_network(*_):
        raise AssertionError("something was fetched")

    path = tmp_path / "m"
    maxmargin.save(fitted.set_params(encoder=fitted.encoder), path)
    monkeypatch.setattr(socket.socket, "connect", no_network)
    back = maxmargin.load(path)
    assert np.array_equal(weights(back), weights(fitted))
    assert back.predict(TEST[0]) == fitted.predict(TEST[0])
    (one,), (two,) = (m.predict_marginals(X[:1]) for m in (back, fitted))
    np.testing.assert_allclose(one, two, atol=1e-6)


def test_equal_seeds_give_equal_weights(folder):
    one, two = (tagger(encoder=folder, max_iter=1).fit(X[:9], y[:9]) for _ in range(2))
    assert np.array_equal(weights(one), weights(two))


def test_code_in_the_folder_is_not_run(folder, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    config = {
        "model_type": "mine",
        "auto_map": {"AutoConfig": "mine.Config", "AutoModel": "mine.Model"},
    }
    (other / "config.json").write_text(json.dumps(config))
    (other / "mine.py").write_text("raise SystemExit('it was run')")
    with pytest.raises((ValueError, OSError, KeyError)):
        tagger(encoder=str(other)).fit(X, y)


def test_numbers_are_no_words(folder):
    with pytest.raises(
        ValueError, match="a pretrained encoder reads words, but X holds"
    ):
        tagger(encoder=folder).fit([np.eye(2)] * 4, [["a", "b"]] * 4)
