"""Networks in model files: data without code, checked before it is believed."""

import json
import pickle
from importlib.util import find_spec

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
from neural_cases import rows, sentences, tables, tagger, weights  # noqa: E402
from scipy.sparse import csr_array  # noqa: E402

import maxmargin  # noqa: E402
from maxmargin.files import model_format  # noqa: E402
from maxmargin.neural import backend as needed  # noqa: E402

X, y = sentences(30)
NUMBERS, LABELS = tables(20)
CASES = {
    "words": ({}, X, y),
    "columns, hinge": ({"objective": "hinge", "scheme": "BIO"}, rows(X), y),
    "template": ({"features": "U00:%s2[0,0]\n", "char_size": 0}, X, y),
    "transformer": ({"encoder": "transformer", "n_layers": 2}, X, y),
    "numbers": ({"forbidden": [(0, 1)], "validation_fraction": 0}, NUMBERS, None),
    "sparse": ({}, [csr_array(x) for x in NUMBERS], LABELS),
    "dicts": ({}, [[{"w": w} for w in x] for x in X], y),
}


def fitted(name):
    params, given, truth = CASES[name]
    if truth is None:  # labels without the forbidden pair
        truth = [[2 * (k > 1) for k in row] for row in LABELS]
    return tagger(max_iter=2, **params).fit(given, truth), given


@pytest.mark.parametrize("name", CASES)
def test_models_come_back(name, tmp_path):
    model, given = fitted(name)
    path = tmp_path / "m.safetensors"
    maxmargin.save(model, path)
    back = maxmargin.load(path)
    assert back.predict(given) == model.predict(given)
    assert np.array_equal(weights(back), weights(model))
    one, two = back.predict_marginals(given), model.predict_marginals(given)
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert back.history_ == model.history_
    assert getattr(back, "dev_", None) == getattr(model, "dev_", None)
    assert (back.device, back.n_iter_) == ("auto", 2)
    assert getattr(back, "n_features_in_", 0) == getattr(model, "n_features_in_", 0)


def test_modules_are_refused(tmp_path):
    model = tagger(max_iter=1, encoder=torch.nn.Linear(4, 3)).fit(NUMBERS, LABELS)
    with pytest.raises(
        ValueError, match=r"its encoder is code of yours \(Linear\), whic"
    ):
        maxmargin.save(model, tmp_path / "m")
    assert not (tmp_path / "m").exists()
    back = pickle.loads(pickle.dumps(model))  # which is the way out
    assert back.predict(NUMBERS) == model.predict(NUMBERS)


def changed(path, change):
    """A file with other values, and the right checksum."""
    content = model_format.read(path)
    with open(path, "rb") as file:
        head = file.read(8)
        header = json.loads(file.read(int.from_bytes(head, "little")))
    fields = json.loads(header["__metadata__"]["maxmargin"])
    arrays = dict(content.arrays)
    change(fields, arrays)
    for name in ("sha256", "format", "version", "library", "sparse"):
        fields.pop(name, None)
    path.write_bytes(model_format.pack(fields, arrays))


def shorter(fields, arrays):
    arrays["network.chain.transitions"] = arrays["network.chain.transitions"][:-1]


def infinite(fields, arrays):
    arrays["network.chain.first"][0] = np.inf


def missing(fields, arrays):
    del arrays["network.scores.weight"]


def giant(fields, arrays):
    fields["params"]["hidden_size"] = 10**9


def deep(fields, arrays):
    fields["params"]["n_layers"] = 10**9


def elsewhere(fields, arrays):
    fields["params"]["encoder"] = "/tmp/some/folder"


def labels(fields, arrays):
    fields["state"]["labels"] = fields["state"]["labels"][:-1]


def words(fields, arrays):
    fields["state"]["reader"]["vocabularies"][0].pop()


def columns(fields, arrays):
    fields["state"]["reader"]["read"] = [7]


CHANGES = [shorter, infinite, missing, giant, deep, elsewhere, labels, words, columns]


@pytest.mark.parametrize("change", CHANGES)
def test_files_are_checked(change, tmp_path):
    path = tmp_path / "m"
    maxmargin.save(tagger(max_iter=1).fit(X, y), path)
    changed(path, change)
    said = {ValueError: "Cannot load"}
    if change is elsewhere and find_spec("transformers") is None:
        said = {ImportError: "needs the package transformers"}
    ((error, words),) = said.items()
    with pytest.raises(error, match=words):
        maxmargin.load(path)


def test_without_torch(tmp_path, monkeypatch):
    path = tmp_path / "m"
    maxmargin.save(tagger(max_iter=1).fit(X, y), path)
    monkeypatch.setattr(needed, "find_spec", lambda name: None)
    for use in (lambda: tagger().fit(X, y), lambda: maxmargin.load(path)):
        with pytest.raises(
            ImportError, match=r"NeuralTagger needs PyTorch: pip install 'm"
        ):
            use()
