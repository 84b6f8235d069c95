"""`consilience monitor`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from consilience.cli import screen
from consilience.cli.inputs import labels_of, predictions_of, shares_of
from consilience.cli.options import Files, Json, Labels, Logits, SharesOption, with_layout
from consilience.cli.outputs import check_places
from consilience.data.tables.told import Told
from consilience.insight.monitoring import monitor
from consilience.system.atomic import check_writable
from consilience.system.tables import Table


@with_layout
def command(
    files: Files,
    *,
    window: Annotated[
        int | None,
        typer.Option(
            "--window",
            "-w",
            help="Cut the predictions into windows of so many items, in their order: that of the rows, or, in tables "
            "with a row for each answer, that of each item's first row (items called 0, 1, 2, … come in that order). "
            "Without it, each file is a batch of all members, and a window.",
        ),
    ] = None,
    reference: Annotated[
        str | None, typer.Option("--reference", help="Predictions from before; the first 5 windows by default.")
    ] = None,
    false_alarms: Annotated[
        float, typer.Option("--false-alarms", help="The share of windows without any change that may be alarms.")
    ] = 0.01,
    logits: Logits = False,
    labels: Labels = None,
    class_shares: SharesOption = None,
    report: Annotated[Path | None, typer.Option("--report", help="Where an HTML page goes.")] = None,
    json: Json = False,
    told: Told,
) -> None:
    """Watch a stream without labels: accuracy over time, and alarms where something changes.

    `consilience monitor vit.npy resnet.npy --window 500 --report stream.html`, or a file for each batch: `consilience
    monitor monday.npz tuesday.npz … --reference last-month.npz`
    """
    if report is not None:
        check_writable(report, (".html",))
        check_places([report], [*files, labels, reference, class_shares, *told.sources])
    if window is None and labels is not None:
        raise ValueError("--labels go with --window; got batches")
    before = None if reference is None else predictions_of([reference], told, logits=logits, quiet=json)
    stream: Any
    if window is None:
        stream, truth = (predictions_of([file], told, logits=logits, quiet=json) for file in files), None
    else:
        stream = predictions_of(files, told, logits=logits, quiet=json)
        truth = labels_of(labels, stream, files, told, quiet=json)
    known = before if window is None else stream  # batches are read one by one, so the reference tells the classes
    shares = shares_of(class_shares, told, None if known is None else known.classes, quiet=json)
    with screen.waiting("looking at each window"):
        found = monitor(stream, truth, window=window, reference=before, false_alarms=false_alarms, class_shares=shares)
    if report is not None:
        found.to_html(report)
    written = [] if report is None else [str(report)]
    if json:
        parts = {"windows": found.windows.rows(), "members": found.members.rows(), "alarms": found.alarms}
        parts |= {"silent": found.silent}
        screen.print_json(parts | {"written": written})
        return
    screen.print_table(_short(found.windows))
    for line in [*found.told(), *(f"Wrote {place}" for place in written)]:
        screen.print_text(screen.on_command_line(line))


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
