"""Rankings by query in searches and cross-validation: no query is torn apart."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maxmargin import TopKRanker, load, save, scorers

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 4))
QID = RNG.permutation(np.repeat(np.arange(12), 5))
Y = np.clip(np.round(X @ [1.0, 0.5, 0.0, 0.0] + RNG.normal(0, 0.3, 60)), 0, 3)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(qid=QID)
FOLDS = GroupKFold(3)
GRID = {"C": [0.001, 1.0]}


def by_hand(scorer=scorers.ndcg_at_10, C=1.0):
    """One fold after the other."""
    found = []
    for rest, held in FOLDS.split(X, Y, QID):
        assert not set(QID[rest]) & set(QID[held])
        model = TopKRanker(C=C).fit(X[rest], Y[rest], QID[rest])
        found.append(scorer(model, X[held], Y[held], qid=QID[held]))
    return found


def test_queries_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        given = {"qid": QID, "groups": QID}
        scorer = scorers.ndcg_at(3)
        found = cross_val_score(
            TopKRanker(C=1), X, Y, cv=FOLDS, params=given, scoring=scorer
        )
        assert found.tolist() == by_hand(scorer)
        search = GridSearchCV(TopKRanker(), GRID, cv=FOLDS, scoring=scorer)
        search.fit(X, Y, **given)
        means = search.cv_results_["mean_test_score"]
        wanted = [np.mean(by_hand(scorer, C)) for C in GRID["C"]]
        assert means == pytest.approx(wanted)
        assert scorer(search, X, Y, qid=QID) == search.score(X, Y, qid=QID)


def test_the_estimators_own_score_is_routed_too():
    with sklearn.config_context(enable_metadata_routing=True):
        given = {"qid": QID, "groups": QID}
        found = cross_val_score(TopKRanker(C=1), X, Y, cv=FOLDS, params=given)
    assert found.tolist() == by_hand()  # of loss="ndcg", k=10


def test_pipelines_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), TopKRanker(C=1))
        found = cross_validate(
            pipeline,
            X,
            Y,
            cv=FOLDS,
            params={"qid": QID, "groups": QID},
            scoring={"ndcg": scorers.ndcg_at_10, "map": scorers.mean_average_precision},
        )
    assert found["test_ndcg"].shape == (3,)
    assert np.isfinite(found["test_map"]).all()


def test_queries_are_a_column():
    found = cross_val_score(TopKRanker(C=1), FRAME, Y, cv=FOLDS, groups=QID)
    assert found.tolist() == by_hand()
    search = GridSearchCV(TopKRanker(), GRID, cv=FOLDS, scoring=scorers.ndcg_at(3))
    search.fit(FRAME, Y, groups=FRAME["qid"])
    assert search.best_estimator_.feature_names_in_.tolist() == list("abcd")


def test_a_column_of_queries_is_no_feature():
    plain = TopKRanker(C=1).fit(X, Y, QID)
    framed = TopKRanker(C=1).fit(FRAME, Y)
    assert framed.coef_.tolist() == plain.coef_.tolist()
    for rows in (FRAME, FRAME.drop(columns="qid"), FRAME.assign(qid=0)):
        assert framed.predict(rows) == pytest.approx(plain.predict(X))
    assert framed.rank(FRAME).tolist() == plain.rank(X, QID).tolist()
    assert framed.score(FRAME, Y) == plain.score(X, Y, QID)
    assert framed.evaluate(FRAME, Y) == plain.evaluate(X, Y, QID)
    assert [m.C_ for m in TopKRanker().path(FRAME, Y, [0.1, 1])] == [0.1, 1]


def test_queries_beside_the_column_take_its_place(tmp_path):
    other = FRAME.assign(qid=0)
    model = TopKRanker(C=1).fit(other, Y, QID)
    assert model.coef_.tolist() == TopKRanker(C=1).fit(X, Y, QID).coef_.tolist()
    save(model, tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    assert again.evaluate(FRAME, Y) == model.evaluate(FRAME, Y)


def test_names_of_queries_in_a_column():
    names = FRAME.assign(qid=[f"query {q}" for q in QID])
    assert TopKRanker(C=1).fit(names, Y).evaluate(names, Y).queries == 12


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FRAME.drop(columns="qid"), "qid is missing.* a column 'qid' of a DataFrame"),
        (FRAME.assign(qid=np.nan), "queries are named by whole numbers or texts"),
        (pd.concat([FRAME, FRAME[["qid"]]], axis=1), "several columns 'qid'"),
    ],
)
def test_columns_that_name_no_queries(frame, message):
    with pytest.raises(ValueError, match=message):
        TopKRanker().fit(frame, Y)


def test_places_that_are_reported():
    model = TopKRanker(k=7, C=1).fit(X, Y, QID)
    assert list(model.evaluate(X, Y, QID).ndcg) == [1, 3, 5, 7, 10]
    assert list(model.evaluate(X, Y, QID, at=[2]).precision) == [2]
    with pytest.raises(ValueError, match="k=0"):
        model.evaluate(X, Y, QID, at=[0])
