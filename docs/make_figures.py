"""The picture of the README: the first screen of the report of six classifiers on digits rotated by 30°, in Chromium.

    python docs/make_figures.py

It takes a minute and `pip install ".[browser]"`; `CONSILIENCE_BROWSER` names the browser where it is not found.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

import consilience as cs

PICTURE = Path(__file__).parent / "assets" / "report.png"
ANGLE = 30


def main() -> None:
    """Write the report, open it and photograph its first screen."""
    predictions, truth = cs.datasets.shifted_digits(ANGLE)
    executable = os.environ.get("CONSILIENCE_BROWSER") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        report = cs.write_report(
            Path(folder) / "report.html",
            predictions,
            labels=truth,
            title=f"Six classifiers on digits rotated by {ANGLE}°",
        )
        browser = playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox"]
        )
        page = browser.new_page(
            viewport={"width": 1180, "height": 900}, device_scale_factor=1.5
        )
        page.goto(report.as_uri())
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
