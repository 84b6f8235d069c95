"""`consilience monitor`."""

from pathlib import Path
from typing import Any

from consilience.cli import screen
from consilience.cli.inputs import Given
from consilience.cli.outputs import check_outputs
from consilience.insight.monitoring import monitor
from consilience.system.tables import Table


def command(
    *,
    window: int | None = None,
    reference: str | None = None,
    false_alarms: float = 0.01,
    labels: str | None = None,
    class_shares: str | None = None,
    report: Path | None = None,
    json: bool = False,
    given: Given,
) -> None:
    """Watch a stream without labels: accuracy over time, and alarms where something changes.

    `consilience monitor vit.npy resnet.npy --window 500 --report stream.html`, or a file for each batch: `consilience
    monitor monday.npz tuesday.npz … --reference last-month.npz`

    Options:
    window, -w: Cut the predictions into windows of so many items, in their order: that of the rows, or, in tables with
        a row for each answer, that of each item's first row (items called 0, 1, 2, … come in that order). Without it,
        each file is a batch of all members, and a window.
    reference: Predictions from before; the first 5 windows by default.
    false_alarms: The share of windows without any change that may be alarms.
    report: Where an HTML page goes.
    """
    check_outputs([(report, ".html")], [*given.sources, labels, reference, class_shares])
    if window is None and labels is not None:
        raise ValueError("--labels go with --window; got batches")
    before = None if reference is None else given._replace(files=[reference]).predictions()
    stream: Any
    if window is None:
        stream, truth = (given._replace(files=[file]).predictions() for file in given.files), None
    else:
        stream = given.predictions()
        truth = given.labels(labels, stream)
    known = before if window is None else stream  # batches are read one by one, so the reference tells the classes
    shares = given.shares(class_shares, None if known is None else known.classes)
    with screen.waiting("looking at each window"):
        found = monitor(stream, truth, window=window, reference=before, false_alarms=false_alarms, class_shares=shares)
    if report is not None:
        found.to_html(report)
    written = [] if report is None else [str(report)]
    if json:
        parts = {"windows": found.windows.rows(), "members": found.members.rows(), "alarms": found.alarms}
        screen.print_json(parts | {"silent": found.silent, "written": written})
        return
    screen.print_table(_short(found.windows))
    screen.print_text(*map(screen.on_command_line, found.told()), *(f"Wrote {place}" for place in written))


def _short(windows: Table) -> Table:
    """The windows in columns that fit a screen; JSON has all of them."""
    rows = windows.rows()
    return Table(
        {
            "window": [str(row["window"]) for row in rows],
            "items": windows["items"],
            "fused answer right": [f"{row['accuracy']:.0%} ({row['from']:.0%} to {row['to']:.0%})" for row in rows],
            "agreement": windows["agreement"],
            "confidence": windows["confidence"],
            "p-value": windows["p-value"],
            "": ["alarm" if row["alarm"] else "reference" if row["reference"] else "" for row in rows],
        }
    )
