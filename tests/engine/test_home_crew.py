"""The protocol, in this process."""

import pytest
from crew_cases import BadSpec, Sum, specs, weights
from crew_cases import scores as expected

from maxmargin.engine.crew import HomeCrew


def test_replies_come_in_order_and_are_merged():
    with HomeCrew(specs(), threads=3) as crew:
        w = weights()
        assert crew.shards == 5
        assert crew.ask("score", w) == expected(w)
        own = [(float(k),) for k in range(5)]
        weighted = [s * k for k, s in enumerate(expected(w))]
        assert crew.ask("score", w, each=own) == weighted
        found = crew.reduce("summed", w, each=own, optional=True)
        assert found == Sum(pytest.approx(sum(weighted)), {0, 1, 2, 3, 4})
        assert crew.ask("count") == [3] * 5  # built once, kept
        assert crew.ask("threads") == [3] * 5
        assert (crew.moved, crew.restarted, crew.at_home()) == (0, set(), crew)


def test_the_first_error_in_order_ends_the_question():
    crew = HomeCrew(specs())
    with pytest.raises(FileNotFoundError, match="shard 2 has no file"):
        crew.ask("fail", {2, 4})
    with pytest.raises(ValueError, match="each has 4 entries for 5 shards"):
        crew.ask("score", each=[()] * 4)
    with pytest.raises(FileNotFoundError, match="shard 1 has no file"):
        HomeCrew([*specs(1), BadSpec(1)])
