"""``show`` of estimators: what is predicted of one input, as a notebook sees it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from maxmargin.views.view import View


class Shown:
    """An estimator with ``_view``, which draws (input, prediction, truth or None)."""

    _view: Callable[..., View]

    if TYPE_CHECKING:

        def predict(self, X: Any) -> Any: ...

    def show(self, x: Any, y: Any = None, **options: Any) -> View:
        """What is predicted for the input x, to look at in a notebook.

        With the true output y, what is right and what is wrong. ``options`` go to the
        family's function in :mod:`maxmargin.views`.
        """
        return type(self)._view(x, self.predict([x])[0], y, **options)
