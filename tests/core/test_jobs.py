"""n_jobs: which numbers are possible, and how many threads they mean where."""

import inspect
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import maxmargin
from maxmargin import MulticlassSVM, SequenceTagger, TagCorpus
from maxmargin.cli.main import main
from maxmargin.core import jobs
from maxmargin.core.jobs import effective_jobs

X = np.random.default_rng(0).normal(size=(60, 4))
Y = np.arange(60) % 3
BAD = [0, -1000, 2.5, 2.0, True, "2", float("nan"), [2], np.array([1, 2])]


@pytest.mark.parametrize("n_jobs", BAD, ids=repr)
def test_bad_numbers_are_sentences_before_any_work(n_jobs):
    sentence = r"(?s)n_jobs=.* is not possible: .*\.$"
    with pytest.raises(ValueError, match=sentence):
        effective_jobs(n_jobs)
    for model in (MulticlassSVM(n_jobs=n_jobs), SequenceTagger(n_jobs=n_jobs)):
        with pytest.raises(ValueError, match=sentence):
            model.fit(None, None)  # nothing of the data was looked at


def test_negative_numbers_leave_cores_free(monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    assert [effective_jobs(n) for n in (-1, -2, -4)] == [4, 3, 1]
    with pytest.raises(ValueError, match=r"n_jobs=-5 .* 4 cores .*n_jobs=-1"):
        effective_jobs(-5)


@pytest.mark.parametrize(("cores", "most"), [(2, 16), (64, 64)])
def test_a_million_is_no_more_than_makes_sense(monkeypatch, cores, most):
    monkeypatch.setattr(joblib, "cpu_count", lambda: cores)
    assert effective_jobs(10**6) == most
    assert effective_jobs(np.int64(10**6)) == most
    assert [effective_jobs(n) for n in (None, 1, 3)] == [1, 1, 3]


def test_none_is_what_joblib_was_told():
    with joblib.parallel_config("threading", n_jobs=2):
        assert effective_jobs(None) == 2
    with joblib.parallel_config("sequential"):
        assert effective_jobs(4) == 1


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_workers_of_joblib_share_the_cores(backend):
    with joblib.parallel_config(backend, n_jobs=2):
        found = joblib.Parallel()(
            joblib.delayed(effective_jobs)(n) for n in (2, 10**6, -1, None)
        )
    assert max(found) <= max(joblib.cpu_count() // 2, 1)
    assert min(found) == 1


def test_threads_of_others_are_no_workers_of_joblib():
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(effective_jobs, 2).result() == 2


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_a_search_around_threads_ends_and_chooses_the_same(backend):
    grid = {"C": [1e-6, 0.1]}
    inner = MulticlassSVM(n_jobs=2, tol=0.01, random_state=0)
    alone = GridSearchCV(inner, grid, cv=2).fit(X, Y)
    with joblib.parallel_config(backend), warnings.catch_warnings():
        warnings.simplefilter("error")
        nested = GridSearchCV(inner, grid, cv=2, n_jobs=2).fit(X, Y)
    assert nested.best_params_ == alone.best_params_
    scores = (s.cv_results_["mean_test_score"] for s in (alone, nested))
    np.testing.assert_array_equal(*scores)


def with_jobs(cls, n_jobs):
    """A model of that class; what must be given, such as a problem, is never asked."""
    names = inspect.signature(cls).parameters.values()
    needed = {p.name: object() for p in names if p.default is inspect.Parameter.empty}
    return cls(**needed, n_jobs=n_jobs)


MODELS = [
    getattr(maxmargin, name)
    for name in maxmargin.__all__
    if "n_jobs" in getattr(getattr(maxmargin, name), "_get_param_names", list)()
]


@pytest.mark.parametrize("cls", MODELS, ids=lambda cls: cls.__name__)
def test_all_models_refuse_the_same(cls):
    for n_jobs in (0, 2.5, -1000):
        with pytest.raises(ValueError, match=rf"n_jobs={n_jobs} is not possible"):
            with_jobs(cls, n_jobs).fit(None, None)


def test_it_is_looked_at_in_all_families():
    assert {m.__name__ for m in MODELS} >= {"KernelSVM", "PCFGParser", "MotifFinder"}
    assert len(MODELS) >= 17


@pytest.mark.parametrize("n_jobs", [0, 2.5, -1000])
def test_corpora_refuse_the_same(n_jobs, tmp_path):
    (tmp_path / "t.txt").write_text("a N\n\n")
    with pytest.raises(ValueError, match=rf"n_jobs={n_jobs} is not possible"):
        TagCorpus.build(tmp_path / "c", tmp_path / "t.txt", n_jobs=n_jobs)
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize("jobs", ["0", "-1000"])
@pytest.mark.parametrize(
    "command",
    [
        "train classify nothing -o m",
        "predict m nothing",
        "evaluate m nothing",
        "shard nothing -o m",
    ],
)
def test_on_the_command_line_it_is_said_before_files_are_read(command, jobs, capsys):
    assert main([*command.split(), "--jobs", jobs]) == 2
    said = capsys.readouterr().err
    assert f"--jobs {jobs} is not possible" in said
    assert said.count("\n") == 1
    assert "n_jobs" not in said


@pytest.mark.parametrize("jobs", ["2.5", "two"])
def test_on_the_command_line_it_is_a_whole_number(jobs, capsys):
    assert main(["train", "classify", "nothing", "-o", "m", "--jobs", jobs]) == 2
    assert f"argument --jobs: invalid int value: '{jobs}'" in capsys.readouterr().err


def test_help_does_not_wait_for_joblib():
    assert not hasattr(jobs, "joblib")
