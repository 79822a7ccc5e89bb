"""Every family by many threads: what one proves, whatever the slacks."""

import pytest
from family_cases import CASES

from maxmargin.engine.threads import Team
from maxmargin.solvers.log import row_steps

FORMS = {
    "plain": {},
    "slack": {"rescaling": "slack"},
    "quadratic": {"penalty": "quadratic"},
}
NAMES = [
    (name, form)
    for name, (*_, options) in CASES.items()
    for form in FORMS
    if form == "plain" or options.get("objective") != "log"  # has no slacks
]
# their steps follow each other, and so few examples are searched by one thread
ONE_THREAD = "alignments, log", "programmes, log"


# the search for violated outputs leaves gaps open, with many threads as with one
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("name", "form"), NAMES)
def test_many_threads_prove_what_one_does(always_threads, monkeypatch, name, form):
    monkeypatch.setattr(row_steps, "LEAST", 0)
    make, data, options = CASES[name]
    options = {"C": 0.5, "tol": 0.02, "random_state": 0, "max_iter": 200, **options}
    options, data, used, real = options | FORMS[form], data(), [], Team.run

    def watched(self, function, parts, threads):
        used.append(threads)
        return real(self, function, parts, threads)

    monkeypatch.setattr(Team, "run", watched)
    alone = make(**options).fit(*data).certificate_
    for n_jobs in (2, 16):
        used.clear()
        together = make(n_jobs=n_jobs, **options).fit(*data).certificate_
        assert (max(used) > 1) == (name not in ONE_THREAD)
        assert together.relative_gap <= max(0.02, 2 * alone.relative_gap)
        assert together.dual <= alone.primal * (1 + 1e-6)
        assert alone.dual <= together.primal * (1 + 1e-6)
