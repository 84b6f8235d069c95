"""`consilience demo`."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy.typing as npt

from consilience.cli import screen
from consilience.cli.inputs import DEFAULT, make_method
from consilience.cli.outputs import check_outputs, write_page
from consilience.cli.summary import summarize
from consilience.data.predictions import Predictions
from consilience.datasets import ANGLES, shifted_digits
from consilience.insight.analysis import Analysis
from consilience.insight.comparison import compare
from consilience.system.arrays import to_numpy
from consilience.system.machine import Progress, show_progress
from consilience.system.tables import Table

REPORTED = 30  # the angle of the report: upright there is little to gain, and at 45° nobody is right often


class Shift(NamedTuple):
    """The digits at one angle: what the members say, the truth, and how each method scores."""

    angle: int
    predictions: Predictions
    labels: npt.NDArray[Any]
    scores: Table


def run(progress: Progress | None = None) -> list[Shift]:
    """Fuse and score the digits at every angle; report progress."""
    progress = progress or Progress()
    progress.expect(len(ANGLES))
    shifts = []
    for angle in ANGLES:
        progress.begin(f"fusing: {angle}°")
        predictions, labels = shifted_digits(angle)
        shifts.append(Shift(angle, predictions, labels, compare(predictions, labels)))
        progress.finish()
    return shifts


def command(*, report: Path = Path("consilience-demo.html"), json: bool = False) -> None:
    """Fuse, by every method, six classifiers that learned upright digits and are shown rotated ones.

    Some seconds. Labels score the answers; no method sees them.

    Options:
    report: Where the report goes, of the digits rotated by 30°.
    """
    check_outputs([(report, ".html")])
    with show_progress("demo", is_shown=screen.err.is_terminal) as progress:
        shifts = run(progress)
    shown = next(shift for shift in shifts if shift.angle == REPORTED)
    method = make_method(DEFAULT).fit(shown.predictions)
    analysis = Analysis(shown.predictions, method, labels=shown.labels)
    # The summary shows `predict_proba`, as the report does, so that both agree.
    summary = summarize(analysis, to_numpy(analysis.posterior))
    write_page(report, analysis, f"Classifiers on digits rotated by {shown.angle}°")
    if json:
        screen.print_json({str(shift.angle): shift.scores.rows() for shift in shifts} | {"written": [str(report)]})
        return
    _print_scores(shifts)
    screen.out.print(f"\nThe digits rotated by {shown.angle}°, fused without labels and measured with them")
    screen.print_summary(summary)
    screen.print_text(f"Wrote {report}: open it in a browser")


def _print_scores(shifts: list[Shift]) -> None:
    """A table for each metric, with a row for each method and a column for each angle."""
    last = shifts[-1]
    n_members, n_items = last.predictions.n_members, last.predictions.n_items
    screen.out.print(
        f"{n_members} classifiers and {n_items} test digits, rotated further and further; labels only score"
    )
    for metric, better in (("accuracy", "higher"), ("nll", "lower"), ("ece", "lower")):
        columns = {"method": last.scores["method"]}
        for shift in shifts:
            found = dict(zip(shift.scores["method"], shift.scores[metric], strict=True))
            columns[f"{shift.angle}°"] = [found[name] for name in columns["method"]]
        screen.print_table(Table(columns), f"{metric} ({better} is better)", best=better)
