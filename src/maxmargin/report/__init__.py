"""A model and its errors on one page of HTML, for the browser and without a network."""

from maxmargin.families import lazily

_WHERE = {
    "Report": "maxmargin.report.report",
    "Test": "maxmargin.report.findings",
    "Findings": "maxmargin.report.findings",
    "report_of": "maxmargin.report.report",
    "findings_of": "maxmargin.report.findings",
}

__all__ = list(_WHERE)
__getattr__, __dir__ = lazily(__name__, _WHERE)
