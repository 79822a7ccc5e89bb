"""What a report shows of sets of labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.classes.findings import SetFindings
from maxmargin.multilabel.labels import read_sets
from maxmargin.report.findings import chosen


class MultilabelFindings(SetFindings):
    """Sets of labels, with probabilities of the log objective."""

    def sets(self, y: Any) -> list[set[str]]:
        table, labels = read_sets(y, self.model.classes_)
        return [{str(labels[k]) for k in np.flatnonzero(row)} for row in table]

    def summary(self, outputs: Any) -> Any:
        return self.model.evaluate(self.test.X, self.test.y)

    def chances(self, outputs: Any, few: Any) -> Any:
        if not hasattr(self.model, "predict_proba"):
            return None
        table = self.model.predict_proba(chosen(self.test.X, few))
        truth, _ = read_sets(chosen(self.test.y, few), self.model.classes_)
        return np.asarray(table).ravel(), np.asarray(truth).ravel() > 0


FINDINGS = MultilabelFindings
