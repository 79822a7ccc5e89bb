"""What a report shows of classes that a kernel tells apart."""

from __future__ import annotations

from maxmargin.classes.findings import ClassFindings
from maxmargin.report.findings import Findings


class KernelFindings(ClassFindings):
    """Weights are those of basis functions."""

    weights = Findings.weights


FINDINGS = KernelFindings
