"""The disk cache: a second process compiles nothing, and an edit is never missed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import maxmargin

pytestmark = pytest.mark.slow

SCRIPT = """
import json, sys
import numpy as np
from maxmargin import MulticlassSVM, SequenceTagger
from maxmargin.core.kernel import cache_statistics

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 4))
y = rng.integers(3, size=30)
model = MulticlassSVM(tol=1e-3).fit(X, y)
tagger = SequenceTagger(tol=1e-3).fit([X[:15], X[15:]], [y[:15], y[15:]])
print(json.dumps({
    "coef": model.coef_.tolist(),
    "tagger": tagger.transitions_.tolist(),
    "labels": tagger.predict([X[:3]]),
    "cache": cache_statistics(),
    "compiler": "numba.typed.typeddict" in sys.modules,
}))
"""


def _run(cache, package=None, script=SCRIPT):
    package = Path(maxmargin.__file__).parent if package is None else package
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(cache),
        "PYTHONPATH": str(package.parent),
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_second_process_takes_every_kernel_from_disk(tmp_path):
    cold = _run(tmp_path)
    warm = _run(tmp_path)
    assert sum(compiled for _, compiled in cold["cache"].values()) > 0
    assert warm["cache"], "no kernel was used"
    recompiled = {name for name, (_, n) in warm["cache"].items() if n}
    assert not recompiled
    for key in ("coef", "tagger", "labels"):
        assert cold[key] == warm[key]
    # what only the compiler needs takes as long to load as all our kernels
    assert cold["compiler"]
    assert not warm["compiler"]


EDIT = """
import json
import numpy as np
from maxmargin.core.kernel import cache_statistics
from maxmargin.core.decode import decode
from maxmargin.classes.sparse import make_batch

batch = make_batch(np.array([0, 1]), np.array([0], np.int32), np.ones(1), 1, None,
                   np.zeros((2, 2)), np.float64)
label = int(decode(batch, np.array([1.0, 2.0]))[0])
print(json.dumps({"label": label, "cache": cache_statistics()}))
"""


def _compiled(result) -> set[str]:
    return {name for name, (_, n) in result["cache"].items() if n}


def test_an_edit_recompiles_what_contains_it_and_nothing_else(tmp_path):
    package = tmp_path / "maxmargin"
    shutil.copytree(Path(maxmargin.__file__).parent, package)
    cache = tmp_path / "cache"
    assert _run(cache, package, EDIT)["label"] == 1
    assert not _compiled(_run(cache, package, EDIT))

    sparse = package / "classes" / "sparse.py"
    source = sparse.read_text()
    head, rest = source.split("@implements(contract.argmax,", 1)
    # words, not code: also what stands below moves by a line
    words = "# a comment\n" + source.replace('"""theta <-', '"""Words. theta <-')
    sparse.write_text(words)
    assert not _compiled(_run(cache, package, EDIT))
    # what this kernel does not reach
    sparse.write_text(source.replace("def loss(batch, i, y):", UNREACHED))
    assert not _compiled(_run(cache, package, EDIT))
    # decode() calls it by address, so it stays as it is
    assert "if v > best_value:" in rest
    rest = rest.replace("if v > best_value:", "if v < best_value:", 1)
    sparse.write_text(head + "@implements(contract.argmax," + rest)
    edited = _run(cache, package, EDIT)
    assert edited["label"] == 0
    assert _compiled(edited) == {"maxmargin.classes.sparse.argmax"}
    again = _run(cache, package, EDIT)
    assert again["label"] == 0
    assert not _compiled(again)


UNREACHED = "def loss(batch, i, y):\n    y = y[:1]"

USER = """
from typing import NamedTuple
import numpy as np
from maxmargin.core import contract
from maxmargin.core.kernel import implements, inlined

BEST = 3

class Pick(NamedTuple):
    start: np.ndarray
    y: np.ndarray

@inlined
def favourite():
    return BEST

@implements(contract.shape, Pick)
def shape(batch):
    return 1, 1

@implements(contract.score, Pick)
def score(batch, i, w, theta):
    theta[0, 0] = w[0]

@implements(contract.argmax, Pick)
def argmax(batch, i, theta, scale, y):
    y[0] = favourite()
"""

USE = """
import json, sys
import numpy as np
from maxmargin.core.kernel import cache_statistics
from maxmargin.core.decode import decode
from picks import Pick

batch = Pick(np.array([0, 1]), np.zeros(1, np.int32))
label = int(decode(batch, np.zeros(1))[0])
print(json.dumps({
    "label": label,
    "cache": cache_statistics(),
    "compiler": "numba.typed.typeddict" in sys.modules,
}))
"""


def test_users_structures_are_stamped_by_the_same_rule(tmp_path):
    def go(source, script=USE):
        (tmp_path / "picks.py").write_text(source)
        return _run(
            tmp_path,
            script=f"import sys; sys.path.insert(0, {str(tmp_path)!r})" + script,
        )

    assert go(USER)["label"] == 3
    again = go(USER)
    assert not _compiled(again)
    assert again["compiler"]  # their code may call what extensions of numba bring
    assert not _compiled(go("# words\n" + USER))
    for edited, label in [
        (USER.replace("BEST = 3", "BEST = 4"), 4),
        (USER.replace("return BEST", "return BEST + 2"), 5),
    ]:
        got = go(edited)
        assert got["label"] == label
        assert _compiled(got) == {"picks.argmax", "picks.favourite"}
        assert not _compiled(go(edited))
    # a process that cannot import the class shares the folder and notices nothing
    (tmp_path / "picks.py").unlink()
    first = _run(tmp_path, script=EDIT)
    assert first["label"] == 1
    assert not _compiled(_run(tmp_path, script=EDIT))


@pytest.mark.parametrize("name", ["numba", "sklearn", "scipy"])
def test_import_is_light(name):
    script = f"import sys, json, maxmargin; print(json.dumps('{name}' in sys.modules))"
    assert _run("/nonexistent", script=script) is False


def test_import_is_quick():
    script = (
        "import json, time; t = time.perf_counter(); import maxmargin; "
        "print(json.dumps(time.perf_counter() - t))"
    )
    assert _run("/nonexistent", script=script) < 0.5
