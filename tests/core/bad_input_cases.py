"""Good input, and what is made bad in it."""

import numpy as np
import pytest

RNG = np.random.default_rng(0)
SEQUENCES = [RNG.normal(size=(1 + i % 3, 2)) for i in range(9)]
TAGS = [["A", "B", "C"][i % 3 :][:1] * len(x) for i, x in enumerate(SEQUENCES)]


def refused(model, message, X, y, **arguments):
    """A failed fit raises a ValueError and leaves a fitted model as it was."""
    state = {name: value for name, value in vars(model).items() if name[-1] == "_"}
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, **arguments)
    after = {name: value for name, value in vars(model).items() if name[-1] == "_"}
    assert after.keys() == state.keys()
    assert all(after[name] is state[name] for name in state)
