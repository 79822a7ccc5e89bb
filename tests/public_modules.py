"""The modules that have public names: ``mypy $(python tests/public_modules.py)``.

What is behind them, kernels for numba above all, is followed in silence.
"""

from pathlib import Path

import maxmargin
from maxmargin import (
    explain,
    families,
    files,
    kernels,
    metrics,
    plots,
    report,
    scorers,
    views,
)

PACKAGES = (maxmargin, explain, files, kernels, metrics, plots, report, scorers, views)


def public_modules() -> list[str]:
    found = {module for package in PACKAGES for module in package._WHERE.values()}
    found.update(package.__name__ for package in PACKAGES)
    return sorted(found | layers() | {families.__name__, "maxmargin.testing"})


def layers() -> set[str]:
    """Those for PyTorch, which cannot be imported without it."""
    folder = Path(maxmargin.__file__).parent / "torch"
    return {
        f"maxmargin.torch.{path.stem}".removesuffix(".__init__")
        for path in folder.glob("*.py")
        if "kernel" not in path.stem
    }


if __name__ == "__main__":
    print(*(f"-m {name}" for name in public_modules()))
