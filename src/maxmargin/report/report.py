"""``report_of``: from a model and a test to a page, and the page as an object."""

from __future__ import annotations

import base64
import hashlib
import html
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from maxmargin.core.checks import whole
from maxmargin.files.pages import write_page
from maxmargin.fitting.calibration import calibrated, confidence
from maxmargin.report import sections
from maxmargin.report.examples import Errors, compared
from maxmargin.report.facts import (
    certificate_sentence,
    facts_of,
    fits_probabilities,
    versions,
)
from maxmargin.report.findings import (
    Findings,
    Test,
    check_comparable,
    chosen,
    findings_of,
    indexed,
)
from maxmargin.report.markup import Markup, element
from maxmargin.report.measures import Measure

LIMIT = 150  # examples that are drawn
CALIBRATED = 3000  # examples whose probabilities are asked for
HERE = Path(__file__).parent


class Report:
    """A page about one model, or two, on one test.

    Attributes
    ----------
    html : str
        The whole page: no other file and no network is needed to show it.
    measures : {name: Interval}
        What counts, with the ends of 95% intervals.
    differences : {name: Interval}
        The other model minus this one; empty without another.
    """

    def __init__(self, html: str, here: Sequence[Measure], there: Sequence[Measure]):
        self.html = html
        self.measures = {m.name: m.interval() for m in here}
        pairs = zip(here, there, strict=False)
        self.differences = {a.name: a.difference(b) for a, b in pairs}
        self._lines = [(m.name, _shown(m)) for m in here]

    def save(self, path: str | os.PathLike) -> None:
        """Write the page to a file, whole or not at all."""
        write_page(path, self.html)

    def _repr_html_(self) -> str:
        """For notebooks: the page in a frame of its own."""
        page = html.escape(self.html, quote=True)
        style = "width:100%;height:42rem;border:1px solid #8888"
        return f'<iframe srcdoc="{page}" style="{style}" title="report"></iframe>'

    def __str__(self) -> str:
        return "\n".join(f"{name:<24} {text}" for name, text in self._lines)

    def __repr__(self) -> str:
        return f"Report({len(self.html):,} characters)\n{self}"


def report_of(
    findings: Findings,
    outputs: Any = None,
    *,
    against: tuple[Findings, Any] | None = None,
    names: Sequence[str] = ("this model", "the other model"),
    facts: Sequence[tuple[str, Any]] | None = None,
    limit: int = LIMIT,
) -> Report:
    """The report of a model on a test.

    Parameters
    ----------
    findings : Findings of a fitted estimator and a test
    outputs : what `Findings.predict` returns, or None to predict now
    against : the same two of another model on the same examples, or None
    names : what both are called
    facts : (name, value) rows that say how the model was trained; None for parameters
    limit : int
        The most examples with errors that are drawn.
    """
    limit = whole("limit", limit)
    if not len(findings):
        raise ValueError("the test has no examples: there is nothing to report.")
    outputs = findings.predict() if outputs is None else outputs
    measures, found = findings.measures(outputs), findings.errors(outputs)
    other, marks, theirs = None, {}, []
    if against is not None:
        other, marks, theirs = _other(findings, found, *against, names[1])
    errors = Errors(found, limit, findings.weight(outputs, found), marks)
    # first, for the links of all other parts lead to what is drawn
    drawn = sections.example_list(findings, outputs, errors, other, names[0])
    parts: list[Markup | str] = [sections.scores(measures, findings.summary(outputs))]
    if other is not None:
        both = (names[0], names[1])
        parts.append(sections.comparison(measures, theirs, both, errors))
    parts.append(sections.error_kinds(findings, outputs, errors))
    parts.append(_calibration(findings, outputs, found))
    rows = facts_of(findings.model) if facts is None else facts
    parts.append(sections.training(findings.model, rows, _proved(findings.model)))
    parts.append(sections.features(list(findings.weights(sections.FEATURES))))
    parts.append(drawn)
    test = findings.test.name
    title = f"{names[0]} on {test}" if test else names[0]
    if other is not None:
        title += f", against {names[1]}"
    about = f"{type(findings.model).__name__}, {len(findings):,} {findings.items}; "
    about += f"made by {versions()} on {time.strftime('%Y-%m-%d')}"
    page = _page(title, about, [Markup(part) for part in parts if part])
    return Report(page, measures, theirs)


def _shown(measure: Measure) -> str:
    """A value and its interval; shares in per cent."""
    found = measure.interval()
    if measure.plain:
        return "{:.4g} [{:.4g}, {:.4g}]".format(*found)
    return str(found)


def model_report(model: Any, X: Any, y: Any, against: Any, limit: int) -> Report:
    """``model.report``: both models read the same inputs."""
    X, y = indexed(X), y if y is None else indexed(y)
    y = y.to_numpy() if hasattr(y, "iloc") else y
    n = getattr(X, "n_sentences", None)
    n = X.shape[0] if n is None and hasattr(X, "shape") else n
    n = len(X) if n is None else n
    given = 0 if y is None else y.shape[0] if hasattr(y, "shape") else len(y)
    if given != n:
        raise ValueError(
            f"X has {n:,} samples, but y has {given:,}: give the true output of every "
            "sample."
        )
    if against is not None:
        check_comparable(model, against)
    both = []
    for each in (model, against):
        if each is not None:
            check_is_fitted(each)
            both.append(findings_of(each, Test(X, y)))
    names = [type(findings.model).__name__ for findings in both]
    if len(set(names)) < len(names):
        names = ["this model", "the other model"]
    other = (both[1], None) if against is not None else None
    return report_of(both[0], against=other, names=names, limit=limit)


def _other(
    findings: Findings, found: list, other: Findings, outputs: Any, name: str
) -> tuple[tuple[Findings, Any, str], dict[str, list[int]], list[Measure]]:
    """The other model, where the two differ, and the other's measures."""
    if other.items != findings.items or len(other) != len(findings):
        raise ValueError(
            f"the models cannot be compared: one is of {len(findings):,} "
            f"{findings.items}, the other of {len(other):,} {other.items}."
        )
    if getattr(findings, "truth", None) != getattr(other, "truth", None):
        raise ValueError(
            "the models cannot be compared: they read different true outputs from the "
            "test."
        )
    outputs = other.predict() if outputs is None else outputs
    measures = other.measures(outputs)
    marks = compared(found, other.errors(outputs))
    return (other, outputs, name), marks, measures


def _proved(model: Any) -> str:
    """What is proved of the training, if anything is."""
    return certificate_sentence(model) if hasattr(model, "certificate_") else ""


def _calibration(findings: Findings, outputs: Any, errors: list) -> Markup | str:
    """Only where numbers are claimed to be probabilities, of parts or of whole outputs."""
    model, n = findings.model, len(findings)
    curve = getattr(model, "calibration_", None) is not None and not calibrated(model)
    if not curve and not fits_probabilities(model):
        return ""
    few = np.arange(n)
    if n > CALIBRATED:
        few = np.sort(np.random.default_rng(0).permutation(n)[:CALIBRATED])
    if fits_probabilities(model):
        found = findings.chances(outputs, few.tolist())
    else:
        sure = confidence(model, chosen(findings.test.X, few.tolist()))
        found = sure, [not errors[i] for i in few]
    if found is None or not len(found[0]):
        return ""
    said = f"Counted are {len(found[0]):,} predictions in {len(few):,} {findings.items}"
    said += ", a sample of the test." if len(few) < n else "."
    if not fits_probabilities(model):
        said += (
            " Each is one whole output, with the probability that all of it is right."
        )
    return sections.calibration(found[0], found[1], said)


def _page(title: str, about: str, parts: list[Markup]) -> str:
    """The whole document; only this script may run, and nothing may be loaded."""
    css, script = ((HERE / f"page.{kind}").read_text("utf-8") for kind in ("css", "js"))
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
        f"script-src 'sha256-{digest}'"
    )
    links = [(name, name.capitalize()) for name in _ids(parts)]
    head = [
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", Markup(css)),
    ]
    top = element(
        "header",
        element("h1", f"Report: {title}"),
        element("button", "light or dark", type="button", id="theme"),
    )
    body = [top, element("p", about, cls="soft"), sections.contents(links), *parts]
    body.append(element("script", Markup(script)))
    page = element("html", element("head", *head), element("body", *body), lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def _ids(parts: list[Markup]) -> list[str]:
    """The names of sections, which begin with <section id=...>."""
    return [part.split('"', 2)[1] for part in parts]
