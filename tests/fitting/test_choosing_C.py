"""C chosen by held-out data: the best of a path, as the command line chooses it."""

import numpy as np
import pytest
from held_out_cases import DEV, TRAIN
from report_cases import QUERIES, cases
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from watch_cases import Classes, listed_blobs

from maxmargin import (
    KernelSVM,
    MulticlassSVM,
    StructuralSVM,
    TopKRanker,
    load,
    save,
)

CS = [10, 0.001, 0.1]


def test_the_best_of_the_path_is_kept():
    model = MulticlassSVM(C=3).fit(*TRAIN, dev=DEV, Cs=CS)
    path = sorted(MulticlassSVM().path(*TRAIN, CS), key=lambda one: one.C)
    scores = [one.score(*DEV) for one in path]
    best = path[int(np.argmax(scores))]
    assert [(row.C, row.measures["accuracy"]) for row in model.choice_] == [
        (one.C, score) for one, score in zip(path, scores, strict=True)
    ]
    assert model.C == 3
    assert model.C_ == best.C
    np.testing.assert_array_equal(model.coef_, best.coef_)
    assert model.certificate_ == best.certificate_
    assert model.converged_
    assert model.dev_.score == max(scores)
    assert not model.dev_.stopped


def test_of_equal_scores_the_smallest_C_is_chosen():
    X = [[-2.0], [-1.0], [1.0], [2.0]]
    model = MulticlassSVM().fit(X, list("aabb"), dev=(X, list("aabb")), Cs=[5, 1, 2])
    assert model.C_ == 1


def test_other_estimators_choose_too():
    _, X, y = cases()["TopKRanker"]
    ranker = TopKRanker().fit(X, y, QUERIES, dev=(X, y, QUERIES), Cs=[0.1, 1])
    assert [row.C for row in ranker.choice_] == [0.1, 1]
    machine = KernelSVM(n_components=5).fit(*TRAIN, dev=DEV, Cs=[0.1, 1])
    assert machine.dev_.score == machine.score(*DEV)
    assert (
        machine.C_ == max(machine.choice_, key=lambda row: row.measures["accuracy"]).C
    )


def test_the_smallest_loss_is_the_best():
    X, y = listed_blobs()
    model = StructuralSVM(Classes())
    model.fit(X[:15], y[:15], dev=(X[15:], y[15:]), Cs=[1e-4, 0.1, 100])
    losses = {row.C: row.measures["loss"] for row in model.choice_}
    assert losses[model.C_] == min(losses.values()) < max(losses.values())
    assert model.dev_.score == -model.score(X[15:], y[15:])
    assert model.dev_.smaller


def test_nothing_of_the_fit_before_is_left():
    model = MulticlassSVM().fit(*TRAIN).calibrate(*DEV)
    model.fit(*TRAIN, dev=DEV, Cs=CS)
    assert not hasattr(model, "calibration_")


def test_what_others_have_put_there_stays():
    model = MulticlassSVM()
    model.note = "mine"
    assert model.fit(*TRAIN, dev=DEV, Cs=CS).note == "mine"


def test_names_of_columns_do_not_outlive_a_table():
    pandas = pytest.importorskip("pandas")
    X, y = TRAIN
    for more in ({}, {"dev": DEV, "Cs": CS}):
        model = MulticlassSVM().fit(
            pandas.DataFrame(X, columns=list("abcdefghijkl")), y
        )
        assert hasattr(model, "feature_names_in_")
        assert not hasattr(model.fit(X, y, **more), "feature_names_in_")


def test_searches_and_pipelines_of_scikit_learn_hand_it_on():
    search = GridSearchCV(
        MulticlassSVM(), {"tol": [0.1, 0.01]}, cv=2, error_score="raise"
    )
    search.fit(*TRAIN, dev=DEV, Cs=CS)
    assert len(search.best_estimator_.choice_) == 3
    pipeline = make_pipeline(StandardScaler(), MulticlassSVM())
    pipeline.fit(*TRAIN, multiclasssvm__dev=DEV, multiclasssvm__Cs=CS)
    assert len(pipeline[-1].choice_) == 3


def test_held_out_data_are_tried_before_training():
    rows = []
    model = MulticlassSVM(callbacks=[rows.append])
    with pytest.raises(ValueError, match=r"dev cannot be used: .*5"):
        model.fit(*TRAIN, dev=(DEV[0][:, :5], DEV[1]), Cs=CS)
    assert not rows
    with pytest.raises(ValueError, match="dev cannot be used: 150 of 150"):
        KernelSVM(n_components=5).fit(*TRAIN, dev=(DEV[0], DEV[1] + 9), Cs=CS)


def test_scores_that_are_all_zero_are_no_choice():
    _, X, y = cases()["TopKRanker"]
    with pytest.warns(UserWarning, match="is 0 with every C.*C=0.1, the smallest"):
        TopKRanker().fit(X, y, QUERIES, dev=(X, [0] * len(y), QUERIES), Cs=[0.1, 1])


def test_another_fit_leaves_nothing_of_it(tmp_path):
    model = MulticlassSVM().fit(*TRAIN, dev=DEV, Cs=CS)
    save(model, tmp_path / "m.safetensors")
    loaded = load(tmp_path / "m.safetensors")
    assert (loaded.C_, loaded.dev_) == (model.C_, model.dev_)
    assert not hasattr(clone(model), "choice_")
    model.fit(*TRAIN)
    assert not hasattr(model, "choice_")
    assert not hasattr(model, "dev_")


@pytest.mark.parametrize(
    ("Cs", "dev", "sentence"),
    [
        (CS, None, "Cs needs held-out data"),
        ([], DEV, "Cs is empty"),
        (1.0, DEV, "give a list of values"),
        ([1, -1], DEV, "C=-1 is not possible"),
        (CS, (DEV[0], None), "there are no true outputs"),
    ],
)
def test_what_cannot_be_chosen_from_is_refused(Cs, dev, sentence):
    model = MulticlassSVM()
    with pytest.raises(ValueError, match=sentence):
        model.fit(*TRAIN, dev=dev, Cs=Cs)
    assert not hasattr(model, "coef_")


def test_a_C_of_its_own_must_be_possible_too():
    model = MulticlassSVM(C=-1)
    with pytest.raises(ValueError, match="C=-1 is not possible"):
        model.fit(*TRAIN, dev=DEV, Cs=CS)
