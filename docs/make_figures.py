"""The pictures of the README, made from the demo: a minute, and a browser for the second.

    python docs/make_figures.py

`demo.svg` is accuracy and NLL of every method over growing rotation, `report.png` the top of the demo's report in
Chromium (`pip install ".[browser]"`; `CONSILIENCE_BROWSER` names the browser where it is not found).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from matplotlib.figure import Figure

import consilience as cs
from consilience.experiments.demo import Shift, run
from consilience.report import write_report

ASSETS = Path(__file__).parent / "assets"


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
    """The top of the report of one shift."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - an extra

    browser = os.environ.get("CONSILIENCE_BROWSER") or shutil.which("chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        title = f"Six classifiers on digits rotated by {shift.angle}°"
        page_path = write_report(
            Path(folder) / "report.html",
            shift.predictions,
            labels=shift.labels,
            title=title,
        )
        chromium = playwright.chromium.launch(
            executable_path=browser, args=["--no-sandbox"]
        )
        page = chromium.new_page(viewport={"width": 1180, "height": 1120})
        page.goto(page_path.as_uri())
        page.screenshot(path=ASSETS / "report.png")
        chromium.close()


if __name__ == "__main__":
    main()
