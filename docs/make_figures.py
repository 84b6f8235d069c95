"""The pictures of the README and the site: a minute, and a browser for all but the first.

    python docs/make_figures.py

`demo.svg` is accuracy and NLL of every method over growing rotation. The others are the report of the demo's digits,
rotated by 30°, in Chromium (`pip install ".[browser]"`; `CONSILIENCE_BROWSER` names the browser where it is not found):
its first screen with labels, without labels, in the dark and on a phone, and what tipped one item.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from matplotlib.figure import Figure

import consilience as cs
from consilience.cli.demo import Shift, run
from consilience.report import write_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ASSETS = Path(__file__).parent / "assets"


class Photograph(NamedTuple):
    """A part of the report, the whole window by default."""

    name: str
    width: int = 1180
    height: int = 900
    has_labels: bool = True
    is_dark: bool = False
    part: str | None = None


PHOTOGRAPHS = (
    Photograph("report"),
    Photograph("report-unlabelled", has_labels=False),
    Photograph("report-dark", is_dark=True),
    Photograph("report-phone", width=400, height=1000),
    Photograph("report-item", part="#explanation", height=1250),
)


def main() -> None:
    """Run the demo, draw it, photograph its report."""
    shifts = run()
    draw_methods(shifts)
    photograph_report(shifts[2])


def draw_methods(shifts: list[Shift]) -> None:
    """Accuracy and NLL of every method over rotation."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    tables = {shift.angle: shift.scores for shift in shifts}
    for axes, metric in zip(figure.subplots(1, 2), ("accuracy", "nll"), strict=True):
        cs.plots.plot_comparison(tables, metric, xlabel="rotation in degrees", ax=axes)
    figure.savefig(ASSETS / "demo.svg", metadata={"Date": None})


def photograph_report(shift: Shift) -> None:
    """The report of one shift, with and without labels."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra

    executable = os.environ.get("CONSILIENCE_BROWSER") or shutil.which("chromium")
    title = f"Six classifiers on digits rotated by {shift.angle}°"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=["--no-sandbox"]
        )
        for has_labels in (True, False):
            page = write_report(
                Path(folder) / "report.html",
                shift.predictions,
                labels=shift.labels if has_labels else None,
                title=title,
            )
            for photograph in PHOTOGRAPHS:
                if photograph.has_labels == has_labels:
                    take(photograph, browser, page)
        browser.close()


def take(photograph: Photograph, browser: Browser, report: Path) -> None:
    """Open the report and photograph it."""
    size = {"width": photograph.width, "height": photograph.height}
    scheme = "dark" if photograph.is_dark else "light"
    page = browser.new_page(viewport=size, color_scheme=scheme, device_scale_factor=1.5)
    page.goto(report.as_uri())
    place = page.locator(photograph.part) if photograph.part else page
    place.screenshot(path=ASSETS / f"{photograph.name}.png")
    page.close()


if __name__ == "__main__":
    main()
