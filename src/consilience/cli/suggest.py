"""`consilience suggest`."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from consilience.cli import screen
from consilience.cli.inputs import DEFAULT, fitted, labels_of, predictions_of
from consilience.cli.options import Files, Fit, Json, Logits, MethodOption, MethodOptions, SharesOption, with_layout
from consilience.cli.outputs import check_places
from consilience.data.labels import known_labels
from consilience.data.predictions import Predictions
from consilience.data.tables.told import Told
from consilience.files import write_table
from consilience.insight.suggestion import suggest
from consilience.system.atomic import check_writable
from consilience.system.tables import Table


@with_layout
def command(
    files: Files,
    *,
    number: Annotated[int, typer.Option("--number", "-n", help="How many items.", min=1)] = 20,
    known: Annotated[
        str | None,
        typer.Option("--known", help="Labels known already, such as those filled in where `suggest -o` left room."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A .csv file to fill in: known labels first, then items without."),
    ] = None,
    method: MethodOption = DEFAULT,
    option: MethodOptions = None,
    class_shares: SharesOption = None,
    seed: Annotated[int, typer.Option("--seed", help="Another one suggests other items.", min=0)] = 0,
    logits: Logits = False,
    json: Json = False,
    told: Told,
) -> None:
    """Say which items to label first, and why.

    `consilience suggest vit.npy resnet.npy -n 20 -o labels.csv`, fill in the column `label`, then `consilience
    aggregate vit.npy resnet.npy --known labels.csv`. With `--known labels.csv -o labels.csv` the file grows.
    """
    fit = Fit(method, option, class_shares)
    if output is not None:
        check_writable(output, (".csv",))
        check_places([output], [*files, *fit.files, *told.sources])  # not --known, which may grow
    predictions = predictions_of(files, told, logits=logits, quiet=json)
    known_truth = labels_of(known, predictions, files, told, quiet=json)
    aggregator = fitted(predictions, fit, told, known=known_truth, quiet=json)
    suggested = suggest(predictions, known_truth, n=number, aggregator=aggregator, seed=seed).to_table()
    if output is not None:
        write_table(output, _to_fill_in(predictions, known_truth, suggested))
    if json:
        screen.print_json({"suggestions": suggested.rows(), "written": [] if output is None else [str(output)]})
        return
    screen.print_table(suggested, f"Label these {len(suggested)} first")
    if output is not None:
        screen.print_text(f"Wrote {output}: fill in the column label, and give it back as --known")


def _to_fill_in(predictions: Predictions, known: Any, suggested: Table) -> Table:
    """List known labels and suggested items in one table with a column for labels."""
    labels = known_labels(known, predictions.axes)
    places = [] if labels is None else np.flatnonzero(labels >= 0).tolist()
    item, label = predictions.axes.items.name, predictions.axes.classes.name
    nothing: list[Any] = [None] * len(places)
    return Table(
        {
            "item": [item(place) for place in places] + suggested["item"],
            "answer": nothing + suggested["answer"],
            "probability": nothing + [round(value, 4) for value in suggested["probability"]],
            "why": nothing + suggested["why"],
            "label": [label(int(labels[place])) for place in places if labels is not None] + [None] * len(suggested),
        }
    )
