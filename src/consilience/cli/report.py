"""`consilience report`."""

from pathlib import Path

from consilience.cli import screen
from consilience.cli.inputs import Given
from consilience.cli.outputs import check_outputs, write_page
from consilience.cli.shared_options import Fit


def command(
    *, output: Path = Path("report.html"), fit: Fit, labels: str | None = None, title: str | None = None, given: Given
) -> None:
    """Write a page to look at: one HTML file that needs no network.

    Options:
    output, -o: Where the page goes.
    """
    check_outputs([(output, ".html")], [*given.sources, labels, *fit.files])
    write_page(output, given.analysed(fit, labels), title)
    screen.print_text(f"Wrote {output}")
