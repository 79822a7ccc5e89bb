"""Photograph a report for docs/reports.md: report_picture.py [FOLDER]. Needs Chromium."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import kept
from sklearn.datasets import load_digits

from maxmargin import MulticlassSVM

NAME = "report.png"
FOLDER = kept.ROOT / "docs" / "images"
SIZE = 820, 1150


def page(folder: Path) -> Path:
    """The report of a model that reads digits."""
    X, y = load_digits(return_X_y=True)
    model = MulticlassSVM(objective="log", C=0.1, random_state=0)
    model.fit(X[::2] / 16, y[::2])
    path = folder / "report.html"
    model.report(X[1::2] / 16, y[1::2]).save(path)
    return path


def photograph(browser, page: Path, picture: Path) -> None:
    browser.set_window_size(*SIZE)
    light = {"features": [{"name": "prefers-color-scheme", "value": "light"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", light)
    browser.get(page.as_uri())
    browser.save_screenshot(str(picture))


def main(folder: Path = FOLDER) -> None:
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for word in ("headless=new", "no-sandbox", "hide-scrollbars"):
        options.add_argument(f"--{word}")
    driver = webdriver.ChromeService(shutil.which("chromedriver"))
    with (
        tempfile.TemporaryDirectory() as there,
        webdriver.Chrome(options, driver) as browser,
    ):
        photograph(browser, page(Path(there)), folder / NAME)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
