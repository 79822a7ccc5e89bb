"""What a report shows of classes that a kernel tells apart."""

from __future__ import annotations

from maxmargin.classes.view import ClassView
from maxmargin.report.view import strongest


class KernelView(ClassView):
    """Weights are those of basis functions."""

    def weights(self, top: int) -> list[tuple[str, str, float]]:
        coef = self.model.dual_coef_
        labels = map(str, self.model.classes_)
        names = [f"k(b{j + 1}, x)" for j in range(len(coef))]
        return strongest(dict(zip(labels, coef.T, strict=True)), names, top)


VIEW = KernelView
