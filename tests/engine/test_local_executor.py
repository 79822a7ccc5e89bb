"""The protocol, in this process."""

import pytest
from executor_cases import BadSpec, Sum, specs, weights
from executor_cases import scores as expected

from maxmargin.engine.executor import LocalExecutor


def test_replies_come_in_order_and_are_merged():
    with LocalExecutor(specs(), threads=3) as executor:
        w = weights()
        assert executor.shards == 5
        assert executor.ask("score", w) == expected(w)
        own = [(float(k),) for k in range(5)]
        weighted = [s * k for k, s in enumerate(expected(w))]
        assert executor.ask("score", w, each=own) == weighted
        found = executor.reduce("summed", w, each=own, optional=True)
        assert found == Sum(pytest.approx(sum(weighted)), {0, 1, 2, 3, 4})
        assert executor.ask("count") == [3] * 5  # built once, kept
        assert executor.ask("threads") == [3] * 5
        assert (executor.moved, executor.restarted, executor.at_home()) == (
            0,
            set(),
            executor,
        )


def test_the_first_error_in_order_ends_the_question():
    executor = LocalExecutor(specs())
    with pytest.raises(FileNotFoundError, match="shard 2 has no file"):
        executor.ask("fail", {2, 4})
    with pytest.raises(ValueError, match="each has 4 entries for 5 shards"):
        executor.ask("score", each=[()] * 4)
    with pytest.raises(FileNotFoundError, match="shard 1 has no file"):
        LocalExecutor([*specs(1), BadSpec(1)])
