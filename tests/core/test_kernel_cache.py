"""The disk cache: a second process compiles nothing, and an edit is never missed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import maxmargin

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


EDIT = """
import json
import numpy as np
from maxmargin.core.kernel import cache_statistics
from maxmargin.core.decode import decode
from maxmargin.classes.structure import make_batch

batch = make_batch(np.array([0, 1]), np.array([0], np.int32), np.ones(1), 1, None,
                   np.zeros((2, 2)), np.float64)
label = int(decode(batch, np.array([1.0, 2.0]))[0])
print(json.dumps({"label": label, "cache": cache_statistics()}))
"""


def test_an_edit_of_a_structure_recompiles_what_was_built_around_it(tmp_path):
    package = tmp_path / "maxmargin"
    shutil.copytree(Path(maxmargin.__file__).parent, package)
    cache = tmp_path / "cache"
    assert _run(cache, package, EDIT)["label"] == 1
    warm = _run(cache, package, EDIT)
    assert not any(n for _, n in warm["cache"].values())
    structure = package / "structures" / "multiclass.py"
    source = structure.read_text()
    # decode() stands in another file and must notice that the decoder changed
    assert "if v > best_value:" in source
    structure.write_text(source.replace("if v > best_value:", "if v < best_value:", 1))
    edited = _run(cache, package, EDIT)
    assert edited["label"] == 0
    assert any(n for _, n in edited["cache"].values())
    again = _run(cache, package, EDIT)
    assert again["label"] == 0
    assert not any(n for _, n in again["cache"].values())


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
