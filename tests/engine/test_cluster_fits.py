"""Fits on a cluster: what shards of this process find, whoever dies."""

import os
import pickle
import signal
import threading
from contextlib import suppress

import numpy as np
import pytest
from sklearn.datasets import make_classification

from maxmargin import (
    GraphLabeler,
    MulticlassSVM,
    Problem,
    SequenceTagger,
    StructuralSVM,
    load,
    save,
)
from maxmargin.engine import engines

distributed = pytest.importorskip("distributed")
# distributed warns of much that is its own business
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def three():
    """One, two and three workers: threads of this process, which compile once."""
    clients = []
    for n_workers in (1, 2, 3):
        cluster = distributed.LocalCluster(
            processes=False,
            n_workers=n_workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
        )
        clients.append(distributed.Client(cluster, set_as_default=False))
    yield clients
    for client in clients:
        client.close()
        client.cluster.close()


def classes(n=300):
    return make_classification(
        n, 8, n_informative=5, n_classes=3, random_state=0, flip_y=0.1
    )


def words(n=60):
    rng = np.random.default_rng(0)
    X, y = [], []
    for _ in range(n):
        length = int(rng.integers(2, 7))
        kinds = rng.integers(3, size=length)
        X.append([{f"w{k}": 1.0, f"v{rng.integers(6)}": 1.0} for k in kinds])
        y.append(["abc"[k] if rng.random() < 0.9 else "a" for k in kinds])
    return X, y


class Signs(Problem):
    """Three classes of a vector, in Python."""

    def joint_feature(self, x, y):
        out = np.zeros(9)
        out[3 * y : 3 * y + 3] = x
        return out

    def loss(self, y, other):
        return float(y != other)

    def outputs(self, x):
        return [0, 1, 2]


def problem():
    rng = np.random.default_rng(1)
    X = list(rng.normal(size=(40, 3)))
    return X, [int(np.argmax(x)) for x in X]


CASES = {
    "classes": (lambda **kw: MulticlassSVM(tol=1e-3, **kw), classes),
    "crf": (lambda **kw: MulticlassSVM(objective="log", tol=1e-3, **kw), classes),
    "tags": (lambda **kw: SequenceTagger(tol=1e-3, **kw), words),
    "python": (lambda **kw: StructuralSVM(Signs(), **kw), problem),
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_weights_everywhere(case, three, home):
    make, data = CASES[case]
    X, y = data()
    for home.count, client in enumerate(three, 1):
        here = make(engine="dask").fit(X, y)
        assert here.converged_
        model = make(engine=client).fit(X, y)
        assert np.array_equal(model.coef_, here.coef_)
        assert model.certificate_ == here.certificate_
        again = list(model.predict(X)), list(here.predict(X))
        assert all(np.array_equal(a, b) for a, b in zip(*again, strict=True))


def test_processes_give_the_same(client, home):
    home.count = 2
    X, y = classes()
    here = MulticlassSVM(tol=1e-3, engine="dask").fit(X, y)
    model = MulticlassSVM(tol=1e-3, engine=client).fit(X, y)
    assert np.array_equal(model.coef_, here.coef_)
    models = MulticlassSVM(engine=client).path(X, y, [0.1, 1.0])
    assert [m.C for m in models] == [0.1, 1.0]
    assert all(m.converged_ for m in models)


def two(client):
    """The processes of both workers, when the last one that died is replaced."""
    while True:
        with suppress(OSError):  # it may be dying just now
            client.wait_for_workers(2, timeout=60)
            found = list(client.run(os.getpid).values())
            if len(found) == 2:
                return found


def test_twenty_fits_with_a_worker_killed(cluster, client):
    """At random moments of a fit: all end at the optimum, within tol."""
    X, y = classes()
    tol = 0.01
    best = MulticlassSVM(C=0.1, tol=1e-6).fit(X, y).certificate_
    rng = np.random.default_rng(0)
    for _ in range(20):
        victim = int(rng.choice(two(client)))
        timer = threading.Timer(rng.uniform(0, 0.8), os.kill, (victim, signal.SIGKILL))
        timer.start()
        model = MulticlassSVM(C=0.1, tol=tol, engine=client).fit(X, y)
        timer.cancel()
        assert model.converged_
        assert model.certificate_.relative_gap <= tol
        assert model.certificate_.primal * (1 - tol) <= best.primal


def test_cross_validation_on_a_cluster(client, home):
    """By joblib's backend: every fold on one worker; engine="dask" means it alone."""
    import joblib
    from sklearn.model_selection import cross_val_score

    X, y = classes()
    home.count = 1
    here = cross_val_score(MulticlassSVM(engine="dask"), X, y, cv=3)
    with client.as_current(), joblib.parallel_backend("dask", client=client):
        there = cross_val_score(MulticlassSVM(engine="dask"), X, y, cv=3, n_jobs=3)
    assert np.array_equal(here, there)


def test_predictions_in_pieces(client, monkeypatch):
    from maxmargin.engine import prediction

    X, y = words(300)
    model = SequenceTagger(tol=0.1).fit(X, y)
    here, marginals = model.predict(X), model.predict_marginals(X)
    model.set_params(engine=client)
    used = []
    real = prediction._wait
    monkeypatch.setattr(
        prediction, "_wait", lambda *a: used.append(len(a[1])) or real(*a)
    )
    assert model.predict(X) == here
    assert type(model.predict(X)) is type(here)
    there = model.predict_marginals(X)
    assert all(np.array_equal(a, b) for a, b in zip(marginals, there, strict=True))
    assert used == [4, 4, 4]
    with pytest.raises(
        ValueError, match="sequence 250 "
    ):  # counted from the first of all
        model.predict([*X[:250], 3, *X[250:]])


def test_predictions_of_columns_in_pieces(client, monkeypatch):
    """Such are the files of the command line."""
    from maxmargin.engine import prediction
    from maxmargin.files import columns_from

    X, y = words(300)
    X = columns_from([[tuple(token) for token in sentence] for sentence in X])
    model = SequenceTagger(tol=0.1, features="U0:%x[0,0]\nU1:%x[0,1]\n").fit(X, y)
    here = model.predict(X)
    sizes = []
    real = prediction._part
    monkeypatch.setattr(
        prediction, "_part", lambda *a: sizes.append(a[2] - a[1]) or real(*a)
    )
    assert model.set_params(engine=client).predict(X) == here
    assert sum(sizes) == 300
    assert len(sizes) > 1


def test_predictions_without_the_cluster(cluster, monkeypatch):
    """A model outlives the cluster that it was trained on."""
    X, y = words(150)
    model = SequenceTagger(tol=0.1).fit(X, y)
    here = model.predict(X)
    with distributed.Client(cluster, set_as_default=False) as client:
        model.set_params(engine=client)
    assert model.predict(X) == here
    copy = pickle.loads(pickle.dumps(model))
    assert copy.engine == "dask"
    assert copy.predict(X) == here
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    assert copy.predict(X) == here
    with pytest.raises(ValueError, match="engine='steam' is not possible"):
        copy.set_params(engine="steam").predict(X)


def test_models_are_saved_without_the_cluster(cluster, tmp_path):
    X, y = words(30)
    with distributed.Client(cluster, set_as_default=False) as client:
        model = SequenceTagger(engine=client).fit(X, y)
    assert client.status == "closed"
    save(model, tmp_path / "m")
    assert load(tmp_path / "m").predict(X) == model.predict(X)
    assert model.engine is client


def test_approximate_graphs_outlive_the_cluster(client, monkeypatch):
    """What is proved of their weights is computed after the fit."""
    X = [
        (np.eye(2)[[k % 2, (k + 1) % 2, 0]], [(0, 1), (1, 2), (0, 2)]) for k in range(8)
    ]
    y = [[k % 2, (k + 1) % 2, 0] for k in range(8)]
    model = GraphLabeler(inference="expansion", engine=client)
    looked, real = [], engines.client_of

    def once(engine):
        """The fit asks twice: before any work, and for its executor."""
        looked.append(1)
        if len(looked) > 2:
            raise engines.NoCluster("engine is a Dask client that is closed.")
        return real(engine)

    monkeypatch.setattr(engines, "client_of", once)
    model.fit(X, y)
    assert np.isfinite(model.certificate_.primal)
