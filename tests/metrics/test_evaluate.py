"""Every public estimator evaluates itself, and its command does so by the same method."""

import importlib
from types import SimpleNamespace

import numpy as np
import pytest
from report_cases import DNA, SPANS, cases, fitted
from sklearn.base import BaseEstimator

import maxmargin
from maxmargin import metrics, scorers
from maxmargin.cli.command import Sample
from maxmargin.cli.structure import OwnStructure
from maxmargin.families import places

REPORTS = {
    "DependencyParser": "DependencyReport",
    "GrammarParser": "BracketReport",
    "GraphLabeler": "GraphReport",
    "HMMTagger": "SpanReport",
    "HomologFinder": "HomologReport",
    "KernelSVM": "ClassReport",
    "LatentStructuralSVM": "LossReport",
    "LinkClusterer": "ClusterReport",
    "MotifFinder": "MotifReport",
    "MulticlassSVM": "ClassReport",
    "MultilabelSVM": "MultilabelReport",
    "NeuralTagger": "SpanReport",
    "PCFGParser": "BracketReport",
    "SequenceAligner": "AlignmentReport",
    "SequenceTagger": "SpanReport",
    "StructuralSVM": "LossReport",
    "TaxonomySVM": "TaxonomyReport",
    "TopKRanker": "RankingReport",
    "WordAligner": "AlignmentScores",
}
# the number of the report that score() is
SCORES = {
    "DependencyParser": "las",
    "GrammarParser": "f1",
    "GraphLabeler": "accuracy",
    "HMMTagger": "token_accuracy",
    "HomologFinder": "found",
    "KernelSVM": "accuracy",
    "LinkClusterer": "conll",
    "MotifFinder": "accuracy",
    "MulticlassSVM": "accuracy",
    "MultilabelSVM": "f1",
    "NeuralTagger": "token_accuracy",
    "PCFGParser": "f1",
    "SequenceTagger": "token_accuracy",
    "TaxonomySVM": "accuracy",
}
MISSING = {"HomologFinder"}  # ties are told from scores alone


def test_every_public_estimator_is_here():
    public = [getattr(maxmargin, name) for name in maxmargin._WHERE]
    classes = [thing for thing in public if isinstance(thing, type)]
    found = {c.__name__ for c in classes if issubclass(c, BaseEstimator)}
    assert found == set(REPORTS) == set(cases())


@pytest.mark.parametrize("name", REPORTS)
def test_estimators_evaluate_themselves(name):
    model, X, y, more = fitted(name)
    report = model.evaluate(X, y, **more)
    assert type(report).__name__ == REPORTS[name]
    assert type(report) is getattr(metrics, REPORTS[name])
    if name in SCORES:
        assert getattr(report, SCORES[name]) == pytest.approx(model.score(X, y, **more))


@pytest.mark.parametrize("name", sorted({*REPORTS} - MISSING))
def test_predictions_that_are_known_are_not_made_again(name, monkeypatch):
    model, X, y, more = fitted(name)
    wanted = model.evaluate(X, y, **more)
    ask = "predict_latent" if name == "LatentStructuralSVM" else "predict"
    found = getattr(model, ask)(X)
    for method in ("predict", "predict_latent", "decision_function", "_trees"):
        if hasattr(model, method):
            monkeypatch.setattr(type(model), method, None)
    report = model.evaluate(X, y, predicted=found, **more)
    if name == "MultilabelSVM":
        assert report.ranking is None
        assert report.as_dict() == wanted.as_dict() | {"ranking": None}
    else:
        assert str(report) == str(wanted)
        assert report.as_dict() == wanted.as_dict()


@pytest.mark.parametrize("name", REPORTS)
def test_lengths_that_differ_and_nothing_are_refused(name):
    model, X, y, more = fitted(name)
    short = {key: value[:-1] for key, value in more.items()}
    for wrong in ((X, y[:-1]), (X[:-1], y), ([], [])):
        with pytest.raises((ValueError, TypeError)) as caught:
            model.evaluate(*wrong, **(short if more else {}))
        assert len(str(caught.value)) > 20
    if name not in MISSING:
        found = list(model.predict(X))[:-1]
        if name == "LatentStructuralSVM":
            found = model.predict_latent(X)[:-1]
        with pytest.raises(ValueError, match=r"\d.*\.$|shapes"):  # a sentence of ours
            model.evaluate(X, y, predicted=found, **more)


@pytest.mark.parametrize("name", REPORTS)
def test_evaluating_takes_a_fitted_model(name):
    params, X, y = cases()[name]
    more = fitted(name)[3]
    with pytest.raises(Exception, match=r"not fitted|no attribute 'classes_'"):
        getattr(maxmargin, name)(**params).evaluate(X, y, **more)


def test_labels_that_training_has_not_seen():
    tagger, X, y, _ = fitted("SequenceTagger")
    other = [["B-LOC"] * len(row) for row in y]
    assert tagger.evaluate(X, other).recall == 0.0
    classes, X, y, _ = fitted("MulticlassSVM")
    report = classes.evaluate(X, ["new"] * len(y))
    assert report.accuracy == 0.0
    assert "new" in report.to_frame().index
    motif = fitted("MotifFinder")[0]
    with pytest.raises(
        ValueError, match="'maybe', but training has seen 'no' and 'yes'"
    ):
        motif.evaluate(DNA, ["maybe"] * 6)
    sets, X, *_ = fitted("MultilabelSVM")
    with pytest.raises(ValueError, match="'fog', which the training data do not"):
        sets.evaluate(X, [{"fog"}] * 4)


@pytest.mark.parametrize("name", ["KernelSVM", "MulticlassSVM", "TaxonomySVM"])
def test_rows_and_classes_may_come_one_by_one(name):
    model, X, y, _ = fitted(name)
    expected = model.evaluate(X, y)
    assert model.evaluate(iter(X), iter(y)) == expected
    assert model.evaluate(X, y, predicted=iter(model.predict(X))) == expected
    assert model.score(iter(X), y) == model.score(X, y)


def test_schemes_of_tags():
    model, X, y, _ = fitted("SequenceTagger")
    assert isinstance(model.evaluate(X, y, scheme=None), metrics.TokenReport)
    with pytest.raises(ValueError, match="scheme"):
        model.evaluate(X, y, scheme="nonsense")


def test_families_and_shifts_of_alignments():
    model, X, y, _ = fitted("SequenceAligner")
    report = model.evaluate(X, y, families=["a", "b"], shift=1)
    assert set(report.families) == {"a", "b"}
    assert report.shift == 1
    with pytest.raises(ValueError, match="2 references, but 1 families"):
        model.evaluate(X, y, families=["a"])
    core = [{"pairs": [(0, 0), (1, 1)], "core": [False, True]}, []]
    found = [[(1, 1)], []]
    assert model.evaluate(X, core, predicted=found).overall.q.mean == 1.0


def test_weights_of_motifs():
    model, X, y, _ = fitted("MotifFinder")
    wrong = [*y[:-1], "yes"]
    assert model.evaluate(X, wrong).accuracy == pytest.approx(5 / 6)
    assert model.evaluate(X, wrong, [1] * 5 + [0]).accuracy == 1.0
    report = model.evaluate(X, wrong, [1] * 5 + [3])
    assert report.recall == pytest.approx(0.5)
    assert report.f1 == pytest.approx(2 / 3)


def test_homologs_that_tie():
    report = metrics.HomologReport(1, 2, 0.5, 0.75)
    finder = fitted("HomologFinder")[0]
    twice = [("ACDEF", ["ACDEF", "ACDEF"])]
    assert finder.evaluate(twice, [0]) == report
    assert "50.00 %" in str(report)


# commands --------------------------------------------------------------------------------

RUNS = [f"maxmargin.{m.split('.')[1]}.run" for m in places("commands").values()]


class Model:
    """Remembers how it was asked."""

    classes_ = np.array(["a", "b"])
    k, loss = 10, "ndcg"

    def __init__(self, report):
        self.report, self.asked = report, []

    def evaluate(self, X, y, *more, **options):
        self.asked.append((X, y, options))
        return self.report


@pytest.mark.parametrize("module", RUNS)
def test_commands_evaluate_by_the_method(module):
    run = importlib.import_module(module).RUN()
    model, sample = Model("the report"), Sample([[0.0]], [["a"]], "file", more="more")
    outputs = [SimpleNamespace(score=1.0)] if "motifs" in module else [["a"]]
    assert run.report(model, sample, outputs) == "the report"
    assert len(model.asked) == 1


def test_structures_of_ones_own_are_evaluated_by_the_method():
    model, X, y, _ = fitted("StructuralSVM")
    sample = Sample(X, y, "file")
    found = model.predict(X)
    run = OwnStructure()
    assert run.report(model, sample, found) == model.evaluate(X, y)
    assert run.measures(model, sample, found) == {"100 loss": 0.0, "right": 1.0}


@pytest.mark.parametrize("module", RUNS)
def test_what_is_chosen_by_is_a_scorer_with_the_same_direction(module):
    run = importlib.import_module(module).RUN
    for scorer in run.scorers:
        assert scorers.get(scorer.name) == scorer
    assert [s.smaller for s in run.scorers[:1]] in ([], [run.smaller])


def test_measures_of_tags():
    run = importlib.import_module("maxmargin.tags.run").RUN()
    model, X, y, _ = fitted("SequenceTagger")
    wrong = [["O"] * len(row) for row in y]
    found = run.measures(model, Sample(X, y, "file"), wrong)
    assert found == {"span F1": 0.0, "accuracy": 8 / 16}
    assert sum(label == "O" for row in SPANS for label in row) == 8


def test_measures_of_sets_are_those_of_the_outputs():
    """Also where a fold's model is another: outputs count, and labels that are new."""
    run = importlib.import_module("maxmargin.multilabel.run").RUN()
    model, X, y, _ = fitted("MultilabelSVM")
    truth = [*y[:3], {"fog"}]
    found = run.measures(model, Sample(X, truth, "file"), [()] * 4)
    assert found == {"F1": 0.0, "Hamming loss": 6 / 16}
    found = run.measures(model, Sample(X, [{"sea"}] * 4, "file"), [()] * 4)
    assert found["Hamming loss"] == pytest.approx(1 / 3)  # of all labels of the model
