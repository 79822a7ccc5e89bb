"""NeuralTagger: what it learns from every kind of input, and what it says afterwards."""

import itertools
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

torch = pytest.importorskip("torch", reason="torch is not installed: make test-torch")
from neural_cases import rows, sentences, tables, tagger, weights  # noqa: E402

from maxmargin import NeuralTagger, files, scorers  # noqa: E402

X, y = sentences()
TEST = sentences(20, seed=1)


@pytest.fixture(scope="module")
def fitted():
    return tagger(scheme="BIO").fit(X, y)


@pytest.mark.parametrize("encoder", ["lstm", "transformer"])
def test_words(encoder):
    model = tagger(encoder=encoder, max_iter=12).fit(X, y)
    assert model.score(*TEST) > 0.95
    assert model.classes_.tolist() == ["B-LOC", "B-PER", "I-PER", "O"]
    assert model.dev_.measure == "span F1"
    assert len(model.history_) == model.n_iter_ <= 12
    assert set(model.history_[0]) == {
        *("iteration", "seconds", "loss", "learning_rate", "dev_score"),
    }


def test_predictions_agree_with_each_other(fitted):
    best = fitted.predict(TEST[0])
    ranked = fitted.predict_k_best(TEST[0], 3)
    assert [found[0][0] for found in ranked] == best
    assert all(
        a >= b for found in ranked for (_, a), (_, b) in itertools.pairwise(found)
    )
    tables = fitted.predict_marginals(TEST[0])
    assert [t.shape for t in tables] == [(len(x), 4) for x in TEST[0]]
    np.testing.assert_allclose(np.concatenate(tables).sum(axis=1), 1.0, atol=1e-5)
    assert fitted.predict_single(TEST[0][3]) == best[3]
    shares = fitted.predict_marginals_single(TEST[0][3])
    assert shares[0].keys() == set(fitted.classes_)
    report = fitted.evaluate(*TEST)
    assert report.f1 == scorers.span_f1(fitted, *TEST)
    assert "Ada/" in repr(fitted.show(["Ada", "works"], ["B-PER", "O"]))


def test_marginals_are_those_of_all_outputs(fitted):
    x = X[0][:3]
    k = len(fitted.classes_)
    ranked = fitted.predict_k_best([x], k**3)[0]
    total = np.logaddexp.reduce([score for _, score in ranked])
    wanted = np.zeros((3, k))
    number = {label: j for j, label in enumerate(fitted.classes_.tolist())}
    for labels, score in ranked:
        for t, label in enumerate(labels):
            wanted[t, number[label]] += np.exp(score - total)
    (found,) = fitted.predict_marginals([x])
    np.testing.assert_allclose(found, wanted, atol=1e-5)
    assert not any(
        a == "O" and b == "I-PER" for z, _ in ranked for a, b in itertools.pairwise(z)
    )


def test_batches_are_predicted_as_single_sentences_are(fitted):
    mixed = [TEST[0][0], [], TEST[0][1][:1], [], TEST[0][2] * 9]
    found = fitted.predict(mixed)
    assert found == [fitted.predict([x])[0] for x in mixed]
    assert found[1] == []
    assert fitted.predict([[], []]) == [[], []]
    assert fitted.predict_marginals([[]])[0].shape == (0, 4)
    assert fitted.predict_k_best([[]], 2) == [[([], 0.0)]]


def test_unknown_words_are_read_by_their_characters(fitted):
    assert (
        fitted.predict([["Adah", "Bobby", "lives", "in", "Roma", "."]])[0][2:4]
        == ["O"] * 2
    )


def test_columns_and_features():
    model = tagger().fit(rows(X), y)
    assert model.score(rows(TEST[0]), TEST[1]) > 0.95
    with pytest.raises(
        ValueError, match="X has 1 columns, but the model was fitted to 2"
    ):
        model.predict(TEST[0])
    template = "U00:%x[0,0]\nU01:%x[-1,0]\nU02:%s2[0,0]\n"
    read = columns_of(X)
    model = tagger(features=template, char_size=0, min_count=2).fit(read, y)
    assert model.network_.embedding.features.num_embeddings > 10
    assert model.score(columns_of(TEST[0]), TEST[1]) > 0.95
    vectors = {w: np.eye(3)[len(w) % 3] for x in X for w in x}
    model = tagger(features="words", feature_options={"dense": {0: vectors}}).fit(X, y)
    assert model.score(*TEST) > 0.95


def columns_of(X):
    return files.columns_from([[[w] for w in x] for x in X])


def test_named_columns_are_words_and_parts_of_speech():
    lines = []
    for i, x in enumerate(X[:20]):
        for t, word in enumerate(x, 1):
            tag = "NOUN" if word[0].isupper() else "X"
            lines.append(f"{t}\t{word}\t_\t{tag}\t_\t_\t{t - 1}\tdep\t_\tid={i}")
        lines.append("")
    raw = files.RawText("\n".join([*lines, ""]).encode(), "x.conllu")
    read = files.read_conllu(raw)
    read = read._replace(meaning=read.meaning._replace(tagged=3))
    model = tagger(max_iter=2, validation_fraction=0).fit(read, y[:20])
    assert [read.names[k] for k in model._reader.read] == ["FORM", "UPOS"]


def test_tables_and_bags():
    numbers, labels = tables()
    model = tagger(max_iter=15).fit(numbers, labels)
    test = tables(20, seed=1)
    assert model.n_features_in_ == 4
    assert model.score(*test) > 0.95  # the labels of every second token are context
    assert model.predict(test[0])[0] == [int(k) for k in model.predict(test[0])[0]]
    with pytest.raises(ValueError, match="the model was fitted with 4"):
        model.predict([np.zeros((2, 3))])
    sparse = tagger(max_iter=15).fit([csr_array(x.round(1)) for x in numbers], labels)
    assert sparse.score(*test) > 0.9
    dicts = [[{"w": w, "big": float(w[0].isupper())} for w in x] for x in X]
    model = tagger().fit(dicts, y)
    assert model.score(dicts, y) > 0.95
    with pytest.raises(ValueError, match="X holds words, but the model was fitted to"):
        model.predict(X)


class Window(torch.nn.Module):
    """Every token beside the one before it, within its sequence."""

    def __init__(self, size, out=16):
        super().__init__()
        self.layer = torch.nn.Linear(2 * size, out)

    def forward(self, x, lengths):
        before = torch.cat([torch.zeros_like(x[:1]), x[:-1]])
        starts = torch.tensor([0, *lengths[:-1]]).cumsum(0)
        before[starts] = 0
        return torch.relu(self.layer(torch.cat([x, before], 1)))


def test_modules_of_the_user():
    numbers, labels = tables()
    module = Window(4)
    first = module.layer.weight.detach().clone()
    model = tagger(encoder=module, max_iter=25).fit(numbers, labels)
    assert torch.equal(module.layer.weight, first)  # a copy is trained
    assert model.score(*tables(20, seed=1)) > 0.95
    assert tagger(encoder=Window, max_iter=15).fit(X, y).score(*TEST) > 0.9
    plain = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU())
    assert tagger(encoder=plain).fit(numbers, labels).score(numbers, labels) > 0.6
    for wrong, message in (
        (lambda size: 3, r"encoder\(4\) returned int"),
        (torch.nn.Flatten(0), r"the encoder returned \(8,\) for 2 tokens of 4 numbers"),
    ):
        with pytest.raises(ValueError, match=message):
            tagger(encoder=wrong).fit(numbers, labels)


def test_generators_and_arrays():
    model = tagger(max_iter=2).fit((iter(x) for x in X), iter(y))
    found = model.predict(np.array(x) for x in TEST[0])
    assert found == model.predict(TEST[0])


def test_as_scikit_learn_has_it():
    model = tagger(encoder=torch.nn.Linear(4, 3), scheme="BIO")
    copy = clone(model)
    assert copy.encoder is not model.encoder
    assert copy.get_params()["scheme"] == "BIO"
    assert NeuralTagger("transformer", "hinge").get_params()["objective"] == "hinge"
    search = GridSearchCV(
        tagger(max_iter=3), {"hidden_size": [4, 12]}, cv=2, scoring=scorers.span_f1
    )
    search.fit(X[:20], y[:20])
    assert search.best_params_["hidden_size"] in (4, 12)


def test_equal_seeds_give_equal_results():
    state = torch.get_rng_state()
    one, two = (tagger(max_iter=3, random_state=3).fit(X, y) for _ in range(2))
    assert torch.equal(torch.get_rng_state(), state)
    assert np.array_equal(weights(one), weights(two))
    other = tagger(max_iter=3, random_state=4).fit(X, y)
    assert not np.array_equal(weights(one), weights(other))


def test_importing_it_does_not_import_torch():
    code = "import sys, maxmargin; maxmargin.NeuralTagger().get_params()"
    code += "; from maxmargin import *; print('torch' in sys.modules)"
    command = [sys.executable, "-c", code]
    assert (
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
        == "False\n"
    )
