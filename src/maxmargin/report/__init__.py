"""A model and its errors on one page of HTML, for the browser and without a network."""

from maxmargin.families import lazily

_WHERE = {
    "Report": "maxmargin.report.report",
    "Test": "maxmargin.report.view",
    "View": "maxmargin.report.view",
    "report_of": "maxmargin.report.report",
    "view_of": "maxmargin.report.view",
}

__all__ = list(_WHERE)
__getattr__, __dir__ = lazily(__name__, _WHERE)
