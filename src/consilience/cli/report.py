"""`consilience report`."""

from pathlib import Path
from typing import Annotated

import typer

from consilience.cli import screen
from consilience.cli.inputs import analysed
from consilience.cli.options import Files, Fit, Labels, Title, with_layout
from consilience.cli.outputs import check_places, write_page
from consilience.data.tables.told import Told
from consilience.system.atomic import check_writable


@with_layout
def command(
    files: Files,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the page goes.")] = Path("report.html"),
    fit: Fit,
    labels: Labels = None,
    title: Title = None,
    told: Told,
) -> None:
    """Write a page to look at: one HTML file that needs no network."""
    check_writable(output, (".html",))
    check_places([output], [*files, labels, *fit.files, *told.sources])
    write_page(output, analysed(files, told, fit, labels), title)
    screen.print_text(f"Wrote {output}")
