"""Held-out data in a fit: when it ends, which weights it keeps, what is proved of them."""

import pickle
import warnings

import numpy as np
import pytest
from held_out_cases import DEV, TRAIN
from report_cases import QUERIES, SEQUENCES, SPANS, cases, unfitted
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import maxmargin
from maxmargin import (
    ClassCorpus,
    MulticlassSVM,
    SequenceTagger,
    TopKRanker,
    load,
    save,
)
from maxmargin.report.facts import certificate_sentence

OTHERS = {"HMMTagger", "KernelSVM", "NeuralTagger", "PCFGParser"}  # or in their own way
TRAINED = sorted(set(cases()) - OTHERS)


def slow(**parameters) -> MulticlassSVM:
    return MulticlassSVM(C=100, tol=1e-4, solver="n-slack", **parameters)


def stopped(**parameters) -> MulticlassSVM:
    return slow(**parameters).fit(*TRAIN, dev=DEV)


def scores(model) -> dict:
    """{pass: score} of the passes that were looked at."""
    rows = model.history_
    return {r["iteration"]: r["dev_score"] for r in rows if "dev_score" in r}


@pytest.mark.parametrize("name", TRAINED)
def test_every_estimator_keeps_what_is_best_on_held_out_data(name):
    model, X, y = unfitted(name)
    more = {"qid": QUERIES} if name == "TopKRanker" else {}
    dev = (X, y, *more.values())
    model.fit(X, y, **more, dev=dev)
    found = model.dev_
    scorer = next(
        s for s in model._scorers if type(model.evaluate(*dev)).__name__ in s.reports
    )
    assert found.measure == scorer.title
    options = dict(scorer.options)
    assert found.score == scorer.value(model.evaluate(*dev, **options))
    best = min if scorer.smaller else max
    assert found.score == best(scores(model).values())
    assert scores(model)[found.iteration] == found.score
    assert model.certificate_.gap >= 0.0


def test_a_fit_that_gets_no_better_ends_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = stopped()
    seen = scores(model)
    best = model.dev_.iteration
    assert model.dev_.stopped
    assert not model.converged_
    assert seen[best] == max(seen.values()) == model.score(*DEV)
    later = [p for p in seen if p > best]
    assert len(later) >= 3
    assert max(seen[p] for p in later) < seen[best]
    assert model.n_iter_ < slow().fit(*TRAIN).n_iter_
    passes = list(seen)
    assert passes[:3] == [1, 2, 3]
    assert len(passes) < 3 + 3 * np.log2(passes[-1])


def test_the_certificate_is_that_of_the_weights_that_were_kept():
    model, (X, y) = stopped(fit_intercept=False), TRAIN
    margins = X @ model.coef_.T
    truth = np.searchsorted(model.classes_, y)
    violated = margins + (np.arange(3) != truth[:, None])
    hinges = violated.max(axis=1) - margins[np.arange(len(y)), truth]
    objective = 0.5 * (model.coef_**2).sum() + 100 * hinges.sum()
    proof = model.certificate_
    assert proof.primal == pytest.approx(objective, rel=1e-9)
    optimum = slow(fit_intercept=False).fit(*TRAIN)
    assert proof.dual <= optimum.certificate_.primal
    assert proof.relative_gap > model.tol
    assert model.history_[-1]["primal"] == proof.primal


def test_a_fit_that_only_gets_better_runs_to_its_end():
    X, y = TRAIN
    model = MulticlassSVM(C=0.01).fit(X, y, dev=(X, y))
    if model.dev_.stopped:
        assert model.certificate_.relative_gap > model.tol
    else:
        assert model.converged_
        assert model.certificate_.relative_gap <= model.tol


def test_equal_scores_keep_the_later_weights():
    X = [[-2.0], [-1.0], [1.0], [2.0]]
    model = MulticlassSVM(C=1, tol=1e-3).fit(X, list("aabb"), dev=(X, list("aabb")))
    assert set(scores(model).values()) == {1.0}
    assert model.dev_.iteration == max(scores(model))
    assert model.converged_
    assert not model.dev_.stopped


def test_steps_that_change_nothing_end_nothing():
    model = MulticlassSVM(C=100, tol=1e-4, solver="proximal-bundle")
    seen = scores(model.fit(*TRAIN, dev=DEV))
    assert len({seen[p] for p in (1, 2, 3, 5)}) == 1
    assert model.dev_.score > seen[1] + 0.1


def test_baselines_are_judged_by_their_last_weights():
    model = SequenceTagger(objective="perceptron").fit(*_tags(0), dev=_tags(1))
    assert len(set(scores(model).values())) > 2
    # the objective is that of the hinge, which a perceptron does not minimise
    assert model.certificate_.primal > min(row["primal"] for row in model.history_)
    assert model.dev_.score == model.score(*_tags(1))


def _tags(seed: int):
    rng = np.random.default_rng(seed)
    y = [rng.integers(0, 3, 6).tolist() for _ in range(30)]
    return [np.eye(3)[row] + rng.normal(0, 0.7, (6, 3)) for row in y], y


def test_what_is_not_known_in_training_may_be_completed():
    (X, y), dev = _tags(0), _tags(1)
    y = [[None, *row[1:]] for row in y]
    model = SequenceTagger(C=10).fit(X, y, dev=dev)
    assert scores(model)[model.dev_.iteration] == model.score(*dev) == model.dev_.score
    assert model.certificate_.objective > 0


def test_of_several_starts_the_best_on_held_out_data_is_kept():
    params, X, y = cases()["LatentStructuralSVM"]
    model = maxmargin.LatentStructuralSVM(**params, n_restarts=3, random_state=0)
    model.fit(X[:8], y[:8], dev=(X[8:], y[8:]))
    assert len(model.restarts_) == 3
    found = [h for _, h in model.predict_latent(X[:8])]
    assert model.dev_.score == -model.score(X[8:], y[8:])
    assert [a for a, b in zip(model.completions_, found, strict=True) if a == b]


def test_queries_come_with_the_documents_or_in_a_table():
    pandas = pytest.importorskip("pandas")
    _, X, y = cases()["TopKRanker"]
    plain = TopKRanker(C=10).fit(X, y, QUERIES, dev=(X, y, QUERIES))
    table = pandas.DataFrame(X, columns=list("abc")).assign(qid=QUERIES)
    other = TopKRanker(C=10).fit(table, y, dev=(table, y))
    assert plain.dev_ == other.dev_
    np.testing.assert_array_equal(plain.coef_, other.coef_)


def test_ctrl_c_keeps_the_best_weights_so_far():
    found = []

    def press(row):
        found.extend([row["dev_score"]] if "dev_score" in row else [])
        if found[-1] < max(found):
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted"):
        model = slow(callbacks=[press]).fit(*TRAIN, dev=DEV)
    seen = scores(model)
    assert model.dev_.score == max(seen.values()) == model.score(*DEV)
    assert model.dev_.iteration < max(seen)


def test_callbacks_and_lines_say_the_score(capsys):
    rows = []
    model = stopped(callbacks=[rows.append], verbose=1)
    assert {r["iteration"]: r["dev_score"] for r in rows if "dev_score" in r} == scores(
        model
    )
    assert f"dev {model.dev_.score:.4g}" in capsys.readouterr().err


def test_searches_of_scikit_learn_hand_it_on():
    search = GridSearchCV(MulticlassSVM(tol=1e-3), {"C": [1, 100]}, cv=2)
    search.fit(*TRAIN, dev=DEV)
    best = search.best_estimator_
    assert best.dev_.score == best.score(*DEV)


def test_it_is_that_of_the_last_fit_and_kept_in_files(tmp_path):
    model = stopped()
    save(model, tmp_path / "m.safetensors")
    assert load(tmp_path / "m.safetensors").dev_ == model.dev_
    assert pickle.loads(pickle.dumps(model)).dev_ == model.dev_
    assert not hasattr(clone(model), "dev_")
    assert not hasattr(model.set_params(C=1, tol=0.1).fit(*TRAIN), "dev_")


X, Y = DEV
HOSTILE = {
    "no pair": (X, "dev is of type ndarray.*dev=\\(X_dev, y_dev\\)"),
    "three": ((X, Y, Y), "dev is of type tuple with 3 values"),
    "lengths": ((X, Y[:-1]), "dev cannot be used: .*(149|150)"),
    "empty": ((X[:0], Y[:0]), "dev is empty"),
    "no truth": ((X, None), "there are no true outputs"),
    "a truth that is not known": ((X, [None, *Y[1:]]), "None at 0"),
    "NaN as a truth": ((X, [np.nan, *Y[1:]]), "nan at 0"),
    "NaN in an array": ((X, np.full(len(Y), np.nan)), "nan at 0"),
    "other labels": (
        (X, Y.astype(str)),
        "dev cannot be used: 150 of 150 .* knows 0, 1, 2",
    ),
    "the same in an array": ((X, np.array([None, *Y[1:]], object)), "None at 0"),
    "a generator": (((x for x in X), Y), r"X of dev \(generator\)"),
    "a map": ((X, map(int, Y)), r"y of dev \(map\)"),
    "other columns": ((X[:, :5], Y), "dev cannot be used: .*5"),
    "nan": ((np.full_like(X, np.nan), Y), "dev cannot be used: .*NaN"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_looked_at_is_refused_and_changes_nothing(name):
    dev, sentence = HOSTILE[name]
    model = MulticlassSVM(C=1)
    with pytest.raises(ValueError, match=f"(?s){sentence}"):
        model.fit(*TRAIN, dev=dev)
    assert not hasattr(model, "coef_")


def test_classes_that_training_has_not_seen_count_as_errors():
    model = MulticlassSVM(C=1).fit(*TRAIN, dev=(X, np.where(Y == 0, 7, Y)))
    assert 0 < model.dev_.score < (Y != 0).mean()


@pytest.mark.parametrize("Cs", [None, [0.1, 1]])
@pytest.mark.parametrize(
    ("name", "y", "sentence"),
    [
        ("SequenceTagger", [[1, 2, 3], [1, 2, 3], [1, 2]] * 2, "16 of 16 labels"),
        ("GraphLabeler", [[None] * 4] * 2, "y has no known label"),
        ("GraphLabeler", [["a", "c", "c", "c"], [None, "c", "a", "a"]], "4 of 7 .*'c'"),
    ],
)
def test_labels_that_are_those_of_something_else_are_refused(name, y, sentence, Cs):
    model, X, truth = unfitted(name)
    with pytest.raises(ValueError, match=f"dev cannot be used: {sentence}"):
        model.fit(X, truth, dev=(X, y), Cs=Cs)


def test_what_is_true_of_all_looks_is_said_once():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(TRAIN[0], columns=list("abcdefghijkl"))
    for Cs in (None, [0.1, 1]):
        with pytest.warns(UserWarning, match="valid feature names") as said:
            MulticlassSVM().fit(table, TRAIN[1], dev=DEV, Cs=Cs)
        assert len(said) == 1


def test_labels_that_are_not_known_say_nothing_of_a_model():
    rows = [[None, *row[1:]] for row in SPANS]
    with pytest.raises(ValueError, match=r"dev cannot be used: y\[0\] has None"):
        SequenceTagger().fit(SEQUENCES, SPANS, dev=(SEQUENCES, rows))
    with pytest.raises(ValueError, match=r"y\[0\] has None"):
        SequenceTagger().fit(SEQUENCES, SPANS).calibrate(SEQUENCES, rows)


def test_what_cannot_be_combined_is_refused(tmp_path):
    with pytest.raises(ValueError, match="checkpoint"):
        stopped(checkpoint=str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()
    with pytest.raises(ValueError, match="hard margin"):
        MulticlassSVM(C=np.inf).fit(*TRAIN, dev=DEV)
    with pytest.raises(ValueError, match="Cs beside dev"):
        maxmargin.KernelSVM().fit(*TRAIN, dev=DEV)
    rows = [[None, *row[1:]] for row in SPANS]
    with pytest.raises(ValueError, match="in turns"):
        SequenceTagger(objective="marginal").fit(
            SEQUENCES, rows, dev=(SEQUENCES, SPANS)
        )


def test_held_out_data_are_read_before_they_are_combined(tmp_path):
    model = MulticlassSVM(checkpoint=tmp_path)
    with pytest.raises(ValueError, match=r"dev=\(X_dev, y_dev\)"):
        model.fit(*TRAIN, dev=3)


def test_shards_stop_early_too(home):
    model = SequenceTagger(C=1, tol=1e-3, engine="dask").fit(*_tags(0), dev=_tags(1))
    assert len(home.executors) == 1
    assert scores(model)[model.dev_.iteration] == model.dev_.score
    assert model.dev_.score == max(scores(model).values())
    # what is proved of these weights, computed by one process
    alone = SequenceTagger(C=1, tol=1e-3).fit(*_tags(0))
    assert model.certificate_.primal >= alone.certificate_.dual
    assert model.certificate_.dual <= alone.certificate_.primal * (1 + 1e-6)


def test_corpora_on_disk_stop_early_too(tmp_path):
    def corpus(name, X, y):
        lines = [
            f"{label + 1} " + " ".join(f"{j + 1}:{v:.4f}" for j, v in enumerate(x))
            for x, label in zip(X, y, strict=True)
        ]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return ClassCorpus.build(tmp_path / f"{name}-corpus", tmp_path / name)

    train, dev = corpus("train", *TRAIN), corpus("dev", *DEV)
    model = MulticlassSVM(C=1, tol=1e-3).fit(train, dev=dev)
    assert model.dev_.score == model.score(dev) == max(scores(model).values())
    assert model.certificate_.gap >= 0


def test_reports_say_that_training_stopped():
    model = stopped()
    said = certificate_sentence(model)
    assert f"those of pass {model.dev_.iteration}, with the best accuracy" in said
    assert "held-out" not in certificate_sentence(slow().fit(*TRAIN))
