"""`consilience suggest`."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
from typer import Option

from consilience.cli import screen
from consilience.cli.inputs import DEFAULT, Given
from consilience.cli.outputs import check_outputs
from consilience.cli.shared_options import Fit
from consilience.data.labels import known_labels
from consilience.data.predictions import Predictions
from consilience.files import write_table
from consilience.insight.suggestion import suggest
from consilience.system.tables import Table


def command(
    *,
    number: Annotated[int, Option(min=1)] = 20,
    known: str | None = None,
    output: Path | None = None,
    method: str = DEFAULT,
    option: list[str] | None = None,
    class_shares: str | None = None,
    seed: Annotated[int, Option(min=0)] = 0,
    json: bool = False,
    given: Given,
) -> None:
    """Say which items to label first, and why.

    `consilience suggest vit.npy resnet.npy -n 20 -o labels.csv`, fill in the column `label`, then `consilience
    aggregate vit.npy resnet.npy --known labels.csv`. With `--known labels.csv -o labels.csv` the file grows.

    Options:
    number, -n: How many items.
    known: Labels known already, such as those filled in where `suggest -o` left room.
    output, -o: A .csv file to fill in: known labels first, then items without.
    seed: Another one suggests other items.
    """
    fit = Fit(method, option, class_shares)
    check_outputs([(output, ".csv")], [*given.sources, *fit.files])  # not --known, which may grow
    predictions = given.predictions()
    known_truth = given.labels(known, predictions)
    aggregator = given.fitted(predictions, fit, known_truth)
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
