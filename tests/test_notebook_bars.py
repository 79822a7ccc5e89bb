"""Bars in a real notebook: a kernel of Jupyter with tqdm and its widgets."""

import os
import sys
from pathlib import Path

import pytest

import maxmargin

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
manager = pytest.importorskip("jupyter_client.manager")
kernelspec = pytest.importorskip("jupyter_client.kernelspec")
for name in ("ipykernel", "ipywidgets", "tqdm"):
    pytest.importorskip(name)

CELL = """
from maxmargin import SequenceTagger, waiting

for name in ("AFTER", "LEAST", "EVERY"):
    setattr(waiting, name, 0.0)
X = [[["the"], ["dog"], ["barks"]], [["a"], ["cat"]]] * 200
y = [["D", "N", "V"], ["D", "N"]] * 200
tagger = SequenceTagger(features="ner", verbose=1, tol=1e-3).fit(X, y)
tagger.predict(X) == y
"""


class ThisPython(manager.AsyncKernelManager):
    """Kernels of the interpreter that runs the tests."""

    @property
    def kernel_spec(self):
        launch = ["-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return kernelspec.KernelSpec(argv=[sys.executable, *launch], language="python")


def test_fits_and_predictions_have_bars_in_a_notebook(tmp_path, monkeypatch):
    sources = str(Path(maxmargin.__file__).parent.parent)
    monkeypatch.setenv("PYTHONPATH", sources + os.pathsep + os.getenv("PYTHONPATH", ""))
    for name in ("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path))
    cell = nbformat.v4.new_code_cell(CELL)
    notebook = nbformat.v4.new_notebook(cells=[cell])
    client = nbclient.NotebookClient(
        notebook,
        timeout=300,
        kernel_manager_class=ThisPython,
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    outputs = notebook.cells[0].outputs
    assert [o for o in outputs if o.output_type in ("stream", "error")] == []
    (result,) = [o for o in outputs if o.output_type == "execute_result"]
    assert result.data["text/plain"] == "True"
    widgets = list(client.widget_state.values())
    texts = [w["value"] for w in widgets if w["_model_name"] == "HTMLModel"]
    for what in ("gap", "encoding", "predicting"):
        assert any(what in text for text in texts), what
    bars = [w for w in widgets if w["_model_name"] == "FloatProgressModel"]
    assert max(bar["value"] for bar in bars) == 100  # the fit's is full
    boxes = [w for w in widgets if w["_model_name"] == "HBoxModel"]
    hidden = [w for w in widgets if w.get("visibility") == "hidden"]
    assert len(hidden) == len(boxes) - 1  # and stays; the others are gone
