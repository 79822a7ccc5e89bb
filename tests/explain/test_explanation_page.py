"""Explanations and weights in a real browser: nothing in the console, tables unfold.

Needs selenium and Chromium.
"""

import pytest
from report_cases import fitted

from maxmargin.views import weights

pytestmark = pytest.mark.slow


def test_tables_unfold(browser, tmp_path):
    model, X, *_ = fitted("SequenceTagger")
    model.explain([*X[0], ["<script>window.evil=1</script>"]]).save(tmp_path / "e.html")
    browser.get((tmp_path / "e.html").as_uri())
    tables = browser.find_elements("css selector", "details table")
    assert len(tables) == 4
    assert not any(table.is_displayed() for table in tables)
    for summary in browser.find_elements("css selector", "summary"):
        summary.click()
    assert all(table.is_displayed() for table in tables)
    assert "B-PER rather than I-PER" in browser.find_element("tag name", "body").text
    assert browser.execute_script("return window.evil") is None
    assert browser.get_log("browser") == []


def test_weights_in_colours(browser, tmp_path):
    weights(fitted("MulticlassSVM")[0]).save(tmp_path / "w.html")
    browser.get((tmp_path / "w.html").as_uri())
    rows = browser.find_elements("css selector", "tr")
    colours = {row.value_of_css_property("background-color") for row in rows}
    assert len(colours) > 2
    assert browser.get_log("browser") == []
