"""`consilience report`."""

from pathlib import Path
from typing import Annotated

import typer

from consilience.cli import screen
from consilience.cli.inputs import (
    DEFAULT,
    check_model_is_alone,
    fitted,
    labels_of,
    predictions_of,
    say_if_nothing_is_scored,
    shares_of,
)
from consilience.cli.options import (
    Files,
    Known,
    Labels,
    Logits,
    MethodOption,
    MethodOptions,
    ModelOption,
    SharesOption,
    Title,
    with_layout,
)
from consilience.cli.outputs import check_places, files_in, write_page
from consilience.data.tables.told import Told
from consilience.insight.analysis import Analysis
from consilience.system.atomic import check_writable


@with_layout
def command(
    files: Files,
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where the page goes.")] = Path("report.html"),
    method: MethodOption = DEFAULT,
    option: MethodOptions = None,
    class_shares: SharesOption = None,
    logits: Logits = False,
    labels: Labels = None,
    known: Known = None,
    title: Title = None,
    model: ModelOption = None,
    told: Told,
) -> None:
    """Write a page to look at: one HTML file that needs no network."""
    check_writable(output, (".html",))
    check_places([output], [*files, labels, known, class_shares, model, *told.sources, *files_in(option)])
    check_model_is_alone(model, method, option, known, class_shares)
    predictions = predictions_of(files, told, logits=logits, model=model)
    truth = labels_of(labels, predictions, files, told)
    known_truth = labels_of(known, predictions, files, told)
    say_if_nothing_is_scored(truth, known_truth, predictions)
    shares = shares_of(class_shares, told, predictions.classes)
    aggregator = fitted(predictions, method, option, model, known=known_truth, class_shares=shares)
    write_page(output, Analysis(predictions, aggregator, known_truth, truth), title)
    screen.print_text(f"Wrote {output}")
