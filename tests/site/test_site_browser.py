"""The built site in a browser, from disk: search works, nothing comes from elsewhere."""

import json
import shutil

import pytest
from site_tools import ROOT

pytestmark = pytest.mark.slow
PAGES = "index.html", "reference/SequenceTagger.html", "gallery/index.html"


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("selenium", reason="needs selenium")
    from selenium import webdriver

    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not program or not driver:
        pytest.skip("needs chromium and chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for word in ("headless", "no-sandbox", "disable-gpu", "window-size=1300,1000"):
        options.add_argument(f"--{word}")
    options.add_argument("--disable-background-networking")
    options.set_capability(
        "goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"}
    )
    service = webdriver.ChromeService(driver)
    with webdriver.Chrome(options=options, service=service) as started:
        yield started


@pytest.mark.parametrize("page", PAGES)
def test_search_from_disk(browser, page):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.ui import WebDriverWait

    path = ROOT / "site" / page
    if not path.is_file():
        pytest.skip("make docs has not been run")
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
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
