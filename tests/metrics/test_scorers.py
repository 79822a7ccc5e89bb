"""Scorers: one number of a report, in searches, pipelines and by name."""

import pickle

import numpy as np
import pytest
import sklearn
from report_cases import QUERIES, SEQUENCES, SPANS, VECTORS, cases, fitted, unfitted
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import SequenceTagger, metrics, scorers
from maxmargin.families import places
from maxmargin.metrics.scorer import Scorer

# scorers of a report, and where in it their numbers are
READ = {
    "AlignmentReport": {
        "alignment_q": lambda r: r.overall.q.mean,
        "alignment_q4": lambda r: r.overall.q_shift.mean,
        "alignment_precision": lambda r: r.overall.f_m.mean,
    },
    "AlignmentScores": {
        "aer": lambda r: r.aer,
        "link_precision": lambda r: r.precision,
        "link_recall": lambda r: r.recall,
    },
    "BracketReport": {
        "bracket_f1": lambda r: r.f1,
        "bracket_precision": lambda r: r.precision,
        "bracket_recall": lambda r: r.recall,
        "tagging_accuracy": lambda r: r.tagging_accuracy,
        "tree_exact_match": lambda r: r.exact_match,
    },
    "ClassReport": {
        "accuracy": lambda r: r.accuracy,
        "macro_f1": lambda r: r.macro_f1,
    },
    "ClusterReport": {
        "b_cubed_f1": lambda r: r.b_cubed.f1,
        "ceaf_e_f1": lambda r: r.ceaf_e.f1,
        "conll_f1": lambda r: r.conll,
        "mitre_loss": lambda r: r.mitre_loss,
        "muc_f1": lambda r: r.muc.f1,
        "pair_loss": lambda r: r.pair_loss,
    },
    "DependencyReport": {
        "attachment_score": lambda r: r.uas,
        "labelled_attachment_score": lambda r: r.las,
        "plain_attachment_score": lambda r: r.plain_uas,
    },
    "GraphReport": {
        "graph_accuracy": lambda r: r.graph_accuracy,
        "mean_iou": lambda r: r.mean_iou,
        "node_accuracy": lambda r: r.accuracy,
    },
    "HomologReport": {
        "homolog_rank": lambda r: r.mean_reciprocal_rank,
        "homologs_found": lambda r: r.found,
    },
    "LossReport": {"loss": lambda r: r.loss},
    "MotifReport": {
        "motif_accuracy": lambda r: r.accuracy,
        "motif_f1": lambda r: r.f1,
        "motif_precision": lambda r: r.precision,
        "motif_recall": lambda r: r.recall,
    },
    "MultilabelReport": {
        "hamming_loss": lambda r: r.hamming,
        "jaccard": lambda r: r.jaccard,
        "macro_f1": lambda r: r.macro_f1,
        "micro_f1": lambda r: r.micro_f1,
        "ranking_loss": lambda r: r.ranking,
        "sample_f1": lambda r: r.f1,
        "subset_accuracy": lambda r: r.subset,
    },
    "RankingReport": {
        "mean_average_precision": lambda r: r.mean_average_precision,
        "mean_reciprocal_rank": lambda r: r.mean_reciprocal_rank,
        "ndcg_at_10": lambda r: r.ndcg[10],
        "precision_at_10": lambda r: r.precision[10],
    },
    "SpanReport": {
        "sequence_accuracy": lambda r: r.tokens.sequence_accuracy,
        "span_f1": lambda r: r.f1,
        "span_precision": lambda r: r.precision,
        "span_recall": lambda r: r.recall,
        "token_accuracy": lambda r: r.tokens.token_accuracy,
    },
    "TaxonomyReport": {
        "accuracy": lambda r: r.accuracy,
        "macro_f1": lambda r: r.macro_f1,
        "tree_distance": lambda r: r.tree_distance,
        "tree_loss": lambda r: r.tree_height,
    },
}
SMALLER = {
    "aer",
    "hamming_loss",
    "loss",
    "mitre_loss",
    "pair_loss",
    "ranking_loss",
    "tree_distance",
    "tree_loss",
}


def test_all_scorers_are_here():
    assert {name for found in READ.values() for name in found} == set(scorers.names())
    assert {n for n in scorers.names() if scorers.get(n).smaller} == SMALLER
    assert set(places("scorers")) <= set(dir(scorers))


@pytest.mark.parametrize("name", cases())
def test_scorers_are_numbers_of_the_report(name):
    model, X, y, more = fitted(name)
    # an order that is not the true one, so that no number is 0 or 1 for all
    y = list(reversed(y)) if name not in ("SequenceAligner", "WordAligner") else y
    own = ("DependencyParser", "GrammarParser", "PCFGParser", "HomologFinder")
    if name in (*own, "LinkClusterer"):
        y = cases()[name][2]
    if name in ("HMMTagger", "NeuralTagger", "SequenceTagger", "StructuralSVM"):
        y = [[row[0]] * len(row) for row in cases()[name][2]]
    report = model.evaluate(X, y, **more)
    for scorer, read in READ[type(report).__name__].items():
        scorer = scorers.get(scorer)
        wanted = -read(report) if scorer.smaller else read(report)
        assert scorer(model, X, y, **more) == wanted
        assert scorer.value(report) == read(report)


def test_names():
    assert scorers.get("span_f1") is scorers.span_f1
    assert scorers.get("ndcg_at_3") == scorers.ndcg_at(3) != scorers.ndcg_at(4)
    assert scorers.get("precision_at_1").title == "P@1"
    assert all(scorers.get(name).name == name for name in scorers.names())
    listed = scorers.table().splitlines()
    assert [line.split()[0] for line in listed] == scorers.names()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("f1", "there is no scorer 'f1'; there are .*bracket_f1"),
        ("nonsense", "there is no scorer 'nonsense'; there are accuracy, aer"),
        ("Scorer", "no scorer"),
        ("ndcg_at", "no scorer"),
        ("ndcg_at_0", "k=0"),
        (None, "None is no name"),
        (scorers.span_f1, "no name of a scorer"),
    ],
)
def test_names_that_are_none(name, message):
    with pytest.raises(ValueError, match=message):
        scorers.get(name)


@pytest.mark.parametrize("name", [*scorers.names(), "ndcg_at_3"])
def test_scorers_are_values(name):
    scorer = scorers.get(name)
    again = pickle.loads(pickle.dumps(scorer))
    assert again == scorer
    assert hash(again) == hash(scorer)
    assert repr(scorer).startswith(f"<scorer {name}")
    assert clone(scorer, safe=False) == scorer


def test_scorers_of_another_family():
    model, X, y, _ = fitted("SequenceTagger")
    with pytest.raises(ValueError, match="aer is a number of AlignmentScores, but"):
        scorers.Scorer(**{**vars(scorers.aer), "options": {}})(model, X, y)
    with pytest.raises(ValueError, match="made a SpanReport: choose"):
        scorers.bracket_f1(model, X, y)
    tags = [["D", "N", "V"], ["N", "V"]]
    words = [[["the"], ["dog"], ["barks"]], [["dogs"], ["bark"]]]
    tagger = SequenceTagger(C=10).fit(words, tags)
    with pytest.raises(ValueError, match=r"span_f1 .* made a TokenReport"):
        scorers.span_f1(tagger, words, tags)
    assert scorers.token_accuracy(tagger, words, tags) == 1.0
    with pytest.raises(TypeError, match="DummyClassifier has no evaluate"):
        scorers.accuracy(DummyClassifier().fit(VECTORS, QUERIES), VECTORS, QUERIES)


def test_options_of_scorers():
    model, X, *_ = fitted("SequenceAligner")
    near = scorers.alignment_q4.with_options(shift=0, predicted=[[(1, 0)], [(0, 0)]])
    assert scorers.alignment_q4.options == {"shift": 4}
    assert near.options["shift"] == 0
    truth = [[(0, 0)], [(0, 0)]]
    assert near(model, X, truth) == 0.5
    assert near.with_options(shift=1)(model, X, truth) == 1.0


def test_searches_choose_by_scorers():
    X, y = SEQUENCES, SPANS
    grid = {"C": [1e-6, 10.0]}
    search = GridSearchCV(SequenceTagger(), grid, scoring=scorers.span_f1, cv=2).fit(
        X, y
    )
    assert search.best_params_ == {"C": 10.0}
    by_hand = [SequenceTagger(C=1e-6).fit(X[a:b], y[a:b]) for a, b in ((3, 6), (0, 3))]
    held = (X[:3], y[:3]), (X[3:], y[3:])
    wanted = [m.evaluate(*pair).f1 for m, pair in zip(by_hand, held, strict=True)]
    assert search.cv_results_["mean_test_score"].tolist() == [np.mean(wanted), 1.0]
    assert scorers.span_f1(search, X, y) == search.score(X, y) == 1.0


def test_several_scorers_at_once():
    model, X, y = unfitted("MulticlassSVM")
    several = {name: scorers.get(name) for name in ("accuracy", "macro_f1")}
    found = cross_validate(model, X, y, cv=4, scoring=several)
    assert found["test_accuracy"].shape == (4,)
    assert (found["test_accuracy"] == cross_val_score(model, X, y, cv=4)).all()
    assert (found["test_macro_f1"] <= 1.0).all()


def test_pipelines_and_searches_inside_of_them():
    model, X, y = unfitted("MulticlassSVM")
    X = X * [1.0, 100.0, 1.0]
    pipeline = make_pipeline(StandardScaler(), model)
    by_class = cross_val_score(pipeline, X, y, cv=4)
    assert (
        cross_val_score(pipeline, X, y, cv=4, scoring=scorers.accuracy) == by_class
    ).all()
    search = GridSearchCV(model, {"C": [1.0]}, scoring=scorers.accuracy, cv=2)
    nested = make_pipeline(StandardScaler(), search).fit(X, y)
    assert scorers.accuracy(nested, X, y) == (nested.predict(X) == y).mean()
    outer = GridSearchCV(pipeline, {"multiclasssvm__C": [0.1, 1]}, cv=2).fit(X, y)
    assert scorers.accuracy(outer, X, y) == (outer.predict(X) == y).mean()
    alone = make_pipeline(clone(model)).fit(X, y)
    assert scorers.accuracy(alone, X, y) == (alone.predict(X) == y).mean()


@pytest.mark.parametrize("name", ["GrammarParser", "StructuralSVM", "MotifFinder"])
def test_searches_of_other_families(name):
    model, X, y = unfitted(name)
    scorer = {
        "GrammarParser": scorers.bracket_f1,
        "StructuralSVM": scorers.loss,
        "MotifFinder": scorers.motif_accuracy,
    }[name]
    X, y = list(X) * 2, list(y) * 2  # no fold without one of the kinds
    found = cross_val_score(model, X, y, cv=2, scoring=scorer)
    assert found.shape == (2,)
    assert np.isfinite(found).all()


def test_a_scorer_is_found_to_ask_for_metadata():
    request = scorers.ndcg_at_10.get_metadata_routing()
    assert request.score.requests == {"qid": True}
    assert scorers.span_f1.get_metadata_routing().score.requests == {}
    with sklearn.config_context(enable_metadata_routing=True):
        found = cross_val_score(
            *unfitted("MulticlassSVM"), scoring=scorers.accuracy, cv=2
        )
    assert found.shape == (2,)


def test_numbers_of_a_report_that_somebody_made():
    report = metrics.span_scores([["B-X"]], [["O"]])
    assert scorers.span_recall.value(report) == 0.0
    own = Scorer("vp", "VP", "types.X.recall", ("SpanReport",))
    with pytest.raises(ValueError, match="invalid literal"):
        own.value(report)
