"""Pictures that are stored: those of the gallery and of reports as they are today."""

import pytest
from site_tools import ROOT, tool

pytestmark = pytest.mark.slow


def small(path):
    """A picture in grey, as an average of each of 24 x 24 cells."""
    image = pytest.importorskip("matplotlib.image").imread(path)[..., :3].mean(axis=2)
    rows, columns = (size // 24 for size in image.shape)
    cells = image[: 24 * rows, : 24 * columns].reshape(24, rows, 24, columns)
    return cells.mean(axis=(1, 3))


def test_pictures_are_as_the_gallery_draws_them(tmp_path):
    pictures = tool("readme_pictures")
    pictures.main(tmp_path)
    for name in pictures.NAMES:
        stored = pictures.FOLDER / f"{name}.png"
        difference = abs(small(stored) - small(tmp_path / f"{name}.png")).mean()
        assert difference < 0.01, "run docs/site/readme_pictures.py"
        assert stored.stat().st_size < 60_000


def test_every_stored_picture_is_shown():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = {f"{name}.png" for name in tool("readme_pictures").NAMES}
    for name in shown:
        assert f"](docs/images/{name})" in readme
    assert "](images/report.png)" in (ROOT / "docs" / "reports.md").read_text("utf-8")
    stored = {path.name for path in tool("readme_pictures").FOLDER.iterdir()}
    assert stored == shown | {"report.png"}


def test_reports_look_as_in_the_picture(browser, tmp_path):
    report = tool("report_picture")
    found = tmp_path / report.NAME
    report.photograph(browser, report.page(tmp_path), found)
    difference = abs(small(report.FOLDER / report.NAME) - small(found)).mean()
    assert difference < 0.1, "run docs/site/report_picture.py"
