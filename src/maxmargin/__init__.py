"""maxmargin: learn to predict structured objects, with a certificate for every fit.

Names are imported on first use, so ``import maxmargin`` is quick and does not load numba.
"""

from __future__ import annotations

from maxmargin import start

if start.is_program():  # before more imports: Ctrl-C gets an answer
    start.answer()

from maxmargin import moved
from maxmargin.families import lazily, places

__version__ = "0.1.0"

_WHERE = {
    "callbacks": "maxmargin.callbacks",
    "Checkpoint": "maxmargin.solvers.checkpoint",
    "convert_C": "maxmargin.core.formulation",
    "kernels": "maxmargin.kernels",
    "LatentProblem": "maxmargin.core.latent_functions",
    "LatentStructuralSVM": "maxmargin.core.latent",
    "load": "maxmargin.files.model_file",
    "Problem": "maxmargin.core.problem",
    "save": "maxmargin.files.model_file",
    "StructuralSVM": "maxmargin.core.structural",
    **places("public"),
}

__all__ = ["__version__", *_WHERE]
__getattr__, __dir__ = lazily(__name__, _WHERE)

moved.install()
