"""The built site in a browser, from disk: search works, nothing comes from elsewhere."""

import json

import pytest
from site_tools import ROOT

pytestmark = pytest.mark.slow
LOCAL = "file:", "data:", "chrome:"  # the last is the first empty page
PAGES = "index.html", "reference/SequenceTagger.html", "gallery/index.html"


@pytest.mark.parametrize("page", PAGES)
def test_search_from_disk(browser, page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    path = ROOT / "site" / page
    if not path.is_file():
        pytest.skip("needs the site: run make docs")
    browser.get("about:blank")
    browser.get_log("performance")  # what other pages asked for
    browser.get(path.as_uri())
    field = browser.find_element(By.CSS_SELECTOR, "input.md-search__input")
    field.click()
    field.send_keys("slack rescaling")
    found = WebDriverWait(browser, 30).until(
        lambda b: b.find_elements(By.CSS_SELECTOR, ".md-search-result__item h2")
    )
    assert any("rescaling" in each.text for each in found)
    assert browser.get_log("browser") == []
    messages = [
        json.loads(row["message"])["message"] for row in browser.get_log("performance")
    ]
    asked = [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
    assert len(asked) > 3
    assert [url for url in asked if not url.startswith(LOCAL)] == []
