"""Chromium, for tests that look at pages as their readers do."""

import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--window-size=1100,900",
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """A browser that keeps what its console says and what it asks of the network."""
    webdriver = pytest.importorskip("selenium.webdriver")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    driver = shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("needs Chromium with its chromedriver")
    options = webdriver.ChromeOptions()
    for option in (*OPTIONS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(option)
    options.binary_location = program
    kept = {"browser": "ALL", "performance": "ALL"}
    options.set_capability("goog:loggingPrefs", kept)
    found = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    yield found
    found.quit()
