"""`consilience report`."""

from pathlib import Path
from typing import Annotated

import typer

from consilience.cli import screen
from consilience.cli.inputs import fitted, labels_of, predictions_of
from consilience.cli.methods import DEFAULT
from consilience.cli.options import Files, Labels, Logits, Method, MethodOptions, Model, with_columns
from consilience.cli.outputs import check_places, write_page
from consilience.data.roles import Columns
from consilience.insight.analysis import Analysis
from consilience.system.atomic import check_writable


@with_columns
def command(
    files: Files,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the page goes.")] = Path("report.html"),
    method: Method = DEFAULT,
    option: MethodOptions = None,
    logits: Logits = False,
    labels: Labels = None,
    model: Model = None,
    columns: Columns,
) -> None:
    """Write a page to look at: one HTML file that needs no network."""
    check_writable(output, (".html",))
    check_places([output], [*files, labels, model])
    predictions = predictions_of(files, columns, logits=logits)
    truth = labels_of(labels, predictions, files, columns)
    write_page(output, Analysis(predictions, fitted(predictions, method, option, model)), truth)
    screen.print_text(f"Wrote {output}")
