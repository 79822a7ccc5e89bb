"""What a report shows of classes that a kernel tells apart."""

from __future__ import annotations

from maxmargin.classes.findings import ClassFindings
from maxmargin.kernel_svm.explaining import basis_titles
from maxmargin.report.findings import strongest


class KernelFindings(ClassFindings):
    """Weights are those of basis functions."""

    def weights(self, top: int) -> list[tuple[str, str, float]]:
        coef = self.model.dual_coef_
        labels = map(str, self.model.classes_)
        names = basis_titles(self.model)
        return strongest(dict(zip(labels, coef.T, strict=True)), names, top)


FINDINGS = KernelFindings
